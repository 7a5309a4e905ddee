"""Kalman update by one number at a time: no matrix is inverted, and vehicles stay on the last axis.

A measurement with independent errors may be taken in component by component (Bierman 1977). For a
scalar z = h x + noise of variance r, with P symmetric,

    s = h P hᵀ + r,   K = P hᵀ / s,   x ← x + K (z − h x),   P ← P − K s Kᵀ

The recursion is done on the innovations and their covariance H P Hᵀ, a small matrix, and P is
touched only once, by P ← P − Σ v vᵀ with v = √s K, in which it stays exactly symmetric.

Components that stand or fall together form a group: the sum of their normalised innovations
squared, ν²/s, is the group's NIS, distributed as χ² with as many degrees of freedom as components.
A group beyond its threshold counts as that much less certain, its S being scaled until it fits; far
beyond it, it is an outlier and is left out. Several samples are judged together by
the fading mean of the normalised innovations, m ← a m + (1 − a) ν/√s, whose components have the
variance (1 − a)/(1 + a) while the innovations are white (Bar-Shalom, Li and Kirubarajan 2001,
section 5.4.2): a sensor that is off by less than the gate, but steadily, is found by it. A group
that was found wrong is isolated: it is compared but not believed, until it fits again for a while.

Noise that nobody can state beforehand, as that of short waves in a pressure, is learned from the
innovations: what their squares are larger than h P hᵀ + r, as a fading mean, is added to r (Mehra
1972, Approaches to adaptive filtering, IEEE Trans. Autom. Control 17(5)).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar

Row = dict[int, Scalar]
"""One row of the measurement matrix: the coefficients that are not zero, by their place."""


class Component(NamedTuple):
    """One number of a measurement."""

    residual: Scalar
    """Measured minus predicted."""
    row: Row
    variance: Scalar


class Innovation(NamedTuple):
    """Numbers that are believed or rejected together."""

    components: list[Component]
    present: Scalar
    """(N,) bool: False where the sensor gave none of them."""
    block: int
    """First of the three rows of the state that they are mainly about."""


@pytree
class Test:
    """When the groups of a sensor are believed; counts are in samples."""

    threshold: jax.Array
    """(G,) largest NIS of a sample."""
    lasting: jax.Array
    """(G,) largest square of the fading mean over its variance."""
    fading: jax.Array
    """Share a of the mean that stays from sample to sample."""
    few: jax.Array
    """Outliers in a row that isolate a group."""
    back: jax.Array
    """Samples that must fit one after another before an isolated group is believed again."""
    patience: jax.Array
    """Rejections in a row after which the filter doubts itself instead."""
    haste: jax.Array
    """The same while the group never fitted, or while most other sensors disagree too."""
    unstated: jax.Array
    """Largest standard deviation of noise that is learned beside the stated one; 0 for none."""
    still: jax.Array
    """Identical samples in a row after which a sensor counts as frozen."""
    stale: jax.Array
    """Age beyond which a sample is too late to be of use, s: its latency and a period."""
    silence: jax.Array
    """Time without a sample after which a sensor counts as silent, s."""


FAR = 4.0
"""Times its threshold beyond which the NIS of a sample is an outlier's."""

AGAIN = 0.4
"""Share of its threshold below which the NIS of an isolated group counts as fitting: about two
deviations in place of three or four. The deviations grow while a sensor is left out, and one that
is as wrong as before must not fit them soon."""

GROWS, LEANS = 1.05, 4.0
"""Times the NIS of the outlier before beyond which a sensor moves on and did not jump, if the mean
of those before it, squared and over its variance, was as large as this."""

WORST = 4.0
"""A normalised innovation counts in the fading mean as no more than this: one outlier is none of
its business."""


class Gate(NamedTuple):
    """What an update remembers of the gates of a sensor; G groups of D components."""

    nis: jax.Array
    """(G, N) of the last measurement, taken in or not; NaN before the first."""
    rejected: jax.Array
    """(G, N) how many were rejected one after another."""
    fitted: jax.Array
    """(G, N) how many fitted one after another."""
    mean: jax.Array
    """(D, N) fading mean of the normalised innovations."""
    excess: jax.Array
    """(D, N) variance that was learned."""
    isolated: jax.Array
    """(G, N) whether the group is not believed for the time being."""
    trusted: jax.Array
    """(G, N) whether it ever was believed."""


class Absorbed(NamedTuple):
    """What is known after a measurement."""

    correction: jax.Array
    """(n, N) to be added to the state."""
    covariance: jax.Array
    """(n, n, N)."""
    gate: Gate
    crept: jax.Array
    """(N,) whether a group crept away, by its mean or by outliers that grow, and was let pass."""


