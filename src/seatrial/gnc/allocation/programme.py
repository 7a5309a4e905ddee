"""The bounded quadratic programme of allocation, solved by letting the demand grow.

    minimise  ‖τ − B x‖² / ε + ‖x − p‖²   subject to  low ≤ x ≤ high,  n · x ≤ d for pairs

with a small ε: as much of the demand as the limits allow, and of all ways to do so the one nearest
to p. The optimal x is a piecewise linear function of the demand, so it is followed from a demand
whose solution is known to the one asked for: solve for the direction on the free set, go on until
a limit is met or the force on a limit vanishes, change the set, repeat (parametric active set;
Best 1996, Ferreau et al. 2008). Most demands meet no limit and need one solution of a system as
large as the number of degrees of freedom. On the way from zero the point where the demand stops
being met is the end of what is attainable in its direction, so clipping costs nothing more.

How often the set changes is not known beforehand, and a loop of unknown length cannot be
differentiated backwards. Nor need it be: near a demand the set stays the same, and x is then the
solution of one linear system, which is differentiated in its place (the implicit function theorem;
Amos and Kolter 2017 for quadratic programmes).

Variables come first and vehicles last; `bounds` has their limits.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.gnc.allocation import bounds
from seatrial.gnc.allocation.bounds import Limits

SOFTNESS = 1e-8
"""ε. What is met is met but for a share of about ε, which a last correction removes; rounding
errors of what is missed grow with 1/ε."""

CLIP_SOFTNESS = 1e-12
"""ε on the way to where a demand is clipped: there, nothing is missed."""

MISS = 1e-7
"""Share of a demand that counts as missed."""

QUIET = 1e-9
"""Rates below this share of the demand are rounding errors, not motion."""


class _Path(NamedTuple):
    """Where the solution is on its way."""

    x: jax.Array
    reaction: jax.Array
    """(k, ...) what the unmet demand pulls with, (τ − B x) / ε."""
    way: jax.Array
    """(...) share of the way gone."""
    active: jax.Array
    """(m, ...) limits in force: high, low, then faces."""
    done: jax.Array
    missed: jax.Array
    """(...) whether the demand was clipped here."""
    steps: jax.Array


def least(columns: jax.Array, demand: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The least x that meets the demand without limits, and the demand that it meets.

    A demand outside of what the columns can make is met as well as possible (least squares).
    `columns` is (E, k, ...), the demand (k, ...).
    """
    matrix = _gram(columns, columns, SOFTNESS)
    x = transposed(columns, _solve(matrix, demand))
    # Once more for what the softness leaves.
    x = x + transposed(columns, _solve(matrix, demand - times(columns, x)))
    return x, times(columns, x)


def follow(
    columns: jax.Array,
    limits: Limits,
    start: jax.Array,
    demand: jax.Array,
    pull: jax.Array,
    found: jax.Array,
    ready: jax.Array,
    *,
    clip: bool,
) -> jax.Array:
    """Solution for the demand, on the way from `start`, which keeps to the limits.

    Where `ready`, the solution is `found` already. With `clip` the way ends where the demand can
    no longer be met, which needs a start at zero: the result then makes a share of the demand, in
    its direction.
    """
    return _follow(clip, columns, limits, start, demand, pull, found, ready).x


