"""What the beams of a sensor in the compiled loop meet first: the bottom, or a solid of the world.

Solids are followed by sphere tracing (`geometry.shapes.cast`); of many those are looked at whose
balls a beam goes through, the nearest first. With the outward normal n of a solid a beam along b
meets it at the incidence γ, cos γ = −b · n, as it meets the bottom (`bottom_rays`). What the beam
meets sends back as the bottom does, whatever it is made of, and stands still.
"""

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.geometry import shapes
from seatrial.geometry.solids import Solids
from seatrial.ocean import Ocean
from seatrial.pytree import constant
from seatrial.sensors.ranging.bottom_rays import Met, Reach, meet
from seatrial.spatial.vectors import Scalar, Vec3, add, dot, scale

CANDIDATES = 8
"""Solids that are looked at for all beams of a sensor."""
STEPS = 32
"""Of the tracing."""


def sight_of(ocean: Ocean, limit: float, dtype: np.dtype[np.floating]) -> jax.Array | None:
    """How far beams look for solids, m; None in a world that has none."""
    return None if ocean.solids is None else constant(limit, dtype)


def meet_first(
    ocean: Ocean,
    reach: Reach | None,
    start: Vec3,
    along: Vec3,
    farthest: jax.Array | None,
    t: jax.Array,
) -> Met | None:
    """Beams from `start` (N,) along unit vectors (B, N), NED; None where there is nothing to meet.

    Solids are looked for as far as `farthest`, m. Nothing is traced while no beam may meet one.
    """
    bottom = None if ocean.seabed is None else meet(ocean.seabed, reach, start, along)
    if ocean.solids is None or farthest is None:
        return bottom
    solids = shapes.placed(ocean.solids, t)
    shape = jnp.broadcast_shapes(*(jnp.shape(part) for part in (*start, *along)))
    dtype = jnp.result_type(*start)
    none = Met(jnp.zeros(shape, dtype), jnp.ones(shape, dtype))
    ahead = shapes.pierced(solids, start, along, farthest)
    found: Met = jax.lax.cond(
        jnp.any(ahead),
        lambda: _traced(solids, start, along, farthest, ahead),
        lambda: none,
    )
    if bottom is None:
        return found
    first = (found.length > 0.0) & ((bottom.length <= 0.0) | (found.length < bottom.length))
    return Met(*(jnp.where(first, a, b) for a, b in zip(found, bottom, strict=True)))


def _traced(solids: Solids, start: Vec3, along: Vec3, farthest: Scalar, ahead: jax.Array) -> Met:
    some = shapes.near(solids, start, CANDIDATES, ahead)
    far, row = shapes.cast(some, start, along, farthest, STEPS)
    _, normal, _ = shapes.distance(some, add(start, scale(far, along)))
    dtype = jnp.result_type(*start)
    length = jnp.where(row >= 0, far, 0.0).astype(dtype)
    return Met(length, jnp.asarray(-dot(along, normal), dtype))
