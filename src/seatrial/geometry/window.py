"""Which part of a map is looked at: rows and columns around some places.

A compiled program belongs to the shape of its arrays, so a part has one of a few numbers of nodes
along each side, and keeps them wherever on its map it moves.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.terrain import Terrain, side_for

Array = NDArray[np.float64]


class Chart(NamedTuple):
    """Where the nodes of a map lie."""

    origin: Array
    """(2,) north and east of the first node, m."""
    spacing: Array
    """(2,) between nodes towards north and east, m."""
    shape: tuple[int, int]

    @property
    def corner(self) -> Array:
        """(2,) north and east of the last node, m."""
        last: Array = self.origin + self.spacing * (np.array(self.shape) - 1)
        return last


class Window(NamedTuple):
    """A part of a map."""

    rows: slice
    columns: slice

    @property
    def counts(self) -> tuple[int, int]:
        """Of rows and columns."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start


def nodes_between(chart: Chart, low: Array, high: Array) -> tuple[int, int]:
    """How many rows and columns hold all between two corners, on a map that has no end."""
    rows, columns = (stop - first for first, stop in _spans(chart, low, high))
    return rows, columns


def window(chart: Chart, low: Array, high: Array, sides: tuple[int, int] | None = None) -> Window:
    """What holds all of a map between two corners, or its middle of `sides` nodes; without them it
    is widened to a usual number of nodes. It has fewer where the map has."""
    found = []
    for axis, (first, stop) in enumerate(_spans(chart, low, high)):
        count = chart.shape[axis]
        wanted = side_for(min(stop - first, count)) if sides is None else sides[axis]
        first -= (wanted - (stop - first)) // 2
        first = max(0, min(first, count - wanted))
        found.append(slice(first, min(first + wanted, count)))
    return Window(*found)


def _spans(chart: Chart, low: Array, high: Array) -> list[tuple[int, int]]:
    return [
        (
            math.floor((low[axis] - chart.origin[axis]) / chart.spacing[axis]),
            math.ceil((high[axis] - chart.origin[axis]) / chart.spacing[axis]) + 1,
        )
        for axis in range(2)
    ]


def with_depths(part: Terrain, usual: float) -> tuple[Terrain, NDArray[np.bool_] | None]:
    """A part of a map with the nearest known depth in its holes, or `usual` where nothing is known;
    and where those are, (A, B), None where there are none."""
    holes = np.isnan(part.depth)
    if not holes.any():
        return part, None
    if holes.all():
        filled = np.full_like(part.depth, usual)
    else:
        from scipy.ndimage import distance_transform_edt

        nearest = distance_transform_edt(
            holes, sampling=part.spacing, return_distances=False, return_indices=True
        )
        filled = part.depth[tuple(nearest)]
    return Terrain(part.origin, part.spacing, filled, part.whole), holes
