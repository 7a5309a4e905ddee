"""What sound meets: bodies, the bottom and the surface of the sea."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.rays import RayScene
from seatrial.sensors.sonar.targets import SURFACE

Array = NDArray[np.float64]


class Echoes(NamedTuple):
    """Those of many rays that met something, P of them."""

    ray: NDArray[np.int64]
    """Which ray."""
    distance: Array
    """m."""
    normal: Array
    """(P, 3)."""
    cosine: Array
    """Of the incidence, positive."""
    material: NDArray[np.integer]
    """Index in `Targets`."""


def met_under_water(
    scene: RayScene,
    origin: Array,
    directions: Array,
    t: float,
    others: Array | None,
    reach: float,
) -> Echoes:
    """What rays (R, 3) from one place under water meet up to a range; none goes on into the air.

    `others` are the poses of the vehicles, as `RayScene.cast` takes them. The surface is taken as
    level: its waves are in how it scatters.
    """
    hits = scene.cast(np.broadcast_to(origin, directions.shape), directions, t, others, reach)
    distance = np.asarray(hits.distance, np.float64)
    down = directions[:, 2]
    above = np.full(len(down), np.inf)
    np.divide(-origin[2], down, out=above, where=down < 0.0)
    surface = above < distance
    distance = np.where(surface, above, distance)
    ray = np.flatnonzero(distance <= reach)
    at_surface = surface[ray]
    normal = np.where(at_surface[:, None], np.array([0.0, 0.0, 1.0]), hits.normal[ray])
    return Echoes(
        ray=ray,
        distance=distance[ray],
        normal=normal,
        cosine=np.abs(np.einsum("ij,ij->i", normal, directions[ray])),
        material=np.where(at_surface, SURFACE, hits.material[ray]),
    )
