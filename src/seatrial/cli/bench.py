"""`seatrial bench`: what a step costs, by vehicle, by waves and by the size of a swarm."""

import dataclasses
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import typer

from seatrial.compile.scenario import compile_scenario
from seatrial.core.step import step
from seatrial.core.types import State
from seatrial.engine.commanders import Timetable, select
from seatrial.engine.runner import parts_of
from seatrial.engine.wheel import Group
from seatrial.errors import Problem, SpecError
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.scenario import Participant, Scenario, Start
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

TIME_STEP = 0.04
REPEATS = 5
PAPER_SEA = (15, 5)
"""Frequencies and directions of the 75 components that ASVLite's tables are about."""

Row = dict[str, Any]
Case = tuple[str, int, tuple[int, int] | None, str]
"""Vehicle, how many, frequencies and directions of the sea (None: calm), precision."""


def show(cases: list[Case], as_json: bool) -> None:
    """Time every case; print as it goes, or all as one JSON list."""
    rows = []
    for case in cases:
        row = time_case(*case)
        rows.append(row)
        if not as_json:
            typer.echo(
                f"{row['vehicle']:>16} × {row['vehicles']:<9,}{row['components']:>4} waves  "
                f"{row['precision']} {row['us_per_vehicle_step']:9.4f} µs per vehicle and step"
                f"{row['real_time_factor']:14,.1f} × real time"
            )
    if as_json:
        typer.echo(json.dumps(rows, indent=2))


def step_cases(vehicles: list[str] | None, precision: str) -> list[Case]:
    """Every library vehicle, alone and 500 at once, calm and in 75 waves."""
    _check(precision)
    return [
        (name, count, sea, precision)
        for name in vehicles or library_names("vehicle")
        for sea in (None, PAPER_SEA)
        for count in (1, 500)
    ]


def wave_cases(precision: str) -> list[Case]:
    """SMARTY, alone and 500 at once, over the component counts of ASVLite's table III."""
    _check(precision)
    seas = [(5, 3), (10, 3), (15, 5), (15, 9), (15, 13), (20, 13)]
    return [("smarty", count, sea, precision) for count in (1, 500) for sea in seas]


def swarm_cases(counts: list[int] | None, precision: str) -> list[Case]:
    """SMARTY in 75 waves, from one vessel to a hundred thousand."""
    _check(precision)
    chosen = counts or [1, 10, 100, 500, 1_000, 10_000, 100_000]
    return [("smarty", count, PAPER_SEA, precision) for count in chosen]


def _check(precision: str) -> None:
    if precision not in ("double", "single"):
        raise SpecError(Problem("unknown precision", value=precision, expected="double or single"))


def time_case(name: str, count: int, sea: tuple[int, int] | None, precision: str) -> Row:
    """Compile, then the best of several runs of many steps, on all cores."""
    with jax.enable_x64(True), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        one, ocean = one_vehicle(name, sea, precision)
        parts = [part for part, _ in parts_of(spread(one, count))]
        steps = max(20, min(20_000, 10_000_000 // (count * (75 if sea else 5))))
        began = time.perf_counter()
        program = compile_program(jax.jit(_steps, static_argnames="steps"), parts[0], ocean, steps)
        compile_s = time.perf_counter() - began

        def run(part: Group) -> None:
            with jax.enable_x64(True):
                program(part, ocean).position.block_until_ready()

        best = float("inf")
        for _ in range(REPEATS):
            began = time.perf_counter()
            list(pool.map(run, parts))
            best = min(best, time.perf_counter() - began)
    return {
        "vehicle": name,
        "vehicles": count,
        "components": 0 if ocean.waves is None else int(ocean.waves.amplitude.shape[0]),
        "integrator": one.model.integrator,
        "precision": precision,
        "time_step": TIME_STEP,
        "us_per_vehicle_step": best / steps / count * 1e6,
        "real_time_factor": steps * TIME_STEP / best,
        "compile_s": compile_s,
    }


def _steps(group: Group, ocean: Ocean, steps: int) -> State:
    shape = (group.model.channels, group.count)
    orders = jnp.zeros(shape, group.initial.velocity.dtype)

    def body(i: jax.Array, at: State) -> State:
        return step(group.model, ocean, at, orders, i * TIME_STEP, TIME_STEP)

    done: State = jax.lax.fori_loop(0, steps, body, group.initial)
    return done


def one_vehicle(name: str, sea: tuple[int, int] | None, precision: str) -> tuple[Group, Ocean]:
    """A vehicle at rest in a sea of so many frequencies and directions, or in calm water."""
    vehicle = load(name, Vehicle)
    depth = 5.0 if vehicle.buoyancy.craft == "submerged" else 0.0
    world: dict[str, Any] = {"kind": "world", "name": "bench"}
    if sea is not None:
        world["waves"] = {
            "spectrum": "pierson_moskowitz",
            "significant_height": 0.5,
            "spreading": "cos2",
            "method": "uniform",
            "frequencies": sea[0],
            "directions": sea[1],
        }
    scenario = Scenario(
        kind="scenario",
        name="bench",
        duration=1.0,
        time_step=TIME_STEP,
        control_period=TIME_STEP,
        frame_period=TIME_STEP,
        integrator="semi_implicit",
        precision="double" if precision == "double" else "single",
        world=World.model_validate(world),
        vehicles=(
            Participant(
                name="one", vehicle=vehicle, start=Start(position=(0.0, 0.0, depth)), sensors=()
            ),
        ),
    )
    squad = compile_scenario(scenario).squads[0]
    return squad.group, squad.ocean


def spread(one: Group, count: int) -> Group:
    """Copies of one vehicle over a square of sea."""
    many: State = jax.tree.map(lambda a: jnp.repeat(a, count, axis=-1), one.initial)
    places = np.random.default_rng(0).uniform(-200.0, 200.0, size=(2, count))
    position = many.position.at[:2].set(jnp.asarray(places, many.position.dtype))
    initial = dataclasses.replace(many, position=position)
    assert isinstance(one.commander, Timetable)
    commander = select(one.commander, np.zeros(count, np.int64))
    return dataclasses.replace(one, initial=initial, commander=commander)
