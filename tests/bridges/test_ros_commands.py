"""ROS's messages as orders, and runs as ROS's messages: axes, names, bytes."""

import contextlib
import math
import random

import numpy as np
import pytest

import seatrial as st
from seatrial.bridges.bridge import Control, Order, SetFault, Setting, Turn
from seatrial.bridges.steering import Steering
from seatrial.bridging import setting_of
from seatrial.engine.frames import (
    ActuatorInfo,
    Frames,
    GroupFrames,
    RunHeader,
    VehicleFrames,
    VehicleInfo,
    VehicleState,
)
from seatrial.ros.commands import MessageError
from seatrial.ros.layout import TypeStore
from seatrial.ros.profiles import PROFILES, profile_of
from seatrial.ros.streams import Streams
from seatrial.signals import RELEASE, FaultInfo, Measurements

STORE = TypeStore()
TYPES = STORE._store.types
CHANNELS = (ActuatorInfo("propeller", "rev/s"), ActuatorInfo("rudder", "rad"))


def setting(*actuators, name="boat"):
    actuators = actuators or CHANNELS
    faults = (FaultInfo("imu: freeze", "imu", "freeze"),)
    vehicle = VehicleInfo(name, "boat", "surface", 2.0, 1.0, 0.5, actuators, faults=faults)
    made = RunHeader("s", "0", 1, lambda: "", 0.1, 1.0, None, (0.0, 0.0), (vehicle,))
    limits = {name: {a.name: (-10.0, 20.0) for a in actuators}}
    return Setting(made, None, 0.1, limits)


def steering(profile="seatrial", *actuators, name="boat"):
    return Steering(setting(*actuators, name=name), {name: name}, profile_of(profile))


def make(typename, *fields):
    return TYPES[typename](*fields)


def vector(x, y, z):
    return make("geometry_msgs/msg/Vector3", x, y, z)


def header(frame="map"):
    return make("std_msgs/msg/Header", make("builtin_interfaces/msg/Time", 0, 0), frame)


