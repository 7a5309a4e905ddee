"""Solves radiation and diffraction of a hull with capytaine's boundary elements.

Ancellin and Dias (2019), Capytaine: a Python-based linear potential flow solver, JOSS 4(36); the
method is that of Nemoh (Babarit and Delhommeau 2015). Panels are triangles of the wet hull; the
shortest wave that is solved for is `PER_WAVE` panels long. Irregular frequencies, at which the
integral equation has no answer, are moved out of the band by a lid inside the hull.

Constant panels err in proportion to their size at sharp edges, around which the water's speed has
no bound: a box in 760 panels has 3 % too much added mass. A hull with sharp edges is therefore
solved once more with the panels there cut in four, and what that changed is added once again
(Richardson's extrapolation). The change varies slowly with frequency, so that some are enough.

Results are kept in the cache under a hash of the mesh and of everything that was asked.
"""

import hashlib
import logging
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial import cache
from seatrial.conventions import GRAVITY
from seatrial.errors import Problem, SpecError
from seatrial.geometry.mesh import Mesh
from seatrial.hull.potential.edges import cut_at_edges
from seatrial.hull.potential.lid import lid_panels
from seatrial.hull.potential.solution import MIRROR, FarField, Solution, Tail, symmetric
from seatrial.hull.shape.hydrostatics import cut, hydrostatics
from seatrial.hull.shape.hydrostatics import waterline as outline_at
from seatrial.hull.shape.shells import areas, welded

Array = NDArray[np.float64]
Progress = Callable[[float], None]

PER_WAVE = 6.0
"""Panels along the shortest wave."""
FREQUENCIES = 32
TAIL = np.linspace(1.0, 1.5, 9)[1:]
"""Frequencies beyond the last one at which radiation alone is solved, as multiples of it: of a box
in 112 panels the damping there is within a tenth of its largest of that in 972 panels."""
MOST_PANELS = 1500
FEWEST_AT_EDGES, MOST_AT_EDGES = 200, 3000
"""Panels of a hull that is solved once more for its edges: of fewer the error is not yet of first
order (a box's roll in 112 would gain energy), and more take too long."""
SOME, SOME_BEYOND = 10, 4
"""Frequencies at which it is, of the band and beyond."""
HEADINGS = (24, 36, 48, 72)
VERSION = 7
"""Of what is kept; another one is solved for again."""

