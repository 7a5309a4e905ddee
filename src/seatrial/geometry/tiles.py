"""A large bottom in tiles, whose acceleration structures are built where rays come by."""

from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.mesh import surface
from seatrial.geometry.terrain import terrain_of
from seatrial.geometry.triangles import Triangles

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

CELLS = 256
"""Along each side of a tile."""
BEYOND = 20_000.0
"""How far a bottom goes on beyond the edges of its grid, m."""


def extended(grid: HeightGrid) -> tuple[Array, Array, Array]:
    """Nodes north (A,) and east (B,) and their depths (A, B), with the bottom beyond the edges."""
    plain = terrain_of(grid)
    own = plain.depth
    # A map is filled up at its far edges to a size that other maps share: that goes on beyond too.
    rows = _before_repeats(own)
    columns = _before_repeats(own[:rows].T)
    depth = np.pad(own[:rows, :columns], 1, mode="edge")
    axes = []
    for nodes in (plain.north[:rows], plain.east[:columns]):
        axes.append(np.concatenate([[nodes[0] - BEYOND], nodes, [nodes[-1] + BEYOND]]))
    return axes[0], axes[1], depth


def _before_repeats(rows: Array) -> int:
    """How many of some rows are left, at least two, without those at the end that repeat the one
    before."""
    count = len(rows)
    while count > 2 and np.array_equal(rows[count - 1], rows[count - 2]):
        count -= 1
    return count


class Tiles:
    """The same bottom, in pieces of `CELLS` by `CELLS`."""

    def __init__(self, north: Array, east: Array, depth: Array) -> None:
        self._north, self._east, self._depth = north, east, depth
        self._least, self._most = float(depth.min()), float(depth.max())
        self._starts = [np.arange(0, len(nodes) - 1, CELLS) for nodes in (north, east)]
        self._built: dict[tuple[int, int], Triangles] = {}
        self._lock = Lock()

    def reached(
        self,
        origins: Array,
        directions: NDArray[np.floating[Any]],
        reach: NDArray[np.floating[Any]],
    ) -> Iterator[tuple[Triangles, NDArray[np.int64]]]:
        """The tiles that some rays (R, 3) pass within `reach` (R,), and which rays: near first."""
        # A ray passes between the least and the greatest depth for a while, and it can meet the
        # bottom nowhere else.
        down, z = directions[:, 2].astype(np.float64), origins[:, 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            upper, lower = (self._least - z) / down, (self._most - z) / down
        level = down == 0.0
        between = (z >= self._least) & (z <= self._most)
        enters = np.where(level, np.where(between, 0.0, np.inf), np.minimum(upper, lower))
        leaves = np.where(level, np.where(between, np.inf, -np.inf), np.maximum(upper, lower))
        enters = np.maximum(enters, 0.0)
        leaves = np.minimum(np.minimum(leaves, reach), 2.0 * BEYOND)
        some = np.flatnonzero(enters <= leaves)
        if not len(some):
            return
        ends = [
            origins[some, :2] + span[some, None] * directions[some, :2] for span in (enters, leaves)
        ]
        low, high = np.minimum(*ends), np.maximum(*ends)
        first, last = low.min(axis=0), high.max(axis=0)
        middle = origins[:, :2].mean(axis=0)
        wanted = [
            (i, j)
            for i in self._between(self._north, self._starts[0], first[0], last[0])
            for j in self._between(self._east, self._starts[1], first[1], last[1])
        ]
        for i, j in sorted(wanted, key=lambda tile: self._distance(tile, middle)):
            (south, north), (west, east) = self._bounds(i, j)
            inside = (low[:, 0] <= north) & (high[:, 0] >= south)
            inside &= (low[:, 1] <= east) & (high[:, 1] >= west)
            rays = some[inside]
            if len(rays):
                yield self._tile(i, j), rays

    def _between(
        self, nodes: Array, starts: NDArray[np.int64], low: float, high: float
    ) -> list[int]:
        ends = nodes[np.minimum(starts + CELLS, len(nodes) - 1)]
        return np.flatnonzero((nodes[starts] <= high) & (ends >= low)).tolist()

    def _bounds(self, i: int, j: int) -> tuple[tuple[float, float], tuple[float, float]]:
        found = []
        for nodes, starts, k in (
            (self._north, self._starts[0], i),
            (self._east, self._starts[1], j),
        ):
            start = starts[k]
            found.append((float(nodes[start]), float(nodes[min(start + CELLS, len(nodes) - 1)])))
        return found[0], found[1]

    def _distance(self, tile: tuple[int, int], place: Array) -> float:
        """From a place to the nearest point of a tile."""
        outside = [
            max(a - p, p - b, 0.0) for (a, b), p in zip(self._bounds(*tile), place, strict=True)
        ]
        return float(np.hypot(*outside))

    def _tile(self, i: int, j: int) -> Triangles:
        with self._lock:
            if (i, j) not in self._built:
                rows, columns = (
                    slice(int(starts[k]), int(starts[k]) + CELLS + 1)
                    for starts, k in ((self._starts[0], i), (self._starts[1], j))
                )
                nodes = self._north[rows], self._east[columns], self._depth[rows, columns]
                self._built[i, j] = Triangles(surface(*nodes))
            return self._built[i, j]