def closed_gate(groups: int, components: int, count: int) -> Gate:
    """Memory of gates through which nothing has come yet."""
    none, never = jnp.zeros((groups, count), jnp.int32), jnp.zeros((groups, count), bool)
    zero = jnp.zeros((components, count))
    return Gate(jnp.full((groups, count), jnp.nan), none, none, zero, zero, never, never)


def absorb(
    covariance: jax.Array,
    groups: list[Innovation],
    gate: Gate,
    test: Test,
    usable: jax.Array,
    doubted: jax.Array | bool = False,
    since: Callable[[jax.Array], jax.Array] | None = None,
    lenient: jax.Array | bool = False,
) -> Absorbed:
    """Take in the groups of a measurement one after another.

    `since` turns rows (D, n, N) that belong to the state of the time of the measurement into rows
    of the state of now.

    A filter that trusts itself too much would reject a sensor for ever. Once a group has been
    rejected for as long as its patience lasts, or only shortly where the filter is `doubted` (N,),
    the covariance is opened along what the group measures, and along nothing else, by the square
    of its residual: P ← P + ν² g gᵀ with h g = 1.

    Where the caller is `lenient` (N,) a group that creeps away is not isolated, by its mean or by
    outliers that grow: something else may be the cause.
    """
    size, count = sum(len(group.components) for group in groups), covariance.shape[-1]
    patience = jnp.where(gate.trusted & ~jnp.asarray(doubted), test.patience, test.haste)
    lost = gate.isolated & (gate.rejected >= patience) & usable
    prior = jax.lax.cond(jnp.any(lost), lambda P: _opened(P, groups, lost), lambda P: P, covariance)
    isolated = gate.isolated & ~lost
    H = dense(groups, prior)
    if since is not None:
        H = since(H)
    # As products of matrices they are stored; otherwise XLA computes them anew wherever they are
    # used.
    spread = jnp.einsum("ijn,djn->din", prior, H)
    product = jnp.einsum("din,ein->den", H, spread)
    S: list[list[Scalar]] = [[product[d, e] for e in range(d + 1)] for d in range(size)]
    small = _Elimination(S, [c.residual for g in groups for c in g.components], count)
    rows: list[list[jax.Array]] = []
    means: list[jax.Array] = []
    learned: list[jax.Array] = []
    crept = jnp.zeros(count, bool)
    first = 0
    for i, group in enumerate(groups):
        last = first + len(group.components)
        here = usable & group.present
        noise: list[Scalar] = [
            c.variance + gate.excess[first + d] for d, c in enumerate(group.components)
        ]
        surprise, white = small.group(
            range(first, last),
            noise,
            test.threshold[i],
            here & ~isolated[i],
        )
        fits = surprise <= FAR * test.threshold[i]
        old = gate.mean[first:last]
        mean = test.fading * old + (1.0 - test.fading) * jnp.clip(white, -WORST, WORST)
        mean = jnp.where(fits, mean, old)
        steady = jnp.sum(mean**2, axis=0) * (1.0 + test.fading) / (1.0 - test.fading)
        # What is left out is not believed because it happens to fit for an instant.
        rejected = jnp.where(fits & ~isolated[i], 0, gate.rejected[i] + 1)
        strange, outlying = steady > test.lasting[i], rejected >= test.few
        # What jumped stays where it is, and left the mean of those before it at zero.
        growing = (surprise > GROWS * gate.nis[i]) & (steady > LEANS)
        growing = growing | (steady > test.threshold[i])
        creeping = strange | (outlying & growing)
        creeping = creeping & here & ~isolated[i] & lenient
        crept = crept | creeping
        near = test.threshold[i] * jnp.where(isolated[i], AGAIN, 1.0)
        fitted = jnp.where(surprise <= near, gate.fitted[i] + 1, 0)
        # The innovations of a group that is left out are not white: only their size tells.
        wrong = jnp.where(isolated[i], fitted < test.back, (strange | outlying) & ~creeping)
        trusted = gate.trusted[i] | (fitted >= test.back)
        # The way back begins anew with every isolation.
        fitted = jnp.where(wrong & ~isolated[i], 0, fitted)
        found = (surprise, rejected, fitted, wrong, trusted)
        before = (gate.nis[i], gate.rejected[i], gate.fitted[i], gate.isolated[i], gate.trusted[i])
        rows.append([jnp.where(here, a, b) for a, b in zip(found, before, strict=True)])
        means.append(jnp.where(here, jnp.where(isolated[i] | lost[i] | creeping, 0.0, mean), old))
        for d, c in enumerate(group.components):
            certain = product[first + d, first + d] + c.variance
            excess = gate.excess[first + d]
            square = jnp.minimum(white[d] ** 2, 9.0) * (certain + excess)
            more = test.fading * excess + (1.0 - test.fading) * (square - certain)
            more = jnp.clip(more, 0.0, test.unstated**2)
            learned.append(jnp.where(here & ~isolated[i], more, excess))
        first = last
    mixing, innovations = small.result()
    vectors = jnp.einsum("den,ein->din", mixing, spread)
    correction = sum(vectors[d] * innovations[d] for d in range(size))
    taken = sum(vectors[d][:, None] * vectors[d][None] for d in range(size))
    assert isinstance(correction, jax.Array)  # a measurement has at least one component
    nis, rejections, fits_in_row, wrongs, trusts = (jnp.stack(c) for c in zip(*rows, strict=True))
    after = Gate(
        nis, rejections, fits_in_row, jnp.concatenate(means), jnp.stack(learned), wrongs, trusts
    )
    return Absorbed(correction, prior - taken, after, crept)


