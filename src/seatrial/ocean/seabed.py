"""The bottom of the sea: flat, at a stated depth."""

import jax

from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar


@pytree
class Seabed:
    """A flat bottom."""

    depth: jax.Array
    """Below the mean level, m."""


def sample(seabed: Seabed, x: Scalar, y: Scalar) -> jax.Array:
    """Depth of the bottom under (x, y), m; the same everywhere."""
    return seabed.depth
