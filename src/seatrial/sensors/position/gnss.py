"""GNSS: position and velocity of the antenna over ground, while the antenna is out of the water.

The antenna at r in the body frame is at p + R r and moves with R (v + ω × r), R from body to
world. The error of the position is white noise plus a first-order Gauss–Markov process, as in
Rankin (1994); the velocity, which comes from Doppler shifts, has white noise of its own.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.noise.drift import Drift
from seatrial.sensors.position.radio import above_water
from seatrial.sensors.sensor import Mount, Reading

AXES = 3


@pytree
class Reception:
    """When there is a fix. The memory counts samples out of the water, −1 while under it."""

    margin: jax.Array
    """Least height of the antenna above the surface, m."""
    delay: jax.Array
    """Samples from the first one out of the water to the one that has a fix again."""
    cold_start: bool = static()


@pytree
class Gnss:
    """A satellite receiver."""

    mount: Mount
    fix: jax.Array
    """1 autonomous, 2 differential, 3 RTK float, 4 RTK fixed."""
    white: jax.Array | None = None
    """(6,) standard deviations of position and velocity, m and m/s."""
    drift: Drift | None = None
    """Correlated error north, east and down, m."""
    reception: Reception | None = None

    @property
    def starting_draws(self) -> int:
        """Where the correlated error begins."""
        return 0 if self.drift is None else self.drift.draws

    @property
    def draws(self) -> int:
        """Noise of position and velocity, then the step of the correlated error."""
        return (0 if self.white is None else 2 * AXES) + self.starting_draws

    def begin(self, draws: jax.Array) -> jax.Array:
        """Samples out of the water, then the correlated error."""
        memory = []
        if self.reception is not None:
            ready = -1.0 if self.reception.cold_start else self.reception.delay
            memory.append(jnp.broadcast_to(ready, (1, draws.shape[1])).astype(draws.dtype))
        if self.drift is not None:
            memory.append(self.drift.begin(draws))
        return jnp.concatenate(memory) if memory else draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Position and velocity NED, and the kind of fix."""
        place = look.place(self.mount.arm)
        velocity = look.rotation.to_world(look.velocity(self.mount.arm))
        values = jnp.stack([*place, *velocity])
        valid = jnp.ones(values.shape[1:], bool)
        after = []
        if self.white is not None:
            values = values + self.white[:, None] * draws[: 2 * AXES]
        if self.reception is not None:
            dry = above_water(look, place, self.reception.margin)
            count = jnp.where(dry, jnp.minimum(memory[0] + 1.0, self.reception.delay), -1.0)
            valid = dry & (count >= self.reception.delay)
            after.append(count[None])
        if self.drift is not None:
            error = self.drift.step(memory[-AXES:], draws[-AXES:])
            values = values.at[:AXES].add(error)
            after.append(error)
        fix = jnp.broadcast_to(self.fix, valid.shape)
        # Without a fix all numbers are 0, so that nobody can navigate by them by mistake.
        values = jnp.where(valid, jnp.concatenate([values, fix[None]]), 0.0)
        return Reading(jnp.concatenate(after) if after else memory, values, valid)

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Memory after the satellites were lost: the wait for the next fix begins anew."""
        if self.reception is None:
            return memory
        # `measure` counts the lost sample itself, which makes this −1 as for a wet antenna.
        return memory.at[0].set(jnp.where(lost, -2.0, memory[0]))
