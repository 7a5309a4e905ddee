"""From a mesh and a mass to every number of a vehicle, each with where it comes from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.errors import Problem, SpecError
from seatrial.geometry.mesh import Mesh
from seatrial.hull.potential.drift import finer
from seatrial.hull.potential.panelling import panelled
from seatrial.hull.potential.solution import Complex, Solution, responses
from seatrial.hull.potential.solver import Progress, solve
from seatrial.hull.shape.floating import Floating, float_hull, righting_arms
from seatrial.hull.shape.hydrostatics import (
    Hydrostatics,
    hydrostatics,
    section,
    section_areas,
    waterline,
)
from seatrial.hull.shape.reading import read_hull
from seatrial.hull.shape.shells import areas

Array = NDArray[np.float64]

STATIONS = 21
INSIDE = 0.998
"""Share of the length between the outer stations: a transom that trim leans has no section."""
NEUTRAL = 0.01
"""Metacentric height over beam of what counts as neutral in roll, as a round hull is."""
FORM_FACTOR = 0.1
DESIGN_FROUDE = 0.3
"""Froude number at which friction is put into one coefficient."""
LEAST_ROLL_DAMPING = 0.05
"""Share of critical that eddies and keels add to a hull's roll at least (Himeno 1981)."""
VISCOSITY = 1.19e-6
FREE = (0, 1, 5)
"""Surge, sway and yaw, in which nothing holds a hull."""


class Load(NamedTuple):
    """Something heavy on board."""

    mass: float
    place: tuple[float, float, float]


