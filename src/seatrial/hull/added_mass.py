"""Added mass of bodies that potential theory solves in closed form."""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def spheroid_factors(length: float, diameter: float) -> tuple[float, float, float]:
    """Lamb's k-factors of a prolate spheroid: along its axis, across it, and in rotation.

    Lamb (1932), sections 114-115; Imlay (1961). With the eccentricity e of semi-axes a ≥ b:
    α₀ = 2(1 − e²)/e³ (½ ln((1 + e)/(1 − e)) − e), β₀ = 1/e² − (1 − e²)/(2e³) ln((1 + e)/(1 − e));
    k₁ = α₀/(2 − α₀), k₂ = β₀/(2 − β₀), and k′ is the factor of the moment of inertia of the
    displaced water.
    """
    a, b = 0.5 * length, 0.5 * diameter
    e2 = 1.0 - (b / a) ** 2
    if e2 < 1e-3:
        # The closed forms lose their digits near the sphere; their series there are
        # α₀ = 2/3 − 4/15 e², β₀ = 2/3 + 2/15 e² and k′ = e⁴/6.
        alpha, beta = 2.0 / 3.0 - 4.0 / 15.0 * e2, 2.0 / 3.0 + 2.0 / 15.0 * e2
        return alpha / (2.0 - alpha), beta / (2.0 - beta), e2 * e2 / 6.0
    e = math.sqrt(e2)
    logarithm = math.log((1.0 + e) / (1.0 - e))
    alpha = 2.0 * (1.0 - e2) / e**3 * (0.5 * logarithm - e)
    beta = 1.0 / e2 - (1.0 - e2) / (2.0 * e**3) * logarithm
    excess = beta - alpha
    rotation = e2**2 * excess / ((2.0 - e2) * (2.0 * e2 - (2.0 - e2) * excess))
    return alpha / (2.0 - alpha), beta / (2.0 - beta), rotation


def spheroid(length: float, diameter: float, density: float) -> Array:
    """(6, 6) added mass of a prolate spheroid about its own centre; roll has none."""
    a, b = 0.5 * length, 0.5 * diameter
    mass = 4.0 / 3.0 * math.pi * density * a * b * b
    k1, k2, rotation = spheroid_factors(length, diameter)
    inertia = rotation * mass * (a * a + b * b) / 5.0
    return np.diag([k1 * mass, k2 * mass, k2 * mass, 0.0, inertia, inertia])
