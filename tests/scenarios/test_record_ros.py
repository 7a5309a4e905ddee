"""The recording as ROS sees it: frames after REP 103, bytes after rosbags, topics by name."""

import hypothesis.strategies as some
import jax
import numpy as np
import pytest
import record_frames as rf
from hypothesis import given
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from seatrial.record.dataset import euler_angles
from seatrial.record.mcap.writer import McapRecorder
from seatrial.ros.axes import swap_attitude, swap_body, swap_world
from seatrial.ros.layout import TypeStore
from seatrial.ros.topics import CLOCK_TYPE, build_clock, vehicle_topics
from seatrial.spatial import rotations

numbers = some.floats(-1e6, 1e6, allow_nan=False)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("ros") / "run.mcap"
    recorder = McapRecorder(path)
    recorder.open(rf.header())
    recorder.write(rf.frames(duration=5.0))
    recorder.close(rf.summary())
    return path


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def yaw(q):
    return np.arctan2(matrix(q)[1, 0], matrix(q)[0, 0])


@given(some.tuples(numbers, numbers, numbers))
def test_vectors_go_to_ros_and_back_unchanged(v):
    v = np.array(v)
    np.testing.assert_array_equal(swap_world(swap_world(v)), v)
    np.testing.assert_array_equal(swap_body(swap_body(v)), v)


@given(some.tuples(*[some.floats(-3.0, 3.0)] * 3))
def test_attitude_goes_to_ros_and_back_unchanged(euler):
    q = rf.quaternion(*np.array(euler))
    np.testing.assert_allclose(swap_attitude(swap_attitude(q)), q, atol=1e-15)


@given(some.tuples(*[some.floats(-3.0, 3.0)] * 3), some.tuples(numbers, numbers, numbers))
def test_rotating_then_converting_equals_converting_then_rotating(euler, body_vector):
    q, v = rf.quaternion(*np.array(euler)), np.array(body_vector)
    there = swap_world(matrix(q) @ v)
    here = matrix(swap_attitude(q)) @ swap_body(v)
    np.testing.assert_allclose(here, there, atol=1e-9 * (1 + np.abs(v).max()))


@pytest.mark.parametrize(("heading", "expected"), [(0, 90), (90, 0), (180, -90), (-135, -135)])
def test_compass_heading_becomes_yaw_from_east(heading, expected):
    q = swap_attitude(rf.quaternion(0.0, 0.0, np.radians(heading)))
    assert np.degrees(yaw(q)) == pytest.approx(expected, abs=1e-9)


def test_turn_to_starboard_is_a_negative_yaw_rate_and_down_becomes_up():
    np.testing.assert_array_equal(swap_body(np.array([0.0, 0.0, 0.1])), [0.0, 0.0, -0.1])
    np.testing.assert_array_equal(swap_world(np.array([1.0, 2.0, 3.0])), [2.0, 1.0, -3.0])


def test_bow_up_in_seatrial_is_bow_up_in_ros():
    q = swap_attitude(rf.quaternion(0.0, 0.2, 0.7))
    bow = matrix(q) @ [1.0, 0.0, 0.0]
    assert bow[2] == pytest.approx(np.sin(0.2))


def test_euler_angles_agree_with_the_simulation_s_own():
    q = rf.quaternion(*np.random.default_rng(2).uniform(-1.5, 1.5, (3, 50)))
    with jax.enable_x64(True):
        expected = rotations.to_euler(jax.numpy.asarray(q.T)).T
    np.testing.assert_allclose(euler_angles(q), expected, atol=1e-14)


