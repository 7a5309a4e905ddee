"""Large recordings: opened, sliced and exported without being held in memory."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import record_frames as rf
import record_sensors as rs
import xarray

from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read

PLAIN = (rf.BOAT,)


@pytest.fixture(scope="module")
def long_run():
    return rf.frames(PLAIN, 120.0)


@pytest.fixture(scope="module")
def recorded(long_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("lazy") / "run.mcap"
    sink = McapRecorder(path)
    sink.open(rf.header(PLAIN, 120.0))
    for part in rf.blocks(long_run, 50):
        sink.write(part)
    sink.close(rf.summary(PLAIN, 120.0))
    return path


def chunks_read(recording, action):
    before = recording.source.file.chunks_read
    action()
    return recording.source.file.chunks_read - before


def test_opening_reads_the_index_and_no_data(recorded):
    recording = read(recorded)
    assert recording.source.file.chunks_read == 0
    assert len(recording.source.file.places) == 25
    assert recording.complete
    assert recording.summary == rf.summary(PLAIN, 120.0)


def test_slice_in_time_reads_its_own_chunks_alone(recorded, long_run):
    recording = read(recorded)
    # Whether frames are evenly spaced is seen by the first and the last chunk.
    assert chunks_read(recording, lambda: recording.dataset) == 2
    part = recording.dataset["position"].sel(time=slice(61.0, 63.9))
    assert chunks_read(recording, lambda: part.load()) == 1
    truth = long_run.vehicles["otter"].position
    np.testing.assert_array_equal(part[:, 0], truth[610:640])
    assert chunks_read(recording, lambda: recording.dataset["wind"][605:640].load()) == 0
    one = recording.dataset["velocity"][1000]
    assert chunks_read(recording, lambda: one.load()) == 1
    np.testing.assert_array_equal(one[0], long_run.vehicles["otter"].velocity[1000, :3])


def test_any_part_of_a_variable_is_the_same_as_of_a_loaded_one(recorded):
    lazy, loaded = read(recorded).dataset, read(recorded).dataset.load()
    rng = np.random.default_rng(1)
    for name in ("position", "euler", "speed", "actuator"):
        for _ in range(5):
            rows = np.sort(rng.integers(0, 1201, 7))
            xarray.testing.assert_identical(lazy[name][rows], loaded[name][rows])
            part = slice(*np.sort(rng.integers(0, 1201, 2)).tolist(), int(rng.integers(1, 9)))
            xarray.testing.assert_identical(lazy[name][part], loaded[name][part])
        backwards = slice(900, 100, -7)
        xarray.testing.assert_identical(lazy[name][backwards], loaded[name][backwards])
    axes = ["down", "north"]
    xarray.testing.assert_identical(
        lazy["position"].sel(axis=axes, vehicle="otter"),
        loaded["position"].sel(axis=axes, vehicle="otter"),
    )
    points = xarray.DataArray([3, 700, 41], dims="point")
    xarray.testing.assert_identical(
        lazy["position"].isel(time=points), loaded["position"].isel(time=points)
    )


def test_frames_that_are_not_evenly_spaced_keep_their_times(tmp_path, long_run):
    from seatrial.engine.frames import Frames

    path = tmp_path / "odd.mcap"
    sink = McapRecorder(path)
    sink.open(rf.header(PLAIN, 120.0))
    times = []
    for k, part in enumerate(rf.blocks(long_run, 200)):
        times.append(part.time + 0.013 * k**2)
        sink.write(Frames(times[-1], part.groups))
    sink.close(rf.summary(PLAIN, 120.0))
    data = read(path).dataset
    np.testing.assert_allclose(data["time"], np.concatenate(times), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(data["position"][:, 0], long_run.vehicles["otter"].position)


def test_one_sensor_and_a_span_of_time_read_the_chunks_that_hold_it(tmp_path):
    path = tmp_path / "a.mcap"
    run = rs.whole_run()
    rs.write(McapRecorder(path), run, block=5)
    recording = read(path)
    truth = rs.valid(run, "imu")
    span = (2.0, 2.4)
    inside = truth.cut((truth.time >= span[0]) & (truth.time <= span[1]))
    count = chunks_read(recording, lambda: recording.samples("otter", "imu", span))
    assert count <= 3
    assert len(recording.source.file.places) >= 12
    found = recording.samples("otter", "imu", span)
    np.testing.assert_allclose(found.time, inside.time, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.values, inside.values)
    assert recording.sensor("otter", "imu", span).sizes["time"] == len(inside.time)


_LIMITED = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import xarray, h5netcdf, rosbags.typesys, mcap.writer, zstandard
import record_frames as rf
from seatrial.engine.frames import frames_of
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.samples import label_samples
from seatrial.ros.layout import TypeStore
from seatrial.signals import Measurements, PayloadInfo, SensorInfo
import dataclasses
folder = sys.argv[2]

SHAPE = (1024, 1024)
camera = SensorInfo("camera", "picture", ("mean",), ("1",), (0.0,), 10.0, (0, 0, 0), (1, 0, 0, 0),
                    {}, PayloadInfo("image", SHAPE, "uint8", "1"))
boat = dataclasses.replace(rf.BOAT, sensors=(camera,))
blocks = 40
base = rf.frames((boat,), 0.9)
TypeStore()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

told = {"start": peak()}
sink = McapRecorder(f"{folder}/big.mcap")
sink.open(rf.header((boat,), float(blocks)))
for k in range(blocks):
    time = k + 0.1 * np.arange(10)
    pictures = np.zeros((10, *SHAPE), np.uint8)
    pictures[:, k, :10] = np.arange(1, 11)[:, None]
    taken = Measurements(time, time + 0.01, np.full((10, 1), k), np.ones(10, bool),
                         np.zeros(10, np.int32), pictures)
    sink.write(frames_of(time, base.vehicles, {"otter": {"camera": taken}}))
sink.close(rf.summary((boat,), float(blocks)))
told["written"] = peak()
recording = read(f"{folder}/big.mcap")
told["chunks at opening"] = recording.source.file.chunks_read
told["places"] = len(recording.source.file.places)
arrays = recording.payload("otter", "camera")
told["bytes"] = arrays.nbytes
picked = arrays[203]
told["picked"] = int(picked.sum())
told["chunks for one picture"] = recording.source.file.chunks_read
part = recording.dataset["position"].sel(time=slice(20.0, 22.0)).load()
told["frames"] = part.sizes["time"]
told["chunks for a slice"] = recording.source.file.chunks_read - told["chunks for one picture"]
told["opened"] = peak()
export(recording, "csv", f"{folder}/big.csv")
export(recording, "netcdf", f"{folder}/big.nc")
told["exported"] = peak()
print(json.dumps(told))
"""


