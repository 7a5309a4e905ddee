"""A scenario description to a Plan that the engine can turn."""

import math
import warnings
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import jax
import numpy as np

from seatrial._version import __version__
from seatrial.channels import resolve_channels
from seatrial.compile.control.compiled_controllers import CompiledControllers
from seatrial.compile.events.faults import compile_faults, fault_infos
from seatrial.compile.events.schedule import schedule_of, settle_time_step
from seatrial.compile.events.timetables import timetable_of
from seatrial.compile.events.triggers import FaultContext
from seatrial.compile.sensors.fitting import FittedOut, samples_underway
from seatrial.compile.starts import check_afloat, check_clear
from seatrial.compile.surroundings.site import Site
from seatrial.compile.swarm import Member, members_of, vary_model
from seatrial.compile.variations import with_overrides
from seatrial.compile.vehicles.actuators import expand, infos_of
from seatrial.compile.vehicles.limits import believable_speed
from seatrial.compile.vehicles.plausibility import (
    check_places,
    check_start,
    doubts_about,
    within_reach,
)
from seatrial.compile.vehicles.shapes import hull_shapes
from seatrial.compile.vehicles.trim import settle_trim
from seatrial.compile.vehicles.vehicle import CompiledVehicle, compile_vehicle
from seatrial.compile.vehicles.wave_forces import load_wave_forces
from seatrial.core.types import State
from seatrial.engine.command.commanders import Commander
from seatrial.engine.compiled.group import Group
from seatrial.engine.compiled.judging import MOST_SPIN, Limits
from seatrial.engine.compiled.launch import Start, launch
from seatrial.engine.compiled.traffic import looks_out
from seatrial.engine.exchange.controllers import facts_of
from seatrial.engine.frames import (
    LegInfo,
    RunHeader,
    VehicleInfo,
    vehicle_bodies,
)
from seatrial.engine.plan import Fleet, Plan
from seatrial.engine.scene import scene_of
from seatrial.errors import Problem, SpecWarning
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.pytree import constant
from seatrial.spec import scenario as spec
from seatrial.spec.loading import dump, load
from seatrial.spec.sensors.contacts import Ais, Radar
from seatrial.spec.vehicle import Vehicle

DType = np.dtype[Any]


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
    kinds = _Kinds(scenario, members, controllers, site)
    fleets: list[Fleet] = []
    doubts = list(doubts_about(described))
    for _, some in groupby(sorted(members, key=kinds.key), key=kinds.key):
        fleets.append(_fleet(scenario, list(some), kinds, doubts))
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


