"""Closed-loop runs leave their traces: estimates, missions, and what became of their legs."""

import csv
import dataclasses
import json

import numpy as np
import pytest
import record_frames as rf
import xarray
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from seatrial.api import Run
from seatrial.cli.running import as_dict, show_run
from seatrial.engine.frames import (
    OUTCOMES,
    Event,
    Frames,
    GroupFrames,
    VehicleFrames,
    frames_of,
)
from seatrial.engine.output.tracks import Tally, summarise
from seatrial.errors import RecordingError
from seatrial.figures.plot import figure, plot
from seatrial.gnc import mission
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder
from seatrial.signals import SensorInfo

VEHICLES = (rf.SENT_BOAT, rf.AUV)
WORDS = {0: "completed", 1: "diverged"}
EVENTS = (
    Event(10.5, "failsafe position: hold", "failsafe", 0),
    Event(12.0, "failsafe position is over", "failsafe over", 0),
    Event(15.0, "goto 1 reached", "reached", 0),
    Event(32.0, "goto 2 passed", "passed", 1),
    Event(40.0, "failsafe battery: return", "failsafe", 2),
    Event(50.0, "hold 1 held, 24.8 m off", "held", 2),
)


def record(sink, run, vehicles=VEHICLES, summary=None, block=70):
    sink.open(rf.header(vehicles))
    for part in rf.blocks(run, block):
        sink.write(part)
    sink.close(summary or summary_of(run, vehicles))
    return sink


def summary_of(run, vehicles=VEHICLES, block=70, ended=None):
    """As the runner makes it, block by block; `ended` are (T, 1) status codes."""
    parts = rf.blocks(run, block)
    tallies = [Tally(group.names, set()) for group in parts[0].groups]
    for number, part in enumerate(parts):
        for tally, group in zip(tallies, part.groups, strict=True):
            alive = np.zeros((len(part.time), len(group.names)), np.int32)
            codes = alive if ended is None else ended[number * block :][: len(part.time)]
            tally.add(part.time, group, codes)
    return summarise(rf.header(vehicles), tallies, float(run.time[-1]), WORDS, {})


@pytest.fixture(scope="module")
def run():
    return rf.frames(VEHICLES)


@pytest.fixture(scope="module")
def recorded(run, tmp_path_factory):
    return record(McapRecorder(tmp_path_factory.mktemp("sent") / "run.mcap"), run).path


@pytest.fixture(scope="module")
def stored(run, tmp_path_factory):
    return record(ZarrRecorder(tmp_path_factory.mktemp("sent") / "run.zarr"), run).path


def expected(truth):
    return {
        "estimate_position": truth.estimate[:, :3],
        "estimate_attitude": truth.estimate[:, 3:7],
        "estimate_velocity": truth.estimate[:, 7:10],
        "estimate_angular_velocity": truth.estimate[:, 10:13],
        "estimate_current": truth.estimate[:, 13:16],
        "estimate_deviation": truth.estimate[:, 16:19],
        "estimate_attitude_deviation": truth.estimate[:, 19:22],
        "estimate_velocity_deviation": truth.estimate[:, 22:25],
        "estimate_angular_velocity_deviation": truth.estimate[:, 25:28],
        "estimate_rejected": truth.estimate[:, 28],
        "estimate_silent": truth.estimate[:, 29],
        "leg": truth.guidance[:, 0],
        "leg_outcome": truth.guidance[:, 1],
        "cross_track_error": truth.guidance[:, 2],
        "distance_to_go": truth.guidance[:, 3],
        "rule": truth.guidance[:, 4],
        "failsafes": truth.guidance[:, 5],
        "failsafe_action": truth.guidance[:, 6],
        "setpoint_asked": truth.guidance[:, 7],
        "setpoint_direction": truth.guidance[:, 8],
        "setpoint_surge": truth.guidance[:, 9],
        "setpoint_depth": truth.guidance[:, 10],
        "setpoint_sway": truth.guidance[:, 11],
        "setpoint_yaw_rate": truth.guidance[:, 12],
        "setpoint_north": truth.guidance[:, 13],
        "setpoint_east": truth.guidance[:, 14],
    }


