"""Autopilots in the loop: a scripted ArduPilot by its packet description, MAVLink by pymavlink."""

import contextlib
import json
import math
import random
import socket
import struct
import threading
from collections import Counter

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

import seatrial as st
from seatrial.bridges.autopilots.ardupilot import ArduPilotBridge
from seatrial.bridges.autopilots.frames import (
    HEARTBEAT,
    HIL_ACTUATOR_CONTROLS,
    HIL_GPS,
    HIL_SENSOR,
    Framer,
)
from seatrial.bridges.autopilots.mavlink import MavlinkBridge
from seatrial.bridges.autopilots.vehicle import (
    Inertial,
    place_of,
    turns_to_starboard,
    usual_outputs,
)
from seatrial.bridging import run_bridged
from seatrial.engine.frames import ActuatorInfo, VehicleInfo, VehicleState
from seatrial.errors import SpecError
from seatrial.spatial.geodesy import to_geodetic


@pytest.fixture(scope="module")
def fast():
    """The otter at 400 Hz in waves, without sensors."""
    scenario = {
        **{"seed": 2, "duration": 1.5, "world": "sea-state-4"},
        **{"time_step": 0.0025, "control_period": 0.0025, "frame_period": 0.0025},
        "vehicles": [{"name": "otter", "vehicle": "otter", "start": {"speed": 1.0}}],
    }
    return st.compile_scenario(st.Scenario(**scenario))


def port_of(bridge):
    return int(bridge.place.split()[-1])


class Sitl:
    """ArduPilot's side of its JSON interface, as its readme describes it."""

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(30)
        self.address, self.told = ("127.0.0.1", port), []

    def step(self, frame, *pulses, magic=18458):
        outputs = [*pulses, *[0] * (16 - len(pulses))]
        self.socket.sendto(struct.pack("<HHI16H", magic, 400, frame, *outputs), self.address)
        data = self.socket.recv(65_536)
        assert data[:1] == data[-1:] == b"\n"
        self.told.append(json.loads(data))
        return self.told[-1]


def test_ardupilot_drives_at_400_hz_without_loss_and_can_integrate_what_it_is_told(fast, tmp_path):
    bridge = ArduPilotBridge("0")
    sitl, frames = Sitl(port_of(bridge)), 601  # the last one begins with the last frame

    def fly():
        for frame in range(frames):
            sitl.step(frame, 1500 + frame % 400, 0, 1900)

    peer = threading.Thread(target=fly)
    peer.start()
    finished = run_bridged(fast, [bridge], pace=None, out=tmp_path / "run.mcap")
    peer.join(30)
    assert len(sitl.told) == frames
    assert bridge.counts == Counter(heard=frames, sent=frames)
    times = np.array([t["timestamp"] for t in sitl.told])
    assert np.allclose(np.diff(times), 0.0025)
    data = finished.dataset.isel(vehicle=0)
    # The outputs of a frame are in force in the period that it begins.
    left, right = data.command.values.T
    rise = np.maximum((np.arange(frames) % 400) / 400.0, 0.0)
    assert np.allclose(left, rise * left.max() / rise.max(), atol=1e-9)
    assert np.all(right == right[0])
    # The answer is the state at the end of that period.
    for i in (0, 57, 598):
        told = sitl.told[i]
        assert np.allclose(told["position"], data.position.values[i + 1], atol=1e-12)
        assert np.allclose(told["quaternion"], data.attitude.values[i + 1], atol=1e-12)
        assert np.allclose(told["imu"]["gyro"], data.angular_velocity.values[i + 1], atol=1e-12)
    # Specific forces, turned by the attitude and freed of gravity, sum up to the velocity.
    velocity = np.array(sitl.told[0]["velocity"])
    for told in sitl.told[1:]:
        force = turned(told["quaternion"], told["imu"]["accel_body"])
        velocity = velocity + 0.0025 * (force + np.array([0.0, 0.0, 9.80665]))
        assert np.allclose(velocity, told["velocity"], atol=1e-9)


def turned(quaternion, vector):
    w, axis = quaternion[0], np.array(quaternion[1:])
    vector = np.array(vector)
    return vector + 2.0 * np.cross(axis, np.cross(axis, vector) + w * vector)


