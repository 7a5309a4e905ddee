"""The beam of a circular piston, and what a flat plane sees of it.

At the angle ψ from its axis a piston of radius a in a stiff baffle radiates the intensity

    b(ψ) = (2 J₁(x) / x)²,  x = k a sin ψ                       (Kinsler et al. 2000, section 7.4)

of that on the axis, and nothing backwards. What it sends and hears again is weighted by b².

A plane whose normal is inclined by θ to the axis is cut in circles by the cones of incidence γ
around the normal. Round such a circle the beam gives G(γ, θ) = ∫ b² dφ. With b² = Σ βₗ Pₗ(cos ψ)
the addition theorem of the Legendre polynomials does the integral:

    G(γ, θ) = 2π Σ βₗ Pₗ(cos γ) Pₗ(cos θ)
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALF_POWER = 1.616339948310703
"""x at which b is one half."""


def piston(cosine: Array, ka: float) -> Array:
    """b at the cosine of ψ; 0 behind the baffle."""
    from scipy.special import j1  # takes a quarter of a second to import

    x = ka * np.sqrt(np.clip(1.0 - cosine**2, 0.0, None))
    small = x < 1e-6
    safe = np.where(small, 1.0, x)
    ratio = np.where(small, 1.0, 2.0 * j1(safe) / safe)
    return np.where(cosine > 0.0, ratio**2, 0.0)


@dataclass(frozen=True)
class Beam:
    """A piston as a plane sees it, tabulated over incidence γ and tilt θ."""

    step: float
    """Of both angles, rad."""
    circles: Array
    """(Θ, Γ) G, rad."""
    solid_angle: float
    """∫ b dΩ, sr: the share 1/(4π) of it is what the piston hears of noise from all around."""
    two_way: float
    """Ψ = ∫ b² dΩ, sr, the equivalent two-way beam angle."""


@lru_cache(maxsize=8)
def beam(width: float) -> Beam:
    """The beam between whose half-power points lies the angle `width`, rad.

    The step is a 32nd of it: what is then linear between incidences is right to 0.1 dB where the
    echo is 30 dB below its peak.
    """
    ka = HALF_POWER / math.sin(0.5 * width)
    # b² is the fourth power of a pattern that holds no degree beyond ka.
    degrees = math.ceil(4.0 * ka) + 30
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(2 * degrees)
    front, share = 0.5 * (nodes + 1.0), 0.5 * weights  # cos ψ from 0 to 1
    once = piston(front, ka)
    polynomials = _legendre(front, degrees)
    beta = (np.arange(degrees) + 0.5) * (polynomials @ (share * once**2))
    intervals = math.ceil(0.5 * math.pi / min(width / 32.0, math.radians(0.25)))
    angles = np.linspace(0.0, 0.5 * math.pi, intervals + 1)
    at = _legendre(np.cos(angles), degrees)
    return Beam(
        step=0.5 * math.pi / intervals,
        circles=np.maximum(2.0 * math.pi * (at.T * beta) @ at, 0.0),
        solid_angle=2.0 * math.pi * float(share @ once),
        two_way=4.0 * math.pi * float(beta[0]),
    )


def _legendre(x: Array, count: int) -> Array:
    """(count, X) P₀ … at x, by the recursion of Bonnet."""
    found = np.empty((count, len(x)))
    found[0], found[1] = 1.0, x
    for n in range(1, count - 1):
        found[n + 1] = ((2 * n + 1) * x * found[n] - n * found[n - 1]) / (n + 1)
    return found