def test_sinks_know_the_outcomes_that_guidance_counts():
    assert OUTCOMES == mission.OUTCOMES


@pytest.mark.parametrize("where", ["recorded", "stored", "memory"])
def test_estimates_and_missions_written_are_read_back(where, run, request):
    if where == "memory":
        recording = record(MemoryRecorder(), run).recording()
    else:
        recording = read(request.getfixturevalue(where))
    assert recording.header == rf.header(VEHICLES)
    assert recording.summary == summary_of(run)
    own = recording.vehicle("otter")
    for name, values in expected(run.vehicles["otter"]).items():
        # MCAP turns the attitude and holds the square of the deviation
        np.testing.assert_allclose(own[name], values, rtol=1e-15, atol=4e-16, err_msg=name)
        assert {"units", "long_name"} <= own[name].attrs.keys()
    assert own["estimate_deviation"].dims == ("time", "axis")
    assert own["leg_outcome"].attrs["comment"].startswith("0 pending, 1 reached")


def test_a_vehicle_without_filter_and_mission_shows_nothing_of_them(run, recorded):
    recording = read(recorded)
    for name in expected(run.vehicles["otter"]):
        assert np.isnan(recording.dataset[name].sel(vehicle="remus-1")).all()
        assert name not in recording.vehicle("remus-1")
    plain = record(MemoryRecorder(), rf.frames((rf.AUV,)), (rf.AUV,)).recording()
    assert not {"leg", "estimate_position"} & set(plain.dataset)


def test_a_store_opens_in_xarray_with_its_estimates_and_events(run, stored):
    data = xarray.open_zarr(stored)
    truth = run.vehicles["otter"]
    np.testing.assert_array_equal(
        data["estimate_position"].sel(vehicle="otter"), truth.estimate[:, :3]
    )
    assert data["event_text"].values.tolist() == [e.text for e in EVENTS]
    assert data["event_time"].values.tolist() == [e.time for e in EVENTS]


def messages(path, topic):
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        chosen = [c for c in reader.connections if c.topic == topic]
        assert len(chosen) == 1
        return [
            (time, reader.deserialize(data, connection.msgtype))
            for connection, time, data in reader.messages(connections=chosen)
        ]


def test_ros_reads_the_estimate_in_its_own_frames_with_its_covariance(run, recorded):
    believed = run.vehicles["otter"].estimate
    found = messages(recorded, "/otter/estimate")
    assert len(found) == len(run.time)
    _, message = found[200]
    north, east, down = believed[200, :3]
    point = message.pose.pose.position
    assert (point.x, point.y, point.z) == (east, north, -down)
    variances = np.diag(message.pose.covariance.reshape(6, 6))
    sigma = believed[200, 16:28]
    np.testing.assert_allclose(variances, sigma[[1, 0, 2, 4, 3, 5]] ** 2, rtol=1e-15)
    assert np.count_nonzero(message.pose.covariance) == 6
    twist = message.twist.covariance.reshape(6, 6)
    np.testing.assert_allclose(np.diag(twist), sigma[6:] ** 2, rtol=1e-15)
    assert np.count_nonzero(twist) == 6
    _, sensors = messages(recorded, "/otter/estimate/sensors")[300]
    assert dict(zip(sensors.name, sensors.position, strict=True)) == {"rejected": 2, "silent": 0}
    assert message.header.frame_id == "map"
    assert message.child_frame_id == "otter/base_link"
    assert message.twist.twist.angular.z == -believed[200, 12]
    _, current = messages(recorded, "/otter/estimate/current")[200]
    assert (current.vector.x, current.vector.y) == (believed[200, 14], believed[200, 13])


