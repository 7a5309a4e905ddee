"""Control surfaces: lift, drag, local flow, stall, servo and fin sets."""

import math

import numpy as np
import pytest

import craft
from seatrial.core.actuators.fin import lift_slope

RHO = craft.RHO
LIFT = {"area": 0.03, "aspect_ratio": 2.0, "zero_lift_drag": 0.015, "efficiency": 0.8, "stall": 0.4}
SLOPE = 2 * math.pi * 2.0 / (2 + math.sqrt(4 + 4))


def rudder(**parts):
    described = {"kind": "fin", "name": "rudder", "position": [-0.9, 0.0, 0.0], "angle_limit": 0.6}
    return described | ({} if "table" in parts else {"lift": LIFT}) | parts


def neutral(*actuators):
    return craft.compiled(craft.vehicle(inertia=HEAVY, actuators=list(actuators)))


HEAVY = {"mass": RHO * 0.1, "moments": [4.0, 6.0, 7.0]}


def load(model, angles, velocity=(2.0, 0, 0, 0, 0, 0), without=None):
    """Loads of the fins alone: the same hull without them is subtracted."""
    bare = craft.compiled(craft.vehicle(inertia=HEAVY)) if without is None else without
    at = craft.state(model, (0, 0, 10), velocity=velocity, actuators=angles)
    return craft.wrench(model, craft.calm(), at) - craft.wrench(
        bare, craft.calm(), craft.state(bare, (0, 0, 10), velocity=velocity)
    )


def test_lift_slope_has_the_limits_of_wing_theory():
    assert lift_slope(1e-6) / 1e-6 == pytest.approx(math.pi / 2, rel=1e-6)  # Jones: πA/2
    assert lift_slope(1e9) == pytest.approx(2 * math.pi, rel=1e-6)  # thin aerofoil
    assert lift_slope(4.0) == pytest.approx(2 * math.pi * 4 / (2 + math.sqrt(20)))


@pytest.mark.parametrize("angle", [0.05, 0.2, -0.3])
def test_fin_in_straight_flow_makes_half_rho_a_v2_cl_and_its_drag(angle):
    found = load(neutral(rudder()), (angle,))
    pressure = 0.5 * RHO * 0.03 * 2.0**2
    cl = SLOPE * angle
    cd = 0.015 + cl**2 / (math.pi * 0.8 * 2.0)
    expected = np.array([-pressure * cd, pressure * cl, 0, 0, 0, -0.9 * pressure * cl])
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_stern_rudder_to_a_positive_angle_pushes_to_starboard_and_turns_to_port():
    found = load(neutral(rudder()), (0.1,))
    assert found[1] > 0 > found[5]


def test_rudder_sees_the_flow_at_its_own_place():
    # δ_e = δ − β at the rudder: β = atan((v + x r − z p) / (u − y r + z q)), lift across that flow.
    place = np.array([-0.9, 0.1, 0.2])
    model = neutral(rudder(position=list(place)))
    nu = np.array([1.8, 0.2, 0.1, 0.1, -0.15, 0.25])
    angle = 0.1
    u, v, _ = nu[:3] + np.cross(nu[3:], place)
    drift = math.atan2(v, u)
    cl = SLOPE * (angle - drift)
    cd = 0.015 + cl**2 / (math.pi * 0.8 * 2.0)
    pressure = 0.5 * RHO * 0.03 * (u * u + v * v)
    force = pressure * np.array(
        [-cl * math.sin(drift) - cd * math.cos(drift),
         cl * math.cos(drift) - cd * math.sin(drift), 0.0]
    )  # fmt: skip
    found = load(model, (angle,), nu)
    assert found == pytest.approx([*force, *np.cross(place, force)], rel=1e-9)


def test_stern_plane_sees_the_vertical_flow_with_the_opposite_sign():
    # δ_e = δ + β with β = atan((w − x q) / u): a sinking or pitching hull loads the plane.
    model = neutral(rudder(name="plane", axis=[0.0, 1.0, 0.0]))
    nu = (2.0, 0.0, 0.1, 0.0, 0.2, 0.0)
    angle = 0.05
    w = 0.1 - (-0.9) * 0.2
    attack = angle + math.atan2(w, 2.0)
    cl = SLOPE * attack
    cd = 0.015 + cl**2 / (math.pi * 0.8 * 2.0)
    speed2 = 4.0 + w * w
    pressure = 0.5 * RHO * 0.03 * math.sqrt(speed2)
    found = load(model, (angle,), nu)
    assert found[2] == pytest.approx(-pressure * (cl * 2.0 + cd * w), rel=1e-9)
    assert found[4] == pytest.approx(0.9 * found[2], rel=1e-9)


