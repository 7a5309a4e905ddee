"""Triangles of a COLLADA document (.dae), with its unit and its up axis.

What CAD and robot descriptions use of the format: geometries of triangles, polylists and polygons,
placed by a tree of nodes with matrices, translations, rotations and scales (COLLADA 1.4.1).
"""

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh, merged

Array = NDArray[np.float64]
Element = ElementTree.Element


def read_collada(path: Path) -> tuple[Mesh, str, float]:
    """The document's mesh, its up axis (x, y or z) and its unit in metres."""
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # without the name space
    up = (root.findtext("asset/up_axis") or "Y_UP").strip()[0].lower()
    unit = root.find("asset/unit")
    metres = float(unit.get("meter", "1")) if unit is not None else 1.0
    if not 0.0 < metres < math.inf:
        raise ValueError(f"its unit is {metres:g} m")
    shapes = {g.get("id", ""): _geometry(g) for g in root.iter("geometry")}
    placed: list[Mesh] = []
    for scene in root.iter("visual_scene"):
        for node in scene.findall("node"):
            _place(node, np.eye(4), shapes, root, placed)
    found = placed or [shape for shape in shapes.values() if len(shape.faces)]
    if not found:
        return Mesh(np.empty((0, 3)), np.empty((0, 3), np.int64)), up, metres
    return merged(found), up, metres


def _place(
    node: Element, above: Array, shapes: dict[str, Mesh], root: Element, placed: list[Mesh]
) -> None:
    frame = above @ _transform(node)
    for instance in node.findall("instance_geometry"):
        shape = shapes.get(instance.get("url", "").lstrip("#"))
        if shape is not None and len(shape.faces):
            vertices = shape.vertices @ frame[:3, :3].T + frame[:3, 3]
            placed.append(Mesh(vertices, shape.faces))
    for instance in node.findall("instance_node"):
        name = instance.get("url", "").lstrip("#")
        for other in root.iterfind(".//library_nodes//node"):
            if other.get("id") == name:
                _place(other, frame, shapes, root, placed)
    for child in node.findall("node"):
        _place(child, frame, shapes, root, placed)


def _transform(node: Element) -> Array:
    """The node's own transforms, applied in the order in which they are written."""
    frame = np.eye(4)
    for element in node:
        if element.tag not in ("matrix", "translate", "rotate", "scale"):
            continue
        values = np.array((element.text or "").split(), np.float64)
        own = np.eye(4)
        if element.tag == "matrix":
            own = values.reshape(4, 4)
        elif element.tag == "translate":
            own[:3, 3] = values
        elif element.tag == "scale":
            own[:3, :3] = np.diag(values)
        else:
            axis, angle = values[:3] / np.linalg.norm(values[:3]), math.radians(values[3])
            cross = np.cross(np.eye(3), -axis)
            own[:3, :3] += math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross
        frame = frame @ own
    return frame


def _geometry(geometry: Element) -> Mesh:
    sources: dict[str, Array] = {}
    for source in geometry.iter("source"):
        values = np.array((source.findtext("float_array") or "").split(), np.float64)
        accessor = source.find("technique_common/accessor")
        stride = int(accessor.get("stride", "3")) if accessor is not None else 3
        if stride == 3 and len(values) % 3 == 0:
            sources[source.get("id", "")] = values.reshape(-1, 3)
    corners: dict[str, str] = {}
    for vertices in geometry.iter("vertices"):
        for entry in vertices.findall("input"):
            if entry.get("semantic") == "POSITION":
                corners[vertices.get("id", "")] = entry.get("source", "").lstrip("#")
    parts: list[Mesh] = []
    for primitive in geometry.iter():
        if primitive.tag in ("triangles", "polylist", "polygons"):
            parts += _primitive(primitive, sources, corners)
    return merged(parts) if parts else Mesh(np.empty((0, 3)), np.empty((0, 3), np.int64))


def _primitive(element: Element, sources: dict[str, Array], corners: dict[str, str]) -> list[Mesh]:
    inputs = element.findall("input")
    stride = 1 + max(int(i.get("offset", "0")) for i in inputs)
    vertex = next(i for i in inputs if i.get("semantic") == "VERTEX")
    points = sources[corners[vertex.get("source", "").lstrip("#")]]
    lists = [np.array((p.text or "").split(), np.int64) for p in element.findall("p")]
    indices = [p.reshape(-1, stride)[:, int(vertex.get("offset", "0"))] for p in lists]
    if element.tag == "triangles":
        polygons = [row for flat in indices for row in flat.reshape(-1, 3)]
    elif element.tag == "polylist":
        counts = np.array((element.findtext("vcount") or "").split(), np.int64)
        polygons = list(np.split(indices[0], np.cumsum(counts)[:-1]))
    else:
        polygons = indices
    fans = [
        np.stack([np.full(len(p) - 2, p[0]), p[1:-1], p[2:]], axis=1)
        for p in polygons
        if len(p) > 2
    ]
    return [Mesh(points, np.concatenate(fans))] if fans else []
