"""Where balls touch, how they slip there, and the force of a guess of who presses and how hard.

With J the matrix from the velocity of a hull, or from that against another vehicle (`pairs`), to
that of a touching point, and u = J ν − v_s its velocity against the surface,

    F = n b − W u,      W = D n nᵀ + w (1 − n nᵀ)

where D = c s + σ h k, b = k (δ + σ h n · u_f) and w = μ F_n / |u_t|.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.contact import symmetric
from seatrial.core.contact.hull import BOTTOM
from seatrial.core.contact.pairs import Pairs, against
from seatrial.core.contact.sides import Side, Whose
from seatrial.core.contact.surfaces import Surface, points
from seatrial.spatial.vectors import Scalar, Twist, Vec3, add, cross, dot, scale, subtract

FRICTION = 0.5
"""Coulomb coefficient of a hull on sand, concrete or another hull."""
CREEP = 5e-5
"""ε, m/s."""
ONSET = 0.0005
"""Over which the damper comes in, m."""
FRICTIONLESS = 1e12
"""A speed at which there is no friction to speak of, m/s."""
TINY = 1e-30
"""Keeps a quotient of nothing by nothing from spreading."""
YIELD = 4.0
"""c over h k, time steps in which a dent goes back: what strikes hardly bounces."""


class Mates(NamedTuple):
    """The vehicles at the other side of touches."""

    pairs: Pairs
    chosen: jax.Array
    """(K, P, N) which of its pairs a ball touches in."""
    down: Vec3
    """(P, N) the unit vector down between craft afloat, zero between others."""


class Touch(NamedTuple):
    """The balls of hulls of one kind against one surface, (P, ...) each, in the hulls' own axes."""

    whose: Whose
    """Which of all vehicles the hulls are."""
    partner: Scalar
    """As `BOTTOM` says."""
    normal: Vec3
    foot: Vec3
    """Where a ball touches, from the hull's origin."""
    dent: Scalar
    """δ."""
    free: Vec3
    """u_f."""
    bias: Scalar
    """b, N."""
    drag: Scalar
    """D, N s/m."""
    mates: Mates | None
    """None against what is no vehicle."""


class Law(NamedTuple):
    """F of one guess."""

    bias: Scalar
    drag: Scalar
    weight: Scalar


class Rub(NamedTuple):
    """What the next guess takes from those before it, (P, ...)."""

    push: Scalar
    """F_n, N."""
    speed: Scalar
    """|u_t|, m/s."""
    free: Vec3
    """u_t without friction."""


def touch_of(
    side: Side,
    whose: Whose,
    surface: Surface,
    dt: float,
    pairs: Pairs | None = None,
    velocity: jax.Array | None = None,
) -> Touch:
    """Of the balls of hulls with a surface: where `pairs` are given that of other vehicles, and
    `velocity` (6, T) is that of all."""
    turned = side.moved.turned
    nx, ny, nz = turned.to_body(surface.normal)
    normal: Vec3 = (nx, ny, nz)
    foot = subtract(points(side.hull, len(side.shape)), scale(side.hull.radius, normal))
    dent = -jnp.asarray(surface.gap)
    k: Scalar = side.hull.stiffness
    c: Scalar = YIELD * dt * k
    mates = None
    if pairs is not None and velocity is not None:
        assert surface.stiffness is not None
        chosen = pairs.which[:, None] == BOTTOM - 1 - jnp.asarray(surface.partner)
        down = scale(_picked(chosen, pairs.level), turned.down)
        mates = Mates(pairs, chosen, down)
        foot = _level(foot, down)
        dent = jnp.where(jnp.any(chosen & pairs.sane[:, None], axis=0), dent, -1.0)
        # The softer of both gives way.
        k = jnp.minimum(k, surface.stiffness)
        c = YIELD * dt * k
        free = _at(_against(mates, velocity), foot)
    else:
        if surface.stiffness is not None and surface.damping is not None:
            # An infinite fender leaves k as it is.
            k, c = k / (1.0 + k / surface.stiffness), jnp.minimum(c, surface.damping)
        free = _at(side.moved.velocity, foot)
        if surface.velocity is not None:
            free = subtract(free, turned.to_body(surface.velocity))
    ahead = side.share * dt
    onset = jnp.clip(dent / ONSET, 0.0, 1.0)
    return Touch(
        whose=whose,
        partner=surface.partner,
        normal=normal,
        foot=foot,
        dent=dent,
        free=free,
        bias=k * (dent + ahead * dot(normal, free)),
        drag=k * ahead + c * onset,
        mates=mates,
    )


def slip(touch: Touch, change: jax.Array) -> Vec3:
    """u after a change (6, ...) of the velocities of all vehicles."""
    mates, own = touch.mates, change[:, touch.whose]
    moving = Twist(*own) if mates is None else _against(mates, change)
    return add(touch.free, _at(moving, touch.foot))


def first_rub(touch: Touch) -> Rub:
    """All that reach in press, and nothing rubs."""
    zero = jnp.zeros_like(touch.dent)
    push = jnp.where(touch.dent > 0.0, 1.0, zero)
    return Rub(push, jnp.full_like(zero, FRICTIONLESS), (zero, zero, zero))


