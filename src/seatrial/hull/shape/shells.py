"""What hangs together in a triangle mesh, and what it encloses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh, sides_of_faces

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

JOIN = 1e-5
"""Corners closer than this share of the hull's size are one."""


def volume(mesh: Mesh) -> float:
    """Enclosed volume by the divergence theorem, m³; negative when the mesh is inside out."""
    return float(np.sum(_cones(mesh)))


def volumes(mesh: Mesh, shell: Whole) -> Array:
    """(S,) of the shells that the faces belong to, m³."""
    return np.asarray(np.bincount(shell, _cones(mesh)), np.float64)


def _cones(mesh: Mesh) -> Array:
    """(F,) volumes between the triangles and the origin, m³."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return np.asarray(np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0)


def areas(mesh: Mesh) -> Array:
    """(F,) of the triangles, m²."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def thickness(mesh: Mesh, part: Whole) -> Array:
    """(P,) how far the corners of each part leave the plane that fits them best, m: the root of the
    sum of squares."""
    parts = int(part.max()) + 1
    corners = np.unique(mesh.faces * parts + part[:, None])  # of each part once
    points, of = mesh.vertices[corners // parts], corners % parts
    share = 1.0 / np.bincount(of, minlength=parts)
    middle = np.stack([np.bincount(of, x, parts) * share for x in points.T], axis=1)
    away = points - middle[of]
    spread = [[np.bincount(of, x * y, parts) for x in away.T] for y in away.T]
    least = np.linalg.eigvalsh(np.moveaxis(np.array(spread), 2, 0))[:, 0]
    return np.asarray(np.sqrt(np.maximum(least, 0.0)))


def welded(mesh: Mesh) -> Mesh:
    """Corners that coincide joined; triangles without area and copies of others dropped."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    firsts, copies = _distinct(mesh.vertices)
    points = mesh.vertices[firsts]
    size = float(np.ptp(points, axis=0).max())
    near = cKDTree(points).query_pairs(JOIN * size, output_type="ndarray")
    joints = coo_matrix((np.ones(len(near)), near.T), shape=(len(points),) * 2)
    which = connected_components(joints, directed=False)[1][copies]
    first = np.unique(which, return_index=True)[1]
    faces = which[mesh.faces].astype(np.int64)
    distinct = (
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    faces = faces[distinct]
    kept, _ = _distinct(np.sort(faces, axis=1))
    return compact(Mesh(mesh.vertices[first], faces[np.sort(kept)]))


def compact(mesh: Mesh) -> Mesh:
    """Without corners that no face has."""
    used, which = np.unique(mesh.faces, return_inverse=True)
    return Mesh(mesh.vertices[used], which.reshape(-1, 3).astype(np.int64))


def _distinct(rows: NDArray[Any]) -> tuple[Whole, Whole]:
    """Where each distinct row of (N, 3) is first, rows in order, and which one every row is.

    `np.unique` does the same over an axis in several times the time.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(fresh) - 1
    return order[fresh], which


def outwards(mesh: Mesh) -> Mesh:
    """Winding made one within every shell, and every shell turned to enclose a positive volume."""
    faces = mesh.faces.copy()
    turned, shell = winding(faces)
    faces[turned] = faces[turned][:, ::-1]
    inside_out = volumes(Mesh(mesh.vertices, faces), shell)[shell] < 0.0
    faces[inside_out] = faces[inside_out][:, ::-1]
    return Mesh(mesh.vertices, faces)


def edges_of(faces: Whole) -> tuple[Whole, Whole, Whole]:
    """Undirected edges (E, 2), for every side of every face (3, F) which it is, and its count."""
    ends = sides_of_faces(faces)
    # one number per edge: rows of a million triangles would take ten times as long to sort
    most = int(faces.max(initial=0)) + 1
    keys, which, count = np.unique(
        ends.min(axis=1) * most + ends.max(axis=1), return_inverse=True, return_counts=True
    )
    edges = np.stack([keys // most, keys % most], axis=1)
    return edges, which.reshape(3, -1), count


def patches_of(faces: Whole, seam: NDArray[np.bool_], which: Whole, edges: int) -> Whole:
    """Which patch each face belongs to, when faces hang together across edges that are no seam."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    face = np.tile(np.arange(len(faces)), 3)
    edge = which.ravel()
    inner = ~seam[edge]
    nodes = len(faces) + edges  # faces first, so that the labels of patches are the first ones
    hangs = coo_matrix((inner[inner], (face[inner], len(faces) + edge[inner])), shape=(nodes,) * 2)
    return np.asarray(connected_components(hangs, directed=False)[1][: len(faces)], np.int64)


def winding(faces: Whole) -> tuple[NDArray[np.bool_], Whole]:
    """Whether each face must be turned to agree with the first of its shell, and its shell."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    _, which, count = edges_of(faces)
    begin, end = sides_of_faces(faces).T
    forward = begin < end
    face = np.tile(np.arange(len(faces)), 3)
    by_edge = np.argsort(which.ravel(), kind="stable")
    pairs = by_edge[np.repeat(count == 2, count)].reshape(-1, 2)
    one, other = face[pairs[:, 0]], face[pairs[:, 1]]
    clash = forward[pairs[:, 0]] == forward[pairs[:, 1]]
    # Every face twice, as it is and turned: what agrees hangs together.
    n = len(faces)
    begins, ends = [one, one + n], [other + n * clash, other + n * ~clash]
    graph = coo_matrix(
        (np.ones(2 * len(one), bool), (np.concatenate(begins), np.concatenate(ends))),
        shape=(2 * n, 2 * n),
    )
    side = connected_components(graph, directed=False)[1]
    _, first, shell = np.unique(
        np.minimum(side[:n], side[n:]), return_index=True, return_inverse=True
    )
    turned = side[:n] != side[first][shell]
    return turned, np.asarray(shell, np.int64)
