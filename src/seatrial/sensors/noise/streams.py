"""Random numbers of dense sensors, drawn outside the compiled loop, sample by sample.

Philox-4x64 (Salmon et al. 2011) keyed by the sensor's stream, with the number of the sample as the
counter: a sample has the same numbers whatever is drawn before it.

A picture needs hundreds of thousands of numbers, of which sixteen bits each are enough: a number
chooses one of 65,536 intervals of equal probability, and stands for its median. The intervals at
the ends, which have no bound, are drawn from in full precision, so that tails are whole.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]

LEVELS = 1 << 16


def stream(key: NDArray[np.uint32], number: int) -> np.random.Generator:
    """The random numbers of one sample of the sensor that has a key of two words."""
    wide = (int(key[0]) << 32) | int(key[1])
    return np.random.Generator(np.random.Philox(key=wide, counter=number << 192))


def whole(random: np.random.Generator, count: int) -> NDArray[np.uint16]:
    """Evenly distributed numbers from 0 to 65,535."""
    words = random.bit_generator.random_raw(-(-count // 4))
    return np.asarray(words).view(np.uint16)[:count]


def uniforms(random: np.random.Generator, count: int) -> Single:
    """Evenly distributed between 0 and 1, both excluded."""
    return (whole(random, count) + np.float32(0.5)) * np.float32(1.0 / LEVELS)


def normals(random: np.random.Generator, count: int) -> Single:
    """Of the standard normal distribution."""
    from scipy.special import ndtri

    levels = whole(random, count)
    found = _normal_medians().take(levels)
    low, high = np.flatnonzero(levels == 0), np.flatnonzero(levels == LEVELS - 1)
    found[low] = ndtri(_beyond(random, len(low)))
    found[high] = -ndtri(_beyond(random, len(high)))
    return found


def exponentials(random: np.random.Generator, count: int) -> Single:
    """Of the exponential distribution with the mean 1."""
    levels = whole(random, count)
    found = _exponential_medians().take(levels)
    high = np.flatnonzero(levels == LEVELS - 1)
    found[high] = -np.log(_beyond(random, len(high)))
    return found


def _beyond(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Probabilities within the interval at an end; never 0."""
    return (1.0 - random.random(count)) / LEVELS


@cache
def _normal_medians() -> Single:
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(LEVELS) + 0.5) / LEVELS), np.float32)


@cache
def _exponential_medians() -> Single:
    return np.asarray(-np.log1p(-(np.arange(LEVELS) + 0.5) / LEVELS), np.float32)
