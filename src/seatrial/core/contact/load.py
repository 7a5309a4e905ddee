"""What touches do to a vehicle, as it is told: how hard, where, and by whom."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact.hull import BOTTOM, NOTHING
from seatrial.core.contact.sides import Side, places
from seatrial.core.contact.surfaces import LEAST
from seatrial.core.contact.touch import Touch
from seatrial.geometry import shapes
from seatrial.spatial.vectors import Scalar, Vec3, add, dot


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


def loads(
    sides: Sequence[Side], touches: Sequence[Touch], forces: Sequence[Vec3]
) -> tuple[list[Load], list[Load | None]]:
    """What the vehicles of each side are told, by the forces at the balls of all touches: of the
    bottom and solids, and of other vehicles, None for those who pass through them. One who is
    pressed against a quay by another touches both, and the quay's force is the larger."""
    spots = places(sides)
    found = [untouched(jnp.asarray(side.moved.velocity.u)) for side in sides]
    met = [None if side.hull.near is None else f for f, side in zip(found, sides, strict=True)]
    total = sum(math.prod(side.shape) for side in sides)
    for touch, force in zip(touches, forces, strict=True):
        k = spots.index(touch.whose)
        moved = sides[k].moved
        sizes = jnp.sqrt(dot(force, force))
        world = add(moved.place, moved.turned.to_world(touch.foot))
        own = _own(sizes, world, touch.partner)
        if touch.mates is None:
            found[k] = _together(found[k], own)
        else:
            met[k] = _together(met[k], own)
            number = BOTTOM - 1 - jnp.arange(total)[touch.whose]
            mate = BOTTOM - 1 - jnp.asarray(touch.partner)
            felt = _others(sizes, world, mate, number, total)
            for j, spot in enumerate(spots):
                theirs: Load = jax.tree.map(lambda a, spot=spot: a[spot], felt)
                met[j] = _together(met[j], theirs)
    return found, met


def _own(sizes: jax.Array, world: Vec3, partner: Scalar) -> Load:
    """By the sizes (P, ...) of the forces at balls, and where they act."""
    which = shapes.nearest_of(-sizes)
    x, y, z = (shapes.mean_of(which, p) for p in world)
    hardest = jnp.max(sizes, axis=0)
    named = jnp.max(jnp.where(which, partner, LEAST), axis=0)
    size = jnp.sum(sizes, axis=0)
    struck = jnp.zeros_like(size) if partner is BOTTOM else size
    name = jnp.where(hardest > 0.0, named, NOTHING).astype(jnp.int32)
    return Load(size, struck, hardest, (x, y, z), name)


def _others(sizes: jax.Array, world: Vec3, mate: jax.Array, number: jax.Array, total: int) -> Load:
    """The same for those of `total` vehicles, `mate` (P, N), that balls of `number` (N,) touch."""
    none = jnp.zeros(total, sizes.dtype)
    size, hardest = none.at[mate].add(sizes), none.at[mate].max(sizes)
    which = (sizes > 0.0) & (sizes == hardest[mate])

    def of(values: Scalar, least: float) -> jax.Array:
        chosen = jnp.where(which, values, least)
        return jnp.full(none.shape, least, chosen.dtype).at[mate].max(chosen)

    touched = hardest > 0.0
    x, y, z = (jnp.where(touched, of(p, -jnp.inf), 0.0) for p in world)
    partner = jnp.where(touched, of(number, LEAST), NOTHING).astype(jnp.int32)
    return Load(size, size, hardest, (x, y, z), partner)


def _together(one: Load | None, other: Load) -> Load:
    """Both together."""
    if one is None:
        return other
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
