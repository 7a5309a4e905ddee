"""Thermal camera: the temperature that a black body would have to look as warm.

See `render.heat` for what surfaces, sea and sky radiate. Under water it sees the water before it.
"""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.materials import material_column
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.ocean.water import temperature
from seatrial.render import heat
from seatrial.render.live.surface import surface_at
from seatrial.render.optics import mirrored, reflectance
from seatrial.render.picture import Lens
from seatrial.render.rotating import turn
from seatrial.render.sky import Sky
from seatrial.sensors.noise.streams import normals, stream
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Single = NDArray[np.float32]
Array = NDArray[np.float64]

FREEZING = 273.15
STEP = 0.01
"""Of the temperatures, K."""
REACH = 20_000.0


@dataclass(frozen=True)
class ThermalCamera:
    """A thermal camera: the half that lives outside the compiled loop."""

    rays: RayScene
    sky: Sky
    lens: Lens
    air: float
    """Temperature of the air, K."""
    noise: float
    """Standard deviation of a pixel, K."""
    period: float
    """From sample to sample, s."""

    @property
    def payload(self) -> PayloadInfo:
        """A picture of hundredths of a kelvin."""
        return PayloadInfo("image", (self.lens.height, self.lens.width), "uint16", "0.01 K")

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Pictures."""
        count = len(views.number)
        payload = np.empty((count, *self.payload.shape), np.uint16)
        values = np.empty((count, 2))
        for i in range(count):
            kelvin = heat.brightness(self._radiance(views, i, ocean))
            if self.noise > 0.0:
                random = stream(views.keys[i], int(views.number[i]))
                kelvin = kelvin + self.noise * normals(random, len(kelvin))
            values[i] = kelvin.min(), kelvin.max()
            steps = np.clip(np.rint(kelvin / STEP), 0, 65_535)
            payload[i] = steps.reshape(self.payload.shape)
        return Expanded(values, np.ones(count, np.bool_), payload)

    def _radiance(self, views: Views, i: int, ocean: Ocean) -> Array:
        """(P,) of the pixels, W/m²sr."""
        place, t = views.position[i], float(views.number[i]) * self.period
        surface = surface_at(ocean, place[:2], t)
        with jax.enable_x64(True):
            water = float(temperature(ocean.water, np.float64(max(place[2], 0.0)))) + FREEZING
        sea = float(heat.radiance(water))
        matrix = rotation_matrix(views.attitude[i]).astype(np.float32)
        direction = turn(matrix, self.lens.columns)
        origin = place.astype(np.float32)[:, None]
        here = np.zeros(1, np.float32)
        level = 0.0 if surface.grids is None else float(surface.height(here, here)[0])
        if place[2] + level > 0.0:
            return np.full(direction.shape[1], sea)
        distance = surface.distance(origin, direction, REACH)
        others = None if views.others is None else views.others[i]
        hits = self.rays.cast(place[None], direction.T, t, others, np.minimum(distance, REACH))
        distance[hits.ray] = hits.distance
        found = heat.sky_radiance(-direction[2].astype(np.float64), self.air, self.sky.cloud)
        wet = np.isfinite(distance)
        wet[hits.ray] = False
        rays = np.flatnonzero(wet)
        if len(rays):
            met = origin + direction[:, rays] * distance[rays]
            per = np.float32(1.0 / self.lens.focal_length)
            size = distance[rays] * per / np.sqrt(np.maximum(direction[2, rays], 0.02))
            normal, variance = surface.facing(met[0], met[1], size)
            straight = -sum(direction[c, rays] * normal[c] for c in range(3))
            straight = np.maximum(straight, 0.01)
            cosine = np.minimum(np.sqrt(straight * straight + 0.35 * variance), 1.0)
            share = reflectance(cosine, heat.INDEX).astype(np.float64)
            up = mirrored(direction[:, rays], normal, straight)[2]
            above = np.sqrt(up * up + 0.5 * variance).astype(np.float64)
            overhead = heat.sky_radiance(np.minimum(above, 1.0), self.air, self.sky.cloud)
            found[rays] = (1.0 - share) * sea + share * overhead
        if len(hits.ray):
            found[hits.ray] = self._solids(hits.normal, hits.material)
        # The sky's own air is in it already.
        seen = np.isfinite(distance)
        through = np.exp(-(heat.CLEAR_EXTINCTION + self.sky.extinction) * distance[seen])
        air = float(heat.radiance(self.air))
        found[seen] = air + through * (found[seen] - air)
        return found

    def _solids(self, normal: NDArray[np.floating[Any]], material: NDArray[np.int32]) -> Array:
        """(P,) of surfaces in the air."""
        sun = self.sky.sun_direction
        absorbed = 1.0 - material_column("colour").mean(axis=1)[material]
        absorbed = absorbed * np.maximum(normal @ sun, 0.0)
        warmer = heat.warmed(absorbed, -float(sun[2]), self.sky.cloud)
        emissivity = material_column("emissivity")[material]
        overhead = float(heat.sky_radiance(np.array([0.5]), self.air, self.sky.cloud)[0])
        ground = float(heat.radiance(self.air))
        faced = ground + 0.5 * (1.0 - normal[:, 2]) * (overhead - ground)
        emitted = emissivity * heat.radiance(self.air + warmer)
        return np.asarray(emitted + (1.0 - emissivity) * faced)
