"""Contact of a hull with the bottom, with solids and with other vehicles.

A hull is balls of one radius, spread so that their common skin is a box with rounded edges as
long, wide and high as it (`compile.contact`). Each ball that reaches into a surface by δ is pushed
out along the surface's normal n and rubs along it:

    F_n = max(k δ + c δ̇ s(δ), 0)                          spring and damper (Kelvin–Voigt)
    F_t = −μ F_n v_t / √(|v_t|² + (μ F_n / g)²)           Coulomb's friction, rounded

where s rises from 0 to 1 over the first half millimetre, so that the damper neither jumps in nor pulls,
and v_t is the slip of the touching point. Friction below the slip μ F_n / g is viscous: a hull held
by it creeps, as fast as g allows, in place of standing quite still. k, c and g follow from the
vehicle's mass and the run's time step, so that the stiffest way in which the hull can swing on them
is stable (`compile.contact`); a surface with a fender has its spring in series and at most its
damper. δ counts from a skin outside the hull that carries its weight in water with no dent at all.

A ball touches at most one solid, the nearest, one other vehicle, and the bottom.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.smooth import smooth_ramp
from seatrial.core.surroundings import Surroundings
from seatrial.geometry import shapes
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.shapes import Solids
from seatrial.ocean import Ocean
from seatrial.ocean import seabed as bottoms
from seatrial.pytree import pytree
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.vectors import Scalar, Vec3, Wrench, add, cross, dot, scale, subtract

FRICTION = 0.5
"""Coulomb coefficient of a hull on sand, concrete or another hull."""
ONSET = 0.0005
"""Over which the damper comes in, m."""
ROUNDING = 0.0002
"""Half-width of the corner where the spring begins, m."""
CANDIDATES = 8
"""Solids that are looked at in full around each vehicle."""
BOTTOM = -1
"""Number of the bottom among what a hull may touch: 0 is nothing, 1, 2, … are the bodies of the
scene that are no vehicles, and −1 − i is the i-th vehicle of the run, counted from 1."""


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
    others: Solids | None = None
    """The vehicles nearest to each one, (c, K, N), where they were at `seen`; None for one that
    passes through others."""
    seen: jax.Array | None = None
    """When, s."""


class Load(NamedTuple):
    """What touches do to a vehicle."""

    force: Vec3
    """World's axes, N."""
    moment: Vec3
    """About the vehicle's origin, world's axes, N m."""
    size: Scalar
    """Sum of the forces' sizes, N."""
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


def penetration(
    model: Contact, seabed: bottoms.Seabed, place: Vec3, rotation: Rotation
) -> jax.Array:
    """How deep the hull is in the bottom, negative above it, m."""
    deepest: jax.Array = jnp.max(
        -_bottom(model, seabed, _balls(model, place, rotation)).gap, axis=0
    )
    return deepest


def wrench(model: Contact, ocean: Ocean, around: Surroundings, t: jax.Array) -> Wrench:
    """Force and moment of all that the hull touches, body axes."""
    found = load(model, ocean, around, t)
    return Wrench(*around.rotation.to_body(found.force), *around.rotation.to_body(found.moment))


def load(model: Contact, ocean: Ocean, around: Surroundings, t: jax.Array) -> Load:
    """The sum over the balls of what they touch; nothing is computed while nothing is near."""
    whole = jnp.shape(around.position[2])
    nothing = _nothing(jnp.asarray(around.position[2]))
    balls = _balls(model, around.position, around.rotation, around)
    parts: list[Load] = []
    if ocean.seabed is not None:
        seabed = ocean.seabed
        ground = _bottom(model, seabed, balls)
        parts.append(
            jax.lax.cond(
                jnp.any(ground.gap < model.skin + ROUNDING),
                lambda: _pressed(model, balls, ground),
                lambda: nothing,
            )
        )
    if ocean.solids is not None:
        solids = shapes.underway(ocean.solids, t)
        parts.append(
            jax.lax.cond(
                jnp.any(shapes.gaps(solids, around.position) < model.reach + model.skin + ROUNDING),
                lambda: _pressed(
                    model, balls, _solid(model, shapes.riding(solids, t), balls, around.position)
                ),
                lambda: nothing,
            )
        )
    if model.others is not None:
        assert model.seen is not None
        later = (t - model.seen).astype(model.others.position.dtype)
        assert model.others.velocity is not None
        others = replace(
            model.others, position=model.others.position + later * model.others.velocity
        )
        apart = jnp.sqrt(
            sum((p - q) ** 2 for p, q in zip(others.position, around.position, strict=True))
        )
        parts.append(
            jax.lax.cond(
                jnp.any(apart < others.reach[0] + model.reach + model.skin + ROUNDING),
                lambda: _pressed(model, balls, _met(model, others, balls, vehicles=True)),
                lambda: nothing,
            )
        )
    found = parts[0] if parts else nothing
    for part in parts[1:]:
        found = _sum(found, part)
    assert jnp.shape(found.size) == whole
    return found


