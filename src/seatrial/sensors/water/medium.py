"""What the water does at a sensor: its motion, its pressure, what it does to sound and current."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.ocean import Ocean, Water, water
from seatrial.ocean.curves import Curve, evaluate
from seatrial.ocean.motion import motion
from seatrial.pytree import constant
from seatrial.spatial.vectors import Scalar, Vec3

Array = NDArray[np.float64]

ATMOSPHERE = 101_325.0
"""Pressure of the air at the mean level, Pa (ISO 2533)."""

DECIBAR = 1e4
"""Pa; oceanographers count pressure from the surface in decibars."""

STANDARD_CONDUCTIVITY = 4.2914
"""Of water of salinity 35 at 15 °C (IPTS-68) and the pressure of the air, S/m (Culkin and Smith
1980)."""

Column = jax.Array | Curve
"""Weight ρ g of a uniform water in N/m³, or its hydrostatic pressure in Pa over depth."""


class Felt(NamedTuple):
    """The water at a point."""

    submerged: jax.Array
    """Whether the point is under the surface with its waves."""
    velocity: Vec3
    """Of the water with current, turbulence and waves, NED, m/s."""
    wave_pressure: jax.Array
    """Dynamic pressure of the waves, Pa."""


def feel(ocean: Ocean, place: Vec3, t: jax.Array) -> Felt:
    """The water at a point; what a compiled program does not use of it costs nothing."""
    x, y, z = (jnp.asarray(c) for c in place)
    still = jnp.zeros_like(z)
    found = motion(ocean, (x, y, z), t, water.density(ocean.water, z))
    velocity = (still, still, still) if found.velocity is None else found.velocity
    return Felt(z + found.elevation > 0.0, velocity, still + found.pressure)


def water_pressure(column: Column, felt: Felt, z: Scalar) -> jax.Array:
    """Pressure of the water above that of the air, Pa: hydrostatic plus dynamic, 0 in the air.

    Between mean level and crest both parts continue with the values of the mean level, so that
    their sum ρ g (z + ζ) vanishes at the surface.
    """
    total = hydrostatic(column, z) + felt.wave_pressure
    return jnp.where(felt.submerged, jnp.maximum(total, 0.0), 0.0)


def hydrostatic(column: Column, z: Scalar) -> jax.Array:
    """∫ρ g dz from the mean level down to z, Pa; beyond the table the last density goes on."""
    if not isinstance(column, Curve):
        return column * z
    beyond = z - jnp.clip(z, 0.0, column.knots[-1].astype(column.values.dtype))
    weight = jnp.where(beyond < 0.0, column.slopes[0], column.slopes[-1])
    return evaluate(column, z) + weight * beyond


def column_of(water: Water, dtype: Any) -> Column:
    """Integrate the density profile over depth, once, in double precision."""
    rho = water.rho
    if not isinstance(rho, Curve):
        return constant(GRAVITY * np.float64(rho), dtype)
    z, density, slope = (np.asarray(a, np.float64) for a in (rho.knots, rho.values, rho.slopes))
    h = np.diff(z)
    # the exact integral of the cubic that the run interpolates the density with
    cells = h * (0.5 * (density[1:] + density[:-1]) + h * (slope[:-1] - slope[1:]) / 12.0)
    pressure = GRAVITY * np.concatenate([[0.0], np.cumsum(cells)])
    return Curve(
        knots=rho.knots,
        values=constant(pressure, dtype),
        slopes=constant(GRAVITY * density, dtype),
        uniform=rho.uniform,
    )


def absorption(frequency: float, temperature: Array, salinity: Array, depth: Array) -> Array:
    """Absorption of sound in sea water of pH 8, dB/m (Francois and Garrison 1982, part II).

    Frequency in Hz, temperature in °C, depth in m. The sum of the relaxations of boric acid and of
    magnesium sulphate and of the viscosity of water, stated for 0.4 … 1000 kHz.
    """
    t, s, f = np.asarray(temperature), np.asarray(salinity), frequency * 1e-3
    kelvin = 273.0 + t
    c = 1412.0 + 3.21 * t + 1.19 * s + 0.0167 * depth
    boric = 8.86 / c * 10.0 ** (0.78 * 8.0 - 5.0)
    boric_f = 2.8 * np.sqrt(s / 35.0) * 10.0 ** (4.0 - 1245.0 / kelvin)
    sulphate = 21.44 * s / c * (1.0 + 0.025 * t)
    sulphate = sulphate * (1.0 - 1.37e-4 * depth + 6.2e-9 * depth**2)
    sulphate_f = 8.17 * 10.0 ** (8.0 - 1990.0 / kelvin) / (1.0 + 0.0018 * (s - 35.0))
    viscous = np.where(
        t <= 20.0,
        4.937e-4 - 2.59e-5 * t + 9.11e-7 * t**2 - 1.50e-8 * t**3,
        3.964e-4 - 1.146e-5 * t + 1.45e-7 * t**2 - 6.5e-10 * t**3,
    ) * (1.0 - 3.83e-5 * depth + 4.9e-10 * depth**2)
    per_kilometre = (
        boric * boric_f * f**2 / (f**2 + boric_f**2)
        + sulphate * sulphate_f * f**2 / (f**2 + sulphate_f**2)
        + viscous * f**2
    )
    return np.asarray(per_kilometre * 1e-3)


def practical_salinity(conductivity: Scalar, celsius: Scalar, pressure: Scalar) -> jax.Array:
    """Practical salinity from S/m, °C (ITS-90) and Pa above the air's (PSS-78, UNESCO 1983)."""
    t, p = 1.00024 * celsius, pressure / DECIBAR
    ratio = conductivity / STANDARD_CONDUCTIVITY
    rt = 0.6766097 + t * (2.00564e-2 + t * (1.104259e-4 + t * (-6.9698e-7 + t * 1.0031e-9)))
    rp = 1.0 + p * (2.070e-5 + p * (-6.370e-10 + p * 3.989e-15)) / (
        1.0 + t * (3.426e-2 + t * 4.464e-4) + (4.215e-1 - 3.107e-3 * t) * ratio
    )
    root = jnp.sqrt(jnp.maximum(ratio / (rp * rt), 0.0))

    def polynomial(coefficients: tuple[float, ...]) -> jax.Array:
        value = jnp.full_like(root, coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = value * root + c
        return value

    at_15 = polynomial((0.0080, -0.1692, 25.3851, 14.0941, -7.0261, 2.7081))
    per_degree = polynomial((0.0005, -0.0056, -0.0066, -0.0375, 0.0636, -0.0144))
    return at_15 + (t - 15.0) / (1.0 + 0.0162 * (t - 15.0)) * per_degree


def mackenzie(celsius: Scalar, salinity: Scalar, depth: Scalar) -> Scalar:
    """Sound speed from °C, practical salinity and depth in m, m/s (Mackenzie 1981)."""
    t, s, d = celsius, salinity - 35.0, depth
    return (
        1448.96
        + t * (4.591 + t * (-5.304e-2 + t * 2.374e-4))
        + 1.340 * s
        + d * (1.630e-2 + 1.675e-7 * d)
        - 1.025e-2 * t * s
        - 7.139e-13 * t * d * d * d
    )
