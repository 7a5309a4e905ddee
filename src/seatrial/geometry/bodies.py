"""Bodies of the world as plain numbers: what stands, floats or passes in it.

Contact, rays, pictures, the page and recordings read the same list. A body has its own axes:
forward, starboard, down, like a vehicle's; its place is where their origin lies, NED.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
class Body:
    """Something that is in the world."""

    name: str
    shape: str
    """`vehicle` (moves as its frames say), `vessel` (moves as `motion` says), `circle` or
    `polygon` (outlines that stand still), `box`, `cylinder` (upright in its own axes), `sphere` or
    `mesh`."""
    kind: str = ""
    """Of a vehicle, the name of its description; of anything else what it is: pier, buoy, rock."""
    length: float = 0.0
    beam: float = 0.0
    height: float = 0.0
    """Of a hull, a box or, with its radius, a cylinder, m; 0 where unknown."""
    radius: float = 0.0
    """Of a circle, a cylinder or a sphere, m."""
    outline: Array | None = None
    """(K, 2) corners of a polygon, or (1, 2) the centre of a circle, north and east, m."""
    motion: Timetable | None = None
    position: Array | None = None
    """(3,) middle of a box, cylinder or sphere, origin of a mesh, NED, m."""
    attitude: Array | None = None
    """(4,) quaternion from its own axes to the world's, scalar first; level and towards north when
    None."""
    vertices: Array | None = None
    """(V, 3) of a mesh, its own axes, m."""
    faces: Array | None = None
    """(F, 3) rows of `vertices`, as whole numbers."""
    material: str = ""
    """What it is made of, a name of `geometry.materials`."""
