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
    """What each of R rays of K pings met; nothing comes back of those with a cosine of 0."""

    distance: Single
    """(K, R) m."""
    cosine: Single
    """(K, R) of the incidence, positive."""
    rise: Single
    """(K, R) of the normal along an axis of the sonar's."""
    material: NDArray[np.intp]
    """(K, R) index in `Targets`."""

    def shaped(self, *shape: int) -> "Echoes":
        """The same, of rays along several axes."""
        distance, cosine, rise = (part.reshape(shape) for part in self[:3])
        return Echoes(distance, cosine, rise, self.material.reshape(shape))

    def at(self, rows: slice) -> "Echoes":
        """Some along the first axis."""
        return Echoes(self.distance[rows], self.cosine[rows], self.rise[rows], self.material[rows])


def met_under_water(
    scene: RayScene,
    origins: Array,
    directions: Single,
    axis: Array,
    t: Array,
    others: Array | None,
    reach: float,
) -> Echoes:
    """What rays (3, K, R) from places (K, 3) under water meet up to a range; none goes on into the
    air.

    `axis` (K, 3) is that of `Echoes.rise`, `t` (K,) and `others` as `RayScene.cast` takes them. The
    surface is taken as level: its waves are in how it scatters.
    """
    _, pings, rays = directions.shape
    depth = np.maximum(origins[:, 2:], SHALLOWEST).astype(np.float32)
    up = -directions[2]
    level = np.repeat(depth / np.float32(reach), rays, axis=1)
    cosine = up * (up > level)
    distance = depth / np.maximum(up, level, out=up)
    hits = scene.cast(
        origins, directions.reshape(3, -1).T, t[:, None], others, distance.reshape(-1)
    )
    rise = np.repeat(axis[:, 2].astype(np.float32), rays)
    material = np.full(pings * rays, SURFACE, np.intp)
    leans = np.zeros(len(hits.ray))
    for normal, side in zip(hits.normal.T, by_ray(axis.T, hits.ray, rays), strict=True):
        leans += normal * side
    material[hits.ray] = hits.material
    for whole, part in ((distance, hits.distance), (cosine, hits.cosine), (rise, leans)):
        whole.reshape(-1)[hits.ray] = part
    shape = pings, rays
    return Echoes(distance, cosine, rise.reshape(shape), material.reshape(shape))
