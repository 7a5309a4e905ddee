"""Sonars and radar in a whole run: through the engine, into a recording and out again."""

import numpy as np
import pytest
from mcap.reader import make_reader

import seatrial as st
from seatrial.compile.scenario import compile_scenario
from seatrial.geometry.bodies import rotation_matrix
from seatrial.ocean.seabed import under
from seatrial.record.reader import read
from seatrial.ros.layout import TypeStore
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario

SHAPES = {
    "eyes": (32, 64),
    "scanner": (1, 64),
    "sides": (2, 128),
    "swath": (48, 6),
    "radar": (64, 32),
}

TEXT = """
kind: scenario
name: soundings
seed: 8
duration: 2.0
time_step: 0.02
world:
  name: bay
  seabed: {depth: 12, type: gravel}
  waves: {spectrum: jonswap, significant_height: 0.3, peak_period: 3.0, frequencies: 12}
  wind: {speed: 6}
  bodies:
    - {name: block, box: {size: [2, 2, 2]}, position: [15, 2, 11], material: concrete}
    - {name: buoy, sphere: {radius: 1.0}, position: [60, 10, -0.5], material: steel}
vehicles:
  - name: boat
    vehicle: otter
    commands: {left_rpm: 700, right_rpm: 500}
    sensors:
      - {type: imaging_sonar, name: eyes, rate: 2, position: [0.3, 0, 0.5], pitch_deg: -20,
         beams: 32, bins: 64, range: 30, rays: 64}
      - {type: mechanical_sonar, name: scanner, rate: 5, position: [0, 0, 0.5], bins: 64,
         rays: 32}
      - {type: side_scan, name: sides, rate: 5, position: [0, 0, 0.5], bins: 128, rays: 128}
      - {type: multibeam, name: swath, rate: 5, position: [0, 0, 0.5], beams: 48}
      - {type: radar_image, name: radar, rate: 1, position: [0, 0, -3], azimuths: 64, bins: 32,
         range: 200}
"""


def sail(folder):
    st.run(load_text(TEXT, Scenario), out=folder / "run.mcap")
    return read(folder / "run.mcap")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return sail(tmp_path_factory.mktemp("sonars"))


def test_arrays_are_recorded_as_they_were_made(run):
    for name, shape in SHAPES.items():
        arrays = run.payload("boat", name)[:]
        assert arrays.shape[1:] == shape, name
        rate = next(s.rate for s in run.header.vehicles[0].sensors if s.name == name)
        assert len(arrays) == pytest.approx(2.0 * rate, abs=1.0)
        assert np.isfinite(arrays[..., 0]).mean() > 0.9, name
    bearings = run.samples("boat", "scanner").values[:, 1]
    np.testing.assert_allclose(np.degrees(np.diff(bearings)), 1.8, atol=1e-6)
    depth = run.payload("boat", "swath")[:][..., 2]
    assert np.nanmedian(depth) == pytest.approx(11.5, abs=0.3)


def test_messages_are_those_that_programs_expect(run):
    with open(run.path, "rb") as file:
        found = {c.topic: (s.name, m.data) for s, c, m in make_reader(file).iter_messages()}
    kinds = {
        "eyes/sonar_image": "marine_acoustic_msgs/msg/ProjectedSonarImage",
        "scanner/echogram": "marine_acoustic_msgs/msg/RawSonarImage",
        "sides/echogram": "marine_acoustic_msgs/msg/RawSonarImage",
        "swath/cloud": "sensor_msgs/msg/PointCloud2",
        "swath/detections": "marine_acoustic_msgs/msg/SonarDetections",
        "radar/image": "sensor_msgs/msg/Image",
    }
    for topic, kind in kinds.items():
        assert found[f"/boat/{topic}"][0] == kind
    name, data = found["/boat/eyes/sonar_image"]
    message = TypeStore()._store.deserialize_cdr(data, name)
    assert message.image.beam_count == 32
    assert len(message.beam_directions) == 32
    # Port first, and left is positive in ROS.
    assert message.beam_directions[0].y > 0.8
    assert message.ranges[-1] == pytest.approx(30.0 * (1.0 - 0.5 / 64))
    assert message.ping_info.frequency == 750e3
    levels = np.frombuffer(message.image.data.tobytes(), "<f4").reshape(64, 32)
    np.testing.assert_array_equal(levels.T, run.payload("boat", "eyes")[:][-1])


def messages(run, topic, kind):
    """Those of a topic, in order."""
    store = TypeStore()
    with open(run.path, "rb") as file:
        found = [(s.name, m.data) for s, c, m in make_reader(file).iter_messages(topics=[topic])]
    assert {name for name, _ in found} == {kind}
    return [store.read(name, data) for name, data in found]