def _opened(P: jax.Array, groups: list[Innovation], lost: jax.Array) -> jax.Array:
    """P + ν² g gᵀ for the components of the groups that are `lost` (G, N), g = h / |h|² in the
    block of the state that they measure."""
    size, count = P.shape[0], P.shape[-1]
    zero = jnp.zeros(count, P.dtype)
    for i, group in enumerate(groups):
        for c in group.components:
            block = {j: h + zero for j, h in c.row.items() if group.block <= j < group.block + 3}
            length = sum(h * h for h in block.values())
            g = jnp.stack([block.get(j, zero) for j in range(size)]) / jnp.maximum(length, 1e-12)
            g = jnp.where(lost[i], g * c.residual, 0.0)
            P = P + g[:, None] * g[None]
    return P


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
    ) -> tuple[jax.Array, jax.Array]:
        """Take in a group where it is `here` and not far beyond the threshold; returns its NIS and
        its normalised innovations."""
        size = len(self._residual)
        S = [list(row) for row in self._S]
        residual = list(self._residual)
        combined = [list(row) for row in self._combined]
        nis, white = self._zero, []
        pivots: dict[int, Scalar] = {}
        for d, r in zip(members, variance, strict=True):
            s = S[d][d] + r
            pivots[d] = s
            white.append(residual[d] / jnp.sqrt(s))
            nis = nis + white[-1] * white[-1]
            for e in range(d + 1, size):
                ratio = S[e][d] / s
                residual[e] = residual[e] - ratio * residual[d]
                for f in range(d + 1, e + 1):
                    S[e][f] = S[e][f] - ratio * S[f][d]
                for f in range(d + 1):
                    combined[e][f] = combined[e][f] - ratio * combined[d][f]
        # S times κ is eliminated like S, with all that it changes divided by κ.
        taken = here & (nis <= FAR * threshold)
        weight = jnp.where(taken, jnp.minimum(1.0, threshold / jnp.maximum(nis, 1e-30)), 0.0)
        for d, s in pivots.items():
            self._root[d] = jnp.sqrt(weight / s)
            self._innovation[d] = residual[d] * self._root[d]
            self._combined[d] = combined[d]

        def blend(old: Scalar, new: Scalar) -> Scalar:
            return jnp.where(taken, old + weight * (new - old), old)

        for e in range(members.stop, size):
            self._residual[e] = blend(self._residual[e], residual[e])
            for f in range(members.stop, e + 1):
                self._S[e][f] = blend(self._S[e][f], S[e][f])
            for f in range(members.stop):
                self._combined[e][f] = blend(self._combined[e][f], combined[e][f])
        return nis, jnp.stack([w + self._zero for w in white])

    def result(self) -> tuple[jax.Array, jax.Array]:
        """Mixing (D, D, N) of the spreads, and scaled innovations (D, N); 0 where left out."""
        size = len(self._residual)
        mixing = [
            jnp.stack([self._combined[d][e] * self._root[d] + self._zero for e in range(size)])
            for d in range(size)
        ]
        return jnp.stack(mixing), jnp.stack([y + self._zero for y in self._innovation])


def dense(groups: list[Innovation], like: jax.Array) -> jax.Array:
    """The measurement matrix (D, n, N) of all components."""
    size, count = like.shape[0], like.shape[-1]
    zero = jnp.zeros(count, like.dtype)
    rows = [c.row for group in groups for c in group.components]
    return jnp.stack([jnp.stack([row.get(j, 0.0) + zero for j in range(size)]) for row in rows])
