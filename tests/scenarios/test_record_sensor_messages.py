"""Measurements as ROS sees them: types, axes, stamps and covariances, judged by rosbags."""

import dataclasses

import numpy as np
import pytest
import record_frames as rf
import record_sensors as rs
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from seatrial.errors import RecordingError
from seatrial.record.mcap.writer import McapRecorder


@pytest.fixture(scope="module")
def run():
    return rs.whole_run()


@pytest.fixture(scope="module")
def mcap(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("mcap") / "run.mcap"
    rs.write(McapRecorder(path), run)
    return path


@pytest.fixture(scope="module")
def messages(mcap):
    """Every message by topic, with its log time, as rosbags reads them from the file alone."""
    seen = {}
    with AnyReader([mcap], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        for connection, time_ns, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            seen.setdefault(connection.topic, []).append((time_ns, message))
    return seen


def picked(run, name, *components, vehicle="otter"):
    info = next(s for s in rs.SENSORS if s.name == name)
    columns = [info.components.index(c) for c in components]
    return rs.valid(run, name, vehicle).values[:, columns]


def stamp(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def ns(seconds):
    return np.rint(np.asarray(seconds) * 1e9).astype(np.int64)


def xyz(part):
    return [part.x, part.y, part.z]


def test_stamp_is_when_a_sample_was_taken_and_log_time_when_it_arrived(run, messages):
    for name in (s.name for s in rs.SENSORS if s.type != "gnss"):
        truth = rs.valid(run, name)
        stamps = [stamp(m) for _, m in messages[f"/otter/{name}"]]
        np.testing.assert_array_equal(stamps, ns(truth.time), err_msg=name)
        logged = [time_ns for time_ns, _ in messages[f"/otter/{name}"]]
        np.testing.assert_array_equal(logged, ns(truth.arrival), err_msg=name)


def test_types_and_frames_are_those_that_ros_programs_expect(mcap, messages):
    with AnyReader([mcap], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        types = {c.topic: c.msgtype.replace("/msg/", "/") for c in reader.connections}
    expected = {
        "imu": "sensor_msgs/Imu",
        "ahrs": "sensor_msgs/Imu",
        "compass": "sensor_msgs/Imu",
        "magnetometer": "sensor_msgs/MagneticField",
        "gnss": "sensor_msgs/NavSatFix",
        "gnss/velocity": "geometry_msgs/TwistWithCovarianceStamped",
        "uwb": "geometry_msgs/PoseWithCovarianceStamped",
        "uwb/ranges": "sensor_msgs/JointState",
        "pressure": "sensor_msgs/FluidPressure",
        "pressure/depth": "geometry_msgs/PoseWithCovarianceStamped",
        "dvl": "geometry_msgs/TwistWithCovarianceStamped",
        "dvl/altitude": "sensor_msgs/Range",
        "dvl/beams": "sensor_msgs/JointState",
        "dvl/ping": "marine_acoustic_msgs/Dvl",
        "speed_log": "geometry_msgs/TwistWithCovarianceStamped",
        "anemometer": "geometry_msgs/Vector3Stamped",
        "ctd": "sensor_msgs/JointState",
        "ctd/temperature": "sensor_msgs/Temperature",
        "ctd/pressure": "sensor_msgs/FluidPressure",
        "encoder": "sensor_msgs/JointState",
        "shaft": "sensor_msgs/JointState",
        "battery": "sensor_msgs/BatteryState",
        "hydrophone": "sensor_msgs/JointState",
        "faults": "sensor_msgs/JointState",
        "imu/fault": "sensor_msgs/JointState",
    }
    for topic, typename in expected.items():
        assert types[f"/otter/{topic}"] == typename
    of_the_world = ("gnss/velocity", "uwb", "pressure/depth")
    for topic in set(expected) - {"faults"}:
        frame = "map" if topic in of_the_world else f"otter/{topic.split('/')[0]}"
        assert messages[f"/otter/{topic}"][0][1].header.frame_id == frame, topic


def test_inertial_messages_are_forward_left_up_with_their_covariance(run, messages):
    truth = picked(run, "imu", *rs.SENSORS[0].components)
    flip = np.array([1.0, -1.0, -1.0])
    for row, (_, m) in zip(truth, messages["/otter/imu"], strict=True):
        np.testing.assert_array_equal(xyz(m.linear_acceleration), row[:3] * flip)
        np.testing.assert_array_equal(xyz(m.angular_velocity), row[3:] * flip)
    assert m.orientation_covariance[0] == -1.0
    np.testing.assert_allclose(m.linear_acceleration_covariance.reshape(3, 3), 1e-4 * np.eye(3))
    np.testing.assert_allclose(m.angular_velocity_covariance.reshape(3, 3), 4e-6 * np.eye(3))
    field = picked(run, "magnetometer", "field_x", "field_y", "field_z")
    m = messages["/otter/magnetometer"][-1][1]
    np.testing.assert_array_equal(xyz(m.magnetic_field), field[-1] * flip)
    np.testing.assert_allclose(np.diag(m.magnetic_field_covariance.reshape(3, 3)), 1e-14)


def rotation(w, x, y, z):
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn(q):
    return rotation(q.w, q.x, q.y, q.z)


TO_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
TO_FLU = np.diag([1.0, -1.0, -1.0])


def test_orientation_turns_the_sensor_s_axes_into_east_north_up(run, messages):
    truth = picked(run, "ahrs", *(f"orientation_{c}" for c in "wxyz"))
    for row, (_, m) in zip(truth, messages["/otter/ahrs"], strict=True):
        expected = TO_ENU @ rotation(*row) @ TO_FLU
        np.testing.assert_allclose(turn(m.orientation), expected, atol=1e-14)
    covariance = m.orientation_covariance.reshape(3, 3)
    np.testing.assert_allclose(np.diag(covariance), [1e-4, 1e-4, 9e-4])
    assert m.linear_acceleration_covariance[0] == -1.0


def test_compass_points_along_its_x_axis_in_east_north_up(run, messages):
    headings = picked(run, "compass", "heading")[:, 0]
    for heading, (_, m) in zip(headings, messages["/otter/compass"], strict=True):
        bow = turn(m.orientation) @ [1.0, 0.0, 0.0]
        np.testing.assert_allclose(bow, [np.sin(heading), np.cos(heading), 0.0], atol=1e-14)
    assert m.orientation_covariance[8] == pytest.approx(0.02**2)
    assert m.orientation_covariance[0] > 100.0  # roll and pitch are not measured


def test_gnss_says_where_it_is_on_earth_and_when_it_has_no_fix(run, messages):
    """Judged by the WGS 84 radii at the datum, 63.4° N, to second order in the distance."""
    meridian, across, tangent = 6_386_640.0, 6_395_277.0, np.tan(np.radians(63.4))
    samples = run.measurements["otter"]["gnss"]
    heard = [m for _, m in messages["/otter/gnss"]]
    # Lost under water: told. Dropped by chance or by a fault: not.
    told = samples.valid | (samples.values[:, 6] == 0.0)
    np.testing.assert_array_equal([stamp(m) for m in heard], ns(samples.time[told]))
    status = [m.status.status for m in heard]
    expected = np.array([-1, 0, 1, 2, 2])[samples.values[told, 6].astype(int)]
    np.testing.assert_array_equal(status, expected)
    assert {-1, 0, 1, 2} == set(status)
    for row, m in zip(samples.values[told], heard, strict=True):
        if m.status.status == -1:
            assert np.isnan([m.latitude, m.longitude, m.altitude]).all()
            continue
        north, east = row[:2]
        turned = east**2 * tangent / (2 * across)  # parallels bend to the pole
        assert np.radians(m.latitude - 63.4) * meridian == pytest.approx(north - turned, abs=0.1)
        parallel = across * np.cos(np.radians(63.4)) - north * np.sin(np.radians(63.4))
        assert np.radians(m.longitude - 10.4) * parallel == pytest.approx(east, abs=0.1)
        away = (north**2 + east**2) / (2 * 6.39e6)  # the Earth curves away below
        assert m.altitude == pytest.approx(away - row[2], abs=0.05)
    np.testing.assert_allclose(np.diag(m.position_covariance.reshape(3, 3)), [0.81, 0.64, 2.89])
    assert m.position_covariance_type == 2
    truth = picked(run, "gnss", "velocity_north", "velocity_east", "velocity_down")
    last = messages["/otter/gnss/velocity"][-1][1].twist
    np.testing.assert_array_equal(xyz(last.twist.linear), truth[-1, [1, 0, 2]] * [1, 1, -1])
    np.testing.assert_allclose(np.diag(last.covariance.reshape(6, 6))[:3], [0.0036, 0.0025, 0.01])


def test_places_depths_and_velocities_are_in_the_axes_of_their_frames(run, messages):
    north, east, down = picked(run, "uwb", "north", "east", "down")[-1]
    tag = messages["/otter/uwb"][-1][1].pose
    assert xyz(tag.pose.position) == [east, north, -down]
    np.testing.assert_allclose(np.diag(tag.covariance.reshape(6, 6))[:3], [0.04, 0.01, 0.09])
    ranges = messages["/otter/uwb/ranges"][-1][1]
    assert ranges.name == [f"range_{i}" for i in range(1, 6)]
    pressure, depth = picked(run, "pressure", "pressure", "depth")[-1]
    m = messages["/otter/pressure"][-1][1]
    assert (m.fluid_pressure, m.variance) == (pressure, 900.0)
    assert messages["/otter/pressure/depth"][-1][1].pose.pose.position.z == -depth
    u, v, w, altitude = picked(run, "dvl", *(f"velocity_{c}" for c in "xyz"), "altitude")[-1]
    m = messages["/otter/dvl"][-1][1].twist
    assert xyz(m.twist.linear) == [u, -v, -w]
    np.testing.assert_allclose(np.diag(m.covariance.reshape(6, 6))[:3], [9e-6, 9e-6, 1e-6])
    assert messages["/otter/dvl/altitude"][-1][1].range == np.float32(altitude)
    assert messages["/otter/dvl/beams"][-1][1].name[-1] == "lock"
    ping = messages["/otter/dvl/ping"][-1][1]
    ranges = picked(run, "dvl", *(f"range_{k}" for k in range(1, 5)))[-1]
    (lock,) = picked(run, "dvl", "lock")[-1]
    assert (ping.velocity.x, ping.velocity.y, ping.velocity.z) == (u, -v, -w)
    assert (ping.altitude, ping.velocity_mode) == (altitude, lock)
    assert ping.speed_gnd == pytest.approx(np.hypot(u, v))
    np.testing.assert_array_equal(ping.range, ranges)
    assert ping.num_good_beams == np.sum(ranges > 0.0)
    np.testing.assert_array_equal(ping.velocity_covar[[0, 4, 8]], m.covariance[[0, 7, 14]])
    u, v = picked(run, "speed_log", "speed_x", "speed_y")[-1]
    assert xyz(messages["/otter/speed_log"][-1][1].twist.twist.linear) == [u, -v, 0.0]


def test_wind_from_starboard_blows_to_port(run, messages):
    speed, angle = picked(run, "anemometer", "speed", "angle").T
    vectors = np.array([xyz(m.vector) for _, m in messages["/otter/anemometer"]])
    # Forward is −speed cos angle; to port (left) is +speed sin angle.
    np.testing.assert_allclose(vectors[:, 0], -speed * np.cos(angle), atol=1e-15)
    np.testing.assert_allclose(vectors[:, 1], speed * np.sin(angle), atol=1e-15)


def test_machinery_speaks_ros_s_units_and_signs(run, messages):
    volts, amperes, charge = picked(run, "battery", "voltage", "current", "charge")[-1]
    m = messages["/otter/battery"][-1][1]
    assert (m.voltage, m.current) == (np.float32(volts), np.float32(-amperes))
    assert m.percentage == np.float32(charge)
    assert m.design_capacity == 10.0  # A h
    assert m.present
    shaft = messages["/otter/shaft"][-1][1]
    speed = picked(run, "shaft", "speed")[-1, 0]
    assert shaft.velocity.tolist() == [pytest.approx(2.0 * np.pi * speed)]
    celsius = picked(run, "ctd", "temperature")[-1, 0]
    assert messages["/otter/ctd/temperature"][-1][1].temperature == celsius


def test_mountings_are_static_transforms_for_late_subscribers_too(mcap, messages):
    ((logged, message),) = messages["/tf_static"]
    assert logged == 0
    assert len(message.transforms) == len(rs.SENSORS) + 2
    first = message.transforms[0]
    assert (first.header.frame_id, first.child_frame_id) == ("otter/base_link", "otter/imu")
    assert xyz(first.transform.translation) == [0.4, 0.3, -0.2]
    expected = TO_FLU @ rotation(*rs.TURNED) @ TO_FLU
    np.testing.assert_allclose(turn(first.transform.rotation), expected, atol=1e-15)
    with AnyReader([mcap]) as reader:
        (static,) = [c for c in reader.connections if c.topic == "/tf_static"]
    (profile,) = static.ext.offered_qos_profiles
    assert profile.durability.name == "TRANSIENT_LOCAL"


def test_labels_name_the_faults_of_every_sample_also_of_lost_ones(run, messages):
    samples = run.measurements["otter"]["imu"]
    labels = [m for _, m in messages["/otter/imu/fault"]]
    assert len(labels) == len(samples.time) > samples.valid.sum()
    assert labels[0].name == ["imu: freeze", "imu: bias jump"]
    found = np.array([m.position for m in labels])
    np.testing.assert_array_equal(found[:, 0], samples.fault & 1)
    np.testing.assert_array_equal(found[:, 1], samples.fault >> 2)
    frames = [m for _, m in messages["/otter/faults"]]
    assert frames[0].name == [f.name for f in rs.FAULTS]
    np.testing.assert_array_equal([m.position for m in frames], run.vehicles["otter"].faults)
    assert "/remus_1/faults" not in messages


def test_messages_of_a_block_lie_in_the_order_of_their_log_times(run, tmp_path):
    from mcap.stream_reader import StreamReader

    path = tmp_path / "one.mcap"
    rs.write(McapRecorder(path), run, block=len(run.time))
    with path.open("rb") as file:
        times = [r.log_time for r in StreamReader(file).records if type(r).__name__ == "Message"]
    assert times == sorted(times)
    late = run.measurements["otter"]["imu"].arrival.max()
    assert times[-1] >= ns(late) > ns(run.time[-1])


def test_sensor_may_not_take_the_topic_of_the_truth_or_of_another(tmp_path):
    for names in (("wind",), ("base_link",), ("imu-1", "imu_1")):
        sensors = tuple(dataclasses.replace(rs.SENSORS[0], name=name) for name in names)
        boat = dataclasses.replace(rf.BOAT, sensors=sensors)
        with pytest.raises(RecordingError, match="rename the sensor"):
            McapRecorder(tmp_path / "a.mcap").open(rf.header((boat,)))
