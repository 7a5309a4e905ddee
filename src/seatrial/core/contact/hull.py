"""A hull as something that can be touched."""

import jax

from seatrial.pytree import pytree

NOTHING, BOTTOM = -1, -2
"""Numbers of what a hull may touch: 0, 1, … are the bodies that are no vehicles, in their order,
and −3, −4, … the vehicles of the run."""


@pytree
class Contact:
    """A hull as something that can be touched."""

    point: jax.Array
    """(3, P) centres of its balls, body axes, m."""
    radius: jax.Array
    """Of the balls, m."""
    reach: jax.Array
    """From the origin to the farthest point of the hull, m."""
    extent: jax.Array
    """From the origin to the lowest point of the hull, m."""
    stiffness: jax.Array
    """k of a ball, N/m."""
    near: jax.Array | None = None
    """(K, N) the vehicles that each may touch, counted through all kinds that step together; None
    for one that passes through others."""
