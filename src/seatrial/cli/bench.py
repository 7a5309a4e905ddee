"""`seatrial bench step`: the cost of one step, per vehicle."""

import json
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import typer

from seatrial.compile.scenario import compile_scenario
from seatrial.core.step import step
from seatrial.core.types import Model, State
from seatrial.errors import Problem, SpecError
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.scenario.runner import Group
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.scenario import Participant, Scenario, Start
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

TIME_STEP = 0.04
REPEATS = 5
WAVES = {
    "spectrum": "pierson_moskowitz",
    "significant_height": 0.5,
    "spreading": "cos2",
    "method": "uniform",
    "frequencies": 15,
    "directions": 5,
}


def show_steps(as_json: bool, vehicles: list[str] | None, precision: str) -> None:
    """Time every case, and print as it goes or as one list."""
    if precision not in ("double", "single"):
        raise SpecError(Problem("unknown precision", value=precision, expected="double or single"))
    rows = []
    for name in vehicles or library_names("vehicle"):
        for waves in (False, True):
            for count in (1, 500):
                row = time_step(name, count, waves, precision)
                rows.append(row)
                if not as_json:
                    typer.echo(
                        f"{row['vehicle']:>16} × {row['vehicles']:<4}"
                        f"{row['components']:>4} waves {row['us_per_vehicle_step']:8.3f} µs"
                        f" {row['real_time_factor']:12,.0f} × real time"
                    )
    if as_json:
        typer.echo(json.dumps(rows, indent=2))


def time_step(name: str, count: int, waves: bool, precision: str) -> dict[str, Any]:
    """One case: compile, then the best of several runs of many steps."""
    with jax.enable_x64(True):
        group, ocean = _one(name, waves, precision)
        start = _spread(group.initial, count)
        steps = max(20, 20_000 // count)
        orders = jnp.zeros((group.model.channels, count), start.velocity.dtype)

        def run(model: Model, ocean: Ocean, state: State) -> State:
            def body(i: jax.Array, at: State) -> State:
                return step(model, ocean, at, orders, i * TIME_STEP, TIME_STEP)

            done: State = jax.lax.fori_loop(0, steps, body, state)
            return done

        began = time.perf_counter()
        compiled = compile_program(jax.jit(run), group.model, ocean, start)
        compile_s = time.perf_counter() - began
        best = float("inf")
        for _ in range(REPEATS):
            began = time.perf_counter()
            compiled(group.model, ocean, start).position.block_until_ready()
            best = min(best, time.perf_counter() - began)
    return {
        "vehicle": name,
        "vehicles": count,
        "components": 0 if ocean.waves is None else int(ocean.waves.amplitude.shape[0]),
        "integrator": group.model.integrator,
        "precision": precision,
        "us_per_vehicle_step": best / steps / count * 1e6,
        "real_time_factor": steps * TIME_STEP / best,
        "compile_s": compile_s,
    }


def _one(name: str, waves: bool, precision: str) -> tuple[Group, Ocean]:
    vehicle = load(name, Vehicle)
    depth = 5.0 if vehicle.buoyancy.craft == "submerged" else 0.0
    world = World.model_validate(
        {"kind": "world", "name": "bench"} | ({"waves": WAVES} if waves else {})
    )
    scenario = Scenario(
        kind="scenario",
        name="bench",
        duration=1.0,
        time_step=TIME_STEP,
        control_period=TIME_STEP,
        frame_period=TIME_STEP,
        integrator="semi_implicit",
        precision="double" if precision == "double" else "single",
        world=world,
        vehicles=(
            Participant(name="one", vehicle=vehicle, start=Start(position=(0.0, 0.0, depth))),
        ),
    )
    plan = compile_scenario(scenario)
    return plan.squads[0].group, plan.squads[0].ocean


def _spread(one: State, count: int) -> State:
    """Copies of one vehicle over a square of sea."""
    many: State = jax.tree.map(lambda a: jnp.repeat(a, count, axis=-1), one)
    places = np.random.default_rng(0).uniform(-200.0, 200.0, size=(2, count))
    position = many.position.at[:2].set(jnp.asarray(places, many.position.dtype))
    return State(position, many.attitude, many.velocity, many.actuators)
