"""Echoes over range: patches spread over the bins that they reach, and pulses of finite length."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.float32]

LEAST_EXTENT = 0.01
"""Of a patch, in bins: what is met squarely lies at one range."""

LOST = 1e-9
"""Of the strongest bin of a row: less is the rounding of a running sum."""


def spread(
    row: NDArray[np.int64], near: Array, far: Array, echo: Array, shape: tuple[int, int]
) -> Picture:
    """(rows, bins) sums of echoes (P,), each evenly spread between two ranges in units of bins.

    The running sum of an even spread is a ramp, whose second differences are four numbers; so a
    picture is one pass over the patches and a running sum, however long the patches are.
    """
    rows, bins = shape
    wide = bins + 2
    steep = echo / np.maximum(far - near, LEAST_EXTENT)
    far = np.maximum(far, near + LEAST_EXTENT)
    places, weights = [], []
    for place, slope in ((near, steep), (far, -steep)):
        place = np.clip(place, 0.0, bins)
        first = place.astype(np.int64)
        beyond = slope * (place - first)
        at = row * wide + first
        places += [at, at + 1]
        weights += [slope - beyond, beyond]
    summed = np.bincount(np.concatenate(places), np.concatenate(weights), minlength=rows * wide)
    filled = np.cumsum(summed.reshape(rows, wide), axis=1)[:, :bins]
    filled[filled < LOST * filled.max(axis=1, keepdims=True)] = 0.0
    return filled.astype(np.float32)


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
