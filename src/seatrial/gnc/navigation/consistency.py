"""Whether a filter's errors are as large as it says: NEES and NIS, with their bands.

For an error e with believed covariance P the normalised estimation error squared is eᵀ P⁻¹ e, and
the same for innovations is the NIS. Of a consistent filter they are χ² with as many degrees of
freedom as there are numbers, so that their mean over M independent runs lies, with probability α,
between the (1 ∓ α)/2 quantiles of χ²(M n)/M (Bar-Shalom, Li and Kirubarajan 2001, section 5.4).
"""

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
    from scipy.stats import chi2

    tail = 0.5 * (1.0 - probability)
    low, high = chi2.ppf([tail, 1.0 - tail], freedom * runs) / runs
    return Band(float(low), float(high))


def threshold(freedom: int, probability: float) -> float:
    """NIS that a group of `freedom` numbers stays below with this probability."""
    from scipy.special import gammaincinv  # all of `scipy.stats` takes half a second to import

    return float(2.0 * gammaincinv(0.5 * freedom, probability))


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
    from scipy.stats import chi2

    values = np.asarray(nis, np.float64)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return None
    inside = values[values <= gate]
    mean = float(inside.mean()) if inside.size else float("nan")
    cut = float(chi2.cdf(gate, freedom + 2) / chi2.cdf(gate, freedom))
    low, high = band(freedom, values.size, probability)
    rejected = 1.0 - inside.size / values.size
    return Verdict(mean, Band(cut * low, cut * high), values.size, rejected)
