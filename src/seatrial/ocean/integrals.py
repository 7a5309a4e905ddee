"""Integrals of tabulated functions by the trapezoidal rule."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def cumulative(y: Array, x: Array) -> Array:
    """Integral from x[0] to every x."""
    steps = 0.5 * (y[1:] + y[:-1]) * np.diff(x)
    return np.concatenate(([0.0], np.cumsum(steps)))


def integral(y: Array, x: Array) -> float:
    """Integral over all of x."""
    return float(cumulative(y, x)[-1])
