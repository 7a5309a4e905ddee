"""A bottom as plain numbers: what is read from a map, made from a formula and kept in recordings.

`grid.HeightGrid` is the same surface for the compiled program; both have the same facets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    whole: Array | None = None
    """(2,) north and east of the first node of the map that this is a part of, m: places are
    counted from there, so that a depth is the same to the last bit in every part that holds it.
    None where it is no part."""

    @property
    def counted_from(self) -> Array:
        """(2,) north and east of the node that places are counted from, m."""
        return self.origin if self.whole is None else self.whole

    @property
    def first(self) -> tuple[int, int]:
        """Row and column, counted from there, of the first node."""
        row, column = np.rint((self.origin - self.counted_from) / self.spacing).astype(int).tolist()
        return row, column

    @property
    def north(self) -> Array:
        """(A,) of the rows, m."""
        return self._nodes(0)

    @property
    def east(self) -> Array:
        """(B,) of the columns, m."""
        return self._nodes(1)

    def _nodes(self, axis: int) -> Array:
        first = self.first[axis]
        numbers = np.arange(first, first + self.depth.shape[axis])
        nodes: Array = self.counted_from[axis] + self.spacing[axis] * numbers
        return nodes

    @property
    def corner(self) -> Array:
        """(2,) north and east of the last node, m."""
        last = np.add(self.first, self.depth.shape) - 1
        corner: Array = self.counted_from + self.spacing * last
        return corner

    def at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Depth at places, m, on the facets of `geometry.grid`; beyond the edges as at the edge."""
        places = []
        for axis, along in enumerate((x, y)):
            first, count = self.first[axis], self.depth.shape[axis]
            away = np.asarray(along, np.float64) - self.counted_from[axis]
            node = np.clip(away / self.spacing[axis], first, first + count - 1)
            cell = np.minimum(node.astype(np.int64), first + count - 2)
            places.append((cell - first, node - cell))
        (i, s), (j, t) = places
        first, last = self.depth[i, j], self.depth[i + 1, j + 1]
        northern = s >= t
        third = np.where(northern, self.depth[i + 1, j], self.depth[i, j + 1])
        along_s = np.where(northern, third - first, last - third)
        along_t = np.where(northern, last - third, third - first)
        found: Array = first + along_s * s + along_t * t
        return found

    @property
    def filled(self) -> Array:
        """(A, B) depths to be drawn: where nothing is known the greatest that is."""
        return np.nan_to_num(self.depth, nan=float(np.nanmax(self.depth)))

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
        rows, columns = (side_for(count) for count in self.depth.shape)
        return self.filled_up(rows, columns)

    def filled_up(self, rows: int, columns: int) -> "Terrain":
        """The same bottom on a grid of so many rows and columns, with its edge repeated."""
        more = [(0, rows - self.depth.shape[0]), (0, columns - self.depth.shape[1])]
        return replace(self, depth=np.pad(self.depth, more, mode="edge"))

    def part(self, rows: slice, columns: slice) -> "Terrain":
        """A part of it, which knows that it is one."""
        first = np.add(self.first, (rows.start, columns.start))
        return part_of(self.counted_from, self.spacing, first, self.depth[rows, columns])

    def grid(self) -> "HeightGrid":
        """For the compiled program."""
        # With JAX, which a reader of recordings needs not.
        from seatrial.geometry.grid import height_grid

        (north, east), (along, across) = self.counted_from, self.spacing
        origin, spacing = (float(north), float(east)), (float(along), float(across))
        return height_grid(origin, spacing, self.depth, self.first)


def terrain(origin: ArrayLike, spacing: ArrayLike, depth: ArrayLike) -> Terrain:
    """A terrain of at least two by two nodes, rounded to single precision."""
    rounded = np.asarray(depth, np.float32).astype(np.float64)
    return Terrain(np.asarray(origin, np.float64), np.asarray(spacing, np.float64), rounded)


def terrain_of(grid: "HeightGrid") -> Terrain:
    """Back from the compiled program's form."""
    return part_of(grid.origin, grid.spacing, grid.first, np.asarray(grid.depth, np.float64))


def part_of(whole: ArrayLike, spacing: ArrayLike, first: ArrayLike, depth: Array) -> Terrain:
    """Depths, rounded already, from the row and column `first` of a map on, whose own first node
    lies at `whole`."""
    counted_from, steps = np.asarray(whole, np.float64), np.asarray(spacing, np.float64)
    if not np.any(first):
        return Terrain(counted_from, steps, depth)
    return Terrain(counted_from + steps * np.asarray(first), steps, depth, counted_from)


def joined(parts: Sequence[Terrain]) -> Terrain:
    """Parts of one map as one, without a depth where none of them has any."""
    if len(parts) == 1:
        return parts[0]
    firsts = np.array([part.first for part in parts])
    low = firsts.min(axis=0)
    shapes = np.array([part.depth.shape for part in parts])
    depth = np.full((firsts + shapes).max(axis=0) - low, np.nan)
    # What fills a part up beyond the edges of its map lies in nobody's way: all parts repeat the
    # same edge there.
    for part, (i, j), (rows, columns) in zip(parts, firsts - low, shapes, strict=True):
        depth[i : i + rows, j : j + columns] = part.depth
    return part_of(parts[0].counted_from, parts[0].spacing, low, depth)


def side_for(count: int) -> int:
    """The first of 32, 48, 64, 96, 128, … that is at least `count`."""
    side = SMALLEST_SIDE
    while side < count:
        side = side * 3 // 2 if side & (side - 1) == 0 else side * 4 // 3
    return side
