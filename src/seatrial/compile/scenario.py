"""A scenario description to a Plan that the runner can turn."""

import math
from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import ValidationError

from seatrial._version import __version__
from seatrial.compile.vehicle import CompiledVehicle, compile_vehicle, resolve_channels
from seatrial.compile.world import build_ocean
from seatrial.core.types import State
from seatrial.errors import Problem, SpecError
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.scenario.commanders import Commander, Manoeuvre, Timetable
from seatrial.scenario.frames import (
    ActuatorInfo,
    Array,
    RunHeader,
    VehicleInfo,
)
from seatrial.scenario.launch import Start, launch
from seatrial.scenario.runner import Group, Plan
from seatrial.spec import scenario as spec
from seatrial.spec.loading import dump
from seatrial.spec.vehicle import Vehicle

DType = np.dtype[Any]


def compile_scenario(scenario: spec.Scenario) -> Plan:
    """Build everything that a run needs; JAX's own precision setting is left alone."""
    with jax.enable_x64(True):
        return _compile(scenario)


def _compile(scenario: spec.Scenario) -> Plan:
    dtype: DType = np.dtype(np.float64 if scenario.precision == "double" else np.float32)
    ocean = build_ocean(scenario.world, scenario.seed, dtype)
    compiled = _compile_kinds(scenario, ocean, dtype)
    groups: list[Group] = []
    for _, members in groupby(
        sorted(enumerate(scenario.vehicles), key=lambda item: _group_key(item[1], compiled)),
        key=lambda item: _group_key(item[1], compiled),
    ):
        participants = [(i, p) for i, p in members]
        vehicle = compiled[_kind_index(participants[0][1], compiled)][1]
        groups.append(_group(scenario, participants, vehicle, ocean, dtype))
    substeps = round(scenario.control_period / scenario.time_step)
    controls = round(scenario.frame_period / scenario.control_period)
    frame_period = scenario.time_step * substeps * controls
    return Plan(
        header=_header(scenario, compiled, frame_period),
        ocean=ocean,
        groups=tuple(groups),
        time_step=scenario.time_step,
        substeps=substeps,
        controls=controls,
        frames=math.floor(scenario.duration / frame_period + 1e-9) + 1,
        manoeuvres={
            p.name: (p.manoeuvre.type, _numbers(p.manoeuvre))
            for p in scenario.vehicles
            if p.manoeuvre is not None
        },
    )


Kinds = list[tuple[Vehicle, CompiledVehicle]]


def _compile_kinds(scenario: spec.Scenario, ocean: Ocean, dtype: DType) -> Kinds:
    """Compile each different vehicle once, however many of it there are."""
    kinds: Kinds = []
    for participant in scenario.vehicles:
        if not any(vehicle == participant.vehicle for vehicle, _ in kinds):
            model = compile_vehicle(participant.vehicle, ocean, dtype, scenario.integrator)
            kinds.append((participant.vehicle, model))
    return kinds


def _kind_index(participant: spec.Participant, kinds: Kinds) -> int:
    return next(i for i, (vehicle, _) in enumerate(kinds) if vehicle == participant.vehicle)


def _group_key(participant: spec.Participant, kinds: Kinds) -> tuple[int, str, int]:
    """Vehicles of one kind that take orders in the same way share a program."""
    order = participant.manoeuvre
    steps = order.steps if isinstance(order, spec.Spiral) else 0
    return _kind_index(participant, kinds), order.type if order else "", steps


def _numbers(manoeuvre: spec.Manoeuvre) -> dict[str, float]:
    return {k: float(v) for k, v in manoeuvre.model_dump().items() if not isinstance(v, str)}


def _header(scenario: spec.Scenario, kinds: Kinds, frame_period: float) -> RunHeader:
    def info(participant: spec.Participant) -> VehicleInfo:
        vehicle, compiled = kinds[_kind_index(participant, kinds)]
        return VehicleInfo(
            name=participant.name,
            kind=vehicle.name,
            craft=vehicle.buoyancy.craft,
            length=vehicle.length,
            beam=vehicle.beam,
            height=vehicle.height,
            actuators=tuple(ActuatorInfo(c.name, c.unit) for c in compiled.channels),
        )

    world = scenario.world
    return RunHeader(
        scenario=scenario.name,
        version=__version__,
        seed=scenario.seed,
        description=dump(scenario),
        frame_period=frame_period,
        duration=scenario.duration,
        water_depth=None if world.seabed is None else world.seabed.depth,
        datum=(world.datum.latitude_deg, world.datum.longitude_deg),
        vehicles=tuple(info(p) for p in scenario.vehicles),
    )


