"""Bodies carried by moving water: a current is felt only through the relative motion."""

import math

import numpy as np
import pytest

import craft

SCREW = {
    "kind": "thruster",
    "name": "screw",
    "position": [-0.9, 0.0, 0.02],
    "thrust": {"model": "direct", "thrust_limits": [-50.0, 50.0]},
}
FLOW = 0.7 * np.array([math.cos(2.0), math.sin(2.0), 0.0])
UNIFORM = {"speed": 0.7, "towards": 2.0}
TIDE = {"tide": [{"amplitude": 0.8, "period": 60.0, "towards": 0.5, "phase": 0.9}]}


def tide(t):
    along = 0.8 * np.cos(2 * math.pi / 60.0 * np.asarray(t) - 0.9)
    return np.stack([along * math.cos(0.5), along * math.sin(0.5), 0 * along], axis=-1)


def neutral(mass_offset=(0.0, 0.0, 0.0), volume_centre=None):
    """Neutral body with a full added mass about an origin off its centre."""
    centre = list(mass_offset)
    return craft.vehicle(
        inertia={"mass": craft.RHO * 0.1, "centre_of_gravity": centre, "moments": [4.0, 6.0, 7.0]},
        buoyancy={"craft": "submerged", "volume": 0.1, "centre": volume_centre or centre},
        hydrodynamics={
            "coefficients": craft.added(10, 80, 90, 1.0, 8.0, 9.0)
            | {"Y_rd": 4.0, "N_vd": 4.0, "X_u": -5.0, "Y_v_av": -50.0, "N_r": -9.0, "M_q": -9.0}
        },
    )


def test_body_at_rest_to_the_water_feels_no_force_from_the_current():
    ocean = craft.ocean_of(current=UNIFORM)
    model = craft.compiled(neutral((0.2, 0.0, 0.1)), ocean)
    for euler in ((0.0, 0.0, 0.0), (0.4, -0.7, 2.5)):
        body = craft.euler_matrix(*euler).T @ FLOW
        at = craft.state(model, (3, 4, 20), euler, (*body, 0, 0, 0))
        assert np.abs(craft.wrench(model, ocean, at)).max() < 1e-11


def test_released_body_drifts_with_a_uniform_current_exactly():
    ocean = craft.ocean_of(current=UNIFORM)
    model = craft.compiled(neutral(), ocean)
    body = craft.euler_matrix(0.4, -0.7, 2.5).T @ FLOW
    first = craft.state(model, (0, 0, 20), (0.4, -0.7, 2.5), (*body, 0, 0, 0))
    time, position, attitude, *_ = craft.simulate(model, ocean, first, 60.0, 0.05, every=100)
    assert np.abs(position - [0, 0, 20] - time[:, None] * FLOW).max() < 1e-10
    assert np.abs(attitude - attitude[0]).max() < 1e-12


def test_turning_craft_in_a_uniform_current_makes_its_still_water_track_carried_along():
    still, moving = craft.calm(), craft.ocean_of(current=UNIFORM)
    described = craft.torpedo(actuators=[SCREW], crossflow={
        "length": 2.0, "draught": 0.25, "beam": 0.25, "vertical_plane": True,
    })  # fmt: skip
    gaps = []
    for dt in (0.02, 0.01):
        tracks = []
        for ocean, flow in ((still, np.zeros(3)), (moving, FLOW)):
            model = craft.compiled(described, ocean)
            euler = (0.3, -0.2, 0.5)
            velocity = np.array([1.0, 0.2, -0.1]) + craft.euler_matrix(*euler).T @ flow
            first = craft.state(model, (0, 0, 30), euler, (*velocity, 0.2, -0.1, 0.5))
            time, position, *_ = craft.simulate(
                model, ocean, first, 16.0, dt, [15.0], every=round(4.0 / dt)
            )
            tracks.append(position - time[:, None] * flow)
        gaps.append(np.abs(tracks[0] - tracks[1]).max())
    # The velocities differ by a rotating vector, so the two runs agree to the method's order only.
    assert gaps[1] < 1e-6
    assert gaps[0] / gaps[1] > 12


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.3, 0.1, -0.2)])
def test_neutral_body_follows_an_accelerating_current_exactly(offset):
    # m = ρ∇ at one point: (ρ∇ + A)(a_f − a) = 0, whatever the added mass.
    ocean = craft.ocean_of(current=TIDE)
    model = craft.compiled(neutral(offset), ocean)
    euler = (0.3, -0.4, 1.1)
    body = craft.euler_matrix(*euler).T @ tide(0.0)
    first = craft.state(model, (0, 0, 20), euler, (*body, 0, 0, 0))
    time, _, attitude, velocity, _ = craft.simulate(model, ocean, first, 60.0, 0.05, every=20)
    world = np.array([craft.euler_matrix(*euler) @ v for v in velocity[:, :3]])
    assert np.abs(world - tide(time)).max() < 1e-8  # RK4 on a sine of 60 s
    assert np.abs(attitude - attitude[0]).max() < 1e-9


