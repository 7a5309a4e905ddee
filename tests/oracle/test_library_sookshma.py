"""Sookshma against its makers' files: HydRA's matrices, and their linear model integrated here.

R. Sharma's dissertation (2025) writes M ν̇ = D ν + b δ for surge, sway and yaw without Coriolis
terms, made dimensional once and for all with 0.5 m/s, surge held by X_u (u − 0.5 m/s), and a rudder
with a lag of 0.1 s and a rate limit of 1.0 that acts on radians.
"""

import math

import numpy as np
import pytest

import craft
from seatrial.spec.loading import load
from seatrial.spec.vehicle import SurfaceBuoyancy, Vehicle

RHO, U = 1025.0, 0.5
STIFFNESS = {"heave": 1570.4274596906203, "coupling": 88.15351056571667}
STIFFNESS |= {"roll": 3.8874572938190495, "pitch": 73.17764740196694}
ADDED = {"u": 0.88225, "v": 4.72269, "w": 23.68285, "vr": 0.39050, "r": 0.21685}
"""HydRA, zero frequency, kg and kg m²; what a change of the origin's height leaves alone."""
MASS, X_G, GYRATION = 7.65, 0.0289415958, 0.25


@pytest.fixture(scope="module")
def sookshma():
    return craft.compiled(load("sookshma", Vehicle))


def test_it_is_the_surface_vessel_of_its_makers():
    vehicle = load("sookshma", Vehicle)
    assert isinstance(vehicle.buoyancy, SurfaceBuoyancy)
    rudder = vehicle.actuators[1]
    assert (rudder.rate_limit, rudder.time_constant) == (1.0, 0.1)
    assert rudder.angle_limit == pytest.approx(math.radians(35.0))


def test_stiffness_is_that_of_hydra(sookshma):
    """Forces after a small heave, roll and pitch, about the waterline under the makers' origin."""
    e = 1e-5
    moved = {"heave": (2, e), "roll": (3, e), "pitch": (4, e)}
    loads = {}
    for name, (i, by) in moved.items():
        place = np.zeros(6)
        place[i] = by
        at = craft.state(sookshma, position=place[:3], euler=place[3:])
        loads[name] = -craft.wrench(sookshma, craft.calm(), at) / by
    assert loads["heave"][2] == pytest.approx(STIFFNESS["heave"], rel=2e-3)
    assert abs(loads["heave"][4]) == pytest.approx(STIFFNESS["coupling"], rel=2e-3)
    assert abs(loads["pitch"][2]) == pytest.approx(STIFFNESS["coupling"], rel=2e-3)
    assert loads["roll"][3] == pytest.approx(STIFFNESS["roll"], rel=2e-3)
    assert loads["pitch"][4] == pytest.approx(STIFFNESS["pitch"], rel=2e-3)


def test_added_mass_is_that_of_hydra(sookshma):
    found = np.asarray(sookshma.inertia.added_mass)
    assert np.diag(found)[:3] == pytest.approx([ADDED[k] for k in "uvw"], rel=1e-4)
    assert found[5, 5] == pytest.approx(ADDED["r"], rel=1e-4)
    assert found[1, 5] == found[5, 1] == pytest.approx(ADDED["vr"], rel=1e-4)
    assert np.allclose(found, found.T)
    assert np.all(np.linalg.eigvalsh(found) > 0.0)


def test_heave_swings_with_the_period_that_stiffness_and_added_mass_give(sookshma):
    first = craft.state(sookshma, position=(0, 0, 0.005))
    time, position, *_ = craft.simulate(sookshma, craft.calm(), first, 3.0, 0.01, (0.0, 0.0))
    z = position[:, 2]
    crossing = time[1:][(z[:-1] > 0) & (z[1:] <= 0)][0]
    natural = math.sqrt(STIFFNESS["heave"] / (MASS + ADDED["w"]))
    # ζ = 0.3: the first zero of exp(−ζωt) (cos ω_d t + ζ/√(1−ζ²) sin ω_d t)
    damped = natural * math.sqrt(1 - 0.3**2)
    expected = (math.pi - math.acos(0.3)) / damped
    assert crossing == pytest.approx(expected, rel=0.05)  # pitch takes part in it


def derivatives():
    """M⁻¹ D and M⁻¹ b of sway and yaw, dimensional at 0.5 m/s (L = 1 m)."""
    inertia = np.array(
        [
            [MASS + ADDED["v"], MASS * X_G + ADDED["vr"]],
            [MASS * X_G + ADDED["vr"], MASS * (GYRATION**2 + X_G**2) + ADDED["r"]],
        ]
    )
    unit = 0.5 * RHO
    d = (
        np.array(
            [
                [-0.010659050686665396, 0.0017799664706713543],
                [-0.0006242757399292063, -0.001889456681929024],
            ]
        )
        * unit
        * U
    )
    b = np.array([0.02100751285923063, -0.006813248905845932]) * unit * U**2
    return np.linalg.solve(inertia, d), np.linalg.solve(inertia, b)


