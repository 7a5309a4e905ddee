"""Triangles that rays meet: Embree finds which, and their planes say where.

Embree works in single precision, about the middle of the triangles. It only says which triangle a
ray meets first; the distance is then that to the plane of the triangle:

    t = (c − n·o) / (n·d)

with its unit normal n and c = n·v of any of its corners v. The numerator is computed in double
precision, the rest in the precision of the directions d. So a distance is as good as the mesh and
as the direction of its ray, however far from the middle this begins. Single precision moves the
edges of triangles sideways by 3e-8 of the distance from the middle: 0.3 mm at 10 km.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]
Whole = NDArray[np.int32]
Rows = NDArray[np.int64]


GRAZING = 1e-12
"""Least |n·d| that counts."""


def shares(ray: NDArray[np.int64], groups: int, each: int) -> NDArray[np.int64]:
    """(groups,) how many of some rays, which rise, belong to each group of so many."""
    return np.diff(np.searchsorted(ray, each * np.arange(groups + 1)))


def by_ray(values: Array, ray: NDArray[np.int64], each: int) -> Array:
    """(C, P) what groups (C, G) of so many rays have, for some rays, which rise; (C, 1) of a single
    group, which all have alike."""
    groups = values.shape[1]
    if groups == 1:
        return values
    if each == 1:
        return values.take(ray, axis=1)
    return np.repeat(values, shares(ray, groups, each), axis=1)


class Met(NamedTuple):
    """What some rays meet first: P of them that meet something, in their order.

    Rays from one place that lie beside each other mostly meet the same face: what is known of faces
    is told of runs of rays.
    """

    ray: NDArray[np.int64]
    """(P,) which of them."""
    distance: Floats
    """(P,) m."""
    cosine: Floats
    """(P,) of the incidence, between ray and normal, from 0 to 1."""
    normal: Floats
    """(P, 3) of the surface there, towards the side that the ray comes from; unit."""
    face: Whole
    """(F,) of each run."""
    length: NDArray[np.int64] | None
    """(F,) of the runs, in rays; None where they are single ones."""

    def of_face(self, table: Whole) -> Whole:
        """(P,) what a table of faces has."""
        found = table.take(self.face)
        return found if self.length is None else np.repeat(found, self.length)


class Triangles:
    """A mesh with its acceleration structure, in the mesh's own axes."""

    def __init__(self, mesh: Mesh, centre: Array | None = None) -> None:
        """Single precision counts from the `centre`; where none is given, from where it is best.
        Meshes with the same centre are met alike."""
        # Imported here: only runs with such sensors need it.
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        # Where most of the corners are.
        self.centre: Array = np.median(mesh.vertices, axis=0) if centre is None else centre
        self.radius = float(np.linalg.norm(mesh.vertices - self.centre, axis=1).max())
        local = mesh.vertices - self.centre
        normals = mesh.normals
        self._normals = np.ascontiguousarray(normals.T)
        first = local[mesh.faces[:, 0]].T
        self._offsets = sum(n * side for n, side in zip(self._normals, first, strict=True))
        self._scene = EmbreeScene()
        TriangleMesh(self._scene, local.astype(np.float32), mesh.faces.astype(np.int32))
        # The structure is built with the first ray, which must not happen in two threads at once.
        self._scene.run(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))

    def first(
        self, origins: Array, directions: Floats, reach: float | Floats, some: Rows | None = None
    ) -> tuple[Rows, Whole]:
        """Which rays meet a triangle, and the first that each of them meets; rays as `meet` takes
        them."""
        local = (origins - self.centre).astype(np.float32)
        each = len(directions) // len(local)
        if len(local) == 1:
            start = np.broadcast_to(local, directions.shape)  # nothing is copied
        elif some is None:
            start = np.broadcast_to(local.T[..., None], (3, len(local), each)).reshape(3, -1).T
        else:
            start = np.repeat(local.T, shares(some, len(local), each), axis=1).T
        single = np.asarray(directions, np.float32)
        limit = reach if isinstance(reach, float) else np.asarray(reach, np.float32)
        if some is not None:
            start, single = start[: len(some)], single.T.take(some, axis=1).T
            limit = limit if isinstance(limit, float) else limit.take(some)
        found: Whole = self._scene.run(start, single, limit)
        met = np.flatnonzero(found >= 0)
        return met if some is None else some.take(met), found.take(met)

    def meet(
        self, origins: Array, directions: Floats, reach: float | Floats, some: Rows | None = None
    ) -> Met:
        """First triangles within `reach` of rays along unit vectors (R, 3), from outside or inside.

        Rays begin at `origins` (G, 3), from each of them R / G that follow each other. A `reach` by
        ray is an array (R,). Rays but for `some` are known to meet nothing.
        """
        count = len(directions)
        each = count // len(origins)
        local: Array = origins - self.centre
        ray, face = self.first(origins, directions, reach, some)
        place, length = ray, None
        if each > 1:
            new = np.ones(len(ray), np.bool_)
            np.not_equal(face[1:], face[:-1], out=new[1:])
            if len(origins) > 1:
                place = ray // each
                new[1:] |= place[1:] != place[:-1]
            first = np.flatnonzero(new)
            length = np.empty_like(first)
            np.subtract(first[1:], first[:-1], out=length[:-1])
            length[-1:] = len(ray) - first[-1:]
            face, place = face.take(first), ray.take(first) // each
        plane = np.empty((4, len(face)), directions.dtype)
        above = self._offsets.take(face)
        for c in range(3):
            normals = self._normals[c].take(face)
            plane[c] = normals
            above -= normals * local[:, c].take(place)
        plane[3] = above
        if length is not None:
            plane = np.repeat(plane, length, axis=1)
        normal, distance = plane[:3], plane[3]
        along, part = np.zeros_like(distance), np.empty_like(distance)
        for side, way in zip(normal, directions.T, strict=True):
            along += np.multiply(side, way.take(ray), out=part)
        # Both have the same sign but for rounding; a ray in the plane itself has no distance to it.
        normal *= np.negative(np.copysign(1.0, along, out=part), out=part)
        cosine = np.abs(along, out=along)
        np.abs(distance, out=distance)
        distance /= np.maximum(cosine, GRAZING, out=part)
        return Met(ray, distance, cosine, normal.T, face, length)
