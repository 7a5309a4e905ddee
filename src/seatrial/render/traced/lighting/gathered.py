"""What waves add to sunlight that was followed as below a level sea, in pictures of pixels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.render.traced.lighting.caustics import Caustics
from seatrial.render.traced.lighting.light import Daylight
from seatrial.render.traced.split import Water
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import View

Array = NDArray[np.float64]

STEPS = 16
"""Along the ray of a pixel."""
REACH = 25.0
"""To which light that the water scatters is summed up, m."""


class Gathered(NamedTuple):
    """(H, W, 3) each."""

    at_surfaces: NDArray[np.float32]
    """By which sunlight at what is seen, as it would be without water, is to be multiplied."""
    scattered: NDArray[np.float32]
    """Light that the water scatters once towards the camera."""


def gathered(
    view: View, truth: Truth, water: Water, daylight: Daylight, caustics: Caustics, seed: int
) -> Gathered:
    """(gain − 1) exp(−c z / cos θ') at the end of each ray, and along each, as long as it is,

        ∫ b p(θ) E (gain − 1) exp(−c (s + z / cos θ')) V ds

    with the phase function p, the sun's irradiance E below the surface, the angle θ' of its rays to
    the vertical and V whether they arrive; one place drawn in each of `STEPS` parts of the ray.
    """
    towards, shape = daylight.towards, (view.height, view.width, 3)
    slant = 1.0 / max(-towards[2], 0.05)
    c = water.attenuation
    met = np.isfinite(truth.distance)
    end = view.position + np.where(met, truth.distance, 0.0)[:, None] * view.rays
    gain = caustics.gain_at(end, towards) - 1.0
    at_surfaces = gain[:, None] * np.exp(-np.outer(np.maximum(end[:, 2], 0.0) * slant, c))
    at_surfaces[~met] = 0.0

    g, cosine = water.mean_cosine, view.rays @ towards
    phase = (1.0 - g * g) / (1.0 + g * g - 2.0 * g * cosine) ** 1.5 / (4.0 * np.pi)
    far = np.minimum(truth.distance, REACH)
    random = np.random.Generator(np.random.Philox(key=seed))
    total = np.zeros((len(far), 3))
    for step in range(STEPS):
        s = far * (step + random.uniform(size=len(far))) / STEPS
        at = view.position + s[:, None] * view.rays
        free = truth.free(at, np.broadcast_to(towards, at.shape), np.full(len(at), 1e3))
        bright = (caustics.gain_at(at, towards) - 1.0) * free * (at[:, 2] > 0.0) * far / STEPS
        total += bright[:, None] * np.exp(-np.outer(s + np.maximum(at[:, 2], 0.0) * slant, c))
    scattered = total * phase[:, None] * water.scattering * daylight.irradiance
    return Gathered(
        at_surfaces.astype(np.float32).reshape(shape), scattered.astype(np.float32).reshape(shape)
    )
