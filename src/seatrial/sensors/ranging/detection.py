"""How an echo sounder finds the bottom in its own echogram.

It compares echoes as the scattering strength of the water that would return them, which takes the
range out, s = I r² 10^(2αr/10) / (I₀ Ψ L), and takes for the bottom the strongest that is both
above a least strength (Simrad's sounders have −50 dB) and well above the noise. The bottom begins
with the first bin that reaches a tenth of it, and the middle of that bin is told.

The device knows neither its tilt nor the waves: what it tells is a range along the beam.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.sensors.ranging.bottom_echo import NEPERS

Array = NDArray[np.float64]

EDGE = 0.1
"""Of the strongest echo, where the bottom begins."""

SILENCE = 1e-30
"""Intensity of nothing at all, µPa²: the exact sounder has bins without any."""


class Found(NamedTuple):
    """The bottom in some pings."""

    range: Array
    """(K,) m."""
    excess: Array
    """(K,) of its strongest bin over the noise, dB."""
    valid: NDArray[np.bool_]
    """(K,) False where there was none to find."""


@dataclass(frozen=True)
class Detector:
    """The settings of a bottom detection."""

    nearest: float
    """Where the search begins, m."""
    over_noise: float
    """Least ratio of the bottom's intensity to the noise's."""
    strength: float
    """Least s, 1/m."""
    scale: float
    """I₀ Ψ."""

    def find(
        self, intensity: Array, edges: Array, absorption: Array, pulse: Array, noise: float
    ) -> Found:
        """Look for the bottom in (K, B) bins between the ranges `edges` (B + 1,), m.

        `absorption` in dB/m and `pulse` L in m are (K,).
        """
        middle = 0.5 * (edges[1:] + edges[:-1])
        strength = intensity * np.exp(NEPERS * absorption[:, None] * middle)
        strength *= middle**2 / (self.scale * pulse)[:, None]
        open_ = edges[:-1] >= self.nearest
        loud = open_ & (intensity >= self.over_noise * noise) & (strength >= self.strength)
        strongest = np.max(strength, axis=1, where=loud, initial=0.0)
        peak = np.argmax(loud & (strength >= strongest[:, None]), axis=1)
        first = np.argmax(open_ & (strength >= EDGE * strongest[:, None]), axis=1)
        loudest = np.maximum(intensity[np.arange(len(intensity)), peak], SILENCE)
        return Found(middle[first], 10.0 * np.log10(loudest / noise), strongest > 0.0)
