"""What a page gets of a sensor that it watches: the latest, thinned out, and of no other one."""

import asyncio
import base64
import dataclasses
import io
import json
import time
from dataclasses import replace

import numpy as np
import pytest
from chromium import serving
from PIL import Image
from websockets.asyncio.client import connect

import seatrial as st
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.signals import Measurements, PayloadInfo, SensorInfo
from seatrial.viewer.live import Live
from seatrial.viewer.messages import read_request
from seatrial.viewer.pictures import MOST_COLUMNS, MOST_POINTS, MOST_SAMPLES, newest, samples_of
from seatrial.viewing import stage_of


def info(payload=None, **facts):
    return SensorInfo(
        name="eye", type="lidar", components=("nearest",), units=("m",), deviation=(0.0,),
        rate=10.0, position=(0.0, 0.0, 0.0), orientation=(1.0, 0.0, 0.0, 0.0), payload=payload,
        facts={name: tuple(numbers) for name, numbers in facts.items()},
    )  # fmt: skip


def taken(count, payload=None, valid=True):
    at = 0.1 * np.arange(count)
    return Measurements(
        time=at,
        arrival=at,
        values=np.arange(count, dtype=np.float64)[:, None],
        valid=np.full(count, valid),
        fault=np.zeros(count, np.int32),
        payload=payload,
    )


def picture(sensor, payload):
    return samples_of(1, "otter", sensor, taken(len(payload), payload)).picture


def numbers(found, kind):
    return np.frombuffer(base64.b64decode(found.data), kind)


def test_only_valid_samples_that_are_new_are_told_and_not_too_many():
    some = taken(50)
    some.valid[49] = False
    assert newest(info(), some, 4.25, np.inf).tolist() == [43, 44, 45, 46, 47, 48]
    assert newest(info(), some, -1.0, 0.21).tolist() == [0, 1, 2]
    assert len(newest(info(), some, -1.0, np.inf)) == MOST_SAMPLES
    told = samples_of(3, "otter", info(), some.cut(newest(info(), some, 4.75, np.inf)))
    assert (told.run, told.times, told.values) == (3, pytest.approx([4.8]), [[48.0]])


def test_a_picture_that_grows_ping_by_ping_misses_none_in_a_fast_run():
    kind = PayloadInfo("echogram", (1, 4), "float32", "dB re 1 uPa")
    some = taken(3 * MOST_SAMPLES, np.zeros((3 * MOST_SAMPLES, 1, 4), "f4"))
    assert len(newest(info(kind), some, -1.0, np.inf)) == 3 * MOST_SAMPLES


def test_a_radars_noise_stays_black_and_its_target_does_not():
    rng = np.random.default_rng(3)
    screen = -100.0 + rng.normal(size=(1, 90, 128)).astype("f4")
    screen[0, 30, 60] += 40.0
    found = picture(
        replace(info(PayloadInfo("image", (90, 128), "float32", "dBm")), type="radar_image"), screen
    )
    shades = numbers(found, "u1")
    assert np.median(shades) == 1
    assert np.quantile(shades, 0.99) < 40
    assert shades[30 * 128 + 60] > 200


def test_what_is_no_number_is_told_as_none():
    some = taken(1)
    some.values[0, 0] = np.inf
    assert samples_of(1, "otter", info(), some).values == [[None]]


def test_a_cloud_is_thinned_out_and_holds_what_was_met():
    rng = np.random.default_rng(2)
    cloud = rng.normal(size=(1, 4 * MOST_POINTS, 6)).astype("f4")
    cloud[0, ::2, 0] = np.nan
    kind = PayloadInfo("cloud", cloud.shape[1:], "float32", "m", ("x", "y", "z", "intensity"))
    found = picture(info(kind), cloud)
    points = numbers(found, "<f4").reshape(found.rows, 4)
    assert MOST_POINTS / 2 < found.rows <= MOST_POINTS
    assert {tuple(p) for p in points.tolist()} <= {tuple(p) for p in cloud[0, 1::2, :4].tolist()}


def test_a_scan_is_told_as_points_around_the_scanner():
    scan = np.array([[[2.0, 3.0, np.inf, 5.0], [0.1, 0.2, 0.0, 0.4]]], "f4")
    kind = PayloadInfo("scan", scan.shape[1:], "float32", "m", ("range", "intensity"))
    sensor = info(kind, first_azimuth=[-np.pi / 2], last_azimuth=[np.pi])
    points = numbers(picture(sensor, scan), "<f4").reshape(-1, 4)
    expected = [[0, -2, 0, 0.1], [3, 0, 0, 0.2], [-5, 0, 0, 0.4]]
    assert np.allclose(points, expected, atol=1e-6)


