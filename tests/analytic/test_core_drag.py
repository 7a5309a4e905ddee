"""Cross-flow drag and the prime system of coefficients, against integrals and figures by hand."""

import math

import numpy as np
import pytest

import craft
from seatrial.core.forces.crossflow import hoerner

RHO = craft.RHO
L, T, B, CD = 2.0, 0.3, 0.4, 0.9


def hull(strips=200, centre=0.0, **parts):
    described = {
        "length": L, "draught": T, "beam": B, "drag": CD, "strips": strips, "centre": centre,
    }  # fmt: skip
    return craft.compiled(
        craft.vehicle(
            length=L, hydrodynamics={"crossflow": described | parts, "rigid_body_coriolis": False}
        )
    )


def load(model, velocity):
    at = craft.state(model, (0, 0, 10), velocity=velocity)
    return craft.wrench(model, craft.calm(), at)


@pytest.mark.parametrize("v", [0.7, -0.7])
def test_pure_sway_drag_is_half_rho_cd_t_l_v_squared(v):
    expected = -0.5 * RHO * CD * T * L * v * abs(v)
    assert load(hull(), (0, v, 0, 0, 0, 0)) == pytest.approx([0, expected, 0, 0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("r", [0.4, -0.4])
def test_pure_yaw_moment_is_the_fourth_power_of_the_length_over_32(r):
    # 2 ∫₀^{L/2} x · (x r)² dx = r² L⁴ / 32; the midpoint rule over S strips gives 1 − 2/S² of it.
    expected = -0.5 * RHO * CD * T * L**4 / 32 * r * abs(r)
    for strips in (20, 200):
        found = load(hull(strips), (0, 0, 0, 0, 0, r))
        assert found[5] == pytest.approx(expected * (1 - 2 / strips**2), rel=1e-12)
        assert found[1] == pytest.approx(0.0, abs=1e-9)


def test_mixed_sway_and_yaw_match_the_integral():
    nu = (1.0, 0.3, 0, 0, 0, 0.5)
    x = np.linspace(-L / 2, L / 2, 200_001)
    local = 0.3 + 0.5 * x
    drag = -0.5 * RHO * CD * T * np.abs(local) * local
    expected = np.trapezoid(drag, x), np.trapezoid(x * drag, x)
    assert load(hull(), nu)[[1, 5]] == pytest.approx(expected, rel=1e-4)


def test_strips_off_the_origin_turn_a_swaying_hull():
    found = load(hull(centre=0.5), (0, 0.7, 0, 0, 0, 0))
    assert found[5] == pytest.approx(0.5 * found[1])


def test_heave_and_pitch_drag_have_the_signs_of_the_vertical_plane():
    model = hull(vertical_plane=True, centre=0.5)
    sinking = load(model, (0, 0, 0.6, 0, 0, 0))
    assert sinking[2] == pytest.approx(-0.5 * RHO * CD * B * L * 0.36)
    assert sinking[4] == pytest.approx(-0.5 * sinking[2])  # M = −x Z
    model = hull(vertical_plane=True)
    for q in (0.5, -0.5):
        pitching = load(model, (0, 0, 0, 0, q, 0))
        expected = -0.5 * RHO * CD * B * L**4 / 32 * q * abs(q)
        assert pitching[4] == pytest.approx(expected, rel=1e-4)
        assert pitching[2] == pytest.approx(0.0, abs=1e-9)


def test_cross_flow_drag_always_takes_energy_away():
    model = hull(vertical_plane=True, centre=0.3)
    rng = np.random.default_rng(2)
    nu = rng.normal(size=(6, 200))
    at = craft.state(model, np.full((3, 200), 10.0), np.zeros((3, 200)), nu)
    assert (np.sum(nu * craft.wrench(model, craft.calm(), at), axis=0) <= 0).all()


@pytest.mark.parametrize("centre", [0.0, 0.3])
def test_fitted_form_equals_the_strips_in_pure_motions_and_stays_near_in_mixed_ones(centre):
    strips, fitted = (
        hull(centre=centre, vertical_plane=True, fitted=f) for f in (False, True)
    )  # fmt: skip
    for velocity in np.eye(6)[[1, 2, 4, 5]] * 0.8:
        exact = load(strips, velocity)
        assert load(fitted, velocity) == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())
    angle = np.linspace(0, 2 * math.pi, 361)
    nu = np.zeros((6, 361))
    half = L / 2 + centre
    nu[1] = nu[2] = np.cos(angle)
    nu[5] = nu[4] = np.sin(angle) / half
    at = [craft.state(m, np.full((3, 361), 10.0), np.zeros((3, 361)), nu) for m in (strips, fitted)]
    exact, found = (
        craft.wrench(m, craft.calm(), s) for m, s in zip((strips, fitted), at, strict=True)
    )
    error = np.abs(found - exact).max(axis=1) / np.abs(exact).max(axis=1).clip(1e-12)
    # Four products cannot follow |v + x r|(v + x r) where the pivot lies inside the hull.
    assert (error[[1, 2]] < 0.13).all()
    assert (error[[4, 5]] < 0.22).all()


def test_hoerners_curve_runs_from_a_thin_plate_to_a_flat_bottom():
    assert hoerner(0.001, 1.0) == 1.97
    assert hoerner(100.0, 1.0) == 0.56
    values = [hoerner(b, 1.0) for b in np.linspace(0.02, 8.0, 100)]
    assert (np.diff(values) <= 0).all()
    assert hoerner(2 * 0.99, 1.0) == pytest.approx(0.83)


def prime(coefficients, speed, about_speed=0.0, length=3.0):
    return craft.compiled(
        craft.vehicle(
            hydrodynamics={
                "coefficients": coefficients,
                "nondimensional": {"length": length, "speed": speed},
                "about_speed": about_speed,
                "rigid_body_coriolis": False,
                "added_mass_coriolis": False,
            },
            actuators=[{"kind": "fin", "name": "rudder", "symbol": "delta", "angle_limit": 0.6}],
        )
    )


PRIMES = {"X_u": -0.02, "X_u_u": -0.01, "X_vr": 0.3, "Y_v": -0.4, "Y_r": 0.07, "Y_v_av": -1.1,
          "Y_vvr": 0.9, "Y_delta": 0.05, "N_v": -0.1, "N_r": -0.06, "N_rrr": -0.02,
          "N_v_v_delta": 0.03, "K_p": -0.01, "N_0": 0.001}  # fmt: skip
NU = np.array([1.5, 0.2, 0.0, 0.1, 0.0, 0.3])
DELTA = 0.2


def by_hand(U, about=0.0):
    """Every term written out with the ρ, L and U of SNAME's prime system."""
    _, v, _, p, _, r = NU
    u = NU[0] - about
    L = 3.0
    force, moment = 0.5 * RHO * U**2 * L**2, 0.5 * RHO * U**2 * L**3
    u_, v_, p_, r_ = u / U, v / U, p * L / U, r * L / U
    X = -0.02 * u_ - 0.01 * u_ * u_ + 0.3 * v_ * r_
    Y = -0.4 * v_ + 0.07 * r_ - 1.1 * v_ * abs(v_) + 0.9 * v_ * v_ * r_ + 0.05 * DELTA
    N = -0.1 * v_ - 0.06 * r_ - 0.02 * r_**3 + 0.03 * v_ * v_ * DELTA + 0.001
    return np.array([force * X, force * Y, 0.0, moment * -0.01 * p_, 0.0, moment * N])


@pytest.mark.parametrize("about", [0.0, 1.2])
@pytest.mark.parametrize("speed", [2.0, "instantaneous"])
def test_prime_coefficients_become_the_forces_worked_out_by_hand(speed, about):
    model = prime(PRIMES, speed, about)
    U = math.sqrt(NU[0] ** 2 + NU[1] ** 2) if speed == "instantaneous" else speed
    at = craft.state(model, (0, 0, 10), velocity=NU, actuators=(DELTA,))
    found = craft.wrench(model, craft.calm(), at)
    assert found == pytest.approx(by_hand(U, about), rel=1e-9, abs=1e-9)


def test_prime_acceleration_terms_are_masses_over_half_rho_l_cubed():
    model = prime(
        {"Y_delta": 0.05, "X_ud": -0.001, "Y_vd": -0.01, "Y_rd": -0.002, "N_vd": -0.002,
         "N_rd": -0.003}, 2.0,
    )  # fmt: skip
    mass = np.asarray(model.inertia.added_mass)
    unit = 0.5 * RHO * 3.0**3
    expected = np.zeros((6, 6))
    expected[0, 0], expected[1, 1] = 0.001 * unit, 0.01 * unit
    expected[1, 5] = expected[5, 1] = 0.002 * unit * 3.0
    expected[5, 5] = 0.003 * unit * 9.0
    assert mass == pytest.approx(expected)


def test_instantaneous_prime_forces_are_finite_at_rest():
    model = prime(PRIMES | {"Y_vvv": -3.0}, "instantaneous")
    found = craft.wrench(model, craft.calm(), craft.state(model, (0, 0, 10), actuators=(0.2,)))
    assert np.abs(found).max() < 1e-6