class _Kinds:
    """The different vehicles of a scenario, each compiled once, and the seas they need."""

    def __init__(
        self,
        scenario: spec.Scenario,
        members: list[Member],
        controllers: CompiledControllers,
        site: Site,
    ) -> None:
        self._scenario = scenario
        self.site = site
        self._controllers = controllers
        self._different: list[tuple[int, spec.Participant]] = []
        for i, participant in enumerate(scenario.vehicles):
            if self._find(participant) is None:
                self._different.append((i, participant))
        in_fleets = sorted(members, key=self.key)
        self._numbers = {member.name: i + 1 for i, member in enumerate(in_fleets)}
        # The vehicles in the order of the traffic, which is the fleets'.
        rays = site.rays(in_fleets, self.dtype(scenario.vehicles[0]))
        self._kinds = [self._compile(participant, i, rays) for i, participant in self._different]

    def key(self, member: Member) -> tuple[int, str, int, int]:
        """Vehicles of one kind that take orders in the same way share a program."""
        order = member.participant.manoeuvre
        steps = order.steps if isinstance(order, spec.Spiral) else 0
        index = self._find(member.participant)
        assert index is not None
        own = self._controllers.key(member.name)
        return index, order.type if order else "", steps, own

    def of(self, participant: spec.Participant) -> "_Kind":
        """What a participant was compiled to."""
        index = self._find(participant)
        assert index is not None
        return self._kinds[index]

    def dtype(self, participant: spec.Participant) -> DType:
        """Single precision for swarms, double for others, unless the scenario says otherwise."""
        chosen = self._scenario.precision or ("single" if participant.count > 1 else "double")
        return np.dtype(np.float64 if chosen == "double" else np.float32)

    def _find(self, participant: spec.Participant) -> int | None:
        wanted = self._alike(participant)
        for i, (_, known) in enumerate(self._different):
            if self._alike(known) == wanted:
                return i
        return None

    def _alike(self, participant: spec.Participant) -> tuple[DType, bool, spec.Participant]:
        """Equal for vehicles that share a model, sensors, faults and a pilot.

        Only what tells vehicles of one kind apart, or is put into arrays per vehicle, is blanked.
        """
        own = {
            "name": "any",
            "start": spec.Start(),
            "commands": {},
            "manoeuvre": None,
            "mission": (),
        }
        own |= {"manoeuvre": None, "controller": None}
        swarm = {"count": 1, "formation": "grid", "spacing": 1.0}
        blank = participant.model_copy(update=own | swarm)
        return self.dtype(participant), bool(participant.mission), blank

    def _compile(self, participant: spec.Participant, index: int, rays: RayScene) -> "_Kind":
        dtype = self.dtype(participant)
        loaded = None
        if participant.wave_forces is not None:
            loaded = load_wave_forces(self._scenario, index, self.site.ocean(dtype), dtype)
        vehicle = compile_vehicle(
            participant.vehicle,
            self.site.ocean(dtype),
            dtype,
            self._scenario.integrator,
            loaded,
            vehicles_touch(self._scenario),
        )
        sensors = FittedOut(
            self._scenario,
            participant,
            vehicle.channels,
            self.site.ocean(dtype),
            dtype,
            rays,
            self._numbers,
        )
        return _Kind(vehicle, sensors)


@dataclass(frozen=True)
class _Kind:
    """What a sort of vehicle was compiled to."""

    vehicle: CompiledVehicle
    sensors: FittedOut


def _numbers(manoeuvre: spec.Manoeuvre) -> dict[str, float]:
    return {k: float(v) for k, v in manoeuvre.model_dump().items() if not isinstance(v, str)}


def _header(
    scenario: spec.Scenario,
    members: list[Member],
    kinds: _Kinds,
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
        water_depth=_water_depth(kinds.site.finest_ocean()),
        datum=(world.datum.latitude_deg, world.datum.longitude_deg),
        vehicles=tuple(info(m) for m in members),
        shapes=lambda: hull_shapes((m.name, m.participant.vehicle) for m in members),
    )


def _water_depth(ocean: Ocean) -> float | None:
    """Of a flat bottom, m; None without one, and over a map, which the scene has."""
    if ocean.seabed is None or isinstance(ocean.seabed.depth, HeightGrid):
        return None
    return float(ocean.seabed.depth)


