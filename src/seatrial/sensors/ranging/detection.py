"""How an echo sounder finds the bottom in its own echogram.

It compares echoes as the scattering strength of the water that would return them, which takes the
range out, s = I r² 10^(2αr/10) / (I₀ Ψ L), and takes for the bottom the strongest that is both
above a least strength (Simrad's sounders have −50 dB) and well above the noise. The bottom begins
with the first bin that reaches a tenth of it. Over a bottom at r₀ the intensity climbs from r₀ to
r₀ + L and half of it has come at r₀ + L/2, so with P the plateau that follows and r₂ the end of the
rise

    r₀ = r₂ − Σ min(1, I/P) Δr − L/2

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
    rise: int
    """Bins in which a bottom comes to its full level, one of them for where it begins."""

    def find(
        self, intensity: Array, edges: Array, absorption: Array, pulse: Array, noise: float
    ) -> Found:
        """Look for the bottom in (K, B) bins between the ranges `edges` (B + 1,), m.

        `absorption` in dB/m and `pulse` L in m are (K,).
        """
        bins, width = intensity.shape[1], edges[1] - edges[0]
        middle = 0.5 * (edges[1:] + edges[:-1])
        strength = intensity * np.exp(NEPERS * absorption[:, None] * middle)
        strength *= middle**2 / (self.scale * pulse)[:, None]
        open_ = edges[:-1] >= self.nearest
        loud = open_ & (intensity >= self.over_noise * noise) & (strength >= self.strength)
        strongest = np.max(strength, axis=1, where=loud, initial=0.0)
        peak = np.argmax(loud & (strength >= strongest[:, None]), axis=1)
        first = np.argmax(open_ & (strength >= EDGE * strongest[:, None]), axis=1)
        rows = np.arange(len(intensity))

        places = np.minimum(first[:, None] + np.arange(self.rise + 1), bins - 1)
        climb = np.maximum(intensity[rows[:, None], places], SILENCE)
        plateau = np.max(climb, axis=1, keepdims=True)
        risen = np.sum(climb[:, :-1] / plateau, axis=1)
        start = edges[0] + width * (first + self.rise - risen) - 0.5 * pulse
        excess = 10.0 * np.log10(np.maximum(intensity[rows, peak], SILENCE) / noise)
        return Found(start, excess, strongest > 0.0)
