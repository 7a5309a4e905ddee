"""Sentences that steer: what a plotter or a script sends to the vessel.

- `$--APB`: keep the course to the destination (field 13, or 11 when that is empty), at the speed
  asked for last, or the speed over ground when the first one came; needs an autopilot.
- `$--RSA`: turn the rudder to the angle of the starboard sensor; negative turns the bow to port.
- `$PSTC,CHANNEL,left_rpm,900,right_rpm,700`: orders by channel, in the units of the suffixes.
- `$PSTC,SETPOINT,1.5,90`: speed in m/s and heading in degrees, for the autopilot.
- `$PSTC,RELEASE`: give everything back.
"""

import math
import re

from seatrial.engine.frames import VehicleInfo
from seatrial.signals import RELEASE, Command, Setpoint


class Steering:
    """Turns sentences into orders for one vehicle."""

    def __init__(self, vehicle: VehicleInfo) -> None:
        self._rudders = [a.name for a in vehicle.actuators if "rudder" in a.name]
        self._surge: float | None = None

    def order(self, fields: list[str], speed: float) -> Command | str | None:
        """The order of a sentence, why it cannot be one, or None if it is not meant to steer.

        `speed` is the vehicle's over ground, m/s.
        """
        kind = fields[0][2:] if fields[0] != "PSTC" else "PSTC"
        if len(fields[0]) != 5 and kind != "PSTC":
            return None
        try:
            if kind == "APB":
                return self._keep_course(fields, speed)
            if kind == "RSA":
                return self._turn_rudder(fields)
            if kind == "PSTC":
                return self._own(fields)
        except (ValueError, IndexError):
            return (
                f"{fields[0]} with fields that are no numbers or out of range, or too few of them"
            )
        return None

    def _keep_course(self, fields: list[str], speed: float) -> Command | str:
        if len(fields) not in (15, 16):
            return "APB with other than 14 or 15 fields"
        if fields[1:3] != ["A", "A"] or fields[15:] not in ([], [""], *([m] for m in _MODES)):
            return "APB of a navigator without a fix"
        place = 13 if fields[13] else 11
        if fields[place + 1] != "T":
            return "APB with a magnetic course; a true one is needed"
        course = _within(fields[place], 0.0, 360.0)
        if self._surge is None:
            self._surge = speed
        return Command(setpoint=Setpoint(self._surge, course=math.radians(course)))

    def _turn_rudder(self, fields: list[str]) -> Command | str:
        if len(fields) not in (3, 5):
            return "RSA with other than two or four fields"
        if fields[2] != "A":
            return "RSA without a valid starboard sensor"
        if not self._rudders:
            return "RSA to a vehicle without a rudder"
        # A positive rudder turns the bow to port in the literature's sign, to starboard in NMEA's.
        angle = -math.radians(_within(fields[1], -90.0, 90.0))
        return Command(channels=dict.fromkeys(self._rudders, angle))

    def _own(self, fields: list[str]) -> Command | str:
        what, rest = fields[1], fields[2:]
        if what == "RELEASE" and not rest:
            return RELEASE
        if what == "SETPOINT" and len(rest) == 2:
            surge, heading = _number(rest[0]), math.radians(_number(rest[1]))
            self._surge = surge
            return Command(setpoint=Setpoint(surge, heading=heading))
        if what == "CHANNEL" and rest and len(rest) % 2 == 0:
            names = rest[::2]
            if len(set(names)) < len(names):
                return "PSTC,CHANNEL with a channel twice"
            pairs = zip(names, rest[1::2], strict=True)
            return Command(channels={name: _number(value) for name, value in pairs})
        return "PSTC other than CHANNEL with pairs, SETPOINT with two numbers, or RELEASE alone"


_MODES = "ADEMSPRF"
"""Of a navigator that has a fix, or says that it needs none."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""Python reads `1_0` and ` 1 ` too, which no instrument sends."""


def _number(text: str) -> float:
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _within(text: str, low: float, high: float) -> float:
    value = _number(text)
    if not low <= value <= high:
        raise ValueError(text)
    return value
