"""Ballast, wind and the seabed."""

import math

import numpy as np
import pytest

import craft
import seatrial
from seatrial.spec.scenario import Scenario

RHO, G = craft.RHO, craft.G
AIR = 1.225
TANK = {
    "kind": "ballast",
    "name": "tank",
    "position": [0.4, 0.1, 0.2],
    "mass_limits": [-3.0, 5.0],
    "mass_rate_limit": 0.25,
}


def test_ballast_weighs_at_its_tank():
    model = craft.compiled(craft.vehicle(actuators=[TANK]))
    euler = (0.3, -0.4, 1.0)
    at = craft.state(model, (0, 0, 10), euler, actuators=(2.0,))
    down = craft.euler_matrix(*euler).T @ [0, 0, 1]
    force = 2.0 * G * down
    expected = [*force, *np.cross(TANK["position"], force)]
    assert craft.wrench(model, craft.calm(), at) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("order", "limit"), [(9.0, 5.0), (-9.0, -3.0)])
def test_pump_fills_and_empties_the_tank_at_its_rate(order, limit):
    model = craft.compiled(craft.vehicle(actuators=[TANK]))
    first = craft.state(model, (0, 0, 10))
    time, *_, state = craft.simulate(model, craft.calm(), first, 30.0, 0.1, [order], every=10)
    rate = math.copysign(0.25, order)
    assert state[:, 0] == pytest.approx(np.clip(rate * time, -3.0, 5.0), abs=1e-9)
    assert abs(state[-1, 0]) == abs(limit)


WIND = {
    "frontal_area": 3.0,
    "lateral_area": 7.0,
    "height": 1.5,
    "surge": 0.6,
    "sway": 0.9,
    "yaw": 0.12,
}


def windy(speed, towards, **parts):
    return craft.ocean_of(wind={"speed": speed, "towards": towards % math.tau, **parts})


def wind_load(ocean, velocity=(0,) * 6, heading=0.0, waterline=0.0):
    described = craft.barge(wind=WIND)
    if waterline:
        buoyancy = described.buoyancy.model_dump() | {"waterline": waterline}
        described = craft.barge(wind=WIND, buoyancy=buoyancy)
    model = craft.compiled(described, ocean)
    bare = craft.compiled(craft.barge(), ocean)
    at = [craft.state(m, (0, 0, -waterline), (0, 0, heading), velocity) for m in (model, bare)]
    full = craft.wrench(model, ocean, at[0])
    return full - craft.wrench(
        bare, ocean, craft.state(bare, euler=(0, 0, heading), velocity=velocity)
    )


@pytest.mark.parametrize("from_bow", [0.0, 40.0, 90.0, 135.0, 180.0, 270.0])
def test_wind_load_is_the_pressure_on_the_areas_by_the_angle_of_attack(from_bow):
    # Fossen (2021) 10.1, angles from the bow to starboard: wind from ahead pushes back, wind from
    # starboard pushes to port, and wind on the quarter turns the craft by sin 2γ.
    speed, heading = 12.0, 0.7
    towards = heading + math.radians(from_bow) + math.pi
    load = wind_load(windy(speed, towards), heading=heading)
    # log profile at the centroid, 1.5 m
    local = speed * math.log(1.5 / 2e-4) / math.log(10 / 2e-4)
    q, gamma = 0.5 * AIR * local**2, math.radians(from_bow)
    X = -q * 3.0 * 0.6 * math.cos(gamma)
    Y = -q * 7.0 * 0.9 * math.sin(gamma)
    N = -q * 7.0 * 4.0 * 0.12 * math.sin(2 * gamma)
    assert load == pytest.approx([X, Y, 0, 1.5 * Y, 0, N], abs=1e-6 * q)


def test_craft_that_moves_through_still_air_feels_its_own_wind():
    ocean = windy(0.0, 0.0)
    load = wind_load(ocean, (5.0, 0, 0, 0, 0, 0))
    assert load == pytest.approx([-0.5 * AIR * 25.0 * 3.0 * 0.6, 0, 0, 0, 0, 0], abs=1e-9)
    drifting = windy(5.0, 0.0, profile="power", exponent=1e-9)
    assert wind_load(drifting, (5.0, 0, 0, 0, 0, 0)) == pytest.approx(np.zeros(6), abs=1e-6)


