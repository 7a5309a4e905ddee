"""The tasks of a mission as the legs that a pilot works through."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.gnc import mission as runtime
from seatrial.gnc.guidance import patterns
from seatrial.gnc.guidance.path import sample, segment_length
from seatrial.gnc.guidance.smoothing import fillet, smooth
from seatrial.spec import mission as spec
from seatrial.spec.scenario import Participant, Scenario
from seatrial.spec.wording import did_you_mean

Array = NDArray[np.float64]

ACCEPTANCE = 1.5
"""Radius of acceptance in vehicle lengths, unless a task names one."""
MOST_LEGS = 10_000
"""That a smooth way may take: 40 km of a vehicle of 2 m."""
SURFACED = 0.25
"""Depth at which a vehicle counts as surfaced, in its lengths."""
TURNING_RADIUS = 3.0
"""Radius of rounded corners in vehicle lengths."""
FINAL_SPEED = 0.3
"""At which a berth is come into unless a task names a speed, m/s."""
SURE = 1.2
"""That speed of a vehicle which dives by its fins, over the slowest at which they hold it."""


@dataclass(frozen=True)
class Leg:
    """A leg of a mission, as `gnc.mission` has it in arrays."""

    name: str
    kind: int
    end: Array
    speed: float
    acceptance: float
    heading: float = math.nan
    dwell: float = 0.0
    timeout: float = math.inf
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    watched: int = -1
    threshold: float = 0.0
    side: float = 1.0
    altitude: float = math.nan
    """Over the bottom, m; NaN for a leg that has a depth."""
    pipe: float = math.nan
    """To starboard of a pipeline that is followed by a sonar, m; NaN for a leg without one."""
    task: int = 0
    """Place of its task in the mission."""


def legs_of(
    scenario: Scenario, participant: Participant, speed: float, holds: bool, slowest: float = 0.0
) -> list[Leg]:
    """The tasks of a mission as legs; `speed` is that of tasks which name none, `slowest` that
    below which fins hold no depth.

    A vehicle that `holds` no station cannot hold a heading there either.
    """
    datum = (scenario.world.datum.latitude_deg, scenario.world.datum.longitude_deg)
    length = participant.vehicle.length
    legs: list[Leg] = []
    for number, task in enumerate(participant.mission):
        common = {
            "speed": task.speed or speed,
            "acceptance": task.acceptance or ACCEPTANCE * length,
            "timeout": task.timeout or math.inf,
            "altitude": math.nan if task.altitude is None else task.altitude,
            "task": number,
            **_condition(task.until),
        }
        last = legs[-1].end if legs else np.array(participant.start.position)
        if isinstance(task, spec.Velocity):
            asked = (task.surge, task.sway, task.yaw_rate)
            legs.append(
                Leg(
                    f"velocity {number + 1}",
                    runtime.VELOCITY,
                    _at_depth(last, task.depth),
                    dwell=task.duration,
                    velocity=asked,
                    **common,
                )
            )
        elif isinstance(task, spec.Hold | spec.Surface):
            stay = _stay(number, task, last, common, length)
            legs.append(stay if holds else replace(stay, heading=math.nan))
        elif isinstance(task, spec.Dock):
            legs += _dock(task, common, holds, slowest)
        else:
            points = (
                _along(scenario, participant, number, task, last)
                if isinstance(task, spec.Follow)
                else _points(task, datum)
            )
            if isinstance(task, spec.Goto) and task.smooth is not None:
                points = _smoothed(task, np.vstack([last, points]), length)
            beside = math.nan
            if isinstance(task, spec.Follow) and task.by is not None:
                beside = task.offset
            legs += [
                Leg(
                    f"{task.do} {k + 1}",
                    runtime.TRACK,
                    point,
                    # The first leads to the pipeline, the others along it.
                    pipe=beside if k else math.nan,
                    **common,
                )
                for k, point in enumerate(points)
            ]
    return legs


def _condition(until: spec.Until | None) -> dict[str, Any]:
    if until is None:
        return {}
    above = until.above is not None
    return {
        "watched": runtime.WATCHED.index(until.quantity),
        "threshold": until.above if above else until.below,
        "side": 1.0 if above else -1.0,
    }


def _points(
    task: spec.Goto | spec.Survey | spec.ExpandingSquare | spec.Loiter, datum: tuple[float, float]
) -> Array:
    depth = task.depth or 0.0
    if isinstance(task, spec.Survey):
        corners = np.array([corner[:2] for corner in task.area])
        return patterns.survey(corners, task.spacing, task.heading, depth)
    if isinstance(task, spec.ExpandingSquare):
        return patterns.expanding_square(
            task.centre[:2], task.spacing, task.legs, task.heading, depth
        )
    if isinstance(task, spec.Loiter):
        return patterns.loiter(
            task.centre[:2], task.radius, task.turns, clockwise=task.clockwise, depth=depth
        )
    if task.places:
        depths = np.full(len(task.places), depth)
        return patterns.from_latitude_longitude(np.column_stack([task.places, depths]), datum)
    return np.array([_point(waypoint, depth) for waypoint in task.waypoints])


def _along(
    scenario: Scenario, participant: Participant, number: int, task: spec.Follow, start: Array
) -> Array:
    """Corners of a pipeline, moved to the side where it is followed beside."""
    pipes = {b.name: b for b in scenario.world.bodies if b.pipe is not None}
    if task.pipeline not in pipes:
        raise participant.error(
            ("mission", number, "pipeline"),
            f"there is no pipeline `{task.pipeline}` in `{scenario.world.name}`",
            value=task.pipeline,
            expected=f"one of {', '.join(pipes)}" if pipes else "a world with a `pipe` in `bodies`",
            mend=did_you_mean(task.pipeline, pipes) or "name a body of the world that is a `pipe`",
        )
    body = pipes[task.pipeline]
    assert body.pipe is not None
    turn = np.array(
        [
            [math.cos(body.heading), -math.sin(body.heading)],
            [math.sin(body.heading), math.cos(body.heading)],
        ]
    )
    line = np.array([corner[:2] for corner in body.pipe.waypoints]) @ turn.T + body.position[:2]
    if task.chart is not None:
        line = np.array([corner[:2] for corner in task.chart])
    if np.linalg.norm(line[-1] - start[:2]) < np.linalg.norm(line[0] - start[:2]):
        line = line[::-1]
    depths = np.full(len(line), task.depth or 0.0)
    return np.column_stack([patterns.beside(line, task.offset), depths])


def _smoothed(task: spec.Goto, points: Array, length: float) -> Array:
    """The way through the points (K, 3) as short legs, without the first of them."""
    radius = task.turning_radius or TURNING_RADIUS * length
    moved = np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-6
    points = points[np.concatenate([[True], moved])]
    if len(points) < 2:
        return points
    rows = smooth(points) if task.smooth == "hermite" else fillet(points, radius)
    spacing = max(2.0 * length, 0.5 * radius)
    legs = sum(segment_length(row) for row in rows) / spacing
    if not legs <= MOST_LEGS:
        raise task.error(
            ("waypoints",) if task.waypoints else ("places",),
            f"the smooth way is {legs * spacing:.3g} m long, which takes {legs:.3g} legs",
            expected=f"at most {MOST_LEGS} legs, each {spacing:.3g} m long",
            mend="look at the waypoints, make several tasks of it, or leave out `smooth`",
        )
    found: Array = sample(rows, spacing)[1:]
    return found


def _point(waypoint: tuple[float, ...], depth: float | None) -> Array:
    return np.array([*waypoint[:2], waypoint[2] if len(waypoint) > 2 else depth or 0.0])


def _at_depth(place: Array, depth: float | None) -> Array:
    return place if depth is None else np.array([*place[:2], depth])


def _stay(
    number: int,
    task: spec.Hold | spec.Surface,
    last: Array,
    common: dict[str, Any],
    length: float,
) -> Leg:
    if isinstance(task, spec.Surface):
        top = np.array([*last[:2], 0.0])
        common = common | {"acceptance": task.acceptance or max(0.3, SURFACED * length)}
        return Leg("surface", runtime.SURFACE, top, **common)
    depth = task.depth
    place = _at_depth(last, depth) if task.position is None else _point(task.position, depth)
    heading = math.nan if task.heading is None else task.heading
    return Leg(
        f"hold {number + 1}", runtime.HOLD, place, heading=heading, dwell=task.duration, **common
    )


def _dock(task: spec.Dock, common: dict[str, Any], holds: bool, slowest: float) -> list[Leg]:
    """To a line-up point and the gate at speed, then slowly in, and stay; one that `holds` no
    station comes in on the heading of its berth, and is turned away from it by the current."""
    berth = _point(task.position, task.depth)
    final = task.final_speed or min(max(FINAL_SPEED, SURE * slowest), common["speed"])
    approach = patterns.dock(
        berth,
        task.heading,
        2.0 * task.approach,
        task.approach,
        common["speed"],
        final,
        berth[2],
    )
    names = ("line up", "gate")
    legs = [
        Leg(name, runtime.TRACK, point, **common)
        for name, point in zip(names, approach.points[:2], strict=True)
    ]
    slow = common | {"speed": final}
    heading = task.heading if holds else math.nan
    legs.append(Leg("dock", runtime.DOCK, berth, heading=heading, dwell=task.duration, **slow))
    return legs
