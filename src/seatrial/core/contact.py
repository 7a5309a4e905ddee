"""Contact of a hull with the bottom, with solids and with other vehicles.

A hull is balls of one radius, spread so that their common skin is a box with rounded edges as
long, wide and high as it (`compile.contact`). Each ball that reaches into a surface by δ is pushed
out along the surface's normal n and rubs along it:

    F_n = max(k δ + c δ̇ s(δ), 0)                          spring and damper (Kelvin–Voigt)
    F_t = −μ F_n v_t / √(|v_t|² + (μ F_n / g)²)           Coulomb's friction, rounded

where s rises from 0 to 1 over the first half millimetre, so that the damper neither jumps in nor
pulls, and v_t is the slip of the touching point. Friction below the slip μ F_n / g is viscous: a
hull held by it creeps, as fast as g allows, in place of standing quite still. k, c and g follow
from the vehicle's mass and the run's time step, so that the stiffest way in which the hull can
swing on them is stable (`compile.contact`); a surface with a fender has its spring in series and at
most its damper. δ counts from a skin outside the hull that carries its weight in water with no dent
at all.

A ball touches at most one solid, the nearest, one other vehicle, and the bottom.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.smooth import smooth_ramp
from seatrial.core.surroundings import Surroundings
from seatrial.geometry import shapes
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.solids import Solids
from seatrial.ocean import Ocean
from seatrial.ocean import seabed as bottoms
from seatrial.pytree import pytree
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import (
    STILL,
    Scalar,
    Twist,
    Vec3,
    Wrench,
    add,
    cross,
    dot,
    scale,
    subtract,
)

FRICTION = 0.5
"""Coulomb coefficient of a hull on sand, concrete or another hull."""
ONSET = 0.0005
"""Over which the damper comes in, m."""
ROUNDING = 0.0002
"""Half-width of the corner where the spring begins, m."""
CANDIDATES = 8
"""Solids that are looked at in full around each vehicle."""
NOTHING, BOTTOM = -1, -2
"""Numbers of what a hull may touch: 0, 1, … are the bodies that are no vehicles, in their order,
and −3, −4, … the vehicles of the run."""
_LEAST = -(2**30)


@pytree
class Contact:
    """A hull as something that can be touched."""

    point: jax.Array
    """(3, P) centres of its balls, body axes, m."""
    radius: jax.Array
    """Of the balls, m."""
    reach: jax.Array
    """From the origin to the farthest point of the hull, m."""
    extent: jax.Array
    """From the origin to the lowest point of the hull, m."""
    stiffness: jax.Array
    """k of a ball, N/m."""
    damping: jax.Array
    """c of a ball, N s/m."""
    grip: jax.Array
    """g of a ball, N s/m."""
    skin: jax.Array
    """m."""
    mass: jax.Array
    """Least with which the hull, afloat, answers to a level push at one ball, kg."""
    others: Solids | None = None
    """The vehicles nearest to each one, (c, K, N), where they were when `seen`; None for one that
    passes through others."""
    kin: jax.Array | None = None
    """(K, N) which of its own group each of them is; −1 for one of another group."""
    seen: jax.Array | None = None
    """(K, N) when each was seen, s."""


class Load(NamedTuple):
    """What touches do to a vehicle."""

    force: Vec3
    """World's axes, N."""
    moment: Vec3
    """About the vehicle's origin, world's axes, N m."""
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


class _Balls(NamedTuple):
    """The balls of a hull, (P, ...) each."""

    arm: Vec3
    """From the origin, world's axes."""
    place: Vec3
    centre: Vec3
    """Of the vehicle's origin."""
    linear: Vec3
    """Velocity of the origin over ground, world's axes."""
    angular: Vec3
    """World's axes."""


class _Surface(NamedTuple):
    """What balls meet, (P, ...) each."""

    gap: Scalar
    """To the ball, negative within, m."""
    normal: Vec3
    velocity: Vec3 | None
    stiffness: Scalar | None
    """Of its fender; None for a hard one."""
    damping: Scalar | None
    partner: Scalar
    """As `BOTTOM` says."""
    vehicle: bool = False
    """Whether it is that of another vehicle, whose spring and damper the balls share."""


