"""LiDARs and a depth camera in a whole run: what they draw, and how it is recorded."""

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image
from rosbags.highlevel import AnyReader

import seatrial as st
from seatrial.compile.scenario import compile_scenario
from seatrial.engine import assembly
from seatrial.engine.assembly import FRAMES_PER_BLOCK, block_size
from seatrial.engine.engine import Engine
from seatrial.geometry.bodies import rotation_matrix
from seatrial.render.renderers import trouble
from seatrial.ros.compressed import packed, unpacked
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.validation.timing import cameras as camera_timing
from seatrial.validation.timing import rays as ray_timing

MODEL = (
    "{name: small, beams: 15, lowest_deg: -16, highest_deg: 12, columns: 400, range: 60, "
    "reference_range: 60}"
)
TEXT = f"""
kind: scenario
name: basin
seed: 3
duration: 1
time_step: 0.02
world: {{name: basin, seabed: {{depth: 8}}}}
obstacles:
  - {{polygon: {{corners: [[20, -30], [20, 30], [30, 30], [30, -30]]}}}}
  - {{vessel: {{position: [-15, -5], course_deg: 90, speed: 10, length: 6, beam: 2}}}}
vehicles:
  - name: one
    vehicle: otter
    start: {{speed: 1.5}}
    commands: {{left_rpm: 700, right_rpm: 300}}
    sensors:
      - {{type: lidar, name: exact, rate: 5, position: [0.2, 0, -1], fidelity: ideal,
         model: {MODEL}}}
      - {{type: lidar, name: lidar, rate: 5, position: [0.2, 0, -1], model: {MODEL}}}
      - {{type: lidar, name: scanner, rate: 5, position: [0, 0, -0.15], fidelity: nominal,
         model: tim571}}
      - {{type: depth_camera, name: depth, rate: 5, position: [0.5, 0, -1], fidelity: ideal,
         width: 40, height: 30, k1: -0.1, range: 40}}
      - {{type: camera, name: camera, rate: 5, position: [0.5, 0, -1], width: 48, height: 36}}
      - {{type: camera, name: right, rate: 5, position: [0.5, 0.2, -1], width: 48, height: 36,
         baseline: 0.2, compression: png, shutter: rolling}}
      - {{type: camera, name: photo, rate: 5, position: [0.5, 0, -1], width: 48, height: 36,
         compression: jpeg}}
      - {{type: camera, name: masks, rate: 5, position: [0.5, 0, -1], width: 48, height: 36,
         shows: instance, compression: png}}
      - {{type: thermal_camera, name: heat, rate: 5, position: [0.5, 0, -1], width: 48, height: 36}}
    faults:
      - {{target: lidar, kind: freeze, start: 0.5, duration: 10}}
  - name: two
    vehicle: otter
    start: {{position: [0, 6, 0]}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("optical")


@pytest.fixture(scope="module")
def recording(folder):
    st.run(load_text(TEXT, Scenario), out=folder / "run.mcap")
    return st.read(folder / "run.mcap")


def world_points(recording, sensor, k):
    """Points of a sample where the true pose of the vehicle puts them."""
    info = next(s for s in recording.info("one").sensors if s.name == sensor)
    frames = recording.vehicle("one")
    t = recording.samples("one", sensor).time[k]
    i = int(np.argmin(np.abs(frames.time.values - t)))
    assert frames.time.values[i] == pytest.approx(t, abs=1e-9)
    points = recording.payload("one", sensor)[k].astype(np.float64)
    points = points[np.isfinite(points[:, 0])]
    matrix = rotation_matrix(frames.attitude.values[i])
    return (points[:, :3] + np.array(info.position)) @ matrix.T + frames.position.values[i]


def test_the_cloud_lies_on_what_is_there(recording):
    for k in (0, 3):
        world = world_points(recording, "exact", k)
        wall = world[:, 0] > 15.0
        assert wall.sum() > 200
        np.testing.assert_allclose(world[wall][:, 0], 20.0, rtol=0, atol=1e-4)
        vessel = world[:, 0] < -10.0
        assert vessel.sum() > 10
        np.testing.assert_allclose(world[vessel][:, 0], -14.0, rtol=0, atol=1.0)
        middle = 10.0 * 0.2 * k - 5.0
        assert np.abs(world[vessel][:, 1] - middle).max() < 3.01
        other = ~wall & ~vessel
        assert other.sum() > 10  # the second boat, and never the own one
        assert np.all(np.hypot(world[other][:, 0], world[other][:, 1] - 6.0) < 1.3)


def test_the_real_one_is_bent_by_its_motion_and_freezes_whole(recording):
    clouds = recording.payload("one", "lidar")
    assert np.unique(clouds[1][:, 5]).size == 400
    assert clouds[1][:, 5].min() == pytest.approx(-0.2 * 399 / 400, abs=1e-6)
    assert clouds[3].tobytes() == clouds[5].tobytes()
    assert clouds[1].tobytes() != clouds[2].tobytes()


def test_messages_are_those_that_ros_expects(recording, folder):
    found = {}
    with AnyReader([folder / "run.mcap"]) as reader:
        for connection, _, data in reader.messages():
            found.setdefault(connection.topic, []).append(
                reader.deserialize(data, connection.msgtype)
            )
    scan = found["/one/scanner/scan"][2]
    ranges = recording.payload("one", "scanner")[2]
    np.testing.assert_array_equal(scan.ranges, ranges[0])
    np.testing.assert_array_equal(scan.intensities, ranges[1])
    assert scan.angle_min == pytest.approx(np.radians(-135))
    assert scan.angle_max == pytest.approx(np.radians(135))
    assert scan.angle_increment == pytest.approx(np.radians(270 / 810))
    assert (scan.range_min, scan.range_max) == pytest.approx((0.05, 25.0))
    # The wall is ahead, the other boat to starboard: at negative angles in ROS.
    angles = scan.angle_min + scan.angle_increment * np.arange(811)
    seen = np.isfinite(scan.ranges) & (scan.ranges < 10.0)
    assert seen.any()
    assert np.all(angles[seen] < 0.0)
    cloud = found["/one/lidar/cloud"][0]
    assert [f.name for f in cloud.fields] == ["x", "y", "z", "intensity", "ring", "time"]
    camera, image = found["/one/depth/camera_info"][0], found["/one/depth/image"][0]
    assert image.encoding == "32FC1"
    assert image.header.frame_id == camera.header.frame_id == "one/depth_optical"
    assert camera.k[0] == pytest.approx(20.0 / np.tan(0.6))
    assert camera.d.tolist() == [-0.1, 0.0, 0.0, 0.0, 0.0]
    frames = {t.child_frame_id: t for t in found["/tf_static"][0].transforms}
    turn = frames["one/depth_optical"].transform.rotation
    assert frames["one/depth_optical"].header.frame_id == "one/depth"
    # Forward of the optical frame (z) is x of the sensor's: 2 (x z + w y) = 1.
    assert 2.0 * (turn.x * turn.z + turn.w * turn.y) == 1.0


def test_pictures_are_recorded_as_ros_has_them(recording, folder):
    found = {}
    with AnyReader([folder / "run.mcap"]) as reader:
        for connection, _, data in reader.messages():
            if connection.topic.startswith("/one/"):
                found.setdefault(connection.topic, []).append(
                    reader.deserialize(data, connection.msgtype)
                )
    picture, image = recording.payload("one", "camera")[1], found["/one/camera/image"][1]
    assert (image.encoding, image.height, image.width, image.step) == ("rgb8", 36, 48, 144)
    assert image.data.tobytes() == picture.tobytes()
    packed = found["/one/right/image/compressed"][1]
    assert packed.format == "png"
    assert packed.header.frame_id == "one/right_optical"
    assert packed.header.stamp.sec + 1e-9 * packed.header.stamp.nanosec == pytest.approx(0.2)
    opened = np.asarray(Image.open(io.BytesIO(packed.data.tobytes())))
    np.testing.assert_array_equal(opened, recording.payload("one", "right")[1])
    # JPEG gives nearly the same picture as the one beside it.
    photo = recording.payload("one", "photo")[1].astype(float)
    assert found["/one/photo/image/compressed"][1].format == "jpeg"
    assert np.abs(photo.mean(axis=(0, 1)) - picture.mean(axis=(0, 1))).max() < 8.0
    # Of the right one of a pair the projection has −f b.
    left, right = found["/one/camera/camera_info"][0], found["/one/right/camera_info"][0]
    assert left.p[3] == 0.0
    assert right.p[3] == pytest.approx(-0.2 * right.k[0])
    masks = recording.payload("one", "masks")[1]
    assert masks.dtype == np.uint16
    assert {0, 1} < set(np.unique(masks).tolist())  # sky, water and the wall
    kelvin = found["/one/heat/image"][0]
    assert kelvin.encoding == "mono16"


def test_a_damaged_picture_is_refused(recording, folder):
    info = next(s.payload for s in recording.info("one").sensors if s.name == "right")
    with pytest.raises(ValueError, match="cannot be read"):
        unpacked(info, b"no picture")
    other = dataclasses.replace(info, shape=(30, 48, 3))
    with pytest.raises(ValueError, match="shape"):
        unpacked(info, packed(other, np.zeros((30, 48, 3), np.uint8)))


def test_the_same_seed_gives_the_same_bytes(recording):
    again = st.run(load_text(TEXT, Scenario), duration=0.4).recording
    other = st.run(load_text(TEXT, Scenario), seed=4, duration=0.4).recording
    for sensor in ("exact", "lidar", "scanner", "depth", "camera", "right", "heat"):
        first = recording.payload("one", sensor)[:2]
        assert again.payload("one", sensor)[:2].tobytes() == first.tobytes()
    assert other.payload("one", "lidar")[1].tobytes() != again.payload("one", "lidar")[1].tobytes()


def test_blocks_of_any_length_have_the_same_pictures(recording):
    """A run with cameras goes in short blocks, so that its first frame comes early."""
    plan = compile_scenario(load_text(TEXT, Scenario))
    found = {name: [] for name in ("lidar", "camera", "right", "masks", "heat")}
    with Engine(plan) as engine:
        measured = [engine.opening[0]]
        for periods in (1, 3, 2):
            measured.append(engine.advance(periods).frames.groups[0].measurements)
        assert engine.time == pytest.approx(0.6)
    for name, parts in found.items():
        parts += [part[name].payload[:, 0] for part in measured]
        pictures = np.concatenate(parts)
        assert pictures.tobytes() == recording.payload("one", name)[: len(pictures)].tobytes()
        assert len(pictures) == 4


def test_pictures_make_blocks_short(monkeypatch):
    plan = compile_scenario(load_text(TEXT, Scenario))
    controls = plan.schedule.controls
    assert block_size(plan) == FRAMES_PER_BLOCK * controls
    # six pictures a fifth of a second: of 0.1 s each, seven frames hold about 20 of them
    monkeypatch.setattr(assembly, "PIXELS_PER_BLOCK", 20 * 48 * 36)
    assert block_size(plan) == 7 * controls
    monkeypatch.setattr(assembly, "PIXELS_PER_BLOCK", 1)
    assert block_size(plan) == controls


def test_a_camera_among_several_vehicles_may_have_nothing_to_tell(folder):
    # Its rate is half that of control: every second block of a step is without a sample.
    text = """
