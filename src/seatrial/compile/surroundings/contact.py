"""A hull as balls, and how hard they are: from a vehicle's size, mass and the run's time step."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.vehicles.limits import net_weight
from seatrial.conventions import GRAVITY
from seatrial.core.contact import Contact
from seatrial.pytree import constant
from seatrial.spec import vehicle as spec

Array = NDArray[np.float64]

STIFFEST = {"rk4": 1.4, "semi_implicit": 0.8}
"""Frequency of the stiffest swing on the contact's springs times the time step. With half of the
critical damping classical Runge–Kutta is stable up to 2.6; semi-implicit Euler needs
4 ζ ω h + (ω h)² < 4, that is 1.2."""
FASTEST = 140.0
"""Of that frequency, rad/s, however short the time step: a dent of half a millimetre under a
hull's whole weight."""
DAMPING_RATIO = 0.5
THICKEST_SKIN = 0.01
"""m."""
STATIONS = (1, 3, 5, 9, 15)
"""Numbers of balls along a hull: the first whose balls are no farther apart than their radius, or
the last."""
SLACK = 1.2
"""A hull wider or higher than so many balls has two rows or layers of them."""
BOW = 0.45
"""Breadth at the bow, over that amidships, of the rows in which the foremost balls lie."""


def keel_depth(vehicle: spec.Vehicle) -> float:
    """Distance from the origin to the keel, m."""
    if isinstance(vehicle.buoyancy, spec.SurfaceBuoyancy):
        return vehicle.buoyancy.waterline + vehicle.buoyancy.keel_depth
    return vehicle.buoyancy.centre[2] + 0.5 * vehicle.height


def build_contact(
    vehicle: spec.Vehicle,
    rigid: Array,
    added: Array,
    time_step: float,
    integrator: str,
    dtype: np.dtype[Any],
) -> Contact:
    """Springs are chosen for the mass matrix `rigid` without added mass: the lightest that the hull
    is; those between vehicles for the whole."""
    points, radius = balls(vehicle)
    omega = min(STIFFEST[integrator] / time_step, FASTEST)
    pressed, rubbed, alone = lightest(points, radius, rigid, added)
    stiffness = pressed * omega**2
    carrying = np.sum(points[2] > points[2].max() - 0.5 * radius)
    skin = min(_weight(vehicle) / (float(carrying) * stiffness), THICKEST_SKIN)
    return Contact(
        point=constant(points, dtype),
        radius=constant(radius, dtype),
        reach=constant(float(np.linalg.norm(points, axis=0).max()) + radius, dtype),
        extent=constant(keel_depth(vehicle), dtype),
        stiffness=constant(stiffness, dtype),
        damping=constant(2.0 * DAMPING_RATIO * stiffness / omega, dtype),
        mass=constant(alone, dtype),
        grip=constant(2.0 * DAMPING_RATIO * rubbed * omega, dtype),
        skin=constant(skin, dtype),
    )


def balls(vehicle: spec.Vehicle) -> tuple[Array, float]:
    """Centres (3, P) in body axes and the radius of balls that fill a hull to its sides."""
    size = np.array([vehicle.length, vehicle.beam, vehicle.height])
    radius = 0.5 * float(size.min())
    half = 0.5 * size - radius
    wanted = math.ceil(2.0 * half[0] / radius) + 1 if half[0] > 0.01 * radius else 1
    stations = next((n for n in STATIONS if n >= wanted), STATIONS[-1])
    along = np.linspace(-half[0], half[0], stations) if stations > 1 else np.zeros(1)
    across = half[1] if size[1] > SLACK * 2.0 * radius else 0.0
    up = half[2] if size[2] > SLACK * 2.0 * radius else 0.0
    places = []
    for k, x in enumerate(along):
        foremost, last = k == stations - 1, k in (0, stations - 1)
        wide = (BOW if foremost and stations > 1 else 1.0) * across
        rows = sorted({-wide, wide} | ({0.0} if last or stations == 1 else set()))
        places += [(x, y, z) for y in rows for z in sorted({-up, up})]
    middle = [*_middle(vehicle), keel_depth(vehicle) - 0.5 * vehicle.height]
    return np.array(places).T + np.array(middle)[:, None], radius


def _middle(vehicle: spec.Vehicle) -> tuple[float, float]:
    """Of the hull, forward and to starboard of the origin, m: that of its blocks, or the centre of
    buoyancy."""
    if isinstance(vehicle.buoyancy, spec.SubmergedBuoyancy):
        return vehicle.buoyancy.centre[0], vehicle.buoyancy.centre[1]
    blocks = vehicle.buoyancy.blocks
    ends = [block.at[0] + side * 0.5 * block.length for block in blocks for side in (-1.0, 1.0)]
    return 0.5 * (min(ends) + max(ends)), 0.0


def lightest(
    points: Array, radius: float, rigid: Array, added: Array
) -> tuple[float, float, float]:
    """Least mass with which a hull answers to equal springs at the balls of one of its six sides,
    per ball, kg: to springs across that side, and along it, by which it may also roll; and afloat
    to a level push at a single ball.

    It is 1 over the largest eigenvalue of M⁻¹ Σ J Jᵀ with J = [d, r × d] for the direction d.
    """
    inverse, afloat = np.linalg.inv(rigid), np.linalg.inv(rigid + added)
    found: list[list[float]] = [[], [], []]
    for axis in range(3):
        for side in (-1.0, 1.0):
            outer = side * points[axis]
            foot = points[:, outer > outer.max() - 0.5 * radius].copy()
            foot[axis] += side * radius
            for along, direction in enumerate(np.eye(3)):
                turning = np.cross(foot.T, direction)
                rows = np.hstack([np.tile(direction, (len(turning), 1)), turning])
                answer = float(np.linalg.eigvals(inverse @ rows.T @ rows).real.max())
                found[along != axis].append(1.0 / answer)
                if axis < 2 and along < 2:
                    found[2] += (1.0 / np.einsum("ai,ij,aj->a", rows, afloat, rows)).tolist()
    across, rubbed, alone = (min(masses) for masses in found)
    return across, rubbed, alone


def _weight(vehicle: spec.Vehicle) -> float:
    """What the bottom carries of a hull that lies on it, N; half of the weight of one that floats,
    which loses its buoyancy as it runs aground."""
    if isinstance(vehicle.buoyancy, spec.SubmergedBuoyancy):
        return net_weight(vehicle, vehicle.buoyancy)
    return 0.5 * vehicle.inertia.mass * GRAVITY
