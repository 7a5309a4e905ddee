"""A described hull to a mesh, and to the forces on it that the description asks for."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.core.forces.hull_loads import HullForces
from seatrial.core.forces.radiation import Radiation
from seatrial.core.forces.voxels import Voxels
from seatrial.core.forces.wave_patch import WavePatch
from seatrial.core.forces.wetted import CutHull, HullMesh, Surface
from seatrial.errors import SpecError
from seatrial.geometry.mesh import Mesh
from seatrial.hull.potential.files import read_results
from seatrial.hull.potential.memory import Memory
from seatrial.hull.potential.panelling import panelled
from seatrial.hull.potential.solution import Solution
from seatrial.hull.potential.solver import buoyant_stiffness, panels, solve
from seatrial.hull.shape import forms
from seatrial.hull.shape.floating import sinkage
from seatrial.hull.shape.hydrostatics import hydrostatics
from seatrial.hull.shape.reading import read_body_mesh
from seatrial.hull.shape.shells import volume
from seatrial.hull.shape.voxels import fill
from seatrial.ocean.waves import Waves
from seatrial.pytree import constant
from seatrial.spec import vehicle as spec
from seatrial.spec.hull import Hull

Array = NDArray[np.float64]
DType = np.dtype[Any]

MOST_TRIANGLES = 20_000
"""Of a hull on which forces are computed at every step."""
MOST_CUBES = 200_000
USUAL_PANELS = 800
"""Under water, of a boundary-element solution that leaves the choice to us."""
COARSER = (20, 16, 12, 9)
"""Panels along a hull that are tried until there are few enough."""
NODES = (4, 6, 8, 10)
"""Numbers of nodes that a patch may have along a side; ten carry waves as short as a quarter of
it."""
TOLERANCE = 0.01
"""Largest error of a component on the patch, as a share of its amplitude."""


def hull_mesh(vehicle: spec.Vehicle) -> Mesh:
    """The hull in body axes; of a surface craft as deep as it floats."""
    hull = vehicle.hull
    assert hull is not None
    mesh = _shape(vehicle, hull)
    mesh = Mesh(mesh.vertices + np.array(hull.position), mesh.faces)
    if not isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return mesh
    displaced = vehicle.inertia.mass / vehicle.hydrodynamics.reference_density
    if displaced >= volume(mesh):
        raise vehicle.error(
            ("hull", hull.shape),
            "the hull is too small for the vehicle's mass and would sink",
            value=f"{volume(mesh):.4g} m³ of hull, {displaced:.4g} m³ of water weigh as much",
            expected="a hull that holds more than the vehicle displaces",
            mend="check the hull's size, its unit, and `inertia.mass`",
        )
    lowered = vehicle.buoyancy.waterline + sinkage(mesh, displaced, np.eye(3))
    return Mesh(mesh.vertices + np.array([0.0, 0.0, lowered]), mesh.faces)


def _shape(vehicle: spec.Vehicle, hull: Hull) -> Mesh:
    panel = hull.panel
    if hull.file is not None:
        mesh = _from_file(vehicle, hull)
    elif hull.barge is not None:
        b = hull.barge
        height = b.draught + b.freeboard
        mesh = forms.barge(b.length, b.beam, b.draught, height, panel or b.length / 25)
    elif hull.wigley is not None:
        w = hull.wigley
        mesh = forms.wigley(
            *(w.length, w.beam, w.draught, w.freeboard, panel or w.length / 25),
            waterline_power=w.waterline_power,
            section_power=w.section_power,
        )
    elif hull.v_hull is not None:
        v = hull.v_hull
        mesh = forms.v_hull(
            v.length, v.beam, v.draught, v.freeboard, v.deadrise, panel or v.length / 25
        )
    elif hull.torpedo is not None:
        t = hull.torpedo
        mesh = forms.torpedo(
            *(t.length, t.diameter, t.nose, t.tail, panel or t.length / 25),
            nose_power=t.nose_power,
            tail_angle=t.tail_angle,
        )
    else:
        assert hull.sphere is not None
        mesh = forms.sphere(hull.sphere.radius, panel or hull.sphere.radius / 6)
    return mesh if hull.separation is None else forms.catamaran(mesh, hull.separation)


def _from_file(vehicle: spec.Vehicle, hull: Hull) -> Mesh:
    assert hull.file is not None
    try:
        mesh, repairs = read_body_mesh(_beside(hull, hull.file))
    except SpecError as error:
        raise _placed(hull, "file", error) from None
    if any("closed by a flat deck" in repair for repair in repairs):
        raise hull.error(
            ("file",),
            "the hull is open on top",
            value=hull.file,
            expected="a closed surface in metres and body axes",
            mend=f"prepare it: seatrial hull {hull.file} --mass {vehicle.inertia.mass:g}",
        )
    return mesh


def compile_hull(vehicle: spec.Vehicle, waves: Waves | None, dtype: DType) -> HullForces | None:
    """Forces on the hull; None where the description leaves all to stiffness and coefficients."""
    hull = vehicle.hull
    if hull is None or not hull.has_forces:
        return None
    if not isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        asked = hull.hydrodynamics if hull.hydrostatics == "linear" else hull.hydrostatics
        raise vehicle.error(
            ("hull",),
            f"`{asked}` is for craft that float on the surface",
            value=vehicle.buoyancy.craft,
            expected="`craft: surface`",
            mend="leave out `hydrostatics` and `hydrodynamics` of the hull",
        )
    wanted = hull.hydrostatics in ("mesh", "voxel") or hull.hydrodynamics == "surface"
    if not wanted:
        return None
    mesh = hull_mesh(vehicle)
    cut = None
    if hull.hydrostatics == "mesh" or hull.hydrodynamics == "surface":
        if len(mesh.faces) > MOST_TRIANGLES:
            raise vehicle.error(
                ("hull",),
                "the hull is too fine for forces on every triangle",
                value=f"{len(mesh.faces)} triangles",
                expected=f"at most {MOST_TRIANGLES}; a thousand or two are usual",
                mend="give a larger `panel`, or a coarser file",
            )
        cut = CutHull(
            mesh=HullMesh(
                vertices=constant(mesh.vertices.T, dtype),
                corners=constant(mesh.faces.T, np.dtype(np.int32)),
                triangles=constant(mesh.vertices[mesh.faces].transpose(1, 2, 0), dtype),
            ),
            surface=_surface(vehicle, hull, dtype) if hull.hydrodynamics == "surface" else None,
            holds=hull.hydrostatics == "mesh",
        )
    cubes = _voxels(vehicle, hull, mesh, dtype) if hull.hydrostatics == "voxel" else None
    return HullForces(cut=cut, voxels=cubes, patch=_patch(mesh, waves, dtype))


def solve_hull(vehicle: spec.Vehicle, depth: float | None) -> Solution | None:
    """Radiation and diffraction of a hull that asks for `potential`, in water of a depth."""
    hull = vehicle.hull
    if hull is None or hull.hydrodynamics != "potential":
        return None
    if not isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return None  # which `compile_hull` refuses
    waterline = vehicle.buoyancy.waterline
    if hull.results is not None:
        return _read(vehicle, hull, waterline)
    mesh = panelled_hull(vehicle, hull, waterline)
    density = vehicle.hydrodynamics.reference_density
    try:
        return solve(mesh, waterline, density, depth, vehicle.name)
    except SpecError as error:
        raise _placed(hull, "hydrodynamics", error) from None


def _read(vehicle: spec.Vehicle, hull: Hull, waterline: float) -> Solution:
    """What somebody else's solver found."""
    density, mesh = vehicle.hydrodynamics.reference_density, hull_mesh(vehicle)
    displaced = hydrostatics(mesh, waterline).volume
    try:
        return read_results(
            _beside(hull, str(hull.results)),
            density,
            buoyant_stiffness(mesh, waterline, density),
            displaced,
        )
    except SpecError as error:
        raise _placed(hull, "results", error) from None