def test_ros_reads_the_mission_by_name_and_the_path_once(run, recorded):
    _, message = messages(recorded, "/otter/mission")[-1]
    names = ["leg", "outcome", "cross_track", "distance", "rule", "failsafes", "action"]
    asked = ["asked", "direction", "surge", "depth", "sway", "yaw_rate", "north", "east"]
    assert message.name == [*names, *asked]
    assert message.position.tolist() == run.vehicles["otter"].guidance[-1].tolist()
    ((time, path),) = messages(recorded, "/otter/path")
    places = [(p.pose.position.x, p.pose.position.y) for p in path.poses]
    assert time == 0
    assert places == [(0.0, 0.0), (14.3, 14.3), (28.6, 0.0), (28.6, 0.0)]


def test_a_leg_that_keeps_a_velocity_has_no_place_on_path_and_map(tmp_path):
    """Its end is where the leg before it ended, which the vehicle does not come back to."""
    first, second, _ = rf.SENT_BOAT.legs
    free = dataclasses.replace(second, name="velocity 1", kind="velocity", end=first.end)
    vehicles = (dataclasses.replace(rf.SENT_BOAT, legs=(first, free)),)
    path = record(McapRecorder(tmp_path / "a.mcap"), rf.frames(vehicles, 20.0), vehicles).path
    ((_, told),) = messages(path, "/otter/path")
    assert [p.pose.position.x for p in told.poses] == [0.0, 14.3]
    assert len(circles_of(figure(path))) == 1


@pytest.mark.parametrize("name", ["estimate", "mission", "path"])
def test_a_sensor_cannot_take_a_name_of_the_loop_s_topics(name, tmp_path):
    sensor = SensorInfo(name, "imu", ("a",), ("1",), (0.0,), 1.0, (0, 0, 0), (1, 0, 0, 0))
    boat = dataclasses.replace(rf.BOAT, sensors=(sensor,))
    with pytest.raises(RecordingError, match=f"/otter/{name}"):
        McapRecorder(tmp_path / "a.mcap").open(rf.header((boat,)))


@pytest.mark.parametrize("block", [1, 7, 150, 151, 10_000])
def test_summary_figures_are_those_of_the_whole_run_whatever_the_blocks(run, block):
    otter = summary_of(run, block=block).vehicles["otter"]
    truth = run.vehicles["otter"]
    error = np.linalg.norm(truth.estimate[:, :3] - truth.position, axis=1)
    off = truth.guidance[truth.guidance[:, 0] < 2, 2]  # the third leg is a station
    assert otter.indices == pytest.approx(
        {
            "legs": 3,
            "legs_done": 3,
            "legs_reached": 2,
            "cross_track_rms": np.sqrt(np.mean(off**2)),
            "cross_track_max": np.abs(off).max(),
            "position_error_rms": np.sqrt(np.mean(error**2)),
            "position_error_max": error.max(),
        },
        rel=1e-12,
    )
    assert otter.events == EVENTS
    plain = summary_of(run, block=block).vehicles["remus-1"]
    assert plain.indices == {}
    assert plain.events == ()


