"""The angle at which a fin or a thruster stands."""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import quantise
from seatrial.sensors.sensor import Reading


@pytree
class Encoder:
    """An angle encoder."""

    noise: jax.Array | None
    offset: jax.Array | None
    """Standard deviation of the zero offset between units, rad."""
    step: jax.Array | None
    """Smallest step, rad."""
    channel: int = static()
    """Index of the actuator state."""

    @property
    def draws(self) -> int:
        """Noise."""
        return 0 if self.noise is None else 1

    @property
    def starting_draws(self) -> int:
        """The offset."""
        return 0 if self.offset is None else 1

    def begin(self, draws: jax.Array) -> jax.Array:
        """The unit's own offset."""
        if self.offset is None:
            return jnp.zeros((0, draws.shape[-1]), draws.dtype)
        return self.offset * draws

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Angle (rad)."""
        angle = look.state.actuators[self.channel]
        if self.noise is not None:
            angle = angle + self.noise * draws[0]
        if self.offset is not None:
            angle = angle + memory[0]
        if self.step is not None:
            angle = quantise(angle, self.step)
        return Reading(memory, angle[None], jnp.ones(angle.shape, bool))
