"""Places to go to, one after the other, for peers that send a whole path at once."""

import math

from seatrial.conventions import GRAVITY
from seatrial.engine.frames import VehicleInfo, VehicleState
from seatrial.ros.commands import Cruise, Route
from seatrial.signals import Command, Setpoint

FROUDE = 0.25
"""U/√(gL) of the speed to places when nobody asked for another one."""
ACCEPTANCE = 2.0
"""A place is reached within so many lengths of the vehicle, and 2 m at least."""


class RouteFollower:
    """Sends a vehicle along its route."""

    def __init__(self, vehicle: VehicleInfo) -> None:
        self._surge = FROUDE * math.sqrt(GRAVITY * vehicle.length)
        self._acceptance = max(ACCEPTANCE * vehicle.length, 2.0)
        self._left: list[tuple[float, float]] = []

    def take(self, asked: Route | Cruise) -> Command | None:
        """A new route or speed; the order that follows from it."""
        if isinstance(asked, Cruise):
            self._surge = asked.speed
        else:
            self._left = list(asked.places)
        return self._order() if self._left else None

    def forget(self) -> None:
        """Somebody steers in another way."""
        self._left = []

    def reached(self, state: VehicleState) -> Command | None:
        """The order to the next place when one has been reached; the last one is kept."""
        north, east = (float(x) for x in state.position[:2])
        changed = False
        while len(self._left) > 1 and math.dist((north, east), self._left[0]) < self._acceptance:
            self._left.pop(0)
            changed = True
        return self._order() if changed else None

    def _order(self) -> Command:
        return Command(setpoint=Setpoint(self._surge, waypoint=self._left[0]))
