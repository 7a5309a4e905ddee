"""Cost of sampling the sea: surface and full kinematics at 1, 1000 and 1,000,000 points; JSON."""

import json
import time

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.surroundings.world import build_ocean
from seatrial.ocean import waves
from seatrial.spec.loading import load
from seatrial.spec.world import World


def best_of(function, *arguments, repeats: int = 3) -> float:
    jax.block_until_ready(function(*arguments))
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    rows = []
    with jax.enable_x64(True):
        for dtype in (np.float64, np.float32):
            sea = build_ocean(load("sea-state-4", World), seed=0, dtype=np.dtype(dtype)).waves
            surface = jax.jit(lambda p, sea=sea: waves.elevation(sea, p[0], p[1], 10.0))
            kinematics = jax.jit(lambda p, sea=sea: waves.sample(sea, (p[0], p[1], p[2]), 10.0))
            for points in (1, 1_000, 1_000_000):
                rng = np.random.default_rng(0)
                place = jnp.asarray(rng.uniform(0, 100, size=(3, points)), dtype)
                rows.append(
                    {
                        "points": points,
                        "components": int(sea.amplitude.shape[0]),
                        "dtype": np.dtype(dtype).name,
                        "elevation_us_per_point": best_of(surface, place) / points * 1e6,
                        "kinematics_us_per_point": best_of(kinematics, place) / points * 1e6,
                    }
                )
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
