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
    """(3, P)."""
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
    limit = np.full(len(down), reach, np.float32)
    up = np.flatnonzero(down * reach < -origin[2])
    limit[up] = -origin[2] / down[up]
    hits = scene.cast(origin[None], directions.T, t, others, limit)
    missed = np.zeros(len(down), np.bool_)
    missed[up] = True
    missed[hits.ray] = False
    top = np.flatnonzero(missed)
    surface = np.broadcast_to(np.array([[0.0], [0.0], [1.0]]), (3, len(top)))
    return Echoes(
        ray=np.concatenate([hits.ray, top]),
        distance=np.concatenate([hits.distance, limit[top]]),
        normal=np.concatenate([hits.normal.T, surface], axis=1),
        cosine=np.concatenate([hits.cosine, -down[top]]),
        material=np.concatenate([hits.material, np.full(len(top), SURFACE, np.int32)]),
    )
