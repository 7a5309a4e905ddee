"""Depth camera: a ray through the middle of every pixel.

Depth is the distance along the ray times its cosine to the axis.

The noise is a factor w = clamp(k (1 + N(0, 1)), low, high) of every depth.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.rotating import turn
from seatrial.render.sea import sea_at
from seatrial.sensors.noise.streams import normals, stream
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo


class Noise(NamedTuple):
    """Of the depths."""

    scale: float
    low: float
    high: float


@dataclass(frozen=True)
class DepthCamera:
    """A depth camera: the half that lives outside the compiled loop."""

    rays: RayScene
    directions: NDArray[np.float32]
    """(3, H W) of the pixels row by row, sensor's axes, unit."""
    width: int
    height: int
    period: float
    """From sample to sample, s."""
    minimum_range: float
    range: float
    noise: Noise | None

    @property
    def payload(self) -> PayloadInfo:
        """An image of depths."""
        return PayloadInfo("image", (self.height, self.width), "float32", "m")

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Images."""
        count = len(views.number)
        payload = np.empty((count, self.height, self.width), np.float32)
        values = np.empty((count, 1))
        axial = self.directions[0]
        reach = self.range / float(axial.min())
        for i in range(count):
            turned = rotation_matrix(views.attitude[i]).astype(np.float32)
            place, t = views.position[i], float(views.number[i]) * self.period
            directions = turn(turned, self.directions).T
            others = None if views.others is None else views.others[i]
            surface = sea_at(ocean, place[:2], t, reach).crossing(place[None], directions, reach)
            # Whatever a ray does not meet before, it meets the surface; if it gets there.
            depth = np.full(len(directions), np.inf, np.float32)
            depth[surface.ray] = surface.distance
            hits = self.rays.cast(place[None], directions, t, others, np.minimum(depth, reach))
            depth[hits.ray] = hits.distance
            depth *= axial
            if self.noise is not None:
                factor = normals(stream(views.keys[i], int(views.number[i])), len(depth))
                factor += np.float32(1.0)
                factor *= np.float32(self.noise.scale)
                depth *= np.clip(factor, self.noise.low, self.noise.high, out=factor)
            depth[depth > self.range] = np.inf
            values[i] = min(float(depth.min()), self.range)
            depth[depth < self.minimum_range] = -np.inf
            payload[i] = depth.reshape(self.height, self.width)
        return Expanded(values, np.ones(count, np.bool_), payload)
