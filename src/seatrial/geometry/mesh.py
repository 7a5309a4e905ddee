"""Triangle meshes, as plain arrays: what rays are cast against and what is drawn.

Faces are wound counter-clockwise seen from outside, so that their normals (right-hand rule) point
out of the body; under a bottom, into the water.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.terrain import terrain_of

if TYPE_CHECKING:
    from seatrial.geometry.grid import HeightGrid

Array = NDArray[np.float64]
Faces = NDArray[np.int64]


TOLERANCE = 0.005
"""How far a facet of a round body may lie inside it, m."""
FEWEST_SIDES, MOST_SIDES = 32, 256


class Mesh(NamedTuple):
    """Triangles."""

    vertices: Array
    """(V, 3) m."""
    faces: Faces
    """(F, 3) rows of `vertices`."""

    def moved(self, position: Array, rotation: Array) -> "Mesh":
        """The mesh turned by a matrix (3, 3) and then shifted by (3,)."""
        return Mesh(self.vertices @ rotation.T + position, self.faces)

    @property
    def normals(self) -> Array:
        """(F, 3) unit normals; 0 for a triangle without area."""
        # Side by side: NumPy gathers and multiplies columns several times as fast as rows.
        corners = [np.ascontiguousarray(corner) for corner in self.faces.T]
        u, v = [], []
        for side in self.vertices.T:
            a, b, c = (side.take(corner) for corner in corners)
            u.append(np.subtract(b, a, out=b))
            v.append(np.subtract(c, a, out=c))
        normals = np.stack([u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)])
        length = np.sqrt(sum(side * side for side in normals))
        length[length == 0.0] = 1.0
        normals /= length
        return normals.T


def sides_of_faces(faces: Faces) -> Faces:
    """(3 F, 2) corners of the sides of faces (F, 3): the first of each, then the second, then the
    third."""
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def merged(meshes: list[Mesh]) -> Mesh:
    """One mesh of several, their faces in order."""
    firsts = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    vertices = np.concatenate([m.vertices for m in meshes])
    faces = [m.faces + first for m, first in zip(meshes, firsts[:-1], strict=True)]
    return Mesh(vertices, np.concatenate(faces))


def box(size: tuple[float, float, float]) -> Mesh:
    """A box about its middle, of a length, a width and a height."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
    sides = [
        *((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5)),  # aft, forward
        *((0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6)),  # port, starboard
        *((0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)),  # top (up is −z), bottom
    ]
    return Mesh(0.5 * signs * np.array(size), np.array(sides, np.int64))


def sides_of(radius: float) -> int:
    """Corners around a circle whose chords are within `TOLERANCE` of it: R (1 − cos π/n)."""
    needed = np.pi / np.arccos(1.0 - min(TOLERANCE / radius, 1.0))
    return int(np.clip(np.ceil(needed), FEWEST_SIDES, MOST_SIDES))


def cylinder(radius: float, height: float, sides: int | None = None) -> Mesh:
    """An upright cylinder about its middle; its corners lie on the circle."""
    sides = sides or sides_of(radius)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    outline = Mesh(*_prism(ring, -0.5 * height, 0.5 * height))
    return outline


def prism(outline: Array, top: float, bottom: float) -> Mesh:
    """A convex outline (K, 2), either way round, from the depth `top` down to `bottom`."""
    following = np.roll(outline, -1, axis=0)
    area = np.sum(outline[:, 0] * following[:, 1] - outline[:, 1] * following[:, 0])
    return Mesh(*_prism(outline if area > 0.0 else outline[::-1], top, bottom))


def _prism(ring: Array, top: float, bottom: float) -> tuple[Array, Faces]:
    """Of a ring that turns from north to east, which is clockwise seen from above."""
    count = len(ring)
    upper = np.column_stack([ring, np.full(count, top)])
    lower = np.column_stack([ring, np.full(count, bottom)])
    i = np.arange(count)
    j = (i + 1) % count
    walls = [np.stack([i, j, j + count], axis=1), np.stack([i, j + count, i + count], axis=1)]
    fan = np.arange(1, count - 1)
    lid = np.stack([np.zeros_like(fan), fan + 1, fan], axis=1)
    floor = np.stack([np.zeros_like(fan), fan, fan + 1], axis=1) + count
    return np.concatenate([upper, lower]), np.concatenate([*walls, lid, floor]).astype(np.int64)


