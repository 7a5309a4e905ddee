"""Added mass of spheres and spheroids against the integrals of potential theory."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import craft
from seatrial.hull.added_mass import spheroid, spheroid_factors


def greens_integrals(a, b):
    """Green's α₀ and β₀ of a spheroid by quadrature: a b² ∫ dλ / ((s² + λ) Δ) (Lamb, 114)."""

    def integral(axis):
        # λ = b² tan²θ turns the infinite range into a finite one
        def integrand(angle):
            grown = (b * math.tan(angle)) ** 2
            delta = math.sqrt(a * a + grown) * (b * b + grown)
            step = 2 * b * b * math.tan(angle) / math.cos(angle) ** 2
            return a * b * b * step / ((axis * axis + grown) * delta)

        return quad(integrand, 0.0, math.pi / 2, epsabs=1e-13, epsrel=1e-12, limit=200)[0]

    return integral(a), integral(b)


@pytest.mark.parametrize("ratio", [1.00002, 1.01, 1.5, 5.0, 10.0])
def test_spheroid_added_mass_is_that_of_greens_integrals(ratio):
    a, b = 0.5 * ratio, 0.5
    alpha, beta = greens_integrals(a, b)
    k1, k2, turning = spheroid_factors(2 * a, 2 * b)
    assert k1 == pytest.approx(alpha / (2 - alpha), rel=1e-7)
    assert k2 == pytest.approx(beta / (2 - beta), rel=1e-7)
    # Lamb (1932), 115: inertia ⅕ m (a² − b²)² (β − α) / (2 (a² − b²) − (a² + b²)(β − α))
    gap = a * a - b * b
    inertia = gap**2 * (beta - alpha) / (2 * gap - (a * a + b * b) * (beta - alpha))
    assert turning * (a * a + b * b) == pytest.approx(inertia, rel=1e-4, abs=1e-12)


def test_spheroid_factors_are_imlays_at_a_fineness_of_five():
    k1, k2, _ = spheroid_factors(5.0, 1.0)
    assert (k1, k2) == (pytest.approx(0.0591, abs=5e-5), pytest.approx(0.8943, abs=5e-4))


def test_sphere_adds_half_its_displaced_mass_in_every_direction_and_no_inertia():
    half = 0.5 * craft.RHO * math.pi / 6 * 0.8**3
    assert spheroid(0.8, 0.8, craft.RHO) == pytest.approx(
        np.diag([half, half, half, 0.0, 0.0, 0.0]), abs=1e-9 * half
    )


def test_described_spheroid_is_felt_as_added_mass():
    shape = {"length": 2.0, "diameter": 0.4}
    model = craft.compiled(craft.vehicle(hydrodynamics={"added_mass_spheroid": shape}))
    assert np.asarray(model.inertia.added_mass) == pytest.approx(spheroid(2.0, 0.4, craft.RHO))