def pose(x, y):
    level = make("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
    return make("geometry_msgs/msg/Pose", make("geometry_msgs/msg/Point", x, y, 0.0), level)


def stamped(where, frame=""):
    return make("geometry_msgs/msg/PoseStamped", header(frame), where)


def float64(x):
    return make("std_msgs/msg/Float64", x)


def multi(*data):
    return make(
        "std_msgs/msg/Float64MultiArray",
        make("std_msgs/msg/MultiArrayLayout", [], 0),
        np.array(data, dtype=np.float64),
    )


def actuator(names, values):
    return make("interfaces/msg/Actuator", header(), names, np.array(values))


def text(word):
    return make("std_msgs/msg/String", word)


def test_a_turn_to_the_left_is_to_port():
    twist = make("geometry_msgs/msg/Twist", vector(1.5, 0.0, 0.0), vector(0.0, 0.0, 0.2))
    order = steering().request("/boat/cmd_vel", twist)
    assert order.vehicle == "boat"
    assert (order.command.setpoint.surge, order.command.setpoint.yaw_rate) == (1.5, -0.2)


def test_shares_are_of_the_limits_on_their_side():
    found = steering().request("/boat/cmd/thrusters", multi(0.5, -0.5)).command.channels
    assert found == {"propeller": 10.0, "rudder": -5.0}
    found = steering().request("/boat/cmd/thrusters", multi(7.0, -7.0)).command.channels
    assert found == {"propeller": 20.0, "rudder": -10.0}


def test_short_names_count_surfaces_and_thrusters():
    found = steering().request("/boat/actuator_cmd", actuator(["cs_1", "th_1"], [10.0, 900.0]))
    assert found.command.channels == {"rudder_deg": 10.0, "propeller_rpm": 900.0}
    engines = (ActuatorInfo("left", "N"), ActuatorInfo("left_angle", "rad"))
    found = steering("seatrial", *engines).request("/boat/actuator_cmd", actuator(["th_1"], [50.0]))
    assert found.command.channels == {"left": 50.0}


def test_vrx_orders_engines_by_its_names_and_sign():
    engines = (ActuatorInfo("left", "N"), ActuatorInfo("left_angle", "rad"))
    one = steering("vrx", *engines, name="wamv")
    found = one.request("/wamv/thrusters/left/thrust", float64(120.0)).command.channels
    assert found == {"left": 120.0}
    # To the left about the axis that points up, so that the thrust pushes the stern to starboard.
    found = one.request("/wamv/thrusters/left/pos", float64(0.3)).command.channels
    assert found == {"left_angle": -0.3}


def test_a_path_is_gone_along_place_by_place():
    one = steering()
    stamped = [
        make("geometry_msgs/msg/PoseStamped", header(), pose(x, y)) for x, y in ((30, 10), (30, 50))
    ]
    order = one.request("/boat/follow_path", make("nav_msgs/msg/Path", header(), stamped))
    assert order.command.setpoint.waypoint == (10.0, 30.0)  # north and east of x east and y north
    assert order.command.setpoint.surge == pytest.approx(0.25 * math.sqrt(9.80665 * 2.0))
    assert one.underway(turn_at(0.0, 0.0)) == []
    (onward,) = one.underway(turn_at(11.0, 28.0))
    assert onward.command.setpoint.waypoint == (50.0, 30.0)
    faster = one.request("/boat/cruise_speed", float64(2.0))
    assert (faster.command.setpoint.surge, faster.command.setpoint.waypoint) == (2.0, (50.0, 30.0))
    assert one.underway(turn_at(50.0, 30.0)) == []  # the last place is kept
    one.request("/boat/cmd/rudder", float64(0.1))
    assert one.request("/boat/cruise_speed", float64(1.0)) is None  # no route any more


def turn_at(north, east):
    level = np.array([1.0, 0.0, 0.0, 0.0])
    place = np.array([north, east, 0.0])
    state = VehicleState(0.0, place, level, np.zeros(6), {}, "running")
    return Turn(0.0, Frames(np.empty(0), ()), {"boat": state})


def test_steering_in_another_way_gives_back_what_was_held():
    one = steering()
    first = one.request("/boat/cmd/rudder", float64(0.1))
    twist = make("geometry_msgs/msg/Twist", vector(1.0, 0.0, 0.0), vector(0.0, 0.0, 0.0))
    assert first.command.release == ()
    assert one.request("/boat/cmd_vel", twist).command.release == "all"
    assert one.request("/boat/cmd_vel", twist).command.release == ()


def test_faults_controls_and_release():
    one = steering()
    assert one.request("/boat/set_fault", text("imu: freeze")) == SetFault(
        "boat", "imu: freeze", True
    )
    assert one.request("/boat/clear_fault", text("x")) == SetFault("boat", "x", False)
    assert one.request("/simulation/control", text("step")) == Control("step")
    assert one.request("/simulation/set_sea_state", vector(1.0, 6.0, 0.0)).sea.peak_period == 6.0
    assert one.request("/boat/release", make("std_msgs/msg/Empty")) == Order("boat", RELEASE)


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("/boat/cmd/rudder", float64(math.nan)),
        ("/boat/cmd/thrusters", multi(1.0)),
        ("/boat/cmd/thrusters", multi(1.0, math.inf)),
        ("/boat/actuator_cmd", actuator(["cs_1"], [1.0, 2.0])),
        ("/boat/actuator_cmd", actuator(["cs_1", "cs_1"], [1.0, 2.0])),
        ("/boat/waypoints", make("geometry_msgs/msg/PoseArray", header(), [])),
        ("/boat/waypoints", make("geometry_msgs/msg/PoseArray", header("odom"), [pose(1, 2)])),
        ("/boat/goal_pose", stamped(pose(1, 2), "boat/base_link")),
        ("/boat/follow_path", make("nav_msgs/msg/Path", header("utm"), [stamped(pose(1, 2))])),
        ("/boat/follow_path", make("nav_msgs/msg/Path", header(), [stamped(pose(1, 2), "utm")])),
        ("/boat/waypoints", make("geometry_msgs/msg/PoseArray", header(), [pose(math.nan, 0.0)])),
        ("/simulation/control", text("explode")),
        ("/simulation/set_sea_state", vector(math.nan, 6.0, 0.0)),
    ],
)
def test_what_is_no_order_is_refused_with_a_reason(topic, message):
    """A place in a frame that is not the world's is another place."""
    with pytest.raises(MessageError):
        steering().request(topic, message)


