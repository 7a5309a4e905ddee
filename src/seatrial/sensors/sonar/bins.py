"""Echoes over range: patches spread over the bins that they reach, and pulses of finite length."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.float32]

FINE = 12
"""Bits of a bin: places are told to 1/4096 of it."""
LEAST_EXTENT = 41
"""Of a patch, in 4096ths of a bin: what is met squarely lies at one range."""
LEAST_SLOPE = 2.0**-70
"""In place of that of a row without echoes."""
WHOLE = 44
"""Bits of the greatest slope of a row. Whole numbers add up without rounding, so that nothing is
left of a patch behind its end, and eight times as fast as others do, one after the other."""


def spread(near: Picture, far: Picture, echo: Picture, bins: int) -> Picture:
    """(rows, bins) sums of echoes (rows, P), each evenly spread between two ranges in units of
    bins.

    The running sum of an even spread is a ramp, whose second differences are four numbers; so a
    picture is one pass over the patches and a running sum, however long the patches are.
    """
    rows, wide = len(near), bins + 2
    start, end = ((place * np.float32(1 << FINE)).astype(np.int32) for place in (near, far))
    np.maximum(end, start + LEAST_EXTENT, out=end)
    steep = echo / (end - start).astype(np.float32)
    _, most = np.frexp(steep.max(axis=1, keepdims=True, initial=LEAST_SLOPE))
    steep *= np.ldexp(np.float32(1.0), WHOLE - most)
    slope = steep.astype(np.int64)
    summed = np.zeros((rows, wide), np.int64)
    first = wide * np.arange(rows, dtype=np.int32)[:, None]
    for place, add in ((start, np.add), (end, np.subtract)):
        np.minimum(np.maximum(place, 0, out=place), bins << FINE, out=place)
        behind = (place & ((1 << FINE) - 1)).astype(np.int64)
        behind *= slope
        behind >>= FINE
        place >>= FINE
        place += first
        at = place.astype(np.int64).reshape(-1)
        add.at(summed.reshape(-1), at, (slope - behind).reshape(-1))
        at += 1
        add.at(summed.reshape(-1), at, behind.reshape(-1))
    np.cumsum(summed, axis=1, out=summed)
    unit = np.ldexp(np.float32(1.0), most + (FINE - WHOLE))
    picture = np.multiply(summed[:, :bins], unit, dtype=np.float32, casting="unsafe")
    return np.asarray(picture)


def pulse_weights(pulse: Array) -> Array:
    """(K, M) what pulses that cover so many bins (K,) at once hear of bins that are 0, 1, 2, …
    before and behind the one that is told.

    What lies at v hears a pulse at u where |u − v| is less than half of its length. Between two
    bins that are m apart this is so for the share H(m + n/2) − H(m − n/2) of their points, with H
    the distribution function of the sum of two evenly spread numbers.
    """
    half = 0.5 * pulse[:, None]
    apart = np.arange(math.ceil(float(half.max()) + 1.0))
    return _share(apart + half) - _share(apart - half)


def _share(x: Array) -> Array:
    """H."""
    within = 1.0 - 0.5 * np.square(1.0 - np.minimum(np.abs(x), 1.0))
    return np.where(x < 0.0, 1.0 - within, within)


def lengthened(picture: Picture, weights: Array) -> Picture:
    """Echoes (K, beams, bins) of pulses of the weights (K, M)."""
    own, *others = weights.astype(np.float32).T[..., None, None]
    result: Picture = own * picture
    for m, weight in enumerate(others[: picture.shape[2] - 1], 1):
        part = weight * picture
        result[..., m:] += part[..., :-m]
        result[..., :-m] += part[..., m:]
    return result
