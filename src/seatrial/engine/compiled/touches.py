"""Who may touch whom, and what was touched: vehicles as solids for each other, and their blows.

Vehicles are solids for each other as they were at the beginning of a control period, moved on with
the velocity that they had then. Both push with the same spring and damper, chosen so that pushing
on what is known that late is stable: a swing of 0.7 rad per control period of the lighter of the
two, half damped.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core import contact
from seatrial.core.contact import BOTTOM, Contact
from seatrial.core.types import Model, State
from seatrial.geometry.shapes import Solids
from seatrial.ocean import Ocean
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import Twist, vec3

SWING = 0.7
"""rad per control period."""
NEIGHBOURS = 6
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
    models: list[Model], states: list[State], t: jax.Array, period: float
) -> list[Model]:
    """The Models of some groups in which each vehicle knows those that are nearest to it."""
    hulls = [model.contact for model in models]
    assert all(hull is not None for hull in hulls)
    everybody = _everybody([h for h in hulls if h is not None], states, period)
    found, first = [], 0
    for model, state in zip(models, states, strict=True):
        count = state.position.shape[-1]
        own = first + jnp.arange(count)
        first += count
        assert model.contact is not None
        near = _nearest(everybody, state.position, own)
        # The softer and the lighter of the two decides, for both.
        mine = everybody.stiffness[:, own][:, None], everybody.damping[:, own][:, None]
        near = replace(
            near,
            stiffness=jnp.minimum(near.stiffness, mine[0]),
            damping=jnp.minimum(near.damping, mine[1]),
        )
        known = replace(model.contact, others=near, seen=t)
        found.append(replace(model, contact=known))
    return found


def _everybody(hulls: list[Contact], states: list[State], period: float) -> Solids:
    """Boxes with rounded edges around the balls of every hull, (c, T)."""
    rows: list[list[jax.Array]] = []
    first = 0
    for hull, state in zip(hulls, states, strict=True):
        count = state.position.shape[-1]
        turned = rotation(state.attitude)
        low, high = jnp.min(hull.point, axis=1), jnp.max(hull.point, axis=1)
        middle = jnp.stack(turned.to_world(vec3(0.5 * (low + high))))
        swing = SWING / period
        pressing = hull.mass * swing**2

        def all_of(value: jax.Array, n: int = count) -> jax.Array:
            return jnp.broadcast_to(jnp.reshape(value, (-1, 1)), (jnp.size(value), n))

        rows.append(
            [
                state.position + middle,
                jnp.stack([jnp.broadcast_to(jnp.asarray(r), (count,)) for r in turned]),
                all_of(0.5 * (high - low)),
                all_of(hull.radius),
                all_of(hull.reach + jnp.linalg.norm(0.5 * (low + high))),
                all_of(pressing),
                all_of(pressing / swing),
                (BOTTOM - 1 - first - jnp.arange(count))[None],
                jnp.stack(turned.to_world(vec3(state.velocity))),
            ]
        )
        first += count
    wide = jnp.result_type(*(state.position for state in states))
    position, axes, half, radius, reach, stiffness, damping, number, velocity = (
        jnp.concatenate(parts, axis=1) for parts in zip(*rows, strict=True)
    )
    return Solids(
        position=position.astype(wide),
        axes=axes.astype(wide),
        half=half.astype(wide),
        radius=radius.astype(wide),
        upright=jnp.zeros_like(radius, wide),
        reach=reach.astype(wide),
        stiffness=stiffness.astype(wide),
        damping=damping.astype(wide),
        body=number.astype(jnp.int32),
        velocity=velocity.astype(wide),
    )


def _nearest(everybody: Solids, position: jax.Array, own: jax.Array) -> Solids:
    """Those nearest to each vehicle but itself, (c, K, N)."""
    total = everybody.position.shape[1]
    away = everybody.position[:, None] - position[:, :, None]
    gap = jnp.sqrt(jnp.sum(away * away, axis=0)) - everybody.reach
    gap = jnp.where(own[:, None] == jnp.arange(total), jnp.inf, gap)
    _, which = jax.lax.top_k(-gap, min(NEIGHBOURS, total - 1))
    rows: Solids = jax.tree.map(lambda values: values[:, which.T], everybody)
    return rows
