"""A mission with what is known about it before it is sailed: what every check of it looks at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.failsafes import action_of
from seatrial.compile.autonomy.legs import Leg
from seatrial.compile.sensors.fitting import FittedOut
from seatrial.errors import Path, Problem
from seatrial.gnc.failsafes import CODE
from seatrial.ocean.seabed import Seabed, under
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.vehicle import Vehicle

if TYPE_CHECKING:
    from seatrial.compile.autonomy.tuning import Design
    from seatrial.design.tuning import Tuning

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MissionCase:
    """The mission of participant `index`."""

    scenario: Scenario
    index: int
    legs: Sequence[Leg]
    start: Array
    """(3,) NED, m."""
    designed: "Design"
    sensors: FittedOut
    seabed: Seabed | None

    @property
    def participant(self) -> Participant:
        """Whose mission it is."""
        return self.scenario.vehicles[self.index]

    @property
    def vehicle(self) -> Vehicle:
        """What sails it."""
        return self.participant.vehicle

    @property
    def tuning(self) -> "Tuning":
        """Of its autopilot."""
        return self.designed.tuning

    @property
    def dives(self) -> bool:
        """Whether it is a craft that does."""
        return self.vehicle.buoyancy.craft == "submerged"

    @cached_property
    def lasts(self) -> list[float]:
        """How long each leg takes at the speed that it asks for, s."""
        points = [self.start, *(leg.end for leg in self.legs)]
        return [
            float(np.linalg.norm(b - a)) / leg.speed + leg.dwell
            for (a, b), leg in zip(pairwise(points), self.legs, strict=True)
        ]

    def bottom(self, place: Array) -> float:
        """Depth of the water at a place (2 or 3,), m."""
        return math.inf if self.seabed is None else float(under(self.seabed, *place[:2]))

    def leaves(self, failsafe: str) -> bool:
        """Whether a failsafe would take the vehicle off its mission."""
        return action_of(self.participant, failsafe) >= CODE["hold"]

    def problem(self, path: Path, message: str, expected: str, mend: str) -> Problem:
        """About something of the participant."""
        whole = ("vehicles", self.index, *path)
        return self.scenario.problem(whole, message, expected=expected, mend=mend)

    def of(self, leg: Leg, message: str, expected: str, mend: str) -> Problem:
        """About a leg."""
        path = ("mission", leg.task)
        return self.problem(path, f"`{leg.name}` {message}", expected, mend)