@dataclass(frozen=True)
class Examination:
    """A hull afloat and all that follows from it; body axes, origin amidships on the waterline and,
    athwart, at the centre of flotation, where a hull that is pressed down does not heel."""

    name: str
    notes: tuple[str, ...]
    mesh: Mesh
    """Level at rest: trim and heel are turned into it."""
    mass: float
    density: float
    gravity: Array
    gravity_how: str
    gyration: Array
    gyration_how: str
    floating: Floating
    """As it was found, before the mesh was turned."""
    figures: Hydrostatics
    draught: float
    mean_draught: float
    """Over the length of the waterline: a keel is deeper than the hull that it is under."""
    height: float
    length: float
    """Of the waterline."""
    beam: float
    twin: bool
    """Whether the waterplane is in two parts beside the centre plane."""
    heights: tuple[float, float]
    angles: Array
    arms: Array
    """Righting arms over the heel `angles`."""
    stations: Array
    sections: Array
    """Immersed section areas at `stations`."""
    solution: Solution

    @property
    def mass_matrix(self) -> Array:
        """(6, 6) of the rigid body about the origin."""
        x, y, z = self.gravity
        s = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        tensor = np.diag(self.mass * self.gyration**2) - self.mass * s @ s
        upper = np.hstack([self.mass * np.eye(3), -self.mass * s])
        return np.vstack([upper, np.hstack([self.mass * s, tensor])])

    @property
    def stiffness(self) -> Array:
        """(6, 6) of buoyancy and weight."""
        matrix = self.solution.stiffness.copy()
        for i in (3, 4):
            matrix[i, i] += self.mass * GRAVITY * self.gravity[2]
        return matrix

    def natural(self, motion: int) -> tuple[float, float, float]:
        """Natural frequency of heave, roll or pitch, and A and B there.

        Surge, sway and yaw follow without a force, so that the hull turns about a point of its own:
        they take M_ih M_hh⁻¹ M_hi of its inertia, here near zero frequency. Heave and pitch are
        taken one by one.
        """
        w, A, B = self.solution.omega, self.solution.added_mass, self.solution.damping
        mass, stiffness = self._inertia(motion), self.stiffness[motion, motion]

        def excess(at: float) -> float:
            """Of inertia over stiffness: ω² (m + A(ω)) − c, negative below the natural frequency.
            Where water sloshes between two hulls, m + A itself can be."""
            added = float(np.interp(at, w, A[:, motion, motion]))
            return float(at**2 * (mass + added) - stiffness)

        inert = max(mass + A[-1, motion, motion], 0.1 * mass)
        beyond = 2.0 * max(float(w[-1]), math.sqrt(max(stiffness, 1e-9) / inert))
        nodes = [0.0, *w.tolist(), beyond]
        above = next((i for i, at in enumerate(nodes) if excess(at) >= 0.0), len(nodes) - 1)
        low, frequency = nodes[max(above - 1, 0)], nodes[above]
        for _ in range(60):
            middle = 0.5 * (low + frequency)
            low, frequency = (low, middle) if excess(middle) >= 0.0 else (middle, frequency)
        return (
            float(frequency),
            float(np.interp(frequency, w, A[:, motion, motion])),
            max(float(np.interp(frequency, w, B[:, motion, motion])), 0.0),
        )

    def _inertia(self, motion: int) -> float:
        """Of the body alone, less what surge, sway and yaw take of it."""
        slow = self.mass_matrix + self.solution.added_mass[0]
        across = slow[motion, FREE]
        taken = across @ np.linalg.solve(slow[np.ix_(FREE, FREE)], across)
        return float(self.mass_matrix[motion, motion] - taken)

    @property
    def added_mass(self) -> Array:
        """(6, 6) for a model with one: of heave, roll and pitch at their natural frequencies, of
        surge, sway and yaw near zero frequency, and coupled as there, A_ij / √(A_ii A_jj)."""
        slow = self.solution.added_mass[0]
        own = np.diag(slow).copy()
        own[2:5] = [self.natural(i)[1] for i in (2, 3, 4)]
        sizes = np.sqrt(np.maximum([np.diag(slow), own], 0.0))
        then, now = (np.outer(size, size) for size in sizes)
        # of a round hull, which rolls without moving water, nothing but rounding is left
        share = np.divide(slow, then, out=np.zeros((6, 6)), where=then > 1e-12 * then.max())
        matrix: Array = np.clip(share, -1.0, 1.0) * now
        np.fill_diagonal(matrix, own)
        return matrix

    def motions(self, times: int = 1) -> Complex:
        """Response amplitude operators (6, W, H), with the roll damping of the vehicle file, at so
        many times as many frequencies as were solved for."""
        damping = np.zeros((6, 6))
        damping[3, 3] = self.roll_damping()
        return responses(finer(self.solution, times), self.mass_matrix, self.stiffness, damping)

    def roll_damping(self) -> float:
        """What viscosity adds at least to the waves that the hull makes."""
        frequency, added, _ = self.natural(3)
        return LEAST_ROLL_DAMPING * 2.0 * (self._inertia(3) + added) * frequency

    def surge_drag(self) -> float:
        """X_u|u| of friction: ½ ρ S (1 + k) C_F at the design Froude number (ITTC 1957)."""
        speed = DESIGN_FROUDE * math.sqrt(GRAVITY * self.length)
        reynolds = max(speed * self.length / VISCOSITY, 1e5)
        friction = 0.075 / (math.log10(reynolds) - 2.0) ** 2
        return -0.5 * self.density * self.figures.wetted_area * (1.0 + FORM_FACTOR) * friction


