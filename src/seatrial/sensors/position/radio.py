"""Radio waves do not reach an antenna under water."""

import jax
import jax.numpy as jnp

from seatrial.ocean import waves
from seatrial.sensors.look import Look
from seatrial.spatial.vectors import Vec3


def above_water(look: Look, place: Vec3, margin: jax.Array) -> jax.Array:
    """Whether a point (NED) is at least `margin` above the instantaneous surface over it, (N,)."""
    height = -jnp.asarray(place[2])
    if look.ocean.waves is not None:
        height = height - waves.elevation(look.ocean.waves, place[0], place[1], look.t)
    return height >= margin