def sphere(radius: float, rings: int | None = None) -> Mesh:
    """A sphere about its middle, of rings of latitude; its corners lie on it."""
    rings = rings or (sides_of(radius) + 1) // 2
    around = 2 * rings
    polar = np.pi * np.arange(1, rings) / rings
    angle = 2.0 * np.pi * np.arange(around) / around
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    body = [np.column_stack([np.sin(p) * circle, np.full(around, np.cos(p))]) for p in polar]
    vertices = radius * np.concatenate([[[0.0, 0.0, 1.0]], *body, [[0.0, 0.0, -1.0]]])
    i = np.arange(around)
    j = (i + 1) % around
    faces = [np.stack([np.zeros_like(i), 1 + i, 1 + j], axis=1)]
    for ring in range(rings - 2):
        a, b = 1 + ring * around, 1 + (ring + 1) * around
        faces += [np.stack([a + i, b + i, b + j], axis=1), np.stack([a + i, b + j, a + j], axis=1)]
    last, end = 1 + (rings - 2) * around, len(vertices) - 1
    faces.append(np.stack([np.full_like(i, end), last + j, last + i], axis=1))
    return Mesh(vertices, np.concatenate(faces).astype(np.int64))


def bend(
    radius: float, start: Array, along: Array, inward: Array, turn: float, angle: float
) -> Mesh:
    """A pipe of a radius that begins at a place along a unit vector and turns inward, towards a
    unit vector square to it, by an angle on a middle line of the radius `turn`; closed at its
    ends."""
    sides = sides_of(radius)
    steps = max(int(np.ceil(angle / np.radians(6.0))), 2)
    side = np.cross(along, inward)
    phi = np.linspace(0.0, angle, steps + 1)
    outward = -np.cos(phi)[:, None] * inward + np.sin(phi)[:, None] * along
    middle = start + turn * (inward + outward)
    around = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.cos(around)[:, None] * outward[:, None] + np.sin(around)[:, None] * side
    vertices = np.concatenate([(middle[:, None] + radius * ring).reshape(-1, 3), middle[[0, -1]]])
    i = np.arange(sides)
    j = (i + 1) % sides
    faces = []
    for k in range(steps):
        a, b = k * sides, (k + 1) * sides
        faces += [np.stack([a + i, b + j, a + j], axis=1), np.stack([a + i, b + i, b + j], axis=1)]
    first, last, end = len(vertices) - 2, len(vertices) - 1, steps * sides
    faces.append(np.stack([np.full_like(i, first), i, j], axis=1))
    faces.append(np.stack([np.full_like(i, last), end + j, end + i], axis=1))
    return Mesh(vertices, np.concatenate(faces).astype(np.int64))


def bottom_mesh(grid: "HeightGrid") -> Mesh:
    """The triangles of a height grid, normals up into the water."""
    bottom = terrain_of(grid)
    return surface(bottom.north, bottom.east, bottom.depth)


def surface(north: Array, east: Array, depth: Array) -> Mesh:
    """Two triangles for each cell between nodes (A,) by (B,) of stated depths, normals up."""
    rows, columns = depth.shape
    vertices = np.empty((rows, columns, 3))
    vertices[..., 0], vertices[..., 1], vertices[..., 2] = north[:, None], east, depth
    first = columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)
    last = columns + 1
    faces = np.empty((2, rows - 1, columns - 1, 3), np.int64)
    for half, corners in zip(faces, ((0, last, columns), (0, 1, last)), strict=True):
        for corner, further in enumerate(corners):
            np.add(first, further, out=half[..., corner])
    return Mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3))
