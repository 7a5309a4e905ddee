"""A bottom as depths at the nodes of a level grid, with axes along north and east.

Each cell is two triangles that share the diagonal from its first node (least north and east) to
its last. Inside a triangle the depth is linear, so the surface that a beam of the compiled loop
meets, the one that stops a hull and the mesh that rays on the host are cast against are the same.
Beyond its edges a grid goes on with the depths of its edge.

A grid may be a part of a larger map. Places are then counted from the map's own first node, so that
depth and slope there are the same, to the last bit, in every part that holds them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.pytree import constant, pytree
from seatrial.spatial.vectors import Scalar, Vec3

Array = NDArray[np.float64]

HALVINGS = 6
"""Of the step in which a ray meets the bottom, before the place is taken from the facet there."""


@pytree
class HeightGrid:
    """Depths over a level grid."""

    origin: jax.Array
    """(2,) north and east of the first node of the map, m; double precision."""
    spacing: jax.Array
    """(2,) between nodes towards north and east, m."""
    first: jax.Array
    """(2,) row and column of the map with which the depths begin: whole numbers in double
    precision, so that who differentiates by all of an ocean may."""
    depth: jax.Array
    """(A, B) below the mean level at the nodes, A towards north and B towards east, m."""


class Facet(NamedTuple):
    """The piece of a grid that lies below or above a place."""

    depth: jax.Array
    """Below the mean level, m."""
    north: jax.Array
    """How much deeper per metre towards north."""
    east: jax.Array
    """How much deeper per metre towards east."""


def height_grid(
    origin: tuple[float, float],
    spacing: tuple[float, float],
    depth: Array,
    first: tuple[int, int] = (0, 0),
) -> HeightGrid:
    """A grid of at least two by two nodes."""
    begin, step, number = (constant(a, np.float64) for a in (origin, spacing, first))
    return HeightGrid(begin, step, number, constant(depth, np.float64))


def facet(grid: HeightGrid, x: Scalar, y: Scalar) -> Facet:
    """Depth and slope of the grid at places (x, y); beyond the edges its depth at the edge.

    They have the precision of the places, in which the vehicle that asks is computed.
    """
    rows, columns = grid.depth.shape
    row, column = grid.first[0], grid.first[1]
    a = jnp.clip((x - grid.origin[0]) / grid.spacing[0], row, row + (rows - 1.0))
    b = jnp.clip((y - grid.origin[1]) / grid.spacing[1], column, column + (columns - 1.0))
    south = jnp.clip(jnp.floor(a), row, row + (rows - 2.0))
    west = jnp.clip(jnp.floor(b), column, column + (columns - 2.0))
    s, t = a - south, b - west
    i, j = (south - row).astype(jnp.int32), (west - column).astype(jnp.int32)
    flat = jnp.asarray(grid.depth).ravel()  # a loop that closes over the grid holds NumPy's
    first, last = flat[i * columns + j], flat[(i + 1) * columns + j + 1]
    # The triangle towards north of the diagonal holds the node one step north, the other the node
    # one step east.
    northern = s >= t
    third = flat[jnp.where(northern, (i + 1) * columns + j, i * columns + j + 1)]
    along_s = jnp.where(northern, third - first, last - third)
    along_t = jnp.where(northern, last - third, third - first)
    found = (
        first + along_s * s + along_t * t,
        along_s / grid.spacing[0],
        along_t / grid.spacing[1],
    )
    precision = jnp.result_type(x, y)
    return Facet(*(value.astype(precision) for value in found))


def cast(grid: HeightGrid, start: Vec3, along: Vec3, reach: Scalar, steps: int) -> jax.Array:
    """How far rays from `start` along unit vectors go before they meet the bottom, m.

    `reach` where they do not meet it within. The way is sampled at `steps` equal distances, so a
    ridge that is thinner than reach / steps along the ray may be missed; the place of the first
    crossing is then narrowed down by halving and, at last, taken as on one facet. A start below the
    bottom gives 0.
    """

    def over(distance: jax.Array) -> jax.Array:
        """Height above the bottom, negative below it."""
        x, y, z = (p + distance * d for p, d in zip(start, along, strict=True))
        return facet(grid, x, y).depth - z

    shape = jnp.broadcast_shapes(*(jnp.shape(c) for c in (*start, *along, reach)))
    share = jnp.linspace(0.0, 1.0, steps + 1).reshape(-1, *(1,) * len(shape))
    heights = over(share * reach)
    below = jnp.broadcast_to(heights <= 0.0, (steps + 1, *shape))
    met = jnp.any(below, axis=0)
    after = jnp.argmax(below, axis=0)
    before = jnp.maximum(after - 1, 0)
    step = reach / steps
    near, far = before * step, after * step
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        above = over(middle) > 0.0
        near, far = jnp.where(above, middle, near), jnp.where(above, far, middle)
    high, low = over(near), over(far)
    drop = jnp.where(high > low, high - low, 1.0)
    hit = near + (far - near) * jnp.clip(high / drop, 0.0, 1.0)
    return jnp.where(met, jnp.where(after == 0, 0.0, hit), reach)
