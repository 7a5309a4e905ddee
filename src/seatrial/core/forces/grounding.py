"""Contact with the bottom: a damped spring upwards and friction along it."""

import jax
import jax.numpy as jnp

from seatrial.core.smooth import smooth_ramp
from seatrial.core.surroundings import Surroundings
from seatrial.ocean import seabed as seabed_field
from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar, Wrench

FRICTION = 0.5
"""Coulomb coefficient of a hull on sand."""
SLIP_SPEED = 0.05
"""Speed over which friction builds up, m/s; a step would stall the integrator."""


@pytree
class Grounding:
    """Stiffness and damping chosen so that the contact settles within half a second."""

    extent: jax.Array
    """Distance from the origin to the lowest point of the hull, m."""
    stiffness: jax.Array
    damping: jax.Array


def penetration(
    model: Grounding, seabed: seabed_field.Seabed, position: tuple[Scalar, Scalar, Scalar]
) -> Scalar:
    """Depth of the lowest point below the bottom, negative above it, m."""
    x, y, z = position
    return z + model.extent - seabed_field.sample(seabed, x, y)


def force(model: Grounding, seabed: seabed_field.Seabed, around: Surroundings) -> Wrench:
    """Push up, and resist sliding."""
    depth = smooth_ramp(penetration(model, seabed, around.position), 0.005)
    vx, vy, vz = around.rotation.to_world(around.velocity.linear)
    touching = jnp.minimum(depth / 0.01, 1.0)
    push = jnp.maximum(model.stiffness * depth + model.damping * vz * touching, 0.0)
    slip = jnp.sqrt(vx * vx + vy * vy + SLIP_SPEED * SLIP_SPEED)
    drag = -FRICTION * push / slip
    body = around.rotation.to_body((drag * vx, drag * vy, -push))
    return Wrench(*body, 0.0, 0.0, 0.0)
