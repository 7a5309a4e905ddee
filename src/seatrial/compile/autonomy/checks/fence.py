"""Whether a mission stays within its fence: refused where a way leaves it, doubted where a place or
a turn comes so near that the failsafe acts."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from seatrial.compile.autonomy.checks.case import Array, MissionCase
from seatrial.compile.autonomy.checks.turn import turn_after
from seatrial.compile.autonomy.failsafes import braking_of, room_ahead, slack_of, turning_away
from seatrial.compile.autonomy.legs import Leg
from seatrial.errors import Problem, SpecError
from seatrial.gnc.guidance.fence import inside, signed_distance
from seatrial.gnc.mission import VELOCITY
from seatrial.spec import mission as spec
from seatrial.spec.scenario import Participant

TOUCHES = 1e-6
"""How far outside a way along the fence may come by rounding, m."""


def refuse_ways_out(
    participant: Participant, polygon: Array, legs: Sequence[Leg], start: Array
) -> None:
    """Refuse a leg that ends outside the fence (P, 2), or leaves it on its way from `start` (3,).

    A leg after one that ends by its `until`, or is a velocity, begins nobody knows where.
    """
    begin: Array | None = start
    for leg in legs:
        if leg.kind == VELOCITY:
            begin = None
            continue
        task = participant.mission[leg.task]
        out = None if begin is None else way_out(polygon, begin[:2], leg.end[:2])
        if not bool(inside(polygon, leg.end[:2])):
            raise _refusal(participant, leg, "lies outside the fence", leg.end, out)
        if out is not None:
            message = f"leaves the fence on its way, at {_place(out)}"
            raise _refusal(participant, leg, message, out, out)
        begin = None if task.until is not None else leg.end


def way_out(polygon: Array, begin: Array, end: Array) -> Array | None:
    """Where a straight way (2,) to (2,) first leaves a polygon (P, 2); None if it does not."""
    way, sides = end - begin, np.roll(polygon, -1, axis=0) - polygon
    across = way[0] * sides[:, 1] - way[1] * sides[:, 0]
    offset = polygon - begin
    safe = np.where(across == 0.0, np.inf, across)
    along = (offset[:, 0] * sides[:, 1] - offset[:, 1] * sides[:, 0]) / safe
    beside = (offset[:, 0] * way[1] - offset[:, 1] * way[0]) / safe
    met = (across != 0.0) & (along > 0.0) & (along < 1.0) & (beside >= 0.0) & (beside <= 1.0)
    cuts = np.array([0.0, *np.sort(along[met]), 1.0])
    middles = begin[:, None] + way[:, None] * (0.5 * (cuts[:-1] + cuts[1:]))
    outside = signed_distance(polygon, middles) < -TOUCHES
    found: Array | None = begin + cuts[outside.argmax()] * way if outside.any() else None
    return found


def _refusal(
    participant: Participant, leg: Leg, message: str, place: Array, out: Array | None
) -> SpecError:
    task = participant.mission[leg.task]
    keys = ("area", "centre", "position", "offset")
    key = next((key for key in keys if hasattr(task, key)), "waypoints")
    name, mend = f"`{leg.name}` of the mission", f"give it another `{key}`"
    if isinstance(task, spec.Goto):
        mend = "move the waypoint"
        if task.smooth is not None:
            # Its legs are pieces of a curve, which nobody wrote.
            name = f"the way of `goto` that `smooth: {task.smooth}` makes of its waypoints"
            place = place if out is None else out
            message = f"leaves the fence at {_place(place)}"
            mend = "move the waypoints inwards, or leave out `smooth`"
    error: SpecError = participant.guidance.error(
        ("fence",),
        f"{name} {message}",
        value=[round(float(c), 3) for c in place[:2]],
        expected="waypoints, and ways between them, inside the fence",
        mend=f"{mend}, or widen the fence",
    )
    return error


def _place(place: Array) -> str:
    return f"{place[0]:.4g} m north, {place[1]:.4g} m east"


def margins(case: MissionCase) -> Iterator[Problem]:
    """Doubt places, and turns, so near to the fence that the failsafe stops the vehicle there."""
    fence = case.participant.guidance.fence
    if fence is None or not case.leaves("fence"):
        return
    polygon, begin = np.array(fence), case.start
    for leg, after in zip(case.legs, [*case.legs[1:], None], strict=True):
        if leg.kind == VELOCITY:
            continue
        way, begin = leg.end[:2] - begin[:2], leg.end
        near = _too_near(case, polygon, leg)
        if near is None and after is not None and after.kind != VELOCITY:
            near = _swings_out(case, polygon, leg, way, after.end[:2] - leg.end[:2])
        if near is not None:
            yield near


def _slowest(case: MissionCase) -> float:
    return min(leg.speed for leg in case.legs)


def _too_near(case: MissionCase, polygon: Array, leg: Leg) -> Problem | None:
    room = float(signed_distance(polygon, leg.end[:2]))
    margin = room_ahead(case.participant, case.tuning, _slowest(case), leg.speed)
    if room + leg.acceptance >= margin:
        return None
    return case.of(
        leg,
        f"lies {room:.2g} m from the fence, and the failsafe `fence` acts {margin:.2g} "
        f"m from it at {leg.speed:.2g} m/s",
        f"at least {margin - leg.acceptance:.2g} m, with the acceptance of {leg.acceptance:.2g} m",
        "move the waypoint, widen the fence, or go slower",
    )


def _swings_out(
    case: MissionCase, polygon: Array, leg: Leg, way: Array, onward: Array
) -> Problem | None:
    """About the turn at the end of a leg, from one way (2,) to the next.

    The failsafe looks at where the vehicle would stop from each place of it; of one that needs way
    on, whether it can turn away to one side, which it does.
    """
    turn = turn_after(case, leg, way, onward)
    if turn is None:
        return None
    slowest, stop = _slowest(case), 0.0
    if turning_away(case.tuning, slowest) is None:
        stop = leg.speed**2 / (2.0 * braking_of(case.participant, case.tuning))
    rooms = []
    for angle in turn.sides():
        places, ahead = turn.arc(angle)
        rooms.append(float(signed_distance(polygon, places + stop * ahead).min()))
    room, slack = max(rooms), slack_of(case.participant, case.tuning, slowest)
    if room >= slack:
        return None
    reaches = f"{room:.2g} m from the fence" if room > 0.0 else f"{-room:.2g} m beyond the fence"
    return case.of(
        leg,
        f"ends in a turn of {abs(math.degrees(turn.angle)):.0f}° with a radius of "
        f"{turn.radius:.2g} m at {leg.speed:.2g} m/s, which leads to {reaches}: the "
        "failsafe `fence` stops it there",
        f"at least {slack:.2g} m from the fence all along the turn",
        f"move the waypoint {slack - room:.2g} m inwards, widen the fence, or go slower",
    )