def test_frames_again_frames_from_the_past_and_garbage(fast):
    bridge = ArduPilotBridge("0")
    sitl, dice = Sitl(port_of(bridge)), random.Random(3)
    found = {}

    def fly():
        found["first"] = sitl.step(10, 1600, 0, 1600)
        found["again"] = sitl.step(10, 1600, 0, 1600)
        for size in (0, 1, 2, 39, 41, 500, 2000):
            sitl.socket.sendto(dice.randbytes(size), sitl.address)
        sitl.socket.sendto(struct.pack("<HHI15H", 18458, 400, 11, *[0] * 15), sitl.address)
        found["next"] = sitl.step(11, 1600, 0, 1600)
        # One that begins anew: the run does, too. It reads one answer to each frame.
        found["anew"] = [sitl.step(frame, 1500, 0, 1500)["timestamp"] for frame in range(601)]

    peer = threading.Thread(target=fly)
    peer.start()
    run_bridged(fast, [bridge], pace=None)
    peer.join(30)
    assert found["first"] == found["again"]
    assert found["next"]["timestamp"] == 0.005
    assert np.allclose(found["anew"], 0.0025 * np.arange(1, 602))
    assert bridge.counts["repeated"] == 1
    assert bridge.counts["garbled"] == 8


def test_outputs_of_boats_and_of_others():
    def vehicle(craft, *names):
        return VehicleInfo("v", "v", craft, 1, 1, 1, tuple(ActuatorInfo(n, "N") for n in names))

    assert usual_outputs(vehicle("surface", "left", "right")) == {"left": 1, "right": 3}
    assert usual_outputs(vehicle("surface", "propeller", "rudder")) == {"rudder": 1, "propeller": 3}
    assert usual_outputs(vehicle("submerged", "a", "b")) == {"a": 1, "b": 2}
    motor = ActuatorInfo("motor", "N", "thruster", (-1.4, 0.0, 0.3))
    angle = ActuatorInfo("motor_angle", "rad", "azimuth", (-1.4, 0.0, 0.3))
    skiff = VehicleInfo("v", "v", "surface", 1, 1, 1, (motor, angle))
    assert usual_outputs(skiff) == {"motor_angle": 1, "motor": 3}
    assert turns_to_starboard(angle) == -1.0
    place = place_of("otter@9002:left=1,right=4", "--ardupilot")
    assert (place.vehicle, place.port, place.outputs) == ("otter", 9002, {"left": 1, "right": 4})


@pytest.mark.parametrize(
    "text", ["", "x", "99999", "-1", "9002:left", "9002:left=0", "9002:left=x"]
)
def test_places_that_are_none_are_refused(text):
    with pytest.raises(SpecError, match="--mavlink"):
        place_of(text, "--mavlink")


@pytest.mark.parametrize("place", ["ghost@0", "otter@0:rudder=1"])
def test_vehicles_and_channels_that_are_not_there_are_refused(fast, place):
    with pytest.raises(SpecError, match=r"ghost|rudder"):
        run_bridged(fast, [ArduPilotBridge(place)], pace=None)


def test_an_imu_at_rest_feels_gravity_upwards():
    inertial, level = Inertial(), np.array([1.0, 0.0, 0.0, 0.0])
    upside_down = np.array([0.0, 1.0, 0.0, 0.0])
    for attitude, sign in ((level, -1.0), (upside_down, 1.0)):
        state = VehicleState(0.0, np.zeros(3), attitude, np.zeros(6), {}, "running")
        _, force = inertial.feel(state)
        assert np.allclose(force, [0, 0, sign * 9.80665])


# ── MAVLink ───────────────────────────────────────────────────────────────────────────────────


def test_pymavlink_reads_our_frames_and_we_read_its():
    counts = Counter()
    ours = Framer(1, 200, counts)
    theirs = common.MAVLink(None)
    data = ours.frame(HEARTBEAT, 0, 10, 8, 0, 4, 3)
    data += ours.frame(HIL_SENSOR, 123456, *range(1, 14), 0x1FFF, 0)
    data += ours.frame(
        HIL_GPS, 7, -338500000, 1512000000, -30, 100, 100, 515, -1, 2, 3, 900, 3, 12, 0, 0
    )
    beat, sensor, gps = theirs.parse_buffer(data)
    assert (beat.get_type(), beat.type, beat.autopilot) == ("HEARTBEAT", 10, 8)
    assert (sensor.time_usec, sensor.xacc, sensor.zgyro, sensor.temperature) == (123456, 1, 6, 13)
    assert (gps.lat, gps.lon, gps.alt, gps.vel, gps.ve, gps.cog) == (
        *(-338500000, 1512000000, -30, 515), 2, 900,
    )  # fmt: skip
    controls = [i / 16 for i in range(16)]
    theirs.srcSystem = 1
    sent = common.MAVLink_hil_actuator_controls_message(99, controls, 129, 1).pack(theirs)
    other = common.MAVLink_attitude_message(0, 0, 0, 0, 0, 0, 0).pack(theirs)
    found = ours.found(b"noise" + sent[:9]) + ours.found(sent[9:] + other + b"\xfd\x01")
    ((kind, fields),) = found
    assert kind is HIL_ACTUATOR_CONTROLS
    assert fields[2:18] == pytest.approx(controls)
    assert counts == Counter(garbled=1, ignored=1)


