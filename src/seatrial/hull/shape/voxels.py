"""Fills a closed mesh with cubes, whatever its shape: concave, in several hulls, with holes.

Vertical lines through every column of cubes cross the surface in pairs; what lies between a pair is
inside. The lengths inside each cube, over several lines per column, give how full it is, so that a
cube at the skin holds only what the hull holds of it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh
from seatrial.hull.shape.shells import volume

Array = NDArray[np.float64]
Crossings = tuple[NDArray[np.int64], NDArray[np.int64], Array]
"""Which lines, by row and column, and the z at which each crosses."""

LINES = 4
"""Lines per column along each side of a cube."""


class Cubes(NamedTuple):
    """Filled cubes."""

    centres: Array
    """(M, 3) of what is filled of each, m."""
    volumes: Array
    """(M,) m³."""
    edge: float


def fill(mesh: Mesh, edge: float) -> Cubes:
    """Cubes of an edge that fill a mesh; their volumes are scaled to make up the mesh's own."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    counts = np.maximum(np.ceil((high - low) / edge - 1e-9).astype(int), 1)
    start = 0.5 * (low + high) - 0.5 * edge * counts
    step = edge / LINES
    nx, ny = counts[:2] * LINES
    # Lines a little off the middle: a corner or an edge of the mesh is met by none of them.
    x = start[0] + step * (np.arange(nx) + 0.5 + 1e-5)
    y = start[1] + step * (np.arange(ny) + 0.5 + 1.7e-5)
    rising, falling = _crossings(mesh, x, y)
    length, first = np.zeros((nx, ny, counts[2])), np.zeros((nx, ny, counts[2]))
    bottoms = start[2] + edge * np.arange(counts[2])
    for (i, j, z), sign in ((rising, 1.0), (falling, -1.0)):
        # what lies above a crossing (greater z) within each cube, counted + where the hull begins
        lower = np.clip(z[:, None], bottoms, bottoms + edge)
        np.add.at(length, (i, j), sign * (bottoms + edge - lower))
        np.add.at(first, (i, j), sign * 0.5 * ((bottoms + edge) ** 2 - lower**2))
    cell = (counts[0], LINES, counts[1], LINES, counts[2])
    parts = length.reshape(cell)
    amount = parts.sum(axis=(1, 3))
    along = (parts * x.reshape(counts[0], LINES)[:, :, None, None, None]).sum(axis=(1, 3))
    aside = (parts * y.reshape(counts[1], LINES)[None, None, :, :, None]).sum(axis=(1, 3))
    down = first.reshape(cell).sum(axis=(1, 3))
    kept = amount > 1e-9 * edge
    centres = np.stack([along[kept], aside[kept], down[kept]], axis=1) / amount[kept][:, None]
    volumes = amount[kept] * step**2
    return Cubes(centres, volumes * (volume(mesh) / volumes.sum()), edge)


def _crossings(mesh: Mesh, x: Array, y: Array) -> tuple[Crossings, Crossings]:
    """Where lines along z at (x_i, y_j) enter the hull and where they leave it."""
    corners = mesh.vertices[mesh.faces]
    found: tuple[list[Array], list[Array]] = ([], [])
    step_x, step_y = x[1] - x[0] if len(x) > 1 else 1.0, y[1] - y[0] if len(y) > 1 else 1.0
    for a, b, c in corners:
        turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if turn == 0.0:
            continue
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        i0, i1 = int(np.ceil((low[0] - x[0]) / step_x)), int((high[0] - x[0]) / step_x)
        j0, j1 = int(np.ceil((low[1] - y[0]) / step_y)), int((high[1] - y[0]) / step_y)
        i, j = np.meshgrid(
            np.arange(max(i0, 0), min(i1, len(x) - 1) + 1),
            np.arange(max(j0, 0), min(j1, len(y) - 1) + 1),
            indexing="ij",
        )
        if i.size == 0:
            continue
        px, py = x[i] - a[0], y[j] - a[1]
        s = (px * (c[1] - a[1]) - py * (c[0] - a[0])) / turn
        t = (py * (b[0] - a[0]) - px * (b[1] - a[1])) / turn
        inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
        z = a[2] + s * (b[2] - a[2]) + t * (c[2] - a[2])
        # the normal of a face through which a line leaves towards greater z points that way
        side = found[1] if turn > 0.0 else found[0]
        side.append(np.stack([i[inside], j[inside], z[inside]]))
    both: list[Crossings] = []
    for crossings in found:
        merged = np.concatenate(crossings, axis=1) if crossings else np.zeros((3, 0))
        both.append((merged[0].astype(np.int64), merged[1].astype(np.int64), merged[2]))
    return both[0], both[1]
