"""The Mariner from rest, nearly stopped, astern and braked: where her published series ends.

Chislett and Strøm-Tejsen's surge force on a straight course, with x = u/U₀ and a = 1 − 1/x, is
½ρL²U₀² x² (X_u a + X_uu a² + X_uuu a³). It is used as published down to x = 2/3; the numbers that
are expected below that are worked out here by hand.
"""

import numpy as np
import pytest
from test_library_mariner import MASS, SURGE, SWAY, U0, YAW, L, polynomial

import craft
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle

RHO = 1025.0
UNIT = 0.5 * RHO * L**2 * U0**2
"""Force of one non-dimensional unit at service speed, N."""
EDGE = U0 / 1.5
BOLLARD = 0.975 * EDGE / U0 * 1e-5 * (184 - 2 * 110 * 0.5 + 3 * 215 * 0.25) * UNIT
"""−x₁ P'(−½) at x₁ = 2/3, what the series implies at rest, less 2½ % by the rounded corner, N."""


@pytest.fixture(scope="module")
def mariner():
    return craft.compiled(load("mariner", Vehicle))


@pytest.fixture(scope="module")
def tug():
    """The ship with a tug at her stern that pulls ahead or astern, so that she can be stopped."""
    described = load("mariner", Vehicle).model_dump()
    described["actuators"] = [
        *described["actuators"],
        {
            "kind": "thruster",
            "name": "tug",
            "position": [-80.0, 0.0, 20.0],
            "thrust": {"model": "direct", "thrust_limits": [-1e7, 1e7]},
        },
    ]
    return craft.compiled(Vehicle.model_validate(described))


def surge_force(model, speeds):
    """On a straight course, N."""
    velocity = np.zeros((6, len(speeds)))
    velocity[0] = speeds
    at = craft.state(model, np.zeros((3, len(speeds))), np.zeros((3, len(speeds))), velocity)
    return craft.wrench(model, craft.calm(), at)[0]


def sail(model, speed, seconds, orders=(0.0,)):
    """Velocities every second."""
    first = craft.state(model, velocity=(speed, 0, 0, 0, 0, 0))
    time, _, _, velocity, _ = craft.simulate(
        model, craft.calm(), first, seconds, 0.25, orders, every=4
    )
    return time, velocity


@pytest.fixture(scope="module")
def cruise(mariner):
    """Where she settles with the rudder amidships; her propeller lets her turn a little, so this
    is 1.2 % less than 15 kn."""
    settled = sail(mariner, U0, 1500)[1][-1, 0]
    assert settled == pytest.approx(U0, rel=0.015)
    return settled


def test_the_published_series_is_untouched_wherever_manoeuvres_take_the_ship(mariner):
    """All that lies within (U₀ − u)/U ≤ ½ less the rounded edge, against the series itself."""
    rng = np.random.default_rng(1)
    u = rng.uniform(0.55, 1.3, 400) * U0
    v = rng.uniform(-0.3, 0.3, 400) * U0
    r = rng.uniform(-0.6, 0.6, 400) * U0 / L
    delta = rng.uniform(-0.7, 0.7, 400)
    speed = np.hypot(u, v)
    inside = u - U0 >= -0.5 * speed + 0.05 * U0
    assert 100 < inside.sum() < 400
    velocity = np.zeros((6, 400))
    velocity[0], velocity[1], velocity[5] = u, v, r
    at = craft.state(mariner, np.zeros((3, 400)), np.zeros((3, 400)), velocity, delta[None])
    found = craft.wrench(mariner, craft.calm(), at)[[0, 1, 5]]
    values = {"u": (u - U0) / speed, "v": v / speed, "r": r * L / speed, "d": delta}
    scale = 0.5 * RHO * speed**2 * L**2
    for row, table, arm in zip(found, (SURGE, SWAY, YAW), (1.0, 1.0, L), strict=True):
        expected = np.array(
            [polynomial(table, {k: x[i] for k, x in values.items()}) for i in range(400)]
        )
        np.testing.assert_allclose(
            row[inside], (expected * scale * arm)[inside], rtol=1e-11, atol=1e-9 * UNIT
        )


def test_surge_force_falls_with_speed_from_astern_to_ahead_without_a_jump(mariner):
    x = np.linspace(-1.5, 1.5, 3001)
    force = surge_force(mariner, x * U0) / UNIT * 1e5
    slope = np.diff(force) / np.diff(x)
    assert np.all(slope < 0.0)
    # The slope changes by the curvature of parabolas and of the rounded edge, never at once.
    assert np.abs(np.diff(slope)).max() < 3.0
    assert np.interp(1.0, x, force) == pytest.approx(0.0, abs=1e-9)