def law(touch: Touch, rub: Rub) -> Law:
    """Of a guess."""
    weight = FRICTION * rub.push / jnp.sqrt(rub.speed**2 + CREEP**2)
    pressing = jnp.asarray(rub.push) > 0.0
    return Law(jnp.where(pressing, touch.bias, 0.0), jnp.where(pressing, touch.drag, 0.0), weight)


def along(touch: Touch, slipping: Vec3) -> Vec3:
    """u_t."""
    found = subtract(slipping, scale(dot(slipping, touch.normal), touch.normal))
    return found if touch.mates is None else _level(found, touch.mates.down)


def speed_of(way: Vec3) -> jax.Array:
    """Its size, with a slope at nothing, too."""
    return jnp.sqrt(dot(way, way) + (0.01 * CREEP) ** 2)


def next_rub(touch: Touch, by: Law, last: Rub, slipping: Vec3, begun: Vec3, first: Scalar) -> Rub:
    """After a guess with weights w that found a slip u: that of before the step after the `first`
    one, which knew no friction, and then such as a hull's friction leaves that is as large as its
    push allows.

    A guess takes the slip from u_t0, without friction, to u_t, all balls of the hull together: a
    share λ = Σ μ F_n / Σ w |u_t| of its forces takes it to u_t0 + λ (u_t − u_t0), as far as that
    goes the way of u_t0. A hull that those forces could hold stays where it is.
    """
    push = jnp.maximum(touch.bias - touch.drag * dot(slipping, touch.normal), 0.0)
    push = jnp.where(touch.dent > 0.0, push, 0.0)
    left = along(touch, slipping)
    x, y, z = (jnp.where(first, a, b) for a, b in zip(left, last.free, strict=True))
    free: Vec3 = (x, y, z)
    limit = FRICTION * jnp.sum(push, axis=0)
    share = limit / (jnp.sum(by.weight * speed_of(left), axis=0) + TINY)
    taken = dot(subtract(free, left), free) / speed_of(free)
    later = jnp.maximum(speed_of(free) - share * taken, 0.0)
    return Rub(push, jnp.where(first, speed_of(along(touch, begun)), later), free)


def force(touch: Touch, by: Law, slipping: Vec3) -> Vec3:
    """F, on the hull whose ball it is."""
    across = by.bias - (by.drag - by.weight) * dot(touch.normal, slipping)
    if touch.mates is not None:
        slipping = _level(slipping, touch.mates.down)
    return subtract(scale(across, touch.normal), scale(by.weight, slipping))


def wrench(touch: Touch, pushing: Vec3) -> list[jax.Array]:
    """Six rows of Σ Jᵀ F over the balls of each hull, or of each pair (K, N)."""
    return _summed(touch, [*pushing, *cross(touch.foot, pushing)])


def stiffness(touch: Touch, by: Law) -> list[jax.Array]:
    """Lower half of Σ Jᵀ W J over the balls of each hull, or of each pair (K, N)."""
    (x, y, z), w = touch.foot, jnp.broadcast_to(by.weight, jnp.shape(touch.dent))
    row = (*touch.normal, *cross(touch.foot, touch.normal))
    # w [1, −S(r)]ᵀ [1, −S(r)]
    turning: dict[tuple[int, int], Scalar] = {
        (0, 0): w, (1, 1): w, (2, 2): w,
        (3, 1): -w * z, (3, 2): w * y, (4, 0): w * z,
        (4, 2): -w * x, (5, 0): -w * y, (5, 1): w * x,
        (3, 3): w * (y * y + z * z), (4, 4): w * (x * x + z * z), (5, 5): w * (x * x + y * y),
        (4, 3): -w * x * y, (5, 3): -w * x * z, (5, 4): -w * y * z,
    }  # fmt: skip
    lower = symmetric.LOWER
    terms = [(by.drag - w) * row[i] * row[j] + turning.get((i, j), 0.0) for i, j in lower]
    if touch.mates is not None:
        rise = (*touch.mates.down, *cross(touch.foot, touch.mates.down))
        terms = [e - w * rise[i] * rise[j] for e, (i, j) in zip(terms, lower, strict=True)]
    return _summed(touch, terms)


def _summed(touch: Touch, rows: Sequence[Scalar]) -> list[jax.Array]:
    whole = jnp.shape(touch.dent)
    if touch.mates is None:
        return [jnp.sum(jnp.broadcast_to(row, whole), axis=0) for row in rows]
    return [jnp.sum(jnp.where(touch.mates.chosen, row, 0.0), axis=1) for row in rows]


def _picked(chosen: jax.Array, values: jax.Array) -> jax.Array:
    """(P, N) those of (K, N) values that balls have chosen."""
    return jnp.sum(jnp.where(chosen, values[:, None], 0.0), axis=0)


def _against(mates: Mates, velocity: jax.Array) -> Twist:
    """(P, N) velocity of hulls against the vehicles that balls touch."""
    rows = against(mates.pairs, velocity)
    return Twist(*(_picked(mates.chosen, row) for row in rows))


def _at(velocity: Twist, foot: Vec3) -> Vec3:
    """J ν."""
    return add(velocity.linear, cross(velocity.angular, foot))


def _level(way: Vec3, down: Vec3) -> Vec3:
    """What of a way is level."""
    return subtract(way, scale(dot(way, down), down))