def test_height_of_the_wind_load_counts_from_the_waterline():
    ocean = windy(10.0, math.pi / 2, profile="power", exponent=1e-9)
    on_waterline = wind_load(ocean)
    shifted = wind_load(ocean, waterline=-0.4)
    assert shifted[1] == pytest.approx(on_waterline[1])
    assert shifted[3] == pytest.approx(on_waterline[1] * (1.5 + 0.4))


def test_submerged_craft_is_sheltered_from_the_wind():
    ocean = windy(10.0, 1.0)
    model = craft.compiled(craft.vehicle(wind=WIND), ocean)
    assert craft.wrench(model, ocean, craft.state(model, (0, 0, 5))) == pytest.approx(
        np.zeros(6), abs=1e-9
    )
    high = craft.state(model, (0, 0, -1))
    assert np.abs(craft.wrench(model, ocean, high)[:2]).min() > 10.0


def heavy_ball(mass_factor=1.3):
    displaced = RHO * 4 / 3 * math.pi * 0.3**3
    drag = {"X_u_au": -50.0, "Y_v_av": -50.0, "Z_w_aw": -50.0, "Z_w": -20.0}
    return craft.sphere(0.3, mass_factor * displaced, drag), displaced


def test_sinking_craft_comes_to_rest_on_the_bottom():
    ocean = craft.ocean_of(seabed={"depth": 8.0})
    described, _ = heavy_ball()
    model = craft.compiled(described, ocean)
    first = craft.state(model, (0, 0, 5.0))
    _, position, _, velocity, _ = craft.simulate(model, ocean, first, 30.0, 0.01, every=10)
    keel = position[-1, 2] + 0.3
    assert keel == pytest.approx(8.0, abs=1e-4)
    np.testing.assert_allclose(position[-1], position[-50], rtol=0, atol=1e-12)
    # what the drag takes off a free step, of third order in it, is told as a velocity
    assert np.abs(velocity[-1]).max() < 1e-5
    assert position[:, 2].max() + 0.3 < 8.1  # no deep dent on impact


def test_bottom_does_not_touch_a_craft_above_it():
    ocean = craft.ocean_of(seabed={"depth": 8.0})
    described, _ = heavy_ball(1.0)
    model = craft.compiled(described, ocean)
    at = craft.state(model, (0, 0, 7.69))
    assert np.abs(craft.wrench(model, ocean, at)).max() < 1e-9


@pytest.mark.parametrize("stop", [True, False])
def test_a_craft_that_sinks_to_the_bottom_is_grounded_and_its_run_ends_unless_told_to_go_on(stop):
    described, _ = heavy_ball()
    scenario = Scenario.model_validate(
        {
            "kind": "scenario",
            "name": "sink",
            "duration": 30.0,
            "time_step": 0.02,
            "stop_when_grounded": stop,
            "world": {"kind": "world", "name": "shallow", "seabed": {"depth": 6.0}},
            "vehicles": [
                {"name": "ball", "vehicle": described, "start": {"position": [0, 0, 3.0]}}
            ],
        }
    )
    summary = seatrial.run(scenario).summary
    ball = summary.vehicles["ball"]
    assert ball.status == summary.status == "grounded"
    assert ball.depth_max + 0.3 == pytest.approx(6.0, abs=0.1)
    assert (summary.duration < 29.0) == stop


def test_diverging_craft_ends_with_its_last_good_state():
    described = craft.vehicle(hydrodynamics={"coefficients": {"X_uu": 500.0}})  # drives itself on
    scenario = Scenario.model_validate(
        {
            "kind": "scenario",
            "name": "diverge",
            "duration": 20.0,
            "vehicles": [
                {
                    "name": "body",
                    "vehicle": described,
                    "start": {"position": [0, 0, 50.0], "speed": 0.1},
                }
            ],
        }
    )
    summary = seatrial.run(scenario).summary
    assert summary.status == "diverged"
    body = summary.vehicles["body"]
    assert math.isfinite(body.distance)
    # The last good state is that of a vehicle that can be: what came after is not.
    assert 0.1 < body.speed_max < 60.0
