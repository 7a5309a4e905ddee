"""What lies between the eye and what it sees: water, air and fog.

On a way d through the water a colour fades by exp(−c d), and daylight that the water scatters into
the way adds, with E(z) = E_d(0) exp(−K_d z) at the camera's end and the way's descent w per metre,

    V = E(z) bb / (2π (a + bb)) · c (1 − exp(−k d)) / k,   k = c + K_d w

so that level water without end looks like bb E / (2π (a + bb)) (`render.water`), and the open sea
from above like 0.1 bb/a E, which is Morel and Prieur's (1977) reflectance. Lamps add what is
scattered straight back, bb / 2π of their light along the first metres. In the air colours fade to
that of the horizon, and in fog the sky does.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.render.live.solids import Shader
from seatrial.render.picture import Stage
from seatrial.render.sky import SUN_RADIUS
from seatrial.render.water import Medium

Single = NDArray[np.float32]

FOG_HEIGHT = 250.0
"""Of the layer of fog, over which the sky is seen through it, m."""
LAMP_STEPS = 6
LAMP_REACH = 8.0
"""How far the light of lamps that comes straight back is added up, m."""
FAINT = 5.0
"""Optical depth beyond which nothing is seen through water."""
DIM = 4.0
"""The same of what is seen from above, for light that goes there and back."""


def reach_from_above(water: Medium) -> float:
    """How far behind the surface something is looked for from above it, m."""
    return DIM / float((water.attenuation + water.daylight).min())


def reach_of_mirror(water: Medium) -> float:
    """How far from the surface something is looked for in its mirror from below, m."""
    return 0.5 * FAINT / float(water.attenuation.min())


@dataclass(frozen=True)
class Between:
    """Water and air of a stage, with the lamps of a shot."""

    stage: Stage
    shader: Shader

    def hazed(self, colour: Single, distance: Single) -> Single:
        """Faded by the air between, to the colour of the horizon behind it."""
        beta = self.stage.sky.extinction
        if float(distance.max(initial=0.0)) * beta < 2e-3:
            return colour
        through = np.exp(np.float32(-beta) * distance)
        horizon = self.stage.sky.horizon.astype(np.float32)
        return np.asarray(horizon[:, None] + through * (colour - horizon[:, None]))

    def sky(self, direction: Single) -> Single:
        """(3, P) radiance of the sky with the sun's disc, behind fog."""
        if direction.shape[1] == 0:
            return direction
        sky = self.stage.sky
        colour = self.stage.sky.table.radiance(direction)
        sun = sky.sun_direction.astype(np.float32)
        cosine = sun[0] * direction[0] + sun[1] * direction[1] + sun[2] * direction[2]
        disc = np.flatnonzero(cosine > math.cos(SUN_RADIUS))
        if len(disc):
            shine = sky.sun_irradiance / (math.pi * math.sin(SUN_RADIUS) ** 2)
            colour[:, disc] += shine.astype(np.float32)[:, None]
        depth = sky.extinction * FOG_HEIGHT
        if depth > 0.05:
            sine = np.maximum(-direction[2], 1e-3)
            through = np.exp(np.float32(-depth) / sine)
            horizon = sky.horizon.astype(np.float32)[:, None]
            colour = horizon + through * (colour - horizon)
        return colour

    def veil(self, depth: Single, descent: Single, distance: Single | None) -> Single:
        """(3, P) daylight scattered into ways from a depth on; without end where no distance is
        given."""
        water = self.stage.water
        found = np.empty((3, max(len(depth), len(descent))), np.float32)
        for band in range(3):
            c, fall = float(water.attenuation[band]), float(water.daylight[band])
            level = float(self.shader.ambient[band] * water.veil[band])
            k = np.maximum(np.float32(c) + np.float32(fall) * descent, np.float32(0.05 * c))
            bright = np.float32(level * c) * np.exp(np.float32(-fall) * depth) / k
            if distance is not None:
                bright = bright * (1.0 - np.exp(-k * distance))
            found[band] = bright
        return found

    def faded(self, colour: Single, depth: Single, descent: Single, distance: Single) -> Single:
        """A colour behind a way through the water."""
        found = self.veil(depth, descent, distance)
        for band in range(3):
            c = np.float32(-self.stage.water.attenuation[band])
            found[band] += colour[band] * np.exp(c * distance)
        return found

    def lamp_veil(self, origin: Single, direction: Single, distance: Single) -> Single:
        """(3, P) light of lamps that the water sends straight back into rays."""
        water = self.stage.water
        far = np.minimum(distance, np.float32(LAMP_REACH))
        found = np.zeros_like(direction)
        for step in range(LAMP_STEPS):
            # Squares of the steps: most of it comes from near by.
            low, high = (step / LAMP_STEPS) ** 2, ((step + 1) / LAMP_STEPS) ** 2
            at = far * np.float32(0.5 * (low + high))
            lit = self.shader.lamps(origin + direction * at, None, wet=True)
            for band in range(3):
                weight = np.float32(water.backscatter[band] / (2.0 * math.pi) * (high - low))
                c = np.float32(-water.attenuation[band])
                found[band] += weight * far * lit[band] * np.exp(c * at)
        return found