def _beside(hull: Hull, name: str) -> Path:
    """A file that a description names, from where that lies."""
    file = Path(name)
    if file.is_absolute() or hull._source is None:
        return file
    return Path(hull._source.file).parent / file


def _placed(hull: Hull, key: str, error: SpecError) -> SpecError:
    """The same error, of this key of the description."""
    problem = error.problems[0]
    return hull.error(
        (key,),
        problem.message,
        value=problem.value,
        expected=problem.expected,
        mend=problem.mend,
    )


def panelled_hull(vehicle: spec.Vehicle, hull: Hull, waterline: float) -> Mesh:
    """The hull in panels for a boundary-element solution: as asked, or fewer and larger ones."""
    mesh = hull_mesh(vehicle)
    if hull.panel is not None:
        return mesh
    if hull.file is not None:
        raised = Mesh(mesh.vertices - np.array([0.0, 0.0, waterline]), mesh.faces)
        coarse = panelled(raised, vehicle.name)
        return Mesh(coarse.vertices + np.array([0.0, 0.0, waterline]), coarse.faces)
    length = float(np.ptp(mesh.vertices[:, 0]))
    for pieces in COARSER:
        if len(panels(mesh, waterline).faces) <= USUAL_PANELS:
            break
        coarser = hull.model_copy(update={"panel": length / pieces})
        mesh = hull_mesh(vehicle.model_copy(update={"hull": coarser}))
    return mesh


