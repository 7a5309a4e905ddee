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
from seatrial.engine.compiled.group import Carry, Group, Schedule
from seatrial.ocean import Ocean


def rollout(group: Group, ocean: Ocean, schedule: Schedule, periods: int) -> State:
    """States of a group's vehicles after each of `periods` control periods, time first.

    The same loop as a run's, with sensors, filter, guidance, control and allocation, for vehicles
    that look at nobody else. Call it inside `jax.enable_x64(True)`.
    """
    carry, _ = loop.begin(group, ocean, schedule, None)
    given = nothing_ordered(group)
    length = max(1, math.isqrt(periods))
    stretches = -(-periods // length)

    def move(carry: Carry, number: jax.Array) -> Carry:
        start = number * schedule.substeps
        turns = loop.control_period(
            (group,), (ocean,), (carry,), (given,), start, schedule, differentiable=True
        )
        return turns[0].after

    def period(carry: Carry, number: jax.Array) -> tuple[Carry, State]:
        # The last stretch may be longer than what is left of the run; it waits there.
        after = jax.lax.cond(number < periods, move, lambda carry, _: carry, carry, number)
        return after, after.state

    @jax.checkpoint
    def stretch(carry: Carry, first: jax.Array) -> tuple[Carry, State]:
        return jax.lax.scan(period, carry, first + jnp.arange(length))

    _, states = jax.lax.scan(stretch, carry, jnp.arange(stretches) * length)
    found: State = jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:])[:periods], states)
    return found


def nothing_ordered(group: Group) -> Given:
    """No orders from outside."""
    shape, dtype = (group.model.channels, group.count), group.initial.velocity.dtype
    wishes = nothing_wished(group.count, dtype) if isinstance(group.commander, Pilot) else None
    return Given(jnp.zeros(shape, bool), jnp.zeros(shape, dtype), wishes)
