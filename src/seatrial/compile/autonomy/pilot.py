"""A mission, and the vehicle's own model, to a pilot that carries it out."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.navigation import build_navigator, first_estimate
from seatrial.compile.autonomy.obstacles import build_avoidance, build_watch, turning_of
from seatrial.compile.autonomy.tuning import Design, design, filters_waves
from seatrial.compile.padding import room_for, with_room
from seatrial.compile.sensors.fitting import FittedOut, samples_underway
from seatrial.compile.swarm import Member
from seatrial.compile.vehicle import CompiledVehicle
from seatrial.compile.world import wave_frequency
from seatrial.core.types import State
from seatrial.engine.command.pilot import Alarm, Navigator, Pilot
from seatrial.engine.frames import LegInfo
from seatrial.gnc import mission as runtime
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import TrackingLoop
from seatrial.gnc.guidance import laws, patterns
from seatrial.gnc.guidance.fence import inside
from seatrial.gnc.guidance.path import sample
from seatrial.gnc.guidance.smoothing import fillet, smooth
from seatrial.ocean import Ocean
from seatrial.pytree import constant
from seatrial.spec import faults
from seatrial.spec import mission as spec
from seatrial.spec.navigation import Navigation
from seatrial.spec.scenario import Participant, Scenario

if TYPE_CHECKING:
    from seatrial.design.tuning import Tuning

Array = NDArray[np.float64]
DType = np.dtype[Any]

ACCEPTANCE = 1.5
"""Radius of acceptance in vehicle lengths, unless a task names one."""
CLIMB = 0.8
"""Share of the rate at which depth may change that a slope may ask for."""
TURNING_RADIUS = 3.0
"""Radius of rounded corners in vehicle lengths."""


@dataclass(frozen=True)
class _Leg:
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


def legs_of(scenario: Scenario, participant: Participant, speed: float) -> list[_Leg]:
    """The tasks of a mission as legs; `speed` is that of tasks which name none."""
    datum = (scenario.world.datum.latitude_deg, scenario.world.datum.longitude_deg)
    length = participant.vehicle.length
    legs: list[_Leg] = []
    for number, task in enumerate(participant.mission):
        common = {
            "speed": task.speed or speed,
            "acceptance": task.acceptance or ACCEPTANCE * length,
            "timeout": task.timeout or math.inf,
            **_condition(task.until),
        }
        last = legs[-1].end if legs else np.array(participant.start.position)
        if isinstance(task, spec.Velocity):
            asked = (task.surge, task.sway, task.yaw_rate)
            legs.append(
                _Leg(
                    f"velocity {number + 1}",
                    runtime.VELOCITY,
                    last,
                    dwell=task.duration,
                    velocity=asked,
                    **common,
                )
            )
        elif isinstance(task, spec.Hold | spec.Surface):
            legs.append(_stay(scenario, number, task, last, common))
        elif isinstance(task, spec.Dock):
            legs += _dock(task, common)
        else:
            points = _points(task, datum)
            if isinstance(task, spec.Goto) and task.smooth is not None:
                points = _smoothed(task, np.vstack([last, points]), length)
            legs += [
                _Leg(f"{task.do} {k + 1}", runtime.TRACK, point, **common)
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
    if isinstance(task, spec.Survey):
        corners = np.array([corner[:2] for corner in task.area])
        return patterns.survey(corners, task.spacing, task.heading, task.depth)
    if isinstance(task, spec.ExpandingSquare):
        return patterns.expanding_square(
            task.centre[:2], task.spacing, task.legs, task.heading, task.depth
        )
    if isinstance(task, spec.Loiter):
        return patterns.loiter(
            task.centre[:2], task.radius, task.turns, clockwise=task.clockwise, depth=task.depth
        )
    if task.places:
        flat = patterns.from_latitude_longitude(np.array(task.places), datum)
        return np.column_stack([flat[:, :2], np.full(len(flat), task.depth)])
    return np.array([_point(waypoint, task.depth) for waypoint in task.waypoints])


def _smoothed(task: spec.Goto, points: Array, length: float) -> Array:
    """The way through the points (K, 3) as short legs, without the first of them."""
    radius = task.turning_radius or TURNING_RADIUS * length
    rows = smooth(points) if task.smooth == "hermite" else fillet(points, radius)
    found: Array = sample(rows, max(2.0 * length, 0.5 * radius))[1:]
    return found


def _point(waypoint: tuple[float, ...], depth: float) -> Array:
    return np.array([*waypoint[:2], waypoint[2] if len(waypoint) > 2 else depth])


def _stay(
    scenario: Scenario,
    number: int,
    task: spec.Hold | spec.Surface,
    last: Array,
    common: dict[str, Any],
) -> _Leg:
    if isinstance(task, spec.Surface):
        top = np.array([*last[:2], 0.0])
        return _Leg("surface", runtime.SURFACE, top, **common)
    place = last if task.position is None else _point(task.position, task.depth)
    heading = math.nan if task.heading is None else task.heading
    return _Leg(
        f"hold {number + 1}", runtime.HOLD, place, heading=heading, dwell=task.duration, **common
    )


def _dock(task: spec.Dock, common: dict[str, Any]) -> list[_Leg]:
    """To a line-up point and the gate at speed, then slowly in, and stay."""
    berth = _point(task.position, task.depth)
    approach = patterns.dock(
        berth,
        task.heading,
        2.0 * task.approach,
        task.approach,
        common["speed"],
        task.final_speed,
        berth[2],
    )
    names = ("line up", "gate")
    legs = [
        _Leg(name, runtime.TRACK, point, **common)
        for name, point in zip(names, approach.points[:2], strict=True)
    ]
    slow = common | {"speed": task.final_speed}
    legs.append(
        _Leg("dock", runtime.DOCK, berth, heading=task.heading, dwell=task.duration, **slow)
    )
    return legs


@dataclass(frozen=True)
class BuiltPilot:
    """A pilot, and what a recording says about its mission."""

    pilot: Pilot
    legs: dict[str, tuple[LegInfo, ...]]
    """By vehicle."""


def build_pilot(
    scenario: Scenario,
    members: list[Member],
    vehicle: CompiledVehicle,
    sensors: FittedOut,
    ocean: Ocean,
    initial: State,
    dtype: DType,
) -> BuiltPilot:
    """The pilot of vehicles of one kind, each with its own mission.

    Call inside `jax.enable_x64(True)`.
    """
    first = members[0].participant
    designed = _designed(scenario, first)
    tuning = designed.tuning
    autopilot = tuning.in_precision(dtype)
    missions = {m.index: legs_of(scenario, m.participant, tuning.trim.speed) for m in members}
    legs = [missions[m.index] for m in members]
    starts = np.asarray(initial.position, np.float64)
    flat = first.vehicle.buoyancy.craft == "surface"
    holds = "position" in autopilot.follows
    length = first.vehicle.length
    effectors = designed.effectors_in(dtype)
    watch = None
    if first.avoidance is not None:
        boxes = [samples_underway(first, sensor) for sensor in first.fitted]
        watch = build_watch(first.avoidance, first.fitted, boxes)
    pilot = Pilot(
        navigator=_navigator(scenario, members, sensors, ocean, initial),
        mission=_mission(legs, starts, dtype, flat),
        law=_law(first.guidance, _lookahead(tuning, legs), tuning.trim.speed, dtype),
        autopilot=autopilot,
        effectors=effectors,
        avoidance=None
        if first.avoidance is None
        else build_avoidance(
            first.avoidance,
            scenario.obstacles,
            length,
            first.vehicle.beam,
            len(members),
            dtype,
            turning_of(autopilot, tuning.trim.speed),
            watch,
        ),
        watch=watch,
        fence=_fence(first, [leg for own in missions.values() for leg in own], dtype),
        deceleration=constant(first.guidance.deceleration, dtype),
        reach=constant(length, dtype),
        climb=_climb(autopilot, dtype),
        fastest=None if tuning.fastest is None else constant(tuning.fastest, dtype),
        sideways=None if tuning.sideways is None else constant(tuning.sideways, dtype),
        alarms=_alarms(first, effectors.names),
        holds_station=holds,
        soft=first.guidance.handover == "soft",
        period=scenario.control_period,
    )
    infos = {
        m.name: tuple(
            LegInfo(
                name=leg.name,
                kind=runtime.KINDS[leg.kind],
                start=_triple(starts[:, i] if k == 0 else legs[i][k - 1].end),
                end=_triple(leg.end),
                acceptance=leg.acceptance,
            )
            for k, leg in enumerate(legs[i])
        )
        for i, m in enumerate(members)
    }
    return BuiltPilot(pilot, infos)


def _fence(participant: Participant, legs: list[_Leg], dtype: DType) -> jax.Array | None:
    """Corners (P, 2); refuses a mission that leads over the fence."""
    corners = participant.guidance.fence
    if corners is None:
        return None
    polygon = np.array(corners)
    for leg in legs:
        if leg.kind != runtime.VELOCITY and not bool(inside(polygon, leg.end[:2])):
            raise participant.guidance.error(
                ("fence",),
                f"`{leg.name}` of the mission lies outside the fence",
                value=[round(float(c), 3) for c in leg.end[:2]],
                expected="waypoints inside the fence",
                mend="move the waypoint, or widen the fence",
            )
    return constant(with_room(polygon), dtype)


def _alarms(participant: Participant, effectors: tuple[str, ...]) -> tuple[Alarm, ...]:
    """Reports of the faults that are detected; a thruster whose angle is stuck is no use either."""
    return tuple(
        Alarm(
            delay=constant(fault.detected_after),
            fault=row,
            effector=effectors.index(fault.target.removesuffix("_angle")),
        )
        for row, fault in enumerate(participant.faults)
        if isinstance(fault, faults.PowerLoss | faults.Jam | faults.FreeFloat | faults.Runaway)
        and fault.detected_after is not None
        and fault.target.removesuffix("_angle") in effectors
    )


def _designed(scenario: Scenario, participant: Participant) -> Design:
    """The design of its autopilot, with a wave filter where there are waves that need one."""
    vehicle, control = participant.vehicle, participant.control
    waves = control.wave_frequency
    if waves is None and vehicle.buoyancy.craft == "surface":
        met = wave_frequency(scenario.world)
        waves = met if met is not None and filters_waves(vehicle, met) else None
    return design(
        vehicle,
        period=scenario.control_period,
        wave_frequency=None if waves is None else round(waves, 2),
        heading=control.heading,
    )


def _climb(autopilot: Autopilot, dtype: DType) -> jax.Array | None:
    """Rate of depth that heave can follow at every speed."""
    if not isinstance(autopilot.depth, TrackingLoop):
        return None
    return constant(CLIMB * np.min(np.asarray(autopilot.depth.reference.rate_limit)), dtype)


def _triple(place: Array) -> tuple[float, float, float]:
    return float(place[0]), float(place[1]), float(place[2])


def _mission(legs: list[list[_Leg]], starts: Array, dtype: DType, flat: bool) -> runtime.Mission:
    """Missions side by side; shorter ones repeat their last leg, which is never begun."""
    room = room_for(max(len(own) for own in legs))
    rows = [own + own[-1:] * (room - len(own)) for own in legs]

    def column(name: str) -> Array:
        return np.array([[getattr(own[k], name) for own in rows] for k in range(room)], np.float64)

    ends = np.moveaxis(column("end"), 2, 1)
    return runtime.Mission(
        kind=constant(column("kind"), np.int32),
        start=constant(np.concatenate([starts[None], ends[:-1]]), dtype),
        end=constant(ends, dtype),
        speed=constant(column("speed"), dtype),
        acceptance=constant(column("acceptance"), dtype),
        heading=constant(column("heading"), dtype),
        velocity=constant(np.moveaxis(column("velocity"), 2, 1), dtype),
        dwell=constant(column("dwell"), dtype),
        timeout=constant(column("timeout"), dtype),
        watched=constant(column("watched"), np.int32),
        threshold=constant(column("threshold"), dtype),
        side=constant(column("side"), dtype),
        count=constant([len(own) for own in legs], np.int32),
        flat=flat,
    )


def _lookahead(tuning: "Tuning", legs: list[list[_Leg]]) -> float:
    """Of the design, at the highest speed of the legs."""
    speed = max(leg.speed for own in legs for leg in own)
    return float(np.interp(speed, np.asarray(tuning.autopilot.speeds), tuning.lookahead))


def _law(guidance: spec.Guidance, ahead: float, speed: float, dtype: DType) -> laws.Law:
    def number(value: float) -> jax.Array:
        return constant(value, dtype)

    lookahead = number(guidance.lookahead or ahead)
    if guidance.law == "line_of_sight":
        return laws.LineOfSight(lookahead)
    if guidance.law == "pure_pursuit":
        return laws.PurePursuit()
    if guidance.law == "integral":
        return laws.IntegralLineOfSight(lookahead, number(0.2 * speed))
    if guidance.law == "adaptive":
        return laws.AdaptiveLineOfSight(lookahead, number(0.002), number(0.5))
    return laws.LineOfSight3D(lookahead, lookahead, number(0.5))


def _navigator(
    scenario: Scenario,
    members: list[Member],
    sensors: FittedOut,
    ocean: Ocean,
    initial: State,
) -> Navigator | None:
    first = members[0].participant
    if first.feedback == "truth":
        return None
    described = first.navigation or Navigation()
    built = build_navigator(
        described,
        first.fitted,
        tuple(sensors.infos),
        first.vehicle,
        ocean,
        scenario.control_period,
        scenario.world.datum.latitude_deg,
    )
    boxes = tuple(samples_underway(first, first.fitted[place]) for place in built.aids)
    start = first_estimate(
        described,
        initial.position,
        initial.attitude,
        initial.velocity,
        scenario.seed,
        tuple(m.name for m in members),
    )
    return Navigator(filter=built.filter, start=start, imu=built.imu, aids=built.aids, boxes=boxes)