def test_damaged_frames_are_found_out():
    theirs, counts = common.MAVLink(None), Counter()
    good = common.MAVLink_hil_actuator_controls_message(99, [0.5] * 16, 129, 1).pack(theirs)
    ours = Framer(1, 200, counts)
    for i in range(1, len(good)):
        bad = bytearray(good)
        bad[i] ^= 0x55
        ours.found(bytes(bad))
    ours.found(random.Random(5).randbytes(100_000))
    clean = Framer(1, 200, Counter())
    assert clean.found(random.Random(6).randbytes(10_000)) == []
    assert counts["garbled"] > 50
    # After all that, and the rest of a frame that never came, a good one is heard again.
    assert any(kind is HIL_ACTUATOR_CONTROLS for kind, _ in ours.found(good * 10))


def test_mavlink_flies_a_vehicle_by_its_own_sensors(bridged, plan, tmp_path):
    bridge = MavlinkBridge("0:left=1,right=2")
    heard = []

    def fly():
        dialect = common.MAVLink(None)
        with (
            contextlib.suppress(ConnectionError),  # the run is over
            socket.create_connection(("127.0.0.1", port_of(bridge)), timeout=30) as peer,
        ):
            while data := peer.recv(65_536):
                for message in dialect.parse_buffer(data) or ():
                    heard.append(message)
                    if message.get_type() == "HIL_SENSOR":
                        controls = [0.5, -0.5] + [math.nan] * 14
                        answer = common.MAVLink_hil_actuator_controls_message(
                            message.time_usec, controls, 129, 1
                        )
                        peer.sendall(answer.pack(dialect))

    peer = threading.Thread(target=fly)
    peer.start()
    finished = bridged(bridge, out=tmp_path / "run.mcap")
    peer.join(30)
    left, right = finished.dataset.command.isel(vehicle=0).values.T
    assert np.all(left == left[0])
    assert left[0] > 0.0
    assert np.all(right == right[0])
    assert right[0] < 0.0
    sensors = [m for m in heard if m.get_type() == "HIL_SENSOR"]
    assert np.allclose(np.diff([m.time_usec for m in sensors]), 1e5)
    measured = finished.recording.sensor("otter", "imu")
    rows = [
        int(np.argmin(np.abs(measured.time.values - m.time_usec / 1e6 + 0.02)))
        for m in sensors[5:-1]
    ]
    told = np.array([[m.xacc, m.zgyro] for m in sensors[5:-1]])
    kept = np.column_stack([measured.acceleration_x.values, measured.angular_velocity_z.values])
    assert np.allclose(told, kept[rows], rtol=1e-6, atol=1e-6)
    fixes = [m for m in heard if m.get_type() == "HIL_GPS"]
    gnss = finished.recording.sensor("otter", "gnss")
    assert len(fixes) == gnss.sizes["time"]
    for fix, north, east in zip(fixes, gnss.north.values, gnss.east.values, strict=True):
        latitude, longitude, _ = to_geodetic([north, east, 0.0], plan.header.datum)
        assert fix.lat == pytest.approx(float(latitude) * 1e7, abs=1.0)
        assert fix.lon == pytest.approx(float(longitude) * 1e7, abs=1.0)
    assert bridge.counts["heard"] >= 60


def test_silent_peers_a_second_autopilot_and_garbage_do_not_disturb_the_first(bridged):
    bridge = MavlinkBridge("0")
    answered = []

    def fly():
        dialect, dice = common.MAVLink(None), random.Random(9)
        dialect.robust_parsing = True
        with contextlib.suppress(ConnectionError), contextlib.ExitStack() as stack:
            place = ("127.0.0.1", port_of(bridge))
            silent = stack.enter_context(socket.create_connection(place, timeout=30))
            silent.recv(65_536)  # it has the place, and gives it up to one who speaks
            peer = stack.enter_context(socket.create_connection(place, timeout=30))
            data = peer.recv(65_536)
            while data:
                if len(answered) == 5:
                    stack.enter_context(socket.create_connection(place, timeout=30))
                for message in dialect.parse_buffer(data) or ():
                    if message.get_type() == "HIL_SENSOR":
                        answer = common.MAVLink_hil_actuator_controls_message(0, [0.0] * 16, 1, 1)
                        # Garbage without the start of a frame, which would swallow what follows.
                        noise = dice.randbytes(50).replace(b"\xfd", b"")
                        peer.sendall(noise + answer.pack(dialect))
                        answered.append(message.time_usec)
                data = peer.recv(65_536)

    peer = threading.Thread(target=fly)
    peer.start()
    assert bridged(bridge).status == "completed"
    peer.join(30)
    assert len(answered) >= 60
    assert bridge.counts["refused"] >= 2
    assert bridge.counts["garbled"] >= 60
