"""The glider of the library against the steady glides that Leonard and Graver (2001) solve for."""

import numpy as np
import pytest

import craft
import seatrial as st

K_L, K_D0, K_D = 132.5, 2.15, 25.0


def attack(path):
    """Angle of attack of a steady glide along a path angle ξ, their equation for α_d(ξ), rad."""
    tangent = np.tan(path)
    root = np.sqrt(1.0 - 4.0 * K_D * K_D0 / (K_L * tangent) ** 2)
    return K_L / (2.0 * K_D) * tangent * (root - 1.0)


def speed(path, net_mass):
    """V from m_0 g = (−sin ξ (K_D0 + K_D α²) + cos ξ K_L α) V², m/s."""
    alpha = attack(path)
    force = -np.sin(path) * (K_D0 + K_D * alpha**2) + np.cos(path) * K_L * alpha
    return np.sqrt(net_mass * craft.G / force)


@pytest.fixture(scope="module")
def glides():
    """Path angle, angle of attack, speed and net mass of steady glides, down and up."""
    vehicle = st.load("slocum", st.Vehicle)
    buoyancy = vehicle.buoyancy.model_copy(update={"trim": None, "volume": 50.0 / craft.RHO})
    model = craft.compiled(vehicle.model_copy(update={"buoyancy": buoyancy}))
    pump = np.array([0.0474, 0.12, 0.24, -0.09, -0.0474])
    battery = np.array([0.1785, 0.2, 0.35, -0.25, -0.1785])
    orders = np.array([pump, battery, -battery, 0.0 * pump])
    velocity = np.zeros((6, len(pump)))
    velocity[0] = 0.3
    first = craft.state(
        model,
        np.array([0.0, 0.0, 1000.0])[:, None] * np.ones(len(pump)),
        (np.zeros(5), -0.4 * np.sign(pump), np.zeros(5)),
        velocity,
        orders,
    )
    _, _, attitude, moving, _ = craft.simulate(
        model, craft.calm(), first, 200.0, 0.25, orders, every=800
    )
    w, _, y, _ = attitude[-1]
    alpha = np.arctan2(moving[-1][2], moving[-1][0])
    return 2.0 * np.arctan2(y, w) - alpha, alpha, np.hypot(moving[-1][0], moving[-1][2]), pump


def test_it_glides_at_25_degrees_and_0_3_metres_per_second_as_published(glides):
    path, alpha, found, _ = glides
    assert np.degrees(path[[0, -1]]) == pytest.approx([-25.0, 25.0], abs=0.1)
    assert found[[0, -1]] == pytest.approx(0.3, rel=2e-3)
    assert np.degrees(alpha[0]) == pytest.approx(2.02, abs=0.01)


def test_every_steady_glide_has_the_attack_and_the_speed_of_the_analytic_solution(glides):
    path, alpha, found, pump = glides
    assert np.all(np.sign(path) == -np.sign(pump))
    assert np.ptp(np.abs(np.degrees(path))) > 5.0  # not one glide five times
    assert alpha == pytest.approx(attack(path), rel=2e-3)
    assert found == pytest.approx(speed(path, pump), rel=2e-3)


def test_no_glide_is_shallower_than_its_lift_and_drag_allow(glides):
    shallowest = np.arctan(2.0 * np.sqrt(K_D0 * K_D) / K_L)
    assert np.all(np.abs(glides[0]) > shallowest)
