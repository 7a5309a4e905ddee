"""Avoidance: another course or speed when the wished one would lead into a vessel or a shape."""

from seatrial.gnc.avoidance.avoid import Avoidance, AvoidanceState, Info, avoid, begin
from seatrial.gnc.avoidance.contacts import Contacts, Targets
from seatrial.gnc.avoidance.shapes import Circles, Polygons
from seatrial.gnc.avoidance.tracking import Ear, Tracks, Watch

__all__ = [
    "Avoidance",
    "AvoidanceState",
    "Circles",
    "Contacts",
    "Ear",
    "Info",
    "Polygons",
    "Targets",
    "Tracks",
    "Watch",
    "avoid",
    "begin",
]
