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
Whole = NDArray[np.int32]


GRAZING = 1e-12
"""Least |n·d| that counts."""


class Met(NamedTuple):
    """What some rays meet first."""

    distance: Array
    """(R,) m, infinite where they meet nothing."""
    along: Array
    """(R,) n·d, negative on faces that look towards where the ray comes from; 0 for nothing."""
    face: Whole
    """(R,) −1 where they meet nothing."""


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
        offsets = np.einsum("fc,fc->f", normals, local[mesh.faces[:, 0]])
        # The last row is met by rays that meet nothing (face −1): no direction, infinitely far.
        self._normals = np.vstack([normals, np.zeros(3)])
        self._columns = [np.ascontiguousarray(c) for c in self._normals.T]
        self._offsets = np.append(offsets, np.inf)
        self._scene = EmbreeScene()
        TriangleMesh(self._scene, local.astype(np.float32), mesh.faces.astype(np.int32))
        # The structure is built with the first ray, which must not happen in two threads at once.
        self._scene.run(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))

    def meet(
        self, origins: Array, directions: NDArray[np.floating[Any]], reach: float | Array
    ) -> Met:
        """First triangles within `reach` of rays (R, 3) along unit vectors, from outside or inside.

        A `reach` by ray is an array (R,).
        """
        limit = reach if isinstance(reach, float) else reach.astype(np.float32)
        single = np.asarray(directions, np.float32)
        local: Array = origins - self.centre
        if origins.strides[0] == 0:  # all from one place
            local = np.broadcast_to(local[0], origins.shape)
        start = local.astype(np.float32)
        face: Whole = self._scene.run(start, single, limit)
        which = face.astype(np.intp)
        above = self._offsets.take(which, mode="wrap")
        along = np.zeros(len(face))
        for c, normals in enumerate(self._columns):
            normal = normals.take(which, mode="wrap")
            along += normal * directions[:, c]
            above -= normal * (local[0, c] if origins.strides[0] == 0 else local[:, c])
        # Both have the same sign but for rounding; a ray in the plane itself has no distance to it.
        distance = np.abs(above)
        distance /= np.maximum(np.abs(along), GRAZING)
        return Met(distance, along, face)

    def normals(self, met: Met) -> Array:
        """(R, 3) unit, of what rays met, against the ray; 0 where they met nothing."""
        return np.asarray(
            self._normals.take(met.face, axis=0, mode="wrap") * -np.sign(met.along)[:, None]
        )
