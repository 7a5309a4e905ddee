"""Echoes over range: patches spread over the bins that they reach, and pulses of finite length."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.float32]

LEAST_EXTENT = 0.01
"""Of a patch, in bins: what is met squarely lies at one range."""
SPARE = 8.0
"""How many of the steepest patches there may be in a bin at once until their sums are rounded."""


class Patches(NamedTuple):
    """Surfaces that send something back, P of them in their rows, which rise."""

    row: Picture
    """Of what ends up in the same bins; a whole number."""
    near: Picture
    far: Picture
    """Ranges between which they lie, in units of bins."""
    echo: Picture

    def between(self, first: int, end: int) -> "Patches":
        """Those in some rows, of which the first is then 0."""
        # Of the same kind as the rows, which would all be converted otherwise.
        edges = np.searchsorted(self.row, np.array([first, end], self.row.dtype)).tolist()
        row, *others = (part[slice(*edges)] for part in self)
        return Patches(row - np.float32(first), *others)


def spread(patches: Sequence[Patches], first: int, picture: Picture, strongest: float) -> None:
    """Fill a picture (rows, bins) with the sums of the echoes in the rows from the first on, each
    evenly spread over its ranges; none is more than the `strongest`.

    An even spread is a step up where it begins and one down where it ends, and a running sum over
    the bins makes the spread of its steps. In the bin of a step, the part that lies before it is
    taken off again: with steps s at the fractions f of their bins,

        Σ over all bins up to this one of s  −  Σ in this bin of f s

    So a picture is two sums over the patches and a running one, however long the patches are. Steps
    are rounded to what double precision adds up exactly, so that nothing is left of a patch behind
    its end.
    """
    rows, bins = picture.shape
    wide = bins + 1  # what ends behind the last bin
    # A row of the first half and one of the second lie side by side, as real and imaginary parts: a
    # running sum waits for each of its additions, so that two take the time of one.
    half = -(-rows // 2)
    real = [of.between(first, first + half) for of in patches]
    imaginary = [of.between(first + half, first + rows) for of in patches]
    row, near, far, echo = (np.concatenate(p) for p in zip(*real, *imaginary, strict=True))
    row *= np.float32(2 * wide)
    row[sum(len(of.row) for of in real) :] += np.float32(1.0)
    end = np.maximum(far, near + np.float32(LEAST_EXTENT))
    steep = echo / (end - near)
    at = np.empty((2, len(row)), np.intp)
    step, before = (np.empty(at.shape) for _ in range(2))
    for k, place in enumerate((near, end)):
        held = np.maximum(place, np.float32(0.0))
        np.minimum(held, np.float32(bins), out=held)
        whole = np.floor(held)
        held -= whole
        held *= steep
        before[k] = held
        whole *= np.float32(2.0)
        whole += row  # single precision counts so far without gaps
        at[k] = whole
    np.negative(before[1], out=before[1])
    _, most = math.frexp(SPARE * strongest / LEAST_EXTENT)
    coarse = math.ldexp(1.5, most)  # sums with it have no more digits than may be added up
    step[0] = steep
    step[0] += coarse
    step[0] -= coarse
    np.negative(step[0], out=step[1])
    places = at.reshape(-1)
    parts = np.bincount(places, before.reshape(-1), 2 * half * wide)
    steps = np.bincount(places, step.reshape(-1), 2 * half * wide)
    pairs = steps.view(np.complex128).reshape(half, wide)
    np.cumsum(pairs, axis=1, out=pairs)
    steps -= parts
    single = steps.reshape(half, wide, 2)[:, :bins]
    picture[:half], picture[half:] = single[..., 0], single[: rows - half, :, 1]


def told(power: Picture, quietest: float, levels: Picture) -> None:
    """Fill levels with 10 log₁₀ of powers, which are overwritten, of at least the quietest."""
    np.maximum(power, np.float32(quietest), out=power)
    np.log(power, out=power)  # which NumPy has vectorised on more machines than log₁₀
    np.multiply(power, np.float32(10.0 / math.log(10.0)), out=levels)


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


def heard_whole(pulse: float) -> int:
    """Of how many bins to either side, with the one that is told, a pulse that covers so many hears
    all; at least that one."""
    return max(math.floor(0.5 * pulse), 1)


def lengthened(picture: Picture, weights: Array, whole: int) -> Picture:
    """Echoes (K, beams, bins) of pulses of the weights (K, M), of which the first are 1 where there
    are several `whole` ones."""
    single = weights.astype(np.float32)
    bins = picture.shape[2]
    result = single[:, :1, None] * _summed(picture, whole - 1)
    for m in range(whole, min(single.shape[1], bins)):
        weight = single[:, m, None, None]
        middle = max(bins - 2 * m, 0)
        both = picture[..., :middle] + picture[..., bins - middle :]
        both *= weight
        result[..., m : m + middle] += both
        alone = min(m, bins - m)
        result[..., :alone] += weight * picture[..., m : m + alone]
        result[..., bins - alone :] += weight * picture[..., bins - m - alone : bins - m]
    return result


def _summed(picture: Picture, beside: int) -> Picture:
    """Sums over each bin and so many on either side: of two, four, eight, … that follow each other,
    of which any number is made up."""
    if beside == 0:
        return picture
    bins, count = picture.shape[2], 2 * beside + 1
    part = np.zeros((*picture.shape[:2], bins + 2 * beside), np.float32)
    part[..., beside : beside + bins] = picture
    result = np.zeros_like(picture)
    first, length = 0, 1
    while True:
        if count & length:
            result += part[..., first : first + bins]
            first += length
        if 2 * length > count:
            return result
        part = part[..., :-length] + part[..., length:]
        length *= 2
