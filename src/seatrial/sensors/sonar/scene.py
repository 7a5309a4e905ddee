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
    directions: NDArray[np.float32],
    t: float,
    others: Array | None,
    reach: float,
) -> Echoes:
    """What rays (3, R) from one place under water meet up to a range; none goes on into the air.

    `others` are the poses of the vehicles, as `RayScene.cast` takes them. The surface is taken as
    level: its waves are in how it scatters.
    """
    down = directions[2]
    limit = np.full(len(down), reach)
    up = np.flatnonzero(down * reach < -origin[2])
    limit[up] = -origin[2] / down[up]
    hits = scene.cast(np.broadcast_to(origin, directions.T.shape), directions.T, t, others, limit)
    ray = np.flatnonzero(hits.distance <= limit)
    missed = up[hits.distance[up] > limit[up]]
    surface = np.broadcast_to([0.0, 0.0, 1.0], (len(missed), 3))
    return Echoes(
        ray=np.concatenate([ray, missed]),
        distance=np.concatenate([hits.distance[ray], limit[missed]]),
        normal=np.concatenate([hits.normal[ray], surface]),
        cosine=np.concatenate([hits.cosine[ray], -down[missed]]),
        material=np.concatenate([hits.material[ray], np.full(len(missed), SURFACE)]),
    )