def published(helm, seconds, h=0.01):
    """(time, u v r ψ x y δ) of the makers' linear model, by RK4; the rudder turns against helm."""
    a, b = derivatives()
    surge = 0.5 * RHO * -0.01 * U / (MASS + ADDED["u"])

    def rate(s):
        u, v, r, heading, _, _, delta = s
        v_rate, r_rate = a @ [v, r] + b * delta
        throw = np.clip((-helm - delta) / 0.1, -1.0, 1.0)
        c, q = math.cos(heading), math.sin(heading)
        return np.array([surge * (u - U), v_rate, r_rate, r, u * c - v * q, u * q + v * c, throw])

    track = [np.array([U, 0, 0, 0, 0, 0, 0.0])]
    for _ in range(round(seconds / h)):
        s = track[-1]
        k1 = rate(s)
        k2 = rate(s + h / 2 * k1)
        k3 = rate(s + h / 2 * k2)
        k4 = rate(s + h * k3)
        track.append(s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return h * np.arange(len(track)), np.array(track)


def sailed(model, helm, seconds):
    rev = 586.0 / 60.0
    first = craft.state(model, velocity=(U, 0, 0, 0, 0, 0), actuators=(rev, 0.0))
    return craft.simulate(model, craft.calm(), first, seconds, 0.02, (rev, -helm), every=5)


def heading_of(attitude):
    w, x, y, z = attitude.T
    return np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def test_with_little_helm_it_turns_as_in_its_makers_simulator(sookshma):
    """3°: the speed, by which the coefficients are made dimensional here, stays 0.5 m/s."""
    helm = math.radians(3.0)
    time, position, attitude, velocity, states = sailed(sookshma, helm, 30.0)
    t, track = published(helm, 30.0)

    def theirs(column):
        return np.interp(time, t, track[:, column])

    turned = theirs(3)[-1]
    assert turned > 2.5
    np.testing.assert_allclose(heading_of(attitude), theirs(3), atol=0.01 * turned)
    np.testing.assert_allclose(velocity[:, 5], theirs(2), atol=0.01 * theirs(2)[-1])
    np.testing.assert_allclose(velocity[:, 1], theirs(1), atol=0.02 * abs(theirs(1)[-1]))
    np.testing.assert_allclose(position[:, 0], theirs(4), atol=0.12)
    np.testing.assert_allclose(position[:, 1], theirs(5), atol=0.12)
    np.testing.assert_allclose(states[:, 1], theirs(6), atol=math.radians(0.3))


def test_steady_turn_of_the_linear_model_scales_with_the_speed_of_the_moment(sookshma):
    """r' = −(Y_v N_δ − N_v Y_δ)/(Y_v N_r − Y_r N_v) δ at any helm, with r' = r L/U; the makers'
    own circle at 15° of helm is 2.0 L wide instead of 1.89 L, since they keep 0.5 m/s in it.
    """
    det = 0.010659050686665396 * 0.001889456681929024
    det += 0.0017799664706713543 * 0.0006242757399292063
    gain = 0.010659050686665396 * 0.006813248905845932
    gain += 0.0006242757399292063 * 0.02100751285923063
    for degrees in (5.0, 15.0, 35.0):
        helm = math.radians(degrees)
        velocity = sailed(sookshma, helm, 40.0)[3]
        speed = math.hypot(*velocity[-1, :2])
        assert velocity[-1, 5] / speed == pytest.approx(gain / det * helm, rel=2e-3)
    _, track = published(math.radians(15.0), 40.0)
    assert 2.0 * math.hypot(*track[-1, :2]) / track[-1, 2] == pytest.approx(2.0, abs=0.01)


def test_rudder_goes_hard_over_in_less_than_a_second(sookshma):
    """35° at 1 rad/s and the last of it by the lag: 0.61 s + 0.1 s ln …, not 35 s."""
    helm = math.radians(35.0)
    time, _, _, _, states = sailed(sookshma, helm, 2.0)
    assert np.interp(0.99 * helm, -states[:, 1], time) < 1.0
    assert np.abs(np.diff(states[:, 1])).max() <= 0.1 * (1.0 + 1e-9)


def test_propeller_holds_half_a_metre_per_second():
    vehicle = load("sookshma", Vehicle)
    thrust = vehicle.actuators[0].thrust
    n = vehicle.manoeuvring.ahead["propeller_rpm"] / 60
    kt0, slope = thrust.kt.line
    pull = (1 - thrust.thrust_deduction) * RHO * thrust.diameter**4
    pull *= kt0 * n**2 + slope * n * U / thrust.diameter
    assert pull == pytest.approx(0.5 * RHO * 0.01 * U**2, rel=0.01)
