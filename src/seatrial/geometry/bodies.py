"""Bodies of the world as plain numbers: what stands, floats or passes in it.

Contact, rays, pictures, the page and recordings read the same list. A body has its own axes:
forward, starboard, down, like a vehicle's; its place is where their origin lies, NED. Where it is
at a time is a function of the time and these numbers alone (`Body.pose`), and what it looks like
is a mesh in its own axes (`Body.mesh`).

A thing of several parts (a pier with piles, a pipe with flanges) is several bodies whose names
begin with its own: `pier/deck`, `pier/pile 1`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.mesh import Mesh

Array = NDArray[np.float64]

HULL = np.array([(1.0, 0.0), (1.0 / 3.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0 / 3.0, -1.0)])
"""Outline of a hull from above, in halves of its length and beam: square aft, the last third a
pointed bow."""
TINY = 1e-300
"""In place of a zero that is divided by."""


@dataclass(frozen=True)
class Timetable:
    """How a body moves that nobody steers: stretches of constant velocity, the last without end."""

    since: Array
    """(P,) when each begins, rising, s."""
    position: Array
    """(P, 2) where it begins, north and east, m."""
    velocity: Array
    """(P, 2) along it, m/s."""

    def at(self, t: float | Array) -> tuple[Array, Array]:
        """Position and velocity (..., 2) at times; before the first stretch as along it."""
        p = np.maximum(np.searchsorted(self.since, t, side="right") - 1, 0)
        velocity = self.velocity[p]
        return self.position[p] + velocity * np.asarray(t - self.since[p])[..., None], velocity


@dataclass(frozen=True)
class Ride:
    """How a small moored body follows the waves of its place: it heaves with the surface and goes
    around with the water there, but leaves the circle of its mooring never.

        d = lean + Σ b sin θ (cos μ, sin μ), cut off at |d| = radius;  up: Σ a cos θ;  θ = ω t + ε

    The sums are those of linear waves at the surface (Faltinsen 1990, table 2.1), which a body much
    shorter than them follows; it stays upright, and what it weighs is not asked.
    """

    amplitude: Array
    """(C,) a, m."""
    sway: Array
    """(C,) b = a coth kh, the horizontal half axis of the water's orbit, m."""
    omega: Array
    """(C,) as seen from its place, rad/s."""
    phase: Array
    """(C,) at its place, rad."""
    direction: Array
    """(C,) azimuth μ towards which each wave travels, rad."""
    lean: Array
    """(2,) where the current holds it, from the middle of the circle towards north and east, m."""
    radius: float
    """Of the circle that its mooring leaves it, m."""

    def at(self, t: float | Array) -> Array:
        """(..., 3) north, east and down from its place in a calm at times, m."""
        if not len(self.omega):  # a calm
            north, east = min(1.0, self.radius / max(math.hypot(*self.lean), TINY)) * self.lean
            return np.full((*np.shape(t), 3), [north, east, 0.0])
        angle = self.omega * np.asarray(t)[..., None] + self.phase
        along = self.sway * np.sin(angle)
        north = self.lean[0] + np.sum(along * np.cos(self.direction), axis=-1)
        east = self.lean[1] + np.sum(along * np.sin(self.direction), axis=-1)
        off = np.hypot(north, east)
        held = self.radius / np.maximum(off, max(self.radius, TINY))
        held = np.where(off > self.radius, held, 1.0)
        down = -np.sum(self.amplitude * np.cos(angle), axis=-1)
        return np.stack([held * north, held * east, down], axis=-1)


@dataclass(frozen=True)
class Fender:
    """What softens a contact: a spring and a damper per body, whatever touches it."""

    stiffness: float
    """N/m."""
    damping: float
    """N s/m."""