def test_figures_of_a_vehicle_that_ended_are_those_of_its_life(run):
    vehicles = (rf.SENT_BOAT,)
    alone = rf.frames(vehicles)
    ended = (np.arange(len(run.time)) > 250).astype(np.int32)[:, None]
    otter = summary_of(alone, vehicles, ended=ended).vehicles["otter"]
    truth = alone.vehicles["otter"]
    error = np.linalg.norm(truth.estimate[:251, :3] - truth.position[:251], axis=1)
    assert otter.status == "diverged"
    assert otter.indices["position_error_rms"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert otter.indices["cross_track_max"] == np.abs(truth.guidance[:251, 2]).max()


def test_legs_that_end_between_two_frames_are_told_without_a_guess():
    vehicles = (rf.SENT_BOAT,)
    whole = rf.frames(vehicles, duration=2.0)
    guidance = whole.vehicles["otter"].guidance
    guidance[10:, 0], guidance[10:, 1] = 2.0, 1.0
    otter = summary_of(whole, vehicles).vehicles["otter"]
    assert otter.events == (
        Event(1.0, "goto 1 ended", "unknown", 0),
        Event(1.0, "goto 2 reached", "reached", 1),
    )
    assert otter.indices["legs_done"] == 2
    assert otter.indices["legs_reached"] == 1


@pytest.mark.parametrize(
    ("field", "column", "value", "status"),
    [
        ("estimate", 0, 1000.0, "lost"),
        ("guidance", 6, 6.0, "aborted"),
        ("attitude", slice(None), (0.0, 1.0, 0.0, 0.0), "capsized"),
        ("guidance", 6, 4.0, "unfinished"),
        ("guidance", 0, 3.0, "completed"),
    ],
)
def test_a_run_is_not_completed_that_ended_lost_stopped_or_upside_down(
    field, column, value, status
):
    vehicles = (rf.SENT_BOAT,)
    whole = rf.frames(vehicles, duration=2.0)
    getattr(whole.vehicles["otter"], field)[-1, column] = value
    assert summary_of(whole, vehicles).vehicles["otter"].status == status


def test_vehicles_of_a_group_are_told_apart(run):
    """Two boats of one group, the second half a minute behind the first."""
    infos = tuple(dataclasses.replace(rf.SENT_BOAT, name=f"otter_{i}") for i in range(2))
    first = run.vehicles["otter"]
    late = dataclasses.replace(first, guidance=np.roll(first.guidance, 300, axis=0))
    late.guidance[:300] = first.guidance[0]
    pairs = {k: np.stack([getattr(first, k), getattr(late, k)], axis=1) for k in vars(first)}
    group = GroupFrames(("otter_0", "otter_1"), VehicleFrames(**pairs))
    tally = Tally(group.names, set())
    tally.add(run.time, group, np.zeros((len(run.time), 2), np.int32))
    found = summarise(rf.header(infos), [tally], 60.0, WORDS, {}).vehicles
    assert found["otter_0"].events == EVENTS
    assert [e.time for e in found["otter_1"].events] == [40.5, 42.0, 45.0]
    assert found["otter_1"].indices["legs_done"] == 1
    stored = MemoryRecorder()
    stored.open(rf.header(infos))
    stored.write(Frames(run.time, (group,)))
    own = stored.recording().vehicle("otter_1")
    np.testing.assert_array_equal(own["leg"], late.guidance[:, 0])


def test_exports_have_the_columns_of_the_loop(run, recorded, tmp_path):
    boat, auv = export(recorded, "csv", tmp_path / "run.csv")
    rows = list(csv.DictReader(boat.open()))
    truth = run.vehicles["otter"]
    assert float(rows[100]["estimate_north_m"]) == truth.estimate[100, 0]
    assert float(rows[100]["cross_track_error_m"]) == truth.guidance[100, 2]
    assert float(rows[-1]["leg"]) == 3
    columns = next(csv.reader(auv.open()))
    assert not [c for c in columns if c.startswith(("estimate", "leg"))]
    (netcdf,) = export(recorded, "netcdf", tmp_path / "run.nc")
    with xarray.open_dataset(netcdf, engine="h5netcdf") as data:
        assert float(data["leg"].sel(vehicle="otter")[-1]) == 3


def finished(run, vehicles=VEHICLES):
    summary = summary_of(run, vehicles)
    memory = record(MemoryRecorder(), run, vehicles, summary)
    return Run(rf.header(vehicles), summary, 0.5, memory)


def test_closing_table_and_json_tell_the_events(run, capsys):
    ended = finished(run)
    show_run(ended, None, as_json=False)
    shown = capsys.readouterr().out
    for line in (
        "otter: 15 s goto 1 reached",
        "otter: 32 s goto 2 passed",
        "otter: 50 s hold 1 held, 24.8 m off",
        "otter: 3 of 3 legs done, 2 reached",
    ):
        assert line in shown.splitlines()
    assert any("cross track rms" in x and x.endswith(" m") for x in shown.splitlines())
    told = json.loads(json.dumps(as_dict(ended), allow_nan=False))
    assert told["vehicles"]["otter"]["events"] == [vars(e) for e in EVENTS]


def axes_of(page):
    """By their titles."""
    found = page.get_axes() + [a for part in page.subfigs for a in part.get_axes()]
    return {axes.get_title(loc="left"): axes for axes in found}


def circles_of(page):
    track = axes_of(page)["Track over ground, north up"]
    return [p for p in track.patches if type(p).__name__ == "Circle"]


def test_map_shows_waypoints_and_the_believed_track_and_panels_the_errors(run, recorded, tmp_path):
    page = figure(recorded)
    titles = axes_of(page)
    track = titles["Track over ground, north up"]
    assert [(c.center, c.radius) for c in circles_of(page)] == [
        ((14.3, 14.3), 3.0),
        ((28.6, 0.0), 3.0),
        ((28.6, 0.0), 2.0),
    ]
    dashed = [line for line in track.get_lines() if line.get_linestyle() == "--"]
    (believed,) = (line.get_xydata() for line in dashed)
    np.testing.assert_array_equal(believed, run.vehicles["otter"].estimate[:, 1::-1])
    off = titles["Off the track, to starboard, otter [m]"].get_lines()[0].get_ydata()
    np.testing.assert_array_equal(np.isnan(off), run.time >= 32.0)
    (error,) = titles["Position error of the filter, otter [m]"].get_lines()
    assert np.all(error.get_ydata() > 0.0)
    first = believed_ellipses(track)[0]
    deviation = run.vehicles["otter"].estimate[0, 16:18]
    np.testing.assert_allclose(
        [first.height, first.width], 2.0 * np.sqrt(-2.0 * np.log(0.05)) * deviation, rtol=1e-4
    )
    np.testing.assert_allclose(first.center, run.vehicles["otter"].estimate[0, 1::-1])
    image = plot(recorded, tmp_path / "page.png")
    assert image.read_bytes() == plot(recorded, tmp_path / "again.png").read_bytes()


def believed_ellipses(track):
    return [p for p in track.patches if type(p).__name__ == "Ellipse"]


def test_panels_show_what_was_asked_for_beside_what_came_of_it(run, recorded):
    titles = axes_of(figure(recorded))
    surge, direction = (run.vehicles["otter"].guidance[:, i] for i in (9, 8))
    station = run.time >= 32.0
    (asked,) = dashed_of(titles["Speed over ground [m/s]"])
    np.testing.assert_array_equal(asked, np.where(station, np.nan, surge))
    (asked,) = dashed_of(titles["Heading, clockwise from north [°]"])
    turns = (asked - np.degrees(direction)) / 360.0
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-9)
    heading = titles["Heading, clockwise from north [°]"].get_lines()[0].get_ydata()
    assert np.abs(asked - heading).max() <= 180.0 + 1e-9  # never a whole turn away
    assert not dashed_of(titles["Depth, remus-1 [m]"])  # it has no mission


