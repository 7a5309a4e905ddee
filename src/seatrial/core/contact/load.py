"""What touches do to a vehicle, as it is told: how hard, where, and by whom."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact.hull import BOTTOM, NOTHING
from seatrial.core.contact.surfaces import LEAST
from seatrial.geometry import shapes
from seatrial.spatial.vectors import Scalar, Vec3


class Load(NamedTuple):
    """What touches do to a vehicle, in the mean over a time step."""

    size: Scalar
    """Sum of the forces' sizes, N."""
    struck: Scalar
    """The same without those of the bottom, N."""
    hardest: Scalar
    """Size of the largest, N."""
    place: Vec3
    """Where that acts, NED, m."""
    partner: Scalar
    """What it comes from, as `BOTTOM` says."""


def told(sizes: jax.Array, world: Vec3, partner: Scalar) -> Load:
    """By the sizes (P, ...) of the forces at balls, and where they act."""
    which = shapes.nearest_of(-sizes)
    x, y, z = (shapes.mean_of(which, p) for p in world)
    hardest = jnp.max(sizes, axis=0)
    named = jnp.max(jnp.where(which, partner, LEAST), axis=0)
    size = jnp.sum(sizes, axis=0)
    struck = jnp.zeros_like(size) if partner is BOTTOM else size
    name = jnp.where(hardest > 0.0, named, NOTHING).astype(jnp.int32)
    return Load(size, struck, hardest, (x, y, z), name)


def told_to_mate(sizes: jax.Array, world: Vec3, mate: jax.Array, number: jax.Array) -> Load:
    """The same for the hulls `mate` (P, N) that balls of `number` (N,) have touched."""
    none = jnp.zeros_like(sizes[0])
    size, hardest = none.at[mate].add(sizes), none.at[mate].max(sizes)
    which = (sizes > 0.0) & (sizes == hardest[mate])

    def of(values: Scalar, least: float) -> jax.Array:
        chosen = jnp.where(which, values, least)
        return jnp.full(none.shape, least, chosen.dtype).at[mate].max(chosen)

    touched = hardest > 0.0
    x, y, z = (jnp.where(touched, of(p, -jnp.inf), 0.0) for p in world)
    partner = jnp.where(touched, of(number, LEAST), NOTHING).astype(jnp.int32)
    return Load(size, size, hardest, (x, y, z), partner)


def together(one: Load, other: Load) -> Load:
    """Both together."""
    harder = jnp.asarray(other.hardest > one.hardest)

    def chosen(a: Scalar, b: Scalar) -> jax.Array:
        return jnp.where(harder, b, a)

    x, y, z = (chosen(a, b) for a, b in zip(one.place, other.place, strict=True))
    return Load(
        one.size + other.size,
        one.struck + other.struck,
        chosen(one.hardest, other.hardest),
        (x, y, z),
        chosen(one.partner, other.partner),
    )


def untouched(like: jax.Array) -> Load:
    """Nothing."""
    zero = jnp.zeros_like(like)
    nothing = jnp.full(like.shape, NOTHING, jnp.int32)
    return Load(zero, zero, zero, (zero, zero, zero), nothing)