def test_bytes_that_are_no_message_are_told():
    good = STORE.serialise("std_msgs/msg/Float64", lambda f: f.make("std_msgs/msg/Float64", 1.0))
    assert STORE.read("std_msgs/msg/Float64", good).data == 1.0
    for bad in (b"", b"\x00", good[:-1], b"\x00\x01\x00\x00"):
        with pytest.raises(ValueError, match="no std_msgs"):
            STORE.read("std_msgs/msg/Float64", bad)
    huge = b"\x00\x01\x00\x00\xff\xff\xff\xff"
    with pytest.raises(ValueError, match="no std_msgs"):
        STORE.read("std_msgs/msg/String", huge)


@pytest.mark.parametrize("typename", sorted(set(steering().topics.values())))
def test_any_bytes_are_read_or_refused(typename):
    dice = random.Random(typename)
    begin = b"\x00\x01\x00\x00"
    # The second half claims lists of up to four thousand million elements.
    wild = [begin + dice.randbytes(dice.randrange(200)) for _ in range(300)]
    wild += [begin + bytes(8) + b"\x01" + bytes(7) + b"\xff\xff\xff" + dice.randbytes(40)] * 300
    for data in wild:
        with contextlib.suppress(ValueError):
            STORE.read(typename, data)


def test_streams_say_what_a_recording_says(plan, tmp_path):
    from mcap.reader import make_reader

    st.run(plan, out=tmp_path / "run.mcap")
    with (tmp_path / "run.mcap").open("rb") as file:
        recorded = {}
        for _, channel, message in make_reader(file).iter_messages():
            recorded.setdefault(channel.topic, set()).add(message.data)
    streams = Streams(plan.header, PROFILES["seatrial"])
    kept = st.run(plan).recording.vehicle("otter")
    row = 7
    state = VehicleState(
        float(kept.time[row]),
        kept.position.values[row],
        kept.attitude.values[row],
        np.hstack([kept.velocity.values[row], kept.angular_velocity.values[row]]),
        dict(zip(("left", "right"), kept.actuator.values[row], strict=True)),
        "running",
    )
    said = list(streams.messages(state.time, Frames(np.empty(0), ()), {"otter": state}))
    assert [topic for topic, _ in said] == ["/tf", "/otter/odometry", "/clock"]
    assert all(data in recorded[topic] for topic, data in said)
    assert set(recorded) <= set(streams.topics)


def test_panisim_s_names_and_axes(plan):
    streams = Streams(plan.header, PROFILES["panisim"])
    assert {"/otter_00/odometry_sim", "/otter_00/vessel_state", "/otter_00/imu/data"} <= set(
        streams.topics
    )
    attitude = np.array([0.9, 0.1, -0.3, 0.3])
    turning = {"left": 10.0, "right": -5.0}
    place = np.array([1.0, 2.0, 3.0])
    state = VehicleState(0.0, place, attitude, np.arange(6.0), turning, "running")
    said = dict(streams.messages(0.0, Frames(np.empty(0), ()), {"otter": state}))
    odometry = STORE.read("nav_msgs/msg/Odometry", said["/otter_00/odometry_sim"])
    place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
    assert (place.x, place.y, place.z) == (1.0, 2.0, 3.0)
    assert (turn.w, turn.x, turn.y, turn.z) == tuple(attitude)
    whole = STORE.read("std_msgs/msg/Float64MultiArray", said["/otter_00/vessel_state"]).data
    assert whole[:9].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0, 3.0]
    assert whole[12:].tolist() == [600.0, -300.0]  # rpm


