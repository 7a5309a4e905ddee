"""Sea water over depth: temperature, salinity, density and sound speed.

A table of temperature and salinity is turned into density and sound speed by TEOS-10 (IOC, SCOR
and IAPSO 2010) once, when the world is compiled, on a grid of one metre; a run only interpolates.
"""

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.ocean.curves import Curve, curve, evaluate, resample
from seatrial.pytree import constant, pytree
from seatrial.spatial.vectors import Scalar

Property = jax.Array | Curve
"""One number for the whole sea, or a curve over depth."""

GRID_STEP = 1.0
"""Spacing of the tabulated depths, m."""

Rows = tuple[float, ...]

PRESETS: dict[tuple[str, str], tuple[Rows, Rows, Rows]] = {
    ("atlantic", "summer"): (
        (0.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 5000.0),
        (22.5, 22.3, 18.0, 15.8, 14.2, 11.6, 7.6, 4.9, 3.8, 2.9, 2.5),
        (36.00, 36.00, 36.00, 35.95, 35.85, 35.50, 35.12, 35.00, 34.97, 34.94, 34.90),
    ),
    ("atlantic", "winter"): (
        (0.0, 120.0, 160.0, 200.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 5000.0),
        (15.0, 15.0, 14.7, 14.2, 11.6, 7.6, 4.9, 3.8, 2.9, 2.5),
        (35.95, 35.95, 35.92, 35.85, 35.50, 35.12, 35.00, 34.97, 34.94, 34.90),
    ),
    ("pacific", "summer"): (
        (0.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 5000.0),
        (18.5, 18.3, 13.5, 11.2, 9.2, 5.8, 3.4, 2.5, 2.0, 1.7, 1.6),
        (33.50, 33.50, 33.60, 33.75, 33.95, 34.05, 34.38, 34.52, 34.60, 34.66, 34.69),
    ),
    ("pacific", "winter"): (
        (0.0, 100.0, 140.0, 200.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 5000.0),
        (10.8, 10.8, 10.3, 9.2, 5.8, 3.4, 2.5, 2.0, 1.7, 1.6),
        (33.70, 33.70, 33.78, 33.95, 34.05, 34.38, 34.52, 34.60, 34.66, 34.69),
    ),
}
"""(ocean, season) -> depths (m), in-situ temperatures (°C), practical salinities.

Typical open-ocean profiles at about 40° north: a mixed layer (20 m in summer, 100 m and more in
winter), the seasonal and the main thermocline, and the deep layer, made smooth by monotone cubic
pieces. Rounded climatological values of the kind given in textbooks (Talley et al. 2011,
Descriptive Physical Oceanography, chapters 4, 9 and 10), not a fit to a particular station.
"""


@pytree
class Water:
    """What the water is like at each depth."""

    rho: Property
    """Density, kg/m³."""
    sound: Property
    """Sound speed, m/s."""
    celsius: Property
    """Temperature in situ (ITS-90), °C."""
    practical_salinity: Property
    """Practical salinity (PSS-78)."""


def density(water: Water, z: Scalar) -> jax.Array:
    """In-situ density at depth z, kg/m³."""
    return _at(water.rho, z)


def sound_speed(water: Water, z: Scalar) -> jax.Array:
    """Speed of sound at depth z, m/s."""
    return _at(water.sound, z)


def temperature(water: Water, z: Scalar) -> jax.Array:
    """In-situ temperature at depth z, °C."""
    return _at(water.celsius, z)


def salinity(water: Water, z: Scalar) -> jax.Array:
    """Practical salinity at depth z."""
    return _at(water.practical_salinity, z)


def _at(value: Property, z: Scalar) -> jax.Array:
    return evaluate(value, z) if isinstance(value, Curve) else value


def water_from_profile(
    depth: tuple[float, ...],
    temperature: tuple[float, ...],
    salinity: tuple[float, ...],
    bottom: float,
    latitude: float,
    longitude: float,
    dtype: Any,
    density: float | None = None,
) -> Water:
    """Tabulate a profile of in-situ temperature (°C) and practical salinity down to `bottom`.

    Latitude and longitude in degrees. A given `density` is used as it stands, at every depth.
    """
    steps = max(1, int(np.ceil(bottom / GRID_STEP)))
    z = np.linspace(0.0, steps * GRID_STEP, steps + 1)
    celsius, practical = resample(depth, temperature, z), resample(depth, salinity, z)
    rho, sound = teos10(z, celsius, practical, latitude, longitude)

    def tabulated(values: NDArray[np.float64]) -> Property:
        if np.all(values == values[0]):
            return constant(values[0], dtype)
        return curve(z, values, dtype, uniform=True)

    return Water(
        rho=tabulated(rho) if density is None else constant(density, dtype),
        sound=tabulated(sound),
        celsius=tabulated(celsius),
        practical_salinity=tabulated(practical),
    )


def teos10(
    z: NDArray[np.float64],
    temperature: NDArray[np.float64],
    salinity: NDArray[np.float64],
    latitude: float,
    longitude: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Density and sound speed from depth, in-situ temperature and practical salinity.

    TEOS-10 works with absolute salinity and conservative temperature; both are derived here,
    with the pressure of the depth at this latitude (McDougall and Barker 2011).
    """
    import gsw

    pressure = gsw.p_from_z(-z, latitude)
    absolute = gsw.SA_from_SP(salinity, pressure, longitude, latitude)
    conservative = gsw.CT_from_t(absolute, temperature, pressure)
    return (
        gsw.rho(absolute, conservative, pressure),
        gsw.sound_speed(absolute, conservative, pressure),
    )