def _group(
    scenario: spec.Scenario,
    participants: list[tuple[int, spec.Participant]],
    vehicle: CompiledVehicle,
    ocean: Ocean,
    dtype: DType,
) -> Group:
    members = [p for _, p in participants]
    return Group(
        model=vehicle.model,
        commander=_commander(members, vehicle, dtype),
        initial=_initial(members, vehicle, ocean, dtype),
        names=tuple(p.name for p in members),
        stop_when_grounded=scenario.stop_when_grounded,
    )


def _initial(
    members: list[spec.Participant], vehicle: CompiledVehicle, ocean: Ocean, dtype: DType
) -> State:
    channels = list(vehicle.channels)
    starts = [p.start for p in members]
    actuators = np.zeros((vehicle.actuator_states, len(starts)))
    for n, start in enumerate(starts):
        orders = resolve_channels(start, ("actuators",), start.actuators, channels)
        actuators[: len(channels), n] = orders
    described = Start(
        position=jnp.asarray(np.array([s.position for s in starts]).T, dtype),
        euler=jnp.asarray(np.array([(s.roll, s.pitch, s.heading) for s in starts]).T, dtype),
        speed=jnp.asarray(np.array([s.speed for s in starts]), dtype),
        actuators=jnp.asarray(actuators, dtype),
    )
    put_in = compile_program(launch, vehicle.model, ocean, described)
    launched: State = put_in(vehicle.model, ocean, described)
    return launched


def _commander(
    members: list[spec.Participant], vehicle: CompiledVehicle, dtype: DType
) -> Commander:
    if members[0].manoeuvre is not None:
        return _manoeuvre(members, vehicle, dtype)
    times = {0.0}
    for p in members:
        for rows in p.commands.values():
            times |= {row[0] for row in rows} if isinstance(rows, tuple) else set()
    ordered = sorted(times)
    channels = list(vehicle.channels)
    values = np.zeros((len(ordered), len(channels), len(members)))
    for n, p in enumerate(members):
        # Resolving the names once checks them all; the values follow row by row.
        resolve_channels(p, ("commands",), dict.fromkeys(p.commands, 0.0), channels)
        for k, time in enumerate(ordered):
            now = {key: _value_at(rows, time) for key, rows in p.commands.items()}
            values[k, :, n] = resolve_channels(p, ("commands",), now, channels)
    return Timetable(
        times=jnp.asarray([-math.inf, *ordered[1:]]), values=jnp.asarray(values, dtype)
    )


def _value_at(rows: float | tuple[tuple[float, float], ...], time: float) -> float:
    if not isinstance(rows, tuple):
        return rows
    return next((value for at, value in reversed(rows) if at <= time), 0.0)


def _manoeuvre(
    members: list[spec.Participant], vehicle: CompiledVehicle, dtype: DType
) -> Manoeuvre:
    first = members[0].manoeuvre
    orders = members[0].vehicle.manoeuvring
    assert first is not None
    assert orders is not None  # checked with the description
    channels = list(vehicle.channels)

    def column(name: str, default: float = 0.0) -> Array:
        return np.array([float(getattr(p.manoeuvre, name, default)) for p in members])

    def orders_of(table: str) -> jax.Array:
        values = resolve_channels(orders, (table,), getattr(orders, table), channels)
        return jnp.asarray(np.array(values)[:, None], dtype)

    return Manoeuvre(
        helm=jnp.asarray(column("helm"), dtype),
        heading_change=jnp.asarray(column("heading_change"), dtype),
        approach=jnp.asarray(column("approach")),
        hold=jnp.asarray(column("turn" if first.type == "pull_out" else "hold")),
        engine=jnp.asarray(column("engine", 1.0), dtype),
        astern=jnp.asarray(column("astern", -1.0), dtype),
        helm_command=orders_of("helm"),
        engine_command=orders_of("ahead"),
        type=first.type,
        steps=first.steps if isinstance(first, spec.Spiral) else 0,
    )


def with_overrides(
    scenario: spec.Scenario, seed: int | None = None, duration: float | None = None
) -> spec.Scenario:
    """The scenario with another seed or duration."""
    changes: dict[str, object] = {}
    if seed is not None:
        changes["seed"] = seed
    if duration is not None:
        changes["duration"] = float(duration)
    if not changes:
        return scenario
    fields = {name: getattr(scenario, name) for name in type(scenario).model_fields}
    try:
        changed = spec.Scenario.model_validate(fields | changes)
    except ValidationError as error:
        raise SpecError(
            [
                Problem(e["msg"], path=e["loc"], value=e["input"], mend="give another value")
                for e in error.errors()
            ]
        ) from None
    changed._source = scenario._source
    return changed
