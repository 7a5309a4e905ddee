"""Meshes of a bottom: STL, OBJ, PLY and GLB, in local metres, x east, y north, z up."""

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.sources import MOST_SOUNDINGS, Surface, check_count, refuse

Array = NDArray[np.float64]

LARGEST_FILE = 4_000_000_000
"""Bytes."""
PAIRS = 4_000_000
"""Of triangles and nodes that are looked at together."""
EDGE = 1e-9
"""How far outside of a triangle a node may lie that is on its edge, as a share of its size."""


def read_mesh(path: Path) -> Surface:
    """The triangles of a file, all of its parts together."""
    _check_header(path)
    import trimesh

    try:
        loaded: Any = trimesh.load(path, force="mesh", process=False)
        vertices = np.asarray(loaded.vertices, np.float64)
        faces = np.asarray(loaded.faces, np.int64)
    except Exception as error:  # trimesh's readers raise whatever their parsers do
        refuse(path, f"no mesh can be read ({error})", expected="an STL, OBJ, PLY or GLB file")
    if not len(faces):
        refuse(path, "it holds no triangles", expected="a mesh of the bottom")
    bad = np.isnan(vertices.sum(axis=1)) | np.isinf(vertices.sum(axis=1))
    notes = []
    if bad.any():
        faces = faces[~bad[faces].any(axis=1)]
        notes.append(f"{int(bad.sum())} corners without a place: their triangles left out")
    check_count(path, len(faces), "triangles")
    return Surface(path, vertices, faces, notes=tuple(notes))


def _check_header(path: Path) -> None:
    """Refuse counts that the file is too short for, before a reader believes them."""
    size = path.stat().st_size
    if size > LARGEST_FILE:
        refuse(path, f"a mesh of {size / 1e9:.3g} GB", expected=f"at most {LARGEST_FILE:.2g} bytes")
    with path.open("rb") as file:
        start = file.read(4096)
    if not start.strip(b"\0 \r\n\t"):
        refuse(path, "the file is empty", expected="a mesh")
    declared = 0
    if path.suffix.lower() == ".stl" and not start.lstrip().startswith(b"solid") and size >= 84:
        (declared,) = struct.unpack_from("<I", start, 80)
        needed = 84 + 50 * declared
    elif path.suffix.lower() == ".ply":
        counts = re.findall(rb"element\s+\w+\s+(\d+)", start)
        declared = sum(int(n) for n in counts)
        needed = 2 * declared
    elif path.suffix.lower() == ".glb" and len(start) >= 12:
        (needed,) = struct.unpack_from("<I", start, 8)
    else:
        return
    if needed > size or declared > MOST_SOUNDINGS:
        refuse(
            path,
            f"its header promises {declared:,} elements, or {needed:,} bytes, and the file has "
            f"{size:,}",
            expected="a whole file",
            mend="was it cut short?",
        )


def heights(surface: Surface, north: Array, east: Array) -> Array:
    """(A, B) z of the highest triangle over each node, in the surface's own sign; NaN where none.

    Every triangle is looked at for the nodes of the rectangle around it, by its barycentric
    coordinates, many at once.
    """
    up = surface.positive != "down"
    z = np.full((len(north), len(east)), -np.inf)
    corners = surface.vertices[surface.faces]
    value = corners[:, :, 2] if up else -corners[:, :, 2]
    first_row = np.searchsorted(north, corners[:, :, 1].min(axis=1) - EDGE)
    rows = np.searchsorted(north, corners[:, :, 1].max(axis=1) + EDGE, side="right") - first_row
    first_column = np.searchsorted(east, corners[:, :, 0].min(axis=1) - EDGE)
    columns = (
        np.searchsorted(east, corners[:, :, 0].max(axis=1) + EDGE, side="right") - first_column
    )
    pairs = rows * columns
    touched = np.flatnonzero(pairs)
    ends = np.cumsum(pairs[touched])
    begin = 0
    while begin < len(touched):
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + PAIRS)))
        some = touched[begin:end]
        triangle = np.repeat(some, pairs[some])
        within = np.arange(len(triangle)) - np.repeat(
            np.concatenate([[0], np.cumsum(pairs[some])[:-1]]), pairs[some]
        )
        i = first_row[triangle] + within // columns[triangle]
        j = first_column[triangle] + within % columns[triangle]
        a, b, c = (corners[triangle, k, :2] for k in range(3))
        p = np.stack([east[j], north[i]], axis=1)
        area = _cross(b - a, c - a)
        wide = np.where(area == 0.0, 1.0, area)
        u, v = _cross(p - a, c - a) / wide, _cross(b - a, p - a) / wide
        inside = (area != 0.0) & (u >= -EDGE) & (v >= -EDGE) & (u + v <= 1.0 + EDGE)
        low, middle, high = (value[triangle, k] for k in range(3))
        here = low + u * (middle - low) + v * (high - low)
        np.maximum.at(z, (i[inside], j[inside]), here[inside])
        begin = end
    z[np.isinf(z)] = np.nan
    return z if up else -z


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
