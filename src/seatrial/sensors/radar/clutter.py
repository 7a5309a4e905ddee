"""What the sea sends back to a radar.

The mean echo area of a square metre of sea at the grazing angle ψ (degrees) and the sea state s is,
in dB and for horizontal polarisation, after the measurements that the Naval Research Laboratory
put together (Gregers-Hansen and Mital 2012, NRL/MR/5310-12-9346),

    σ⁰ = −73.0 + 20.781 log₁₀ sin ψ + (27.5 + 7.351 ψ) log₁₀ f / (1 + 0.95 ψ)
         + 25.65 (1 + s)^(1 / (2 + 0.085 ψ + 0.033 s)) + 0.0054 ψ²

with the frequency f in GHz, stated for 0.5 to 35 GHz, 0.1 to 60 degrees and states 0 to 6. The wind
gives the state by U = 3.16 s^0.8 m/s (Barton 2005, section 3.6).

Here ψ is the angle at which the beam meets the very wave: its slope towards the antenna adds to
the angle of sight. Troughs that a crest hides send nothing. So the streaks of the clutter are the
crests of the sea that lifts the vessel, and travel with them. The formula is a mean over waves, so
that the spread of their slopes raises the mean of a picture over it.
"""

import math
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial import programs
from seatrial.ocean import Waves, waves

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Floats = NDArray[np.floating[Any]]

LEAST_GRAZING = 0.1
MOST_GRAZING = 60.0
"""Degrees for which the formula is stated."""
MOST_STATE = 6.0


def sea_state(wind_speed: float) -> float:
    """s of a wind in m/s at 10 m."""
    return min(math.pow(wind_speed / 3.16, 1.25), MOST_STATE)


def reflectivity(sine: Floats, state: float, frequency: float) -> Floats:
    """σ⁰ at the sine of the grazing angle, per m²; 0 for waves that face away. In the precision of
    the sine."""
    least, most = (math.sin(math.radians(d)) for d in (LEAST_GRAZING, MOST_GRAZING))
    held = np.clip(sine, least, most)
    psi = np.degrees(np.arcsin(held))
    decibels = 20.781 * np.log10(held) - 73.0
    decibels += (27.5 + 7.351 * psi) * math.log10(frequency * 1e-9) / (1.0 + 0.95 * psi)
    power = math.log(1.0 + state) / (2.0 + 0.033 * state + 0.085 * psi)
    decibels += 25.65 * np.exp(power, out=power)
    decibels += 0.0054 * psi * psi
    decibels *= 0.1 * math.log(10.0)
    return np.asarray(np.exp(decibels, out=decibels) * (sine > 0.0))


class SeaSurface(NamedTuple):
    """The sea around an antenna, (A, B) azimuths by ranges; (1, B) where all are alike."""

    elevation: Single
    """m."""
    steepness: Single
    """Slope of the surface away from the antenna: positive where it faces it."""


def surface_around(
    sea: Waves | None, place: Array, azimuth: Array, ranges: Array, t: Array
) -> SeaSurface:
    """The sea at world azimuths (A,) and ranges (B,) from places (A, 3) at times (A,), of which
    there may be one for all."""
    if sea is None:
        flat = np.zeros((1, len(ranges)), np.float32)
        return SeaSurface(flat, flat)
    cos, sin = np.cos(azimuth)[:, None], np.sin(azimuth)[:, None]
    x, y = place[:, :1] + cos * ranges, place[:, 1:2] + sin * ranges
    when = np.broadcast_to(t, azimuth.shape)
    with jax.enable_x64(True):  # of this thread, whichever expands the taps
        found = programs.call_often(_sampled, sea, x, y, when)
    elevation, north, east = (np.asarray(part).astype(np.float32) for part in found)
    steepness = cos.astype(np.float32) * north + sin.astype(np.float32) * east
    return SeaSurface(elevation, steepness)


@jax.jit
def _sampled(
    sea: Waves, x: jax.Array, y: jax.Array, t: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    def along(azimuth: tuple[jax.Array, jax.Array, jax.Array]) -> Any:
        x, y, t = azimuth
        return waves.elevation(sea, x, y, t), *waves.slope(sea, x, y, t)

    elevation, north, east = jax.lax.map(along, (x, y, t))
    return elevation, north, east
