"""What sound meets: bodies, the bottom and the surface of the sea."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.rays import RayScene
from seatrial.geometry.triangles import by_ray
from seatrial.sensors.sonar.targets import SURFACE

Array = NDArray[np.float64]
Single = NDArray[np.float32]

SHALLOWEST = 1e-3
"""Depth of a sonar that a wave carries above the mean level, m."""


class Echoes(NamedTuple):
    """What some rays met, P of those of all pings, in their order."""

    ray: NDArray[np.int64]
    """(P,) which of them."""
    distance: Single
    """(P,) m."""
    cosine: Single
    """(P,) of the incidence, positive."""
    rise: Single
    """Of the normal along an axis of the sonar's, (P,) or (1,) of all."""
    material: int | NDArray[np.integer]
    """Index in `Targets`, of all or (P,)."""


def met_under_water(
    scene: RayScene,
    origins: Array,
    directions: Single,
    axis: Array,
    t: Array,
    others: Array | None,
    reach: float,
) -> tuple[Echoes, Echoes]:
    """What rays (3, K, R) from places (K, 3) under water meet up to a range: solids, and the
    surface, beyond which none goes on into the air.

    `axis` (K, 3) is that of `Echoes.rise`, `t` (K,) and `others` as `RayScene.cast` takes them. The
    surface is taken as level: its waves are in how it scatters.
    """
    _, _, rays = directions.shape
    depth = np.maximum(origins[:, 2:], SHALLOWEST).astype(np.float32)
    flattest = -depth / np.float32(reach)
    down = directions[2]
    end = -depth / np.minimum(down, flattest)
    hits = scene.cast(origins, directions.reshape(3, -1).T, t[:, None], others, end.reshape(-1))
    sides = by_ray(axis.T.astype(np.float32), hits.ray, rays)
    rise = sum(normal * side for normal, side in zip(hits.normal.T, sides, strict=True))
    solid = Echoes(hits.ray, hits.distance, hits.cosine, rise, hits.material)
    rising = (down < flattest).reshape(-1)
    rising[hits.ray] = False
    ray = np.flatnonzero(rising)
    upright = by_ray(axis.T[2:].astype(np.float32), ray, rays)[0]
    above = Echoes(ray, end.take(ray), -down.take(ray), upright, SURFACE)
    return solid, above
