"""The orders of a scenario: timetables of commands, and standard manoeuvres."""

import math
from typing import Any

import jax
import numpy as np

from seatrial.channels import resolve_channels
from seatrial.compile.padding import with_room
from seatrial.compile.swarm import Member
from seatrial.compile.vehicles.vehicle import CompiledVehicle
from seatrial.engine.command.commanders import Commander, Manoeuvre, Timetable
from seatrial.engine.frames import Array
from seatrial.pytree import constant
from seatrial.spec import scenario as spec

DType = np.dtype[Any]


def timetable_of(
    scenario: spec.Scenario, members: list[Member], vehicle: CompiledVehicle, dtype: DType
) -> Commander:
    """What vehicles of one kind are ordered to do over time, by a timetable or a manoeuvre."""
    if members[0].participant.manoeuvre is not None:
        return _manoeuvre(members, vehicle, dtype)
    participants = {m.index: m.participant for m in members}
    times = {0.0}
    for p in participants.values():
        for rows in p.commands.values():
            times |= {row[0] for row in rows} if isinstance(rows, tuple) else set()
    ordered = sorted(times)
    channels = list(vehicle.channels)
    tables = {}
    for i, p in participants.items():
        rows_at = [{k: _value_at(rows, t) for k, rows in p.commands.items()} for t in ordered]
        path = ("vehicles", i, "commands")
        tables[i] = np.array([resolve_channels(scenario, path, row, channels) for row in rows_at])
    values = np.stack([tables[m.index] for m in members], axis=-1)
    since = np.array([-math.inf, *ordered[1:]])
    return Timetable(
        times=constant(with_room(since, math.inf)), values=constant(with_room(values), dtype)
    )


def _value_at(rows: float | tuple[tuple[float, float], ...], time: float) -> float:
    if not isinstance(rows, tuple):
        return rows
    return next((value for at, value in reversed(rows) if at <= time), 0.0)


def _manoeuvre(members: list[Member], vehicle: CompiledVehicle, dtype: DType) -> Manoeuvre:
    first = members[0].participant.manoeuvre
    orders = members[0].participant.vehicle.manoeuvring
    assert first is not None
    assert orders is not None  # checked with the description
    channels = list(vehicle.channels)
    participants = [m.participant for m in members]

    def column(name: str, default: float = 0.0) -> Array:
        return np.array([float(getattr(p.manoeuvre, name, default)) for p in participants])

    def orders_of(table: str) -> jax.Array:
        values = resolve_channels(orders, (table,), getattr(orders, table), channels)
        return constant(np.array(values)[:, None], dtype)

    return Manoeuvre(
        helm=constant(column("helm"), dtype),
        heading_change=constant(column("heading_change"), dtype),
        approach=constant(column("approach")),
        hold=constant(column("turn" if first.type == "pull_out" else "hold")),
        engine=constant(column("engine", 1.0), dtype),
        astern=constant(column("astern", -1.0), dtype),
        helm_command=orders_of("helm"),
        engine_command=orders_of("ahead"),
        type=first.type,
        steps=first.steps if isinstance(first, spec.Spiral) else 0,
    )
