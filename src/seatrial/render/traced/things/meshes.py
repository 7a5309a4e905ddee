"""Bodies and bottoms as meshes of Mitsuba, with smooth normals and coordinates for patterns.

Coordinates are metres: on a bottom north and east, with some of the depth so that cliffs are not
drawn out; on a body those of the two axes across the largest component of each face's normal, and
around a cylinder as on paper that is rolled onto it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.mesh import Mesh, surface
from seatrial.geometry.tiles import extended
from seatrial.render.appearance import steepness
from seatrial.render.traced.backend import mitsuba
from seatrial.render.traced.things.edges import rolled

Array = NDArray[np.float64]

CREASE = np.cos(np.radians(40.0))
"""Faces that meet at a greater angle have an edge between them."""
FLAT_REACH = 10_000.0
"""How far a flat bottom goes from the camera, m."""


class Look(NamedTuple):
    """Of a surface, by objects of Mitsuba's."""

    bsdf: Any
    exterior: Any
    """Medium around it; None where nobody asks."""


def built(
    name: str,
    mesh: Mesh,
    look: Look,
    normals: Array | None = None,
    coordinates: Array | None = None,
    attributes: dict[str, Array] | None = None,
) -> Any:
    """A mesh of Mitsuba; with the normals of its faces where none are given."""
    mi = mitsuba()
    properties = mi.Properties()
    properties["bsdf"] = look.bsdf
    if look.exterior is not None:
        properties["exterior"] = look.exterior
    if normals is None:
        properties["face_normals"] = True
    made = mi.Mesh(
        name,
        len(mesh.vertices),
        len(mesh.faces),
        props=properties,
        has_vertex_normals=normals is not None,
        has_vertex_texcoords=coordinates is not None,
    )
    for attribute, values in (attributes or {}).items():
        flat = np.asarray(values, np.float32).ravel()
        made.add_attribute(attribute, len(flat) // len(mesh.vertices), flat)
    given = {"vertex_positions": mesh.vertices, "vertex_normals": normals}
    given["vertex_texcoords"] = coordinates
    parameters = mi.traverse(made)
    for key, rows in given.items():
        if rows is not None:
            parameters[key] = np.ascontiguousarray(rows, np.float32).ravel()
    parameters["faces"] = np.ascontiguousarray(from_widest_corner(mesh), np.uint32).ravel()
    parameters.update()
    return made


def from_widest_corner(mesh: Mesh) -> NDArray[np.int64]:
    """(F, 3) the same faces, each beginning at the corner opposite to its longest edge.

    Mitsuba finds what vertices say inside a face by the edges d, e at its first corner, over
    d² e² − (d · e)². Of a needle 0.3 m wide and 20 km long whose first corner is a sharp one,
    nothing is left of that in single precision: values came out beyond those of all three corners,
    or as NaN.
    """
    corners = mesh.vertices[mesh.faces]
    opposite = np.roll(corners, -1, axis=1) - np.roll(corners, 1, axis=1)
    first = np.argmax(np.sum(opposite**2, axis=2), axis=1)
    order = (first[:, None] + np.arange(3)) % 3
    return np.take_along_axis(mesh.faces, order, axis=1)


def body_mesh(body: Body, position: Array, rotation: Array, look: Look, place: int) -> Any:
    """A body where it is, `place` among the bodies."""
    own, normals = _shaded(body)
    corners = own.faces.ravel()
    triangles = np.arange(len(corners)).reshape(-1, 3)
    along = np.argmax(np.abs(own.normals), axis=1)
    across = np.array([(1, 2), (0, 2), (0, 1)])[along]
    rows = np.repeat(np.arange(len(own.faces)), 3)
    at = own.vertices[own.faces.ravel()]
    coordinates = np.stack([at[np.arange(len(at)), across[rows, k]] for k in (0, 1)], axis=1)
    if body.shape in ("cylinder", "circle"):
        around = np.arctan2(at[:, 1], at[:, 0])
        first = np.repeat(around[::3], 3)  # a face across the seam keeps to one side of it
        around = first + np.mod(around - first + np.pi, 2.0 * np.pi) - np.pi
        side = along[rows] != 2
        rolled = np.stack([body.radius * around, at[:, 2]], axis=1)
        coordinates = np.where(side[:, None], rolled, coordinates)
    coordinates += 1.618 * np.array([place % 97, place % 89])
    mesh = Mesh(own.vertices[corners], triangles).moved(position, rotation)
    return built(f"body {place}", mesh, look, normals @ rotation.T, coordinates)


def _shaded(body: Body) -> tuple[Mesh, Array]:
    """Its surface in its own axes, and (3 F, 3) normals of the corners of faces."""
    if (found := rolled(body)) is not None:
        mesh, normals = found
        return mesh, normals[mesh.faces.ravel()]
    mesh = body.mesh()
    return mesh, creased(mesh)


def board_face(body: Body, position: Array, rotation: Array, look: Look, place: int) -> Any:
    """The forward face of a board, a hair before it."""
    x, y, z = 0.5 * body.length + 2e-4, 0.5 * body.beam, 0.5 * body.height
    corners = np.array([(x, y, -z), (x, -y, -z), (x, -y, z), (x, y, z)])
    mesh = Mesh(corners, np.array([(0, 2, 1), (0, 3, 2)])).moved(position, rotation)
    normals = np.broadcast_to(rotation[:, 0], (4, 3))
    coordinates = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    return built(f"face {place}", mesh, look, normals, coordinates)


def bottom_mesh(bottom: float | HeightGrid, middle: Array, look: Look) -> Any:
    """The bottom; a flat one around a place (2,)."""
    if isinstance(bottom, HeightGrid):
        mesh = surface(*extended(bottom))
    else:
        ends = np.array([-FLAT_REACH, FLAT_REACH])
        mesh = surface(middle[0] + ends, middle[1] + ends, np.full((2, 2), float(bottom)))
    normals = smooth(mesh)
    north, east, down = mesh.vertices.T
    coordinates = np.stack([north + 0.7 * down, east - 0.7 * down], axis=1)
    return built(
        "bottom",
        mesh,
        look,
        normals,
        coordinates,
        {"vertex_rock": np.asarray(steepness(normals.T), np.float64)},
    )


def smooth(mesh: Mesh) -> Array:
    """(V, 3) unit normals of vertices: means of their faces' by area."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    total = np.zeros_like(mesh.vertices)
    for axis in range(3):
        for k in range(3):
            total[:, axis] += np.bincount(
                mesh.faces[:, k], normal[:, axis], minlength=len(mesh.vertices)
            )
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12))


def creased(mesh: Mesh) -> Array:
    """(3 F, 3) unit normals of the corners of faces: means over the faces around a vertex that meet
    the corner's own at less than `CREASE`."""
    face = mesh.normals
    # Vertices at one place count as one, whatever the mesh says.
    _, vertex = np.unique(mesh.vertices.round(6), axis=0, return_inverse=True)
    corner = vertex.ravel()[mesh.faces.ravel()]
    order = np.argsort(corner, kind="stable")
    count = np.bincount(corner)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    each = count[corner]
    mine = np.repeat(np.arange(len(corner)), each)
    step = np.arange(len(mine)) - np.repeat(np.cumsum(each) - each, each)
    other = order[np.repeat(first[corner], each) + step]
    near = np.sum(face[mine // 3] * face[other // 3], axis=1) > CREASE
    total = np.zeros((len(corner), 3))
    for axis in range(3):
        total[:, axis] = np.bincount(mine, near * face[other // 3, axis], minlength=len(corner))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(
        length > 1e-9, total / np.maximum(length, 1e-9), face[np.arange(len(corner)) // 3]
    )