def test_soundings_are_told_as_drivers_of_multibeam_sonars_tell_them(run):
    """Travel time and angle of every beam, beside the cloud of places: in 12 m of water that bends
    its ways by 4 mm they are the same place to a centimetre."""
    pings = messages(run, "/boat/swath/detections", "marine_acoustic_msgs/msg/SonarDetections")
    clouds, numbers = run.payload("boat", "swath")[:], run.samples("boat", "swath")
    assert len(pings) == len(clouds) == len(numbers.time)
    for ping, cloud, time, (_, speed) in zip(
        pings, clouds, numbers.time, numbers.values, strict=True
    ):
        assert ping.header.frame_id == "boat/swath"
        assert ping.header.stamp.sec + 1e-9 * ping.header.stamp.nanosec == pytest.approx(time)
        assert ping.ping_info.sound_speed == pytest.approx(speed)
        assert ping.ping_info.frequency == 400e3
        assert len(ping.ping_info.rx_beamwidths) == len(ping.ping_info.tx_beamwidths) == 48
        heard = np.isfinite(cloud[:, 0])
        flags = np.array([flag.flag for flag in ping.flags])
        np.testing.assert_array_equal(flags, np.where(heard, 0, 1))
        away = 0.5 * speed * ping.two_way_travel_times.astype(float)
        y, z = away * np.sin(ping.rx_angles), away * np.cos(ping.rx_angles)
        np.testing.assert_allclose(y[heard], cloud[heard, 1], atol=0.01)
        np.testing.assert_allclose(z[heard], cloud[heard, 2], atol=0.01)
        assert np.isnan(ping.two_way_travel_times[~heard]).all()
        assert np.isfinite(ping.rx_angles).all()
        np.testing.assert_array_equal(ping.intensities, cloud[:, 3])
        for zeros in (ping.tx_angles, ping.tx_delays):
            np.testing.assert_array_equal(zeros, np.zeros(48))
    assert pings[0].rx_angles[0] < 0.0 < pings[0].rx_angles[-1]  # starboard is positive


def test_an_echogram_of_a_head_that_turns_says_where_it_looked(run):
    pings = messages(run, "/boat/scanner/echogram", "marine_acoustic_msgs/msg/RawSonarImage")
    bearings = run.samples("boat", "scanner").values[:, 1]
    told = np.array([ping.rx_angles for ping in pings])
    assert told.shape == (len(bearings), 1)
    np.testing.assert_array_equal(told[:, 0], np.float32(bearings))
    assert len(np.unique(told)) == len(told)
    for name in ("scanner", "sides"):
        ping = messages(run, f"/boat/{name}/echogram", "marine_acoustic_msgs/msg/RawSonarImage")[0]
        assert len(ping.ping_info.tx_beamwidths) == len(ping.rx_angles)
    np.testing.assert_allclose(ping.rx_angles, (-np.pi / 2, np.pi / 2), rtol=1e-6)


def test_the_same_seed_gives_the_same_bytes(run, tmp_path):
    again = sail(tmp_path)
    for name in SHAPES:
        one, other = (r.payload("boat", name)[:] for r in (run, again))
        np.testing.assert_array_equal(one, other)


SURVEY = """
kind: scenario
name: survey
seed: 4
duration: 4.0
time_step: 0.02
world:
  name: hills
  seabed: {shape: fractal, depth: 15, relief: 1.0, largest: 60, spacing: 2, extent: [200, 200]}
  waves: {spectrum: jonswap, significant_height: 0.4, peak_period: 3.0, frequencies: 12}
  water: {profile: table, depth: [0, 5, 20], temperature: [18, 12, 10], salinity: [35, 35, 35]}
vehicles:
  - name: boat
    vehicle: otter
    commands: {left_rpm: 800, right_rpm: 750}
    sensors:
      - {type: multibeam, name: swath, rate: 5, position: [0.2, 0.1, 0.4], roll_deg: 5, beams: 64,
         fidelity: ideal}
"""


def test_soundings_of_a_rolling_boat_lie_on_the_map(tmp_path):
    """Every one within 0.1 % of the depth, by the true poses: mounting, attitude, place and the
    bending of rays are all in it."""
    scenario = load_text(SURVEY, Scenario)
    st.run(scenario, out=tmp_path / "run.mcap")
    run = read(tmp_path / "run.mcap")
    data, times = run.vehicle("boat"), run.samples("boat", "swath").time
    (sensor,) = (s for s in run.header.vehicles[0].sensors if s.name == "swath")
    frames = [int(np.argmin(np.abs(data["time"].values - t))) for t in times]
    assert np.abs(data["time"].values[frames] - times).max() < 1e-9
    turned = rotation_matrix(np.array(sensor.orientation))
    points = []
    for frame, cloud in zip(frames, run.payload("boat", "swath")[:], strict=True):
        body = rotation_matrix(data["attitude"].values[frame])
        there = cloud[:, :3].astype(float) @ turned.T + np.array(sensor.position)
        points.append(data["position"].values[frame] + there @ body.T)
    points = np.concatenate(points)
    points = points[np.isfinite(points[:, 0])]
    assert np.ptp(data["euler"].values[:, 0]) > 0.01  # she rolls
    bottom = compile_scenario(scenario).fleets[0].ocean.seabed
    depth = under(bottom, points[:, 0], points[:, 1])
    assert len(points) > 1000
    assert np.abs(points[:, 2] / depth - 1.0).max() < 1e-3
