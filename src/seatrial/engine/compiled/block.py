"""The two compiled programs of a run: its beginning, and a block of control periods."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.engine.command.commanders import Given
from seatrial.engine.command.pilot import Outlook
from seatrial.engine.compiled import loop
from seatrial.engine.compiled import suite as sensing
from seatrial.engine.compiled.group import Carries, Carry, Group, Groups, Oceans, Samples, Schedule
from seatrial.engine.compiled.observation import Observation
from seatrial.gnc.allocation import Effectors, allocate
from seatrial.ocean import Ocean


class Outcome(NamedTuple):
    """What a block of control periods gave; the first axis of its arrays has room to spare."""

    seen: Observation
    """One row per frame that began in the block, then rows that mean nothing."""
    taken: Samples
    """One row per control period, each with the samples that were taken in it."""


@partial(jax.jit, static_argnames="schedule")
def begin(
    groups: Groups, oceans: Oceans, schedule: Schedule
) -> tuple[Carries, tuple[Samples, ...]]:
    """Before the first control period: all that can be sensed at t = 0 has been sensed."""
    traffic = loop.gather(groups, [group.initial for group in groups], jnp.zeros(()))
    found = [
        loop.begin(group, ocean, schedule, around)
        for group, ocean, around in zip(groups, oceans, traffic, strict=True)
    ]
    return tuple(carry for carry, _ in found), tuple(samples for _, samples in found)


@partial(jax.jit, static_argnames=("schedule", "capacity"))
def advance(
    groups: Groups,
    oceans: Oceans,
    carries: Carries,
    given: tuple[Given, ...],
    index: jax.Array,
    periods: jax.Array,
    schedule: Schedule,
    capacity: int,
) -> tuple[Carries, tuple[Outcome, ...]]:
    """Run for some control periods, `capacity` of them at most, from time step `index` on.

    Their number is an argument of the compiled program, so that one program runs a hundred frames
    or a single control period, and rounds alike in both.
    """
    room = tuple(
        _room(group, ocean, carry, schedule, capacity)
        for group, ocean, carry in zip(groups, oceans, carries, strict=True)
    )

    def body(
        c: jax.Array, at: tuple[Carries, tuple[Outcome, ...]]
    ) -> tuple[Carries, tuple[Outcome, ...]]:
        before, outcomes = at
        start = index + c * schedule.substeps
        turns = loop.control_period(groups, oceans, before, given, start, schedule)
        # Frames that begin within the block are numbered from its first; what is computed between
        # two frames goes into a row that nobody reads.
        frame = -(-start // schedule.frame_steps)
        first = -(-index // schedule.frame_steps)
        begins = start % schedule.frame_steps == 0
        row = jnp.where(begins, frame - first, -1)
        filled = tuple(
            Outcome(
                jax.tree.map(partial(_put, row=row), outcome.seen, turn.seen),
                jax.tree.map(partial(_put, row=c), outcome.taken, turn.taken),
            )
            for outcome, turn in zip(outcomes, turns, strict=True)
        )
        return tuple(turn.after for turn in turns), filled

    advanced: tuple[Carries, tuple[Outcome, ...]] = jax.lax.fori_loop(
        jnp.zeros_like(periods), periods, body, (carries, room)
    )
    return advanced


@partial(jax.jit, static_argnames="schedule")
def consult(
    groups: Groups,
    oceans: Oceans,
    carries: Carries,
    given: tuple[Given, ...],
    index: jax.Array,
    schedule: Schedule,
) -> tuple[Outlook | None, ...]:
    """What the pilots know at time step `index`, before they give their orders."""
    t = index * schedule.time_step
    return tuple(
        loop.consult(group, ocean, carry, orders, t)
        for group, ocean, carry, orders in zip(groups, oceans, carries, given, strict=True)
    )


@partial(jax.jit, static_argnames="period")
def allocation(
    effectors: Effectors,
    wrench: jax.Array,
    through_water: jax.Array,
    orders: jax.Array,
    health: jax.Array,
    period: float,
) -> jax.Array:
    """Orders that make a wrench."""
    return allocate(effectors, wrench, through_water, orders, period, health).orders


def _room(group: Group, ocean: Ocean, carry: Carry, schedule: Schedule, capacity: int) -> Outcome:
    """Empty rows for what a block of control periods gives."""
    zero = jnp.zeros((), jnp.int64)
    orders = jnp.zeros((group.model.channels, group.count), carry.state.velocity.dtype)
    rates = jnp.zeros_like(carry.state.velocity)
    look = partial(loop.observed, schedule=schedule)
    seen = jax.eval_shape(look, group, ocean, carry, orders, rates, zero)
    starts = (zero,) * len(group.suite)
    windows = jax.eval_shape(
        lambda: sensing.open_window(group.suite, carry.sensing, starts, schedule.substeps)
    )
    frames = -(-capacity // schedule.controls) + 1

    def empty(rows: int, like: Any) -> jax.Array:
        return jnp.zeros((rows, *like.shape), like.dtype)

    return Outcome(
        jax.tree.map(partial(empty, frames), seen),
        tuple(jax.tree.map(partial(empty, capacity), window.taken) for window in windows),
    )


def _put(rows: jax.Array, new: jax.Array, row: jax.Array) -> jax.Array:
    return rows.at[row].set(new)
