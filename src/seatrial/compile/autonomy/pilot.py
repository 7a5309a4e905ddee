"""A mission, and the vehicle's own model, to a pilot that carries it out."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.checks.fence import refuse_ways_out
from seatrial.compile.autonomy.checks.mission import check_mission
from seatrial.compile.autonomy.failsafes import build_failsafes, nominal_of
from seatrial.compile.autonomy.legs import Leg, legs_of
from seatrial.compile.autonomy.navigation.navigator import build_navigator, first_estimate
from seatrial.compile.autonomy.obstacles import (
    build_avoidance,
    build_sight,
    build_watch,
    turning_of,
)
from seatrial.compile.autonomy.pipelines import build_tracker
from seatrial.compile.autonomy.terrain import build_terrain, deepest_of
from seatrial.compile.autonomy.tuning import Design, design, design_regulator, filters_waves
from seatrial.compile.padding import room_for, with_room
from seatrial.compile.sensors.fitting import FittedOut, samples_underway
from seatrial.compile.surroundings.world import wave_frequency
from seatrial.compile.swarm import Member
from seatrial.compile.vehicles.vehicle import CompiledVehicle
from seatrial.core.types import State
from seatrial.engine.command.pilot import Alarm, Navigator, Pilot
from seatrial.engine.frames import LegInfo
from seatrial.errors import Problem
from seatrial.gnc import mission as runtime
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import Dive, TrackingLoop
from seatrial.gnc.control.regulator import Regulator
from seatrial.gnc.guidance import laws
from seatrial.gnc.guidance.fence import inside
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

JOINING = 2.0
"""Radius of the circle on which a leg is joined, over that of the tightest turn."""

CLIMB = 0.8
"""Share of the rate at which depth may change that a slope may ask for."""


@dataclass(frozen=True)
class BuiltPilot:
    """A pilot, and what a recording says about its mission."""

    pilot: Pilot
    legs: dict[str, tuple[LegInfo, ...]]
    """By vehicle."""
    doubts: list[Problem]
    """What may not work about the missions."""


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
    holds = "position" in autopilot.follows
    missions = {
        m.index: legs_of(scenario, m.participant, tuning.trim.speed, holds, tuning.slowest or 0.0)
        for m in members
    }
    legs = [missions[m.index] for m in members]
    starts = np.asarray(initial.position, np.float64)
    flat = first.vehicle.buoyancy.craft == "surface"
    length = first.vehicle.length
    effectors = designed.effectors_in(dtype)
    watch = sight = None
    slowly = min(leg.speed for own in legs for leg in own)
    if first.avoidance is not None:
        boxes = [samples_underway(first, sensor) for sensor in first.fitted]
        watch = build_watch(first.avoidance, first.fitted, boxes)
        sight = build_sight(
            *(first.avoidance, first.vehicle, first.fitted, sensors.infos, boxes, dtype)
        )
    nominal = nominal_of(first.vehicle, dtype)
    pilot = Pilot(
        nominal=nominal,
        navigator=_navigator(scenario, members, sensors, ocean, initial),
        mission=_mission(legs, starts, dtype, flat),
        law=_law(first.guidance, tuning, legs, dtype),
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
            turning_of(autopilot, tuning.trim.speed if sight is None else slowly),
            watch,
            None if sight is None else _steerage_way(autopilot, slowly),
        ),
        watch=watch,
        fence=_fence(first, legs, starts, dtype),
        failsafes=build_failsafes(
            members,
            vehicle,
            sensors,
            effectors,
            tuning,
            nominal,
            [
                max(starts[2, i], *(deepest_of(leg, ocean) for leg in own))
                for i, own in enumerate(legs)
            ],
            slowly,
            scenario.control_period,
            dtype,
        ),
        deceleration=constant(first.guidance.deceleration, dtype),
        reach=constant(length, dtype),
        climb=_climb(autopilot, dtype),
        fastest=None if tuning.fastest is None else constant(tuning.fastest, dtype),
        sideways=None if tuning.sideways is None else constant(tuning.sideways, dtype),
        alarms=_alarms(first, effectors.names),
        holds_station=holds,
        soft=first.guidance.handover == "soft",
        period=scenario.control_period,
        terrain=build_terrain(scenario, members, missions, sensors.infos, tuning, ocean, dtype),
        sight=sight,
        tracker=build_tracker(scenario, members, sensors.infos, _lookahead(tuning, legs), dtype),
        regulator=_regulator(first, holds, _top_speed(legs), dtype),
    )
    infos = {
        m.name: tuple(
            LegInfo(
                name=leg.name,
                kind=runtime.KINDS[leg.kind],
                start=_triple(starts[:, i] if k == 0 else legs[i][k - 1].end),
                end=_triple(leg.end),
                acceptance=leg.acceptance,
                heading=None if math.isnan(leg.heading) else leg.heading,
            )
            for k, leg in enumerate(legs[i])
        )
        for i, m in enumerate(members)
    }
    # Vehicles of a swarm begin at different places, and all have the mission of the first.
    firsts = {m.index: i for i, m in reversed(list(enumerate(members)))}
    doubts = [
        doubt
        for index, i in sorted(firsts.items())
        for doubt in check_mission(
            *(scenario, index, missions[index], starts[:, i], designed), *(sensors, ocean.seabed)
        )
    ]
    return BuiltPilot(pilot, infos, doubts)


def _fence(
    participant: Participant, legs: list[list[Leg]], starts: Array, dtype: DType
) -> jax.Array | None:
    """Corners (P, 2); refuses a mission that begins outside the fence or leads over it."""
    corners = participant.guidance.fence
    if corners is None:
        return None
    polygon = np.array(corners)
    outside = ~inside(polygon, starts)
    if outside.any():
        raise participant.guidance.error(
            ("fence",),
            "the vehicle begins outside the fence",
            value=[round(float(c), 3) for c in starts[:2, np.argmax(outside)]],
            expected="a start inside the fence",
            mend="move the start, or widen the fence",
        )
    for i, own in enumerate(legs):
        refuse_ways_out(participant, polygon, own, starts[:, i])
    return constant(with_room(polygon), dtype)


def _regulator(
    participant: Participant, holds: bool, speed: float, dtype: DType
) -> Regulator | None:
    """What `control: {law: lqr}` asks for; refused where a vehicle, or its tasks, do not allow
    it."""
    control, vehicle = participant.control, participant.vehicle
    if control.law == "loops":
        return None
    if not holds:
        raise control.error(
            ("law",),
            f"`{vehicle.name}` cannot be driven to a place from any side",
            value="lqr",
            expected="a vehicle that controls surge, sway and heading",
            mend="leave `law` out",
        )
    bottom = (task.do for task in participant.mission if getattr(task, "altitude", None))
    other = "avoidance" if participant.avoidance is not None else next(bottom, None)
    if other is not None:
        raise control.error(
            ("law",),
            f"the regulator goes straight to its waypoints and would not heed `{other}`",
            value="lqr",
            expected="`loops` beside avoidance and altitudes over the bottom",
            mend="leave `law` out",
        )
    designed = design_regulator(vehicle, speed)
    found: Regulator = jax.tree.map(lambda a: constant(a, dtype), designed)
    return found


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
        gains=control.gains,
        control=control,
    )


def _steerage_way(autopilot: Autopilot, speed: float) -> float | None:
    """Least speed at which the design steers, m/s, where it asks for `speed` or more; None for a
    vehicle that turns on the spot."""
    least = float(np.asarray(autopilot.speeds)[0])
    return min(least, speed) if least > 0.0 else None


def _climb(autopilot: Autopilot, dtype: DType) -> jax.Array | None:
    """Rate of depth that heave can follow at every speed."""
    if not isinstance(autopilot.depth, TrackingLoop):
        return None
    return constant(CLIMB * np.min(np.asarray(autopilot.depth.reference.rate_limit)), dtype)


def _triple(place: Array) -> tuple[float, float, float]:
    return float(place[0]), float(place[1]), float(place[2])


def _mission(legs: list[list[Leg]], starts: Array, dtype: DType, flat: bool) -> runtime.Mission:
    """Missions side by side; shorter ones repeat their last leg, which is never begun."""
    room = room_for(max(len(own) for own in legs))
    rows = [own + own[-1:] * (room - len(own)) for own in legs]

    def column(name: str) -> Array:
        return np.array([[getattr(own[k], name) for own in rows] for k in range(room)], np.float64)

    ends, altitude = np.moveaxis(column("end"), 2, 1), column("altitude")
    pipe = column("pipe")
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
        altitude=None if np.isnan(altitude).all() else constant(altitude, dtype),
        pipe=None if np.isnan(pipe).all() else constant(pipe, dtype),
        flat=flat,
    )


def _lookahead(tuning: "Tuning", legs: list[list[Leg]]) -> float:
    """Of the design, at the highest speed of the legs."""
    speeds = np.asarray(tuning.autopilot.speeds)
    return float(np.interp(_top_speed(legs), speeds, tuning.lookahead))


def _top_speed(legs: list[list[Leg]]) -> float:
    return max(leg.speed for own in legs for leg in own)


def _joining(autopilot: Autopilot, speed: float) -> float:
    """Radius of the circle on which a leg is joined, m."""
    assert autopilot.heading is not None
    limits = np.asarray(autopilot.heading.reference.rate_limit)
    rate = np.interp(speed, np.asarray(autopilot.speeds), limits)
    return float(JOINING * speed / rate)


def _law(
    guidance: spec.Guidance, tuning: "Tuning", legs: list[list[Leg]], dtype: DType
) -> laws.Law:
    def number(value: float) -> jax.Array:
        return constant(value, dtype)

    autopilot, speed = tuning.autopilot, tuning.trim.speed
    lookahead = number(guidance.lookahead or _lookahead(tuning, legs))
    if guidance.law == "line_of_sight":
        if not isinstance(autopilot.depth, Dive):
            return laws.LineOfSight(lookahead)
        # Fins need way on to turn, and under water no wave pushes the vehicle across its leg.
        radius = _joining(autopilot, _top_speed(legs))
        return laws.LineOfSight(lookahead, number(radius), leads=True)
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
    described = first.navigation or first.with_default(Navigation())
    built = build_navigator(
        described,
        first.fitted,
        tuple(sensors.infos),
        first.vehicle,
        scenario.world,
        ocean,
        scenario.control_period,
    )
    boxes = tuple(samples_underway(first, first.fitted[place]) for place in built.aids)
    start = first_estimate(
        described,
        initial.position,
        initial.attitude,
        initial.velocity,
        np.array([m.participant.start.speed for m in members]),
        scenario.seed,
        tuple(m.name for m in members),
    )
    return Navigator(
        filter=built.filter,
        start=start,
        behind=constant(min(1.0 / first.fitted[built.imu].rate, scenario.control_period)),
        imu=built.imu,
        aids=built.aids,
        boxes=boxes,
    )
