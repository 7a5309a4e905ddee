"""Propellers and their drives against the formulas they stand for."""

import math

import numpy as np
import pytest

import craft

RHO = craft.RHO
DEPTH = 10.0


def thruster(thrust, **parts):
    return {"kind": "thruster", "name": "screw", "thrust": thrust} | parts


def neutral(*actuators):
    return craft.compiled(craft.vehicle(actuators=list(actuators)))


def load(model, state, velocity=(0,) * 6, depth=DEPTH):
    at = craft.state(model, (0, 0, depth), velocity=velocity, actuators=state)
    still = craft.state(model, (0, 0, depth), velocity=velocity)
    return craft.wrench(model, craft.calm(), at) - craft.wrench(model, craft.calm(), still)


LIMITS = {"speed_limits": [-20.0, 20.0]}
POLYNOMIAL = {"model": "polynomial", "ahead": [0.0, 1.5, 0.4], "astern": [0.0, 0.5, 0.3]} | LIMITS
LINE = {
    "model": "open_water",
    "diameter": 0.25,
    "kt": {"line": [0.45, -0.4]},
    "kq": {"line": [0.06, -0.05]},
    "wake": 0.2,
    "thrust_deduction": 0.1,
    "astern_factor": 0.7,
    "torque_factor": 0.5,
} | LIMITS
TABLE = LINE | {
    "kt": {"table": [[0.0, 0.45], [0.4, 0.30], [0.8, 0.10], [1.2, -0.12]]},
    "kq": {"table": [[0.0, 0.06], [0.8, 0.03]]},
}


@pytest.mark.parametrize(
    ("n", "thrust"),
    [(8.0, 1.5 * 8 + 0.4 * 64), (-8.0, -(0.5 * 8 + 0.3 * 64)), (0.0, 0.0)],
)
@pytest.mark.parametrize("speed", [0.0, 1.5])
def test_polynomial_thrust_depends_on_shaft_speed_alone(n, thrust, speed):
    found = load(neutral(thruster(POLYNOMIAL)), (n,), (speed, 0, 0, 0, 0, 0))
    assert found == pytest.approx([thrust, 0, 0, 0, 0, 0], abs=1e-10)


def test_astern_mirrors_ahead_when_it_is_left_out():
    model = neutral(thruster({"model": "polynomial", "ahead": [0.0, 1.5, 0.4]} | LIMITS))
    assert load(model, (-6.0,))[0] == pytest.approx(-load(model, (6.0,))[0])


