"""`seatrial export --to foxglove`: hulls, sea, bodies and places on Earth, and a layout."""

import json

import numpy as np
import pytest
import record_frames as rf
import xarray
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from seatrial.engine.frames import HullShape, Scene, vehicle_bodies
from seatrial.engine.scene import Body, Ride, Terrain, Timetable, WaveComponents
from seatrial.hull.shape import forms
from seatrial.hull.shape.shells import volume
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder
from seatrial.ros import markers
from seatrial.ros.layout import TypeStore
from seatrial.spatial.geodesy import to_geodetic

VEHICLES = (rf.BOAT, rf.AUV)
WAVES = WaveComponents(
    amplitude=np.array([0.5, 0.2]),
    omega=np.array([0.9, 1.6]),
    wavenumber=np.array([0.9**2, 1.6**2]) / 9.81,
    direction=np.array([0.3, 2.0]),
    phase=np.array([0.1, 1.0]),
)
FERRY = Timetable(np.array([0.0]), np.array([[10.0, -20.0]]), np.array([[2.0, 0.0]]))
_NODES = -400.0 + 4.0 * np.arange(301)
TERRAIN = Terrain(
    np.full(2, -400.0), np.full(2, 4.0), 30.0 + 0.01 * _NODES[:, None] + 0.002 * _NODES[None]
)
SCENE = Scene(
    waves=WAVES,
    bodies=(
        *vehicle_bodies(VEHICLES),
        Body(
            "buoy",
            "circle",
            radius=1.5,
            height=4.0,
            outline=np.array([[5.0, 7.0]]),
            position=np.array([5.0, 7.0, 0.5]),
        ),
        Body("ferry", "vessel", length=20.0, beam=6.0, height=4.0, motion=FERRY),
        Body(
            "float",
            "box",
            length=2.0,
            beam=1.0,
            height=0.6,
            position=np.array([30.0, 12.0, 0.1]),
            attitude=np.array([np.cos(0.2), 0.0, 0.0, np.sin(0.2)]),
            ride=Ride(*(np.array([a]) for a in (0.5, 0.5, 0.9, 0.0, 0.0)), np.zeros(2), 1.0),
        ),
        Body(
            "pier",
            "polygon",
            height=6.0,
            outline=np.array([[0.0, 0.0], [0.0, 9.0], [3.0, 9.0]]),
            position=np.array([1.0, 6.0, 1.0]),
        ),
    ),
    terrain=TERRAIN,
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    path = tmp_path_factory.mktemp("foxglove") / "run.mcap"
    recorder = McapRecorder(path)
    recorder.open(rf.header(duration=12.0), SCENE)
    for part in rf.blocks(rf.frames(duration=12.0), 40):
        recorder.write(part)
    recorder.close(rf.summary(duration=12.0))
    return path, *export(path, "foxglove")


@pytest.fixture(scope="module")
def messages(exported):
    """As rosbags reads them, with the definitions in the file alone."""
    found = {}
    with AnyReader([exported[1]], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        for connection, time, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            found.setdefault(connection.topic, []).append((time * 1e-9, message))
    return found


def test_the_sea_drawn_is_the_sea_that_was_recorded(messages):
    truth = rf.frames(duration=12.0)
    told = messages["/otter/scene/sea"]
    assert [time for time, _ in told] == pytest.approx(np.arange(49) / 4.0)
    time, array = told[21]
    (marker,) = array.markers
    assert marker.type == marker.TRIANGLE_LIST
    assert marker.header.frame_id == "map"
    assert len(marker.points) % 3 == 0
    middle = marker.pose.position
    row = np.searchsorted(truth.time, time - 1e-9)
    np.testing.assert_allclose(
        [middle.y, middle.x], truth.vehicles["otter"].position[row, :2], atol=1e-12
    )
    x = middle.y + np.array([p.y for p in marker.points])
    y = middle.x + np.array([p.x for p in marker.points])
    heights = np.array([p.z for p in marker.points])
    np.testing.assert_allclose(heights, SCENE.elevation(x, y, time), atol=5.1e-4)
    assert np.ptp(heights) > 0.3


def test_hulls_are_told_once_as_large_as_they_are_in_the_vehicle_s_frame(messages):
    for vehicle, name in zip(VEHICLES, ("otter", "remus_1"), strict=True):
        ((time, array),) = messages[f"/{name}/scene/hull"]
        (marker,) = array.markers
        assert (time, marker.frame_locked) == (0.0, True)
        assert marker.header.frame_id == f"{name}/base_link"
        points = np.array([(p.x, p.y, p.z) for p in marker.points])
        size = [vehicle.length, vehicle.beam, vehicle.height]
        np.testing.assert_allclose(np.ptp(points, axis=0), size)
        # Closed: every edge belongs to two triangles.
        corners = np.unique(points.round(9), axis=0, return_inverse=True)[1].reshape(-1, 3)
        edges = np.sort(
            np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        )
        assert set(np.unique(edges, axis=0, return_counts=True)[1]) == {2}


def test_a_hull_travels_with_the_recording_as_triangles():
    """In ROS's axes; no file of another machine is named."""
    mesh = forms.wigley(2.0, 0.5, 0.2, 0.1, 0.5)
    shape = HullShape(mesh, "wigley")
    layout = TypeStore().layout(
        markers.MARKERS,
        lambda f: markers.build_hull(f, rf.BOAT, "otter/base_link", shape),
        0,
    )
    data = layout.encode(np.zeros(1, np.int64), np.empty((1, 0)))[0]
    store = get_typestore(Stores.ROS2_HUMBLE)
    (marker,) = store.deserialize_cdr(data, markers.MARKERS).markers
    points = np.array([(p.x, p.y, p.z) for p in marker.points])
    np.testing.assert_allclose(points[:, 0], mesh.vertices[mesh.faces].reshape(-1, 3)[:, 0])
    assert points[:, 2].min() == pytest.approx(-mesh.vertices[:, 2].max())
    a, b, c = points.reshape(-1, 3, 3).transpose(1, 0, 2)
    enclosed = np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0
    assert enclosed == pytest.approx(volume(mesh))  # wound outwards still


def test_bodies_stand_and_move_where_the_scene_has_them(messages):
    time, array = messages["/scene/bodies"][8]
    ferry, raft = array.markers
    for marker, body in ((ferry, SCENE.bodies[3]), (raft, SCENE.bodies[4])):
        place, matrix = body.pose(time)
        there = body.mesh().moved(place, matrix).vertices
        half = marker.pose.orientation.z + 1j * marker.pose.orientation.w
        facing = np.pi - 2.0 * np.angle(half)
        local = points_of(marker)
        cos, sin = np.cos(facing), np.sin(facing)
        turned = local @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        drawn = turned + [getattr(marker.pose.position, c) for c in "xyz"]
        assert same_corners(drawn, there)
    assert ferry.pose.position.y == pytest.approx(10 + 2 * time)
    lift = [m.markers[1].pose.position.z for _, m in messages["/scene/bodies"]]
    assert np.ptp(lift) > 0.5  # it rides the waves


def test_what_stands_still_and_the_bottom_are_told_once(messages):
    ((time, array),) = messages["/scene/standing"]
    assert time == 0.0
    for marker, body in zip(array.markers, (SCENE.bodies[2], SCENE.bodies[5]), strict=True):
        assert same_corners(points_of(marker), body.mesh().moved(*body.pose(0.0)).vertices)
    ((_, array),) = messages["/scene/bottom"]
    (marker,) = array.markers
    east, north, up = points_of(marker).T
    np.testing.assert_allclose(TERRAIN.at(north, east), -up, atol=1e-4)
    track = rf.frames(duration=12.0).vehicles["otter"].position
    assert north.min() < track[:, 0].min() - 90.0
    assert east.max() > track[:, 1].max() + 90.0
    assert len(marker.colors) == len(marker.points)
    bright = [c.r for c in marker.colors]
    assert np.argmax(bright) == np.argmax(up)


def points_of(marker):
    return np.array([(p.x, p.y, p.z) for p in marker.points])


def same_corners(enu, ned):
    """Whether two meshes have the same corners, in axes of ROS and in those of the house."""
    mine = {tuple(p) for p in (np.round(ned, 4) + 0.0)[:, [1, 0, 2]] * (1.0, 1.0, -1.0) + 0.0}
    return {tuple(p) for p in np.round(enu, 4) + 0.0} == mine


def test_places_on_earth_are_those_of_the_truth(messages):
    time, fix = messages["/remus_1/scene/location"][-1]
    row = int(np.rint(time / rf.PERIOD))
    position = rf.frames(duration=12.0).vehicles["remus-1"].position[row]
    expected = [float(x) for x in to_geodetic(position, (63.4, 10.4))]
    assert (fix.latitude, fix.longitude, fix.altitude) == pytest.approx(expected, abs=1e-9)


def test_the_recording_itself_is_all_there(exported):
    source, target, _ = exported
    with target.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        times = [message.log_time for _, _, message in reader.iter_messages()]
    assert times == sorted(times)
    before, after = read(source), read(target)
    assert after.complete
    assert after.summary == before.summary
    xarray.testing.assert_identical(after.dataset.load(), before.dataset.load())


def test_the_layout_names_topics_that_are_there(exported, messages):
    layout = json.loads(exported[2].read_text())
    panels = layout["configById"]

    def leaves(part):
        return [part] if isinstance(part, str) else leaves(part["first"]) + leaves(part["second"])

    assert sorted(leaves(layout["layout"])) == sorted(panels)
    view, place = panels["3D!scene"], panels["map!place"]
    shown = {topic for topic in view["topics"] if not topic.endswith("/path")}  # missions only
    assert shown | {place["followTopic"]} <= messages.keys()
    assert view["followTf"] == "otter/base_link"
    paths = [
        p["value"] for k, panel in panels.items() if k.startswith("Plot") for p in panel["paths"]
    ]
    assert len(paths) >= 8
    for path in paths:
        topic, *fields = path.split(".")
        value = messages[topic][0][1]
        for field in fields:
            name, _, index = field.partition("[")
            value = getattr(value, name)
            value = value[int(index[:-1])] if index else value
        assert np.isfinite(value)


def test_a_store_has_no_topics_and_is_refused(tmp_path, seatrial):
    path = tmp_path / "run.zarr"
    recorder = ZarrRecorder(path)
    recorder.open(rf.header(duration=2.0), SCENE)
    recorder.write(rf.frames(duration=2.0))
    recorder.close(rf.summary(duration=2.0))
    code, _, err = seatrial("export", path, "--to", "foxglove")
    assert code == 2
    assert "--out FILE.mcap" in err
