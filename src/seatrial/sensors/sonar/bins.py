"""Echoes over range: patches spread over the bins that they reach, and pulses of finite length."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.float32]

LEAST_EXTENT = 0.01
"""Of a patch, in bins: what is met squarely lies at one range."""

WHOLE = 2.0**34
"""Units that the greatest slope of a picture is counted in. Whole numbers up to 2⁵³ add up without
rounding, so that nothing is left of a patch behind its end."""


def spread(
    row: NDArray[np.int64], near: Array, far: Array, echo: Array, shape: tuple[int, int]
) -> Picture:
    """(rows, bins) sums of echoes (P,), each evenly spread between two ranges in units of bins.

    The running sum of an even spread is a ramp, whose second differences are four numbers; so a
    picture is one pass over the patches and a running sum, however long the patches are.
    """
    rows, bins = shape
    wide = bins + 2
    extent = np.maximum(far - near, LEAST_EXTENT)
    steep = echo / extent
    unit = max(float(steep.max(initial=0.0)), 1e-300) / WHOLE
    steep = np.rint(steep / unit)
    start = row * wide
    places, weights = np.empty((4, len(row)), np.int64), np.empty((4, len(row)))
    for i, (place, slope) in enumerate(((near, steep), (near + extent, -steep))):
        place = np.clip(place, 0.0, bins)
        first = place.astype(np.int64)
        np.add(start, first, out=places[2 * i])
        np.add(places[2 * i], 1, out=places[2 * i + 1])
        place -= first
        place *= slope
        np.rint(place, out=weights[2 * i + 1])
        np.subtract(slope, weights[2 * i + 1], out=weights[2 * i])
    summed = np.bincount(places.ravel(), weights.ravel(), minlength=rows * wide)
    summed = summed.reshape(rows, wide)
    np.cumsum(summed, axis=1, out=summed)
    return np.multiply(summed[:, :bins], unit, dtype=np.float32)


def lengthened(picture: Picture, pulse: float) -> Picture:
    """The echo of a pulse that covers so many bins at once, of which the middle is told.

    What lies at v hears a pulse at u where |u − v| is less than half of its length. Between two
    bins that are m apart this is so for the share H(m + n/2) − H(m − n/2) of their points, with H
    the distribution function of the sum of two evenly spread numbers.
    """

    def share(x: float) -> float:
        if abs(x) >= 1.0:
            return float(x > 0.0)
        return 0.5 * (1.0 + x) ** 2 if x < 0.0 else 1.0 - 0.5 * (1.0 - x) ** 2

    most = math.ceil(0.5 * pulse + 1.0)
    result = np.zeros_like(picture)
    bins = picture.shape[1]
    for m in range(-min(most, bins - 1), min(most, bins - 1) + 1):
        weight = np.float32(share(m + 0.5 * pulse) - share(m - 0.5 * pulse))
        if weight == 0.0:
            continue
        if m < 0:
            result[:, :m] += weight * picture[:, -m:]
        else:
            result[:, m:] += weight * picture[:, : bins - m]
    return result
