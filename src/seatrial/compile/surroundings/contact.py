"""A hull as balls, and how hard they are: from a vehicle's size and mass."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.core.contact import Contact
from seatrial.pytree import constant
from seatrial.spec import vehicle as spec

Array = NDArray[np.float64]

STIFFNESS = 300.0
"""Frequency of the stiffest swing on the contact's springs, rad/s: under its whole weight a hull
dents a surface by some tenths of a millimetre."""
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


def build_contact(vehicle: spec.Vehicle, rigid: Array, dtype: np.dtype[Any]) -> Contact:
    """Springs are chosen for the mass matrix `rigid` without added mass: the lightest that the hull
    is."""
    points, radius = balls(vehicle)
    return Contact(
        point=constant(points, dtype),
        radius=constant(radius, dtype),
        reach=constant(float(np.linalg.norm(points, axis=0).max()) + radius, dtype),
        extent=constant(keel_depth(vehicle), dtype),
        stiffness=constant(lightest(points, radius, rigid) * STIFFNESS**2, dtype),
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


def lightest(points: Array, radius: float, rigid: Array) -> float:
    """Least mass with which a hull answers to equal springs at the balls of one of its six sides,
    across that side, per ball, kg.

    It is 1 over the largest eigenvalue of M⁻¹ Σ J Jᵀ with J = [d, r × d] for the direction d.
    """
    inverse = np.linalg.inv(rigid)
    found: list[float] = []
    for axis, direction in enumerate(np.eye(3)):
        for side in (-1.0, 1.0):
            outer = side * points[axis]
            foot = points[:, outer > outer.max() - 0.5 * radius].copy()
            foot[axis] += side * radius
            turning = np.cross(foot.T, direction)
            rows = np.hstack([np.tile(direction, (len(turning), 1)), turning])
            found.append(1.0 / float(np.linalg.eigvals(inverse @ rows.T @ rows).real.max()))
    return min(found)
