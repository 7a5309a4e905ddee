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
    face: Whole
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
        self._offsets = np.einsum("fc,fc->f", normals, local[mesh.faces[:, 0]])
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
        start = np.broadcast_to(local.astype(np.float32)[:, None], (len(origins), each, 3))
        single = np.asarray(directions, np.float32)
        limit = reach if isinstance(reach, float) else np.asarray(reach, np.float32)
        found: Whole = self._scene.run(start.reshape(count, 3), single, limit)
        ray = np.flatnonzero(found >= 0)
        face = found.take(ray)
        group = ray // each if len(origins) > 1 else None
        above = self._offsets.take(face)
        along = np.zeros(len(ray))
        normal = np.empty((3, len(ray)))
        for c, normals in enumerate(self._normals):
            normals.take(face, out=normal[c], mode="clip")
            along += normal[c] * directions[:, c].take(ray)
            begin = local[:, c]
            above -= normal[c] * (begin[0] if group is None else begin.take(group))
        # Both have the same sign but for rounding; a ray in the plane itself has no distance to it.
        cosine = np.abs(along)
        distance = np.abs(above)
        distance /= np.maximum(cosine, GRAZING)
        normal *= np.where(along > 0.0, -1.0, 1.0)
        return Met(ray, distance, cosine, normal.T, face)