def examine(
    path: Path,
    mass: float,
    density: float,
    *,
    units: str | None = None,
    up: str | None = None,
    forward: str | None = None,
    gravity: tuple[float, float, float] | None = None,
    loads: Sequence[Load] = (),
    progress: Progress | None = None,
) -> Examination:
    """Read, mend, float and solve; `gravity`, of the whole vessel, and the places of `loads`, which
    are part of its mass, are in the file's own axes and unit."""
    displaced = mass / density
    heavy = np.array([load.mass for load in loads])
    if heavy.sum() > mass:
        raise SpecError(
            Problem(
                f"{path.name}: what is on board weighs more than the vessel with it",
                value=f"{heavy.sum():g} kg",
                expected=f"at most its mass of {mass:g} kg",
            )
        )
    read = read_hull(path, displaced, units, up, forward)
    mesh = read.mesh
    places = np.array([read.placed(np.array(load.place)) for load in loads]).reshape(-1, 3)
    if gravity is not None:
        centre = read.placed(np.array(gravity))
        gravity_how = "given"
    else:
        shell = mass - heavy.sum()
        centre = (shell * _shell_centre(mesh) + heavy @ places) / mass
        gravity_how = "estimated: the centroid of the hull's surface, as of an even shell"
        if loads:
            gravity_how = f"computed: of an even shell of {shell:.4g} kg and the loads given"
    # Drawings lie far from their origin at times, where no tolerance of the search would hold.
    middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
    mesh, centre = Mesh(mesh.vertices - middle, mesh.faces), centre - middle
    places = places - middle
    floating = float_hull(mesh, displaced, centre, path.name)
    if not floating.stable:
        raise SpecError(
            Problem(
                f"{path.name}: the hull would capsize",
                value=f"GM = {floating.heights[0]:.3g} m in roll, {floating.heights[1]:.3g} m in "
                f"pitch, {floating.least_height:.3g} m about its weakest axis",
                expected="a centre of gravity under the metacentre",
                mend="give a lower --centre-of-gravity, or --up if z is not up in the file",
            )
        )
    level = Mesh(mesh.vertices @ floating.rotation.T, mesh.faces)
    segments = waterline(level, -floating.depth)
    outline = segments.reshape(-1, 2)
    amidships = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
    middle_plane = floating.hydrostatics.flotation[1]
    shift = np.array([-amidships[0], -middle_plane, floating.depth])
    level = Mesh(level.vertices + shift, level.faces)
    centre = floating.rotation @ centre + shift
    places = places @ floating.rotation.T + shift
    figures = hydrostatics(level)
    length, beam = (float(v) for v in np.ptp(outline, axis=0))
    angles = np.radians(np.arange(0.0, 91.0, 5.0))
    stations = INSIDE * length * np.linspace(-0.5, 0.5, STATIONS)
    sides = segments[:, :, 1] - middle_plane
    twin = bool(np.all(sides[:, 0] * sides[:, 1] > 0.0))  # no part of it crosses the centre plane
    notes = list(read.notes)
    if max(abs(floating.heel), abs(floating.trim)) > math.radians(0.5):
        notes.append(
            f"floats with {math.degrees(floating.heel):.1f}° of heel and "
            f"{math.degrees(floating.trim):.1f}° of trim, which the mesh was turned by"
        )
    if floating.heights[0] < NEUTRAL * beam:
        notes.append(
            f"nothing rights it in roll (GM = {1e3 * floating.heights[0]:.2g} mm): give a lower "
            "--centre-of-gravity, or --load where it is heavy"
        )
    solution = solve(panelled(level, path.name), 0.0, density, None, path.stem, progress)
    return Examination(
        name=path.stem,
        notes=tuple(notes),
        mesh=level,
        mass=mass,
        density=density,
        gravity=centre,
        gravity_how=gravity_how,
        gyration=_gyration(level, centre, mass, heavy, places),
        gyration_how="estimated: of an even shell with the hull's surface"
        + (" and the loads given" if loads else ""),
        floating=floating,
        figures=figures,
        draught=float(level.vertices[:, 2].max()),
        mean_draught=float(
            np.mean([section(level, x)[:, :, 1].max(initial=0.0) for x in stations])
        ),
        height=float(np.ptp(level.vertices[:, 2])),
        length=length,
        beam=beam,
        twin=twin,
        heights=floating.heights,
        angles=angles,
        arms=righting_arms(level, displaced, centre, angles, 0.0),
        stations=stations,
        sections=section_areas(level, stations),
        solution=solution,
    )


def _shell_centre(mesh: Mesh) -> Array:
    """Centroid of the surface."""
    weight = areas(mesh)
    return np.asarray((weight @ mesh.vertices[mesh.faces].mean(axis=1)) / weight.sum())


def _gyration(mesh: Mesh, centre: Array, mass: float, heavy: Array, places: Array) -> Array:
    """Radii of gyration about a point of a surface with weights (L,) at places (L, 3), which are
    part of the mass."""
    weight = (mass - heavy.sum()) / mass * areas(mesh) / areas(mesh).sum()
    corners = mesh.vertices[mesh.faces] - centre
    # ∫ x² over a triangle is A/12 (Σ x_i² + (Σ x_i)²)
    squares = weight @ ((corners**2).sum(axis=1) + corners.sum(axis=1) ** 2) / 12.0
    x, y, z = squares + heavy / mass @ (places - centre) ** 2
    radii: Array = np.sqrt(np.array([y + z, x + z, x + y]))
    return radii
