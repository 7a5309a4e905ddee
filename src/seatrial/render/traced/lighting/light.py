"""Lamps, sun and sky as paths of light find them, in the air or under the waves.

Under water the sky is what a level surface lets through. A direction at the angle θ to the vertical
looks at the sky's θ' with sin θ' = n sin θ, whose radiance arrives as n² T(θ') of itself, beyond
the critical angle at the water's own light, mirrored. The sun stands at its refracted place. Waves
gather and spread its rays: `Caustics` says by how much.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.render.optics import reflectance
from seatrial.render.picture import Light, Stage
from seatrial.render.sky import ILLUMINANCE, SUN, SUN_RADIUS, Sky
from seatrial.render.traced.lighting.caustics import Caustics, caustics
from seatrial.render.traced.lighting.ripples import Ripples
from seatrial.render.water import INDEX, Medium

Array = NDArray[np.float64]

LAMP_SIZE = 0.03
"""Radius of a lamp, m: light does not grow without bound in front of it."""
SKY_NODES = (64, 128)
"""Of a tabulated sky, along the cosine to the vertical and around."""


class Beams(NamedTuple):
    """K lamps."""

    position: Array
    """(K, 3) NED, m."""
    direction: Array
    """(K, 3) unit."""
    intensity: Array
    """(K, 3) on the axis, in units of pictures times m²."""
    exponent: Array
    """(K,) of the cosine."""

    def table(self) -> Array:
        """(K, 10) all of it."""
        return np.column_stack(
            [self.position, self.direction, self.intensity, self.exponent]
        ).reshape(-1, 10)


def beams(lights: tuple[Light, ...]) -> Beams:
    """Lamps that shine; an illuminance of `ILLUMINANCE` counts as `SUN`."""
    on = [light for light in lights if light.intensity > 0.0]
    unit = SUN / ILLUMINANCE
    return Beams(
        np.array([light.position for light in on], np.float64).reshape(-1, 3),
        np.array([light.direction for light in on], np.float64).reshape(-1, 3),
        np.array([unit * light.intensity * np.array(light.colour) for light in on]).reshape(-1, 3),
        np.array([light.exponent for light in on]),
    )


@dataclass(frozen=True)
class Daylight:
    """Sun and sky at the camera's side of the surface."""

    towards: Array
    """(3,) unit, to the sun."""
    irradiance: Array
    """(3,) on a surface square to its rays, at the water's surface."""
    sky: Array
    """(*SKY_NODES, 3) radiance from above, at the nodes of `_directions`."""
    below: tuple[float, float, float]
    """Radiance of what paths find that leave downwards."""
    caustics: Caustics | None = None


EVEN = Daylight(np.array([0.0, 0.0, -1.0]), np.zeros(3), np.ones((*SKY_NODES, 3)), (1.0, 1.0, 1.0))
"""A radiance of 1 from all around."""


def in_air(sky: Sky) -> Daylight:
    """Sun and sky above the water."""
    table = np.moveaxis(sky.radiance(_directions()), 0, -1)
    low = sky.horizon
    return Daylight(sky.sun_direction, sky.sun_irradiance, table, (low[0], low[1], low[2]))


def in_water(
    stage: Stage, place: Array, t: float, ripples: Ripples | None, waves: bool = True
) -> Daylight:
    """Sun and sky under the surface around a place, at an instant."""
    sky = stage.sky
    towards = refracted(sky.sun_direction[:, None])[:, 0]
    up = -sky.sun_direction[2]
    through = (1.0 - reflectance(np.array(up), INDEX)) * up / max(-towards[2], 1e-6)
    table = np.moveaxis(below_surface(_directions(), sky, stage.water), 0, -1)
    irradiance = sky.sun_irradiance * float(through)
    gathered = None
    if waves and (stage.ocean.waves is not None or ripples is not None):
        gathered = caustics(stage, place, t, ripples, towards)
    return Daylight(towards, irradiance, table, (0.0, 0.0, 0.0), gathered)


def refracted(towards: Array) -> Array:
    """(3, ...) unit vectors to places in the air, as they look from under a level surface."""
    level = towards[:2] / INDEX
    down = -np.sqrt(np.maximum(1.0 - np.sum(level**2, axis=0), 0.0))
    return np.concatenate([level, down[None]])


def below_surface(towards: Array, sky: Sky, water: Medium, normal: Array | None = None) -> Array:
    """(3, ...) radiance that is seen towards unit vectors (3, ...) that look up at the surface,
    whose normals (3, ...) point up."""
    n = (
        np.array([0.0, 0.0, -1.0]).reshape(3, *(1,) * (towards.ndim - 1))
        if normal is None
        else normal
    )
    cosine = np.clip(np.sum(towards * n, axis=0), 0.0, 1.0)
    share = 1.0 - reflectance(cosine, 1.0 / INDEX)
    sine2 = INDEX**2 * (1.0 - cosine**2)
    out = INDEX * (towards - cosine * n) + np.sqrt(np.maximum(1.0 - sine2, 0.0)) * n
    out[2] = np.minimum(out[2], -1e-3)  # what would leave a slope downwards grazes the sea
    out /= np.linalg.norm(out, axis=0)
    seen = sky.radiance(out)
    mirrored = (sky.sun_irradiance * -sky.sun_direction[2] + sky.sky_irradiance) * water.veil
    mirrored = mirrored.reshape(3, *(1,) * (towards.ndim - 1))
    return np.asarray(INDEX**2 * share * seen + (1.0 - share) * mirrored)


def sun_through(towards: Array, sky: Sky, normal: Array) -> Array:
    """(3, ...) radiance of the sun's disc seen through slopes of the surface, from below."""
    cosine = np.clip(np.sum(towards * normal, axis=0), 0.0, 1.0)
    share = 1.0 - reflectance(cosine, 1.0 / INDEX)
    sine2 = INDEX**2 * (1.0 - cosine**2)
    out = INDEX * (towards - cosine * normal) + np.sqrt(np.maximum(1.0 - sine2, 0.0)) * normal
    angle = np.clip(np.einsum("i...,i->...", out, sky.sun_direction), -1.0, 1.0)
    inside = (angle > math.cos(SUN_RADIUS)) & (sine2 < 1.0)
    disc = sky.sun_irradiance / (math.pi * math.sin(SUN_RADIUS) ** 2)
    return np.asarray(INDEX**2 * share * inside * disc.reshape(3, *(1,) * (towards.ndim - 1)))


def _directions() -> Array:
    """(3, *SKY_NODES) unit vectors of the nodes of a tabulated sky: cosines from 0 to 1, and
    azimuths at the middles of cells from north through east."""
    rows, columns = SKY_NODES
    up = np.linspace(0.0, 1.0, rows)
    around = 2.0 * np.pi * (np.arange(columns) + 0.5) / columns
    cosine, azimuth = np.meshgrid(up, around, indexing="ij")
    level = np.sqrt(1.0 - cosine**2)
    return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), -cosine])