def test_bollard_pull_is_the_one_that_the_series_implies(mariner):
    at_rest = surge_force(mariner, np.array([0.0]))[0]
    assert at_rest == pytest.approx(BOLLARD, rel=1e-9)
    # 4.5 MW of shaft power at 15 kn: about 0.4 MN of thrust, two to four times that at bollard.
    assert 0.8e6 < at_rest < 1.6e6


def test_from_rest_she_works_up_to_her_service_speed_in_minutes(mariner, cruise):
    """Compared with ∫ m du / X(u), the mass with X_u̇, by the trapezoidal rule."""
    time, velocity = sail(mariner, 0.0, 1500)
    u = velocity[:, 0]
    assert np.all(np.diff(u) > -1e-6)
    assert u[-1] == pytest.approx(cruise, rel=1e-4)
    assert u.max() < U0
    speeds = np.linspace(0.0, 0.8 * U0, 2001)  # before her turning costs speed
    mass = MASS[0, 0] * 0.5 * RHO * L**3
    needed = np.trapezoid(mass / surge_force(mariner, speeds), speeds)
    assert np.interp(0.8 * U0, u, time) == pytest.approx(needed, rel=0.005)
    assert 180.0 < np.interp(0.95 * U0, u, time) < 900.0
    assert np.abs(velocity[:, 1]).max() < 0.05 * U0


@pytest.mark.parametrize("share", [0.1, -0.1, -0.5, -1.0])
def test_whatever_speed_she_starts_at_she_ends_at_her_service_speed(mariner, cruise, share):
    _, velocity = sail(mariner, share * U0, 1800)
    u = velocity[:, 0]
    assert np.all(np.diff(u) > -1e-6)
    assert u[-1] == pytest.approx(cruise, rel=1e-3)
    assert np.abs(velocity[:, 1:]).max() < 0.05 * U0


def test_a_crash_stop_brings_her_to_rest_and_astern_and_back(tug, cruise):
    pull = -2.0 * BOLLARD
    _, back = sail(tug, U0, 1500, (0.0, pull))
    u = back[:, 0]
    stopped = np.argmax(u < 0.0)
    # ∫ m du/(X + T) again, between the limits of full and no propeller thrust
    mass = MASS[0, 0] * 0.5 * RHO * L**3
    assert mass * U0 / -pull < stopped < mass * U0 / (-pull - BOLLARD)
    assert np.all(np.diff(u) < 1e-9)
    # astern the pull is balanced by hull and propeller: −U₀ < u < 0, X(u) = 2 × bollard
    assert -U0 < u[-1] < -0.2 * U0
    assert surge_force(tug, u[-1:])[0] == pytest.approx(-pull, rel=0.01)  # she turns a little
    _, again = sail(tug, u[-1], 1800)
    assert again[-1, 0] == pytest.approx(cruise, rel=1e-3)


def test_sway_yaw_and_heave_are_damped_at_every_speed(mariner):
    """A push to the side dies out ahead, stopped and astern: no force feeds the motion."""
    for share in (1.0, 0.6, 0.3, 0.05, -0.3, -1.0):
        velocity = np.zeros((6, 2))
        velocity[0] = share * U0
        velocity[1] = [0.1, -0.1]
        at = craft.state(mariner, np.zeros((3, 2)), np.zeros((3, 2)), velocity)
        port, starboard = craft.wrench(mariner, craft.calm(), at)[1]
        assert port < starboard, share
    first = craft.state(mariner, position=(0, 0, 1.0), euler=(0.1, 0.02, 0))
    _, position, _, velocity, _ = craft.simulate(
        mariner, craft.calm(), first, 200, 0.25, (0.0,), every=4
    )
    assert np.abs(position[-20:, 2]).max() < 0.05
    assert np.abs(velocity[-20:, 2:5]).max() < 0.02


def test_full_rudder_from_rest_turns_her_to_the_published_steady_turn(mariner):
    _, slow = sail(mariner, 0.0, 2500, (-np.radians(35.0),))
    _, fast = sail(mariner, U0, 2500, (-np.radians(35.0),))
    np.testing.assert_allclose(slow[-1], fast[-1], rtol=1e-3, atol=1e-3)
    assert np.abs(slow[:, 0]).max() < U0