def test_floating_craft_follows_an_accelerating_current_without_turning():
    ocean = craft.ocean_of(current=TIDE)
    described = craft.barge(gravity_x=0.4, at=(0.4, 0.0), gravity_depth=-0.1,
                            coefficients={"X_u": -50.0, "Y_v": -50.0, "N_r": -50.0})  # fmt: skip
    model = craft.compiled(described, ocean)
    first = craft.state(model, velocity=(*tide(0.0), 0, 0, 0))
    time, _, attitude, velocity, _ = craft.simulate(model, ocean, first, 60.0, 0.05, every=20)
    assert np.abs(velocity[:, :3] - tide(time)).max() < 1e-8
    assert np.abs(attitude - [1, 0, 0, 0]).max() < 1e-9


def test_heavy_body_lags_an_accelerating_current_by_its_share_of_mass():
    # (m + A) a = (ρ∇ + A) a_f for a body at rest to the water.
    ocean = craft.ocean_of(current=TIDE)
    heavy = craft.sphere(0.3, mass=2 * craft.RHO * 4 / 3 * math.pi * 0.3**3)
    model = craft.compiled(heavy, ocean)
    first = craft.state(model, (0, 0, 20), velocity=(*tide(0.0), 0, 0, 0))
    h = 1e-4
    fluid = (tide(h) - tide(-h)) / (2 * h)
    rate = craft.acceleration(model, ocean, first)
    assert rate[:2] == pytest.approx(1.5 / 2.5 * fluid[:2], rel=1e-6)


def test_current_profile_is_felt_at_the_depth_of_the_body():
    profile = {"depth": [0.0, 50.0, 100.0], "factor": [1.0, 0.4, 0.1]}
    ocean = craft.ocean_of(current=UNIFORM | {"profile": profile})
    model = craft.compiled(neutral(), ocean)
    flow = 0.4 * FLOW
    at = craft.state(model, (0, 0, 50), velocity=(*flow, 0, 0, 0))
    assert np.abs(craft.wrench(model, ocean, at)).max() < 1e-10


def test_sinking_through_a_sheared_current_is_no_acceleration_of_the_water():
    # Dv/Dt of a steady flow v(z) without vertical motion is zero: the pressure is hydrostatic.
    profile = {"depth": [0.0, 100.0], "factor": [1.0, 0.0]}
    ocean = craft.ocean_of(current=UNIFORM | {"profile": profile})
    half = 0.5 * FLOW  # the smooth curve is halfway at half depth
    model = craft.compiled(neutral(), ocean)
    at = craft.state(model, (0, 0, 50), velocity=(*half, 0, 0, 0))
    sinking = craft.state(model, (0, 0, 50), velocity=(half[0], half[1], 0.5, 0, 0, 0))
    assert np.abs(craft.wrench(model, ocean, at)).max() < 1e-10
    assert np.abs(craft.wrench(model, ocean, sinking)[:3]).max() < 1e-10
