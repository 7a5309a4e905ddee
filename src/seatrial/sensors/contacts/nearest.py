"""Which of all others a contact sensor tells of: the nearest that it can reach.

A measurement has room for so many contacts, nearest first. A place that is not taken has the
identity 0, and zeros after it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.types import Traffic
from seatrial.sensors.look import Look
from seatrial.spatial.gradients import root
from seatrial.spatial.vectors import Vec3


class Nearest(NamedTuple):
    """The M nearest others of each of N vehicles."""

    identity: jax.Array
    """(M, N) from 1 on; 0 where there are fewer."""
    place: jax.Array
    """(2, M, N) north and east, m."""
    velocity: jax.Array
    """(2, M, N) over ground, m/s."""
    heading: jax.Array
    """(M, N) rad."""
    length: jax.Array
    """(M, N) m."""
    beam: jax.Array
    """(M, N) m."""
    range: jax.Array
    """(M, N) horizontally from the sensor, m."""


def nearest(look: Look, sensor: Vec3, reach: jax.Array, room: int) -> Nearest:
    """The `room` nearest within `reach` of a sensor; who is under water is out of reach.

    Under water means deeper than one's own beam.
    """
    traffic: Traffic = look.traffic
    north = traffic.position[0][:, None] - sensor[0]
    east = traffic.position[1][:, None] - sensor[1]
    apart = root(north * north + east * east)  # (K, N)
    others = jnp.arange(apart.shape[0])[:, None] != traffic.own
    afloat = (traffic.position[2] <= traffic.beam)[:, None]
    apart = jnp.where(others & afloat & (apart <= reach), apart, jnp.inf)
    short = room - apart.shape[0]
    if short > 0:
        apart = jnp.pad(apart, ((0, short), (0, 0)), constant_values=jnp.inf)
    far, which = jax.lax.top_k(-apart.T, room)
    there, which = jnp.isfinite(far).T, jnp.minimum(which.T, traffic.identity.shape[0] - 1)

    def pick(values: jax.Array) -> jax.Array:
        return jnp.where(there, values[..., which], 0)

    return Nearest(
        identity=pick(traffic.identity),
        place=pick(traffic.position[:2]),
        velocity=pick(traffic.velocity[:2]),
        heading=pick(traffic.heading),
        length=pick(traffic.length),
        beam=pick(traffic.beam),
        range=jnp.where(there, -far.T, 0.0),
    )
