"""Attitude and heading reference: orientation of the sensor against NED, and its angular rates.

The orientation is δq ⊗ q with δq the rotation by a small vector ε of the world frame: tilt errors
about north and east, a heading error about down. ε drifts slowly, as the filter inside such a
device follows its sensors, and may have a constant heading part.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.drift import Drift
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.rotations import from_rotation_vector, multiply
from seatrial.spatial.vectors import vec3


@pytree
class Ahrs:
    """An attitude and heading reference."""

    mount: Mount
    quaternion: jax.Array
    """(4,) of the mounting, sensor to body."""
    drift: Drift | None = None
    """Attitude error about north, east and down, rad."""
    heading_bias: jax.Array | None = None
    """rad."""
    white: jax.Array | None = None
    """Standard deviation of an angular rate, rad/s."""

    @property
    def starting_draws(self) -> int:
        """Where the attitude error begins."""
        return 0 if self.drift is None else self.drift.draws

    @property
    def draws(self) -> int:
        """Noise of the rates, then the step of the attitude error."""
        return (0 if self.white is None else 3) + self.starting_draws

    def begin(self, draws: jax.Array) -> jax.Array:
        """The drifting attitude error."""
        return draws if self.drift is None else self.drift.begin(draws)

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Quaternion from sensor to world, and angular rates in sensor axes."""
        attitude = look.state.attitude
        mounting = self.quaternion.reshape(4, *(1,) * (attitude.ndim - 1))
        orientation = multiply(attitude, mounting)
        if self.drift is not None:
            memory = self.drift.step(memory, draws[-3:])
        if self.drift is not None or self.heading_bias is not None:
            error = jnp.zeros_like(attitude[:3]) if self.drift is None else memory
            if self.heading_bias is not None:
                error = error.at[2].add(self.heading_bias)
            orientation = multiply(from_rotation_vector(vec3(error)), orientation)
        rates = jnp.stack(self.mount.to_sensor(look.angular))
        if self.white is not None:
            rates = rates + self.white * draws[:3]
        values = jnp.concatenate([orientation, rates])
        return Reading(memory, values, jnp.ones(values.shape[1:], bool))
