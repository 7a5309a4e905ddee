"""A vehicle file from an examined hull, in which every number says where it comes from."""

import math

import numpy as np

from seatrial.hull.examination import FORM_FACTOR, Examination
from seatrial.hull.shape.hydrostatics import waterline

FORCES, MOTIONS = "XYZKMN", "uvwpqr"
COUPLED = 0.02
"""Least added mass between two motions that is written, as a share of √(A_ii A_jj): that of panels
which are no mirror images is up to as much."""


def vehicle_yaml(found: Examination, name: str, mesh_file: str) -> str:
    """The text of the file."""
    s = found.solution
    wave = s.source
    lines = [
        "kind: vehicle",
        f"name: {name}",
        f"description: from the mesh {found.name} and a mass of {found.mass:g} kg",
        "source: >-",
        f"  seatrial hull; potential theory by {wave}. Each number says whether it was given,",
        "  computed (and how) or estimated (and from what). The origin is amidships on the "
        "waterline.",
        *(f"# {note}" for note in found.notes),
        "",
        f"length: {_n(np.ptp(found.mesh.vertices[:, 0]))}  # computed: of the mesh",
        f"beam: {_n(np.ptp(found.mesh.vertices[:, 1]))}  # computed: of the mesh",
        f"height: {_n(found.height)}  # computed: of the mesh",
        "",
        "inertia:",
        f"  mass: {_n(found.mass)}  # given",
        f"  centre_of_gravity: {_row(found.gravity)}  # {found.gravity_how}",
        f"  gyration: {_row(found.gyration)}  # {found.gyration_how}",
        "",
        "buoyancy:",
        "  craft: surface",
        f"  draught: {_n(found.draught)}  # computed: of the mesh, afloat",
        *_blocks(found),
        f"  waterplane_area: {_n(found.figures.waterplane_area)}  # computed: cut of the mesh",
        f"  centre_of_flotation: {_n(found.figures.flotation[0])}  # computed: likewise",
        f"  transverse_metacentric_height: {_n(found.heights[0])}  # computed: BM - BG, exact cut",
        f"  longitudinal_metacentric_height: {_n(found.heights[1])}  # computed: likewise",
        "",
        "hydrodynamics:",
        f"  reference_density: {_n(found.density)}  # given",
        "  coefficients:",
        *_coefficients(found),
        "  radiation_damping:  # not with `potential`, which solves for it",
        *_radiation(found),
        "  crossflow:  # estimated: Hoerner's section drag (Fossen 2021, 6.5)",
        f"    length: {_n(found.length)}",
        f"    draught: {_n(found.mean_draught)}  # of the keel, in the mean over the length",
        f"    beam: {_n(_hull_beam(found))}",
        "",
        "hull:",
        f"  file: {mesh_file}  # the mended mesh, level afloat, in body axes and metres",
        "  hydrostatics: mesh          # or voxel; wall-sided blocks cannot tell this hull's waves"
        if _wider_below(found)
        else "  hydrostatics: linear        # or mesh, voxel",
        "  hydrodynamics: coefficients # or surface, potential",
    ]
    return "\n".join(lines) + "\n"


def _n(value: float) -> str:
    return f"{float(value) if abs(value) > 1e-9 else 0.0:.5g}"


def _row(values: object) -> str:
    return "[" + ", ".join(_n(v) for v in np.asarray(values)) + "]"


def _hull_beam(found: Examination) -> float:
    """Breadth of one hull on the waterline."""
    outline = waterline(found.mesh).reshape(-1, 2)
    side = outline[outline[:, 1] > 0.0] if found.twin else outline
    return float(np.ptp(side[:, 1]))


def _wider_below(found: Examination) -> bool:
    """Whether wall-sided blocks on its waterplane would be deeper than the hull, as of a SWATH."""
    return found.figures.volume > found.figures.waterplane_area * found.draught


def _blocks(found: Examination) -> list[str]:
    """Wall-sided blocks of the hull's waterplane, volume and place; of one that is wider below
    where its volume is, since its waterplane may be far from there."""
    area, volume = found.figures.waterplane_area, found.figures.volume
    x = float(
        (found.figures.buoyancy_centre if _wider_below(found) else found.figures.flotation)[0]
    )
    count = 2 if found.twin else 1
    draught = min(volume / area, found.draught)
    beam = volume / draught / count / found.length
    lateral = math.sqrt(found.figures.waterplane_moments[1, 1] / area) if found.twin else 0.0
    middle = float(found.figures.buoyancy_centre[1])  # under the weight, also of a hull that heels
    sides = [middle - lateral, middle + lateral] if found.twin else [middle]
    same = "length, draught" if _wider_below(found) else "waterplane area, length"
    rows = [f"  blocks:  # computed: box of the same {same} and volume"]
    for y in sides:
        rows.append(
            f"    - {{shape: box, length: {_n(found.length)}, beam: {_n(beam)}, "
            f"draught: {_n(draught)}, at: [{_n(x)}, {_n(y)}]}}"
        )
    return rows


def _coefficients(found: Examination) -> list[str]:
    s = found.solution
    added = found.added_mass
    size = np.sqrt(np.maximum(np.diag(added), 0.0))
    rows = []
    for i in range(6):
        if i in (2, 3, 4):
            how = f"at the natural frequency {found.natural(i)[0]:.3g} rad/s"
        else:
            how = f"at {s.omega[0]:.3g} rad/s, near zero frequency"
        name = f"{FORCES[i]}_{MOTIONS[i]}d"
        rows.append(f"    {name}: {_n(-added[i, i])}  # computed: {s.source}, {how}")
    for i, j in zip(*np.nonzero(np.abs(added) > COUPLED * np.outer(size, size)), strict=True):
        if i != j:
            name = f"{FORCES[i]}_{MOTIONS[j]}d"
            rows.append(
                f"    {name}: {_n(-added[i, j])}  # computed: coupled as near zero frequency"
            )
    rows += [
        f"    X_u_au: {_n(found.surge_drag())}  # estimated: ITTC-57 friction of the wetted "
        f"{found.figures.wetted_area:.3g} m², form factor {FORM_FACTOR}",
        f"    K_p: {_n(-found.roll_damping())}  # estimated: 5 % of critical by viscosity",
    ]
    # a steady linear part, without which a craft at rest would drift for ever
    mass = found.mass_matrix + s.added_mass[0]
    rows += [
        f"    X_u: {_n(-mass[0, 0] / 60.0)}  # estimated: time constant of 60 s at rest",
        f"    Y_v: {_n(-mass[1, 1] / 30.0)}  # estimated: 30 s",
        f"    N_r: {_n(-mass[5, 5] / 10.0)}  # estimated: 10 s",
    ]
    return rows


def _radiation(found: Examination) -> list[str]:
    rows = []
    for i in (2, 3, 4):
        frequency, _, damping = found.natural(i)
        how = f"computed: radiated at the natural frequency {frequency:.3g} rad/s"
        rows.append(f"    {FORCES[i]}_{MOTIONS[i]}: {_n(-damping)}  # {how}")
    return rows
