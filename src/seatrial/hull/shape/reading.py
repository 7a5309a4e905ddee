"""Reads a hull from a file of triangles or panels, and puts it into body axes and metres."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import Problem, SpecError
from seatrial.geometry.mesh import Mesh
from seatrial.geometry.mesh_files import load_mesh
from seatrial.hull.shape.collada import read_collada
from seatrial.hull.shape.mending import LARGEST, MOST, mend
from seatrial.hull.shape.shells import volume

Array = NDArray[np.float64]

FORMATS = ("stl", "obj", "ply", "glb", "gltf", "dae", "gdf")
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
AXES = {f"{s}{a}": (1.0 if not s else -1.0, i) for s in ("", "-") for i, a in enumerate("xyz")}
"""Name of a direction in a file -> its sign and axis."""

LEAST_LOADED, MOST_LOADED = 0.02, 0.95
"""Share of its volume that a boat displaces, if its unit is believed."""
USUAL_LOAD = 0.25
MOST_BYTES = 600_000_000
"""Of a file: two million triangles in the wordiest format, STL as text, are fewer."""


@dataclass(frozen=True)
class Frame:
    """What a file's axes and unit mean."""

    up: str
    forward: str
    unit: float | None
    """Metres; None where the format does not say."""
    notes: tuple[str, ...] = ()
    """What was added to what the file holds."""


@dataclass(frozen=True)
class ReadHull:
    """A hull in body axes (forward, starboard, down) and metres; where its origin is stays."""

    mesh: Mesh
    notes: tuple[str, ...]
    """What was mended or guessed, a sentence each."""
    axes: Array
    """(3, 3) from the file's axes and unit to body axes and metres."""

    def placed(self, point: Array) -> Array:
        """A point of the file in body axes, m."""
        return self.axes @ point


def read_hull(
    path: Path,
    displaced: float | None = None,
    units: str | None = None,
    up: str | None = None,
    forward: str | None = None,
) -> ReadHull:
    """Read and mend a hull; `displaced` is the volume of water that it will displace, m³."""
    raw, frame = _read(path)
    notes = list(frame.notes)
    up = up or frame.up
    if forward is None:
        forward = frame.forward if AXES[frame.forward][1] != AXES[up][1] else "x"
        forward, note = _along_the_longest(raw, up, forward)
        notes += note
    axes = _axes(up, forward)
    mended = mend(raw, path.name, -axes[2])  # in the file's axes, which refusals name places in
    notes += mended.repairs
    if units is not None:
        scale = UNITS[units]
    elif frame.unit is not None:
        scale = frame.unit
    else:
        scale, note = _guessed_unit(path.name, volume(mended.mesh), displaced)
        notes += note
    placed = mended.mesh._replace(vertices=scale * mended.mesh.vertices @ axes.T)
    return ReadHull(placed, tuple(notes), scale * axes)


def read_body_mesh(path: Path) -> tuple[Mesh, tuple[str, ...]]:
    """A hull from a file in metres and body axes, and what was mended of it."""
    mended = mend(_read(path)[0], path.name, np.array([0.0, 0.0, -1.0]))
    return mended.mesh, mended.repairs


def _read(path: Path) -> tuple[Mesh, Frame]:
    kind = path.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise SpecError(
            Problem(
                f"{path}: this kind of file holds no hull that can be read",
                value=path.suffix or "no ending",
                expected=", ".join(f.upper() for f in FORMATS),
                mend="export the hull as STL",
            )
        )
    readers: dict[str, Callable[[Path], tuple[Mesh, Frame]]] = {"dae": _collada, "gdf": read_gdf}
    try:
        _check_size(path, kind)
        found = readers.get(kind, _by_trimesh)(path)
        _check_corners(found[0])
    except SpecError:
        raise
    except OSError as error:
        raise SpecError(
            Problem(
                f"{path}: the file cannot be read ({error.strerror or error})",
                mend="check its name",
            )
        ) from None
    except Exception as error:  # readers raise whatever their parsers do
        raise SpecError(
            Problem(
                f"{path}: no hull can be read from this file ({error})",
                expected=f"a complete {kind.upper()} file",
                mend="export it again",
            )
        ) from None
    if len(found[0].faces) == 0:
        raise SpecError(
            Problem(f"{path}: the file holds no triangles", mend="export the hull's surface")
        )
    if len(found[0].faces) > MOST:
        raise _too_fine(path, f"{len(found[0].faces):,} triangles")
    return found


