"""`seatrial hull`: a mesh and a mass to a vehicle file, its hull and a page of figures."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import typer

from seatrial.cli.progress import working
from seatrial.conventions import GRAVITY
from seatrial.errors import Problem, SpecError
from seatrial.figures.hull import HullPage, draw_hull
from seatrial.figures.plot import save
from seatrial.hull.examination import Examination, Load, examine
from seatrial.hull.potential.drift import finer
from seatrial.hull.shape.hydrostatics import section
from seatrial.hull.shape.reading import AXES, UNITS
from seatrial.hull.vehicle_file import vehicle_yaml

MORE = 8
"""Times as many frequencies as are solved for, at which motions are drawn."""


def show_hull(
    file: Path,
    mass: float,
    out: Path | None,
    density: float,
    units: str | None,
    up: str | None,
    forward: str | None,
    gravity: str | None,
    loads: list[str],
    overwrite: bool,
    as_json: bool,
) -> None:
    """Examine a hull, write its vehicle, its mesh and its page, and print what was found."""
    for option, word, words in (
        ("--units", units, tuple(UNITS)),
        ("--up", up, tuple(AXES)),
        ("--forward", forward, tuple(AXES)),
    ):
        if word is not None and word not in words:
            raise SpecError(
                Problem(f"unknown word after {option}", value=word, expected=", ".join(words))
            )
    if gravity is not None and loads:
        raise SpecError(
            Problem(
                "--centre-of-gravity and --load do not go together",
                expected="one of them: loads say where the centre of gravity lies",
            )
        )
    if out is not None:
        _check_out(file, out, overwrite)
    with working(f"solving {file.name}", quiet=as_json) as share:
        found = examine(
            file,
            mass,
            density,
            units=units,
            up=up,
            forward=forward,
            gravity=None if gravity is None else _point(gravity),
            loads=[_load(text) for text in loads],
            progress=share,
        )
    written = _write(found, out) if out is not None else []
    report = _report(found) | {"written": [str(p) for p in written]}
    if as_json:
        typer.echo(json.dumps(report, indent=2))
        return
    for note in found.notes:
        typer.echo(f"{file.name}: {note}")
    for key, value in report.items():
        if isinstance(value, float):
            typer.echo(f"{key.replace('_', ' '):>28}  {value:.4g}")
    for path in written:
        typer.echo(f"written: {path}")


def _numbers(text: str, count: int, what: str, option: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
        if len(found) != count or not math.isfinite(sum(found)):
            raise ValueError
    except ValueError:
        raise SpecError(
            Problem(what, value=text, expected=f"{option} in the file's own axes and unit")
        ) from None
    return found


def _point(text: str) -> tuple[float, float, float]:
    x, y, z = _numbers(text, 3, "no centre of gravity", "--centre-of-gravity X,Y,Z")
    return x, y, z


def _load(text: str) -> Load:
    mass, x, y, z = _numbers(text, 4, "no load", "--load KG,X,Y,Z")
    if mass <= 0.0:
        raise SpecError(Problem("a load weighs nothing", value=text, expected="more than 0 kg"))
    return Load(mass, (x, y, z))


def _written(out: Path) -> list[Path]:
    """OUT, and beside it the mesh and the page."""
    return [out, out.with_name(f"{out.stem}_hull.stl"), out.with_suffix(".png")]


def _check_out(file: Path, out: Path, overwrite: bool) -> None:
    """Refuse what cannot be written before a minute is spent on it, the mesh that is read, and what
    is there already: who has an engine and sensors to a vehicle wrote them into its file."""
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise SpecError(
            Problem(
                "a vehicle is written as YAML",
                value=str(out),
                expected="a name that ends in .yaml",
                mend=f"--out {out.with_suffix('.yaml')}",
            )
        )
    if not out.parent.is_dir():
        raise SpecError(
            Problem(
                "the vehicle cannot be written",
                value=str(out),
                expected=f"a folder `{out.parent}`",
                mend="make it",
            )
        )
    there = [path for path in _written(out) if path.exists()]
    for path in there:
        if file.exists() and path.samefile(file):
            raise SpecError(
                Problem(
                    f"{path}: the mesh that is read would be written over",
                    expected="another name",
                    mend="give another --out",
                )
            )
    if there and not overwrite:
        raise SpecError(
            Problem(
                f"{there[0]}: exists already",
                expected="a new name",
                mend="choose another one with --out, or say --overwrite",
            )
        )


def _write(found: Examination, out: Path) -> list[Path]:
    out, mesh_file, picture = _written(out)
    name = re.sub(r"[^a-z0-9_]+", "_", out.stem.lower()).strip("_") or "boat"
    name = name if name[0].isalpha() else f"boat_{name}"
    import trimesh

    try:
        out.write_text(vehicle_yaml(found, name[:40], mesh_file.name), encoding="utf-8")
        mesh: Any = trimesh.Trimesh(found.mesh.vertices, found.mesh.faces, process=False)
        mesh.export(mesh_file)
    except OSError as error:
        raise SpecError(
            Problem("the vehicle cannot be written", value=str(out), mend=str(error.strerror))
        ) from None
    save(draw_hull(_page(found)), picture)
    return [out, mesh_file, picture]


def _page(found: Examination) -> HullPage:
    s = found.solution
    mass = np.diag(found.mass_matrix)[:, None]
    added = np.einsum("wii->iw", s.added_mass) / mass
    damping = np.einsum("wii->iw", s.damping) / mass / s.omega
    motions = np.abs(found.motions(MORE))
    waves = finer(s, MORE).omega
    slope = (waves**2 / GRAVITY)[:, None]
    half = 0.48 * found.length
    aft, fore = (
        [section(found.mesh, float(x)) for x in np.linspace(start, end, 5)]
        for start, end in ((-half, -0.04 * half), (0.04 * half, half))
    )
    return HullPage(
        title=f"{found.name}: {found.mass:g} kg, {found.length:.3g} x {found.beam:.3g} m on the "
        f"waterline, {found.draught:.3g} m deep",
        facts=f"GM {found.heights[0]:.3g} m in roll, {found.heights[1]:.3g} m in pitch   ·   "
        f"{s.source}   ·   roll with 5 % of critical by viscosity",
        aft=aft,
        fore=fore,
        angles=found.angles,
        arms=found.arms,
        metacentric_height=found.heights[0],
        stations=found.stations,
        sections=found.sections,
        omega=s.omega,
        added_mass=added,
        damping=damping,
        headings=s.headings,
        waves=waves,
        motions=np.stack([motions[2], motions[3] / slope, motions[4] / slope]),
    )


def _report(found: Examination) -> dict[str, Any]:
    f = found.figures
    return {
        "hull": found.name,
        "notes": list(found.notes),
        "mass_kg": found.mass,
        "displacement_m3": f.volume,
        "length_waterline_m": found.length,
        "beam_waterline_m": found.beam,
        "draught_m": found.draught,
        "heel_deg": math.degrees(found.floating.heel),
        "trim_deg": math.degrees(found.floating.trim),
        "wetted_area_m2": f.wetted_area,
        "waterplane_area_m2": f.waterplane_area,
        "gm_transverse_m": found.heights[0],
        "gm_longitudinal_m": found.heights[1],
        "heave_period_s": 2.0 * math.pi / found.natural(2)[0],
        "roll_period_s": 2.0 * math.pi / found.natural(3)[0],
        "pitch_period_s": 2.0 * math.pi / found.natural(4)[0],
        "panels": found.solution.panels,
        "centre_of_gravity_m": found.gravity.tolist(),
        "gyration_m": found.gyration.tolist(),
        "centre_of_buoyancy_m": f.buoyancy_centre.tolist(),
        "centre_of_flotation_m": f.flotation.tolist(),
        "righting_arm_deg_m": np.column_stack([np.degrees(found.angles), found.arms]).tolist(),
        "section_areas_m_m2": np.column_stack([found.stations, found.sections]).tolist(),
        "added_mass_at_infinity": found.solution.infinite.tolist(),
    }
