"""How a hull floats: sinkage, trim and heel at rest, and the arms by which it rights itself."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import Problem, SpecError
from seatrial.geometry.mesh import Mesh
from seatrial.hull.shape.hydrostatics import Hydrostatics, hydrostatics
from seatrial.hull.shape.shells import volume as full_volume

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Floating:
    """A hull at rest in still water."""

    depth: float
    """Of the body's origin under the surface, m."""
    heel: float
    """Roll angle, starboard down, rad."""
    trim: float
    """Pitch angle, bow up, rad."""
    rotation: Array
    """(3, 3) from body axes to level axes."""
    hydrostatics: Hydrostatics
    """In level axes about the body's origin: z counts from there, the surface lies at −depth."""
    heights: tuple[float, float]
    """Metacentric heights GM in roll and in pitch, m."""

    @property
    def least_height(self) -> float:
        """Metacentric height about the level axis that has least, m."""
        across = float(self.hydrostatics.waterplane_moments[0, 1] / self.hydrostatics.volume)
        roll, pitch = self.heights
        return 0.5 * (roll + pitch) - math.hypot(0.5 * (roll - pitch), across)

    @property
    def stable(self) -> bool:
        """Whether it comes back after a small push."""
        return self.least_height > 0.0


def rotation(heel: float, trim: float) -> Array:
    """From body axes to level axes: roll, then pitch."""
    cr, sr, cp, sp = math.cos(heel), math.sin(heel), math.cos(trim), math.sin(trim)
    return np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])


def float_hull(mesh: Mesh, volume: float, gravity: Array, name: str = "the hull") -> Floating:
    """The position in which a hull displaces `volume` with its centre under that of gravity.

    Newton's method on (sinkage, heel, trim) with the hydrostatic stiffness as its Jacobian: ∂V/∂z
    is the waterplane's area, the righting moments change by V GM. Steps are kept within a tenth of
    the hull's height and a tenth of a radian. `gravity` is the centre of gravity in body axes.
    """
    largest = full_volume(mesh)
    if volume >= largest:
        raise SpecError(
            Problem(
                f"{name}: the hull would sink",
                value=f"it must displace {volume:.4g} m³ and holds {largest:.4g} m³",
                expected="a mass that is less than that of the water which the hull holds",
                mend="check the mass and the unit of the mesh",
            )
        )
    position = np.array([sinkage(mesh, volume, np.eye(3)), 0.0, 0.0])
    size = np.ptp(mesh.vertices, axis=0)
    limits = np.array([0.1 * size[2], 0.1, 0.1])
    for _ in range(200):
        found, error, jacobian = _balance(mesh, volume, gravity, position)
        if abs(error[0]) < 1e-10 * volume and np.hypot(*error[1:]) < 1e-9 * volume * size[2]:
            return _floating(found, gravity, position)
        step = np.linalg.solve(jacobian, -error)
        position = position + step / max(1.0, float(np.max(np.abs(step) / limits)))
        if not np.isfinite(position).all() or np.abs(position[1:]).max() > 1.4:
            break
    raise SpecError(
        Problem(
            f"{name}: no position was found in which the hull floats upright",
            value=f"centre of gravity {np.round(gravity, 4).tolist()}",
            expected="a centre of gravity over the hull's waterplane, low enough to float",
            mend="lower the centre of gravity or move it along: --centre-of-gravity",
        )
    )


def _balance(
    mesh: Mesh, volume: float, gravity: Array, position: Array
) -> tuple[Hydrostatics, Array, Array]:
    """Hydrostatics, how far they are from balance, and how that changes with the position."""
    depth, heel, trim = position
    turn = rotation(heel, trim)
    level = Mesh(mesh.vertices @ turn.T, mesh.faces)
    found = hydrostatics(level, -depth)
    lever = found.buoyancy_centre - turn @ gravity
    error = np.array([found.volume - volume, found.volume * lever[1], found.volume * lever[0]])
    area, (fx, fy) = found.waterplane_area, found.flotation
    gx, gy, gz = turn @ gravity
    above = found.buoyancy_centre[2] - gz
    roll = found.waterplane_moments[1, 1] + area * fy * (fy - gy) - found.volume * above
    pitch = found.waterplane_moments[0, 0] + area * fx * (fx - gx) - found.volume * above
    cross = found.waterplane_moments[0, 1]
    # heel sinks what is at y > 0, trim lifts what is at x > 0
    jacobian = np.array(
        [
            [area, area * fy, -area * fx],
            [area * (fy - gy), roll, -cross - area * fx * (fy - gy)],
            [area * (fx - gx), cross + area * fy * (fx - gx), -pitch],
        ]
    )
    scale = max(area, 1e-9 * float(np.ptp(mesh.vertices, axis=0).max()) ** 2)
    return found, error, jacobian + np.diag([1e-9 * scale, 0.0, 0.0])


def _floating(found: Hydrostatics, gravity: Array, position: Array) -> Floating:
    depth, heel, trim = (float(v) for v in position)
    turn = rotation(heel, trim)
    below = float(found.buoyancy_centre[2] - (turn @ gravity)[2])
    transverse, longitudinal = found.metacentric_radii
    return Floating(
        depth=depth,
        heel=heel,
        trim=trim,
        rotation=turn,
        hydrostatics=found,
        heights=(transverse - below, longitudinal - below),
    )


def sinkage(mesh: Mesh, volume: float, turn: Array) -> float:
    """Depth of the origin at which a turned hull displaces `volume`, by bisection and Newton."""
    level = Mesh(mesh.vertices @ turn.T, mesh.faces)
    low, high = -float(level.vertices[:, 2].max()), -float(level.vertices[:, 2].min())
    depth = 0.5 * (low + high)
    for _ in range(200):
        found = hydrostatics(level, -depth)
        error = found.volume - volume
        if abs(error) < 1e-12 * volume:
            break
        low, high = (depth, high) if error < 0.0 else (low, depth)
        step = depth - error / max(found.waterplane_area, 1e-12)
        depth = step if low < step < high else 0.5 * (low + high)
        if high - low < 1e-14 * max(abs(low), abs(high), 1e-9):
            break
    return depth


def righting_arms(mesh: Mesh, volume: float, gravity: Array, angles: Array, trim: float) -> Array:
    """GZ (A,) over heel angles, m, at constant displacement and the trim at rest.

    The arm is how far the centre of buoyancy lies to starboard of that of gravity, level, when the
    starboard side is down.
    """
    arms = []
    for heel in angles:
        turn = rotation(float(heel), trim)
        depth = sinkage(mesh, volume, turn)
        found = hydrostatics(Mesh(mesh.vertices @ turn.T, mesh.faces), -depth)
        arms.append(float(found.buoyancy_centre[1] - (turn @ gravity)[1]))
    return np.array(arms)
