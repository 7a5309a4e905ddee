"""Who may touch whom, and what was touched: vehicles as solids for each other, and their blows.

Vehicles of the same group step together, and contact between them is solved together. Those of
other groups are solids as they were at the beginning of the control period, moved on with the
velocity that they had then. Both push with the same spring and damper, chosen so that pushing on
what is known that late is stable: a swing of 0.7 rad in that time of the lighter of the two, half
damped. So vehicles of different kinds dent each other, those of one kind hardly.

Each of the two finds its own force, from its balls in the other's box, and these dents differ a
little: what acts on the one is not quite what acts on the other. A stiff spring would make much of
that (with a control period of 5 ms an Otter felt 121 N s where it gave a WAM-V 1580), so it is no
stiffer than for `LATE`, however short the control period is.
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
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

SWING = 0.7
"""rad in the time that the other is known late."""
LATE = 0.1
"""Least time, s, for which the spring between vehicles of different groups is chosen."""
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


def feel(touch: Touch, found: contact.Load, time_step: float) -> Touch:
    """Add what was touched in a time step."""
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
        swing = SWING / max(period, LATE)
        # The lighter of the two decides, for both; a shape brings its mass as its stiffness.
        pressing = jnp.minimum(near.stiffness, hull.mass) * swing**2
        near = replace(near, stiffness=pressing, damping=pressing / swing)
        own = BOTTOM - 1 - first - jnp.arange(count)
        known = replace(hull, others=near, kin=kin, seen=t, number=own)
        found.append(replace(model, contact=known))
    return found


def _afloat(model: Model) -> bool:
    return isinstance(model.restoring, SurfaceRestoring)


def _shapes(hull: Contact, state: State, upright: bool) -> Solids:
    """The hulls of a group as they are and move now."""
    turned = rotation(state.attitude)
    found = contact.outlines(hull, state.position, turned, upright)
    return replace(
        found,
        stiffness=jnp.broadcast_to(hull.mass, found.stiffness.shape).astype(found.radius.dtype),
        velocity=jnp.stack(turned.to_world(vec3(state.velocity))),
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
