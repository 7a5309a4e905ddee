"""Random numbers of dense sensors, drawn outside the compiled loop, sample by sample.

SFC64 (Doty-Humphrey's small fast chaotic generator of 64 bits) begins with the key of the sensor's
stream and the number of the sample, which it stirs itself: a sample has the same numbers whatever
is drawn before it.

A picture needs hundreds of thousands of numbers, of which sixteen bits each are enough: a number
chooses one of 65,536 intervals of equal probability, and stands for its median. The intervals at
the ends, which have no bound, are drawn from in full precision, so that tails are whole.
"""

from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

Single = NDArray[np.float32]
Streams = Sequence[np.random.Generator]

LEVELS = 1 << 16


class _Words(ISeedSequence):
    """What a generator begins with, as it is: to stir it first, as NumPy does, takes longer than a
    small sample takes to draw."""

    def __init__(self, *words: int) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """The words, of which there are as many as the generator asks for."""
        assert n_words == len(self._words)
        return np.array(self._words, dtype)


def stream(key: NDArray[np.uint32], number: int) -> np.random.Generator:
    """The random numbers of one sample of the sensor that has a key of two words."""
    wide = (int(key[0]) << 32) | int(key[1])
    words: Any = _Words(wide, number, 0)  # NumPy's types know no seed but its own
    return np.random.Generator(np.random.SFC64(words))


def whole(streams: Streams, count: int) -> NDArray[np.uint16]:
    """(K, count) evenly distributed numbers from 0 to 65,535."""
    words = np.empty((len(streams), -(-count // 4)), np.uint64)
    for row, random in zip(words, streams, strict=True):
        row[:] = random.bit_generator.random_raw(len(row))
    return words.view(np.uint16)[:, :count]


def uniforms(random: np.random.Generator, count: int) -> Single:
    """Evenly distributed between 0 and 1, both excluded."""
    return np.asarray(_even(whole([random], count))[0])


def normals(random: np.random.Generator, count: int) -> Single:
    """Of the standard normal distribution."""
    return np.asarray(normals_of([random], count)[0])


def exponentials(random: np.random.Generator, count: int) -> Single:
    """Of the exponential distribution with the mean 1."""
    return np.asarray(exponentials_of([random], count)[0])


def normals_of(streams: Streams, count: int) -> Single:
    """(K, count) of the standard normal distribution."""
    levels = whole(streams, count)
    found = _normal_medians().take(levels)
    for end, sign in ((0, 1.0), (LEVELS - 1, -1.0)):
        for k, i in _places(levels, end):
            found[k, i] = sign * NormalDist().inv_cdf(_beyond(streams[k]))
    return found


def exponentials_of(streams: Streams, count: int) -> Single:
    """(K, count) of the exponential distribution with the mean 1."""
    levels = whole(streams, count)
    found = _even(levels)
    np.log(found, out=found)
    np.negative(found, out=found)
    for k, i in _places(levels, 0):
        found[k, i] = -np.log(_beyond(streams[k]))
    return found


def _even(levels: NDArray[np.uint16]) -> Single:
    """Medians of the even distribution, without rounding."""
    found = levels.astype(np.float32)
    found += np.float32(0.5)
    found *= np.float32(1.0 / LEVELS)
    return found


def _places(levels: NDArray[np.uint16], level: int) -> list[tuple[int, int]]:
    """Rows and columns that have a level."""
    places = np.flatnonzero(levels == np.uint16(level)).tolist()
    return [divmod(place, levels.shape[1]) for place in places]


def _beyond(random: np.random.Generator) -> float:
    """A probability within the interval at an end; never 0."""
    return (1.0 - random.random()) / LEVELS


@cache
def _normal_medians() -> Single:
    # The standard library's own: SciPy's takes longer to import than a picture takes to draw.
    median = NormalDist().inv_cdf
    upper = [median((level + 0.5) / LEVELS) for level in range(LEVELS // 2, LEVELS)]
    return np.array([-value for value in reversed(upper)] + upper, np.float32)
