"""Whether a vehicle that dives by its fins has way enough for them on every leg."""

import math
from collections.abc import Iterator

import numpy as np

from seatrial.compile.autonomy.checks.case import MissionCase
from seatrial.compile.autonomy.legs import Leg
from seatrial.errors import Problem, SpecError
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.mission import SURFACE, VELOCITY

HOPELESS = 0.5
"""Share of the slowest speed below which a leg is refused."""


def way(case: MissionCase) -> Iterator[Problem]:
    """Refuse legs under water at much less than the slowest speed at which fins hold the depth;
    doubt those at somewhat less.

    In a current that is over ground, and what is left of it through the water is not looked at.
    """
    slowest, depth = case.tuning.slowest, case.tuning.autopilot.depth
    if slowest is None or not isinstance(depth, Dive) or case.scenario.world.current is not None:
        return
    awash = float(np.asarray(depth.awash).min())
    for leg in case.legs:
        floats = float(leg.end[2]) <= awash and math.isnan(leg.altitude)
        if leg.kind in (VELOCITY, SURFACE) or floats or leg.speed >= slowest:
            continue
        doubt = case.of(leg, *_told(case, leg, slowest))
        if leg.speed < HOPELESS * slowest:
            raise SpecError(doubt)
        yield doubt


def _told(case: MissionCase, leg: Leg, slowest: float) -> tuple[str, str, str]:
    """Message, what is expected and how to mend it."""
    name = case.vehicle.name
    message = f"asks for {leg.speed:.2g} m/s, at which the fins of {name} do not hold its depth"
    if math.isinf(slowest):
        expected = "fins that hold its trim: they do at none of its speeds"
        return message, expected, "give them larger angles or more lift, or trim the vehicle better"
    key = "final_speed" if case.participant.mission[leg.task].do == "dock" else "speed"
    return message, f"at least {slowest:.3g} m/s through the water", f"ask for more `{key}`"