def test_depths_keep_their_order_and_what_is_too_far_is_nothing():
    image = np.linspace(1.0, 9.0, 64).reshape(1, 8, 8).astype("f4")
    image[0, 0, 0] = np.inf
    found = picture(info(PayloadInfo("image", (8, 8), "float32", "m")), image)
    shades = numbers(found, "u1")
    assert shades[0] == 0
    assert np.all(np.diff(shades[1:].astype(int)) >= 0)
    assert (shades[1], shades[-1]) == (1, 255)
    depth = found.low + (shades[1:] - 1.0) / 254.0 * (found.high - found.low)
    assert np.max(np.abs(depth - image.ravel()[1:])) < 0.2


def test_photos_and_masks_are_told_as_files():
    flat = np.zeros((1, 40, 60, 3), np.uint8)
    flat[..., 2] = 200
    camera = dataclasses.replace(
        info(PayloadInfo("image", (40, 60, 3), "uint8", "1")), type="camera"
    )
    found = picture(camera, flat)
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(found.data))))
    assert (found.form, found.rows, found.columns) == ("photo", 40, 60)
    assert np.abs(shown.astype(int) - flat[0]).max() < 6
    masks = np.full((1, 60, 60), 2, np.uint16)
    masks[0, :30, :30] = 0
    sensor = dataclasses.replace(camera, payload=PayloadInfo("image", (60, 60), "uint16", "1"))
    told = picture(sensor, masks)
    colours = np.asarray(Image.open(io.BytesIO(base64.b64decode(told.data)))).astype(int)
    assert colours[15, 15].max() < 12  # nothing is black
    assert np.ptp(colours[45, 45]) > 60  # the others have a colour