def test_thrusters_that_are_ordered_in_newtons_are_told_so_to_panisim():
    remus = {"name": "remus", "vehicle": "remus100", "start": {"position": [0, 0, 5]}}
    plan = st.compile_scenario(st.Scenario(duration=1.0, world="calm", vehicles=[remus]))
    streams = Streams(plan.header, PROFILES["panisim"])
    acting = {"propeller": 7.5, "rudder": math.radians(5.0), "stern_plane": math.radians(-3.0)}
    level = np.array([1.0, 0.0, 0.0, 0.0])
    state = VehicleState(0.0, np.zeros(3), level, np.zeros(6), acting, "running")
    said = dict(streams.messages(0.0, Frames(np.empty(0), ()), {"remus": state}))
    told = STORE.read("std_msgs/msg/Float64MultiArray", said["/remus_00/vessel_state"]).data
    assert told[12:] == pytest.approx([5.0, -3.0, 7.5])


def test_vehicles_are_numbered_as_panisim_numbers_them():
    profile = PROFILES["panisim"]
    names = ["otter", "otter_1", "otter_07", "remus_100", "kvlcc2_l7"]
    assert [profile.namespace(name) for name in names] == [
        *("otter_00", "otter_01", "otter_07", "remus_100_00", "kvlcc2_l7_00"),
    ]
    assert PROFILES["seatrial"].namespace("otter_1") == "otter_1"
    two = [{"name": name, "vehicle": "otter"} for name in ("otter", "otter_0")]
    two[1] |= {"start": {"position": [20, 0, 0]}}
    header = st.compile_scenario(st.Scenario(duration=1.0, world="calm", vehicles=two)).header
    Streams(header, PROFILES["seatrial"])
    with pytest.raises(st.RecordingError, match="/otter_00"):
        Streams(header, profile)


def test_an_attitude_of_panisim_is_that_of_forward_starboard_down_to_north_east_down():
    rov = {"name": "rov", "vehicle": "bluerov2", "start": {"position": [0, 0, 5]}}
    header = st.compile_scenario(st.Scenario(duration=1.0, world="calm", vehicles=[rov])).header
    own = [0.9, 0.1, -0.3, 0.3, 0.4, 0.5, 0.6]  # w x y z, then the rates
    info = next(s for s in header.vehicles[0].sensors if s.name == "ahrs")
    assert [c.rpartition("_")[2] for c in info.components] == [*"wxyz", *"xyz"]
    stamps, none = np.array([0.5]), np.empty((0, 1, 0))
    sample = Measurements(
        stamps,
        stamps[:, None],
        np.array([[own]]),
        np.ones((1, 1), bool),
        np.zeros((1, 1), np.int32),
    )
    empty = VehicleFrames(**dict.fromkeys(VehicleFrames.__dataclass_fields__, none))
    frames = Frames(np.empty(0), (GroupFrames(("rov",), empty, {"ahrs": sample}),))
    said = dict(Streams(header, PROFILES["panisim"]).messages(0.5, frames, {}))
    imu = STORE.read("sensor_msgs/msg/Imu", said["/rov_00/ahrs"])
    turn, rate = imu.orientation, imu.angular_velocity
    assert [turn.w, turn.x, turn.y, turn.z, rate.x, rate.y, rate.z] == pytest.approx(own)


