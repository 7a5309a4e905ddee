"""When faults set in and when they go."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core.types import State
from seatrial.faults.types import Condition, Faults, FaultState, Windows
from seatrial.ocean import seabed
from seatrial.ocean.seabed import Seabed
from seatrial.spatial.rotations import to_euler

TIME_TOLERANCE = 1e-9
"""A fault at 10 s is there at 10 s although the clock may read 9.999999999999998, s."""


def begin(faults: Faults, channels: int, count: int, dtype: Any) -> FaultState:
    """Before the first instant nothing is broken."""
    rows = (len(faults.triggers), count)
    away = np.full(rows, math.inf)
    return FaultState(
        since=jnp.asarray(away),
        forced=jnp.asarray(np.zeros(rows, np.int32)),
        tripped=jnp.asarray(away),
        orders=jnp.asarray(np.full((channels, count), math.nan), dtype),
    )


def update(
    faults: Faults,
    fault_state: FaultState,
    state: State,
    t: jax.Array,
    bottom: Seabed | None = None,
) -> FaultState:
    """Which faults are there at `t`; `bottom` is for those that watch the altitude over it."""
    since, tripped = [], []
    for row, trigger in enumerate(faults.triggers):
        first = fault_state.tripped[row]
        onset = jnp.full_like(first, math.inf)
        if isinstance(trigger, Windows):
            now = t + TIME_TOLERANCE
            inside = (trigger.start <= now) & (now < trigger.end)
            onset = jnp.min(jnp.where(inside, trigger.start, math.inf), axis=0)
        elif isinstance(trigger, Condition):
            holds = _holds(trigger, fault_state, state, t, bottom)
            first = jnp.minimum(first, jnp.where(holds, t, math.inf))
            if trigger.duration is None:
                onset = jnp.where(holds, t, math.inf)
            else:
                lasting = t + TIME_TOLERANCE < first + trigger.duration
                onset = jnp.where(lasting, first, math.inf)
        onset = jnp.where(fault_state.forced[row] > 0, jnp.minimum(onset, t), onset)
        there = jnp.isfinite(onset)
        since.append(jnp.where(there, jnp.minimum(onset, fault_state.since[row]), math.inf))
        tripped.append(first)
    if not since:
        return fault_state
    return fault_state._replace(since=jnp.stack(since), tripped=jnp.stack(tripped))


def _holds(
    condition: Condition,
    fault_state: FaultState,
    state: State,
    t: jax.Array,
    bottom: Seabed | None,
) -> jax.Array:
    if condition.quantity == "altitude":
        assert bottom is not None
        x, y, z = state.position
        value = seabed.sample(bottom, x, y) - z
    else:
        value = _quantity(condition, fault_state, state, t)
    beyond = value > condition.threshold if condition.above else value < condition.threshold
    return jnp.broadcast_to(beyond, state.position.shape[1:])


def _quantity(
    condition: Condition, fault_state: FaultState, state: State, t: jax.Array
) -> jax.Array:
    name = condition.quantity
    if name == "time":
        return t + TIME_TOLERANCE
    if name == "depth":
        return state.position[2]
    if name == "speed":
        return jnp.sqrt(jnp.sum(state.velocity[:3] ** 2, axis=0))
    if name == "command":
        return fault_state.orders[condition.channel]
    angle = to_euler(state.attitude)[("roll", "pitch", "heading").index(name)]
    return jnp.mod(angle, 2.0 * math.pi) if name == "heading" else angle
