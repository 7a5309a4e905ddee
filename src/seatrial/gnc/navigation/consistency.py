"""Whether a filter's errors are as large as it says: NEES and NIS, with their bands.

For an error e with believed covariance P the normalised estimation error squared is eᵀ P⁻¹ e, and
the same for innovations is the NIS. Of a consistent filter they are χ² with as many degrees of
freedom as there are numbers, so that their mean over M independent runs lies, with probability α,
between the (1 ∓ α)/2 quantiles of χ²(M n)/M (Bar-Shalom, Li and Kirubarajan 2001, section 5.4).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Band(NamedTuple):
    """Where a mean is to be expected."""

    low: float
    high: float


def band(freedom: int, runs: int, probability: float = 0.95) -> Band:
    """Two-sided band of a mean over `runs` independent values of `freedom` degrees each."""
    from scipy.special import gammaincinv

    tail = 0.5 * (1.0 - probability)
    low, high = 2.0 * gammaincinv(0.5 * freedom * runs, [tail, 1.0 - tail]) / runs
    return Band(float(low), float(high))


def threshold(freedom: int, probability: float) -> float:
    """NIS that a group of `freedom` numbers stays below with this probability.

    Every mission asks for it when it starts, and SciPy takes a quarter of a second to import; for
    whole degrees of freedom the distribution has a closed form (NIST DLMF 8.4 and 8.8.2).
    """
    left = 1.0 - probability
    low, high = 0.0, 1.0
    while left > 0.0 and _above(high, freedom) > left:
        low, high = high, 2.0 * high
    while low < (middle := 0.5 * (low + high)) < high:
        if _above(middle, freedom) > left:
            low = middle
        else:
            high = middle
    return high if left > 0.0 else math.inf


def _above(x: float, freedom: int) -> float:
    """Probability that χ² of so many degrees of freedom is above x."""
    half, odd = 0.5 * x, freedom % 2 == 1
    total, order = (math.erfc(math.sqrt(half)), 0.5) if odd else (math.exp(-half), 1.0)
    while 2.0 * order < freedom:  # Q(s + 1, x/2) = Q(s, x/2) + (x/2)ˢ e^(−x/2) / Γ(s + 1)
        total += half**order * math.exp(-half) / math.gamma(order + 1.0)
        order += 1.0
    return total


def nees(error: Any, covariance: Any) -> Array:
    """Normalised error squared (..., N) of errors (..., n, N) with covariance (..., n, n, N)."""
    e = np.moveaxis(np.asarray(error, np.float64), -1, -2)
    P = np.moveaxis(np.asarray(covariance, np.float64), -1, -3)
    scale = 1.0 / np.sqrt(np.einsum("...ii->...i", P))
    scaled = P * scale[..., :, None] * scale[..., None, :]
    solved = np.linalg.solve(scaled, (e * scale)[..., None])[..., 0]
    total: Array = np.sum(e * scale * solved, axis=-1)
    return total


class Verdict(NamedTuple):
    """Mean NIS of a sensor over a run, and where it should lie."""

    mean: float
    band: Band
    samples: int
    rejected: float
    """Share of the samples beyond the gate."""


def judge_nis(nis: Any, freedom: int, gate: float, probability: float = 0.95) -> Verdict | None:
    """Judge the innovations of a group, NaN where there was none; None without any sample.

    Those beyond the gate g are left out of the mean, which lowers it: n F_{n+2}(g) / F_n(g) is
    expected in place of n, with F the distribution of χ², and the band is moved in proportion.
    """
    from scipy.special import gammainc  # the package of distributions takes a second to import

    values = np.asarray(nis, np.float64)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return None
    inside = values[values <= gate]
    mean = float(inside.mean()) if inside.size else float("nan")
    cut = float(gammainc(0.5 * freedom + 1.0, 0.5 * gate) / gammainc(0.5 * freedom, 0.5 * gate))
    low, high = band(freedom, values.size, probability)
    rejected = 1.0 - inside.size / values.size
    return Verdict(mean, Band(cut * low, cut * high), values.size, rejected)
