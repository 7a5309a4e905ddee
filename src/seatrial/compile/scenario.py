"""A scenario description to a Plan that the engine can turn."""

import math
import warnings
from itertools import groupby
from pathlib import Path

import jax

from seatrial._version import __version__
from seatrial.compile.control.compiled_controllers import CompiledControllers
from seatrial.compile.events.faults import fault_infos
from seatrial.compile.events.schedule import schedule_of, settle_time_step
from seatrial.compile.fleets import flat_depth, fleet_of
from seatrial.compile.kinds import Kinds, vehicles_touch
from seatrial.compile.sensors.fitting import samples_underway
from seatrial.compile.starts import check_apart
from seatrial.compile.surroundings.site import Site
from seatrial.compile.swarm import Member, members_of
from seatrial.compile.variations import with_overrides
from seatrial.compile.vehicles.actuators import expand, infos_of
from seatrial.compile.vehicles.plausibility import doubts_about, within_reach
from seatrial.compile.vehicles.shapes import hull_shapes
from seatrial.compile.vehicles.trim import settle_trim
from seatrial.engine.exchange.controllers import facts_of
from seatrial.engine.frames import RunHeader, VehicleInfo, vehicle_bodies
from seatrial.engine.plan import Fleet, Plan
from seatrial.engine.scene import scene_of
from seatrial.errors import Problem, SpecWarning
from seatrial.spec import scenario as spec
from seatrial.spec.loading import dump, load


def compile_scenario(
    scenario: spec.Scenario,
    controllers: CompiledControllers | None = None,
    site: Site | None = None,
) -> Plan:
    """Build everything that a run needs; JAX's own precision setting is left alone.

    A `site` of the same world and seed that is there already is not built again.
    """
    with jax.enable_x64(True), within_reach(scenario):
        return _compile(scenario, controllers or CompiledControllers({}), site or Site(scenario))


def plan_of(
    scenario: str | Path | spec.Scenario | Plan,
    seed: int | None = None,
    duration: float | None = None,
    controllers: CompiledControllers | None = None,
    site: Site | None = None,
) -> Plan:
    """The plan of a scenario given by name, by file, as an object, or compiled already."""
    if isinstance(scenario, Plan) and seed is None and duration is None and not controllers:
        return scenario
    described = with_overrides(described_by(scenario), seed, duration)
    return compile_scenario(described, controllers, site)


def described_by(scenario: str | Path | spec.Scenario | Plan) -> spec.Scenario:
    """The description of a scenario given by name, by file, as an object, or compiled already."""
    if isinstance(scenario, Plan):
        assert isinstance(scenario.scenario, spec.Scenario)
        return scenario.scenario
    return scenario if isinstance(scenario, spec.Scenario) else load(scenario, spec.Scenario)


def _compile(described: spec.Scenario, controllers: CompiledControllers, site: Site) -> Plan:
    timed = settle_time_step(described)
    scenario = settle_trim(timed, site.bottom)
    members = [
        member
        for i, participant in enumerate(scenario.vehicles)
        for member in members_of(participant, i, scenario.seed)
    ]
    _check_distinct(scenario, members)
    kinds = Kinds(scenario, members, controllers, site)
    fleets: list[Fleet] = []
    doubts = list(doubts_about(described))
    for _, some in groupby(sorted(members, key=kinds.key), key=kinds.key):
        fleets.append(fleet_of(scenario, list(some), kinds, doubts))
    if vehicles_touch(scenario):
        check_apart(scenario, members, fleets)
    schedule = schedule_of(scenario)
    frame_period = schedule.time_step * schedule.substeps * schedule.controls
    frames = math.floor(scenario.duration / frame_period + 1e-9)
    if abs(frames * frame_period - scenario.duration) > 1e-6 * frame_period:
        doubts.append(_odd_duration(scenario, frames * frame_period, frame_period))
    for doubt in doubts:
        warnings.warn(str(doubt), SpecWarning, stacklevel=2)
    header = _header(timed, members, kinds, fleets, frame_period)
    infos = {info.name: info for info in header.vehicles}
    participants = {member.name: member.participant for member in members}
    return Plan(
        header=header,
        fleets=tuple(
            controllers.into(
                fleet,
                lambda name: facts_of(infos[name], scenario.control_period),
                [
                    samples_underway(participants[fleet.names[0]], sensor)
                    for sensor in participants[fleet.names[0]].fitted
                ],
            )
            for fleet in fleets
        ),
        schedule=schedule,
        frames=frames + 1,
        stop_when_done=scenario.stop_when_done,
        manoeuvres={
            m.name: (m.participant.manoeuvre.type, _numbers(m.participant.manoeuvre))
            for m in members
            if m.participant.manoeuvre is not None
        },
        scenario=described,
        scene=scene_of(
            site.finest_ocean(),
            (*vehicle_bodies(header.vehicles), *site.bodies),
        ),
        loaded=None if site.bottom is None else site.bottom.loaded,
    )


def _odd_duration(scenario: spec.Scenario, end: float, period: float) -> Problem:
    return scenario.problem(
        ("duration",),
        f"the run ends with its last frame, at {end:g} s",
        value=scenario.duration,
        expected=f"a whole number of frames of {period:g} s",
        mend=f"try {end:g} or {end + period:g}, or a `frame_period` that divides the duration",
    )


def _check_distinct(scenario: spec.Scenario, members: list[Member]) -> None:
    names = [m.name for m in members]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise scenario.error(
            ("vehicles",),
            f"two vehicles are called `{twice}`",
            expected="names that stay different when the vessels of swarms are numbered",
            mend="rename one of them",
        )
    bodies = {body.name for body in scenario.world.bodies}
    for member in members:
        if member.name in bodies:
            raise scenario.error(
                ("vehicles", member.index, "name"),
                f"a body of the world `{scenario.world.name}` is called `{member.name}` too",
                value=member.name,
                expected="a name that no body has: events and labels go by it",
                mend="rename the vehicle, or the body",
            )


def _numbers(manoeuvre: spec.Manoeuvre) -> dict[str, float]:
    return {k: float(v) for k, v in manoeuvre.model_dump().items() if not isinstance(v, str)}


def _header(
    scenario: spec.Scenario,
    members: list[Member],
    kinds: Kinds,
    fleets: list[Fleet],
    frame_period: float,
) -> RunHeader:
    legs = {name: found for fleet in fleets for name, found in fleet.legs.items()}

    def info(member: Member) -> VehicleInfo:
        vehicle = member.participant.vehicle
        kind = kinds.of(member.participant)
        return VehicleInfo(
            name=member.name,
            kind=vehicle.name,
            craft=vehicle.buoyancy.craft,
            length=vehicle.length,
            beam=vehicle.beam,
            height=vehicle.height,
            actuators=infos_of(expand(vehicle.actuators)),
            sensors=tuple(kind.sensors.infos),
            faults=fault_infos(member.participant.faults),
            legs=legs.get(member.name, ()),
            estimated=member.name in legs and member.participant.feedback == "estimate",
            fence=member.participant.guidance.fence or () if member.name in legs else (),
        )

    world = scenario.world
    return RunHeader(
        scenario=scenario.name,
        version=__version__,
        seed=scenario.seed,
        describe=lambda: dump(scenario),
        frame_period=frame_period,
        duration=scenario.duration,
        water_depth=flat_depth(kinds.site.finest_ocean()),
        datum=(world.datum.latitude_deg, world.datum.longitude_deg),
        vehicles=tuple(info(m) for m in members),
        shapes=lambda: hull_shapes((m.name, m.participant.vehicle) for m in members),
    )
