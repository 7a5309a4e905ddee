"""Who may touch whom, and what was touched.

Vehicles that touch each other step together, of whatever kinds they are, and contact between them
is solved together at every time step. Who is near whom is looked up once per control period.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core import contact
from seatrial.core.types import Model, State

NEIGHBOURS = 8
"""Vehicles that are looked at around each vehicle."""


class Touch(NamedTuple):
    """What vehicles touched since the last frame, of one kind."""

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
    touches: tuple[Touch, ...], loads: tuple[contact.Load | None, ...], time_step: float
) -> tuple[Touch, ...]:
    """Add what was touched in a time step, kind by kind."""
    found = [load for load in loads if load is not None]
    return tuple(_felt(*one, time_step) for one in zip(touches, found, strict=True))


def _felt(touch: Touch, found: contact.Load, time_step: float) -> Touch:
    harder = found.hardest > touch.hardest
    return Touch(
        touch.impulse + time_step * found.size,
        touch.blow + time_step * found.struck,
        jnp.where(harder, found.hardest, touch.hardest),
        jnp.where(harder, jnp.stack(found.place), touch.place),
        jnp.where(harder, found.partner, touch.partner),
    )


def with_neighbours(models: list[Model], states: list[State]) -> list[Model]:
    """The Models of some groups in which each vehicle knows those that are nearest to it."""
    hulls = [model.contact for model in models if model.contact is not None]
    counts = [state.position.shape[-1] for state in states]
    firsts = np.concatenate([[0], np.cumsum(counts)])
    place = jnp.concatenate([state.position for state in states], axis=1)
    reach = jnp.concatenate([jnp.full(n, h.reach) for n, h in zip(counts, hulls, strict=True)])
    found = []
    for model, hull, state, first in zip(models, hulls, states, firsts, strict=False):
        own = first + jnp.arange(state.position.shape[-1])
        near = _nearest(place, reach, state.position, own)
        found.append(replace(model, contact=replace(hull, near=near)))
    return found


def _nearest(place: jax.Array, reach: jax.Array, position: jax.Array, own: jax.Array) -> jax.Array:
    """(K, N) which of all vehicles are nearest to each of some but itself."""
    total = place.shape[1]
    away = place[:, None] - position[:, :, None]
    gap = jnp.sqrt(jnp.sum(away * away, axis=0)) - reach
    gap = jnp.where(own[:, None] == jnp.arange(total), jnp.inf, gap)
    return jax.lax.top_k(-gap, min(NEIGHBOURS, total - 1))[1].T
