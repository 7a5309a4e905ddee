"""Meshes of a bottom: STL, OBJ, PLY and GLB, in local metres, x east, y north, z up."""

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.sources import MOST_SOUNDINGS, Surface, check_count, refuse
from seatrial.geometry.mesh_files import load_mesh

Array = NDArray[np.float64]

LARGEST_FILE = 4_000_000_000
"""Bytes."""


def read_mesh(path: Path) -> Surface:
    """The triangles of a file, all of its parts together."""
    _check_header(path)
    try:
        loaded: Any = load_mesh(path, process=False)
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
