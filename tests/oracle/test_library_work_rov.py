"""The work-class ROV of the library against the thruster matrix and the balance of its source."""

import numpy as np
import pytest

import craft
import seatrial as st

# uuvsimulator/rexrov2, rexrov2_control/config/TAM.yaml: forces and moments per newton of each
# thruster, in axes forward, port, up.
PUBLISHED = np.array(
    [
        [0.0, 0.2588192, 0.0, 0.0, 0.9063078, 0.9063078],
        [1.0, 0.0, 0.3826836, 0.3826836, 0.4226182, -0.4226182],
        [0.0, 0.9659258, 0.9238795, -0.9238795, 0.0, 0.0],
        [-0.2373, 0.0, -0.6957355, -0.6957355, -0.1015974, 0.1015974],
        [0.0, 0.9461457, -0.7995252, 0.7995253, 0.2178764, 0.2178764],
        [0.4878, 0.0, 0.3311744, 0.3311743, -0.7638899, 0.7638899],
    ]
)
TURN = np.array([1, -1, -1, 1, -1, -1.0])
"""From port and up to starboard and down."""


@pytest.fixture(scope="module")
def model():
    return craft.compiled(st.load("sf30k", st.Vehicle))


def load(model, velocity=(0.0,) * 6, thrust=(0.0,) * 6):
    sea = {"profile": "constant", "density": 1028.0, "temperature": 10.0, "salinity": 35.0}
    at = craft.state(model, (0, 0, 50), velocity=velocity, actuators=thrust)
    return craft.wrench(model, craft.ocean_of(water=sea), at)


def test_thrusters_push_as_the_published_matrix_says(model):
    still = load(model)
    found = np.array([load(model, thrust=100.0 * unit) - still for unit in np.eye(6)]).T / 100.0
    assert found == pytest.approx(TURN[:, None] * PUBLISHED, abs=2e-6)


def test_it_comes_up_with_what_it_displaces_more_than_it_weighs(model):
    up = (1.83826 * 1028.0 - 1862.87) * craft.G
    assert load(model) == pytest.approx([0, 0, -up, 0, 0, 0], abs=1e-6)


@pytest.mark.parametrize(
    ("dof", "thrust", "linear", "quadratic"),
    [(0, (0, 0, 0, 0, 1, 1), 74.82, 748.22), (1, (-1, 0, -1, -1, 0, 0), 69.48, 992.53)],
)
def test_full_thrust_balances_the_published_drag_at_its_top_speed(
    model, dof, thrust, linear, quadratic
):
    """Ahead 2 × 1540 cos 25° N and 1.88 m/s; abeam by the lateral and the leaning verticals."""
    full = 1540.0 * np.array(thrust, float)
    force = 1540.0 * abs(TURN[dof] * PUBLISHED[dof] @ np.array(thrust))
    speed = (-linear + np.sqrt(linear**2 + 4 * quadratic * force)) / (2 * quadratic)
    velocity = np.zeros(6)
    velocity[dof] = speed
    assert load(model, velocity, full)[dof] == pytest.approx(0.0, abs=1e-5 * force)
    assert load(model, 1.05 * velocity, full)[dof] < -0.05 * force
    if dof == 0:
        assert speed == pytest.approx(1.883, abs=1e-3)


@pytest.mark.rest
def test_the_station_of_the_library_is_held_upright():
    run = st.run("sf30k-station")
    rov = run.summary.vehicles["rov"]
    assert run.summary.status == "completed"
    assert rov.indices["legs_reached"] == 2
    assert max(rov.roll_max_deg, rov.pitch_max_deg) < 5.0
    held = run.dataset.sel(vehicle="rov")["position"].values[-300:]
    assert np.abs(held - [20.0, 5.0, 60.0]).max() < 1.0