def radiation(model: Memory, dtype: DType) -> Radiation:
    """The memory of a hull as a force."""
    return Radiation(
        A=constant(model.A, dtype), B=constant(model.B, dtype), C=constant(model.C, dtype)
    )


def _surface(vehicle: spec.Vehicle, hull: Hull, dtype: DType) -> Surface:
    drag = hull.surface
    return Surface(
        length=constant(vehicle.length, dtype),
        form_factor=constant(drag.form_factor, dtype),
        pressure=constant(drag.pressure, dtype),
        suction=constant(drag.suction, dtype),
        reference_speed=constant(drag.reference_speed, dtype),
        slamming=constant(drag.slamming * math.pi / 8.0 * vehicle.beam, dtype),
    )


def _voxels(vehicle: spec.Vehicle, hull: Hull, mesh: Mesh, dtype: DType) -> Voxels:
    size = np.ptp(mesh.vertices, axis=0)
    edge = hull.voxel or min(float(size[0]) / 20, float(size[2]) / 4)
    count = float(np.prod(np.ceil(size / edge)))
    if count > 10 * MOST_CUBES or edge > size.min():
        raise vehicle.error(
            ("hull", "voxel"),
            "the cubes do not suit the hull",
            value=f"cubes of {edge:.3g} m in {' x '.join(f'{s:.3g}' for s in size)} m",
            expected=f"an edge no longer than {size.min():.3g} m, and at most {MOST_CUBES} cubes",
            mend="give another `voxel`",
        )
    cubes = fill(mesh, edge)
    return Voxels(
        centres=constant(cubes.centres.T, dtype),
        volumes=constant(cubes.volumes, dtype),
        edge=constant(cubes.edge, dtype),
    )


def _patch(mesh: Mesh, waves: Waves | None, dtype: DType) -> WavePatch | None:
    """As large as the hull however it leans, with nodes for the sea's shortest waves that matter.

    The number of nodes follows from the bands of the spectrum, never from the seed.
    """
    if waves is None:
        return None
    reach = np.abs(mesh.vertices).max(axis=0)
    half = np.hypot(reach[:2], reach[2])
    shortest = float((np.asarray(waves.band, np.float64) ** 2).max()) / GRAVITY
    longest_side = float(half.max())
    # what the most nodes can carry along the longer side is all that the shorter one needs
    shortest = min(shortest, _carried(NODES[-1]) / longest_side)
    counts = [next((n for n in NODES if _carried(n) >= shortest * h), NODES[-1]) for h in half]
    limit = min(_carried(n) / h for n, h in zip(counts, half, strict=True))
    carried = np.asarray(waves.wavenumber, np.float64) <= limit
    depth = max(float(mesh.vertices[:, 2].max()), 1e-3)
    return WavePatch(
        half=constant(half, dtype),
        reach=constant(2.0 * depth, dtype),
        mid_depth=constant(0.5 * depth, dtype),
        amplitude=constant(np.where(carried, np.asarray(waves.amplitude, np.float64), 0.0), dtype),
        nodes=(counts[0], counts[1]),
    )


def _carried(count: int) -> float:
    """Phase k h over half of the patch up to which n nodes keep a wave within the tolerance."""
    return float((TOLERANCE * 2.0 ** (count - 1) * math.factorial(count)) ** (1.0 / count))