def penetration(model: Contact, seabed: bottoms.Seabed, place: Vec3, turned: Rotation) -> jax.Array:
    """How deep the hull is in the bottom, negative above it, m."""
    ground = _bottom(model, seabed, _balls(model, place, turned))
    return jnp.max(-jnp.asarray(ground.gap), axis=0)


def within(
    model: Contact, solids: Solids, place: Vec3, turned: Rotation
) -> tuple[jax.Array, jax.Array]:
    """How deep the hull is in a solid, negative beside it, m, and which body that is."""
    surface = _met(model, solids, _balls(model, place, turned))
    gap = jnp.asarray(surface.gap)
    named = jnp.where(shapes.nearest_of(gap), surface.partner, _LEAST)
    return -jnp.min(gap, axis=0), jnp.max(named, axis=0)


def wrench(model: Contact, ocean: Ocean, around: Surroundings, t: jax.Array) -> Wrench:
    """Force and moment of all that the hull touches, body axes."""
    turned = around.rotation
    found = load(model, ocean, around.position, turned, around.velocity, t)
    return Wrench(*turned.to_body(found.force), *turned.to_body(found.moment))


def load(
    model: Contact, ocean: Ocean, place: Vec3, turned: Rotation, velocity: Twist, t: jax.Array
) -> Load:
    """The sum over the balls of what they touch; little is computed while nothing is near."""
    nothing = _nothing(jnp.asarray(place[2]))
    margin = model.skin + ROUNDING
    parts: list[Load] = []

    def where(close: jax.Array, surface: Callable[[_Balls], _Surface]) -> None:
        def touched() -> Load:
            balls = _balls(model, place, turned, velocity)
            return _pressed(model, balls, surface(balls))

        parts.append(jax.lax.cond(jnp.any(close), touched, lambda: nothing))

    if ocean.seabed is not None:
        seabed = ocean.seabed
        if isinstance(seabed.depth, HeightGrid):
            gap = _bottom(model, seabed, _balls(model, place, turned)).gap
        else:
            gap = seabed.depth - place[2] - model.reach
        where(jnp.asarray(gap) < margin, lambda balls: _bottom(model, seabed, balls))
    if ocean.solids is not None:
        solids = shapes.underway(ocean.solids, t)

        def solid(balls: _Balls) -> _Surface:
            near = shapes.near(shapes.riding(solids, t), place, CANDIDATES)
            return _met(model, near, balls)

        where(shapes.gaps(solids, place) < model.reach + margin, solid)
    if model.others is not None and model.seen is not None:
        others = _moved_on(model.others, t - model.seen)
        away = [q - p for p, q in zip(place, others.position, strict=True)]
        apart = jnp.sqrt(sum(d * d for d in away))
        where(
            apart < others.reach[0] + model.reach + margin,
            lambda balls: _met(model, others, balls)._replace(vehicle=True),
        )
    return functools.reduce(_sum, parts, nothing)


def _moved_on(others: Solids, later: jax.Array) -> Solids:
    """Vehicles as far on as they were going."""
    assert others.velocity is not None
    way = later.astype(others.position.dtype) * others.velocity
    return replace(others, position=others.position + way)


def _balls(model: Contact, place: Vec3, turned: Rotation, velocity: Twist = STILL) -> _Balls:
    column = (-1, *(1,) * jnp.ndim(place[2]))
    x, y, z = (p.reshape(column) for p in model.point)
    arm = turned.to_world((x, y, z))
    linear, angular = turned.to_world(velocity.linear), turned.to_world(velocity.angular)
    return _Balls(arm, add(place, arm), place, linear, angular)


def _bottom(model: Contact, seabed: bottoms.Seabed, balls: _Balls) -> _Surface:
    """The piece of the bottom under each ball, as the plane it lies in."""
    x, y, z = balls.place
    facet = bottoms.facet(seabed, x, y)
    if not isinstance(seabed.depth, HeightGrid):
        return _Surface(facet.depth - z - model.radius, (0.0, 0.0, -1.0), None, None, None, BOTTOM)
    length = jnp.sqrt(1.0 + facet.north**2 + facet.east**2)
    normal = (facet.north / length, facet.east / length, -1.0 / length)
    gap = ((facet.depth - z) / length - model.radius).astype(jnp.result_type(z))
    return _Surface(gap, normal, None, None, None, BOTTOM)