def test_bollard_thrust_is_rho_d4_kt0_n2_less_the_deduction():
    n, d = 10.0, 0.25
    expected = 0.9 * RHO * d**4 * 0.45 * n**2
    for described in (LINE, TABLE):
        assert load(neutral(thruster(described)), (n,))[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("speed", [0.5, 1.2, 2.0])
def test_thrust_at_speed_reads_kt_at_the_advance_number_behind_the_hull(speed):
    n, d = 10.0, 0.25
    advance = (1 - 0.2) * speed / (n * d)
    for described, kt in (
        (LINE, 0.45 - 0.4 * advance),
        (TABLE, np.interp(advance, [0, 0.4, 0.8, 1.2], [0.45, 0.30, 0.10, -0.12])),
    ):
        found = load(neutral(thruster(described)), (n,), (speed, 0, 0, 0, 0, 0))
        assert found[0] == pytest.approx(0.9 * RHO * d**4 * kt * n**2, rel=1e-12)


def test_free_wheeling_beyond_zero_thrust_brakes():
    # J where K_T crosses zero is 1.125 for the line; beyond it the propeller drags.
    n, d = 2.0, 0.25
    found = load(neutral(thruster(LINE)), (n,), (1.5, 0, 0, 0, 0, 0))
    advance = 0.8 * 1.5 / (n * d)
    assert found[0] == pytest.approx(0.9 * RHO * d**4 * (0.45 - 0.4 * advance) * n**2)
    assert found[0] < 0


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_astern_thrust_is_the_bollard_value_times_its_factor(speed):
    n, d = -10.0, 0.25
    found = load(neutral(thruster(LINE)), (n,), (speed, 0, 0, 0, 0, 0))
    assert found[0] == pytest.approx(-0.9 * RHO * d**4 * 0.7 * 0.45 * n**2)


@pytest.mark.parametrize(("rotation", "sign"), [("right", -1), ("left", 1), ("none", 0)])
def test_hull_feels_the_reaction_to_the_propeller_torque(rotation, sign):
    # A right-handed propeller turns clockwise seen from astern, so the hull is heeled to port.
    n, d = 10.0, 0.25
    model = neutral(thruster(LINE, rotation=rotation))
    torque = 0.5 * RHO * d**5 * 0.06 * n**2
    assert load(model, (n,))[3] == pytest.approx(sign * torque)
    assert load(model, (-n,))[3] == pytest.approx(-sign * torque)  # astern it turns the other way


def test_thrust_off_the_axis_makes_its_moment():
    model = neutral(thruster(POLYNOMIAL, position=[-0.5, 0.3, 0.1], direction=[2.0, 0.0, -1.0]))
    thrust = 1.5 * 8 + 0.4 * 64
    force = thrust * np.array([2.0, 0.0, -1.0]) / math.sqrt(5)
    moment = np.cross([-0.5, 0.3, 0.1], force)
    assert load(model, (8.0,)) == pytest.approx([*force, *moment])


@pytest.mark.parametrize("degrees", [-120.0, 0.0, 35.0, 90.0])
def test_azimuth_angle_turns_the_thrust_to_starboard(degrees):
    model = neutral(
        thruster({"model": "direct", "thrust_limits": [-50, 50]}, azimuth={}, position=[-1, 0, 0])
    )
    angle = math.radians(degrees)
    expected = [10 * math.cos(angle), 10 * math.sin(angle), 0, 0, 0, -10 * math.sin(angle)]
    assert load(model, (10.0, angle)) == pytest.approx(expected, abs=1e-12)


def test_turned_propeller_advances_along_its_own_axis_with_the_hulls_rotation():
    n, d, angle = 10.0, 0.25, 0.6
    place = np.array([-0.8, 0.2, 0.1])
    model = neutral(thruster(LINE, azimuth={}, position=list(place)))
    nu = np.array([1.0, 0.3, -0.1, 0.1, 0.2, 0.4])
    axis = np.array([math.cos(angle), math.sin(angle), 0.0])
    inflow = (nu[:3] + np.cross(nu[3:], place)) @ axis
    kt = 0.45 - 0.4 * 0.8 * inflow / (n * d)
    at = craft.state(model, (0, 0, DEPTH), velocity=nu, actuators=(n, angle))
    off = craft.state(model, (0, 0, DEPTH), velocity=nu, actuators=(0.0, angle))
    found = craft.wrench(model, craft.calm(), at) - craft.wrench(model, craft.calm(), off)
    assert found[:3] == pytest.approx(0.9 * RHO * d**4 * kt * n**2 * axis, rel=1e-12)


def drive_response(seconds, command, dt=0.01, start=0.0, **parts):
    direct = {"model": "direct", "thrust_limits": [-40.0, 60.0]}
    thrust = direct | {k: v for k, v in parts.items() if k in ("thrust_rate_limit", "dead_band")}
    rest = {k: v for k, v in parts.items() if k not in thrust}
    model = neutral(thruster(thrust, **rest))
    first = craft.state(model, (0, 0, DEPTH), actuators=(start,))
    time, *_, actuators = craft.simulate(model, craft.calm(), first, seconds, dt, [command])
    return time, actuators[:, 0]


@pytest.mark.parametrize("dt", [0.02, 0.1])
def test_first_order_lag_is_exact_at_any_step(dt):
    time, value = drive_response(2.0, 30.0, dt, start=5.0, time_constant=0.4)
    assert value == pytest.approx(30.0 - 25.0 * np.exp(-time / 0.4), abs=1e-12)


def test_rate_limit_makes_a_ramp_and_then_the_lag_takes_over():
    time, value = drive_response(3.0, 30.0, thrust_rate_limit=20.0)
    assert value == pytest.approx(np.minimum(20.0 * time, 30.0), abs=1e-9)
    time, value = drive_response(3.0, 30.0, dt=0.002, thrust_rate_limit=20.0, time_constant=0.5)
    # Lag alone would start at 60 N/s; the limit holds until (30 − x)/0.5 = 20, x = 20 at 1 s.
    ramp = time <= 1.0
    assert value[ramp] == pytest.approx(20.0 * time[ramp], abs=1e-9)
    assert value[~ramp] == pytest.approx(30.0 - 10.0 * np.exp(-(time[~ramp] - 1) / 0.5), abs=0.03)


@pytest.mark.parametrize(("command", "settled"), [(100.0, 60.0), (-100.0, -40.0), (25.0, 25.0)])
def test_command_saturates_at_the_limits(command, settled):
    assert drive_response(0.1, command)[1][-1] == pytest.approx(settled)


@pytest.mark.parametrize(("command", "settled"), [(2.9, 0.0), (-2.9, 0.0), (3.1, 3.1)])
def test_commands_inside_the_dead_band_are_taken_as_zero(command, settled):
    assert drive_response(0.1, command, start=1.0, dead_band=3.0)[1][-1] == pytest.approx(settled)


def test_azimuth_has_its_own_lag_and_rate_limit():
    model = neutral(
        thruster(
            {"model": "direct", "thrust_limits": [-50, 50]},
            azimuth={"rate_limit": 0.5, "angle_limit": 1.0},
        )
    )
    first = craft.state(model, (0, 0, DEPTH))
    time, *_, state = craft.simulate(model, craft.calm(), first, 4.0, 0.05, [0.0, 2.0])
    assert state[:, 1] == pytest.approx(np.minimum(0.5 * time, 1.0), abs=1e-9)


def test_propeller_loses_its_thrust_smoothly_as_it_leaves_the_water():
    model = neutral(thruster(LINE))
    full = load(model, (10.0,))[0]
    share = [load(model, (10.0,), depth=z)[0] / full for z in np.linspace(-0.2, 0.2, 41)]
    assert (share[0], share[-1]) == (0.0, pytest.approx(1.0))
    assert share[20] == pytest.approx(0.5)  # its axis at the surface: half of a ball under water
    assert (np.diff(share) >= 0).all()
    # 3 s² − 2 s³ of the immersed part s of the diameter
    s = (0.05 + 0.125) / 0.25
    assert load(model, (10.0,), depth=0.05)[0] / full == pytest.approx(3 * s**2 - 2 * s**3)