def _check_size(path: Path, kind: str) -> None:
    """Refuse a file that holds too many triangles before it is read, where that can be told."""
    size = path.stat().st_size
    if kind == "stl" and not _is_text(path) and (size - 84) // 50 > MOST:
        raise _too_fine(path, f"{(size - 84) // 50:,} triangles")
    if size > MOST_BYTES:
        raise _too_fine(path, f"{size / 1e6:,.0f} MB")


def _too_fine(path: Path, found: str) -> SpecError:
    return SpecError(
        Problem(
            f"{path}: the mesh is too fine",
            value=found,
            expected=f"at most {MOST:,} triangles in {MOST_BYTES / 1e6:.0f} MB",
            mend="decimate it to some 100,000 triangles in the program that made it: a hull is "
            f"worked with in {LARGEST:,} at most",
        )
    )


def _is_text(path: Path) -> bool:
    """Whether an STL is text, which begins with `solid` and a facet."""
    with path.open("rb") as file:
        head = file.read(1000)
    return len(head) < 84 or (head.lstrip().startswith(b"solid") and b"facet" in head)


def _check_corners(mesh: Mesh) -> None:
    if mesh.vertices.shape[1:] != (3,) or mesh.faces.shape[1:] != (3,):
        raise ValueError(f"its corners have {mesh.vertices.shape[1:]} numbers")
    if not len(mesh.faces):
        return
    wrong = int(np.sum(~np.isfinite(mesh.vertices).all(axis=1)))
    if wrong:
        raise ValueError(f"{wrong} of {len(mesh.vertices)} corners are not numbers")
    low, high = int(mesh.faces.min()), int(mesh.faces.max())
    if low < 0 or high >= len(mesh.vertices):
        raise ValueError(
            f"a triangle has corner {high if low >= 0 else low}, and there are {len(mesh.vertices)}"
        )


def _by_trimesh(path: Path) -> tuple[Mesh, Frame]:
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    if path.suffix.lower() == ".stl":
        _check_count(path)
    loaded: Any = load_mesh(path, process=False)
    mesh = Mesh(np.asarray(loaded.vertices, np.float64), np.asarray(loaded.faces, np.int64))
    if path.suffix.lower() in (".glb", ".gltf"):  # glTF 2.0, 3.4: +Y up, +Z forward, metres
        return mesh, Frame("y", "z", 1.0)
    return mesh, Frame("z", "x", None)


def _check_count(path: Path) -> None:
    """A binary STL says after 80 bytes how many triangles of 50 bytes follow."""
    if _is_text(path):
        return
    with path.open("rb") as file:
        head = file.read(84)
    said, held = int.from_bytes(head[80:84], "little"), (path.stat().st_size - 84) / 50.0
    if said != held:
        raise ValueError(f"its head says {said} triangles, and there is room for {held:.10g}")


def _collada(path: Path) -> tuple[Mesh, Frame]:
    mesh, up, unit = read_collada(path)
    return mesh, Frame(up, "x" if up != "x" else "z", unit)


