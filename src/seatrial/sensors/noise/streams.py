"""Random numbers of dense sensors, drawn outside the compiled loop, sample by sample.

SFC64 (Doty-Humphrey's small fast chaotic generator of 64 bits) begins with the key of the sensor's
stream and the number of the sample, which it stirs itself: a sample has the same numbers whatever
is drawn before it.

A picture needs hundreds of thousands of numbers, of which sixteen bits each are enough: a number
chooses one of 65,536 intervals of equal probability, and stands for its median. The intervals at
the ends, which have no bound, are drawn from in full precision, so that tails are whole.
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

Single = NDArray[np.float32]
Streams = Sequence[np.random.Generator]

LEVELS = 1 << 16
MANY_WORDS = 4096
"""In which the way that lets other threads go on is the quicker one."""


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
    words = -(-count // 4)
    drawn = [_raw(random, words) for random in streams]
    joined = drawn[0] if len(drawn) == 1 else np.concatenate(drawn)
    return joined.view(np.uint16).reshape(len(streams), -1)[:, :count]


def _raw(random: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """Of 64 bits, the same by either way: one lets no other thread into Python while it draws, the
    other takes eight times as long to begin."""
    if count < MANY_WORDS:
        return np.asarray(random.bit_generator.random_raw(count))
    most = np.iinfo(np.uint64).max
    return np.asarray(random.integers(0, most, count, np.uint64, endpoint=True))


def uniforms(random: np.random.Generator, count: int) -> Single:
    """Evenly distributed between 0 and 1, both excluded."""
    found = whole([random], count)[0].astype(np.float32)
    found += np.float32(0.5)
    found *= np.float32(1.0 / LEVELS)
    return np.asarray(found)


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
    drawn = coarse(streams, count)
    found = np.asarray(exponential(np, drawn.levels))
    found.reshape(-1)[drawn.places] *= drawn.factors
    return found


class Coarse(NamedTuple):
    """Numbers of the exponential distribution with the mean 1, of which somebody else makes floats:
    `exponential` of the levels, times the factors in a few places."""

    levels: NDArray[np.uint16]
    """(K, count)."""
    places: NDArray[np.int64]
    """In all of them one after the other."""
    factors: Single


def coarse(streams: Streams, count: int) -> Coarse:
    """Of K samples, as many each."""
    levels = whole(streams, count)
    places = np.flatnonzero(levels == 0)
    tails = [-math.log(_beyond(streams[place // count])) for place in places.tolist()]
    medians = exponential(np, np.zeros(1, np.uint16))
    return Coarse(levels, places, np.asarray(tails, np.float32) / medians)


def exponential(xp: Any, levels: Any) -> Any:
    """−ln of even numbers; `xp` is NumPy or JAX's."""
    return xp.log(np.float32(LEVELS) / (levels.astype(np.float32) + np.float32(0.5)))


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
