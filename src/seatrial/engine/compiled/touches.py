"""Who may touch whom, and what was touched: vehicles as solids for each other, and their blows.

Vehicles are solids for each other as they were a moment ago, moved on with the velocity that they
had then: those of the same group, which step together, at the beginning of the time step, others at
the beginning of the control period. Both push with the same spring and damper, chosen so that
pushing on what is known that late is stable: a swing of 0.7 rad in that time of the lighter of the
two, half damped. So vehicles of different kinds dent each other more than those of one kind.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core import contact
from seatrial.core.contact import BOTTOM, Contact
from seatrial.core.forces.restoring import SurfaceRestoring
from seatrial.core.types import Model, State
from seatrial.geometry.solids import Solids
from seatrial.ocean import Ocean
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import Rotation, rotation
from seatrial.spatial.vectors import Twist, vec3

SWING = 0.7
"""rad in the time that the other is known late."""
TALL = 100.0
"""Half of the height of an upright shape, m."""
NEIGHBOURS = 8
"""Vehicles that are looked at around each vehicle."""


class Touch(NamedTuple):
    """What vehicles touched since the last frame."""

    impulse: jax.Array
    """(N,) of all touches, N s."""
    blow: jax.Array
    """(N,) of those of solids and vehicles since the control period began, N s."""
    hardest: jax.Array
    """(N,) largest force at one ball, N."""
    place: jax.Array
    """(3, N) where that was, NED, m."""
    partner: jax.Array
    """(N,) what it came from, as `core.contact.BOTTOM` says."""


def untouched(count: int) -> Touch:
    """Vehicles that touch nothing."""
    nothing = jnp.zeros(count)
    return Touch(
        nothing,
        nothing,
        nothing,
        jnp.zeros((3, count)),
        jnp.full(count, contact.NOTHING, jnp.int32),
    )


def feel(
    touch: Touch, model: Model, ocean: Ocean, state: State, t: jax.Array, time_step: float
) -> Touch:
    """Add what is touched at the beginning of a time step, as it is for all of it."""
    assert model.contact is not None
    turned, moving = rotation(state.attitude), Twist(*state.velocity)
    found = contact.load(model.contact, ocean, vec3(state.position), turned, moving, t)
    harder = found.hardest > touch.hardest
    return Touch(
        touch.impulse + time_step * found.size,
        touch.blow + time_step * found.struck,
        jnp.where(harder, found.hardest, touch.hardest),
        jnp.where(harder, jnp.stack(found.place), touch.place),
        jnp.where(harder, found.partner, touch.partner),
    )


def with_neighbours(
    models: list[Model], states: list[State], t: jax.Array, period: float, time_step: float
) -> list[Model]:
    """The Models of some groups in which each vehicle knows those that are nearest to it."""
    hulls = [model.contact for model in models if model.contact is not None]
    counts = [state.position.shape[-1] for state in states]
    firsts = np.concatenate([[0], np.cumsum(counts)])
    found = []
    for model, hull, state, first in zip(models, hulls, states, firsts, strict=False):
        count = state.position.shape[-1]
        shapes = [
            _shapes(one, where, _afloat(model) and _afloat(other))
            for other, one, where in zip(models, hulls, states, strict=True)
        ]
        everybody: Solids = jax.tree.map(lambda *parts: jnp.concatenate(parts, axis=1), *shapes)
        everybody = replace(everybody, body=BOTTOM - 1 - jnp.arange(sum(counts))[None])
        near, which = _nearest(everybody, state.position, first + jnp.arange(count))
        kin = jnp.where((which >= first) & (which < first + count), which - first, -1)
        swing = SWING / jnp.where(kin >= 0, time_step, period)
        # The lighter of the two decides, for both; a shape brings its mass as its stiffness.
        pressing = jnp.minimum(near.stiffness, hull.mass) * swing**2
        near = replace(near, stiffness=pressing, damping=pressing / swing)
        known = replace(hull, others=near, kin=kin, seen=jnp.broadcast_to(t, kin.shape))
        found.append(replace(model, contact=known))
    return found


def refreshed(model: Model, state: State, t: jax.Array) -> Model:
    """The Model with the neighbours of its own group where they are now."""
    hull = model.contact
    if hull is None or hull.others is None or hull.kin is None or hull.seen is None:
        return model
    now = _shapes(hull, state, _afloat(model))
    same, which = hull.kin >= 0, jnp.maximum(hull.kin, 0)

    def update(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(same, new[:, which], old)

    assert now.velocity is not None
    assert hull.others.velocity is not None
    others = replace(
        hull.others,
        position=update(now.position, hull.others.position),
        axes=update(now.axes, hull.others.axes),
        velocity=update(now.velocity, hull.others.velocity),
    )
    return replace(model, contact=replace(hull, others=others, seen=jnp.where(same, t, hull.seen)))


def _afloat(model: Model) -> bool:
    return isinstance(model.restoring, SurfaceRestoring)


def _shapes(hull: Contact, state: State, upright: bool) -> Solids:
    """Boxes with rounded edges around the balls of the hulls of a group, (c, N); `upright` ones
    have no top and no keel, so that nobody is lifted over or pressed under them."""
    turned = rotation(state.attitude)
    low, high = jnp.min(hull.point, axis=1), jnp.max(hull.point, axis=1)
    half = 0.5 * (high - low)
    if upright:
        facing = bearing(jnp.asarray(turned.r10), jnp.asarray(turned.r00))
        c, s = jnp.cos(facing), jnp.sin(facing)
        none, one = jnp.zeros_like(c), jnp.ones_like(c)
        turned = Rotation(c, -s, none, s, c, none, none, none, one)
        half = half.at[2].set(TALL)
    middle = turned.to_world(vec3(0.5 * (low + high)))
    like = state.position[:1]

    def alike(value: jax.Array) -> jax.Array:
        column = jnp.reshape(value, (-1, 1))
        return jnp.broadcast_to(column, (column.shape[0], like.shape[1])).astype(like.dtype)

    return Solids(
        position=state.position + jnp.stack(middle),
        axes=jnp.stack([jnp.broadcast_to(jnp.asarray(r), like[0].shape) for r in turned]),
        half=alike(half),
        radius=alike(hull.radius),
        upright=jnp.zeros_like(like),
        reach=alike(hull.reach + jnp.linalg.norm(0.5 * (low + high))),
        stiffness=alike(hull.mass),
        damping=jnp.zeros_like(like),
        body=jnp.zeros(like.shape, jnp.int32),
        velocity=jnp.stack(rotation(state.attitude).to_world(vec3(state.velocity))),
    )


def _nearest(everybody: Solids, position: jax.Array, own: jax.Array) -> tuple[Solids, jax.Array]:
    """Those nearest to each vehicle but itself, (c, K, N), and which they are, (K, N)."""
    total = everybody.position.shape[1]
    away = everybody.position[:, None] - position[:, :, None]
    gap = jnp.sqrt(jnp.sum(away * away, axis=0)) - everybody.reach
    gap = jnp.where(own[:, None] == jnp.arange(total), jnp.inf, gap)
    _, which = jax.lax.top_k(-gap, min(NEIGHBOURS, total - 1))
    rows: Solids = jax.tree.map(lambda values: values[:, which.T], everybody)
    return rows, which.T