def read_gdf(path: Path) -> tuple[Mesh, Frame]:
    """WAMIT's geometric data file (WAMIT User Manual, low-order method).

    A title, `ULEN GRAV`, `ISX ISY` (1 for a plane of symmetry), the number of panels, and four
    corners per panel. z is up from the waterline, where panels leave the hull open: sides are drawn
    up from there, as high as the hull is deep. Panels on the water inside it are left out.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    numbers: list[float] = []
    for line in lines[1:]:
        for word in line.replace(",", " ").split():
            try:
                numbers.append(float(word.replace("D", "E").replace("d", "e")))
            except ValueError:
                break  # the rest of the line is a comment
    if len(numbers) < 5:
        raise ValueError("the head is incomplete")
    isx, isy, count = (int(v) for v in numbers[2:5])
    if {isx, isy} - {0, 1}:
        raise ValueError(f"ISX and ISY are {isx} and {isy}, and may be 0 or 1")
    if count <= 0 or len(numbers) < 5 + 12 * count:
        raise ValueError(f"{count} panels are announced, {(len(numbers) - 5) // 12} are there")
    corners = np.array(numbers[5 : 5 + 12 * count]).reshape(count, 4, 3)
    parts = [corners]
    if isx == 1:
        parts += [p * np.array([-1.0, 1.0, 1.0]) for p in parts]
    if isy == 1:
        parts += [p * np.array([1.0, -1.0, 1.0]) for p in parts]
    panels, height = _with_sides(np.concatenate(parts))
    halves = np.array([[0, 1, 2], [0, 2, 3]])
    faces = (4 * np.arange(len(panels))[:, None, None] + halves).reshape(-1, 3).astype(np.int64)
    note = f"sides drawn up by {height:.3g} m: the file ends at the waterline"
    return Mesh(panels.reshape(-1, 3), faces), Frame("z", "x", 1.0, (note,) if height else ())


def _with_sides(panels: Array) -> tuple[Array, float]:
    """Panels (K, 4, 3) of a hull under water with upright ones above, and how high these are; 0 of
    a body that does not end at the waterline."""
    depth = -float(panels[:, :, 2].min())
    afloat = np.abs(panels[:, :, 2]) < 1e-6 * depth
    panels, afloat = panels[~afloat.all(axis=1)], afloat[~afloat.all(axis=1)]
    following = np.roll(panels, -1, axis=1)
    rim = afloat & np.roll(afloat, -1, axis=1) & np.any(panels != following, axis=2)
    if not rim.any() or panels[:, :, 2].max() > 1e-6 * depth:
        return panels, 0.0
    up = np.array([0.0, 0.0, depth])
    a, b = panels[rim], following[rim]
    return np.concatenate([panels, np.stack([b, a, a + up, b + up], axis=1)]), depth


def _axes(up: str, forward: str) -> Array:
    """Rows: the file's directions forward, starboard and down."""
    rows = []
    for name in (forward, up):
        sign, axis = AXES[name]
        rows.append(sign * np.eye(3)[axis])
    ahead, upwards = rows
    if abs(ahead @ upwards) > 0.5:
        raise SpecError(
            Problem(
                "forward and up are the same axis",
                value=f"forward {forward}, up {up}",
                expected="two different axes",
                mend="give --forward and --up as x, -x, y, -y, z or -z",
            )
        )
    return np.stack([ahead, np.cross(ahead, upwards), -upwards])


def _along_the_longest(mesh: Mesh, up: str, forward: str) -> tuple[str, list[str]]:
    """A boat is longer than broad: the level axis along which the mesh is longest is forward."""
    size = np.ptp(mesh.vertices[mesh.faces.ravel()], axis=0)
    level = [a for a in range(3) if a != AXES[up][1]]
    longest = max(level, key=lambda a: (size[a], a == AXES[forward][1]))
    if longest == AXES[forward][1] or size[longest] <= 1.0001 * size[AXES[forward][1]]:
        return forward, []
    return "xyz"[longest], [
        f"taken to lie along {'xyz'[longest]}, its longest level axis; say --forward if it does not"
    ]


def _guessed_unit(name: str, size: float, displaced: float | None) -> tuple[float, list[str]]:
    """Metres, unless a boat of that volume would be far too large or too small for its mass."""
    if displaced is None:
        return 1.0, []
    loads = {unit: displaced / (size * scale**3) for unit, scale in UNITS.items()}
    if LEAST_LOADED <= loads["m"] <= MOST_LOADED:
        return 1.0, []
    likely = {u: v for u, v in loads.items() if LEAST_LOADED <= v <= MOST_LOADED}
    if not likely:
        if loads["m"] > 1.0:
            raise SpecError(
                Problem(
                    f"{name}: the hull is too small for its mass and would sink",
                    value=f"{size:.4g} m³ in metres, {displaced:.4g} m³ of water weigh as much",
                    expected="a hull that displaces more than its mass before it is full",
                    mend=f"check --mass, or give --units {', '.join(UNITS)}",
                )
            )
        return 1.0, [f"very light: it displaces {100 * loads['m']:.2g} % of its own volume"]
    unit = min(likely, key=lambda u: abs(np.log(likely[u] / USUAL_LOAD)))
    return UNITS[unit], [
        f"taken to be in {unit}, in which its mass is {100 * likely[unit]:.0f} % of what it can "
        "carry; say --units if it is not"
    ]
