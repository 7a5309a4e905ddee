"""Control: from what is asked and what is known of the vehicle to a demanded wrench."""

from seatrial.gnc.control.autopilot import Autopilot, AutopilotState, begin, control

__all__ = ["Autopilot", "AutopilotState", "begin", "control"]