def test_fin_weathervanes_a_hull_back_into_the_flow():
    model = neutral(rudder())
    assert load(model, (0.0,), (2.0, 0.2, 0, 0, 0, 0))[5] > 0  # drifts to starboard, turns there
    assert load(model, (0.0,), (2.0, 0, 0, 0, 0, 0.2))[5] < 0  # yaw is damped


def lift_and_drag(model, attack, speed=2.0):
    """C_L and C_D from the force on a fin at zero deflection in oblique flow."""
    nu = (speed * math.cos(attack), -speed * math.sin(attack), 0, 0, 0, 0)
    X, Y = load(model, (0.0,), nu)[:2] / (0.5 * RHO * 0.03 * speed**2)
    c, s = math.cos(attack), -math.sin(attack)
    return -X * s + Y * c, -(X * c + Y * s)


def test_stalled_fin_becomes_a_flat_plate():
    model = neutral(rudder())
    for attack in (0.65, 1.0, math.pi / 2, 2.5, -0.9):
        cl, cd = lift_and_drag(model, attack)
        assert cl == pytest.approx(math.sin(2 * attack), abs=1e-9)
        assert cd == pytest.approx(2 * math.sin(attack) ** 2 + 0.015, abs=1e-9)


def test_lift_is_continuous_through_the_stall_and_falls_behind_it():
    model = neutral(rudder())
    angles = np.linspace(0.3, 0.7, 81)
    lift = np.array([lift_and_drag(model, a)[0] for a in angles])
    assert np.abs(np.diff(lift)).max() < 0.08
    assert lift.max() < SLOPE * 0.5
    assert lift[-1] < lift.max()
    assert angles[lift.argmax()] >= 0.4


ROWS = [[0.0, 0.0, 0.01], [5.0, 0.45, 0.015], [10.0, 0.80, 0.03], [15.0, 0.95, 0.08]]


@pytest.mark.parametrize("degrees", [0.0, 2.5, 7.0, 15.0])
def test_table_is_interpolated_and_mirrored(degrees):
    model = neutral(rudder(table={"area": 0.03, "rows": ROWS}))
    angle, lift, drag = np.array(ROWS).T
    for sign in (1, -1):
        cl, cd = lift_and_drag(model, sign * math.radians(degrees))
        assert cl == pytest.approx(sign * np.interp(degrees, angle, lift), abs=1e-12)
        assert cd == pytest.approx(np.interp(degrees, angle, drag), abs=1e-12)


def test_plate_takes_over_ten_degrees_beyond_the_table():
    model = neutral(rudder(table={"area": 0.03, "rows": ROWS}))
    cl, cd = lift_and_drag(model, math.radians(40.0))
    assert (cl, cd) == (
        pytest.approx(math.sin(math.radians(80))),
        pytest.approx(2 * math.sin(math.radians(40)) ** 2),
    )


def asymmetric_table_model():
    rows = [[-10.0, -0.5, 0.03], [0.0, 0.2, 0.01], [10.0, 0.9, 0.04]]
    return neutral(rudder(table={"area": 0.03, "rows": rows}))


def test_table_with_negative_angles_is_taken_as_it_stands():
    model = asymmetric_table_model()
    assert lift_and_drag(model, 0.0)[0] == pytest.approx(0.2)
    assert lift_and_drag(model, math.radians(-10.0))[0] == pytest.approx(-0.5)


def servo_track(commands, dt=0.01, **parts):
    model = neutral(rudder(**parts))
    at = craft.state(model, (0, 0, 10))
    angles = [0.0]
    for command, seconds in commands:
        _, p, q, v, a = craft.simulate(model, craft.calm(), at, seconds, dt, [command])
        angles += list(a[1:, 0])
        at = craft.State(p[-1], q[-1], v[-1], a[-1])
    return np.array(angles)


def test_throw_rate_and_angle_limits_bound_the_servo():
    angle = servo_track([(1.0, 4.0)], rate_limit=0.2)
    time = 0.01 * np.arange(len(angle))
    assert angle == pytest.approx(np.minimum(0.2 * time, 0.6), abs=1e-9)


