"""The speed of a shaft, by the pulses that it gives."""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.sensor import Reading


@pytree
class Shaft:
    """A tachometer."""

    noise: jax.Array | None
    pulses: jax.Array | None
    """Of one turn at one revolution per second during one period: pulses × period."""
    channel: int = static()
    """Index of the actuator state."""

    @property
    def draws(self) -> int:
        """Noise."""
        return 0 if self.noise is None else 1

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Way since the last pulse as a share of the way between two, last speed, 1 once known."""
        return jnp.zeros((0 if self.pulses is None else 3, draws.shape[-1]), draws.dtype)

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Speed (rev/s), positive ahead.

        The way of a window is that of the mean of the speeds at its two ends; a pulse that is not
        complete at the end of a window counts in the next one, so none is lost.
        """
        speed = look.state.actuators[self.channel]
        if self.noise is not None:
            speed = speed + self.noise * draws[0]
        if self.pulses is not None:
            before = jnp.where(memory[2] > 0.0, memory[1], speed)
            way = memory[0] + self.pulses * 0.5 * (before + speed)
            count = jnp.floor(way)
            memory = jnp.stack([way - count, speed, jnp.ones_like(speed)]).astype(memory.dtype)
            speed = count / self.pulses
        return Reading(memory, speed[None], jnp.ones(speed.shape, bool))
