"""What a recording needs of whatever holds its data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Act
from seatrial.record.lazy import LazyArray
from seatrial.signals import Measurements

if TYPE_CHECKING:
    import xarray

Span = tuple[float, float]
"""From when to when, s since the start, both ends included."""


class Source(Protocol):
    """Frames, samples and arrays of a run, in a file or in memory."""

    def dataset(self) -> "xarray.Dataset":
        """All frames, in the file until they are used."""

    def parts(self) -> Iterator[slice]:
        """Stretches of frames as they lie together, each small enough for the memory."""

    def acts(self) -> tuple[Act, ...]:
        """What people did while it ran, in order."""

    def samples(self, vehicle: str, sensor: str, span: Span) -> Iterator[Measurements]:
        """What a sensor measured in a span of time, piece by piece, without its arrays."""

    def counts(self) -> dict[tuple[str, str], int]:
        """Samples in the file by vehicle and sensor, told without reading them."""

    def payload(self, vehicle: str, sensor: str) -> LazyArray:
        """The arrays of a dense sensor, a row per valid sample."""


def within(samples: Measurements, span: Span) -> Measurements:
    """The samples taken in a span of time."""
    if span[0] == -np.inf and span[1] == np.inf:
        return samples
    return samples.cut((samples.time >= span[0]) & (samples.time <= span[1]))


def cut_into(count: int, size: int) -> Iterator[slice]:
    """Consecutive stretches of at most `size` of `count` rows."""
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))


def no_samples(components: int) -> Measurements:
    """Nothing, of so many numbers."""
    none: NDArray[Any] = np.empty(0)
    return Measurements(
        none, none, np.empty((0, components)), none.astype(bool), none.astype(np.int32)
    )
