"""Samples on their way from a sensor to those who use them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.engine.compiled.suite import Sample


class SampleQueue(NamedTuple):
    """What was posted and has not been picked up; a row per sample, the newest first."""

    rows: jax.Array
    """(L, D + 3, N) samples; one that was picked up is no longer valid."""
    stamp: jax.Array
    """(L, N) when each was taken, s."""


class Arrival(NamedTuple):
    """What arrived; the oldest where several did."""

    values: jax.Array
    """(D, N)."""
    arrived: jax.Array
    """(N,) whether there is one."""
    stamp: jax.Array
    """(N,) when it was taken, s."""


def begin(length: int, size: int, count: int, dtype: jnp.dtype) -> SampleQueue:
    """An empty queue for samples of `size` numbers."""
    return SampleQueue(
        jnp.zeros((length, size + 3, count), dtype), jnp.full((length, count), -jnp.inf)
    )


def post(box: SampleQueue, sample: Sample, due: jax.Array, t: jax.Array) -> SampleQueue:
    """Put in a sample that was taken now, where one is due."""
    rows = jnp.concatenate([sample.rows[None], box.rows[:-1]])
    stamp = jnp.concatenate([jnp.broadcast_to(t, box.stamp[:1].shape), box.stamp[:-1]])
    return SampleQueue(jnp.where(due, rows, box.rows), jnp.where(due, stamp, box.stamp))


def collect(box: SampleQueue, t: jax.Array) -> tuple[SampleQueue, Arrival]:
    """Take out the oldest sample that has arrived."""
    delay = box.rows[:, -2]
    here = (box.rows[:, -3] > 0.5) & (box.stamp + delay <= t + 1e-9)
    older = jnp.cumsum(here[::-1], axis=0)[::-1]  # how many have arrived from here to the oldest
    chosen = here & (older == 1)
    values = jnp.sum(jnp.where(chosen[:, None], box.rows[:, :-3], 0.0), axis=0)
    stamp = jnp.sum(jnp.where(chosen, box.stamp, 0.0), axis=0)
    valid = jnp.where(chosen, 0.0, box.rows[:, -3])
    rows = box.rows.at[:, -3].set(valid)
    return SampleQueue(rows, box.stamp), Arrival(values, jnp.any(chosen, axis=0), stamp)


def catch_up(box: SampleQueue, t: jax.Array) -> tuple[SampleQueue, Arrival]:
    """Take out all samples that have arrived, and give the newest: who listens no more often than
    the sensor speaks would stay behind for ever if one at a time came out."""
    arrival = newest(box, t)
    valid = jnp.where(box.stamp > arrival.stamp, box.rows[:, -3], 0.0)
    taken = box.rows.at[:, -3].set(jnp.where(arrival.arrived, valid, box.rows[:, -3]))
    return SampleQueue(taken, box.stamp), arrival


def newest(box: SampleQueue, t: jax.Array) -> Arrival:
    """The newest sample that has arrived; it stays where it is."""
    here = (box.rows[:, -3] > 0.5) & (box.stamp + box.rows[:, -2] <= t + 1e-9)
    chosen = here & (jnp.cumsum(here, axis=0) == 1)
    values = jnp.sum(jnp.where(chosen[:, None], box.rows[:, :-3], 0.0), axis=0)
    stamp = jnp.sum(jnp.where(chosen, box.stamp, 0.0), axis=0)
    return Arrival(values, jnp.any(chosen, axis=0), stamp)
