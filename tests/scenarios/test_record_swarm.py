"""Recordings of swarms: columns on disk, in bounded memory, that any xarray opens."""

import dataclasses
import gc
import hashlib
import json
import os
import signal
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import record_frames as rf
import xarray

import seatrial as st
from seatrial.cli.running import as_dict, show_run
from seatrial.engine.frames import (
    Frames,
    GroupFrames,
    RunSummary,
    VehicleFrames,
    VehicleSummary,
)
from seatrial.errors import RecordingError
from seatrial.figures.plot import figure, plot
from seatrial.record.choose import recorder
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import STORED, ZarrRecorder
from seatrial.spec.loading import load_text

SCENARIO = """
kind: scenario
name: two-kinds
seed: 3
duration: 8
time_step: 0.04
integrator: semi_implicit
control_period: 0.2
frame_period: 0.4
world:
  name: short-sea
  waves: {spectrum: pierson_moskowitz, significant_height: 0.5, towards_deg: 90}
vehicles:
  - {name: smarty, vehicle: smarty, count: 290, vary: {inertia.mass: {relative: 0.1}}}
  - name: auv
    vehicle: remus100_mss
    sensors: []
    count: 6
    start: {position: [0, 0, 3], speed: 1.5}
    commands: {propeller_rpm: 1200}
  - {name: straggler, vehicle: smarty, count: 4, vary: {inertia.mass: {relative: 0.1}}}
"""


def swarm(count, info=rf.BOAT):
    return tuple(dataclasses.replace(info, name=f"{info.name}_{i}") for i in range(count))


def synthetic(infos, time, dtype=np.float32, seed=0):
    """Frames of formulas: every vehicle of one kind on a course of its own."""
    rng = np.random.default_rng(seed)
    n, t = len(infos), time[:, None]
    channels = len(infos[0].actuators)
    heading = rng.uniform(0, 2 * np.pi, n)
    speed = rng.uniform(0.5, 1.5, n)
    elevation = 0.2 * np.sin(t + heading)
    roll = 0.1 * np.cos(t + heading)
    zero = np.zeros((len(time), n))
    position = np.stack([speed * np.cos(heading) * t, speed * np.sin(heading) * t, -elevation], -1)
    velocity = np.stack([zero + speed, zero, zero, zero, zero, zero], -1)
    three = np.stack([zero] * 3, -1)
    fields = {
        "position": position,
        "attitude": rf.quaternion(roll, zero, zero + heading),
        "velocity": velocity,
        "acceleration": np.zeros_like(velocity),
        "actuators": rng.normal(size=(len(time), n, channels)),
        "command": np.zeros((len(time), n, channels)),
        "current": three,
        "wave_elevation": elevation,
        "wave_velocity": three,
        "wind": three,
        "density": zero + 1025.0,
        "wet_fraction": zero + 0.5,
        "faults": np.zeros((len(time), n, len(infos[0].faults))),
        "estimate": np.empty((len(time), n, 0)),
        "guidance": np.empty((len(time), n, 0)),
    }
    frames = VehicleFrames(**{k: v.astype(dtype) for k, v in fields.items()})
    return GroupFrames(tuple(v.name for v in infos), frames)


def summary_of(infos, status="completed"):
    ends = {
        v.name: VehicleSummary(status, 5.0, 10.0 + i, 1.0, 1.5, 0.2, 6.0 + 0.01 * i, 3.0)
        for i, v in enumerate(infos)
    }
    return RunSummary(status, 5.0, ends)


def record(path, infos, blocks, summary=None):
    sink = ZarrRecorder(path)
    sink.open(rf.header(infos))
    for block in blocks:
        sink.write(block)
    if summary is not None:
        sink.close(summary)
    return path


def blocks_of(infos, frames=30, size=10, seed=0):
    time = np.arange(frames) * 0.1
    whole = synthetic(infos, time, seed=seed)
    return [
        Frames(
            time[i : i + size],
            (
                GroupFrames(
                    whole.names,
                    VehicleFrames(**{k: a[i : i + size] for k, a in vars(whole.frames).items()}),
                ),
            ),
        )
        for i in range(0, frames, size)
    ]


