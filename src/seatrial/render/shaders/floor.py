"""A mapped bottom on the card: its depths as a texture, drawn in pieces.

Pieces near by have a corner at every node; farther away one of 2, 4, 8, … nodes is drawn. That only
decides which piece of the bottom hides which: a ray meets the triangle of the full grid that lies
there. Neighbours of different fineness overlap by hems that hang down.

Where its hills hide the sun is a map as well, made once for a direction of the sun: the depth above
which the sun is seen over a node,

    Z(x) = min over s of D(x + s l) + s u

with the depth D of the bottom, and l and u the level and the upward part of the direction. It is
found by doubling: with what is known up to s, Z up to 2 s is the lesser of Z(x) and
Z(x + s l) + s u.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.tiles import extended
from seatrial.render.live.solids import SHADOW, slopes_of
from seatrial.render.shaders.frame import Frame
from seatrial.render.shaders.programs import PIECE
from seatrial.render.shaders.tables import Shelf, table
from seatrial.render.shaders.uniforms import Uniforms

Array = NDArray[np.float64]

COARSEST = 4.0
"""Pixels between corners that are drawn, of pieces that leave some out."""
SUNS = 4
"""Directions of the sun whose shade is kept."""


class _Piece(NamedTuple):
    level: int
    """2 to this power nodes are one step."""
    north: int
    east: int
    """Number of the piece among those of its level."""


class Floor:
    """A bottom."""

    def __init__(self, gl: Any, grid: HeightGrid) -> None:
        self._gl, self.grid = gl, grid
        self._north, self._east, self._depth = extended(grid)
        slopes = slopes_of(grid)
        depth = np.asarray(grid.depth, np.float64)
        self.map = table(gl, depth, smooth=True)
        self.falls = table(gl, np.stack([slopes.north, slopes.east], axis=2), smooth=True)
        self._shades = Shelf(SUNS)
        cells = max(self._depth.shape) - 1
        self._levels = max(0, math.ceil(math.log2(cells / PIECE)))
        self._bounds = [self._bounded(PIECE << level) for level in range(self._levels + 1)]
        self.shallowest = float(depth.min())
        self._faces = [gl.buffer(_lattice(hemmed).tobytes()) for hemmed in (False, True)]
        self._arrays: dict[Any, Any] = {}

    def _bounded(self, cells: int) -> tuple[Array, Array]:
        """Least and greatest depths of pieces of so many cells along each side."""
        rows, columns = (range(0, side - 1, cells) for side in self._depth.shape)
        parts = [[self._depth[i : i + cells + 1, j : j + cells + 1] for j in columns] for i in rows]
        return (
            np.array([[part.min() for part in line] for line in parts]),
            np.array([[part.max() for part in line] for line in parts]),
        )

    def shade(self, sun: Array) -> Any:
        """The map of depths above which a sun in a direction is seen."""
        key = tuple(np.round(sun, 6).tolist())
        return self._shades.get(key, lambda: table(self._gl, self._shaded(sun), smooth=True))

    def _shaded(self, sun: Array) -> Array:
        depth = np.asarray(self.grid.depth, np.float64)
        slopes = slopes_of(self.grid)
        level, up = sun[:2], -float(sun[2])
        aside = float(np.hypot(*level))
        step = 0.5 * float(slopes.spacing.min()) / max(aside, 1e-6)
        relief = float(np.ptp(depth))
        far = min(SHADOW, relief / max(up, 1e-6))
        if step >= far:
            return np.full_like(depth, np.inf).clip(max=1e6)
        found = _shifted(depth, step * level / slopes.spacing) + step * up
        while step < far:
            there = _shifted(found, step * level / slopes.spacing) + step * up
            found, step = np.minimum(found, there), 2.0 * step
        return found

    def put(self, uniforms: Uniforms, eye: Array) -> None:
        """Tell programs where it is."""
        slopes = slopes_of(self.grid)
        uniforms.put("floor_first", slopes.origin - eye[:2])
        uniforms.put("floor_step", slopes.spacing)
        rows, columns = self._depth.shape
        uniforms.put("floor_count", rows - 2, columns - 2, *self.grid.depth.shape)

    def draw(self, program: Any, frame: Frame, reach: float, shallowest: float | None) -> bool:
        """Render what may be seen within reach; only what rises above a depth, where one is
        given. Whether there was anything."""
        pieces = self._pieces(frame, reach, shallowest)
        hemmed = len({piece.level for piece in pieces}) > 1
        if (program, hemmed) not in self._arrays:
            self._arrays[program, hemmed] = self._gl.vertex_array(
                program, [], index_buffer=self._faces[int(hemmed)], index_element_size=4
            )
        array, where = self._arrays[program, hemmed], program["piece"]
        for level, north, east in pieces:
            cells = PIECE << level
            where.value = north * cells, east * cells, 1 << level
            array.render()
        return bool(pieces)

    def _pieces(self, frame: Frame, reach: float, shallowest: float | None) -> list[_Piece]:
        """Those that may be seen: as coarse as their distance allows."""
        focal = frame.size[0] / float(frame.extent[0])
        spacing = float(slopes_of(self.grid).spacing.max())
        rest, found = [_Piece(self._levels, 0, 0)], []
        while rest:
            piece = rest.pop()
            low, high = self._corners(piece)
            if shallowest is not None and low[2] > shallowest:
                continue
            middle = 0.5 * (low + high) - frame.eye
            radius = np.full(1, 0.5 * np.linalg.norm(high - low))
            away = np.maximum(np.maximum(low - frame.eye, frame.eye - high), 0.0)
            distance = float(np.linalg.norm(away))
            if distance > reach or not frame.within(middle[None], radius)[0]:
                continue
            if piece.level == 0 or spacing * (1 << piece.level) * focal < COARSEST * distance:
                found.append(piece)
                continue
            finer = self._bounds[piece.level - 1][0].shape
            rest += [
                _Piece(piece.level - 1, i, j)
                for i in (2 * piece.north, 2 * piece.north + 1)
                for j in (2 * piece.east, 2 * piece.east + 1)
                if i < finer[0] and j < finer[1]
            ]
        return found

    def _corners(self, piece: _Piece) -> tuple[Array, Array]:
        """Least and greatest coordinates of a piece, NED."""
        level, cells = piece.level, PIECE << piece.level
        least, most = (bound[piece.north, piece.east] for bound in self._bounds[level])
        ends = []
        for nodes, k in ((self._north, piece.north), (self._east, piece.east)):
            last = min((k + 1) * cells, len(nodes) - 1)
            ends.append((float(nodes[k * cells]), float(nodes[last])))
        (south, north), (west, east) = ends
        return np.array([south, west, least]), np.array([north, east, most])

    def release(self) -> None:
        """Let go of everything on the card."""
        for thing in (*self._arrays.values(), self.map, self.falls, *self._faces):
            thing.release()
        self._shades.clear()


def _lattice(hemmed: bool) -> NDArray[np.int32]:
    """(F, 3) faces of a piece, with its hem or without."""
    side = PIECE + 3
    cells = np.arange(side - 1) if hemmed else np.arange(1, side - 2)
    i, j = (k.ravel() for k in np.meshgrid(cells, cells, indexing="ij"))
    first = i * side + j
    last = first + side + 1
    faces = [np.stack([first, last, first + side], 1), np.stack([first, first + 1, last], 1)]
    return np.concatenate(faces).astype(np.int32)


def _shifted(values: Array, by: Array) -> Array:
    """Values (A, B) at nodes that lie some steps towards north and east; beyond the edges those of
    the edge."""
    for axis in (0, 1):
        whole = math.floor(by[axis])
        part = float(by[axis]) - whole
        at = np.arange(values.shape[axis]) + whole
        low, high = (np.clip(at + k, 0, values.shape[axis] - 1) for k in (0, 1))
        values = (1.0 - part) * values.take(low, axis=axis) + part * values.take(high, axis=axis)
    return values