def dashed_of(axes):
    return [line.get_ydata() for line in axes.get_lines() if line.get_linestyle() == "--"]


def test_the_timeline_tells_legs_sensors_that_were_not_used_and_events(run):
    def sensor(name):
        place = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        return SensorInfo(name, "compass", ("heading",), ("rad",), (0.1,), 1.0, *place)

    boat = dataclasses.replace(rf.SENT_BOAT, sensors=tuple(map(sensor, ("imu", "gnss", "dvl"))))
    summary = summary_of(run)
    memory = record(MemoryRecorder(), run, (boat, rf.AUV), summary)
    axes = axes_of(figure(memory.recording()))["What happened, otter"]
    bars = {(round(p.get_x(), 6), round(p.get_x() + p.get_width(), 6)) for p in axes.patches}
    assert {(0.0, 15.0), (15.0, 32.0), (32.0, 50.0)} <= bars  # the legs
    assert {(20.1, 60.0), (30.1, 60.0)} <= bars
    texts = [t.get_text() for t in axes.texts]
    assert {"goto 1", "rejected  gnss", "silent  dvl", "failsafe battery: return"} <= set(texts)
    assert not [t for t in texts if "reached" in t]  # the bars tell it
    dotted = [x.get_xdata()[0] for x in axes.get_lines() if x.get_linestyle() == ":"]
    assert dotted == [e.time for e in EVENTS if e.outcome.startswith("failsafe")]


