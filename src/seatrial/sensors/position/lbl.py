"""Long baseline: distances to transponders at known places, by the travel time of sound.

The vehicle asks, each transponder answers, and the time 2 r / c̄ gives the distance r (`sound`). A
device that assumes the sound speed c₀ instead of c̄ reads r c₀ / c̄. An answer that came off the
surface or the bottom is late, so an error of that sort is always positive. The sample is there when
the last answer has come. `ranges` says how the position follows from the distances.
"""

import jax
import jax.numpy as jnp

from seatrial.ocean.curves import Curve
from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.position.ranges import LEAST_RANGES, Solver, detour, solve, towards
from seatrial.sensors.position.sound import mean_slowness
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel


@pytree
class Failures:
    """What goes wrong with answers."""

    dropout: jax.Array
    """Probability that one is not heard."""
    outlier: jax.Array
    """Probability that one comes by a detour."""
    detour: jax.Array
    """Mean extra distance, m."""


@pytree
class Device:
    """What keeps a real device from the truth."""

    maximum_range: jax.Array
    noise: jax.Array
    """Of a distance, m."""
    travel: Curve
    """Time of sound from the surface over depth, s."""
    solver: Solver
    failures: Failures | None
    sound_speed: jax.Array | None
    """That the device assumes, m/s."""


@pytree
class Lbl:
    """A device that asks."""

    mount: Mount
    transponders: jax.Array
    """(3, A) NED, m."""
    device: Device | None
    """None for one that knows its place exactly."""

    @property
    def starting_draws(self) -> int:
        """None are needed."""
        return 0

    @property
    def draws(self) -> int:
        """For every transponder: noise, whether it is heard, whether it is late, and how much."""
        if self.device is None:
            return 0
        return (1 if self.device.failures is None else 4) * self.transponders.shape[1]

    def begin(self, draws: jax.Array) -> jax.Array:
        """The previous solution."""
        if self.device is None:
            return draws[:0]
        return jnp.broadcast_to(self.device.solver.start[:, None], (3, draws.shape[1]))

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Solved position NED, then the distances, 0 where a transponder is not heard."""
        place = look.place(self.mount.arm)
        _, distance = towards(self.transponders, jnp.stack(place))
        if self.device is None:
            exact = jnp.concatenate([jnp.stack(place), distance])
            return Reading(memory, exact, jnp.ones(distance.shape[1:], bool))
        device = self.device
        noise, *rest = jnp.split(draws, self.draws // len(distance))
        heard = (distance <= device.maximum_range) & feel(look.ocean, place, look.t).submerged
        slowness = mean_slowness(device.travel, place[2], self.transponders[2][:, None])
        ranges = distance
        if device.failures is not None:
            f, (lost, whether, length) = device.failures, rest
            heard &= uniform(lost) >= f.dropout
            ranges = ranges + detour(f.outlier, f.detour, whether, length)
        time = 2.0 * ranges * slowness
        if device.sound_speed is not None:
            ranges = ranges * slowness * device.sound_speed
        ranges = jnp.where(heard, jnp.maximum(ranges + device.noise * noise, 0.0), 0.0)
        valid = jnp.sum(heard, axis=0) >= LEAST_RANGES
        solved = solve(self.transponders, ranges, heard, memory, device.solver)
        memory = jnp.where(valid, solved, memory)
        last = jnp.max(jnp.where(heard, time, 0.0), axis=0)
        return Reading(memory, jnp.concatenate([memory, ranges]), valid, last)

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Memory after the transponders were lost: the next solution begins as the first one."""
        if self.device is None:
            return memory
        return jnp.where(lost, self.device.solver.start[:, None], memory)
