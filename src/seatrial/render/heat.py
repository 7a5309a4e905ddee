"""What surfaces, sea and sky radiate between 8 and 14 µm, where thermal cameras look.

A black body of the temperature T has the radiance B(T) = ∫ Planck dλ over the band. A surface of
emissivity ε sends ε B(T) + (1 − ε) L of what it faces. The sea is opaque: its emissivity is what
Fresnel's law leaves of 1, with an index of refraction of 1.2 in this band (Hale and Querry 1973,
Applied Optics 12(3); absorption left out), so that towards the horizon it mirrors the sky. A clear
sky radiates as air of the temperature at the ground seen through a window that lets 70 % through
overhead, and 0.7^m on an air mass of m (an assumption for a temperate day); clouds close it, 5 K
colder than the air. Air fades contrast by 0.2 per km, and as fog does (large drops).

Surfaces are as warm as the air and, under water, as the water; in the sun by what they absorb of
1000 W/m² over 20 W/m²K that wind takes away (a rounded assumption).
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from seatrial.render.sky import air_mass

Array = NDArray[np.float64]

BAND = (8e-6, 14e-6)
"""m."""
INDEX = 1.2
"""Of refraction, of water."""
WINDOW = 0.7
CLOUD_COLDER = 5.0
CLEAR_EXTINCTION = 2e-4
"""1/m."""
SUNSHINE, CONVECTION = 1000.0, 20.0
_PLANCK, _LIGHT, _BOLTZMANN = 6.62607015e-34, 2.99792458e8, 1.380649e-23


@cache
def _table() -> tuple[Array, Array]:
    """Temperatures, K, and the radiance of each, W/m²sr."""
    kelvin = np.linspace(150.0, 500.0, 1401)
    wave = np.linspace(*BAND, 241)
    exponent = _PLANCK * _LIGHT / (_BOLTZMANN * wave * kelvin[:, None])
    spectral = 2.0 * _PLANCK * _LIGHT**2 / wave**5 / np.expm1(exponent)
    return kelvin, np.asarray(np.trapezoid(spectral, wave, axis=1))


def radiance(kelvin: float | Array) -> Array:
    """B(T) in the band, W/m²sr."""
    return np.asarray(np.interp(kelvin, *_table()))


def brightness(radiant: Array) -> Array:
    """Temperature of a black body of a radiance, K."""
    kelvin, table = _table()
    return np.asarray(np.interp(radiant, table, kelvin))


def sky_radiance(sine: Array, air: float, cloud: float) -> Array:
    """Of the sky at the sine of an elevation, over air of a temperature, K."""
    clear = float(radiance(air)) * (1.0 - WINDOW ** air_mass(np.maximum(sine, 0.0)))
    return np.asarray((1.0 - cloud) * clear + cloud * float(radiance(air - CLOUD_COLDER)))


def warmed(absorbed: Array, sine: float, cloud: float) -> Array:
    """By how much the sun warms a surface, K; `absorbed` is the share of light that it absorbs
    times the cosine of incidence, and `sine` that of the sun's elevation."""
    strength = SUNSHINE * math.exp(-0.15 / max(sine, 0.03)) * (1.0 - cloud) if sine > 0.0 else 0.0
    return np.asarray(absorbed * (strength / CONVECTION))
