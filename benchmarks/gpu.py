"""Vehicle-steps per second on an accelerator, from one vessel to four million; prints JSON.

    python benchmarks/gpu.py --commit $(git rev-parse HEAD) > benchmarks/results/NAME.json

SMARTY in the full model (six degrees of freedom, heading-dependent wave force amplitudes,
orbital motion, four thrusters), single precision, semi-implicit steps of 40 ms. Rates are what
XLA's cost analysis counts per step, over the measured time; peaks are the data sheet's.
"""

import argparse
import dataclasses
import json
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp

from seatrial import __version__
from seatrial.core.forces import wave_excitation
from seatrial.core.step import step
from seatrial.core.types import State
from seatrial.engine.compiled.group import Group
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.spatial.rotations import rotation
from seatrial.validation.timing import steps as timing

SEAS = {15: (5, 3), 75: (15, 5), 260: (20, 13)}
COUNTS = (1, 100, 1_000, 10_000, 100_000, 1_000_000, 4_000_000)
PEAKS = {"NVIDIA H200": {"tflops_fp32": 66.9, "tbytes_s": 4.8}}
TIME_STEP = timing.TIME_STEP


def timed(body: Any, steps: int, group: Group, ocean: Ocean) -> float:
    """Seconds per step, best of several runs of a compiled loop."""

    def run(group: Group, ocean: Ocean, state: State) -> State:
        return jax.lax.fori_loop(0, steps, lambda i, at: body(group, ocean, at, i), state)

    program = compile_program(jax.jit(run), group, ocean, group.initial)
    jax.block_until_ready(program(group, ocean, group.initial))
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        jax.block_until_ready(program(group, ocean, group.initial))
        best = min(best, time.perf_counter() - began)
    return best / steps


def full_step(group: Group, ocean: Ocean, state: State, i: jax.Array) -> State:
    orders = jnp.zeros((group.model.channels, state.position.shape[-1]), state.velocity.dtype)
    return step(group.model, ocean, state, orders, i * TIME_STEP, TIME_STEP)


def waves_only(group: Group, ocean: Ocean, state: State, i: jax.Array) -> State:
    """The sum over components alone; its results are added so that nothing is optimised away."""
    x, y = state.position[0], state.position[1]
    turned = rotation(state.attitude)
    sums = wave_excitation.evaluate(
        group.model.excitation, ocean.waves, x, y, turned, i * TIME_STEP
    )
    nudge = 1e-9 * (sum(sums.wrench) + sum(sums.motion) + sums.elevation + sum(sums.slope))
    return dataclasses.replace(state, position=state.position + nudge)


def row(components: int, count: int, peaks: dict[str, float] | None) -> dict[str, Any]:
    one, ocean = timing.one_vehicle("smarty", SEAS[components], "single")
    calm, still = timing.one_vehicle("smarty", None, "single")
    group = timing.spread(one, count)
    steps = max(20, min(5_000, 200_000_000 // (count * components)))
    seconds = timed(full_step, steps, group, ocean)
    waves = timed(waves_only, steps, group, ocean)
    rest = timed(full_step, steps, timing.spread(calm, count), still)
    one_step = jax.jit(lambda g, o, s: full_step(g, o, s, jnp.int64(1)))
    cost = one_step.lower(group, ocean, group.initial).compile().cost_analysis()
    result = {
        "vehicle": "smarty",
        "vehicles": count,
        "components": components,
        "us_per_step": seconds * 1e6,
        "us_per_vehicle_step": seconds / count * 1e6,
        "vehicle_steps_per_s": count / seconds,
        "real_time_factor": TIME_STEP / seconds,
        "share_of_wave_sum": waves / seconds,
        "us_per_step_without_waves": rest * 1e6,
        "tflops": cost["flops"] / seconds / 1e12,
        "tbytes_s": cost["bytes accessed"] / seconds / 1e12,
    }
    if peaks:
        result["share_of_peak_arithmetic"] = result["tflops"] / peaks["tflops_fp32"]
        result["share_of_peak_memory"] = result["tbytes_s"] / peaks["tbytes_s"]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--vehicles", type=int, nargs="*", default=COUNTS)
    parser.add_argument("--components", type=int, nargs="*", default=tuple(SEAS))
    options = parser.parse_args()
    device = jax.devices()[0]
    peaks = PEAKS.get(device.device_kind)
    with jax.enable_x64(True):
        rows = []
        for components in options.components:
            for count in options.vehicles:
                rows.append(row(components, count, peaks))
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(
        json.dumps(
            {
                "command": " ".join(["python", *sys.argv]),
                "commit": options.commit,
                "seatrial": __version__,
                "jax": jax.__version__,
                "device": device.device_kind,
                "precision": "single",
                "integrator": "semi_implicit",
                "time_step": TIME_STEP,
                "rows": rows,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
