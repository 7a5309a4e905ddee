"""How a vehicle turns from one leg into the next, and whether that leads it to its waypoint."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seatrial.compile.autonomy.checks.case import Array, MissionCase
from seatrial.compile.autonomy.legs import Leg
from seatrial.compile.autonomy.obstacles import turning_of
from seatrial.errors import Problem
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.mission import HOLD, SURFACE, TRACK
from seatrial.spec import mission as spec

STRAIGHT_BACK = math.radians(175.0)
"""Turn from which on it may go round by either side."""
LOOKS = 19
"""Places of a turn that are looked at."""


@dataclass(frozen=True)
class Turn:
    """An arc of v / r; it begins at the circle of acceptance, late by the lag of the heading."""

    begins: Array
    """(2,) north, east, m."""
    bearing: float
    """Of the way in, rad."""
    angle: float
    """To starboard, rad."""
    radius: float
    """m."""

    def sides(self) -> list[float]:
        """Angles by which it may turn."""
        both = abs(self.angle) > STRAIGHT_BACK
        return [self.angle, -self.angle] if both else [self.angle]

    def centre(self, angle: float) -> Array:
        """(2,) of the circle on the side of an angle."""
        across = np.array([-math.sin(self.bearing), math.cos(self.bearing)])
        found: Array = self.begins + math.copysign(self.radius, angle) * across
        return found

    def arc(self, angle: float) -> tuple[Array, Array]:
        """Places (2, K) on the way round, and directions (2, K) there."""
        turned = self.bearing + np.linspace(0.0, angle, LOOKS)
        ahead = np.stack([np.cos(turned), np.sin(turned)])
        beside = math.copysign(self.radius, angle) * np.stack([ahead[1], -ahead[0]])
        return self.centre(angle)[:, None] + beside, ahead


def turn_after(case: MissionCase, leg: Leg, way: Array, onward: Array) -> Turn | None:
    """The turn at the end of a leg, from one way (2,) to the next; None where there is none, or on
    the spot."""
    length = math.hypot(*way)
    if "position" in case.tuning.autopilot.follows or length == 0.0 or not onward.any():
        return None
    ahead, turning = way / length, turning_of(case.tuning.autopilot, leg.speed)
    bearing = math.atan2(ahead[1], ahead[0])
    return Turn(
        begins=leg.end[:2] + ahead * (leg.speed * turning.lag - min(leg.acceptance, length)),
        bearing=bearing,
        angle=math.remainder(math.atan2(onward[1], onward[0]) - bearing, math.tau),
        radius=leg.speed / turning.rate,
    )


def waypoints(case: MissionCase) -> Iterator[Problem]:
    """Doubt waypoints so near that a craft which cannot slow down comes by: inside the circle in
    which it turns towards them, or next to those on which it goes round while it comes up."""
    if not isinstance(case.tuning.autopilot.depth, Dive):
        return  # others slow down, and turn in less
    begin, before, way = case.start[:2], None, np.zeros(2)
    for leg in case.legs:
        onward, begin = leg.end[:2] - begin, leg.end[:2]
        task = case.participant.mission[leg.task]
        if before is not None and isinstance(task, spec.Goto) and task.smooth is None:
            if before.kind == TRACK and (turn := turn_after(case, before, way, onward)):
                yield from _inside(case, leg, turn)
            elif before.kind in (SURFACE, HOLD):
                yield from _beside(case, leg, before, math.hypot(*onward))
        before, way = leg, onward


def _beside(case: MissionCase, leg: Leg, before: Leg, away: float) -> Iterator[Problem]:
    circle = 2.0 * before.speed / turning_of(case.tuning.autopilot, before.speed).rate
    if 0.0 < away < 2.0 * circle:
        yield case.of(
            leg,
            f"lies {away:.3g} m from `{before.name}`, where {case.vehicle.name} goes round on a "
            f"circle {circle:.3g} m wide and leaves it in any direction: it may come by",
            f"at least {2.0 * circle:.3g} m, two such circles",
            "move it farther away, or go slower",
        )


def _inside(case: MissionCase, leg: Leg, turn: Turn) -> Iterator[Problem]:
    away = max(math.hypot(*(leg.end[:2] - turn.centre(angle))) for angle in turn.sides())
    short = turn.radius - leg.acceptance - away
    if short > 0.0:
        yield case.of(
            leg,
            f"lies {short:.2g} m inside the circle in which {case.vehicle.name} turns by "
            f"{abs(math.degrees(turn.angle)):.0f}° towards it, {turn.radius:.3g} m in radius: it "
            "comes by",
            f"a waypoint outside that circle, with the acceptance of {leg.acceptance:.2g} m",
            "move it farther away, go slower, or give it more `acceptance`",
        )
