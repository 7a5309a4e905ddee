"""Wind over the sea: a mean with a boundary-layer profile, and gusts from a named spectrum.

Profiles of the mean at height H = −z above the mean level (DNV-RP-C205):

    log    U(H) = U₁₀ ln(H / z₀) / ln(10 / z₀)     roughness length z₀
    power  U(H) = U₁₀ (H / 10)^α                   exponent α

Gusts blow along the mean direction. They are a sum of harmonics whose variance follows the
spectrum at 10 m, carried along by the mean wind (Taylor's frozen turbulence), so that a vehicle
downwind feels a gust later.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.ocean.blocks import in_blocks
from seatrial.ocean.integrals import integral
from seatrial.pytree import constant, pytree, static
from seatrial.seeding import generator
from seatrial.spatial.trig import sincos, wrap
from seatrial.spatial.vectors import Vec3

Array = NDArray[np.float64]

REFERENCE_HEIGHT = 10.0
"""Height to which the mean and the gusts refer, m."""

LOWEST_HEIGHT = 0.1
"""The profile is held constant below this height, m: both laws fail inside the wave crests."""


LOWEST_FREQUENCY = 1.0 / 600.0
"""Hz. The NORSOK spectrum is stated for 1/600 … 0.5 Hz; slower changes belong to the mean."""
HIGHEST_FREQUENCY = 0.5


@pytree
class Gusts:
    """Harmonics of the along-wind speed."""

    amplitude: jax.Array
    """(K,) m/s."""
    omega: jax.Array
    """(K,) rad/s, float64."""
    phase: jax.Array
    """(K,) rad."""


@pytree
class Wind:
    """Motion of the air."""

    speed: jax.Array
    """Mean at 10 m, m/s."""
    towards: jax.Array
    """Azimuth towards which the air moves, rad."""
    shape: jax.Array
    """Roughness length in m for `log`, exponent for `power`."""
    gusts: Gusts | None = None
    profile: str = static(default="log")
    """`log` or `power`."""


def sample(wind: Wind, position: Vec3, t: jax.Array | float) -> Vec3:
    """Velocity of the air, NED, m/s."""
    sin, cos = sincos(wind.towards)
    height = jnp.maximum(-jnp.asarray(position[2]), LOWEST_HEIGHT)
    if wind.profile == "log":
        factor = jnp.log(height / wind.shape) / jnp.log(REFERENCE_HEIGHT / wind.shape)
    else:
        factor = (height / REFERENCE_HEIGHT) ** wind.shape
    speed = wind.speed * factor
    if wind.gusts is not None:
        downwind = position[0] * cos + position[1] * sin
        speed = speed + _gust(wind.gusts, downwind / wind.speed, t)
    return speed * cos, speed * sin, jnp.zeros_like(speed)


def _gust(gusts: Gusts, delay: jax.Array, t: jax.Array | float) -> jax.Array:
    """Gust at points that the mean wind reaches `delay` seconds after the datum."""
    angle = wrap(gusts.omega * t + gusts.phase.astype(gusts.omega.dtype))
    now = angle.astype(gusts.amplitude.dtype)
    omega = gusts.omega.astype(gusts.amplitude.dtype)

    def at(delay: jax.Array) -> jax.Array:
        column = (-1, *(1,) * delay.ndim)
        _, cos = sincos(now.reshape(column) - omega.reshape(column) * delay)
        return jnp.sum(gusts.amplitude.reshape(column) * cos, axis=0)

    return in_blocks(at, delay)


def norsok(frequency: Array, speed: float) -> Array:
    """NORSOK (Frøya) density at 10 m for the one-hour mean speed at 10 m, m²/s² per Hz.

    S(f) = 320 (U/10)² / (1 + F^n)^(5/3n), F = 172 f (U/10)^(−3/4), n = 0.468
    (NORSOK N-003; DNV-RP-C205; Andersen and Løvseth 2006).
    """
    n = 0.468
    reduced = 172.0 * frequency * (speed / 10.0) ** -0.75
    density: Array = 320.0 * (speed / 10.0) ** 2 / (1.0 + reduced**n) ** (5.0 / (3.0 * n))
    return density


def davenport(frequency: Array, speed: float, drag: float = 0.002) -> Array:
    """Davenport (1961) density, m²/s² per Hz: f S = 4 κ U² x² / (1 + x²)^(4/3), x = 1200 f / U.

    κ is the surface drag coefficient, about 0.002 over a rough sea (DNV-RP-C205).
    """
    x = 1200.0 * frequency / speed
    density: Array = 4.0 * drag * speed**2 * x**2 / (frequency * (1.0 + x**2) ** (4.0 / 3.0))
    return density


SPECTRA: dict[str, Callable[[Array, float], Array]] = {"norsok": norsok, "davenport": davenport}


def synthesise_gusts(spectrum: str, speed: float, count: int, seed: int, dtype: Any) -> Gusts:
    """Harmonics in bands of equal ratio, each at a random place in its band, with its energy."""
    rng = generator(seed, "wind/gusts")
    edges = np.geomspace(LOWEST_FREQUENCY, HIGHEST_FREQUENCY, count + 1)
    phase = rng.uniform(0.0, 2.0 * math.pi, count)
    frequency = edges[:-1] * (edges[1:] / edges[:-1]) ** rng.uniform(0.0, 1.0, count)
    variance = [band_variance(spectrum, speed, a, b) for a, b in pairwise(edges)]
    return Gusts(
        amplitude=constant(np.sqrt(2.0 * np.array(variance)), dtype),
        omega=constant(2.0 * math.pi * frequency, np.float64),
        phase=constant(phase, dtype),
    )


def band_variance(spectrum: str, speed: float, lowest: float, highest: float) -> float:
    """Integral of the density between two frequencies, m²/s²."""
    log_f = np.linspace(math.log(lowest), math.log(highest), 201)
    f = np.exp(log_f)
    return integral(SPECTRA[spectrum](f, speed) * f, log_f)
