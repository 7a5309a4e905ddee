"""Isotropic turbulence: a divergence-free sum of random Fourier modes (Kraichnan 1970).

    u(x, t) = Σ a [ e₁ cos θ + e₂ sin θ ],  θ = k · x − ω t + ε,  e₁, e₂, k mutually orthogonal

so that every mode is divergence-free by itself and has the kinetic energy a²/2 everywhere. The
energies follow the von Kármán–Pao spectrum (Pope 2000, section 6.5; Pao 1965)

    E(k) = C ε^(2/3) k^(−5/3) [ (kL)² / (1 + (kL)²) ]^(17/6) exp(−(3/2) C (k η)^(4/3))

with C = 1.5, dissipation rate ε, outer length L and the Kolmogorov length η = (ν³/ε)^(1/4). Below
waves that do not break, ε between 1e-9 and 1e-5 W/kg is typical; under breaking waves it is higher
(Drennan, Donelan, Terray and Katsaros 1996).

Assumption: the eddies are carried by the mean current (the frozen part) and each mode turns over
with its own random frequency of standard deviation √(k³ E(k)), so that a body that drifts with
the water feels a flow that changes in time too.
"""

import math
from itertools import pairwise
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.ocean.blocks import in_blocks, sums
from seatrial.ocean.integrals import integral
from seatrial.pytree import constant, pytree
from seatrial.seeding import generator
from seatrial.spatial.trig import sincos_of_column, wrap
from seatrial.spatial.vectors import Vec3

Array = NDArray[np.float64]

KOLMOGOROV_CONSTANT = 1.5
VISCOSITY = 1.35e-6
"""Kinematic viscosity of sea water at 10 °C, m²/s (ITTC 7.5-02-01-03)."""

LARGEST_SCALE = 10.0
"""The modes begin at k = 1 / (LARGEST_SCALE L), below which less than 0.1 % of the energy lies."""


@pytree
class Turbulence:
    """Random Fourier modes; the mode axis is the last of the vectors."""

    wavevector: jax.Array
    """(3, K) rad/m."""
    cosine: jax.Array
    """(3, K) velocity in phase, m/s."""
    sine: jax.Array
    """(3, K) velocity a quarter turn later, m/s."""
    omega: jax.Array
    """(K,) rad/s, float64."""
    phase: jax.Array
    """(K,) rad."""


def sample(turbulence: Turbulence, position: Vec3, t: jax.Array | float) -> Vec3:
    """Turbulent velocity of the water, NED, m/s."""
    dtype = turbulence.phase.dtype
    angle = wrap(turbulence.phase.astype(turbulence.omega.dtype) - turbulence.omega * t).astype(
        dtype
    )

    def at(x: jax.Array, y: jax.Array, z: jax.Array) -> Vec3:
        column = (-1, *(1,) * x.ndim)
        kx, ky, kz = (k.reshape(column) for k in turbulence.wavevector)
        sin, cos = sincos_of_column(angle.reshape(column) + kx * x + ky * y + kz * z)
        north, east, down = sums(turbulence.cosine, cos) + sums(turbulence.sine, sin)
        return north, east, down

    return in_blocks(at, *position)


def energy_spectrum(k: Array, dissipation: float, outer_length: float) -> Array:
    """Von Kármán–Pao E(k), m³/s²; its integral is the kinetic energy per unit mass."""
    kl2 = (k * outer_length) ** 2
    eta = (VISCOSITY**3 / dissipation) ** 0.25
    return np.asarray(
        KOLMOGOROV_CONSTANT
        * dissipation ** (2.0 / 3.0)
        * k ** (-5.0 / 3.0)
        * (kl2 / (1.0 + kl2)) ** (17.0 / 6.0)
        * np.exp(-1.5 * KOLMOGOROV_CONSTANT * (k * eta) ** (4.0 / 3.0))
    )


def synthesise_turbulence(
    dissipation: float,
    outer_length: float,
    smallest_length: float,
    modes: int,
    drift: tuple[float, float],
    seed: int,
    dtype: Any,
) -> Turbulence:
    """Modes in shells of equal ratio between the outer length and the smallest length.

    Eddies smaller than 2π/k = `smallest_length` are left out: a vehicle averages over them. Each
    shell keeps the energy of its band, so the variance of every component is two thirds of the
    integral of E(k) over the band. `drift` is the velocity (north, east) that carries the eddies.
    """
    rng = generator(seed, "turbulence")
    edges = np.geomspace(
        1.0 / (LARGEST_SCALE * outer_length), 2.0 * math.pi / smallest_length, modes + 1
    )
    # random orthogonal triads: wave vector, and the two directions of its velocity
    triad, _ = np.linalg.qr(rng.standard_normal((modes, 3, 3)))
    triad = triad * rng.choice((-1.0, 1.0), (modes, 1, 3))
    phase = rng.uniform(0.0, 2.0 * math.pi, modes)
    k = edges[:-1] * (edges[1:] / edges[:-1]) ** rng.uniform(0.0, 1.0, modes)
    energy = [band_energy(a, b, dissipation, outer_length) for a, b in pairwise(edges)]
    speed = np.sqrt(2.0 * np.array(energy))
    turnover = np.sqrt(k**3 * energy_spectrum(k, dissipation, outer_length))
    wavevector = k * triad[:, :, 0].T
    omega = turnover * rng.standard_normal(modes)
    omega = omega + wavevector[0] * drift[0] + wavevector[1] * drift[1]
    return Turbulence(
        wavevector=constant(wavevector, dtype),
        cosine=constant(speed * triad[:, :, 1].T, dtype),
        sine=constant(speed * triad[:, :, 2].T, dtype),
        omega=constant(omega, np.float64),
        phase=constant(phase, dtype),
    )


def band_energy(lowest: float, highest: float, dissipation: float, outer_length: float) -> float:
    """Integral of E(k) between two wavenumbers, m²/s²."""
    log_k = np.linspace(math.log(lowest), math.log(highest), 201)
    k = np.exp(log_k)
    return integral(energy_spectrum(k, dissipation, outer_length) * k, log_k)