kind: scenario
name: pair
duration: 1
world: {name: w, seabed: {depth: 12}}
vehicles:
  - name: a
    vehicle: otter
    sensors:
      - {type: depth_camera, name: cam, rate: 5, width: 33, height: 33, field_of_view: 0.2,
         position: [0, 0, -0.1], fidelity: ideal}
  - {name: b, vehicle: otter, start: {position: [10, 0, 0]}, sensors: []}
"""
    (folder / "pair.yaml").write_text(text)
    sim = st.Simulation(str(folder / "pair.yaml"))
    seen = []
    for _ in range(4):
        sim.step()
        seen += list(sim.measurements["a"]["cam"].payload[:, 16, 16])
    assert len(seen) == 2
    assert np.all(np.abs(np.array(seen) - 9.0) < 0.1)  # the stern of the other is 9 m ahead


def test_cameras_are_timed(monkeypatch):
    small = camera_timing.CAMERAS.replace("rate: 5,", "rate: 5, width: 32, height: 24,")
    monkeypatch.setattr(camera_timing, "CAMERAS", small)
    monkeypatch.setattr(camera_timing, "REPEATS", 1)
    monkeypatch.setattr(camera_timing, "SECONDS", 0.4)
    monkeypatch.setattr(ray_timing, "SECONDS", 0.4)
    rows = list(camera_timing.camera_rows())
    for row in rows:
        assert (row["width"], row["height"]) == (32, 24)
        assert row["frames_per_s"] > 0.0
    # Where shaders can draw, every camera but that of heat has a row of theirs too.
    cast = {row["sensor"]: row for row in rows if row["renderer"] == "rays"}
    assert set(cast) == {"above", "below", "masks", "thermal"}
    for row in cast.values():
        assert row["share_of_rays"] > 0.0
        assert row["rays"] >= 2 * 32 * 24
    drawn = {row["sensor"] for row in rows if row["renderer"] == "shaders"}
    assert drawn == (set(cast) - {"thermal"} if trouble("shaders") is None else set())
