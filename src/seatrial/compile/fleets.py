"""Vehicles of one kind that take orders in the same way, put into the water and ready to run."""

import jax
import numpy as np

from seatrial.channels import resolve_channels
from seatrial.compile.events.faults import compile_faults
from seatrial.compile.events.timetables import timetable_of
from seatrial.compile.events.triggers import FaultContext
from seatrial.compile.kinds import DType, Kinds, vehicles_touch
from seatrial.compile.starts import check_afloat, check_clear
from seatrial.compile.swarm import Member, vary_model
from seatrial.compile.vehicles.limits import believable_speed
from seatrial.compile.vehicles.plausibility import check_places, check_start
from seatrial.compile.vehicles.vehicle import CompiledVehicle
from seatrial.core.types import State
from seatrial.engine.command.commanders import Commander
from seatrial.engine.compiled.group import Group
from seatrial.engine.compiled.judging import MOST_SPIN, Limits
from seatrial.engine.compiled.launch import Start, launch
from seatrial.engine.compiled.traffic import looks_out
from seatrial.engine.frames import LegInfo
from seatrial.engine.plan import Fleet
from seatrial.errors import Problem
from seatrial.geometry.grid import HeightGrid
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.pytree import constant
from seatrial.spec import scenario as spec
from seatrial.spec.vehicle import Vehicle


def fleet_of(
    scenario: spec.Scenario, members: list[Member], kinds: Kinds, doubts: list[Problem]
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
            water_depth=flat_depth(ocean),
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


def flat_depth(ocean: Ocean) -> float | None:
    """Of a flat bottom, m; None without one, and over a map, which the scene has."""
    if ocean.seabed is None or isinstance(ocean.seabed.depth, HeightGrid):
        return None
    return float(ocean.seabed.depth)
