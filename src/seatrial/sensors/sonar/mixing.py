"""Rows of a picture mixed with their neighbours: what beams of a line of elements hear of azimuths,
and how an antenna blurs them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Picture = NDArray[np.float32]

TOGETHER = 16
"""Rows that are made at a time, all of the same few rows."""
ONE_THREAD = 1 << 18
"""Multiplications of a matrix product up to which OpenBLAS does without threads. Sensors are
expanded on all cores already: with threads of its own it spends thirty times the time waiting."""


@dataclass(frozen=True)
class Mixing:
    """Rows that are made of neighbouring ones, all by the same pattern."""

    pattern: Picture
    """(L,) by how much row i is made of the rows i·stride, i·stride + 1, … ."""
    stride: int
    rows: int
    """That are made."""

    @property
    def needed(self) -> int:
        """Rows that there have to be; those behind the last that is heard are zeros."""
        return (-(-self.rows // TOGETHER) * TOGETHER - 1) * self.stride + len(self.pattern)

    @cached_property
    def _band(self) -> Picture:
        """(TOGETHER, some) of neighbouring rows."""
        found = np.zeros((TOGETHER, (TOGETHER - 1) * self.stride + len(self.pattern)), np.float32)
        for i, row in enumerate(found):
            row[i * self.stride :][: len(self.pattern)] = self.pattern
        return found

    def of(self, given: Picture) -> Picture:
        """(rows, bins) of rows (`needed`, bins).

        All products are one call, so that threads do not wait for each other in between; each of
        them is small enough to stay in its thread.
        """
        bins = given.shape[1]
        pieces = -(-bins * self._band.size // ONE_THREAD)
        width = max(bins // pieces, 1)
        even = bins // width * width
        made = np.empty((-(-self.rows // TOGETHER) * TOGETHER, bins), np.float32)
        for first, wide in ((0, width), (even, bins - even)):
            if wide:
                columns = slice(first, even if first < even else bins)
                np.matmul(
                    self._band,
                    _windows(given[:, columns], TOGETHER * self.stride, self._band.shape[1], wide),
                    out=_windows(made[:, columns], TOGETHER, TOGETHER, wide),
                )
        return made[: self.rows]


def _windows(rows: Picture, step: int, high: int, wide: int) -> Picture:
    """(groups, pieces, high, wide) of neighbouring rows, each so many behind the one before, and of
    the columns that lie beside each other; nothing is copied."""
    count, bins = rows.shape
    down, along = rows.strides
    shape = (count - high) // step + 1, bins // wide, high, wide
    return as_strided(rows, shape, (step * down, wide * along, down, along))