def _met(model: Contact, solids: Solids, balls: _Balls) -> _Surface:
    """The solid that is nearest to each ball."""
    found, normal = shapes.distances(solids, balls.place)
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
    return _Surface(
        gap=jnp.min(found, axis=0) - model.radius,
        normal=(nx, ny, nz),
        velocity=velocity,
        stiffness=largest(solids.stiffness[0], 0.0),
        damping=largest(solids.damping[0], 0.0),
        partner=largest(solids.body[0], _LEAST),
    )


def _pressed(model: Contact, balls: _Balls, surface: _Surface) -> Load:
    """The forces of one surface on the balls, added up."""
    normal = surface.normal
    foot = subtract(balls.arm, scale(model.radius, normal))
    moving = add(balls.linear, cross(balls.angular, foot))
    if surface.velocity is not None:
        moving = subtract(moving, surface.velocity)
    dent = model.skin - surface.gap
    k: Scalar = model.stiffness
    c: Scalar = model.damping
    grip: Scalar = model.grip
    if surface.vehicle:
        assert surface.stiffness is not None
        assert surface.damping is not None
        touching = jnp.maximum(jnp.sum(jnp.asarray(dent > 0.0), axis=0), 1)
        k, c = surface.stiffness / touching, surface.damping / touching
        grip = c
    elif surface.stiffness is not None and surface.damping is not None:
        # An infinite fender leaves k as it is.
        k, c = k / (1.0 + k / surface.stiffness), jnp.minimum(c, surface.damping)
    closing = -dot(moving, normal)
    onset = jnp.clip(dent / ONSET, 0.0, 1.0)
    push = jnp.maximum(k * smooth_ramp(dent, ROUNDING) + c * closing * onset, 0.0)
    slip = add(moving, scale(closing, normal))
    most = FRICTION * push
    rounded = most / grip
    drag = -most / jnp.sqrt(dot(slip, slip) + rounded * rounded + 1e-12)
    force = add(scale(push, normal), scale(drag, slip))
    moment = cross(foot, force)
    sizes = jnp.sqrt(push * push + drag * drag * dot(slip, slip))
    whole = jnp.shape(sizes)
    which = shapes.nearest_of(-sizes)

    def summed(vector: Vec3) -> Vec3:
        x, y, z = (jnp.sum(jnp.broadcast_to(v, whole), axis=0) for v in vector)
        return x, y, z

    x, y, z = (shapes.mean_of(which, p) for p in add(balls.centre, foot))
    hardest = jnp.max(sizes, axis=0)
    named = jnp.max(jnp.where(which, surface.partner, _LEAST), axis=0)
    partner = jnp.where(hardest > 0.0, named, NOTHING).astype(jnp.int32)
    size = jnp.sum(sizes, axis=0)
    struck = jnp.zeros_like(size) if surface.partner is BOTTOM else size
    return Load(summed(force), summed(moment), size, struck, hardest, (x, y, z), partner)


def _nothing(like: jax.Array) -> Load:
    zero = jnp.zeros_like(like)
    none: Vec3 = (zero, zero, zero)
    return Load(none, none, zero, zero, zero, none, jnp.full(like.shape, NOTHING, jnp.int32))


def _sum(one: Load, other: Load) -> Load:
    harder = jnp.asarray(other.hardest > one.hardest)

    def chosen(a: Scalar, b: Scalar) -> jax.Array:
        return jnp.where(harder, b, a)

    x, y, z = (chosen(a, b) for a, b in zip(one.place, other.place, strict=True))
    return Load(
        add(one.force, other.force),
        add(one.moment, other.moment),
        one.size + other.size,
        one.struck + other.struck,
        chosen(one.hardest, other.hardest),
        (x, y, z),
        chosen(one.partner, other.partner),
    )
