"""Cost of one allocation for every library vehicle, alone and 1000 at once; prints JSON.

Within reach: demands that every effector meets inside its limits. Beyond: demands three times what
all effectors together can make, so that limits must be found and the demand is clipped.
"""

import json
import time

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.autonomy.allocation import build_effectors
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.gnc.allocation import Effectors, allocate
from seatrial.spec.library import library_names
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

PERIOD = 0.01
CALLS = 2000


def cost(effectors: Effectors, channels: int, count: int, reach: float) -> float:
    """Microseconds per allocation of `count` vehicles, in a compiled loop as in a run."""
    rng = np.random.default_rng(0)
    dofs = list(effectors.dofs)
    size = np.abs(np.asarray(effectors.columns)[:, : len(effectors.channels)])
    size = (size @ np.maximum(np.asarray(effectors.high), -np.asarray(effectors.low)))[dofs]
    demands = np.zeros((64, 6, count))
    demands[:, dofs] = reach * size * rng.uniform(-1, 1, (64, len(dofs), count))
    flow = jnp.zeros((6, count)).at[0].set(1.0)

    @jax.jit
    def loop(effectors: Effectors, demands: jax.Array, calls: jax.Array) -> jax.Array:
        def once(i: jax.Array, orders: jax.Array) -> jax.Array:
            return allocate(effectors, demands[i % 64], flow, orders, PERIOD).orders

        return jax.lax.fori_loop(0, calls, once, jnp.zeros((channels, count)))

    calls = max(CALLS // count, 20)
    arguments = (effectors, jnp.asarray(demands), jnp.asarray(calls))
    jax.block_until_ready(loop(*arguments))
    times = []
    for _ in range(3):
        began = time.perf_counter()
        jax.block_until_ready(loop(*arguments))
        times.append(time.perf_counter() - began)
    return min(times) / calls * 1e6


def main() -> None:
    rows = []
    with jax.enable_x64(True):
        ocean = build_ocean(load("calm", World), 0, np.dtype(np.float64))
        for name in library_names("vehicle"):
            spec = load(name, Vehicle)
            compiled = compile_vehicle(spec, ocean, np.dtype(np.float64))
            effectors = build_effectors(compiled, spec, np.dtype(np.float64))
            rows += [
                {
                    "vehicle": name,
                    "effectors": len(effectors.names),
                    "vehicles": count,
                    "within_reach_us": cost(effectors, compiled.model.channels, count, 0.02),
                    "beyond_us": cost(effectors, compiled.model.channels, count, 3.0),
                }
                for count in (1, 1000)
            ]
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
