"""Smooth curves through tables: monotone piecewise cubics with a continuous slope."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.pytree import constant, pytree, static
from seatrial.spatial.vectors import Scalar


@pytree
class Curve:
    """A table made smooth; constant beyond its ends, where the slope is zero."""

    knots: jax.Array
    """(K,) abscissae, rising; float64 so that a time keeps its milliseconds."""
    values: jax.Array
    """(K,)"""
    slopes: jax.Array
    """(K,)"""
    uniform: bool = static(default=False)
    """Whether the knots are evenly spaced, so that the interval is found by a division."""


def evaluate(curve: Curve, x: Scalar) -> jax.Array:
    """Cubic Hermite value at x; monotone between knots, C1 everywhere."""
    # NumPy's own arrays, of a sea that was not handed to JAX, cannot be indexed by traced numbers.
    k, v, m = (jnp.asarray(a) for a in (curve.knots, curve.values, curve.slopes))
    x = jnp.clip(jnp.asarray(x, k.dtype), k[0], k[-1])
    last = k.shape[0] - 2
    if curve.uniform:
        i = jnp.clip(((x - k[0]) / (k[1] - k[0])).astype(jnp.int32), 0, last)
    else:
        method = "compare_all" if last < 64 else "scan_unrolled"
        i = jnp.clip(jnp.searchsorted(k, x, side="right", method=method) - 1, 0, last)
    # Each is looked up once, and without a second look at bounds that the clip has kept.
    (k0, k1), (v0, v1), (m0, m1) = (
        (a.at[i].get(mode="promise_in_bounds"), a.at[i + 1].get(mode="promise_in_bounds"))
        for a in (k, v, m)
    )
    h = k1 - k0
    s = ((x - k0) / h).astype(v.dtype)
    h = h.astype(v.dtype)
    rise = v1 - v0
    # Hermite form about the left value, so that equal neighbours give exactly their value
    return v0 + s * (
        h * m0 + s * (3.0 * rise - h * (2.0 * m0 + m1) + s * (h * (m0 + m1) - 2.0 * rise))
    )


def curve(x: ArrayLike, y: ArrayLike, dtype: Any, uniform: bool = False) -> Curve:
    """Curve through a table with rising x; both ends get a zero slope."""
    knots, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
    slopes = monotone_slopes(knots, values)
    slopes[0] = slopes[-1] = 0.0
    return Curve(
        knots=constant(knots, np.float64),
        values=constant(values, dtype),
        slopes=constant(slopes, dtype),
        uniform=uniform,
    )


def monotone_slopes(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slopes that keep a cubic monotone between knots (Fritsch and Butland 1984, weighted)."""
    if len(x) < 3:
        return np.repeat((y[-1:] - y[:1]) / (x[-1:] - x[:1]), len(x))
    h, d = np.diff(x), np.diff(y) / np.diff(x)
    slopes = np.zeros_like(y)
    same = d[:-1] * d[1:] > 0.0
    w1, w2 = (2.0 * h[1:] + h[:-1])[same], (h[1:] + 2.0 * h[:-1])[same]
    slopes[1:-1][same] = (w1 + w2) / (w1 / d[:-1][same] + w2 / d[1:][same])
    slopes[0], slopes[-1] = d[0], d[-1]
    return slopes


def resample(
    x: Sequence[float], y: Sequence[float], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """NumPy values at `at` of the monotone cubic through a table; constant beyond its ends."""
    knots, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(knots) == 1:
        return np.full_like(at, values[0])
    slopes = monotone_slopes(knots, values)
    at = np.clip(at, knots[0], knots[-1])
    i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    h, rise = np.diff(knots)[i], np.diff(values)[i]
    s, m0, m1 = (at - knots[i]) / h, slopes[i], slopes[i + 1]
    result: NDArray[np.float64] = values[i] + s * (
        h * m0 + s * (3.0 * rise - h * (2.0 * m0 + m1) + s * (h * (m0 + m1) - 2.0 * rise))
    )
    return result