def open_strictly(path):
    """As a person opens it who has never heard of seatrial; a warning is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xarray.open_zarr(path)


def digests(folder):
    return {
        str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest()
        for f in sorted(folder.rglob("*"))
        if f.is_file()
    }


@pytest.fixture(scope="module")
def scenario():
    return load_text(SCENARIO, file="two-kinds.yaml")


@pytest.fixture(scope="module")
def in_memory(scenario):
    return st.run(scenario)


@pytest.fixture(scope="module")
def recorded(scenario, tmp_path_factory):
    return st.run(scenario, out=tmp_path_factory.mktemp("swarm") / "run.zarr")


def test_swarm_on_disk_equals_the_swarm_in_memory(in_memory, recorded):
    data = recorded.dataset
    assert data.sizes["vehicle"] == 300
    for name in STORED:
        np.testing.assert_array_equal(data[name], in_memory.dataset[name], err_msg=name)
        assert data[name].dtype == np.float32, name
        assert data[name].dims == in_memory.dataset[name].dims
        assert data[name].attrs == in_memory.dataset[name].attrs
    for name in data.coords:
        xarray.testing.assert_identical(data[name].variable, in_memory.dataset[name].variable)
    assert recorded.recording.summary == in_memory.summary
    assert recorded.recording.header == in_memory.header


def test_plain_xarray_opens_the_store_without_a_warning(recorded):
    data = open_strictly(recorded.recording.path)
    assert dict(data.sizes) == {
        "time": 21, "vehicle": 300, "axis": 3, "body_axis": 3, "quaternion": 4, "channel": 7
    }  # fmt: skip
    assert {"kind", "channel_unit"} <= set(data.coords)
    assert data.attrs["seed"] == 3
    assert "count: 290" in data.attrs["scenario_yaml"]
    whole = json.loads(data.attrs["summary"])
    assert whole == {"status": "completed", "duration": 8.0, "vehicles": {"completed": 300}}
    assert np.isfinite(data["position"]).all()
    assert float(data["distance"].sel(vehicle="smarty_000")) > 0


def test_mixed_kinds_stand_in_the_order_of_the_scenario_with_their_own_channels(recorded):
    data = open_strictly(recorded.recording.path)
    names = data["vehicle"].values.tolist()
    assert names[289:291] == ["smarty_289", "auv_0"]
    assert names[-1] == "straggler_3"
    assert np.isnan(data["actuator"].sel(vehicle="auv_0", channel="aft_port")).all()
    assert np.isfinite(data["actuator"].sel(vehicle="auv_0", channel="propeller")).all()
    assert data["channel_unit"].sel(vehicle="auv_0", channel="propeller") == "rev/s"
    assert (data["kind"] == "remus100_mss").sum() == 6
    own = recorded.recording.vehicle("auv_3")
    assert own["channel"].size == 3
    assert own["depth"].attrs["units"] == "m"
    assert own["euler"].dims == ("time", "angle")


def test_one_double_vessel_beside_a_swarm_loses_nothing(tmp_path):
    time = np.arange(5) * 0.1
    lone, boats = (rf.AUV,), swarm(6)
    groups = (synthetic(boats, time), synthetic(lone, time, np.float64, seed=1))
    path = record(tmp_path / "a.zarr", (*boats[:3], *lone, *boats[3:]), [Frames(time, groups)])
    data = open_strictly(path)["position"]
    assert data.dtype == np.float64
    np.testing.assert_array_equal(data.sel(vehicle="remus-1"), groups[1].frames.position[:, 0])
    np.testing.assert_array_equal(data.sel(vehicle="otter_5"), groups[0].frames.position[:, 5])


def test_two_runs_give_the_same_bytes_and_another_seed_others(scenario, recorded, tmp_path):
    again, other = tmp_path / "again.zarr", tmp_path / "other.zarr"
    st.run(scenario, out=again)
    st.run(scenario, out=other, seed=4)
    first = digests(recorded.recording.path)
    assert digests(again) == first
    assert digests(other) != first
    st.run(scenario, out=other)  # replaces the older recording, with nothing of it left
    assert digests(other) == first


def test_blocks_of_any_length_join_without_a_seam(tmp_path):
    infos = swarm(7)
    even = record(tmp_path / "even.zarr", infos, blocks_of(infos, 30, 30))
    odd = record(tmp_path / "odd.zarr", infos, blocks_of(infos, 30, 7))
    xarray.testing.assert_identical(open_strictly(even).load(), open_strictly(odd).load())


def test_ten_thousand_vessels_are_written_in_a_fraction_of_their_size(tmp_path):
    infos = swarm(10_000)
    sink = ZarrRecorder(tmp_path / "big.zarr")
    sink.open(rf.header(infos))
    block = synthetic(infos, np.arange(20) * 0.1)
    held = []
    tracemalloc.start()
    try:
        for k in range(8):
            sink.write(Frames(2.0 * k + np.arange(20) * 0.1, (block,)))
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    data = open_strictly(tmp_path / "big.zarr")
    total = sum(data[name].nbytes for name in STORED)
    assert data.sizes["time"] == 160
    assert total > 100e6
    assert peak < 0.2 * total
    assert held[-1] - held[1] < 1e6, "memory grows with the length of the run"


def test_a_whole_run_in_one_block_is_cut_into_chunks(tmp_path, monkeypatch):
    infos = swarm(5)
    monkeypatch.setattr("seatrial.record.swarm.store._SAMPLES_PER_CHUNK", 20)
    path = record(tmp_path / "a.zarr", infos, blocks_of(infos, 30, 30))
    assert open_strictly(path)["position"].encoding["chunks"] == (4, 5, 3)
    np.testing.assert_array_equal(
        open_strictly(path)["position"], blocks_of(infos, 30, 30)[0].groups[0].frames.position
    )


def test_store_of_a_dropped_writer_opens_with_every_block(tmp_path):
    infos = swarm(20)
    path = record(tmp_path / "a.zarr", infos, blocks_of(infos))
    assert open_strictly(path).sizes["time"] == 30
    recording = read(path)
    assert recording.summary is None
    assert recording.header == rf.header(infos)
    assert recording.header.description == rf.header(infos).description


@pytest.mark.parametrize("lost_after", range(len(STORED) + 1))
def test_block_that_a_kill_or_an_interrupt_cut_short_is_not_there(
    lost_after, tmp_path, monkeypatch
):
    infos = swarm(20)
    blocks = blocks_of(infos, 40, 10)
    sink = ZarrRecorder(tmp_path / "a.zarr")
    sink.open(rf.header(infos))
    for block in blocks[:3]:
        sink.write(block)
    whole, count = ZarrRecorder._append, 0

    def until_killed(self, name, block, first):
        nonlocal count
        if count == lost_after:
            (self.path / "position" / "3.0.0.cut.partial").write_bytes(b"half a chunk")
            raise KeyboardInterrupt
        count += 1
        whole(self, name, block, first)

    monkeypatch.setattr(ZarrRecorder, "_append", until_killed)
    with pytest.raises(KeyboardInterrupt):
        sink.write(blocks[3])
    data = open_strictly(tmp_path / "a.zarr")
    assert data.sizes["time"] == 30
    truth = np.concatenate([b.groups[0].frames.position for b in blocks[:3]])
    np.testing.assert_array_equal(data["position"], truth)
    np.testing.assert_array_equal(read(tmp_path / "a.zarr").dataset["position"], truth)
    # An interrupted run, unlike a killed one, is closed after that.
    sink.close(summary_of(infos, "stopped"))
    np.testing.assert_array_equal(open_strictly(tmp_path / "a.zarr")["position"], truth)
    assert read(tmp_path / "a.zarr").summary.status == "stopped"


_KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import record_frames as rf
import test_record_swarm as ts
from seatrial.record.swarm.store import ZarrRecorder
infos = ts.swarm(200)
sink = ZarrRecorder(sys.argv[2])
sink.open(rf.header(infos))
group = ts.synthetic(infos, np.arange(10) * 0.1)
for k in range(100_000):
    sink.write(ts.Frames(k + np.arange(10) * 0.1, (group,)))
    print(10 * (k + 1), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_killed_process_leaves_every_frame_it_had_reported(tmp_path):
    path = tmp_path / "killed.zarr"
    folder = Path(__file__).parent
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(folder), str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(folder.parent)},
    )
    reported = 0
    while reported < 150:
        reported = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    reported = int([str(reported), *rest.split("\n")[:-1]][-1])
    data = open_strictly(path)
    assert reported <= data.sizes["time"] <= reported + 10
    assert np.isfinite(data["position"]).all()
    assert read(path).summary is None


def test_run_without_a_frame_opens_empty(tmp_path):
    record(tmp_path / "a.zarr", swarm(20), [])
    assert read(tmp_path / "a.zarr").dataset.sizes["time"] == 0
    with pytest.raises(RecordingError, match="0 frames"):
        figure(tmp_path / "a.zarr")


@pytest.mark.parametrize("harm", ["lost", "cut", "emptied"])
def test_damaged_store_is_refused_rather_than_read_wrongly(harm, tmp_path):
    infos = swarm(20)
    path = record(tmp_path / "a.zarr", infos, blocks_of(infos), summary_of(infos))
    chunk = path / "velocity" / "1.0.0"
    whole = chunk.read_bytes()
    chunk.unlink()
    if harm != "lost":
        chunk.write_bytes(whole[:-7] if harm == "cut" else b"")
    with pytest.raises(RecordingError, match=r"velocity/1\.0\.0 is missing or cut"):
        read(path)


def test_what_is_no_store_is_refused_with_advice(tmp_path):
    (tmp_path / "folder.zarr").mkdir()
    (tmp_path / "file.zarr").write_text("no folder")
    xarray.Dataset({"x": ("t", [1.0])}).to_zarr(tmp_path / "foreign.zarr", zarr_format=2)
    for name in ("absent.zarr", "folder.zarr", "file.zarr", "foreign.zarr"):
        with pytest.raises(RecordingError, match=name) as caught:
            read(tmp_path / name)
        assert "found:" in str(caught.value)
        assert "expected:" in str(caught.value)
        assert "to mend:" in str(caught.value)


def test_recorder_replaces_recordings_and_nothing_else(tmp_path):
    infos = swarm(20)
    path = tmp_path / "a.zarr"
    record(path, infos, blocks_of(infos), summary_of(infos))
    record(path, infos, blocks_of(infos, 10, 10))
    assert open_strictly(path).sizes["time"] == 10
    folder = tmp_path / "thesis.zarr"
    folder.mkdir()
    (folder / "chapter1.txt").write_text("years of work")
    with pytest.raises(RecordingError, match="is not a recording"):
        ZarrRecorder(folder).open(rf.header(infos))
    assert (folder / "chapter1.txt").read_text() == "years of work"
    foreign = tmp_path / "foreign.zarr"
    xarray.Dataset({"x": ("t", [1.0])}).to_zarr(foreign, zarr_format=2)
    with pytest.raises(RecordingError, match="is not a recording"):
        ZarrRecorder(foreign).open(rf.header(infos))
    assert xarray.open_zarr(foreign)["x"].values.tolist() == [1.0]
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(RecordingError, match=r"a\.txt.*cannot write"):
        ZarrRecorder(tmp_path / "a.txt" / "b.zarr").open(rf.header(infos))


def test_name_of_the_file_chooses_the_recorder(tmp_path):
    assert isinstance(recorder(tmp_path / "a.mcap", 100), McapRecorder)
    assert isinstance(recorder(tmp_path / "a.zarr", 1), ZarrRecorder)
    with pytest.raises(RecordingError, match=r"101 vehicles are too many(.|\n)*a\.zarr"):
        recorder(tmp_path / "a.mcap", 101)
    with pytest.raises(RecordingError, match=r"ends in \.mcap(.|\n)*run\.bag\.mcap"):
        recorder("run.bag", 3)
    (tmp_path / "b.mcap").mkdir()
    with pytest.raises(RecordingError, match="is a folder"):
        recorder(tmp_path / "b.mcap", 1)
    assert not (tmp_path / "a.zarr").exists()


def test_indices_of_manoeuvres_survive_in_the_store(tmp_path):
    infos = swarm(3)
    summary = summary_of(infos)
    summary.vehicles["otter_1"].indices["advance"] = 3.5
    summary.vehicles["otter_2"].indices["first_overshoot_deg"] = 12.0
    path = record(tmp_path / "a.zarr", infos, blocks_of(infos), summary)
    assert read(path).summary == summary
    assert read(path).vehicle("otter_1").sizes["time"] == 30


def test_export_of_a_swarm_is_netcdf_and_csv_only_for_a_hundred(recorded, tmp_path):
    path = recorded.recording.path
    with pytest.raises(RecordingError, match=r"300 vehicles are too many(.|\n)*netcdf"):
        export(path, "csv", tmp_path / "a.csv")
    (written,) = export(path, "netcdf", tmp_path / "a.nc")
    with xarray.open_dataset(written, engine="h5netcdf") as again:
        xarray.testing.assert_identical(again.load(), read(path).dataset.load())
    infos = swarm(3)
    small = record(tmp_path / "s.zarr", infos, blocks_of(infos), summary_of(infos))
    tables = export(small, "csv")
    assert [t.name for t in tables] == ["s-otter_0.csv", "s-otter_1.csv", "s-otter_2.csv"]
    head = tables[0].read_text().splitlines()[0].split(",")
    assert {"time_s", "north_m", "roll_rad", "speed_m_s", "actuator_port_rev_s"} <= set(head)
    assert "wind_north_m_s" not in head


def test_page_of_a_swarm_shows_counts_bands_and_differences(recorded, tmp_path):
    from matplotlib.axes import Axes

    page = figure(recorded.recording)
    page.canvas.draw()
    axes = {a.get_title(loc="left"): a for a in page.findobj(Axes)}
    assert {"Speed over ground [m/s]", "Heave on the waves [m]", "Depth [m]"} <= axes.keys()
    assert axes["Depth [m]"].yaxis_inverted()
    heights = [patch.get_height() for patch in axes["Largest roll [°]"].patches]
    assert sum(heights) == 300
    texts = [t.get_text() for t in page.findobj(lambda x: hasattr(x, "get_text"))]
    assert any("294 smarty, 6 remus100_mss" in text for text in texts)
    first = plot(recorded.recording, tmp_path / "a.png").read_bytes()
    assert first == plot(recorded.recording.path, tmp_path / "b.png").read_bytes()


def test_bands_are_the_quantiles_over_the_vehicles(tmp_path, monkeypatch):
    from seatrial.figures import swarm_figures

    infos = swarm(40)
    path = record(tmp_path / "a.zarr", infos, blocks_of(infos))
    monkeypatch.setattr(swarm_figures, "_SAMPLES_AT_ONCE", 40 * 7)  # several passes
    found = swarm_figures.swarm_figures(read(path))
    frames = blocks_of(infos, 30, 30)[0].groups[0].frames
    expected = np.quantile(-frames.position[..., 2], [0.05, 0.5, 0.95], axis=1)
    np.testing.assert_allclose(found.bands["otter", "heave"], expected, atol=1e-6)
    steps = np.linalg.norm(np.diff(frames.position.astype(np.float64), axis=0), axis=-1)
    np.testing.assert_allclose(found.distance, steps.sum(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(found.last, frames.position[-1, :, :2])


def test_page_of_a_killed_swarm_with_silent_vehicles_is_drawn(tmp_path):
    infos = swarm(15)
    blocks = blocks_of(infos)
    blocks[1].groups[0].frames.position[:, 4] = np.nan
    blocks[2].groups[0].frames.position[:, 4] = np.nan
    path = record(tmp_path / "a.zarr", infos, blocks)
    assert plot(path, tmp_path / "a.png").stat().st_size > 50_000


def _finished(count):
    boats, auvs = swarm(count - 5), swarm(5, rf.AUV)
    summary = summary_of((*boats, *auvs))
    lost = dataclasses.replace(summary.vehicles["otter_0"], status="diverged")
    summary.vehicles["otter_0"] = lost
    return st.Run(rf.header((*boats, *auvs)), summary, 1.0, Path("none"))


def test_closing_table_of_a_swarm_has_a_row_per_kind(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show_run(_finished(25), None, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert any("19 completed" in line for line in lines)
    assert any("1 diverged" in line for line in lines)
    assert any("5 completed" in line for line in lines)
    assert not any("otter_1" in line or "…" in line for line in lines)
    median = next(line for line in lines if "otter" in line and "median" in line)
    assert "19.5" in median  # distances are 10, 11 … 29 m
    show_run(_finished(20), None, as_json=False)
    assert "otter_1" in capsys.readouterr().out


def test_json_of_a_run_is_complete_up_to_a_thousand_and_then_by_kind():
    complete = as_dict(_finished(1000))["vehicles"]
    assert len(complete) == 1000
    vehicles = as_dict(_finished(1005))["vehicles"]
    assert list(vehicles) == ["otter", "remus100"]
    assert vehicles["otter"]["count"] == 1000
    assert vehicles["otter"]["status"] == {"completed": 999, "diverged": 1}
    assert vehicles["otter"]["distance"] == {"median": 509.5, "min": 10.0, "max": 1009.0}
    assert set(vehicles["otter"]) - {"count"} == set(complete["otter_1"]) - {"indices", "events"}


def test_the_library_swarm_is_as_promised():
    scenario = st.load("smarty-swarm")
    (smarty,) = scenario.vehicles
    assert smarty.count == 500
    assert smarty.vary["inertia.mass"].relative == 0.1
    assert (scenario.duration, scenario.frame_period, scenario.time_step) == (60.0, 1.0, 0.04)
    assert scenario.world.waves.significant_height == 0.5
