"""Shapes that stand still and that nobody may enter."""

import jax
import jax.numpy as jnp

from seatrial.gnc.avoidance.geometry import convex_interval, disc_interval
from seatrial.pytree import pytree


@pytree
class Circles:
    """S circles for each of N vehicles."""

    centre: jax.Array
    """(2, S, N) north and east, m."""
    radius: jax.Array
    """(S, N) m."""
    margin: jax.Array
    """(S, N) wanted between the edge and the vehicle's own circle, m."""

    def interval(
        self, start: jax.Array, velocity: jax.Array, keep: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Times (G, S, N) within which a point is closer than `keep` (S, N) to a circle."""
        return disc_interval(self.centre[:, None] - start, velocity, self.radius + keep)


@pytree
class Polygons:
    """S convex polygons for each of N vehicles, as half-planes n · x ≤ c."""

    normal: jax.Array
    """(E, 2, S, N) outward unit normals; zero where a polygon has fewer edges than others."""
    offset: jax.Array
    """(E, S, N) c, m."""
    margin: jax.Array
    """(S, N) wanted between the edge and the vehicle's own circle, m."""

    def interval(
        self, start: jax.Array, velocity: jax.Array, keep: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Times (G, S, N) within which a point is closer than `keep` (S, N) to a polygon.

        Every edge is moved out by `keep`, so that corners stay sharp: cautious, never too close.
        """
        offset = (self.offset + keep)[:, None]
        return convex_interval(self.normal[:, :, None], offset, start, velocity)


Shapes = Circles | Polygons


def hazard(
    shapes: Shapes,
    start: jax.Array,
    velocity: jax.Array,
    keep: jax.Array,
    delay: jax.Array,
    horizon: jax.Array,
) -> jax.Array:
    """How soon velocities lead into shapes, summed over them: 0 for never, 1 for now.

    `start` and `velocity` are (2, G, 1, N) for G candidates, `delay` (G, 1, N) the time until they
    hold. Inside a shape the way out counts: the longer it takes, the worse.
    """
    enter, leave = shapes.interval(start, velocity, keep)
    soon = 1.0 - (delay + enter) / horizon
    deep = 1.0 + leave / horizon
    grade = jnp.where(enter > 0.0, jnp.clip(soon, 0.0, 1.0), jnp.clip(deep, 1.0, 2.0))
    return jnp.sum(jnp.where(leave > 0.0, grade, 0.0), axis=-2)
