"""What the effectors of a vehicle can do: which wrench, how much of it, how fast."""

import dataclasses
import math

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.core.actuators.thruster import Thruster
from seatrial.core.forces.restoring import SurfaceRestoring, floating_depth
from seatrial.core.types import Model
from seatrial.gnc.allocation.curves import thrusts
from seatrial.gnc.allocation.effectors import Effectors
from seatrial.ocean import Ocean
from seatrial.ocean.water import density
from seatrial.programs import call

Array = NDArray[np.float64]

DEPTH = 1000.0
"""Where craft that live under water are looked at: far from the surface, m."""


_thrusts = jax.jit(thrusts)


@dataclasses.dataclass(frozen=True, eq=False)
class Craft:
    """A vehicle ready to be linearised, in calm water; arrays in double precision."""

    name: str
    length: float
    """m."""
    model: Model
    actuator_states: int
    effectors: Effectors
    ocean: Ocean
    """Of it only the water, with the density for which the vehicle is described."""
    ahead: tuple[float, ...] | None = None
    """Orders by channel with which it makes its service speed, where they are known."""

    @property
    def floats(self) -> bool:
        """Whether it is a surface craft."""
        return isinstance(self.model.restoring, SurfaceRestoring)

    @property
    def floating_depth(self) -> float:
        """Depth at which a level craft that lives under water lies afloat, or is just under, m."""
        restoring = self.model.restoring
        if isinstance(restoring, SurfaceRestoring):
            return 0.0
        centre = float(np.asarray(restoring.buoyancy_centre)[2])
        return float(floating_depth(restoring, density(self.ocean.water, 0.0))) - centre

    @property
    def dofs(self) -> tuple[int, ...]:
        """Degrees of freedom that it controls."""
        return self.effectors.dofs

    @property
    def at_rest(self) -> Array:
        """Its states at rest."""
        return np.array([0.0, 0.0, 0.0 if self.floats else DEPTH] + 9 * [0.0])


def carried_wrench(craft: Craft, speed: float) -> Array:
    """Wrench that the effectors make together when one degree of freedom is demanded."""
    columns, size = strength(craft, speed)
    dofs = list(craft.dofs)
    scaled = columns * size
    result = np.zeros((6, 6))
    result[:, dofs] = scaled @ np.linalg.pinv(scaled[dofs], rcond=1e-9)
    return result


def strength(craft: Craft, speed: float) -> tuple[Array, Array]:
    """Wrench per unit of effort (6, E), and the largest efforts (E,), going ahead."""
    e = craft.effectors
    low, high = effort_limits(craft, speed)
    count = len(e.channels)
    columns = np.array(e.columns, float)
    columns[:, :count] *= np.where(np.asarray(e.fin)[:, 0], speed**2, 1.0)
    return columns, np.maximum(high, -low)


def effort_limits(craft: Craft, speed: float) -> tuple[Array, Array]:
    """Least and largest efforts (E,); those of an azimuth thruster form a square."""
    e = craft.effectors
    count = len(e.channels)
    inflow = np.asarray(e.inflow)[:count, :1] * speed
    low, high = (np.array(call(_thrusts, e.curves, x, inflow))[:, 0] for x in (e.low, e.high))
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    if e.azimuths is None:
        return low, high
    rows = list(e.azimuths.effectors)
    limit = np.asarray(e.azimuths.limit)[:, 0]
    across = high[rows] * np.sin(np.minimum(limit, 0.25 * math.pi))
    along = np.maximum(-low[rows], np.where(limit >= math.pi, high[rows], 0.0)) / math.sqrt(2.0)
    low[rows], high[rows] = -along, high[rows] / math.sqrt(2.0)
    return np.concatenate([low, -across]), np.concatenate([high, across])


def full_ahead(craft: Craft, speed: float) -> float:
    """Force of all thrusters at their limits, those that turn pointing ahead, N."""
    e = craft.effectors
    count = len(e.channels)
    inflow = np.asarray(e.inflow)[:count, :1] * speed
    ends = [np.asarray(call(_thrusts, e.curves, x, inflow))[:, 0] for x in (e.low, e.high)]
    along = np.asarray(e.columns, float)[0, :count] * ~np.asarray(e.fin)[:, 0]
    return float(np.sum(np.maximum(along * ends[0], along * ends[1])))


def authority(craft: Craft, speed: float, trim_wrench: Array, dof: int) -> float:
    """Force or moment in one direction that is left beside the trim, the smaller of both ways."""
    from scipy.optimize import linprog

    columns, size = strength(craft, speed)
    low, high = effort_limits(craft, speed)
    bounds = [*zip(low / size, high / size, strict=True), (0.0, None)]

    def most(trim: Array, way: float, kept: list[int]) -> float | None:
        """Largest t with Σ rows e − t way unit = trim over the kept degrees of freedom."""
        rows = columns[kept] * size
        scale = np.maximum(np.abs(rows).sum(axis=1, keepdims=True), 1e-12)
        own = kept.index(dof)
        unit = (np.arange(len(kept)) == own).astype(float)
        matrix = np.hstack([rows / scale, -way * unit[:, None]])
        found = linprog(
            [*np.zeros(len(size)), -1.0], A_eq=matrix, b_eq=trim[kept] / scale[:, 0], bounds=bounds
        )
        return float(found.x[-1] * scale[own, 0]) if found.success else None

    left = []
    for trim in (trim_wrench, np.zeros(6)):
        for way in (1.0, -1.0):
            found = most(trim, way, list(craft.dofs))
            if found is None:
                # Fins that are too slow to hold the pitch do not keep a propeller from pushing.
                found = most(trim, way, [dof])
            left.append(found or 0.0)
    # A trim that takes everything leaves a little nevertheless: a slower vehicle needs less.
    return max(min(left[:2]), 0.2 * min(left[2:]))


def response_times(craft: Craft, speed: float, dof: int) -> tuple[float, float]:
    """Lag of the actuators behind a degree of freedom, and the time for their full range, s."""
    columns, size = strength(craft, speed)
    shares = np.abs(columns[dof] * size)
    lags, ranges = [0.0], [0.0]
    moved = [a for a in craft.model.actuators if a.channel in craft.effectors.channels]
    for i, actuator in enumerate(moved):
        if shares[i] < 0.05 * shares.max():
            continue
        drive = actuator.drive
        most = max(float(drive.high), -float(drive.low))
        lags.append(float(drive.time_constant or 0.0))
        ranges.append(most / float(drive.rate_limit) if drive.rate_limit is not None else 0.0)
        turning = actuator.azimuth if isinstance(actuator, Thruster) else None
        if turning is not None:
            lags.append(float(turning.time_constant or 0.0))
            limit = turning.rate_limit
            ranges.append(0.5 * math.pi / float(limit) if limit is not None else 0.0)
    return max(lags), max(ranges)
