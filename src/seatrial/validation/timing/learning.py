"""How many steps of environments a machine makes in a second."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp

from seatrial.engine.parts import VEHICLES_PER_PART
from seatrial.learning.environment import Environment, Episodes
from seatrial.learning.making import make
from seatrial.learning.tasks import TASKS
from seatrial.programs import compile_program
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World
from seatrial.validation.timing.steps import PAPER_SEA, bench_world

REPEATS = 3
STEPS = 100

Row = dict[str, Any]


def gym_rows(parallel: int) -> Iterator[Row]:
    """Every environment as it is posed, and those of surface craft in 75 waves."""
    for name, (_, vehicle, _, _) in TASKS.items():
        yield time_environment(name, parallel, None)
        if load(vehicle, Vehicle).buoyancy.craft == "surface":
            yield time_environment(name, parallel, bench_world(PAPER_SEA))


def time_environment(name: str, parallel: int, world: World | None) -> Row:
    """Random actions, drawn anew in every step; on a CPU in parts for its cores, as swarms are."""
    on_cpu = jax.default_backend() == "cpu"
    part = min(parallel, VEHICLES_PER_PART) if on_cpu else parallel
    environment = make(name, world=world, count=part)
    keys = jax.random.split(jax.random.PRNGKey(1), max(1, parallel // part))
    begin = compile_program(jax.jit(Environment.reset), environment, keys[0])
    began = [begin(environment, key)[0] for key in keys]
    program = compile_program(jax.jit(_steps), environment, began[0])

    def run(episodes: Episodes) -> None:
        program(environment, episodes)[1].block_until_ready()

    best = float("inf")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for _ in range(REPEATS):
            since = time.perf_counter()
            list(pool.map(run, began))
            best = min(best, time.perf_counter() - since)
    waves = environment.arena.ocean.waves
    return {
        "environment": name,
        "parallel": part * len(keys),
        "components": 0 if waves is None else int(waves.amplitude.shape[0]),
        "steps_per_s": part * len(keys) * STEPS / best,
        "period": environment.arena.period,
        "time_steps": environment.arena.substeps,
        "device": jax.devices()[0].device_kind,
    }


def _steps(environment: Environment, episodes: Episodes) -> tuple[Episodes, jax.Array]:
    shape = (environment.count, environment.actions)

    def one(at: Episodes, number: jax.Array) -> tuple[Episodes, jax.Array]:
        drawn = jax.random.fold_in(at.key, number)
        action = jax.random.uniform(drawn, shape, jnp.float32, -1.0, 1.0)
        following, outcome = environment.step(at, action)
        return following, jnp.mean(outcome.reward)

    return jax.lax.scan(one, episodes, jnp.arange(STEPS))