@dataclass(frozen=True)
class Body:
    """Something that is in the world."""

    name: str
    shape: str
    """`vehicle` (moves as its frames say), `vessel` (moves as `motion` says), `circle` or
    `polygon` (outlines that stand still from the bottom up), `box`, `cylinder` (upright in its own
    axes), `sphere` or `mesh`."""
    kind: str = ""
    """Of a vehicle, the name of its description; of anything else what it is: pier, buoy, rock."""
    length: float = 0.0
    beam: float = 0.0
    height: float = 0.0
    """Of a hull, a box, an outline or, with its radius, a cylinder, m; 0 where unknown."""
    radius: float = 0.0
    """Of a circle, a cylinder or a sphere, m."""
    outline: Array | None = None
    """(K, 2) corners of a polygon, or (1, 2) the centre of a circle, north and east, m."""
    motion: Timetable | None = None
    position: Array | None = None
    """(3,) middle of an outline, box, cylinder or sphere, origin of a mesh, NED, m. Of a body that
    rides the waves, in a calm; of one with a `motion` only the depth counts."""
    attitude: Array | None = None
    """(4,) quaternion from its own axes to the world's, scalar first; level and towards north when
    None. A body with a `motion` looks where it goes."""
    vertices: Array | None = None
    """(V, 3) of a mesh, its own axes, m."""
    faces: Array | None = None
    """(F, 3) rows of `vertices`, as whole numbers."""
    material: str = ""
    """What it is made of, a name of `geometry.materials`."""
    ride: Ride | None = None
    """How it follows the waves; None for what does not float."""
    fender: Fender | None = None
    """What softens contact with it; None for a hard one."""
    colour: Array | None = None
    """(3,) its albedo in red, green and blue, linear; as its material's when None."""
    pattern: Array | None = None
    """(rows, columns) of cells on the forward face of a box, from 0 for black to 1 for white, as
    seen from ahead of it: the first row is on top, the first column to starboard."""

    @property
    def moves(self) -> bool:
        """Whether its pose changes with time; a vehicle's is not known here."""
        return self.motion is not None or self.ride is not None

    def pose(self, t: float | Array) -> tuple[Array, Array]:
        """Position (..., 3) NED and rotation matrix (..., 3, 3) from its own axes to the world's,
        at times; of anything but a vehicle, which its frames tell."""
        place = np.zeros(3) if self.position is None else np.asarray(self.position, np.float64)
        turned = rotation_matrix(self.attitude)
        if self.motion is not None:
            level, velocity = self.motion.at(t)
            speed = np.hypot(velocity[..., 0], velocity[..., 1])
            c, s = np.moveaxis(velocity, -1, 0) / np.maximum(speed, TINY)
            ahead = np.zeros((*speed.shape, 3, 3))
            ahead[..., 0, 0] = ahead[..., 1, 1] = c
            ahead[..., 1, 0], ahead[..., 0, 1], ahead[..., 2, 2] = s, -s, 1.0
            down = np.broadcast_to(place[2:], (*speed.shape, 1))
            turned = np.where(speed[..., None, None] > 0.0, ahead, turned)
            return np.concatenate([level, down], axis=-1), turned
        if self.ride is not None:
            place = place + self.ride.at(t)
        shape = np.shape(t)
        return np.broadcast_to(place, (*shape, 3)), np.broadcast_to(turned, (*shape, 3, 3))

    def footprint(self, t: float) -> Array:
        """(K, 2) corners, north and east, of the convex outline that it shows from above at a
        time."""
        place, turned = self.pose(t)
        return _convex(self.mesh().moved(place, turned).vertices[:, :2])

    def mesh(self) -> Mesh:
        """Its surface in its own axes; a hull that states no height is as high as it is wide."""
        if self.shape == "box":
            return meshes.box((self.length, self.beam, self.height))
        if self.shape in ("cylinder", "circle"):
            return meshes.cylinder(self.radius, self.height)
        if self.shape == "sphere":
            return meshes.sphere(self.radius)
        if self.shape == "polygon":
            assert self.outline is not None
            assert self.position is not None
            half = 0.5 * self.height
            return meshes.prism(self.outline - self.position[:2], -half, half)
        if self.shape == "mesh":
            assert self.vertices is not None
            assert self.faces is not None
            return Mesh(self.vertices, np.asarray(self.faces, np.int64))
        half = 0.5 * (self.height or self.beam)
        return meshes.prism(0.5 * HULL * (self.length, self.beam), -half, half)


def _convex(points: Array) -> Array:
    """Corners of the convex outline of points (V, 2), in order, by Andrew's monotone chain."""
    ordered = np.unique(points.round(9), axis=0)

    def chain(places: Array) -> list[Array]:
        kept: list[Array] = []
        for p in places:
            while len(kept) > 1:
                (a, b), (c, d) = kept[-1] - kept[-2], p - kept[-2]
                if a * d - b * c > 0.0:
                    break
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array([*chain(ordered), *chain(ordered[::-1])])


def rotation_matrix(attitude: Array | None) -> Array:
    """(3, 3) of a unit quaternion, scalar first; the unit matrix for None."""
    if attitude is None:
        return np.eye(3)
    w, x, y, z = attitude
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(matrix: Array) -> Array:
    """(4,) scalar first, of a rotation matrix (Shepperd 1978: from its largest component)."""
    m = matrix
    squares = [
        1.0 + m[0, 0] + m[1, 1] + m[2, 2],
        1.0 + m[0, 0] - m[1, 1] - m[2, 2],
        1.0 - m[0, 0] + m[1, 1] - m[2, 2],
        1.0 - m[0, 0] - m[1, 1] + m[2, 2],
    ]
    products = {
        0: (squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]),
        1: (m[2, 1] - m[1, 2], squares[1], m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]),
        2: (m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], squares[2], m[2, 1] + m[1, 2]),
        3: (m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], squares[3]),
    }
    largest = int(np.argmax(squares))
    found: Array = np.asarray(products[largest]) / (2.0 * np.sqrt(squares[largest]))
    return found