def test_backlash_is_the_play_operator():
    # Going up the fin trails by half the play; on reversal it stands until the play is taken up.
    angle = servo_track([(0.3, 3.0), (0.0, 3.0)], rate_limit=0.2, backlash=0.1)
    up = 0.2 * 0.01 * np.arange(301)
    servo = np.concatenate([np.minimum(up, 0.3), np.maximum(0.3 - up[1:], 0.0)])
    fin, expected = 0.0, []
    for s in servo:
        fin = min(max(fin, s - 0.05), s + 0.05)
        expected.append(fin)
    assert angle == pytest.approx(expected, abs=1e-9)
    assert angle[300] == pytest.approx(0.25)
    assert angle[-1] == pytest.approx(0.05)


def test_angle_error_offsets_the_force_but_not_the_reported_angle():
    crooked, straight = neutral(rudder(angle_error=0.05)), neutral(rudder())
    assert load(crooked, (0.1,)) == pytest.approx(load(straight, (0.15,)))
    assert servo_track([(0.2, 0.1)], angle_error=0.05)[-1] == pytest.approx(0.2)


def fin_set(arrangement):
    return {
        "kind": "fin_set",
        "name": "tail",
        "arrangement": arrangement,
        "position": [-0.8, 0.0, 0.0],
        "radius": 0.15,
        "lift": LIFT,
        "angle_limit": 0.5,
    }


SPANS = {  # seen from astern: angle of each fin from starboard towards down, in channel order
    "plus": [-90, 0, 90, 180],
    "x": [-45, 45, 135, -135],
    "three": [-90, 30, 150],
}


@pytest.mark.parametrize("arrangement", SPANS)
def test_symmetric_tail_in_straight_flow_only_drags(arrangement):
    count = len(SPANS[arrangement])
    found = load(neutral(fin_set(arrangement)), (0.0,) * count)
    assert found[0] == pytest.approx(-count * 0.5 * RHO * 0.03 * 4.0 * 0.015)
    assert found[1:] == pytest.approx(np.zeros(5), abs=1e-9)


@pytest.mark.parametrize("arrangement", SPANS)
def test_equal_angles_about_the_outward_spans_roll_the_hull_and_nothing_else(arrangement):
    count = len(SPANS[arrangement])
    found = load(neutral(fin_set(arrangement)), (0.1,) * count)
    lift = 0.5 * RHO * 0.03 * 4.0 * SLOPE * 0.1
    assert found[3] == pytest.approx(-count * lift * 0.15)
    assert found[[1, 2, 4, 5]] == pytest.approx(np.zeros(4), abs=1e-9)


@pytest.mark.parametrize("arrangement", SPANS)
def test_yaw_and_pitch_commands_mixed_by_the_spans_are_pure(arrangement):
    # Angle of each fin δ s_i for yaw (s = sine of the span) and δ c_i for pitch (c = cosine).
    spans = np.radians(SPANS[arrangement])
    model = neutral(fin_set(arrangement))
    lift = 0.5 * RHO * 0.03 * 4.0 * SLOPE * 0.1
    yaw = load(model, 0.1 * np.sin(spans))
    force = lift * np.sum(np.sin(spans) ** 2)
    assert yaw[[1, 5]] == pytest.approx([force, -0.8 * force], rel=1e-9)
    assert yaw[[2, 3]] == pytest.approx([0, 0], abs=1e-9)
    pitch = load(model, 0.1 * np.cos(spans))
    force = -lift * np.sum(np.cos(spans) ** 2)
    assert pitch[2] == pytest.approx(force, rel=1e-9)
    # the induced drag of three fins does not act on the axis and trims by its own small moment
    assert pitch[4] == pytest.approx(0.8 * force, rel=6e-3 if arrangement == "three" else 1e-9)
    assert pitch[[1, 3]] == pytest.approx([0, 0], abs=1e-9)


def test_fin_out_of_the_water_makes_no_force():
    model = neutral(rudder())
    at = [craft.state(model, (0, 0, -1.0), velocity=(2, 0, 0, 0, 0, 0), actuators=(a,))
          for a in (0.0, 0.3)]  # fmt: skip
    assert craft.wrench(model, craft.calm(), at[0]) == pytest.approx(
        craft.wrench(model, craft.calm(), at[1])
    )