class _Solution(NamedTuple):
    """Where the way led."""

    x: jax.Array
    active: jax.Array
    """(m, ...) limits in force."""
    missed: jax.Array
    """(...) whether the demand was clipped."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _follow(
    clip: bool,
    columns: jax.Array,
    limits: Limits,
    start: jax.Array,
    demand: jax.Array,
    pull: jax.Array,
    found: jax.Array,
    ready: jax.Array,
) -> _Solution:
    path = _walk(clip, columns, limits, start, demand, pull, ready)
    met = times(columns, path.x)
    goal = demand
    if clip:
        share = jnp.sum(demand * met, axis=0) / (jnp.sum(demand * demand, axis=0) + 1e-300)
        goal = share * demand
    softness = CLIP_SOFTNESS if clip else SOFTNESS
    free = bounds.free(limits, path.active)
    kept = bounds.project(bounds.expanded(free), columns)
    mended = path.x + transposed(kept, _solve(_gram(kept, columns, softness), goal - met))
    x = jnp.where(ready, found, bounds.bounded(limits, mended))
    return _Solution(x, path.active, path.missed)


@_follow.defjvp
def _follow_jvp(
    clip: bool, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[_Solution, _Solution]:
    columns, limits, _, demand, pull, found, ready = primals
    at = _follow(clip, *primals)

    def solution(
        columns: jax.Array, limits: Limits, demand: jax.Array, pull: jax.Array, found: jax.Array
    ) -> jax.Array:
        x = _on_active_set(columns, limits, demand, pull, at.active, at.missed)
        return jnp.where(ready, found, x)

    d_columns, d_limits, _, d_demand, d_pull, d_found, _ = tangents
    _, slope = jax.jvp(
        solution,
        (columns, limits, demand, pull, found),
        (d_columns, d_limits, d_demand, d_pull, d_found),
    )
    none: Any = [np.zeros(part.shape, jax.dtypes.float0) for part in (at.active, at.missed)]
    return at, _Solution(slope, *none)


def _on_active_set(
    columns: jax.Array,
    limits: Limits,
    demand: jax.Array,
    pull: jax.Array,
    active: jax.Array,
    missed: jax.Array,
) -> jax.Array:
    """The solution when the limits in force are known: x = c + P (p + Bᵀ r).

    With the projection P onto what the limits in force leave and c where they hold x,

        (B P Bᵀ + ε) r = σ τ − B (c + P p)

    Where the demand was clipped (`missed`), its share σ is one more unknown, for which the
    reaction does no work: τ · r = 0. It is 1 elsewhere.
    """
    free = bounds.free(limits, active)
    held = bounds.held(limits, active) + bounds.project(free, pull)
    kept = bounds.project(bounds.expanded(free), columns)
    matrix = _gram(kept, columns, SOFTNESS)
    gone = times(columns, held)
    along, across = _solve(matrix, demand), _solve(matrix, gone)
    work = jnp.sum(demand * along, axis=0)
    share = jnp.sum(demand * across, axis=0) / jnp.where(work > 0.0, work, 1.0)
    share = jnp.where(missed, share, 1.0)
    x = held + transposed(kept, share * along - across)
    # Once more for what the softness leaves, as on the way itself.
    return x + transposed(kept, _solve(matrix, share * demand - times(columns, x)))


def _walk(
    clip: bool,
    columns: jax.Array,
    limits: Limits,
    start: jax.Array,
    demand: jax.Array,
    pull: jax.Array,
    ready: jax.Array,
) -> _Path:
    """The way from the start as far as it leads."""
    softness = CLIP_SOFTNESS if clip else SOFTNESS
    scale = jnp.max(jnp.abs(demand), axis=0) + jnp.max(jnp.abs(pull), axis=0)
    turn = demand - times(columns, start)
    drift = pull - start

    def unfinished(path: _Path) -> jax.Array:
        return jnp.any(~path.done) & (jnp.max(path.steps) < most)

    def advance(path: _Path) -> _Path:
        free = bounds.free(limits, path.active)
        kept = bounds.project(bounds.expanded(free), columns)
        matrix = _gram(kept, columns, softness)
        d_reaction = _solve(matrix, turn - times(kept, drift))
        push = drift + transposed(columns, d_reaction)
        dx = bounds.project(free, push)
        held = start + path.way * drift + transposed(columns, path.reaction) - path.x
        slack, rate = bounds.slack(limits, path.x), bounds.rates(limits, dx)
        force, d_force = (bounds.forces(limits, path.active, v) for v in (held, push - dx))
        quiet = QUIET * (scale + 1e-30)
        hit = jnp.where(rate > quiet, jnp.maximum(slack, 0.0) / jnp.where(rate > quiet, rate, 1), 9)
        noise = QUIET * (jnp.max(jnp.abs(d_reaction), axis=0) + scale + 1e-30)
        eases = d_force < -noise
        release = jnp.where(eases, jnp.maximum(force, 0.0) / jnp.where(eases, -d_force, 1.0), 9.0)
        when = jnp.where(path.active, release, hit)
        which = jnp.argmin(when, axis=0)
        step = jnp.minimum(jnp.min(when, axis=0), 1.0 - path.way)
        done = path.way + step >= 1.0
        reaction = path.reaction + step * d_reaction
        missed = jnp.zeros_like(done)
        if clip:
            missed = softness * jnp.max(jnp.abs(reaction), axis=0) > MISS * scale
            step = jnp.where(missed, 0.0, step)
            done = done | missed
        go = ~path.done
        changed = (jnp.arange(path.active.shape[0]).reshape(-1, *([1] * step.ndim)) == which) & (
            go & ~done
        )
        step = jnp.where(go, step, 0.0)
        return _Path(
            path.x + step * dx,
            path.reaction + step * d_reaction,
            path.way + step,
            path.active ^ changed,
            path.done | done,
            path.missed | (go & missed),
            path.steps + 1,
        )

    shape = jnp.broadcast_shapes(demand.shape[1:], columns.shape[2:], start.shape[1:])
    rows = bounds.slack(limits, jnp.broadcast_to(start, (start.shape[0], *shape)))
    most = 16 + 4 * columns.shape[0] + rows.shape[0]  # far more than any case has needed
    path: _Path = jax.lax.while_loop(
        unfinished,
        advance,
        _Path(
            jnp.broadcast_to(start, (start.shape[0], *shape)),
            jnp.zeros((demand.shape[0], *shape), demand.dtype),
            jnp.zeros(shape, demand.dtype),
            jnp.zeros(rows.shape, bool),
            jnp.broadcast_to(ready, shape),
            jnp.zeros(shape, bool),
            jnp.zeros((), jnp.int32),
        ),
    )
    return path


def times(columns: jax.Array, x: jax.Array) -> jax.Array:
    """B x, (k, ...), of columns (E, k, ...)."""
    return jnp.sum(columns * x[:, None], axis=0)


def transposed(columns: jax.Array, y: jax.Array) -> jax.Array:
    """Bᵀ y, (E, ...)."""
    return jnp.sum(columns * y, axis=1)


def _gram(left: jax.Array, right: jax.Array, softness: float) -> list[list[jax.Array]]:
    """Lower half of left rightᵀ + ε."""
    k = left.shape[1]
    full = [[jnp.sum(left[:, i] * right[:, j], axis=0) for j in range(i + 1)] for i in range(k)]
    for i in range(k):
        full[i][i] = full[i][i] + softness
    return full


def _solve(matrix: list[list[jax.Array]], right: jax.Array) -> jax.Array:
    """Solve a symmetric positive definite system by L D Lᵀ, written out for vehicles last."""
    k = len(matrix)
    lower: list[list[jax.Array]] = [[] for _ in range(k)]
    diagonal: list[jax.Array] = []
    for i in range(k):
        scaled: list[jax.Array] = []  # L D
        for j in range(i):
            value = matrix[i][j]
            for m in range(j):
                value = value - scaled[m] * lower[j][m]
            scaled.append(value)
        lower[i] = [s / d for s, d in zip(scaled, diagonal, strict=True)]
        value = matrix[i][i]
        for s, part in zip(scaled, lower[i], strict=True):
            value = value - s * part
        diagonal.append(jnp.maximum(value, 1e-3 * CLIP_SOFTNESS))  # rounding must not turn it over
    y: list[jax.Array] = []
    for i in range(k):
        value = right[i]
        for j in range(i):
            value = value - lower[i][j] * y[j]
        y.append(value)
    y = [a / d for a, d in zip(y, diagonal, strict=True)]
    for i in reversed(range(k)):
        for j in range(i + 1, k):
            y[i] = y[i] - lower[j][i] * y[j]
    return jnp.stack(jnp.broadcast_arrays(*y))
