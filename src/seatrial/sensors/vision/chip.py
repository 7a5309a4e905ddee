"""The chip behind a lens: exposure, gain, noise, and eight bits.

A scene of radiance L (`render.sky`) exposes to the share of white

    s = L · (t / 10 ms) · (16 / N)² · g

with the exposure time t, the f-number N and the gain g: white in full sun at f/16 and 1/100 s, as
photographers expose at ISO 100. A pixel of the share s has collected s F / g electrons, F being the
full well; their number has Poisson's variance, here by a normal distribution, and reading adds its
own. So the variance of a picture grows with its mean, and with the gain:

    var s = s g / F + (g σ_r / F)²

Automatic exposure looks at the picture's own light, by some hundred pixels of it: first the time is
lengthened, then the gain raised. It has no memory and no lag.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from seatrial.render.picture import srgb
from seatrial.sensors.noise.streams import normals

Single = NDArray[np.float32]

SUNNY_TIME, SUNNY_STOP = 0.01, 16.0
SHORTEST = 1e-5
"""Exposure time, s."""
CURVE = 1 << 14
"""Steps of the curve from light to eight bits."""


@dataclass(frozen=True)
class Exposure:
    """How a picture is taken."""

    time: float
    """s."""
    gain: float


@dataclass(frozen=True)
class Chip:
    """What a camera's chip makes of light."""

    time: float
    """Fixed, or the longest, s."""
    gain: float
    """Fixed, or the greatest."""
    automatic: bool
    brightness: float
    """Mean that automatic exposure aims at."""
    f_number: float
    full_well: float
    """Electrons."""
    read_noise: float
    """Electrons."""
    factor: tuple[float, float, float] | None
    """k, low and high of a noise that multiplies; None for none."""
    noisy: bool

    def exposure(self, light: Single) -> Exposure:
        """For a scene of which some radiances (P, 3) are known."""
        if not self.automatic:
            return Exposure(self.time, self.gain)
        stop = (SUNNY_STOP / self.f_number) ** 2
        # What is brighter than most (the sun, its glints) is left to burn out.
        luminance = light @ np.array([0.2126, 0.7152, 0.0722], np.float32)
        mean = float(np.minimum(luminance, np.quantile(luminance, 0.9)).mean())
        wanted = self.brightness * SUNNY_TIME / (stop * max(mean, 1e-12))
        time = float(np.clip(wanted, SHORTEST, self.time))
        return Exposure(time, float(np.clip(wanted / time, 1.0, self.gain)))

    def share(self, light: Single, exposure: Exposure) -> Single:
        """Share of white of radiances, without noise."""
        stop = (SUNNY_STOP / self.f_number) ** 2
        return light * np.float32(exposure.time / SUNNY_TIME * stop * exposure.gain)

    def noise(self, share: Single, exposure: Exposure, random: np.random.Generator) -> Single:
        """The same with its noise."""
        if not self.noisy:
            return share
        flat = share.reshape(-1)
        collected = exposure.gain / self.full_well
        spread = np.clip(flat, 0.0, 4.0)
        spread *= np.float32(collected)
        spread += np.float32((self.read_noise * collected) ** 2)
        np.sqrt(spread, out=spread)
        spread *= normals(random, len(flat))
        spread += flat
        if self.factor is not None:
            k, low, high = self.factor
            # One factor for a pixel, all bands alike.
            factor = normals(random, len(flat) // 3)
            factor += np.float32(1.0)
            factor *= np.float32(k)
            np.clip(factor, low, high, out=factor)
            spread = (spread.reshape(-1, 3) * factor[:, None]).ravel()
        return spread.reshape(share.shape)


def developed(share: Single) -> NDArray[np.uint8]:
    """Eight bits of sRGB."""
    step = share * np.float32(CURVE - 1)
    step += np.float32(0.5)
    np.clip(step, 0.0, np.float32(CURVE - 1), out=step)
    return _curve().take(step.astype(np.int32))


@cache
def _curve() -> NDArray[np.uint8]:
    return srgb(np.arange(CURVE) / (CURVE - 1))
