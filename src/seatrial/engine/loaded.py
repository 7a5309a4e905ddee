"""The part of a map that a run has loaded, as an array of its compiled program."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.terrain import Terrain
from seatrial.geometry.window import Chart, Window

Array = NDArray[np.float64]


class Source(Protocol):
    """All of a bottom."""

    @property
    def chart(self) -> Chart:
        """Where its nodes lie."""

    @property
    def deepest(self) -> float:
        """Greatest depth, m."""

    def read(self, window: Window) -> Terrain:
        """A part of it; raises OSError or ValueError where it cannot be read any more."""


@dataclass(frozen=True)
class Follow:
    """How the loaded part follows the vehicles."""

    source: Source
    sides: tuple[int, int]
    """Rows and columns of the array, which shape the program."""
    room: float
    """How far around a vehicle the bottom is known until the next look, m."""
    every: float
    """From look to look, s."""

    def spread(self, chart: Chart) -> Array:
        """(2,) how far apart vehicles may be and all have it, towards north and east, m."""
        most = chart.spacing * (np.array(self.sides) - 1) - 2.0 * self.room
        return np.where(np.array(self.sides) >= chart.shape, np.inf, np.maximum(most, 0.0))


@dataclass(frozen=True)
class Loaded:
    """The part of a map that is loaded; beyond it the bottom goes on as at its edge."""

    part: Terrain
    chart: Chart
    """The map's own."""
    survey: bool
    """Whether it is of a real place, whose end is told of; what is made up has none."""
    follow: Follow | None = None
    """None where all of it is loaded."""
    holes: NDArray[np.bool_] | None = None
    """(A, B) nodes without a depth, which have the nearest known one; None without any."""
    unread: str = ""
    """Why no other part could be read; empty where none had to be, or could."""

    @property
    def low(self) -> Array:
        """(2,) least north and east, m."""
        return self.part.origin

    @property
    def high(self) -> Array:
        """(2,) greatest north and east, m."""
        return self.part.corner

    def left(self, place: Array) -> NDArray[np.int64]:
        """(...,) numbers of `LEFT` for places (..., 2 or more); 0 for those that are known."""
        level = place[..., :2]
        found = np.zeros(level.shape[:-1], np.int64)
        if self.follow is None and not self.survey:
            return found
        if self.holes is not None:
            found[self._over_hole(level)] = LEFT.index("a hole")
        found[_outside(level, self.low, self.high)] = LEFT.index("the part")
        beyond = _outside(level, self.chart.origin, self.chart.corner)
        found[beyond] = LEFT.index("the map") if self.survey else 0
        return found

    def _over_hole(self, level: Array) -> NDArray[np.bool_]:
        """Whether a node of the cell under a place has no depth."""
        assert self.holes is not None
        most = np.array(self.holes.shape) - 2
        cell = np.clip(np.floor((level - self.low) / self.part.spacing), 0, most).astype(np.int64)
        i, j = cell[..., 0], cell[..., 1]
        corners = [self.holes[i + k, j + m] for k in (0, 1) for m in (0, 1)]
        return np.asarray(np.any(corners, axis=0))

    def told(self, what: int, place: Array) -> str:
        """What to say, for people, of a vehicle that has left what is known."""
        at = f"at {place[0]:.0f} m north, {place[1]:.0f} m east"
        if LEFT[what] == "a hole":
            return (
                f"came over a hole of the map {at}: no depth is known there, it is taken as the "
                "nearest that is; import the map again with `--holes fill`"
            )
        if LEFT[what] == "the map":
            part, mend = "the map", "import more of it"
            (n0, e0), (n1, e1) = self.chart.origin, self.chart.corner
        else:
            part = "the loaded part of the map"
            mend = self.unread or (
                "vehicles that are farther apart cannot all have it loaded: run them one by one, "
                "or give the map a larger `spacing`"
            )
            (n0, e0), (n1, e1) = self.low, self.high
        return (
            f"left {part} {at}: from {n0:.0f} to {n1:.0f} m north and {e0:.0f} to {e1:.0f} m east "
            f"the bottom is known, and taken as at the edge beyond; {mend}"
        )


LEFT = ("", "a hole", "the part", "the map")
"""What a vehicle may have left, or come over."""


class Moved(NamedTuple):
    """Another part of a map than before."""

    time: float
    """From when on, s."""
    loaded: Loaded


def _outside(level: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    return np.asarray(np.any((level < low) | (level > high), axis=-1))
