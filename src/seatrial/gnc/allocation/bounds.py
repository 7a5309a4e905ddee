"""What the variables of an allocation must keep to: how far off it is, and what it leaves free.

Variables come first and vehicles last. The first n variables are bounded by themselves, the other
2q are the x and then the y components of q plane vectors, each within a convex polygon. A set of
limits in force is (m, ...): high, low, then faces.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Limits(NamedTuple):
    """What the variables must keep to."""

    low: jax.Array
    """(n, ...)."""
    high: jax.Array
    """(n, ...)."""
    normals: jax.Array | None = None
    """(K, 2, q, ...) outward normals of the polygons' faces; zero where there is no face."""
    reach: jax.Array | None = None
    """(K, q, ...) distance of each face from the origin."""


class Free(NamedTuple):
    """Projection onto the directions that the active limits leave."""

    single: jax.Array
    """(n, ...) 1 where a bounded variable is free."""
    xx: jax.Array
    """(q, ...) what is taken away from plane vectors, a symmetric matrix."""
    xy: jax.Array
    yy: jax.Array


def inside(limits: Limits, x: jax.Array, tolerance: float = 1e-9) -> jax.Array:
    """Whether x keeps to its limits, (...)."""
    n = limits.low.shape[0]
    good = jnp.all((x[:n] >= limits.low - tolerance) & (x[:n] <= limits.high + tolerance), axis=0)
    if limits.normals is not None and limits.reach is not None:
        over = _along(limits.normals, x[n:]) - limits.reach
        good = good & jnp.all(over <= tolerance, axis=(0, 1))
    return good


def held(limits: Limits, active: jax.Array) -> jax.Array:
    """Where the limits in force hold x; zero in the directions that they leave free."""
    n = limits.low.shape[0]
    low = jnp.broadcast_to(limits.low, active[:n].shape)
    high = jnp.broadcast_to(limits.high, active[:n].shape)
    single = jnp.where(active[:n], high, jnp.where(active[n : 2 * n], low, 0.0))
    if limits.normals is None or limits.reach is None:
        return single
    faces = _faces(limits, active)
    corner = jnp.sum(faces, axis=0) >= 2
    normals = jnp.where(faces[:, None], limits.normals, 0.0)
    nx, ny = normals[:, 0], normals[:, 1]
    # One face: d n. Two: where they meet, the least squares of n · x = d over both.
    x, y = jnp.sum(nx * limits.reach, axis=0), jnp.sum(ny * limits.reach, axis=0)
    xx, xy, yy = jnp.sum(nx * nx, axis=0), jnp.sum(nx * ny, axis=0), jnp.sum(ny * ny, axis=0)
    over = jnp.where(corner, xx * yy - xy * xy, 1.0)
    over = jnp.where(over > 1e-12, over, jnp.inf)
    return jnp.concatenate(
        [
            single,
            jnp.where(corner, (yy * x - xy * y) / over, x),
            jnp.where(corner, (xx * y - xy * x) / over, y),
        ]
    )


def _along(normals: jax.Array, plane: jax.Array) -> jax.Array:
    """n · v of every face, (K, q, ...), for vectors (2 q, ...)."""
    q = plane.shape[0] // 2
    return normals[:, 0] * plane[:q] + normals[:, 1] * plane[q:]


def _faces(limits: Limits, active: jax.Array) -> jax.Array:
    """The active faces, (K, q, ...)."""
    n = limits.low.shape[0]
    assert limits.normals is not None
    k, _, q = limits.normals.shape[:3]
    return active[2 * n :].reshape(k, q, *active.shape[1:])


def free(limits: Limits, active: jax.Array) -> Free:
    """What the limits in force leave."""
    n = limits.low.shape[0]
    single = 1.0 - (active[:n] | active[n : 2 * n])
    if limits.normals is None:
        none = single[:0]
        return Free(single, none, none, none)
    faces = _faces(limits, active)
    corner = jnp.sum(faces, axis=0) >= 2
    nx, ny = limits.normals[:, 0], limits.normals[:, 1]

    def taken(a: jax.Array, b: jax.Array, all_of_it: float) -> jax.Array:
        return jnp.where(corner, all_of_it, jnp.sum(jnp.where(faces, a * b, 0.0), axis=0))

    return Free(single, taken(nx, nx, 1.0), taken(nx, ny, 0.0), taken(ny, ny, 1.0))


def expanded(free: Free) -> Free:
    """The same for columns (E, k, ...)."""
    return Free(*(part[:, None] for part in free))


def project(free: Free, v: jax.Array) -> jax.Array:
    """The part of v that lies in the directions left."""
    n, q = free.single.shape[0], free.xx.shape[0]
    if q == 0:
        return v * free.single
    x, y = v[n : n + q], v[n + q :]
    return jnp.concatenate(
        [
            v[:n] * free.single,
            x - free.xx * x - free.xy * y,
            y - free.xy * x - free.yy * y,
        ]
    )


def slack(limits: Limits, x: jax.Array) -> jax.Array:
    """Distance from every limit, (m, ...)."""
    n = limits.low.shape[0]
    rows = [limits.high - x[:n], x[:n] - limits.low]
    if limits.normals is not None and limits.reach is not None:
        rows.append(_rows(limits.reach - _along(limits.normals, x[n:])))
    return jnp.concatenate(rows)


def rates(limits: Limits, dx: jax.Array) -> jax.Array:
    """How fast every limit is approached, (m, ...)."""
    n = limits.low.shape[0]
    rows = [dx[:n], -dx[:n]]
    if limits.normals is not None:
        rows.append(_rows(_along(limits.normals, dx[n:])))
    return jnp.concatenate(rows)


def forces(limits: Limits, active: jax.Array, v: jax.Array) -> jax.Array:
    """What the limits in force hold back of v, (m, ...); zero or more while they are needed."""
    n = limits.low.shape[0]
    rows = [v[:n], -v[:n]]
    if limits.normals is not None:
        faces = _faces(limits, active)
        q = faces.shape[1]
        normals = jnp.where(faces[:, None], limits.normals, 0.0)
        nx, ny = normals[:, 0], normals[:, 1]
        # In a corner v = a n + b o with the other face's normal o; a = (v × o) / (n × o).
        ox, oy = jnp.sum(nx, axis=0) - nx, jnp.sum(ny, axis=0) - ny
        across = nx * oy - ny * ox
        corner = (jnp.sum(faces, axis=0) >= 2) & (jnp.abs(across) > 1e-12)
        split = (v[n : n + q] * oy - v[n + q :] * ox) / jnp.where(corner, across, 1.0)
        rows.append(_rows(jnp.where(corner, split, _along(normals, v[n:]))))
    return jnp.concatenate(rows)


def _rows(faces: jax.Array) -> jax.Array:
    return faces.reshape(-1, *faces.shape[2:])


def bounded(limits: Limits, x: jax.Array) -> jax.Array:
    """x without what rounding took the first n variables beyond their limits."""
    n = limits.low.shape[0]
    single = jnp.clip(x[:n], limits.low, limits.high)
    return jnp.concatenate([single, x[n:]]) if x.shape[0] > n else single
