"""A bottom as plain numbers: what is read from a map, made from a formula and kept in recordings.

`grid.HeightGrid` is the same surface for the compiled program; both have the same facets.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from seatrial.geometry.grid import HeightGrid

Array = NDArray[np.float64]

SMALLEST_SIDE = 32
"""Nodes along the shortest side of a grid with room to spare."""


@dataclass(frozen=True)
class Terrain:
    """Depths at the nodes of a level grid, with axes along north and east."""

    origin: Array
    """(2,) north and east of the first node, m."""
    spacing: Array
    """(2,) between nodes towards north and east, m."""
    depth: Array
    """(A, B) below the mean level, m; negative on land, NaN where nothing is known. Rounded to
    single precision, so that a file of such numbers loses nothing."""

    @property
    def north(self) -> Array:
        """(A,) of the rows, m."""
        return np.asarray(self.origin[0] + self.spacing[0] * np.arange(self.depth.shape[0]))

    @property
    def east(self) -> Array:
        """(B,) of the columns, m."""
        return np.asarray(self.origin[1] + self.spacing[1] * np.arange(self.depth.shape[1]))

    @property
    def corner(self) -> Array:
        """(2,) north and east of the last node, m."""
        last: Array = self.origin + self.spacing * (np.array(self.depth.shape) - 1)
        return last

    def at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Depth at places, m, on the facets of `geometry.grid`; beyond the edges as at the edge."""
        rows, columns = self.depth.shape
        a = np.clip((np.asarray(x, np.float64) - self.origin[0]) / self.spacing[0], 0, rows - 1)
        b = np.clip((np.asarray(y, np.float64) - self.origin[1]) / self.spacing[1], 0, columns - 1)
        i = np.minimum(a.astype(np.int64), rows - 2)
        j = np.minimum(b.astype(np.int64), columns - 2)
        s, t = a - i, b - j
        first, last = self.depth[i, j], self.depth[i + 1, j + 1]
        northern = s >= t
        third = np.where(northern, self.depth[i + 1, j], self.depth[i, j + 1])
        along_s = np.where(northern, third - first, last - third)
        along_t = np.where(northern, last - third, third - first)
        found: Array = first + along_s * s + along_t * t
        return found

    def covers(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.bool_]:
        """Whether places lie on the grid."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        (n, e), (to_n, to_e) = self.origin, self.corner
        on: NDArray[np.bool_] = (x >= n) & (x <= to_n) & (y >= e) & (y <= to_e)
        return on

    def with_room(self) -> "Terrain":
        """The same bottom on a grid whose sides have one of a few numbers of nodes.

        What is added repeats the edge, which is how a grid goes on anyway. A compiled program
        belongs to the shape of its arrays, so similar maps share one.
        """
        more = [(0, side_for(count) - count) for count in self.depth.shape]
        return Terrain(self.origin, self.spacing, np.pad(self.depth, more, mode="edge"))

    def grid(self) -> "HeightGrid":
        """For the compiled program."""
        # With JAX, which a reader of recordings needs not.
        from seatrial.geometry.grid import height_grid

        (north, east), (along, across) = self.origin, self.spacing
        return height_grid((float(north), float(east)), (float(along), float(across)), self.depth)


def terrain(origin: ArrayLike, spacing: ArrayLike, depth: ArrayLike) -> Terrain:
    """A terrain of at least two by two nodes, rounded to single precision."""
    rounded = np.asarray(depth, np.float32).astype(np.float64)
    return Terrain(np.asarray(origin, np.float64), np.asarray(spacing, np.float64), rounded)


def terrain_of(grid: "HeightGrid") -> Terrain:
    """Back from the compiled program's form."""
    return Terrain(*(np.asarray(a, np.float64) for a in (grid.origin, grid.spacing, grid.depth)))


def side_for(count: int) -> int:
    """The first of 32, 48, 64, 96, 128, … that is at least `count`."""
    side = SMALLEST_SIDE
    while side < count:
        side = side * 3 // 2 if side & (side - 1) == 0 else side * 4 // 3
    return side
