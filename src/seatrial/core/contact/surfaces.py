"""What the balls of a hull meet: the bottom, the nearest solid, the nearest other vehicle."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact.hull import BOTTOM, Contact
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
    """Of its fender, or between two vehicles that do not step together; None for a hard one."""
    damping: Scalar | None
    partner: Scalar
    """As `BOTTOM` says."""
    mate: jax.Array | None = None
    """Which of the hull's own group it belongs to, −1 for another's; None where it is none."""


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


def solid(model: Contact, solids: Solids, places: Vec3, kin: jax.Array | None = None) -> Surface:
    """The solid that is nearest to each ball; `kin` says which are vehicles of its own group."""
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
        mate=None if kin is None else largest(kin, -1),
    )


def neighbours(
    model: Contact, place: Vec3, turned: Rotation, t: jax.Array, afloat: bool
) -> Solids | None:
    """The other vehicles around each: those of its own group, which are where `place` has them, and
    those of others as far on as they were going."""
    others = model.others
    if others is None or model.kin is None or model.seen is None:
        return None
    assert others.velocity is not None
    way = (t - model.seen).astype(others.position.dtype) * others.velocity
    own = outlines(model, jnp.stack([jnp.asarray(p) for p in place]), turned, afloat)
    same, which = model.kin >= 0, jnp.maximum(model.kin, 0)
    return replace(
        others,
        position=jnp.where(same, own.position[:, which], others.position + way),
        axes=jnp.where(same, own.axes[:, which], others.axes),
    )


def outlines(hull: Contact, position: jax.Array, turned: Rotation, upright: bool) -> Solids:
    """Boxes with rounded edges around the balls of the hulls of a group, (c, N), at rest; `upright`
    ones have no top and no keel, so that nobody is lifted over or pressed under them."""
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
        stiffness=jnp.zeros_like(like),
        damping=jnp.zeros_like(like),
        body=jnp.zeros(like.shape, jnp.int32),
        velocity=jnp.zeros_like(position),
    )
