"""Sharp edges of a hull in panels, and smaller panels there.

Around an edge at which the water turns by more than a straight angle its speed has no bound
(r^(π/α − 1) at a distance r, for an angle α of water), and constant panels tell it worst.
"""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh, merged, sides_of_faces
from seatrial.hull.shape.forms import quartered

SHARP = math.radians(45.0)
"""Least angle between the normals beside a sharp edge; facets of a round hull turn by less."""


def cut_at_edges(wet: Mesh) -> Mesh:
    """Every triangle that touches a sharp edge cut in four; of a smooth hull the mesh itself.

    Corners that then lie on a neighbour's side do no harm: panels of constant strength share
    nothing.
    """
    touching = _on_sharp_edges(wet)[wet.faces].any(axis=1)
    if not touching.any():
        return wet
    whole, cut = (Mesh(wet.vertices, wet.faces[some]) for some in (~touching, touching))
    return merged([whole, quartered(cut)])


def _on_sharp_edges(wet: Mesh) -> NDArray[np.bool_]:
    """(V,) corners at the ends of sharp edges; the waterline has one triangle and is none."""
    edges = np.sort(sides_of_faces(wet.faces), axis=1)
    order = np.lexsort(edges.T)
    edges, normals = edges[order], np.tile(wet.normals, (3, 1))[order]
    same = np.all(edges[1:] == edges[:-1], axis=1)
    one, other = normals[:-1], normals[1:]
    sharp = same & (np.einsum("ij,ij->i", one, other) < math.cos(SHARP))
    on = np.zeros(len(wet.vertices), bool)
    on[edges[1:][sharp]] = True
    return on
