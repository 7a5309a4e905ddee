"""Allan deviation of a still sensor, and the noise coefficients that explain it.

Overlapping Allan variance of a rate y(t) with cluster averages ȳ over a time τ (IEEE Std 952-1997,
annex C; Riley and Howe 2008, NIST SP 1065, section 5.2.4):

    σ²(τ) = ½ ⟨(ȳ(t + τ) − ȳ(t))²⟩ = ½ ⟨z(t)²⟩, with all t that the record holds

Fitted to it is the sum of three independent noises,

    σ²(τ) = N²/τ + B² g(τ/T) + K² (τ/3 + Δt²/(6 τ))

with Δt between samples, which are points of the walk and not averages of it. g is the hump of a
first-order Gauss–Markov process, scaled so that its top is at the floor of flicker noise, 2 ln 2/π.
N, B, K and the place T of the hump are found by least squares, each point weighted by its own
variance.

Neighbouring points of the curve share their data, so their errors are far from independent, and an
error estimate from the scatter about the fit would be much too small. Here it comes from the model:
z is Gaussian and stationary for all three noises, so for any two points

    cov(σ̂²(τ₁), σ̂²(τ₂)) = ½ ⟨cov(z₁(t), z₂(t'))²⟩ over all pairs t, t'

whose covariances follow from the three coefficients (as in Greenhall and Riley 2003, Uncertainty of
Stability Variances Based on Finite Differences). 2 σ⁴/var(σ̂²) is the number of equivalent degrees
of freedom, and the same covariance carried through the fit gives those of N², B² and K², each then
taken as χ²-distributed.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from seatrial.sensors.noise.processes import FLOOR, PEAK, PEAK_TIME

Array = NDArray[np.float64]

LEVEL = 0.95
"""Confidence of intervals unless another is asked for."""

_PER_OCTAVE = 2
_FEWEST_CLUSTERS = 9
"""Longest averaging time: this often it fits into the record."""
_SHORTEST = 10
"""Points that a fit needs: four unknowns, and some to spare."""
_CONFIDENT = 3.0
"""A term counts as observed when its square exceeds its own standard error so many times."""
_LAGS = 8
"""Lags per averaging time when two points of the curve are compared."""
_ROUNDS = 4
_WORTH = 1.0
"""The hump is kept when it improves the squared misfit by so many standard errors per point."""
_INSIDE = 3.0
"""The top of the hump keeps this factor from the shortest and the longest averaging time."""


@dataclass(frozen=True)
class Curve:
    """Overlapping Allan deviations of one or more signals of one rate and length."""

    tau: Array
    """(P,) averaging times, s."""
    deviation: Array
    """(P, A) of each signal."""
    interval: float
    """Between samples, s."""
    duration: float
    """Of the record, s."""

    @property
    def pooled(self) -> Array:
        """(P,) root mean square over the signals: one deviation for axes that are made alike."""
        return np.asarray(np.sqrt(np.mean(self.deviation**2, axis=1)))


@dataclass(frozen=True)
class FittedValue:
    """A coefficient with its confidence interval, or with the most that it can be."""

    value: float | None
    """None when the record does not show it."""
    low: float
    high: float
    """End of the interval; where nothing was observed, the value whose term alone would touch the
    upper confidence limit of the curve."""


@dataclass(frozen=True)
class Fit:
    """What the curve says about its noises; SI units of the signal, s and Hz."""

    N: FittedValue
    """White noise, signal/√Hz."""
    B: FittedValue
    """Bias instability in the sense of IEEE Std 952, signal: the floor is 0.664 B."""
    K: FittedValue
    """Random walk, (signal/s)/√Hz."""
    time_constant: float | None
    """Of the Gauss–Markov process that makes the floor, s; None where B is not observed."""
    level: float
    """Confidence of the intervals."""
    freedom: Array
    """(P,) equivalent degrees of freedom of every point of the pooled curve."""
    squares: tuple[float, float, float]
    """N², B² and K² of the curve that was fitted, also of terms that are not confident."""
    hump: float
    """Time constant of that curve, s."""
    interval: float
    """Between samples, s."""

    def deviation(self, tau: Array) -> Array:
        """The fitted curve."""
        terms = _terms(tau, self.hump, self.interval)
        return np.asarray(np.sqrt(terms @ np.array(self.squares)))

    def limits(self, curve: Curve) -> tuple[Array, Array]:
        """Confidence limits of the points of the pooled curve."""
        below, above = _chi_square_limits(self.freedom, self.level)
        return curve.pooled * np.sqrt(below), curve.pooled * np.sqrt(above)


def allan(signal: Array, interval: float) -> Curve:
    """Overlapping Allan deviation of (samples,) or (samples, axes), samples `interval` s apart."""
    rows = np.asarray(signal, dtype=np.float64).reshape(len(signal), -1)
    count = len(rows)
    # A constant bias would only cost digits in the sums.
    phase = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows - rows[0], axis=0)])
    longest = max(count // _FEWEST_CLUSTERS, 1)
    octaves = np.arange(0, math.log2(longest) + 1e-9, 1.0 / _PER_OCTAVE)
    sizes = np.unique(np.round(2.0**octaves).astype(int))
    deviation = np.empty((len(sizes), rows.shape[1]))
    for i, m in enumerate(sizes):
        z = phase[2 * m :] - 2.0 * phase[m:-m] + phase[: -2 * m]
        deviation[i] = np.sqrt(np.einsum("ij,ij->j", z, z) / (2.0 * len(z))) / m
    return Curve(sizes * interval, deviation, interval, count * interval)


def fit(curve: Curve, level: float = LEVEL) -> Fit:
    """N, B and K of the pooled curve; needs some hundred samples."""
    tau, variance, interval = curve.tau, curve.pooled**2, curve.interval
    axes = curve.deviation.shape[1]
    if len(tau) < _SHORTEST or not np.all(variance > 0.0):
        raise ValueError(
            f"{len(tau)} points of the Allan deviation are too few, or the signal does not change"
        )
    weights = 1.0 / variance**2
    squares, hump = np.zeros(3), tau[len(tau) // 2]
    covariance = np.zeros((len(tau), len(tau)))
    for _ in range(_ROUNDS):
        squares, hump = _least_squares(tau, variance, weights, interval)
        covariance = _covariance(curve, squares, hump) / axes
        weights = 1.0 / np.diag(covariance)
    freedom = 2.0 * (_terms(tau, hump, interval) @ squares) ** 2 / np.diag(covariance)
    errors = _standard_errors(tau, weights, covariance, squares, hump, interval)
    above = variance * _chi_square_limits(freedom, level)[1]
    most = np.min(above[:, None] / _terms(tau, hump, interval), axis=0)
    most[1] = np.min(above) / FLOOR**2
    N, B, K = (
        _estimate(square, error, limit, level)
        for square, error, limit in zip(squares, errors, most, strict=True)
    )
    return Fit(
        N, B, K,
        time_constant=hump if B.value is not None else None,
        level=level,
        freedom=freedom,
        squares=(float(squares[0]), float(squares[1]), float(squares[2])),
        hump=hump,
        interval=interval,
    )  # fmt: skip


def _terms(tau: Array, hump: float, interval: float) -> Array:
    """(P, 3): what N², B² and K² are multiplied by."""
    x = tau / hump
    # σ²(τ) of a Gauss–Markov process of unit variance; by its series where that is small.
    exact = 2.0 / x * (1.0 - (3.0 - 4.0 * np.exp(-x) + np.exp(-2.0 * x)) / (2.0 * x))
    process = np.where(x < 1e-3, 2.0 * x / 3.0 - x**2 / 2.0, exact)
    walk = tau / 3.0 + interval**2 / (6.0 * tau)
    return np.stack([1.0 / tau, (FLOOR / PEAK) ** 2 * process, walk], axis=-1)


def _least_squares(
    tau: Array, variance: Array, weights: Array, interval: float
) -> tuple[Array, float]:
    """N², B², K² (none negative) and T of least weighted squares.

    B² is 0 where the curve does as well without the hump: a faint hump next to a slope would
    otherwise take a part of it at will, and neither would be known.
    """
    # A hump at either end of the curve could not be told from the slope next to it.
    places = np.geomspace(_INSIDE * tau[0], tau[-1] / _INSIDE, 60) / PEAK_TIME
    for _ in range(3):
        trials = [_not_negative(_terms(tau, p, interval), variance, weights, _ALL) for p in places]
        best = int(np.argmin([misfit for _, misfit in trials]))
        (squares, misfit), hump = trials[best], float(places[best])
        low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
        places = np.geomspace(low, high, 15)
    simple, its_misfit = _not_negative(_terms(tau, hump, interval), variance, weights, _SLOPES)
    if its_misfit - misfit < _WORTH * len(tau):
        return simple, hump
    return squares, hump


_SLOPES = ([0], [2], [0, 2])
_ALL = (*_SLOPES, [1], [0, 1], [1, 2], [0, 1, 2])


def _not_negative(
    terms: Array, variance: Array, weights: Array, choices: tuple[list[int], ...]
) -> tuple[Array, float]:
    """Least squares over some choices of terms; the best without a negative coefficient."""
    root = np.sqrt(weights)
    best, least = np.zeros(3), math.inf
    for choice in choices:
        found = np.linalg.lstsq(root[:, None] * terms[:, choice], root * variance, rcond=None)[0]
        misfit = float(np.sum(weights * (terms[:, choice] @ found - variance) ** 2))
        if np.all(found >= 0.0) and misfit < least:
            best, least = np.zeros(3), misfit
            best[choice] = found
    return best, least


def _standard_errors(
    tau: Array,
    weights: Array,
    covariance: Array,
    squares: Array,
    hump: float,
    interval: float,
) -> Array:
    """Of N², B², K², with the place of the hump as uncertain as the rest."""
    columns = _terms(tau, hump, interval)
    if squares[1] == 0.0:
        columns = columns[:, [0, 2]]
    else:
        up, down = (
            _terms(tau, hump * 1.01, interval)[:, 1],
            _terms(tau, hump / 1.01, interval)[:, 1],
        )
        slope = squares[1] * (up - down) / (2.0 * math.log(1.01))
        columns = np.column_stack([columns, slope])
    scale = np.sqrt(np.sum(weights[:, None] * columns**2, axis=0))
    scaled = columns / scale
    normal = scaled.T @ (weights[:, None] * scaled)
    gain = np.linalg.pinv(normal) @ (scaled.T * weights)
    errors = np.sqrt(np.maximum(np.diag(gain @ covariance @ gain.T), 0.0)) / scale
    return np.asarray(errors[:3] if squares[1] > 0.0 else [errors[0], math.inf, errors[1]])


def _estimate(square: float, error: float, most: float, level: float) -> FittedValue:
    if square <= _CONFIDENT * error:
        return FittedValue(None, 0.0, math.sqrt(most))
    below, above = _chi_square_limits(np.array(2.0 * (square / error) ** 2), level)
    return FittedValue(
        math.sqrt(square), math.sqrt(square * float(below)), math.sqrt(square * float(above))
    )


def _chi_square_limits(freedom: Array, level: float) -> tuple[Array, Array]:
    """Factors from an estimated variance to its confidence limits (Wilson and Hilferty 1931)."""
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    c = 2.0 / (9.0 * freedom)
    high = (1.0 - c + z * np.sqrt(c)) ** 3
    low = np.maximum(1.0 - c - z * np.sqrt(c), 1e-3) ** 3
    return 1.0 / high, 1.0 / low


def _covariance(curve: Curve, squares: Array, hump: float) -> Array:
    """(P, P) of the points of one signal's Allan variance, under the fitted noises."""
    sizes = [round(float(tau) / curve.interval) for tau in curve.tau]
    count = round(curve.duration / curve.interval)
    result = np.zeros((len(sizes), len(sizes)))
    for i, m in enumerate(sizes):
        for j, n in enumerate(sizes[i:], start=i):
            found = _covariance_of(m, n, count, curve.interval, squares, hump)
            result[i, j] = result[j, i] = found
    return result


