"""Velocity through the water."""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.processes import quantise
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.vectors import subtract


@pytree
class SpeedLog:
    """A log along the sensor's x and y axes."""

    mount: Mount
    noise: jax.Array | None
    """None for the exact sensor."""
    scale: jax.Array | None
    """Standard deviation of the scale error between units."""
    resolution: jax.Array | None

    @property
    def draws(self) -> int:
        """Noise of both axes."""
        return 0 if self.noise is None else 2

    @property
    def starting_draws(self) -> int:
        """The scale error."""
        return 0 if self.scale is None else 1

    def begin(self, draws: jax.Array) -> jax.Array:
        """The unit's own scale error."""
        if self.scale is None:
            return jnp.zeros((0, draws.shape[-1]), draws.dtype)
        return self.scale * draws

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Speed along x and y relative to the water at the sensor, current and waves included."""
        arm = self.mount.arm
        felt = feel(look.ocean, look.place(arm), look.t)
        relative = subtract(look.velocity(arm), look.rotation.to_body(felt.velocity))
        x, y, _ = self.mount.to_sensor(relative)
        speed = jnp.stack([jnp.asarray(x), jnp.asarray(y)])
        if self.noise is None:
            return Reading(memory, speed, jnp.ones(speed.shape[1:], bool))
        if self.scale is not None:
            speed = speed * (1.0 + memory[0])
        speed = speed + self.noise * draws
        if self.resolution is not None:
            speed = quantise(speed, self.resolution)
        return Reading(memory, speed, felt.submerged)
