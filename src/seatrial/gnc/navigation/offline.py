"""A navigation filter run over recorded samples.

The inertial samples are the ticks. A sample of another sensor is taken in at a tick, with its age
there: in a rerun of what the vehicle did that is the first tick at which it had arrived; in
post-processing the tick nearest to the time at which it was taken.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial import programs
from seatrial.gnc.navigation import dispatch
from seatrial.gnc.navigation.dispatch import AnyFilter, AnyState
from seatrial.gnc.types import Estimate
from seatrial.signals import Measurements

Array = NDArray[Any]


class Feed(NamedTuple):
    """Samples of one aid, a row for every tick."""

    values: Any
    """(S, D, N)."""
    usable: Any
    """(S, N) False where a tick has none."""
    age: Any
    """(S, N) s."""


class Solution(NamedTuple):
    """What a filter made of the samples."""

    estimate: Estimate
    """(B, ..., N) at the end of every block of ticks."""
    state: Any
    """The filter's own state there."""
    nis: tuple[Any, ...]
    """(S, G, N) of every aid, NaN where a tick had no sample."""


def feed(imu: Measurements, aid: Measurements, live: bool) -> Feed:
    """Samples of an aid put to the ticks of an IMU; of several at one tick the last is taken.

    `live` takes them when they had arrived, otherwise they are taken at their own time.
    """
    values = _batched(aid.values, aid.values.ndim == 2)  # (S, N, D)
    valid = _batched(aid.valid, aid.valid.ndim == 1)
    arrival = _batched(aid.arrival, aid.arrival.ndim == 1)
    ticks, vehicles = len(imu.time), values.shape[1]
    result = Feed(
        np.zeros((ticks, values.shape[2], vehicles)),
        np.zeros((ticks, vehicles), bool),
        np.zeros((ticks, vehicles)),
    )
    half = 0.5 * (imu.time[1] - imu.time[0])
    when = _batched(imu.arrival, imu.arrival.ndim == 1)
    for n in range(vehicles):
        if live:
            # A tick that arrives with the sample is there already.
            rows = np.searchsorted(when[:, n] + 1e-9, arrival[:, n])
        else:
            rows = np.searchsorted(imu.time + half, aid.time)
        good = valid[:, n] & (rows < ticks)
        rows, source = rows[good], np.flatnonzero(good)
        result.values[rows, :, n] = values[source, n]
        result.usable[rows, n] = True
        result.age[rows, n] = imu.time[rows] - aid.time[source]
    return result


def _batched(array: Array, alone: bool) -> Array:
    return array[:, None] if alone else array


def inertial(imu: Measurements) -> tuple[Array, Array]:
    """Samples (S, 6, N) of an IMU and where they are valid (S, N)."""
    values = _batched(imu.values, imu.values.ndim == 2)
    return np.moveaxis(values, -1, 1), _batched(imu.valid, imu.valid.ndim == 1)


def run(
    filter: AnyFilter,
    start: Estimate,
    samples: Any,
    valid: Any,
    dt: float,
    feeds: tuple[Feed, ...],
    orders: Any = None,
    period: int = 1,
    every: int = 1,
) -> Solution:
    """Filter all samples (S, 6, N), and report after every `every` ticks; a rest is left out.

    What the vehicle knows without a sensor is taken in every `period` ticks; `orders`
    (S // period, A, N) are those to its actuators, for its own dynamics.
    """
    state = programs.call(_begin, filter, start, samples.shape[-1])
    blocks = samples.shape[0] // every
    cut = [part[: blocks * every] for part in (samples, valid)]
    fed = jax.tree.map(lambda a: a[: blocks * every], feeds)
    found = programs.call(_run, filter, state, *cut, fed, orders, dt, period, every)
    return Solution(*found)


@partial(jax.jit, static_argnames="vehicles")
def _begin(filter: AnyFilter, start: Estimate, vehicles: int) -> AnyState:
    return dispatch.begin(filter, start, vehicles)


@partial(jax.jit, static_argnames=("dt", "period", "every"))
def _run(
    filter: AnyFilter,
    state: AnyState,
    samples: jax.Array,
    valid: jax.Array,
    feeds: tuple[Feed, ...],
    orders: jax.Array | None,
    dt: float,
    period: int,
    every: int,
) -> tuple[Any, Any, Any]:
    def blocked(a: Any) -> Any:
        return a.reshape(-1, every, *a.shape[1:])

    def block(at: AnyState, part: Any) -> tuple[AnyState, Any]:
        after, nis = jax.lax.scan(lambda s, row: tick(filter, s, row, orders, dt, period), at, part)
        return after, (after, dispatch.estimate(filter, after), nis)

    rows = (jnp.arange(samples.shape[0]), samples, valid, feeds)
    _, (states, estimates, nis) = jax.lax.scan(block, state, jax.tree.map(blocked, rows))
    flat = jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), nis)
    return estimates, states, flat


def tick(
    filter: AnyFilter, state: AnyState, row: Any, orders: jax.Array | None, dt: float, period: int
) -> tuple[AnyState, Any]:
    """One inertial sample and what belongs to it; returns the NIS of every aid."""
    k, sample, valid, feeds = row
    state = dispatch.predict(filter, state, sample, dt, valid)
    return correct(filter, state, k, feeds, orders, dt, period)


def correct(
    filter: AnyFilter,
    state: AnyState,
    k: jax.Array,
    feeds: tuple[Feed, ...],
    orders: jax.Array | None,
    dt: float,
    period: int,
) -> tuple[AnyState, Any]:
    """Take in what the aids have at tick `k`."""
    nis = []
    for i, (values, usable, age) in enumerate(feeds):
        state = jax.lax.cond(
            jnp.any(usable),
            lambda s, i=i, v=values, u=usable, a=age: dispatch.update(filter, s, i, v, u, a),
            lambda s: s,
            state,
        )
        nis.append(jnp.where(usable, state.gates[i].nis, jnp.nan))
    known = len(filter.aids) - len(feeds)
    if known:
        due = k % period == 0
        everyone = jnp.ones(state.started.shape, bool)
        told = None if orders is None else orders[k // period]
        state = jax.lax.cond(
            due,
            lambda s: dispatch.aid_by_knowledge(filter, s, told, dt * period, everyone),
            lambda s: s,
            state,
        )
        nis += [jnp.where(due, gate.nis, jnp.nan) for gate in state.gates[-known:]]
    return state, tuple(nis)
