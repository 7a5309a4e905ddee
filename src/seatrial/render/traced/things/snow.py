"""Marine snow: flocks of dead plankton that sink and drift through the light of the lamps.

Particles fill a box that repeats in all directions, so that a camera may go anywhere and finds the
same ones again. Each sinks at its own speed and goes with the water. While the shutter is open it
moves past the camera, and is drawn out to a streak of the same light: as much darker as it is
longer. Sizes fall steeply, by the power −4 that counts of particles in the sea show (Jackson et al.
1997, Deep-Sea Research I 44), sinking speeds are of the order of 50 m a day (Alldredge and Silver
1988, Progress in Oceanography 20).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh
from seatrial.seeding import generator

Array = NDArray[np.float64]

BOX = 6.0
"""Side of what repeats, m."""
LEAST, MOST = 0.0004, 0.004
"""Radii, m."""
POWER = 4.0
SINKING = 50.0 / 86_400.0
"""m/s, on average."""
ALBEDO = 0.45
NEAREST = 0.12
"""No particle is drawn nearer than this, m: in front of the port there is none."""


class Flakes(NamedTuple):
    """Particles of an instant as small double pyramids."""

    mesh: Mesh
    albedo: Array
    """(V, 3) of the vertices."""


def flakes(
    density: float,
    seed: int,
    camera: Array,
    velocity: Array,
    drift: Array,
    t: float,
    exposure: float,
) -> Flakes | None:
    """Particles of a density per m³ around a camera (3,) that moves with a velocity (3,) while its
    shutter is open for so many seconds, in water that drifts (3,); None where there are none."""
    count = round(density * BOX**3)
    if count == 0:
        return None
    random = generator(seed, "picture/snow")
    start = random.uniform(0.0, BOX, (count, 3))
    size = LEAST ** (1 - POWER) + random.uniform(size=count) * (
        MOST ** (1 - POWER) - LEAST ** (1 - POWER)
    )
    radius = size ** (1.0 / (1.0 - POWER))
    shape = radius[:, None] * random.uniform(0.5, 1.3, (count, 3))
    own = random.standard_normal((count, 3)) * 0.01
    own[:, 2] += SINKING * random.exponential(size=count)
    moving = own + drift
    place = start + moving * t
    place = camera + np.mod(place - camera + 0.5 * BOX, BOX) - 0.5 * BOX
    far = np.linalg.norm(place - camera, axis=1)
    kept = (far > NEAREST) & (place[:, 2] > 0.0)
    place, shape, moving = place[kept], shape[kept], moving[kept]
    streak = (moving - velocity) * exposure
    length = np.linalg.norm(streak, axis=1)
    mean = shape.mean(axis=1)
    albedo = ALBEDO * 2.0 * mean / (2.0 * mean + length)
    tips = np.concatenate([np.eye(3), -np.eye(3)])
    offsets = shape[:, None] * tips
    half = 0.5 * streak[:, None] * np.sign(np.einsum("nti,ni->nt", offsets, streak))[..., None]
    vertices = (place[:, None] + offsets + half).reshape(-1, 3)
    faces = np.array(
        [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    )
    rows = (6 * np.arange(len(place))[:, None, None] + faces).reshape(-1, 3)
    return Flakes(Mesh(vertices, rows), np.repeat(np.repeat(albedo[:, None], 3, axis=1), 6, axis=0))
