"""What goes over the wire: types for the page, rows, poses, and what a stick does."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

import seatrial as st
from seatrial.engine.frames import VehicleFrames
from seatrial.errors import SpecError
from seatrial.geometry.bodies import Body, Timetable, quaternion_of, rotation_matrix
from seatrial.spec.loading import load_text
from seatrial.spec.vehicle import Vehicle
from seatrial.viewer.helm import Helm, helms_of
from seatrial.viewer.messages import FASTEST, SLOWEST, read_request
from seatrial.viewer.states import parts_of, poses_of, rows_of, state_message
from seatrial.viewer.typescript import typescript

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_has_the_types_of_the_server():
    written = (ROOT / "web" / "src" / "messages.ts").read_text(encoding="utf-8")
    assert written == typescript(), "python -m seatrial.viewer.typescript web/src/messages.ts"


def frames(times=2, vehicles=3, channels=2, faults=1, estimate=30, guidance=11):
    rng = np.random.default_rng(1)
    sizes = {
        "position": 3,
        "attitude": 4,
        "velocity": 6,
        "acceleration": 6,
        "actuators": channels,
        "command": channels,
        "current": 3,
        "wave_velocity": 3,
        "wind": 3,
        "faults": faults,
        "estimate": estimate,
        "guidance": guidance,
    }
    arrays = {name: rng.normal(size=(times, vehicles, size)) for name, size in sizes.items()}
    for name in ("wave_elevation", "density", "wet_fraction"):
        arrays[name] = rng.normal(size=(times, vehicles))
    return VehicleFrames(**arrays)


@pytest.mark.parametrize(("estimate", "guidance", "faults"), [(30, 11, 2), (0, 0, 0)])
def test_a_row_holds_what_the_greeting_says(estimate, guidance, faults):
    given = frames(estimate=estimate, guidance=guidance, faults=faults)
    status = np.array([[0, 0, 0], [0, 2, 0]], np.int32)
    rows = rows_of(given, status)
    at, found = 0, {}
    for part in parts_of(given):
        found[part.name] = rows[..., at : at + part.size]
        at += part.size
    assert at == rows.shape[-1]
    for name in ("position", "attitude", "velocity", "actuators", "command", "current", "wind"):
        assert np.array_equal(found[name], getattr(given, name).astype(np.float32))
    assert np.array_equal(found["elevation"][..., 0], given.wave_elevation.astype(np.float32))
    assert np.array_equal(found["status"][..., 0], status)
    assert ("estimate" in found, "guidance" in found) == (estimate > 0, guidance > 0)
    if estimate:
        assert np.array_equal(found["estimate"][..., :3], given.estimate[..., :3].astype("f4"))
        assert np.array_equal(found["estimate"][..., 13:], given.estimate[..., 16:19].astype("f4"))


def test_a_state_is_little_endian_behind_its_head():
    message = state_message(12.5, 7, 2, 0.5, 3, [np.array([[1.0, 2.0]], np.float32)])
    assert struct.unpack("<dIIfIff", message) == (12.5, 7, 2, 0.5, 3, 1.0, 2.0)


@given(
    some.lists(some.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1)
)
def test_a_matrix_gives_its_quaternion_back(numbers):
    asked = np.array(numbers) / np.linalg.norm(numbers)
    found = quaternion_of(rotation_matrix(asked))
    assert abs(abs(found @ asked) - 1.0) < 1e-12


def test_a_vessel_with_a_timetable_is_where_it_goes():
    way = Timetable(np.array([0.0]), np.array([[10.0, 0.0]]), np.array([[0.0, 2.0]]))
    (row,) = poses_of([Body("ferry", "vessel", motion=way, position=np.zeros(3))], 5.0)
    assert row[:3].tolist() == [10.0, 10.0, 0.0]
    assert np.allclose(row[3:], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-6)  # towards east


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"type": "explode"}',
        '{"type": "play", "more": 1}',
        '{"type": "speed", "factor": 0.05}',
        '{"type": "speed", "factor": 101}',
        '{"type": "speed", "factor": NaN}',
        '{"type": "stick", "vehicle": "a", "ahead": 1.1, "starboard": 0}',
        '{"type": "channels", "vehicle": "a", "values": {"left": 1e9}}',
        '{"type": "channels", "vehicle": "", "values": {}}',
        '{"type": "waypoint", "vehicle": "a", "north": 0, "east": 0, "surge": 0}',
        json.dumps({"type": "channels", "vehicle": "a", "values": {f"c{i}": 0 for i in range(65)}}),
    ],
)
def test_what_is_no_request_is_refused(text):
    with pytest.raises(ValidationError):
        read_request.validate_json(text)


@pytest.mark.parametrize("factor", [SLOWEST, 1.0, FASTEST])
def test_speeds_within_their_bounds_are_taken(factor):
    assert read_request.validate_json(f'{{"type": "speed", "factor": {factor}}}').factor == factor


def helm(**changes):
    given = {
        "vehicle": "cat",
        "length": 2.0,
        "piloted": False,
        "submerged": False,
        "limits": {"left": (-10.0, 20.0), "right": (-10.0, 20.0), "rudder": (-0.5, 0.5)},
        "pushes": {"left": (1.0, 0.5, 0.0), "right": (1.0, -0.5, 0.0), "rudder": (0.0, -1.0, 0.0)},
    }
    return Helm(**(given | changes))


@pytest.mark.parametrize(
    ("stick", "orders"),
    [
        ((1.0, 0.0), {"left": 20.0, "right": 20.0, "rudder": 0.0}),
        ((-1.0, 0.0), {"left": -10.0, "right": -10.0, "rudder": 0.0}),
        ((0.0, 1.0), {"left": 10.0, "right": -5.0, "rudder": -0.5}),
        ((1.0, 1.0), {"left": 20.0, "right": 10.0, "rudder": -0.5}),
        ((0.0, 0.0), {"left": 0.0, "right": 0.0, "rudder": 0.0}),
    ],
)
def test_a_stick_moves_the_channels_within_their_limits(stick, orders):
    assert helm().steered(*stick, 0.0, 0.0).channels == pytest.approx(orders)


def test_a_stick_turns_an_outboard_motor_and_leaves_pods_that_steer_by_their_thrust():
    """A positive angle pushes the stern to starboard, the bow to port."""
    text = (ROOT / "docs" / "describe-a-vehicle.md").read_text()
    skiff = load_text(text.split("```yaml\n")[1].split("```")[0], Vehicle)
    vehicles = [{"name": "skiff", "vehicle": skiff}, {"name": "wamv", "vehicle": "wamv"}]
    described = st.Scenario(duration=1.0, world="calm", vehicles=vehicles)
    helms = helms_of(st.compile_scenario(described))
    orders = helms["skiff"].steered(0.5, 1.0, 0.0, 0.0).channels
    assert orders == pytest.approx({"outboard": 150.0, "outboard_angle": -np.radians(35.0)})
    assert not any("angle" in name for name in helms["wamv"].pushes)


def test_an_autopilot_gets_a_setpoint_from_the_stick():
    asked = helm(piloted=True).steered(0.5, -1.0, 0.0, 3.0).setpoint
    speed = 0.4 * np.sqrt(9.80665 * 2.0)
    assert (asked.surge, asked.yaw_rate) == pytest.approx((0.5 * speed, -0.35 * speed / 2.0))
    assert asked.depth is None


def test_a_diver_keeps_the_depth_at_which_it_was_taken_over():
    diver = helm(piloted=True, submerged=True)
    assert diver.steered(1.0, 0.0, 0.0, 7.0).setpoint.depth == 7.0
    assert diver.steered(1.0, 0.0, 0.0, 7.4).setpoint.depth == 7.0
    assert diver.steered(1.0, 0.0, 1.0, 7.4).setpoint.depth == pytest.approx(10.4)
    assert diver.steered(1.0, 0.0, -1.0, 1.0).setpoint.depth == 0.0


def test_orders_are_cut_off_at_the_limits_and_unknown_channels_refused():
    assert helm().bounded({"left": 99.0, "right": -99.0}) == {"left": 20.0, "right": -10.0}
    with pytest.raises(SpecError, match="no channel `middle`"):
        helm().bounded({"middle": 1.0})
