"""What a step costs with each model of a hull, by panels and by how many vehicles there are."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import jax

from seatrial.compile.vehicles.hull_forces import solve_hull
from seatrial.core.types import Model
from seatrial.engine.compiled.group import Group
from seatrial.engine.parts import split
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.timing.steps import (
    PAPER_SEA,
    TIME_STEP,
    Row,
    group_of,
    spread,
    steps_of,
)

MODELS = {
    "coefficients": {},
    "mesh": {"hydrostatics": "mesh"},
    "voxel": {"hydrostatics": "voxel"},
    "mesh + surface": {"hydrostatics": "mesh", "hydrodynamics": "surface"},
    "potential": {"hydrodynamics": "potential"},
}
"""What is asked of the hull."""
COUNTS = (1, 200, 500)
VEHICLES = ("wamv",)
REPEATS = 4
STEPS, FEWER_STEPS = 20_000, 1_000
"""Of all vehicles together in one go, and of those whose triangles or cubes are visited."""


def hull_rows() -> Iterator[Row]:
    """Every model of a library vehicle with a hull, alone and many at once, in 75 waves."""
    for name in VEHICLES:
        plain = load(name, Vehicle)
        for model, asked in MODELS.items():
            assert plain.hull is not None
            vehicle = plain.model_copy(update={"hull": plain.hull.model_copy(update=asked)})
            with jax.enable_x64(True):
                one, ocean = group_of(vehicle, PAPER_SEA, "double")
                solved = solve_hull(vehicle, None)
                about = {
                    "vehicle": name,
                    "model": model,
                    "panels": _visited(one.model) if solved is None else solved.panels,
                }
                for count in COUNTS:
                    yield about | _time(one, ocean, count)


def _time(one: Group, ocean: Ocean, count: int) -> Row:
    """The best of several goes, by the clock on all cores and by processor time."""
    parts = [part for part, _, _ in split(spread(one, count))]
    steps = max(2, (FEWER_STEPS if _visited(one.model) else STEPS) // count)
    program = compile_program(jax.jit(steps_of, static_argnames="steps"), parts[0], ocean, steps)

    def run(part: Group) -> None:
        with jax.enable_x64(True):
            program(part, ocean).position.block_until_ready()

    best = worked = float("inf")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for _ in range(REPEATS):
            began, working = time.perf_counter(), time.process_time()
            list(pool.map(run, parts))
            best = min(best, time.perf_counter() - began)
            worked = min(worked, time.process_time() - working)
    return {
        "vehicles": count,
        "states": sum(force.states for force in one.model.memory_forces),
        "us_per_vehicle_step": best / steps / count * 1e6,
        "cpu_us_per_vehicle_step": worked / steps / count * 1e6,
        "real_time_factor": steps * TIME_STEP / best,
    }


def _visited(model: Model) -> int:
    """Triangles or cubes that are visited at every step."""
    if model.hull is None:
        return 0
    if model.hull.cut is not None:
        return int(model.hull.cut.mesh.corners.shape[1])
    assert model.hull.voxels is not None
    return int(model.hull.voxels.volumes.shape[0])
