"""Rauch–Tung–Striebel smoothing of the error-state filter, after the run.

With x_k, P_k after the measurements of tick k, x⁻, P⁻ as predicted for the next tick and Φ between
them (Rauch, Tung and Striebel 1965; Särkkä 2013, section 8.2),

    G = P_k Φᵀ (P⁻)⁻¹,   x_k ← x_k ⊞ G (x_{k+1} ⊟ x⁻),   P_k ← P_k + G (P_{k+1} − P⁻) Gᵀ

where ⊟ and ⊞ take the error between two nominal states and put one into a state. Over ticks without
a measurement P_{k+1} is P⁻, and the gains of several in a row come to one with Φ of all of them: a
stretch up to the next measurement is one step. All ticks of an hour at 200 Hz would need gigabytes.
So the filter is run once to keep the state at the beginning of every block of ticks, and once more
through each block, from the last to the first.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial import programs
from seatrial.gnc.navigation import eskf, offline
from seatrial.gnc.navigation.aiding import attitude_error
from seatrial.gnc.navigation.offline import Feed
from seatrial.gnc.navigation.state import Filter, NavState
from seatrial.gnc.types import Estimate


class Smoothed(NamedTuple):
    """What is believed when all samples are known, at the end of every block; (B, ..., N)."""

    estimate: Estimate
    state: NavState


class _Stretch(NamedTuple):
    """Ticks since the last measurement."""

    state: NavState
    """At their end."""
    begun: NavState
    """After that measurement."""
    moved: jax.Array
    """Φ P from there to the end."""


def smooth(
    filter: Filter,
    start: Estimate,
    samples: Any,
    valid: Any,
    dt: float,
    feeds: tuple[Feed, ...],
    orders: Any = None,
    period: int = 1,
    every: int = 1,
) -> tuple[offline.Solution, Smoothed]:
    """Filter and smooth all samples (S, 6, N); reports as `offline.run` does."""
    track = offline.run(filter, start, samples, valid, dt, feeds, orders, period, every)
    given = (filter, track.state, samples, valid, feeds, orders, dt, period, every)
    return track, Smoothed(*programs.call(_smooth, *given))


@partial(jax.jit, static_argnames=("dt", "period", "every"))
def _smooth(
    filter: Filter,
    states: NavState,
    samples: jax.Array,
    valid: jax.Array,
    feeds: tuple[Feed, ...],
    orders: jax.Array | None,
    dt: float,
    period: int,
    every: int,
) -> tuple[Estimate, NavState]:
    """What is believed (B, …) at the end of every block with all samples known."""
    blocks = states.position.shape[0]
    rows = jax.tree.map(
        lambda a: a[every : blocks * every].reshape(-1, every, *a.shape[1:]),
        (jnp.arange(blocks * every), samples, valid, feeds),
    )

    def block(later: NavState, part: Any) -> tuple[NavState, NavState]:
        before, within = part
        better = _back(filter, before, within, later, orders, dt, period)
        return better, better

    last = jax.tree.map(lambda a: a[-1], states)
    earlier = jax.tree.map(lambda a: a[:-1], states)
    _, better = jax.lax.scan(block, last, (earlier, rows), reverse=True)
    whole: NavState = jax.tree.map(lambda a, b: jnp.concatenate([a, b[None]]), better, last)
    return jax.vmap(lambda s: eskf.estimate(filter, s))(whole), whole


def _back(
    filter: Filter,
    before: NavState,
    rows: Any,
    later: NavState,
    orders: jax.Array | None,
    dt: float,
    period: int,
) -> NavState:
    """Smoothed state at the beginning of a block from the one at its end."""

    last = rows[0][-1]

    def forward(at: _Stretch, row: Any) -> tuple[_Stretch, Any]:
        k, sample, valid, feeds = row
        predicted, move = eskf.propagate(filter, at.state, sample, dt, valid)
        after, _ = offline.correct(filter, predicted, k, feeds, orders, dt, period)
        assert isinstance(after, NavState)
        stretch = at._replace(state=after, moved=move.apply(at.moved))
        ends = (k == last) | jnp.any(after.covariance != predicted.covariance)
        fresh = _Stretch(after, after, after.covariance)
        following: _Stretch = jax.tree.map(lambda a, b: jnp.where(ends, a, b), fresh, stretch)
        return following, (at.begun, predicted, stretch.moved, ends)

    def backward(later: NavState, kept: Any) -> tuple[NavState, None]:
        begun, predicted, moved, ends = kept

        def smoothed() -> NavState:
            gain = _gain(moved, predicted.covariance)
            error = difference(later, predicted)
            better = eskf.inject(begun, jnp.einsum("ijn,jn->in", gain, error))
            change = later.covariance - predicted.covariance
            half = jnp.einsum("ijn,jkn->ikn", gain, change)
            covariance = begun.covariance + jnp.einsum("ijn,kjn->ikn", half, gain)
            return better._replace(covariance=0.5 * (covariance + covariance.swapaxes(0, 1)))

        return jax.lax.cond(ends, smoothed, lambda: later), None

    _, kept = jax.lax.scan(forward, _Stretch(before, before, before.covariance), rows)
    smoothed, _ = jax.lax.scan(backward, later, kept, reverse=True)
    return smoothed


def _gain(moved: jax.Array, predicted: jax.Array) -> jax.Array:
    """(P Φᵀ)(P⁻)⁻¹ of `moved` = Φ P; scaled, since metres and rad/s are far apart.

    By Gauss and Jordan, which a covariance lets do without pivots. LAPACK shares such a matrix out
    among threads that wait for each other longer than they work, where others use the machine too.
    """
    scale = 1.0 / jnp.sqrt(jnp.einsum("iin->in", predicted))
    size = predicted.shape[0]
    rows = jnp.concatenate([predicted * scale, moved], axis=1) * scale[:, None]

    def eliminate(i: int, rows: jax.Array) -> jax.Array:
        row = rows[i] / rows[i, i]
        return (rows - rows[:, i, None] * row).at[i].set(row)

    solved: jax.Array = jax.lax.fori_loop(0, size, eliminate, rows)
    return solved[:, size:].swapaxes(0, 1) * scale[None]


def difference(true: NavState, believed: NavState) -> jax.Array:
    """Error (36 + K, N) that turns the second nominal state into the first."""
    return jnp.concatenate(
        [
            true.position - believed.position,
            true.velocity - believed.velocity,
            attitude_error(true.attitude, believed.attitude),
            true.accelerometer_bias - believed.accelerometer_bias,
            true.gyroscope_bias - believed.gyroscope_bias,
            true.current - believed.current,
            true.turning - believed.turning,
            true.canted - believed.canted,
            true.slow - believed.slow,
        ]
    )
