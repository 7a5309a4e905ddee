"""Distance fields of closed meshes: signed distances at the nodes of a grid around them.

Made once, when a scenario is compiled, and kept on disk, with `NODES` nodes along each side of the
mesh's box and `MARGIN` of its size around. Distances at the nodes are exact; between them the field
is linear, so that at an edge it is off by at most the spacing of the nodes, and beside a face much
less.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial import cache, fingerprint
from seatrial.geometry.mesh import Mesh

Array = NDArray[np.float64]

KIND = "field"
NODES = 32
"""Along each axis."""
MARGIN = 0.15
"""Of the size of the mesh's box, beyond it on every side."""
_CANDIDATES = 8
"""Triangles whose samples are nearest that are looked at in full."""
MOST_KEPT = 64
"""Fields that a process leaves on disk: those of a scene, but not those of a thousand seeds, whose
rocks never come again and would push out what does."""
_kept: set[str] = set()


class Field(NamedTuple):
    """Distances on a grid."""

    values: NDArray[np.float32]
    """(NODES, NODES, NODES) m, negative inside."""
    origin: Array
    """(3,) of the first node."""
    spacing: Array
    """(3,) m."""


def distance_field(mesh: Mesh) -> Field:
    """The field of a closed mesh whose faces look outwards, as it was kept or made now."""
    try:
        shape = (fingerprint.contents(mesh.vertices), fingerprint.contents(mesh.faces))
        key = fingerprint.digest(shape, fingerprint.origin())
    except fingerprint.FingerprintError:
        return _made(mesh)
    if not cache.size(KIND, key):
        if len(_kept) >= MOST_KEPT or not fingerprint.is_current():
            return _made(mesh)
        _kept.add(key)
    return cache.recall(KIND, key, "distances to a mesh", lambda: _made(mesh))


def _made(mesh: Mesh) -> Field:
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    size = np.maximum(high - low, 1e-6)
    origin = low - MARGIN * size.max()
    spacing = (size + 2.0 * MARGIN * size.max()) / (NODES - 1)
    axes = [origin[i] + spacing[i] * np.arange(NODES) for i in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    away = _unsigned(mesh, nodes, float(spacing.min())).reshape(NODES, NODES, NODES)
    inside = _inside(mesh, axes)
    return Field(np.where(inside, -away, away).astype(np.float32), origin, spacing)


def _unsigned(mesh: Mesh, points: Array, spacing: float) -> Array:
    """Distance to the nearest of the triangles that have a sample near each point."""
    from scipy.spatial import cKDTree

    corners = mesh.vertices[mesh.faces]
    samples, owner = _samples(corners, spacing)
    _, found = cKDTree(samples).query(points, k=min(_CANDIDATES, len(samples)))
    found = found.reshape(len(points), -1)
    best = np.full(len(points), np.inf)
    for column in found.T:
        best = np.minimum(best, _to_triangles(points, corners[owner[column]]))
    return best


def _samples(corners: Array, spacing: float) -> tuple[Array, NDArray[np.int64]]:
    """Places on every triangle no farther apart than the spacing, and whose they are."""
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    cuts = np.clip(np.ceil(edges / spacing), 1, 64).astype(int)
    places, owners = [], []
    for cut in np.unique(cuts):
        which = np.flatnonzero(cuts == cut)
        i, j = np.meshgrid(np.arange(cut + 1), np.arange(cut + 1), indexing="ij")
        keep = i + j <= cut
        u, v = i[keep] / cut, j[keep] / cut
        weights = np.stack([1.0 - u - v, u, v], axis=1)
        places.append(np.einsum("sk,fkc->fsc", weights, corners[which]).reshape(-1, 3))
        owners.append(np.repeat(which, len(weights)))
    return np.concatenate(places), np.concatenate(owners)


def _to_triangles(points: Array, corners: Array) -> Array:
    """Distance from each point (Q, 3) to its own triangle (Q, 3, 3).

    The nearest place is inside the triangle, where the point's foot lies there, or else on one of
    its three edges.
    """
    a, b, c = (corners[:, i] for i in range(3))
    ab, ac, ap = b - a, c - a, points - a
    normal = np.cross(ab, ac)
    area = np.einsum("qi,qi->q", normal, normal)
    safe = np.where(area > 0.0, area, 1.0)
    v = np.einsum("qi,qi->q", np.cross(ap, ac), normal) / safe
    w = np.einsum("qi,qi->q", np.cross(ab, ap), normal) / safe
    foot = (area > 0.0) & (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    height = np.abs(np.einsum("qi,qi->q", ap, normal)) / np.sqrt(safe)
    edges = np.minimum.reduce([_to_edge(points, *ends) for ends in ((a, b), (b, c), (c, a))])
    return np.asarray(np.where(foot, height, edges))


def _to_edge(points: Array, start: Array, end: Array) -> Array:
    along = end - start
    square = np.einsum("qi,qi->q", along, along)
    share = np.einsum("qi,qi->q", points - start, along) / np.where(square > 0.0, square, 1.0)
    nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
    return np.asarray(np.linalg.norm(points - nearest, axis=1))


def _inside(mesh: Mesh, axes: list[Array]) -> NDArray[np.bool_]:
    """Which nodes have the surface an odd number of times between them and the end of their column.

    Columns are moved by a millionth of a cell, so that they pass beside edges and corners.
    """
    x = axes[0] + 1.37e-6 * (axes[0][1] - axes[0][0])
    y = axes[1] + 2.11e-6 * (axes[1][1] - axes[1][0])
    crossings = np.zeros((NODES, NODES, NODES), np.int64)
    corners = mesh.vertices[mesh.faces]
    low, high = corners.min(axis=1), corners.max(axis=1)
    for f, (a, b, c) in enumerate(corners):
        u, v = b - a, c - a
        turn = u[0] * v[1] - u[1] * v[0]
        i = np.flatnonzero((x >= low[f, 0]) & (x <= high[f, 0]))
        j = np.flatnonzero((y >= low[f, 1]) & (y <= high[f, 1]))
        if turn == 0.0 or not len(i) or not len(j):
            continue
        px, py = x[i][:, None] - a[0], y[j][None] - a[1]
        s = (px * v[1] - py * v[0]) / turn
        t = (u[0] * py - u[1] * px) / turn
        hit = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
        z = a[2] + s * u[2] + t * v[2]
        crossings[np.ix_(i, j)] += hit[..., None] & (axes[2] < z[..., None])
    return np.asarray(crossings % 2 == 1)
