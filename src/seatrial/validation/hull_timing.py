"""What a step costs with each model of a hull, by panels and by how many vehicles there are."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax

from seatrial.engine.compiled.group import Group
from seatrial.engine.parts import split
from seatrial.programs import compile_program
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.timing import (
    PAPER_SEA,
    STEP_REPEATS,
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


def hull_rows() -> Iterator[Row]:
    """Every model of a library vehicle with a hull, alone and many at once, in 75 waves."""
    for name in VEHICLES:
        plain = load(name, Vehicle)
        for model, asked in MODELS.items():
            assert plain.hull is not None
            vehicle = plain.model_copy(update={"hull": plain.hull.model_copy(update=asked)})
            for count in COUNTS:
                yield _time(name, vehicle, model, count)


def _time(name: str, vehicle: Vehicle, model: str, count: int) -> Row:
    with jax.enable_x64(True), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        one, ocean = group_of(vehicle, PAPER_SEA, "double")
        parts = [part for part, _, _ in split(spread(one, count))]
        steps = max(20, 4000 // count)
        program = compile_program(
            jax.jit(steps_of, static_argnames="steps"), parts[0], ocean, steps
        )

        def run(part: Group) -> None:
            with jax.enable_x64(True):
                program(part, ocean).position.block_until_ready()

        best = worked = float("inf")
        for _ in range(STEP_REPEATS):
            began, working = time.perf_counter(), time.process_time()
            list(pool.map(run, parts))
            best = min(best, time.perf_counter() - began)
            worked = min(worked, time.process_time() - working)
    return {
        "vehicle": name,
        "model": model,
        "panels": _panels(one.model),
        "vehicles": count,
        "states": sum(force.states for force in one.model.memory_forces),
        "us_per_vehicle_step": best / steps / count * 1e6,
        "cpu_us_per_vehicle_step": worked / steps / count * 1e6,
        "real_time_factor": steps * TIME_STEP / best,
    }


def _panels(model: Any) -> int:
    """Triangles or cubes that are visited at every step."""
    if model.hull is None:
        return 0
    if model.hull.cut is not None:
        return int(model.hull.cut.mesh.corners.shape[1])
    return int(model.hull.voxels.volumes.shape[0])
