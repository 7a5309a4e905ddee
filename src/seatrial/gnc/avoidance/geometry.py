"""Geometry of velocity obstacles in the horizontal plane.

A velocity v of one's own lies in the velocity obstacle of a disc of radius R that is seen at p and
moves with v_t if the ray from the origin along w = v − v_t meets the disc at p (Fiorini and Shiller
1998), that is if the distance at the closest approach is less than R and the approach lies ahead.
Pairs are (2, ...): north, east.
"""

import jax
import jax.numpy as jnp

from seatrial.spatial.gradients import bearing, root

_TINY = 1e-12


def dot(a: jax.Array, b: jax.Array) -> jax.Array:
    """Scalar product a · b."""
    return a[0] * b[0] + a[1] * b[1]


def cross(a: jax.Array, b: jax.Array) -> jax.Array:
    """Return a_n b_e − a_e b_n: positive when b points to starboard of a."""
    return a[0] * b[1] - a[1] * b[0]


def length(a: jax.Array) -> jax.Array:
    """Length of a."""
    return root(dot(a, a))


def heading_vector(angle: jax.Array) -> jax.Array:
    """Unit vector of a course, clockwise from north."""
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def course_of(vector: jax.Array) -> jax.Array:
    """Angle of a vector, clockwise from north."""
    return bearing(vector[1], vector[0])


def closest_approach(place: jax.Array, closing: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Time until and distance at the closest approach of a point at p with relative velocity w.

    τ = max(0, p · w / w²) and d = |p − w τ|, with w = v − v_t: now, if the range is opening.
    """
    time = jnp.maximum(dot(place, closing) / (dot(closing, closing) + _TINY), 0.0)
    return time, length(place - closing * time)


def disc_interval(
    place: jax.Array, closing: jax.Array, radius: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Times between which a point that moves with `closing` is within `radius` of `place`.

    The roots of |p − w t| = R. The interval is empty (inf, −inf) if it misses the disc or has
    passed it.
    """
    square = dot(closing, closing) + _TINY
    middle = dot(place, closing) / square
    apart = middle * middle - (dot(place, place) - radius * radius) / square
    half = root(jnp.maximum(apart, 0.0))
    met = (apart > 0.0) & (middle + half > 0.0)
    return jnp.where(met, middle - half, jnp.inf), jnp.where(met, middle + half, -jnp.inf)


def convex_interval(
    normals: jax.Array, offsets: jax.Array, start: jax.Array, velocity: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Times between which a moving point is inside the half-planes n · x ≤ c; see `disc_interval`.

    `normals` are (E, 2, ...), `offsets` (E, ...): Cyrus and Beck (1978) clipping of the ray.
    """
    enter, leave = jnp.asarray(-jnp.inf, start.dtype), jnp.asarray(jnp.inf, start.dtype)
    for normal, offset in zip(normals, offsets, strict=True):
        gap = offset - dot(normal, start)
        speed = dot(normal, velocity)
        along = jnp.abs(speed) < _TINY
        time = gap / jnp.where(along, 1.0, speed)
        outside = jnp.where(gap >= 0.0, -jnp.inf, jnp.inf)
        entering = jnp.where(along, outside, jnp.where(speed < 0.0, time, -jnp.inf))
        enter = jnp.maximum(enter, entering)
        leave = jnp.minimum(leave, jnp.where(speed > _TINY, time, jnp.inf))
    met = (enter < leave) & (leave > 0.0)
    return jnp.where(met, enter, jnp.inf), jnp.where(met, leave, -jnp.inf)
