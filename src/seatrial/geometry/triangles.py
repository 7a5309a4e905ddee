"""Triangles that rays meet: Embree finds which, and double precision where.

Embree works in single precision, about the middle of the triangles. It only says which triangle a
ray meets first; the distance is then that to the plane of the triangle, in double precision:

    t = (c − n·o) / (n·d)

with its unit normal n and c = n·v of any of its corners v. So a distance is as good as the mesh,
however far from its middle the ray begins. Single precision moves the edges of triangles sideways
by 3e-8 of the distance from the middle: 0.3 mm at 10 km.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]
Whole = NDArray[np.int32]


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
    """What some rays meet first: P of them that meet something, in their order."""

    ray: NDArray[np.int64]
    """(P,) which of them."""
    distance: Array
    """(P,) m."""
    cosine: Array
    """(P,) of the incidence, between ray and normal, from 0 to 1."""
    normal: Array
    """(P, 3) of the surface there, towards the side that the ray comes from; unit."""
    face: NDArray[np.intp]
    """(P,)."""


class Triangles:
    """A mesh with its acceleration structure, in the mesh's own axes."""

    def __init__(self, mesh: Mesh) -> None:
        # Imported here: only runs with such sensors need it.
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        # Where most of the corners are: single precision is best there.
        self.centre: Array = np.median(mesh.vertices, axis=0)
        self.radius = float(np.linalg.norm(mesh.vertices - self.centre, axis=1).max())
        local = mesh.vertices - self.centre
        normals = mesh.normals
        self._normals = [np.ascontiguousarray(c) for c in normals.T]
        first = local[mesh.faces[:, 0]].T
        self._offsets = sum(n * side for n, side in zip(self._normals, first, strict=True))
        self._scene = EmbreeScene()
        TriangleMesh(self._scene, local.astype(np.float32), mesh.faces.astype(np.int32))
        # The structure is built with the first ray, which must not happen in two threads at once.
        self._scene.run(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))

    def meet(self, origins: Array, directions: Floats, reach: float | Floats) -> Met:
        """First triangles within `reach` of rays along unit vectors (R, 3), from outside or inside.

        Rays begin at `origins` (G, 3), from each of them R / G that follow each other. A `reach` by
        ray is an array (R,).
        """
        count = len(directions)
        each = count // len(origins)
        local: Array = origins - self.centre
        start = np.empty((3, len(origins), each), np.float32)
        start[...] = local.T[..., None]
        single = np.asarray(directions, np.float32)
        limit = reach if isinstance(reach, float) else np.asarray(reach, np.float32)
        found: Whole = self._scene.run(start.reshape(3, count).T, single, limit)
        ray = np.flatnonzero(found >= 0)
        face = found.take(ray).astype(np.intp)
        begin = by_ray(local.T, ray, each)
        above, along = self._offsets.take(face), np.zeros(len(ray))
        normal = np.empty((3, len(ray)))
        part = np.empty(len(ray))
        for c, normals in enumerate(self._normals):
            normals.take(face, out=normal[c], mode="clip")
            along += np.multiply(normal[c], directions[:, c].take(ray), out=part)
            above -= np.multiply(normal[c], begin[c], out=part)
        # Both have the same sign but for rounding; a ray in the plane itself has no distance to it.
        normal *= np.negative(np.copysign(1.0, along, out=part), out=part)
        cosine = np.abs(along, out=along)
        distance = np.abs(above, out=above)
        distance /= np.maximum(cosine, GRAZING, out=part)
        return Met(ray, distance, cosine, normal.T, face)
