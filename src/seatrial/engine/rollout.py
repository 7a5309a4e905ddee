"""A run of fixed length as one function that differentiates, also backwards.

`jax.grad` through `rollout` gives how a track depends on anything that is an array: coefficients,
masses, gains, waypoints, waves. The state is kept only at the ends of stretches whose number and
length are about the square root of the run's, and each stretch is computed again on the way back
(Griewank 1992), so that ten minutes fit into memory.
"""

import math

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command.commanders import Given
from seatrial.engine.command.pilot import Pilot, nothing_wished
from seatrial.engine.compiled import loop
from seatrial.engine.compiled.loop import Carry, Group, Schedule
from seatrial.ocean import Ocean


def rollout(group: Group, ocean: Ocean, schedule: Schedule, periods: int) -> State:
    """States of a group's vehicles after each of `periods` control periods, time first.

    The same loop as a run's, with sensors, filter, guidance, control and allocation, for vehicles
    that look at nobody else. Call it inside `jax.enable_x64(True)`.
    """
    carry, _ = loop.begin(group, ocean, schedule, None)
    given = nothing_ordered(group)
    length = max(1, math.isqrt(periods))
    stretches, left = divmod(periods, length)

    def period(carry: Carry, number: jax.Array) -> tuple[Carry, State]:
        start = number * schedule.substeps
        turns = loop.control_period(
            (group,), (ocean,), (carry,), (given,), start, schedule, differentiable=True
        )
        after = turns[0].after
        return after, after.state

    @jax.checkpoint
    def stretch(carry: Carry, first: jax.Array) -> tuple[Carry, State]:
        return jax.lax.scan(period, carry, first + jnp.arange(length))

    carry, states = jax.lax.scan(stretch, carry, jnp.arange(stretches) * length)
    states = jax.tree.map(_flat, states)
    if left:
        _, last = jax.lax.scan(period, carry, stretches * length + jnp.arange(left))
        states = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), states, last)
    found: State = states
    return found


def _flat(array: jax.Array) -> jax.Array:
    return array.reshape(-1, *array.shape[2:])


def nothing_ordered(group: Group) -> Given:
    """No orders from outside."""
    shape, dtype = (group.model.channels, group.count), group.initial.velocity.dtype
    wishes = nothing_wished(group.count, dtype) if isinstance(group.commander, Pilot) else None
    return Given(jnp.zeros(shape, bool), jnp.zeros(shape, dtype), wishes)
