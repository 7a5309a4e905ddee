"""Panels for a boundary-element solution from any mesh: neither too many nor too large."""

import math
from typing import Any

import numpy as np

from seatrial.geometry.mesh import Mesh
from seatrial.hull.potential.solver import panels
from seatrial.hull.shape.mending import simplified
from seatrial.hull.shape.shells import areas

FEWEST, MOST = 250, 800
"""Panels under water that are aimed at."""


def panelled(mesh: Mesh, name: str) -> Mesh:
    """The hull with panels of about one size under water; its waterline is at z = 0."""
    wet, most = panels(mesh, 0.0), 2 * MOST
    while len(wet.faces) > 1.5 * MOST:  # of a craft that is nearly under water most of them are wet
        mesh = simplified(mesh, name, most=most)
        wet, most = panels(mesh, 0.0), most * 3 // 4
    # Triangles of an edge e have an area of √3/4 e²; flat parts are cut until there are enough.
    edge = math.sqrt(4.0 / math.sqrt(3.0) * float(areas(wet).sum()) / (0.5 * (FEWEST + MOST)))
    import trimesh

    cut: Any = trimesh.remesh.subdivide_to_size
    for _ in range(16):
        vertices, faces = cut(mesh.vertices, mesh.faces, max_edge=2.0 * edge, max_iter=20)
        finer = Mesh(np.asarray(vertices, np.float64), np.asarray(faces, np.int64))
        if len(panels(finer, 0.0).faces) <= 1.5 * MOST:
            return finer
        edge *= 1.3
    return mesh