@pytest.mark.parametrize(("profile", "sign"), [("seatrial", -1.0), ("panisim", 1.0)])
def test_the_imu_of_panisim_keeps_forward_starboard_down(plan, profile, sign):
    streams = Streams(plan.header, PROFILES[profile])
    values = np.array([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]])
    stamps = np.array([0.5])
    sample = Measurements(
        stamps, stamps[:, None], values, np.ones((1, 1), bool), np.zeros((1, 1), np.int32)
    )
    none = np.empty((0, 1, 0))
    empty = VehicleFrames(**dict.fromkeys(VehicleFrames.__dataclass_fields__, none))
    frames = Frames(np.empty(0), (GroupFrames(("otter",), empty, {"imu": sample}),))
    said = dict(streams.messages(0.5, frames, {}))
    topic = "/otter/imu" if profile == "seatrial" else "/otter_00/imu/data"
    imu = STORE.read("sensor_msgs/msg/Imu", said[topic])
    force, rate = imu.linear_acceleration, imu.angular_velocity
    assert (force.x, force.y, force.z) == (1.0, sign * 2.0, sign * 3.0)
    assert (rate.x, rate.y, rate.z) == (4.0, sign * 5.0, sign * 6.0)


PANISIM = {
    "odometry_sim": "nav_msgs/msg/Odometry",
    "odometry": "nav_msgs/msg/Odometry",
    "vessel_state": "std_msgs/msg/Float64MultiArray",
    "imu/data": "sensor_msgs/msg/Imu",
    "uwb": "geometry_msgs/msg/PoseWithCovarianceStamped",
    "Rudder_1/encoder": "sensor_msgs/msg/JointState",
    "gps": "sensor_msgs/msg/NavSatFix",
}
"""What its manual lists, below `/sookshma_00`; it says nothing of an encoder's message."""

VRX = {
    "sensors/imu/imu/data": "sensor_msgs/msg/Imu",
    "sensors/gps/gps/fix": "sensor_msgs/msg/NavSatFix",
    "sensors/position/ground_truth_odometry": "nav_msgs/msg/Odometry",
    "sensors/lidars/lidar_wamv_sensor/points": "sensor_msgs/msg/PointCloud2",
    "sensors/cameras/front_left_camera_sensor/image_raw": "sensor_msgs/msg/Image",
    "sensors/cameras/front_left_camera_sensor/camera_info": "sensor_msgs/msg/CameraInfo",
}
"""Below `/wamv`."""


def published(vehicle, profile, *more):
    """Topics of a library vehicle and their types; of a sensor beside its own, too."""
    name = vehicle.partition("_")[0]
    library = st.load(vehicle)
    own = [s.model_dump(exclude_unset=True) for s in library.sensors]
    one = {"name": name, "vehicle": vehicle, "sensors": [*own, *more]}
    plan = st.compile_scenario(st.Scenario(duration=1.0, world="harbour", vehicles=[one]))
    streams = Streams(plan.header, PROFILES[profile])
    steering = Steering(setting_of(plan), streams.namespaces, PROFILES[profile])
    return {topic: kind for topic, (kind, _) in streams.topics.items()}, steering.topics


def test_panisim_s_topics_have_its_names_and_types():
    said, heard = published("sookshma", "panisim", {"type": "gnss", "name": "gnss", "rate": 1})
    for name, kind in PANISIM.items():
        assert said[f"/sookshma_00/{name}"] == kind
    assert heard["/sookshma_00/actuator_cmd"] == "interfaces/msg/Actuator"


def test_vrx_s_topics_have_its_names_and_types():
    lidar = {"kind": "lidar", "name": "l", "beams": 2, "columns": 8, "range": 50}
    lidar |= {"lowest_deg": -5, "highest_deg": 5, "reference_range": 20}
    above = {"position": [0, 0, -1.5]}
    said, heard = published(
        "wamv",
        "vrx",
        {"type": "lidar", "name": "lidar_wamv", "rate": 5, "model": lidar} | above,
        {"type": "depth_camera", "name": "front_left_camera", "rate": 5} | above,
    )
    for name, kind in VRX.items():
        assert said[f"/wamv/{name}"] == kind
    for side in ("left", "right"):
        assert heard[f"/wamv/thrusters/{side}/thrust"] == "std_msgs/msg/Float64"
        assert heard[f"/wamv/thrusters/{side}/pos"] == "std_msgs/msg/Float64"
