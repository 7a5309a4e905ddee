"""Edges of boxes and cylinders that are rolled over a little, as those of real things are.

An edge of two planes sends no light of its own; that of a real thing is round from its making or
its paint, and shines as a thin line (Zwilgmeyer 2021, section 5.3.4). Only normals are rounded,
over `EDGE` on both sides, so that the surface stays the one that depths, contact and rays see.
"""

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body
from seatrial.geometry.mesh import Mesh, sides_of

Array = NDArray[np.float64]

EDGE = 0.005
"""How far from an edge its rounding begins, m; an assumption."""
MOST = 0.2
"""The same at most, as a share of the smallest side."""


def rolled(body: Body) -> tuple[Mesh, Array] | None:
    """Mesh and unit normals of its vertices in the body's own axes; None for other shapes."""
    if body.shape == "box":
        return _box(np.array([body.length, body.beam, body.height]))
    if body.shape in ("cylinder", "circle"):
        return _cylinder(body.radius, body.height)
    return None


def _box(size: Array) -> tuple[Mesh, Array]:
    """Every face of 3 x 3 cells, the outer ones as wide as the rounding."""
    edge = min(EDGE, MOST * float(size.min()))
    nodes = 0.5 * size[:, None] * [-1, -1, 1, 1] + edge * np.array([0, 1, -1, 0])
    leans = np.array([-1.0, 0.0, 0.0, 1.0])
    i, j = (k.ravel() for k in np.meshgrid(range(4), range(4), indexing="ij"))
    first = np.flatnonzero((i < 3) & (j < 3))
    halves = (first, first + 4, first + 5), (first, first + 5, first + 1)
    cells = np.concatenate([np.stack(half, axis=1) for half in halves])
    places: list[Array] = []
    normals: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0):
            place, normal = np.zeros((2, 16, 3))
            place[:, axis], place[:, u], place[:, v] = (
                0.5 * side * size[axis],
                nodes[u][i],
                nodes[v][j],
            )
            normal[:, axis], normal[:, u], normal[:, v] = side, leans[i], leans[j]
            faces.append(16 * len(places) + (cells if side > 0.0 else cells[:, ::-1]))
            places.append(place)
            normals.append(normal)
    return Mesh(np.concatenate(places), np.concatenate(faces)), _unit(np.concatenate(normals))


def _cylinder(radius: float, height: float) -> tuple[Mesh, Array]:
    """Rings from the middle of the top over the wall to the middle of the bottom."""
    sides = sides_of(radius)
    edge, half = min(EDGE, MOST * min(radius, height)), 0.5 * height
    profile = np.array(  # radius, depth and the normal's part outwards and down
        [
            *((radius - edge, -half, 0.0, -1.0), (radius, -half, 1.0, -1.0)),
            *((radius, -half, 1.0, -1.0), (radius, edge - half, 1.0, 0.0)),
            *((radius, half - edge, 1.0, 0.0), (radius, half, 1.0, 1.0)),
            *((radius, half, 1.0, 1.0), (radius - edge, half, 0.0, 1.0)),
        ]
    )
    angle = 2.0 * np.pi * np.arange(sides) / sides
    north, east = np.cos(angle), np.sin(angle)
    out, down, lean, fall = (column[:, None] for column in profile.T)
    flat = np.ones(sides)
    place = np.stack([out * north, out * east, down * flat], axis=2).reshape(-1, 3)
    normal = np.stack([lean * north, lean * east, fall * flat], axis=2).reshape(-1, 3)
    i = np.arange(sides)
    j = (i + 1) % sides
    faces = []
    for ring in (0, 2, 3, 4, 6):  # the others are one place with itself
        a, b = ring * sides, (ring + 1) * sides
        faces += [np.stack([a + i, a + j, b + j], axis=1), np.stack([a + i, b + j, b + i], axis=1)]
    top, bottom, last = len(place), len(place) + 1, 7 * sides
    faces.append(np.stack([np.full(sides, top), j, i], axis=1))
    faces.append(np.stack([np.full(sides, bottom), last + i, last + j], axis=1))
    place = np.concatenate([place, [[0.0, 0.0, -half], [0.0, 0.0, half]]])
    normal = np.concatenate([normal, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]])
    return Mesh(place, np.concatenate(faces)), _unit(normal)


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
