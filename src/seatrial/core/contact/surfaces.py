"""What the balls of a hull meet: the bottom, the nearest solid, the nearest other vehicle."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact.hull import BOTTOM, Contact
from seatrial.core.contact.sides import Side
from seatrial.geometry import shapes
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.solids import Solids
from seatrial.ocean import seabed as bottoms
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Vec3, add, vec3

CANDIDATES = 8
"""Solids that are looked at in full around each vehicle."""
TALL = 100.0
"""Half of the height of an upright shape, m."""
LEAST = -(2**30)


class Surface(NamedTuple):
    """What balls meet, (P, ...) each."""

    gap: Scalar
    """To the ball, negative within, m."""
    normal: Vec3
    """World's axes."""
    velocity: Vec3 | None
    """World's axes; None for one that rests."""
    stiffness: Scalar | None
    """Of its fender, or of another vehicle's balls; None for a hard one."""
    damping: Scalar | None
    partner: Scalar
    """As `BOTTOM` says."""


def penetration(model: Contact, seabed: bottoms.Seabed, place: Vec3, turned: Rotation) -> jax.Array:
    """How deep the hull is in the bottom, negative above it, m."""
    ground = bottom(model, seabed, balls(model, place, turned))
    return jnp.max(-jnp.asarray(ground.gap), axis=0)


def within(
    model: Contact, solids: Solids, place: Vec3, turned: Rotation
) -> tuple[jax.Array, jax.Array]:
    """How deep the hull is in a solid, negative beside it, m, and which body that is."""
    surface = solid(model, solids, balls(model, place, turned))
    gap = jnp.asarray(surface.gap)
    named = jnp.where(shapes.nearest_of(gap), surface.partner, LEAST)
    return -jnp.min(gap, axis=0), jnp.max(named, axis=0)


def balls(model: Contact, place: Vec3, turned: Rotation) -> Vec3:
    """(P, ...) where the balls are, NED."""
    return add(place, turned.to_world(points(model, jnp.ndim(place[2]))))


def points(model: Contact, axes: int) -> Vec3:
    """The balls' centres in body axes, with so many further axes for the vehicles."""
    x, y, z = (p.reshape(-1, *(1,) * axes) for p in model.point)
    return x, y, z


def bottom(model: Contact, seabed: bottoms.Seabed, places: Vec3) -> Surface:
    """The piece of the bottom under each ball, as the plane it lies in."""
    x, y, z = places
    facet = bottoms.facet(seabed, x, y)
    if not isinstance(seabed.depth, HeightGrid):
        return Surface(facet.depth - z - model.radius, (0.0, 0.0, -1.0), None, None, None, BOTTOM)
    length = jnp.sqrt(1.0 + facet.north**2 + facet.east**2)
    normal = (facet.north / length, facet.east / length, -1.0 / length)
    gap = ((facet.depth - z) / length - model.radius).astype(jnp.result_type(z))
    return Surface(gap, normal, None, None, None, BOTTOM)


def solid(model: Contact, solids: Solids, places: Vec3) -> Surface:
    """The solid that is nearest to each ball."""
    found, normal = shapes.distances(solids, places)
    nearest = shapes.nearest_of(found)

    def apart(values: jax.Array) -> jax.Array:
        """(M,) or (M, N) with axes for the balls."""
        shape = (values.shape[0], *(1,) * (found.ndim - values.ndim), *values.shape[1:])
        return values.reshape(shape)

    def largest(values: jax.Array, least: float) -> jax.Array:
        return jnp.max(jnp.where(nearest, apart(values), least), axis=0)

    velocity = None
    if solids.velocity is not None:
        vx, vy, vz = (shapes.mean_of(nearest, apart(v)) for v in solids.velocity)
        velocity = (vx, vy, vz)
    nx, ny, nz = (shapes.mean_of(nearest, n) for n in normal)
    return Surface(
        gap=jnp.min(found, axis=0) - model.radius,
        normal=(nx, ny, nz),
        velocity=velocity,
        stiffness=largest(solids.stiffness[0], 0.0),
        damping=largest(solids.damping[0], 0.0),
        partner=largest(solids.body[0], LEAST),
    )


def neighbours(sides: Sequence[Side], which: jax.Array, afloat: bool) -> Solids:
    """The vehicles `which` (K, N) of all kinds, (c, K, N), as one that is `afloat` or not meets
    them: with the stiffness of their balls, and their numbers as `BOTTOM` says."""
    shapes = [outlines(side, upright=afloat and side.afloat) for side in sides]
    everybody: Solids = jax.tree.map(lambda *parts: jnp.concatenate(parts, axis=1), *shapes)
    total = everybody.position.shape[1]
    everybody = replace(everybody, body=BOTTOM - 1 - jnp.arange(total, dtype=jnp.int32)[None])
    near: Solids = jax.tree.map(lambda values: values[:, which], everybody)
    return near


def outlines(side: Side, upright: bool) -> Solids:
    """Boxes with rounded edges around the balls of hulls, (c, N); `upright` ones have no top and no
    keel, so that nobody is lifted over or pressed under them."""
    hull, turned = side.hull, side.moved.turned
    position = jnp.stack([jnp.asarray(p) for p in side.moved.place])
    low, high = jnp.min(hull.point, axis=1), jnp.max(hull.point, axis=1)
    half = 0.5 * (high - low)
    if upright:
        facing = bearing(jnp.asarray(turned.r10), jnp.asarray(turned.r00))
        c, s = jnp.cos(facing), jnp.sin(facing)
        none, one = jnp.zeros_like(c), jnp.ones_like(c)
        turned = Rotation(c, -s, none, s, c, none, none, none, one)
        half = half.at[2].set(TALL)
    middle = turned.to_world(vec3(0.5 * (low + high)))
    like = position[:1]

    def alike(value: jax.Array) -> jax.Array:
        column = jnp.reshape(value, (-1, 1))
        return jnp.broadcast_to(column, (column.shape[0], like.shape[1])).astype(like.dtype)

    return Solids(
        position=position + jnp.stack(middle),
        axes=jnp.stack([jnp.broadcast_to(jnp.asarray(r), like[0].shape) for r in turned]),
        half=alike(half),
        radius=alike(hull.radius),
        upright=jnp.zeros_like(like),
        reach=alike(hull.reach + jnp.linalg.norm(0.5 * (low + high))),
        stiffness=alike(hull.stiffness),
        damping=jnp.full_like(like, jnp.inf),
        body=jnp.zeros(like.shape, jnp.int32),
        velocity=None,
    )