def _fleet(
    scenario: spec.Scenario, members: list[Member], kinds: _Kinds, doubts: list[Problem]
) -> Fleet:
    """Vehicles of one kind, ready to run; what is doubtful about them is added to `doubts`."""
    first = members[0].participant
    dtype = kinds.dtype(first)
    ocean = kinds.site.ocean(dtype)
    kind = kinds.of(first)
    vehicle = kind.vehicle
    names = tuple(m.name for m in members)
    model, varied = vary_model(scenario, members, vehicle.model, dtype)
    faults = compile_faults(
        first.faults,
        FaultContext(
            names=names,
            vehicle=first.vehicle,
            compiled=vehicle,
            sensors=kind.sensors.infos,
            views=kind.sensors.views,
            duration=scenario.duration,
            water_depth=_water_depth(ocean),
            mapped=ocean.seabed is not None and isinstance(ocean.seabed.depth, HeightGrid),
            seed=scenario.seed,
            dtype=dtype,
        ),
    )
    for index in _participants(members):
        check_start(scenario, index)
        check_places(scenario, index)
    initial = _initial(scenario, members, vehicle, ocean, dtype)
    check_afloat(scenario, members, vehicle.model.contact, ocean, initial)
    check_clear(scenario, members, vehicle.model.contact, kinds.site.bodies, ocean, initial)
    legs: dict[str, tuple[LegInfo, ...]] = {}
    commander: Commander
    if first.mission:
        from seatrial.compile.autonomy.pilot import build_pilot  # with SciPy's optimisers

        built = build_pilot(scenario, members, vehicle, kind.sensors, ocean, initial, dtype)
        commander, legs = built.pilot, built.legs
        doubts += built.doubts
    else:
        commander = timetable_of(scenario, members, vehicle, dtype)
    suite = kind.sensors.suite(names, faults.sensors)
    passing = None
    if looks_out(suite) or scenario.stop_when_collided:
        from seatrial.compile.autonomy.obstacles import build_passing

        passing = build_passing(scenario.obstacles)
    group = Group(
        model=model,
        commander=commander,
        initial=initial,
        suite=suite,
        faults=faults.faults,
        limits=_limits(scenario, first.vehicle, ocean),
        size=constant([first.vehicle.length, first.vehicle.beam]),
        passing=passing,
        controller=None,
        varied=varied,
        touches_others=vehicles_touch(scenario),
    )
    # All arrays at once, not at every call of a program.
    group, ocean = jax.device_put((group, ocean))
    sensors = tuple(info.name for info in kind.sensors.infos)
    return Fleet(names, group, ocean, sensors, legs, kind.sensors.dense)


def vehicles_touch(scenario: spec.Scenario) -> bool:
    """Whether vehicles push each other: as the scenario says, or where they meet anyway."""
    alone = len(scenario.vehicles) == 1 and scenario.vehicles[0].count == 1
    if alone or scenario.vehicles_touch is not None:
        return bool(scenario.vehicles_touch) and not alone
    looking = any(isinstance(s, Ais | Radar) for p in scenario.vehicles for s in p.fitted)
    return looking or scenario.stop_when_collided


def _limits(scenario: spec.Scenario, vehicle: Vehicle, ocean: Ocean) -> Limits:
    return Limits(
        speed=constant(believable_speed(vehicle, ocean)),
        spin=constant(MOST_SPIN),
        stop_when_grounded=scenario.stop_when_grounded,
        stop_when_capsized=scenario.stop_when_capsized,
        collision=None
        if scenario.collision_impulse is None
        else constant(scenario.collision_impulse),
        stop_when_collided=scenario.stop_when_collided,
    )


def _initial(
    scenario: spec.Scenario,
    members: list[Member],
    vehicle: CompiledVehicle,
    ocean: Ocean,
    dtype: DType,
) -> State:
    channels = list(vehicle.channels)
    states = {
        i: resolve_channels(
            scenario, ("vehicles", i, "start", "actuators"), p.start.actuators, channels
        )
        for i, p in _participants(members).items()
    }
    actuators = np.zeros((vehicle.actuator_states, len(members)))
    actuators[: len(channels)] = np.array([states[m.index] for m in members]).T
    starts = [m.participant.start for m in members]
    described = Start(
        position=constant(np.array([m.position for m in members]).T, dtype),
        euler=constant(np.array([(s.roll, s.pitch, s.heading) for s in starts]).T, dtype),
        speed=constant(np.array([s.speed for s in starts]), dtype),
        actuators=constant(actuators, dtype),
    )
    put_in = compile_program(launch, vehicle.model, ocean, described)
    launched: State = put_in(vehicle.model, ocean, described)
    return launched


def _participants(members: list[Member]) -> dict[int, spec.Participant]:
    """The participants that the members come from, by their place in the scenario."""
    return {m.index: m.participant for m in members}