def test_recording_of_four_hundred_megabytes_needs_a_quarter_of_that(tmp_path):
    """Written, opened, sliced and exported in one process, whose memory is measured; what it needs
    does not depend on the length."""
    folder = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(folder), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["bytes"] == 400 * 1024 * 1024
    assert told["chunks at opening"] == 0
    assert told["places"] > 400
    assert told["picked"] == 4 * 10  # the fourth of its block
    assert told["chunks for one picture"] == 1
    assert told["frames"] == 21
    assert told["chunks for a slice"] <= 2 + 4  # first and last for the times
    grown = told["exported"] - told["start"]
    assert grown < 100, f"memory grew by {grown:.0f} MB"
    with xarray.open_dataset(
        tmp_path / "big.nc", group="otter/camera", engine="h5netcdf", chunks=None
    ) as again:
        assert again["image"].shape == (400, 1024, 1024)
        assert int(again["image"][203].sum()) == 40
        np.testing.assert_array_equal(again["mean"], np.repeat(np.arange(40.0), 10))
    with xarray.open_dataset(tmp_path / "big.nc", engine="h5netcdf") as frames:
        np.testing.assert_allclose(frames["time"], 0.1 * np.arange(400), atol=1e-9)
    assert len((tmp_path / "big.csv").read_text().splitlines()) == 401
    (tmp_path / "big.nc").unlink()


def test_export_is_the_same_whatever_the_blocks(recorded, tmp_path, long_run):
    path = tmp_path / "one.mcap"
    sink = McapRecorder(path)
    sink.open(rf.header(PLAIN, 120.0))
    sink.write(long_run)
    sink.close(rf.summary(PLAIN, 120.0))
    (many,) = export(recorded, "csv", tmp_path / "many.csv")
    (one,) = export(path, "csv", tmp_path / "one.csv")
    assert many.read_bytes() == one.read_bytes()
