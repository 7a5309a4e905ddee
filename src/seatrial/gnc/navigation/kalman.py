"""Kalman update by one number at a time: no matrix is inverted, and vehicles stay on the last axis.

A measurement with independent errors may be taken in component by component (Bierman 1977). For a
scalar z = h x + noise of variance r, with P symmetric,

    s = h P hᵀ + r,   K = P hᵀ / s,   x ← x + K (z − h x),   P ← P − K s Kᵀ

The recursion is done on the innovations and their covariance H P Hᵀ, a small matrix, and P is
touched only once, by P ← P − Σ v vᵀ with v = √s K, in which it stays exactly symmetric.

Components that stand or fall together form a group: the sum of their normalised innovations
squared, ν²/s, is the group's NIS, distributed as χ² with as many degrees of freedom as components.
A group beyond its threshold is an outlier and is left out.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.spatial.vectors import Scalar

Row = dict[int, Scalar]
"""One row of the measurement matrix: the coefficients that are not zero, by their place."""


class Component(NamedTuple):
    """One number of a measurement."""

    residual: Scalar
    """Measured minus predicted."""
    row: Row
    variance: Scalar


class Group(NamedTuple):
    """Numbers that are believed or rejected together."""

    components: list[Component]
    present: Scalar
    """(N,) bool: False where the sensor gave none of them."""


class Gate(NamedTuple):
    """What an update remembers of the gates of a sensor; G groups."""

    nis: jax.Array
    """(G, N) of the last measurement, taken in or not; NaN before the first."""
    rejected: jax.Array
    """(G, N) how many were rejected one after another."""


class Absorbed(NamedTuple):
    """What is known after a measurement."""

    correction: jax.Array
    """(n, N) to be added to the state."""
    covariance: jax.Array
    """(n, n, N)."""
    gate: Gate


def closed_gate(groups: int, count: int) -> Gate:
    """Memory of gates through which nothing has come yet."""
    return Gate(jnp.full((groups, count), jnp.nan), jnp.zeros((groups, count), jnp.int32))


def absorb(
    covariance: jax.Array,
    groups: list[Group],
    gate: Gate,
    threshold: jax.Array,
    patience: jax.Array,
    usable: jax.Array,
    since: Callable[[jax.Array], jax.Array] | None = None,
) -> Absorbed:
    """Take in the groups of a measurement one after another.

    `since` turns rows (D, n, N) that belong to the state of the time of the measurement into rows
    of the state of now.
    `threshold` (G,) is the largest NIS of a group that is believed. A filter that trusts itself
    too much would reject everything for ever: once half of the groups have been rejected
    `patience` times in a row, its covariance is doubled with every measurement until they fit.
    """
    lost = jnp.mean(gate.rejected >= patience, axis=0) >= 0.5
    prior = covariance * jnp.where(usable & lost, 2.0, 1.0)
    size, count = sum(len(group.components) for group in groups), covariance.shape[-1]
    H = dense(groups, prior)
    if since is not None:
        H = since(H)
    # As products of matrices they are stored; otherwise XLA computes them anew wherever they are
    # used.
    spread = jnp.einsum("ijn,djn->din", prior, H)
    product = jnp.einsum("din,ein->den", H, spread)
    S: list[list[Scalar]] = [[product[d, e] for e in range(d + 1)] for d in range(size)]
    small = _Elimination(S, [c.residual for g in groups for c in g.components], count)
    nis, rejected = [], []
    first = 0
    for i, group in enumerate(groups):
        last = first + len(group.components)
        here = usable & group.present
        surprise = small.group(
            range(first, last), [c.variance for c in group.components], threshold[i], here
        )
        first = last
        fits = surprise <= threshold[i]
        nis.append(jnp.where(here, surprise, gate.nis[i]))
        counted = jnp.where(fits, 0, gate.rejected[i] + 1)
        rejected.append(jnp.where(here, counted, gate.rejected[i]))
    mixing, innovations = small.result()
    vectors = jnp.einsum("den,ein->din", mixing, spread)
    correction = sum(vectors[d] * innovations[d] for d in range(size))
    taken = sum(vectors[d][:, None] * vectors[d][None] for d in range(size))
    assert isinstance(correction, jax.Array)  # a measurement has at least one component
    return Absorbed(correction, prior - taken, Gate(jnp.stack(nis), jnp.stack(rejected)))


class _Elimination:
    """Gaussian elimination of H P Hᵀ by groups, leaving out those that do not fit.

    With v_d = (e_d − Σ_{e<d} l_de v_e √s_e) / √s_d over the components taken in, the vectors of the
    update are Σ_e v_de P h_eᵀ and their innovations ν_d / √s_d.
    """

    def __init__(self, S: list[list[Scalar]], residual: list[Scalar], count: int) -> None:
        self._S = S
        self._residual = residual
        size = len(residual)
        self._zero = jnp.zeros(count, jnp.asarray(S[0][0]).dtype)
        self._combined: list[list[Scalar]] = [
            [1.0 if e == d else 0.0 for e in range(size)] for d in range(size)
        ]
        self._root: list[Scalar] = [0.0] * size
        self._innovation: list[Scalar] = [0.0] * size

    def group(
        self, members: range, variance: list[Scalar], threshold: Scalar, here: Scalar
    ) -> jax.Array:
        """Take in a group where it is `here` and below the threshold; returns its NIS."""
        size = len(self._residual)
        S = [list(row) for row in self._S]
        residual = list(self._residual)
        combined = [list(row) for row in self._combined]
        nis = self._zero
        pivots: dict[int, Scalar] = {}
        for d, r in zip(members, variance, strict=True):
            s = S[d][d] + r
            pivots[d] = s
            nis = nis + residual[d] * residual[d] / s
            for e in range(d + 1, size):
                ratio = S[e][d] / s
                residual[e] = residual[e] - ratio * residual[d]
                for f in range(d + 1, e + 1):
                    S[e][f] = S[e][f] - ratio * S[f][d]
                for f in range(d + 1):
                    combined[e][f] = combined[e][f] - ratio * combined[d][f]
        taken = here & (nis <= threshold)
        for d, s in pivots.items():
            self._root[d] = jnp.where(taken, 1.0 / jnp.sqrt(s), 0.0)
            self._innovation[d] = residual[d] * self._root[d]
            self._combined[d] = combined[d]
        for e in range(members.stop, size):
            self._residual[e] = jnp.where(taken, residual[e], self._residual[e])
            for f in range(members.stop, e + 1):
                self._S[e][f] = jnp.where(taken, S[e][f], self._S[e][f])
            for f in range(members.stop):
                self._combined[e][f] = jnp.where(taken, combined[e][f], self._combined[e][f])
        return nis

    def result(self) -> tuple[jax.Array, jax.Array]:
        """Mixing (D, D, N) of the spreads, and scaled innovations (D, N); 0 where left out."""
        size = len(self._residual)
        mixing = [
            jnp.stack([self._combined[d][e] * self._root[d] + self._zero for e in range(size)])
            for d in range(size)
        ]
        return jnp.stack(mixing), jnp.stack([y + self._zero for y in self._innovation])


def dense(groups: list[Group], like: jax.Array) -> jax.Array:
    """The measurement matrix (D, n, N) of all components."""
    size, count = like.shape[0], like.shape[-1]
    zero = jnp.zeros(count, like.dtype)
    rows = [c.row for group in groups for c in group.components]
    return jnp.stack([jnp.stack([row.get(j, 0.0) + zero for j in range(size)]) for row in rows])