def test_a_small_target_stays_when_an_echogram_is_thinned_out():
    bins = 4 * MOST_COLUMNS
    pings = np.full((3, 1, bins), 40.0, "f4") - 30.0 * np.log10((np.arange(bins) + 0.5) * 0.01)
    pings[1, 0, 1234] += 30.0
    kind = PayloadInfo("echogram", (1, bins), "float32", "dB re 1 uPa")
    found = picture(info(kind, bin_width=[0.01], absorption=[0.0]), pings)
    shades = numbers(found, "u1").reshape(3, found.rows, found.columns)
    assert found.columns == MOST_COLUMNS
    assert np.argmax(shades) == MOST_COLUMNS + 1234 // 4
    assert np.max(np.delete(shades.ravel(), MOST_COLUMNS + 1234 // 4)) < 100  # the gain is flat


SCENARIO = {
    "duration": 3.0,
    "world": {
        "name": "basin",
        "seabed": {"depth": 8},
        "bodies": [{"name": "quay", "wall": {"points": [[15, -30], [15, 30]], "height": 14}}],
    },
    "vehicles": [
        {
            "name": "otter",
            "vehicle": "otter",
            "start": {"speed": 1.0},
            "sensors": [
                {
                    "type": "lidar",
                    "name": "scanner",
                    "rate": 5,
                    "model": "tim571",
                    "position": [0, 0, -1],
                },
                {"type": "compass", "name": "compass", "rate": 10},
            ],
        }
    ],
}


@pytest.fixture(scope="module")
def plan():
    return st.compile_scenario(st.Scenario(**SCENARIO))


@pytest.fixture(scope="module")
def engine(plan):
    with Engine(plan, stepped=True) as made:
        yield made


def test_a_page_gets_the_samples_of_the_sensor_that_it_watches(engine):
    engine.reset()

    async def watched(url):
        found = []
        async with connect(url.replace("http", "ws") + "ws") as line:
            await line.send(json.dumps({"type": "watch", "vehicle": "otter", "sensor": "scanner"}))
            end = time.monotonic() + 20.0
            while time.monotonic() < end and len(found) < 3:
                message = await asyncio.wait_for(line.recv(), 5.0)
                if isinstance(message, str) and json.loads(message)["type"] == "samples":
                    found.append(json.loads(message))
            await line.send(json.dumps({"type": "watch", "vehicle": "otter"}))
            late, end = 0, time.monotonic() + 1.0
            while time.monotonic() < end:
                message = await asyncio.wait_for(line.recv(), 5.0)
                late += isinstance(message, str) and json.loads(message)["type"] == "samples"
            return found, late

    live = Live(engine, Controllers({}))
    with serving(live, watcher="") as served:  # whoever only watches may look at sensors
        found, late = asyncio.run(watched(served.url))
    assert [m["sensor"] for m in found] == ["scanner"] * 3
    ends = [m["times"][-1] for m in found]
    assert ends == sorted(set(ends))
    points = np.frombuffer(base64.b64decode(found[0]["picture"]["data"]), "<f4").reshape(-1, 4)
    ahead = points[np.abs(points[:, 1]) < 1.0]
    assert np.all((ahead[:, 0] > 8.0) & (ahead[:, 0] < 15.5))  # the quay
    assert late <= 1  # what was on its way


def test_a_fast_run_tells_the_samples_of_several_blocks_and_the_last_picture(engine):
    engine.reset()
    live = Live(engine, Controllers({}))
    for _ in range(6):
        live._advance(5)
    told = live.samples("otter", "compass", 0.0)
    assert len(told.times) > 1
    assert np.allclose(np.diff(told.times), 0.1)  # none is missing
    assert told.times[0] < told.times[-1] - 0.3
    assert live.samples("otter", "scanner", 0.0).picture.form == "points"
    assert live.samples("otter", "compass", told.times[-1]) is None


def test_a_recording_shows_the_samples_of_the_moment(plan, tmp_path):
    out = tmp_path / "run.mcap"
    st.run(plan, out=out)
    stage, recording = stage_of(out), st.read(out)
    stage.ask(read_request.validate_python({"type": "seek", "time": 1.5}), print)
    stage._hear()
    told = stage.samples("otter", "compass", 1.0)
    assert told.times == pytest.approx(np.arange(1.1, 1.51, 0.1))
    kept = recording.sensor("otter", "compass").heading.sel(time=1.5, method="nearest")
    assert told.values[-1][0] == pytest.approx(float(kept))
    told = stage.samples("otter", "scanner", 0.0)
    points = np.frombuffer(base64.b64decode(told.picture.data), "<f4").reshape(-1, 4)
    at = int(np.searchsorted(recording.sensor("otter", "scanner").time, told.times[-1] - 1e-9))
    ranges = recording.payload("otter", "scanner")[at][0]
    assert np.allclose(np.hypot(*points[:, :2].T), ranges[np.isfinite(ranges)], rtol=1e-5)
    assert stage.samples("otter", "scanner", 1.5) is None
    assert stage.samples("otter", "nothing", 0.0) is None


def test_a_swarm_tells_its_sensors_once_and_what_its_channels_move(plan):
    fleet = {**SCENARIO["vehicles"][0], "count": 3, "formation": "grid", "spacing": 5.0}
    engine = Engine(st.compile_scenario(st.Scenario(**{**SCENARIO, "vehicles": [fleet]})))
    with engine:
        hello = Live(engine, Controllers({})).hello
    assert [card.suite for card in hello.vehicles] == [0, 0, 0]
    assert [sensor.name for sensor in hello.suites[0]] == ["scanner", "compass"]
    left, right = hello.vehicles[0].channels
    assert (left.kind, right.kind) == ("thruster", "thruster")
    assert left.position[1] == -right.position[1] < 0.0
    assert left.axis == (1.0, 0.0, 0.0)


def test_a_recording_knows_the_fence_and_what_its_channels_move(tmp_path):
    corners = [[-20.0, -20.0], [60.0, -20.0], [60.0, 20.0], [-20.0, 20.0]]
    craft = {
        "name": "wamv",
        "vehicle": "wamv",
        "feedback": "truth",
        "guidance": {"fence": corners},
        "mission": [{"do": "goto", "waypoints": [[40, 0]], "speed": 1.0}],
    }
    out = tmp_path / "run.mcap"
    st.run(st.compile_scenario(st.Scenario(vehicles=[craft])), duration=0.5, out=out)
    card = stage_of(out).hello.vehicles[0]
    assert [list(corner) for corner in card.fence] == corners
    told = {channel.name: (channel.kind, channel.axis) for channel in card.channels}
    assert told["left"] == ("thruster", (1.0, 0.0, 0.0))
    assert told["left_angle"] == ("azimuth", (0.0, 0.0, 1.0))


def test_the_history_of_a_recording_is_its_frames(plan, tmp_path):
    out = tmp_path / "run.mcap"
    frames = st.run(plan, duration=2.0, out=out).dataset.isel(vehicle=0)
    stage = stage_of(out)
    told = stage.history("otter")
    times = np.frombuffer(base64.b64decode(told.times), "<f8")
    rows = np.frombuffer(base64.b64decode(told.numbers), "<f4").reshape(len(times), -1)
    assert np.array_equal(times, frames.time.values)
    assert np.allclose(rows[:, :3], frames.position.values, atol=1e-6)
    assert stage.history("nobody") is None
