"""Waves that are too short for the sea's own list: what glitters, and what gathers sunlight.

The list of a sea ends at waves of some metres. Shorter ones are taken from the equilibrium range,
in which every octave of wavelengths has the same mean square slope (Phillips 1985, Journal of Fluid
Mechanics 156), travel by ω² = g k and fill up what the waves of the list leave of the slopes that
are seen in sun glitter (`optics.cox_munk`). They are drawn from a seed, on a square that repeats.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.ocean import Ocean
from seatrial.render.optics import cox_munk
from seatrial.seeding import generator

Array = NDArray[np.float64]

TILE = 24.0
"""Side of the square, m."""
NODES = 256
LONGEST, SHORTEST = 4.0, 0.2
"""Wavelengths, m."""
LEAST = 6e-4
"""Mean square slope of ripples where the waves of the list leave none."""


@dataclass(frozen=True)
class Ripples:
    """Slopes of short waves at one instant."""

    slope: Array
    """(2, NODES, NODES) towards north and east, at nodes along north and east."""

    def at(self, north: Array, east: Array) -> tuple[Array, Array]:
        """Slopes at places, m, linear between nodes."""
        a, b = (np.asarray(c) * (NODES / TILE) for c in (north, east))
        i, j = np.floor(a).astype(np.int64), np.floor(b).astype(np.int64)
        s, t = a - i, b - j
        i, j = i % NODES, j % NODES
        k, m = (i + 1) % NODES, (j + 1) % NODES
        f = self.slope
        found = (
            f[:, i, j] * (1 - s) * (1 - t)
            + f[:, k, j] * s * (1 - t)
            + f[:, i, m] * (1 - s) * t
            + f[:, k, m] * s * t
        )
        return found[0], found[1]


def resolved_slope(ocean: Ocean) -> float:
    """Mean square slope of the waves of the list."""
    if ocean.waves is None:
        return 0.0
    amplitude, wavenumber = (
        np.asarray(part, np.float64) for part in (ocean.waves.amplitude, ocean.waves.wavenumber)
    )
    return float(0.5 * np.sum((amplitude * wavenumber) ** 2))


def wind_speed(ocean: Ocean) -> float:
    """At 10 m, m/s."""
    return 0.0 if ocean.wind is None else float(np.asarray(ocean.wind.speed))


def ripples(ocean: Ocean, seed: int, t: float) -> Ripples | None:
    """Short waves of an instant; None on a sea without wind and waves."""
    if ocean.wind is None and ocean.waves is None:
        return None
    left = cox_munk(wind_speed(ocean)) - resolved_slope(ocean)
    k1 = 2.0 * np.pi * np.fft.fftfreq(NODES, TILE / NODES)
    north, east = np.meshgrid(k1, k1, indexing="ij")
    k = np.hypot(north, east)
    random = generator(seed, "picture/ripples")
    drawn = random.standard_normal((2, NODES, NODES))
    within = (k >= 2.0 * np.pi / LONGEST) & (k <= 2.0 * np.pi / SHORTEST)
    # k² |ζ|² dk² alike in every octave: |ζ| falls with k².
    amplitude = np.where(within, 1.0 / np.maximum(k, 1e-9) ** 2, 0.0)
    wave = amplitude * (drawn[0] + 1j * drawn[1]) * np.exp(-1j * np.sqrt(GRAVITY * k) * t)
    slope = np.stack([np.fft.ifft2(1j * q * wave).real for q in (north, east)])
    variance = np.mean(slope[0] ** 2 + slope[1] ** 2)
    return Ripples(slope * np.sqrt(max(left, LEAST) / variance))
