"""What a step costs, by vehicle, waves and size of a swarm; and what whole runs cost."""

import dataclasses
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.control.controllers import prepare
from seatrial.compile.scenario import compile_scenario
from seatrial.compile.variations import with_overrides
from seatrial.core.step import step
from seatrial.core.types import State
from seatrial.engine.command.compiled_controller import Inputs
from seatrial.engine.compiled.group import Group
from seatrial.engine.exchange.controllers import VehicleFacts
from seatrial.engine.parts import split
from seatrial.engine.run import run
from seatrial.errors import Problem, SpecError
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.pytree import take
from seatrial.spatial.trig import wrap_signed
from seatrial.spec.library import library_names
from seatrial.spec.loading import load, load_text
from seatrial.spec.scenario import Participant, Scenario, usual_start
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

TIME_STEP = 0.04
STEP_REPEATS = 5
PAPER_SEA = (15, 5)
"""Frequencies and directions of the 75 components that ASVLite's tables are about."""

Row = dict[str, Any]
Case = tuple[str, int, tuple[int, int] | None, str]
"""Vehicle, how many, frequencies and directions of the sea (None: calm), precision."""


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
        parts = [part for part, _, _ in split(spread(one, count))]
        steps = max(20, min(20_000, 10_000_000 // (count * (75 if sea else 5))))
        began = time.perf_counter()
        program = compile_program(
            jax.jit(steps_of, static_argnames="steps"), parts[0], ocean, steps
        )
        compile_s = time.perf_counter() - began

        def run(part: Group) -> None:
            with jax.enable_x64(True):
                program(part, ocean).position.block_until_ready()

        best = float("inf")
        for _ in range(STEP_REPEATS):
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


def steps_of(group: Group, ocean: Ocean, steps: int) -> State:
    """The state after so many steps under no orders."""
    shape = (group.model.channels, group.count)
    orders = jnp.zeros(shape, group.initial.velocity.dtype)

    def body(i: jax.Array, at: State) -> State:
        return step(group.model, ocean, at, orders, i * TIME_STEP, TIME_STEP)

    # A run keeps the number of steps from the compiler too (`engine.loop`).
    barrier: Any = jax.lax.optimization_barrier  # JAX gives it no types
    done: State = jax.lax.fori_loop(0, barrier(jnp.int64(steps)), body, group.initial)
    return done


def bench_world(sea: tuple[int, int] | None) -> World:
    """A sea of so many frequencies and directions, or calm water."""
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
    return World.model_validate(world)


def one_vehicle(name: str, sea: tuple[int, int] | None, precision: str) -> tuple[Group, Ocean]:
    """A library vehicle at rest in a sea, or in calm water."""
    return group_of(load(name, Vehicle), sea, precision)


def group_of(vehicle: Vehicle, sea: tuple[int, int] | None, precision: str) -> tuple[Group, Ocean]:
    """A vehicle at rest in a sea of so many frequencies and directions, or in calm water."""
    scenario = Scenario(
        kind="scenario",
        name="bench",
        duration=1.0,
        time_step=TIME_STEP,
        control_period=TIME_STEP,
        frame_period=TIME_STEP,
        integrator="semi_implicit",
        precision="double" if precision == "double" else "single",
        world=bench_world(sea),
        vehicles=(
            Participant(name="one", vehicle=vehicle, start=usual_start(vehicle), sensors=()),
        ),
    )
    fleet = compile_scenario(scenario).fleets[0]
    return fleet.group, fleet.ocean


def spread(one: Group, count: int) -> Group:
    """Copies of one vehicle over a square of sea."""
    many = take(one, np.zeros(count, np.int64))
    places = np.random.default_rng(0).uniform(-200.0, 200.0, size=(2, count))
    position = np.asarray(many.initial.position).copy()
    position[:2] = places
    initial = dataclasses.replace(many.initial, position=jnp.asarray(position))
    return dataclasses.replace(many, initial=initial)


RUN_REPEATS = 3

SENSORS = """
kind: scenario
name: bench
duration: 600
time_step: 0.005
world: {name: bench, seabed: {depth: 40}}
vehicles:
  - name: remus100_mss
    vehicle: remus100_mss
    start: {position: [0, 0, 5], speed: 1.5}
    commands: {propeller_rpm: 1000}
    sensors:
      - {type: imu, name: imu, rate: 200, errors: adis16448}
      - {type: gnss, name: gnss, rate: 5}
      - {type: dvl, name: dvl, rate: 5}
      - {type: pressure, name: depth, rate: 10}
      - {type: compass, name: compass, rate: 10}
      - {type: shaft, name: rpm, rate: 10, channel: propeller}
"""
"""What the speed of sensors is stated for."""


class Helm:
    """A user's compiled controller: proportional, integral and derivative on heading and speed."""

    def init(self, vehicle: VehicleFacts) -> tuple[float, float]:
        """Integrals of heading and speed."""
        self.period = vehicle.control_period
        return 0.0, 0.0

    def step(
        self, state: tuple[jax.Array, jax.Array], inputs: Inputs
    ) -> tuple[tuple[jax.Array, jax.Array], dict[str, jax.Array]]:
        """From the estimate and the setpoint of guidance, through the vehicle's allocation."""
        believed, asked, allocate = inputs.estimate, inputs.setpoint, inputs.allocate
        assert believed is not None
        assert asked is not None
        assert allocate is not None
        turned, slowed = state
        course = jnp.where(jnp.isfinite(asked.heading), asked.heading, asked.course)
        aside = jnp.nan_to_num(wrap_signed(course - believed.euler[2]))
        behind = jnp.nan_to_num(asked.velocity[0] - believed.velocity[0])
        turned = jnp.clip(turned + self.period * aside, -2.0, 2.0)
        slowed = jnp.clip(slowed + self.period * behind, -2.0, 2.0)
        wrench = jnp.zeros(6)
        wrench = wrench.at[0].set(4.0 * behind + slowed)
        wrench = wrench.at[5].set(0.3 * aside + 0.02 * turned - 0.3 * believed.velocity[5])
        return (turned, slowed), allocate(wrench)


def sensor_cases(duration: float) -> dict[str, tuple[Scenario, Helm | None]]:
    """A vehicle with its sensors, and the same one without any."""
    described = with_overrides(load_text(SENSORS, Scenario), duration=duration)
    bare = described.vehicles[0].model_copy(update={"sensors": ()})
    return {
        "with sensors": (described, None),
        "without": (described.model_copy(update={"vehicles": (bare,)}), None),
    }


def closed_loop_cases(duration: float | None) -> dict[str, tuple[Scenario, Helm | None]]:
    """Sookshma on its waypoints with sensors and filter, by its autopilot and by a compiled
    controller of a user's own, and the same fed back the truth; a survey over a map of the bottom
    with terrain following."""
    described = with_overrides(load("sookshma-waypoints", Scenario), duration=duration)
    told = described.vehicles[0].model_copy(update={"feedback": "truth", "sensors": ()})
    return {
        "sensors and filter": (described, None),
        "sensors and filter, a compiled controller of one's own": (described, Helm()),
        "feedback of the truth": (described.model_copy(update={"vehicles": (told,)}), None),
        "terrain following": (
            with_overrides(load("remus100-seabed-survey", Scenario), duration=duration),
            None,
        ),
    }


def time_run(case: str, scenario: Scenario, controller: Helm | None = None) -> Row:
    """The best of several runs without a recording; the first, which compiles, does not count."""
    steered = {} if controller is None else {scenario.vehicles[0].name: controller}
    plan, _ = prepare(scenario, steered, allow_code=False)
    run(plan)
    best = min((run(plan) for _ in range(RUN_REPEATS)), key=lambda ending: ending.wall_time)
    summary, wall = best.summary, best.wall_time
    vehicle = scenario.vehicles[0]
    return {
        "case": case,
        "vehicle": vehicle.vehicle.name,
        "sensors": {s.name: s.rate for s in vehicle.fitted},
        "time_step": plan.schedule.time_step,
        "integrator": scenario.integrator,
        "duration": summary.duration,
        "wall_s": wall,
        "real_time_factor": summary.duration / wall,
    }
