"""What sound meets: bodies, the bottom and the surface of the sea."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.rays import RayScene
from seatrial.geometry.triangles import by_ray
from seatrial.sensors.sonar.targets import NOTHING, SURFACE

Array = NDArray[np.float64]
Single = NDArray[np.float32]

SHALLOWEST = 1e-3
"""Depth of a sonar that a wave carries above the mean level, m."""


class Echoes(NamedTuple):
    """What rays met, R of each of K pings."""

    distance: Single
    """(K, R) m."""
    cosine: Single
    """(K, R) of the incidence, of rays that meet a solid."""
    rise: Single
    """(K, R) of the normal along an axis of the sonar's, of rays that meet a solid."""
    down: Single
    """(K, R) of the directions; where they meet the surface the incidence has this cosine, but for
    its sign."""
    upright: Single
    """(K,) of that axis, downwards: it is the rise of the surface."""
    material: NDArray[np.int32]
    """(K, R) index in `Targets`."""


def met_under_water(
    scene: RayScene,
    origins: Array,
    directions: Single,
    axis: Array,
    t: Array,
    others: Array | None,
    reach: float,
) -> Echoes:
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
    material = np.where(down < flattest, np.int32(SURFACE), np.int32(NOTHING))
    cosine, rise = (np.empty_like(end) for _ in range(2))
    for values, of_solids in (
        (end, hits.distance),
        (cosine, hits.cosine),
        (rise, sum(normal * side for normal, side in zip(hits.normal.T, sides, strict=True))),
        (material, hits.material),
    ):
        values.reshape(-1)[hits.ray] = of_solids
    return Echoes(end, cosine, rise, down, axis[:, 2].astype(np.float32), material)
