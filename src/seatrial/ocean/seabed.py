"""The bottom of the sea: flat or by a map, of a stated material."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.geometry import grid
from seatrial.geometry.grid import Facet, HeightGrid
from seatrial.geometry.terrain import terrain_of
from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar, Vec3


@pytree
class Seabed:
    """A bottom."""

    depth: jax.Array | HeightGrid
    """Below the mean level, m: the same everywhere, or a map; a map's numbers are arrays of the
    compiled program, so that another one of the same size is the same program."""


def sample(seabed: Seabed, x: Scalar, y: Scalar) -> jax.Array:
    """Depth of the bottom under (x, y), m."""
    return facet(seabed, x, y).depth


def under(seabed: Seabed, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Depth of the bottom under places, m; on the host, without a program."""
    if isinstance(seabed.depth, HeightGrid):
        return terrain_of(seabed.depth).at(x, y)
    return np.full(np.broadcast_shapes(np.shape(x), np.shape(y)), float(seabed.depth))


def facet(seabed: Seabed, x: Scalar, y: Scalar) -> Facet:
    """Depth of the bottom under (x, y), and how it slopes there."""
    if isinstance(seabed.depth, HeightGrid):
        return grid.facet(seabed.depth, x, y)
    level = jnp.zeros_like(seabed.depth)
    return Facet(seabed.depth, level, level)


def cast(seabed: Seabed, start: Vec3, along: Vec3, reach: Scalar, steps: int) -> jax.Array:
    """How far rays go before they meet the bottom, m; `reach` where they do not.

    On a map the way is sampled at `steps` equal distances, as `geometry.grid.cast` says.
    """
    if isinstance(seabed.depth, HeightGrid):
        return grid.cast(seabed.depth, start, along, reach, steps)
    falling = jnp.asarray(along[2]) > 0.0
    height = jnp.maximum(seabed.depth - start[2], 0.0)
    length = height / jnp.where(falling, along[2], 1.0)
    return jnp.where(falling, jnp.minimum(length, reach), jnp.where(height > 0.0, reach, 0.0))
