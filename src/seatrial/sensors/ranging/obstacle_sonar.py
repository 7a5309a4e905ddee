"""Obstacle sonar: how far it is to the bottom or to a solid along a fan of narrow beams.

The beams lie in the sensor's x-z plane, a vertical profile ahead when the sensor is mounted level.
Each is one ray, which ends where it first meets the bottom or a solid of the world (`solid_rays`).
Everything is in the compiled loop.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.ranging.bottom_rays import Reach
from seatrial.sensors.ranging.solid_rays import meet_first
from seatrial.sensors.sensor import Mount, Reading
from seatrial.sensors.water.medium import feel
from seatrial.spatial.vectors import vec3


@pytree
class Device:
    """What keeps a real device from the truth."""

    noise: jax.Array
    """Of a range, m."""
    shortest: jax.Array
    """m."""
    dropout: jax.Array | None
    """Probability that a beam gives nothing."""


@pytree
class ObstacleSonar:
    """A fan of beams."""

    mount: Mount
    beams: jax.Array
    """(B, 3) unit vectors in sensor axes."""
    longest: jax.Array
    """Range that it listens for, m."""
    device: Device | None
    """None for the exact sensor."""
    reach: Reach | None = None
    """Over a map."""

    @property
    def draws(self) -> int:
        """For each beam: noise, and whether it is lost."""
        if self.device is None:
            return 0
        return len(self.beams) * (1 if self.device.dropout is None else 2)

    @property
    def starting_draws(self) -> int:
        """None."""
        return 0

    def begin(self, draws: jax.Array) -> jax.Array:
        """Nothing is remembered."""
        return draws[:0]

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Range along each beam, 0 where nothing is met."""
        place = look.place(self.mount.arm)
        count, shape = len(self.beams), jnp.shape(look.state.position[0])
        along = look.rotation.to_world(self.mount.to_body(vec3(self.beams.T[:, :, None])))
        nearest = jnp.full((count, *shape), jnp.inf)
        ocean = look.ocean
        met = meet_first(ocean, self.reach, place, along, self.longest, look.t)
        if met is not None:
            nearest = jnp.where(met.length > 0.0, met.length, nearest)
        heard = nearest <= self.longest
        valid = jnp.ones(shape, bool)
        if self.device is not None:
            heard &= nearest >= self.device.shortest
            if self.device.dropout is not None:
                heard &= uniform(draws[count:]) >= self.device.dropout
            nearest = jnp.maximum(nearest + self.device.noise * draws[:count], 0.0)
            valid = feel(ocean, place, look.t).submerged
        return Reading(memory, jnp.where(heard & valid, nearest, 0.0), valid)