def test_the_map_shows_where_two_came_nearest_to_each_other(run, recorded):
    track = axes_of(figure(recorded))["Track over ground, north up"]
    own, other = (run.vehicles[v.name].position[:, :2] for v in VEHICLES)
    distance = np.hypot(*(own - other).T)
    expected = f"{distance.min():.1f} m at {run.time[distance.argmin()]:.0f} s"
    assert expected in [t.get_text() for t in track.texts]


def test_a_sensor_that_comes_and_goes_is_named_where_it_can_be_read(run):
    """Its ticks are narrower than a letter, from the first frame to the last."""
    place = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    gnss = SensorInfo("gnss", "gnss", ("north",), ("m",), (0.1,), 1.0, *place)
    boat = dataclasses.replace(rf.SENT_BOAT, sensors=(gnss,))
    own = run.vehicles["otter"]
    estimate = own.estimate.copy()
    estimate[:, 28], estimate[:, 29] = 0.0, np.arange(len(run.time)) % 12 < 3
    seen = dataclasses.replace(own, estimate=estimate)
    frames = frames_of(run.time, {**run.vehicles, "otter": seen})
    memory = record(MemoryRecorder(), frames, (boat, rf.AUV))
    page = figure(memory.recording())
    page.canvas.draw()
    axes = axes_of(page)["What happened, otter"]
    (name,) = (t for t in axes.texts if t.get_text() == "silent  gnss")
    assert name.get_color() != "white"
    assert name.get_bbox_patch().get_facecolor()[:3] == (1.0, 1.0, 1.0)
    box, room = name.get_window_extent(), axes.get_window_extent()
    assert room.x0 <= box.x0
    assert box.x1 <= room.x1


@pytest.mark.parametrize(("half", "in_sight"), [(40.0, True), (4000.0, False)])
def test_the_map_shows_the_fence_and_grows_for_one_that_is_near(run, half, in_sight):
    corners = ((-half, -half), (half, -half), (half, half), (-half, half))
    boat = dataclasses.replace(rf.SENT_BOAT, fence=corners)
    memory = record(MemoryRecorder(), run, (boat, rf.AUV))
    track = axes_of(figure(memory.recording()))["Track over ground, north up"]
    (line,) = (x for x in track.get_lines() if x.get_linestyle() == "-.")
    np.testing.assert_array_equal(line.get_xydata(), [c[::-1] for c in (*corners, corners[0])])
    assert "red: fence" in " ".join(track.get_xlabel().split())
    assert (track.get_xlim()[1] >= half) == in_sight
    assert track.get_xlim()[1] < 1000.0


def test_headings_that_run_on_are_named_as_a_compass_names_them(run):
    own = run.vehicles["otter"]
    yaw = np.radians(np.linspace(-120.0, 560.0, len(run.time)))
    attitude = np.stack([np.cos(yaw / 2), 0.0 * yaw, 0.0 * yaw, np.sin(yaw / 2)], axis=-1)
    turned = dataclasses.replace(own, attitude=attitude)
    frames = frames_of(run.time, {**run.vehicles, "otter": turned})
    memory = record(MemoryRecorder(), frames)
    page = figure(memory.recording(), vehicles=["otter"])
    page.canvas.draw()
    axes = axes_of(page)["Heading, clockwise from north [°]"]
    names = {t.get_text() for t in axes.get_yticklabels()}
    assert names <= {"0", "90", "180", "270"}
    assert len(names) >= 2
