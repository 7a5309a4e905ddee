"""Where the beams of a sensor in the compiled loop meet the bottom, and how steeply.

With the bottom z = D(x, y) and its unit normal towards the water

    n = (∂D/∂x, ∂D/∂y, −1) / √(1 + (∂D/∂x)² + (∂D/∂y)²)

a beam along the unit vector b meets it at the incidence γ, cos γ = −b · n. On a flat bottom that is
the vertical part of b. A beam can meet a map only between its shallowest and its deepest node, so
it is followed nowhere else.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.geometry.grid import HeightGrid
from seatrial.ocean import seabed as bottoms
from seatrial.ocean.seabed import Seabed
from seatrial.pytree import constant, pytree
from seatrial.spatial.vectors import Vec3

STEPS = 32
"""In which a beam is followed between the shallowest and the deepest node of a map."""

SLACK = 0.01
"""By which those two are moved apart, m: rounding must not carry a beam past a level map."""


@pytree
class Reach:
    """How far beams are followed on a map."""

    limit: jax.Array
    """m."""
    span: jax.Array
    """(2,) depth of the shallowest and of the deepest node, m."""

    def over(self, grid: HeightGrid) -> "Reach":
        """The same over another part of the map."""
        return replace(self, span=_span(grid, self.span.dtype))


class Met(NamedTuple):
    """What beams meet."""

    length: jax.Array
    """m; 0 for one that never meets the bottom."""
    cosine: jax.Array
    """Of the incidence; may be 0 or less where nothing is met."""


def reach_of(seabed: Seabed | None, limit: float, dtype: np.dtype[np.floating]) -> Reach | None:
    """For beams of at most `limit` m over a map; None over a flat bottom or none."""
    if seabed is None or not isinstance(seabed.depth, HeightGrid):
        return None
    return Reach(constant(limit, dtype), _span(seabed.depth, dtype))


def _span(grid: HeightGrid, dtype: np.dtype[np.floating]) -> jax.Array:
    depth = np.asarray(grid.depth)
    return constant((float(np.nanmin(depth)) - SLACK, float(np.nanmax(depth)) + SLACK), dtype)


def meet(seabed: Seabed, reach: Reach | None, start: Vec3, along: Vec3) -> Met:
    """Beams from `start` (N,) along unit vectors (B, N), NED."""
    down = jnp.asarray(along[2])
    if reach is None:
        height = jnp.asarray(bottoms.sample(seabed, start[0], start[1]) - start[2])
        there = (down > 0.0) & (height > 0.0)
        return Met(jnp.where(there, height / jnp.where(down > 0.0, down, 1.0), 0.0), down)
    level = jnp.abs(down) < 1e-9
    top, base = ((depth - start[2]) / jnp.where(level, 1e-9, down) for depth in reach.span)
    first = jnp.clip(jnp.minimum(top, base), 0.0, reach.limit)
    way = jnp.clip(jnp.maximum(top, base), first, reach.limit) - first
    x, y, z = (p + first * d for p, d in zip(start, along, strict=True))
    found = bottoms.cast(seabed, (x, y, z), along, way, STEPS)
    length = jnp.where(found < way, first + found, 0.0)
    slope = bottoms.facet(seabed, x + found * along[0], y + found * along[1])
    cosine = down - slope.north * along[0] - slope.east * along[1]
    return Met(length, cosine / jnp.sqrt(1.0 + slope.north**2 + slope.east**2))