TURN = np.array([1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
"""From capytaine's axes (forward, port, up) to the body's."""


def panels(mesh: Mesh, waterline: float) -> Mesh:
    """The wet hull as panels, with the waterline at z = 0."""
    wet = cut(mesh, waterline) - np.array([0.0, 0.0, waterline])
    joined = welded(Mesh(wet.reshape(-1, 3), np.arange(3 * len(wet)).reshape(-1, 3)))
    slivers = areas(joined) < 1e-6 * float(np.median(areas(joined)))
    return Mesh(joined.vertices, joined.faces[~slivers])


def frequencies(wet: Mesh) -> Array:
    """Circular frequencies from waves of forty lengths to those of `PER_WAVE` panels."""
    length = float(np.ptp(wet.vertices, axis=0)[:2].max())
    low = math.sqrt(GRAVITY * 2.0 * math.pi / (40.0 * length))
    high = math.sqrt(GRAVITY * 2.0 * math.pi / (PER_WAVE * _edge(wet)))
    return np.linspace(low, max(high, 2.0 * low), FREQUENCIES)


def _edge(wet: Mesh) -> float:
    """Of the panels: the median of their middle edges, m."""
    corners = wet.vertices[wet.faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    return float(np.median(np.sort(edges, axis=1)[:, 1]))


def solve(
    mesh: Mesh,
    waterline: float,
    density: float,
    depth: float | None,
    name: str,
    progress: Progress | None = None,
    omega: Array | None = None,
) -> Solution:
    """Solve, or find among what is kept. `mesh` is in body axes."""
    wet = panels(mesh, waterline)
    if len(wet.faces) > MOST_PANELS:
        raise SpecError(
            Problem(
                f"{name}: too many panels for a boundary-element solution",
                value=f"{len(wet.faces)} under water",
                expected=f"at most {MOST_PANELS}; some hundreds are usual",
                mend="give larger panels (`panel` of the hull)",
            )
        )
    asked = frequencies(wet) if omega is None else np.asarray(omega, np.float64)
    beyond = TAIL * asked[-1] if omega is None else np.zeros(0)  # a memory needs the whole band
    digest = hashlib.sha256(f"{VERSION} {density} {depth} {waterline}".encode())
    for array in (np.round(wet.vertices, 9) + 0.0, wet.faces, asked, beyond):  # no −0
        digest.update(np.ascontiguousarray(array).tobytes())
    return cache.recall(
        "hull",
        digest.hexdigest()[:32],
        name,
        lambda: _solved(
            name,
            lambda: _solve(_Afloat(mesh, waterline, density, depth), wet, asked, beyond, progress),
        ),
    )


def _solved(name: str, how: Callable[[], Solution]) -> Solution:
    _capytaine()
    from capytaine.green_functions.abstract_green_function import GreenFunctionEvaluationError

    try:
        return how()
    except GreenFunctionEvaluationError:
        raise SpecError(
            Problem(
                f"{name}: no boundary-element solution was found",
                value="panels that overlap, or fold back upon themselves",
                expected="a surface that no triangle covers twice",
                mend="let the program that made the mesh triangulate its polygons",
            )
        ) from None


def _capytaine() -> Any:
    try:
        import capytaine
    except ImportError:
        raise SpecError(
            Problem(
                "the boundary-element solver is not installed",
                expected="capytaine",
                mend="pip install 'seatrial[hulls]'",
            )
        ) from None
    logging.getLogger("capytaine").setLevel(logging.ERROR)
    return capytaine


class _Afloat(NamedTuple):
    """A hull and the water that it lies in."""

    mesh: Mesh
    waterline: float
    density: float
    depth: float | None


def _solve(
    hull: _Afloat, wet: Mesh, omega: Array, beyond: Array, progress: Progress | None
) -> Solution:
    """By the panels themselves, and by smaller ones at their edges."""
    reach = float(np.linalg.norm(wet.vertices[:, :2], axis=1).max())
    needed = 2.0 * omega[-1] ** 2 / GRAVITY * reach + 8.0
    count = next((h for h in HEADINGS if h >= needed), HEADINGS[-1])
    lid = _lid(hull, _edge(wet))
    finer = cut_at_edges(wet)
    twice = FEWEST_AT_EDGES <= len(wet.faces) < len(finer.faces) <= MOST_AT_EDGES
    inside, outside = _spread(len(omega), SOME), _spread(len(beyond), SOME_BEYOND)
    # of the whole work, which grows about as the square of the panels
    own = 1.0
    if twice:
        extra = len(inside) * (len(finer.faces) / len(wet.faces)) ** 2
        own = len(omega) / (len(omega) + extra)

    def told(start: float, share: float) -> Progress | None:
        return None if progress is None else lambda done: progress(start + share * done)

    found = _by_panels(hull, wet, lid, omega, beyond, count, told(0.0, own))
    if not twice:
        return found
    rest = told(own, 1.0 - own)
    more = _by_panels(hull, finer, lid, omega[inside], beyond[outside], count, rest)
    return _extrapolated(found, more, inside, outside)


def _spread(count: int, most: int) -> NDArray[np.int64]:
    """So many of `count` places at most, evenly and with both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _extrapolated(
    found: Solution, finer: Solution, inside: NDArray[np.int64], outside: NDArray[np.int64]
) -> Solution:
    """What half the panels' size at edges changed, added once more: errors of first order go.

    `finer` holds the frequencies `inside` of the band and `outside` of the tail.
    """
    from scipy.interpolate import CubicSpline

    def more(one: NDArray[Any], two: NDArray[Any], axis: int, w: Array, at: Any) -> NDArray[Any]:
        change = 2.0 * (two - np.take(one, at, axis))
        if len(at) < len(w):
            change = CubicSpline(w[at], change, axis=axis)(w)
        return np.asarray(one + change)

    def band(name: str, axis: int) -> NDArray[Any]:
        return more(getattr(found, name), getattr(finer, name), axis, found.omega, inside)

    far, far_finer, tail = found.far_field, finer.far_field, found.tail
    assert far is not None
    assert far_finer is not None
    if tail is not None:
        assert finer.tail is not None
        tail = Tail(
            omega=tail.omega,
            added_mass=more(tail.added_mass, finer.tail.added_mass, 0, tail.omega, outside),
            damping=more(tail.damping, finer.tail.damping, 0, tail.omega, outside),
        )
    return replace(
        found,
        added_mass=band("added_mass", 0),
        damping=band("damping", 0),
        infinite=2.0 * finer.infinite - found.infinite,
        froude_krylov=band("froude_krylov", 1),
        diffraction=band("diffraction", 1),
        source=f"{found.source}, and {finer.panels} with smaller ones at edges",
        far_field=replace(
            far,
            radiated=more(far.radiated, far_finer.radiated, 1, found.omega, inside),
            scattered=more(far.scattered, far_finer.scattered, 0, found.omega, inside),
        ),
        tail=tail,
    )


def _for_capytaine(wet: Mesh) -> Any:
    upright = wet.vertices * np.array([1.0, -1.0, -1.0])
    faces = np.column_stack([wet.faces, wet.faces[:, 0]])
    return _capytaine().Mesh(vertices=upright, faces=faces)


def _by_panels(
    hull: _Afloat,
    wet: Mesh,
    lid: Any,
    omega: Array,
    beyond: Array,
    count: int,
    progress: Progress | None,
) -> Solution:
    """With these panels alone, for `count` headings."""
    cpt = _capytaine()
    mesh, waterline, density, depth = hull
    panelled = _for_capytaine(wet)
    body = cpt.FloatingBody(
        mesh=panelled,
        lid_mesh=lid,
        dofs=cpt.rigid_body_dofs(rotation_center=(0.0, 0.0, waterline)),
        center_of_mass=(0.0, 0.0, waterline),
    )
    names = list(body.dofs)
    headings = 2.0 * math.pi * np.arange(count) / count
    solver = cpt.BEMSolver(method="direct")
    water = {"rho": density, "g": GRAVITY, "water_depth": math.inf if depth is None else depth}
    added, damping = np.zeros((2, len(omega), 6, 6))
    loads = np.zeros((2, 6, len(omega), count), np.complex128)
    radiated = np.zeros((6, len(omega), count), np.complex128)
    sent = np.zeros((len(omega), count, count), np.complex128)
    wavenumber = np.zeros(len(omega))

    def radiate(w: float) -> list[Any]:
        return [
            solver.solve(
                cpt.RadiationProblem(body=body, radiating_dof=dof, omega=w, **water),
                keep_details=True,
            )
            for dof in names
        ]

    def matrices(results: list[Any]) -> tuple[Array, Array]:
        added = np.array([[r.added_masses[d] for r in results] for d in names])
        damping = np.array([[r.radiation_dampings[d] for r in results] for d in names])
        return _turned(added), _turned(damping)

    infinite = matrices(radiate(math.inf))[0]
    even = symmetric(infinite)
    tail = [matrices(radiate(float(w))) for w in beyond]
    for i, w in enumerate(omega):
        results = radiate(float(w))
        added[i], damping[i] = matrices(results)
        wavenumber[i] = results[0].wavenumber
        far = _far_waves(panelled, wavenumber[i], depth, -headings)
        radiated[:, i] = [_kochin(r, far) for r in results]
        # what comes from port mirrors what comes from starboard
        for h, heading in enumerate(headings[: count // 2 + 1] if even else headings):
            problem = cpt.DiffractionProblem(body=body, omega=w, wave_direction=-heading, **water)
            result = solver.solve(problem, keep_details=True)
            incident = cpt.bem.airy_waves.froude_krylov_force(problem)
            loads[0, :, i, h] = [incident[d] for d in names]
            loads[1, :, i, h] = [result.forces[d] for d in names]
            sent[i, h] = _kochin(result, far)
        if progress is not None:
            progress((i + 1) / len(omega))
    # capytaine's time is exp(−iωt)
    incident, scattered = (TURN[:, None, None] * np.conj(part) for part in loads)
    coupled: Array = np.where(np.outer(MIRROR, MIRROR) > 0.0, 1.0, 0.0 if even else 1.0)
    if even:
        for part in (incident, scattered):
            across = MIRROR[:, None] < 0.0
            part[:, :, count // 2 + 1 :] = (MIRROR[:, None, None] * part)[
                :, :, count // 2 - 1 : 0 : -1
            ]
            part[:, :, [0, count // 2]] *= ~across[:, :, None]
        turned = (-np.arange(count)) % count
        for h in range(count // 2 + 1, count):
            sent[:, h] = sent[:, count - h, turned]
    return Solution(
        omega=omega,
        headings=headings,
        added_mass=added * coupled,
        damping=damping * coupled,
        infinite=infinite * coupled,
        froude_krylov=incident,
        diffraction=scattered,
        stiffness=buoyant_stiffness(mesh, waterline, density),
        volume=hydrostatics(mesh, waterline).volume,
        panels=len(wet.faces),
        source=f"capytaine {cpt.__version__}, {len(wet.faces)} panels",
        far_field=FarField(
            density=density,
            wavenumber=wavenumber,
            flux=_flux(omega, wavenumber, density, depth),
            radiated=TURN[:, None, None] * np.conj(radiated),
            scattered=np.conj(sent),
        ),
        tail=Tail(
            omega=beyond,
            added_mass=np.array([added for added, _ in tail]) * coupled,
            damping=np.array([damping for _, damping in tail]) * coupled,
        )
        if tail
        else None,
    )


def _far_waves(panelled: Any, k: float, depth: float | None, angles: Array) -> tuple[Array, ...]:
    """g = Z(z) exp(−ik·r) towards angles and its derivative along the normals, (P, T), by areas."""
    centres, normals, areas = (
        np.asarray(a)
        for a in (panelled.faces_centers, panelled.faces_normals, panelled.faces_areas)
    )
    z = centres[:, 2]
    down, up = np.exp(k * z), np.zeros_like(z)
    whole = 1.0
    if depth is not None:  # cosh k(z + h) / cosh kh
        up, whole = np.exp(-k * (z + 2.0 * depth)), 1.0 + math.exp(-2.0 * k * depth)
    shape, slope = (down + up) / whole, k * (down - up) / whole
    towards = np.stack([np.cos(angles), np.sin(angles)])
    wave = areas[:, None] * np.exp(-1j * k * (centres[:, :2] @ towards))
    across = -1j * k * (normals[:, :2] @ towards) * shape[:, None]
    return wave * shape[:, None], wave * (across + (normals[:, 2] * slope)[:, None])


def _kochin(result: Any, far: tuple[Array, ...]) -> Array:
    """∫ (φ ∂g/∂n − g ∂φ/∂n) dS over the wet hull, without the lid."""
    wave, slope = far
    count = len(wave)
    return np.asarray(
        result.potential[:count] @ slope - result.problem.boundary_condition[:count] @ wave
    )


def _flux(omega: Array, k: Array, density: float, depth: float | None) -> Array:
    """Power that is sent away per |I|² and radian."""
    deep = omega**2 / GRAVITY
    share = np.ones_like(k)  # of the group velocity, 2 c_g/c
    if depth is not None:
        kh = np.minimum(k * depth, 300.0)
        share += 2.0 * kh / np.sinh(2.0 * kh)
    source = k**2 / (share * deep)
    group = 0.5 * share * omega / k
    return 0.5 * density * GRAVITY * group * (omega / GRAVITY) ** 2 * source**2 / (2.0 * np.pi * k)


def _lid(hull: _Afloat, size: float) -> Any:
    """Panels on the water inside the hull; None of one that does not reach the surface."""
    cells = lid_panels(outline_at(hull.mesh, hull.waterline), size)
    if len(cells) == 0:
        return None
    corners = np.concatenate([cells * [1.0, -1.0], np.zeros((*cells.shape[:2], 1))], axis=2)
    faces = np.arange(4 * len(cells)).reshape(-1, 4)  # seen from above clockwise: normals down
    return _capytaine().Mesh(vertices=corners.reshape(-1, 3), faces=faces)


def _turned(matrices: Array) -> Array:
    """To body axes, and symmetric as they are in theory."""
    body = TURN[:, None] * matrices * TURN[None, :]
    return np.asarray(0.5 * (body + np.swapaxes(body, -1, -2)))


def buoyant_stiffness(mesh: Mesh, waterline: float, density: float) -> Array:
    """(6, 6) of the pressure about the origin, level: ρ g ∫ over the waterplane, and V z_B.

    The weight's part, −m g z_G in roll and pitch, is left to who knows the centre of gravity.
    """
    found = hydrostatics(mesh, waterline)
    area, (fx, fy) = found.waterplane_area, found.flotation
    second = found.waterplane_moments + area * np.outer(found.flotation, found.flotation)
    below = found.volume * found.buoyancy_centre[2]
    matrix = np.zeros((6, 6))
    matrix[2, 2] = area
    matrix[2, 3] = matrix[3, 2] = area * fy
    matrix[2, 4] = matrix[4, 2] = -area * fx
    matrix[3, 3], matrix[4, 4] = second[1, 1] - below, second[0, 0] - below
    matrix[3, 4] = matrix[4, 3] = -second[0, 1]
    return density * GRAVITY * matrix