def test_every_message_has_the_bytes_that_rosbags_would_write():
    store = get_typestore(Stores.ROS2_HUMBLE)
    generator = np.random.default_rng(5)
    stamps = np.array([0, 100_000_000, 59_999_999_999, 3_000_000_000_123], dtype=np.int64)
    for vehicle in (rf.BOAT, rf.AUV):
        for topic in vehicle_topics(vehicle, "name"):
            layout = TypeStore().layout(topic.typename, topic.build, topic.slots)
            values = generator.normal(size=(len(stamps), topic.slots))
            for i, data in enumerate(layout.encode(stamps, values)):
                message = store.deserialize_cdr(data, topic.typename)
                assert bytes(store.serialize_cdr(message, topic.typename)) == data
                assert numbers_in(message, topic.typename, store) == values[i].tolist()
                header = getattr(message, "header", None)
                if header is not None:
                    assert header.stamp.sec * 10**9 + header.stamp.nanosec == stamps[i]
            np.testing.assert_array_equal(layout.decode(layout.encode(stamps, values)), values)
    clock = TypeStore().layout(CLOCK_TYPE, build_clock, 0)
    tick = store.deserialize_cdr(clock.encode(stamps, np.empty((4, 0)))[2], CLOCK_TYPE).clock
    assert (tick.sec, tick.nanosec) == (59, 999_999_999)


def numbers_in(message, typename, store):
    """All float64 fields in the order of the definition, without covariances."""
    found = []

    def walk(value, name):
        if name == "covariance":
            assert not value.any()
        elif isinstance(value, float):
            found.append(value)
        elif isinstance(value, np.ndarray):
            found.extend(value.tolist())
        elif isinstance(value, list):
            for item in value:
                walk(item, name)
        elif hasattr(value, "__msgtype__"):
            for field in value.__dataclass_fields__:
                if field != "__msgtype__":
                    walk(getattr(value, field), field)

    walk(message, "")
    return found


def test_rosbags_reads_topics_types_and_poses_from_the_definitions_in_the_file(recorded):
    run = rf.frames(duration=5.0)
    seen = {}
    # An empty store: the reader must learn every type from the schemas inside the file.
    with AnyReader([recorded], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        types = {c.topic: c.msgtype for c in reader.connections}
        for connection, time_ns, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            seen.setdefault(connection.topic, []).append((time_ns, message))
    assert types["/clock"] == "rosgraph_msgs/msg/Clock"
    assert types["/tf"] == "tf2_msgs/msg/TFMessage"
    assert types["/otter/odometry"] == "nav_msgs/msg/Odometry"
    assert types["/remus_1/command"] == "sensor_msgs/msg/JointState"
    assert {t.split("/")[1] for t in types} == {"clock", "tf", "otter", "remus_1"}

    last, odometry = seen["/otter/odometry"][-1]
    truth = run.vehicles["otter"]
    assert last == 5_000_000_000
    assert (odometry.header.frame_id, odometry.child_frame_id) == ("map", "otter/base_link")
    position = odometry.pose.pose.position
    np.testing.assert_array_equal([position.y, position.x, -position.z], truth.position[-1])
    assert odometry.twist.twist.angular.z == -truth.velocity[-1, 5]
    o = odometry.pose.pose.orientation
    heading = np.radians(6.0) * 5.0
    assert yaw([o.w, o.x, o.y, o.z]) == pytest.approx(np.pi / 2 - heading, abs=0.01)

    transform = seen["/tf"][-1][1].transforms[0]
    assert transform.child_frame_id == "remus_1/base_link"
    state = seen["/remus_1/actuators"][-1][1]
    assert state.name == ["propeller", "rudder", "stern"]
    np.testing.assert_array_equal(state.position, run.vehicles["remus-1"].actuators[-1])
    surface = seen["/otter/wave"][-1][1].point
    assert (surface.x, surface.z) == (position.x, truth.wave_elevation[-1])
    assert len(seen["/clock"]) == len(run.time)
    assert len(seen["/tf"]) == 2 * len(run.time)


def test_mcap_reader_finds_ros2_profile_and_simulated_times_only(recorded):
    from mcap.reader import make_reader

    with recorded.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        statistics = reader.get_summary().statistics
        assert statistics.message_count == 51 * 23
        assert (statistics.message_start_time, statistics.message_end_time) == (0, 5 * 10**9)
        for schema, channel, message in reader.iter_messages():
            assert schema.encoding == "ros2msg"
            assert channel.message_encoding == "cdr"
            assert message.log_time == message.publish_time