def _covariance_of(
    m: int, n: int, count: int, interval: float, squares: Array, hump: float
) -> float:
    """½ ⟨cov(z₁(t), z₂(t + s))²⟩ over all pairs, for averages of m and n ≥ m samples."""
    first, last = count - 2 * m + 1, count - 2 * n + 1  # how many z there are of each
    lags = _lags(m, n, round(4.0 * hump / interval))
    pairs = np.minimum(first, last - lags) - np.maximum(0, -lags)
    ends = np.subtract.outer(n * np.arange(3), m * np.arange(3)).ravel()
    signs = np.outer([1.0, -2.0, 1.0], [1.0, -2.0, 1.0]).ravel()
    apart = interval * np.abs(lags + ends[:, None])
    covariance = signs @ _generalised(apart, squares, hump) / (m * n * interval**2)
    share = np.gradient(lags.astype(float))  # samples for which each lag stands
    total = np.sum(share * np.maximum(pairs, 0) * covariance**2)
    return float(total / (2.0 * first * last))


def _lags(m: int, n: int, tail: int) -> NDArray[np.int64]:
    """Lags from z₁ to z₂, in samples: dense where an end of one average passes one of the other.

    Beyond the reach of both differences only the Gauss–Markov process is left, and soon is not.
    """
    tail = min(tail, 4 * n)
    coarse = np.arange(-2 * n - tail, 2 * m + tail + 1, max(1, n // _LAGS))
    near = np.arange(-m, 3 * m + 1, max(1, m // _LAGS))
    return np.unique(np.concatenate([coarse, near, near - n, near - 2 * n]))


def _generalised(apart: Array, squares: Array, hump: float) -> Array:
    """Covariance of the integrated signal as far as second differences can see it."""
    x = apart / hump
    process = squares[1] * (FLOOR / PEAK) ** 2
    return np.asarray(
        -squares[0] * apart / 2.0
        - process * hump**2 * (x + np.expm1(-x))
        + squares[2] * apart**3 / 12.0
    )
