"""A hull as something that can be touched."""

import jax

from seatrial.geometry.solids import Solids
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
    mass: jax.Array
    """Least with which the hull, afloat, answers to a level push at one ball, kg."""
    others: Solids | None = None
    """The vehicles nearest to each one, (c, K, N), where they were when `seen`; None for one that
    passes through others."""
    kin: jax.Array | None = None
    """(K, N) which of its own group each of them is; −1 for one of another group."""
    seen: jax.Array | None = None
    """When they were seen, s."""
    number: jax.Array | None = None
    """(N,) its own for those whom it touches, as `BOTTOM` says."""