def _balls(
    model: Contact, place: Vec3, rotation: Rotation, around: Surroundings | None = None
) -> _Balls:
    column = (-1, *(1,) * jnp.ndim(place[2]))
    x, y, z = (p.reshape(column) for p in model.point)
    arm = rotation.to_world((x, y, z))
    still: Vec3 = (0.0, 0.0, 0.0)
    linear = angular = still
    if around is not None:
        linear = around.rotation.to_world(around.velocity.linear)
        angular = around.rotation.to_world(around.velocity.angular)
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


def _solid(model: Contact, solids: Solids, balls: _Balls, centre: Vec3) -> _Surface:
    return _met(model, shapes.near(solids, centre, CANDIDATES), balls, vehicles=False)


def _met(model: Contact, solids: Solids, balls: _Balls, *, vehicles: bool) -> _Surface:
    """The solid that is nearest to each ball."""
    away, normal, row = shapes.distance(solids, balls.place)
    shared = solids.position.ndim == 2

    def of(values: jax.Array) -> jax.Array:
        """Of the solid that each ball meets, from (M,) or (M, N)."""
        return values[row] if shared else jnp.take_along_axis(values, row, axis=0)

    velocity = None
    if solids.velocity is not None:
        vx, vy, vz = (of(v) for v in solids.velocity)
        velocity = (vx, vy, vz)
    number = of(solids.body[0])
    return _Surface(
        gap=away - model.radius,
        normal=normal,
        velocity=velocity,
        stiffness=of(solids.stiffness[0]),
        damping=of(solids.damping[0]),
        partner=-1 - number if vehicles else 1 + number,
    )


def _pressed(model: Contact, balls: _Balls, surface: _Surface) -> Load:
    """The forces of one surface on the balls, added up."""
    normal = surface.normal
    foot = subtract(balls.arm, scale(model.radius, normal))
    moving = add(balls.linear, cross(balls.angular, foot))
    if surface.velocity is not None:
        moving = subtract(moving, surface.velocity)
    k, c = model.stiffness, model.damping
    if surface.stiffness is not None and surface.damping is not None:
        # An infinite fender leaves k as it is.
        k, c = k / (1.0 + k / surface.stiffness), jnp.minimum(c, surface.damping)
    dent = model.skin - surface.gap
    closing = -dot(moving, normal)
    onset = jnp.clip(dent / ONSET, 0.0, 1.0)
    push = jnp.maximum(k * smooth_ramp(dent, ROUNDING) + c * closing * onset, 0.0)
    slip = add(moving, scale(closing, normal))
    most = FRICTION * push
    rounded = most / model.grip
    drag = -most / jnp.sqrt(dot(slip, slip) + rounded * rounded + 1e-12)
    force = add(scale(push, normal), scale(drag, slip))
    moment = cross(foot, force)
    sizes = jnp.sqrt(push * push + drag * drag * dot(slip, slip))
    which = jnp.argmax(sizes, axis=0)[None]
    whole = jnp.shape(sizes)

    def there(values: Scalar) -> jax.Array:
        spread = jnp.broadcast_to(jnp.asarray(values), whole)
        chosen: jax.Array = jnp.take_along_axis(spread, which, axis=0)[0]
        return chosen

    def summed(vector: Vec3) -> Vec3:
        x, y, z = (jnp.sum(jnp.broadcast_to(v, whole), axis=0) for v in vector)
        return x, y, z

    x, y, z = (there(p) for p in add(balls.centre, foot))
    hardest = there(sizes)
    partner = jnp.where(hardest > 0.0, there(surface.partner), 0).astype(jnp.int32)
    return Load(summed(force), summed(moment), jnp.sum(sizes, axis=0), hardest, (x, y, z), partner)


def _nothing(like: jax.Array) -> Load:
    zero = jnp.zeros_like(like)
    none: Vec3 = (zero, zero, zero)
    return Load(none, none, zero, zero, none, jnp.zeros(like.shape, jnp.int32))


def _sum(one: Load, other: Load) -> Load:
    harder = jnp.asarray(other.hardest > one.hardest)

    def chosen(a: Scalar, b: Scalar) -> jax.Array:
        return jnp.where(harder, b, a)

    x, y, z = (chosen(a, b) for a, b in zip(one.place, other.place, strict=True))
    return Load(
        add(one.force, other.force),
        add(one.moment, other.moment),
        one.size + other.size,
        chosen(one.hardest, other.hardest),
        (x, y, z),
        chosen(one.partner, other.partner),
    )
