"""The recording: what goes in comes out, whatever happens to the process in between."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import record_frames as rf

from seatrial.engine.frames import ActuatorInfo, VehicleFrames, frames_of
from seatrial.errors import RecordingError
from seatrial.record.choose import recorder
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.ros.layout import TypeStore


def record(path, run, header=None, block=40, summary=None):
    recorder = McapRecorder(path)
    recorder.open(header or rf.header())
    for part in rf.blocks(run, block):
        recorder.write(part)
    if summary is not None:
        recorder.close(summary)
    return path


@pytest.fixture(scope="module")
def run():
    return rf.frames(duration=20.0)


@pytest.fixture(scope="module")
def recorded(run, tmp_path_factory):
    return record(tmp_path_factory.mktemp("rec") / "run.mcap", run, summary=rf.summary())


def test_everything_written_is_read_back(run, recorded):
    recording = read(recorded)
    assert recording.header == rf.header()
    assert recording.header.description == rf.header().description
    assert recording.summary == rf.summary()
    data = recording.dataset
    np.testing.assert_allclose(data["time"], run.time, rtol=0, atol=1e-9)
    for name, truth in run.vehicles.items():
        own = recording.vehicle(name)
        same = {
            "position": truth.position,
            "velocity": truth.velocity[:, :3],
            "angular_velocity": truth.velocity[:, 3:],
            "acceleration": truth.acceleration[:, :3],
            "angular_acceleration": truth.acceleration[:, 3:],
            "depth": truth.position[:, 2],
            "wave_elevation": truth.wave_elevation,
            "wave_velocity": truth.wave_velocity,
            "current": truth.current,
            "wind": truth.wind,
            "density": truth.density,
            "wet_fraction": truth.wet_fraction,
            "actuator": truth.actuators,
            "command": truth.command,
        }
        for variable, values in same.items():  # axes are exchanged and signs flipped: exact
            np.testing.assert_array_equal(own[variable].values, values, err_msg=variable)
        np.testing.assert_allclose(own["attitude"], truth.attitude, rtol=0, atol=4e-16)


def test_dataset_variables_say_their_unit_and_meaning(recorded):
    data = read(recorded).dataset
    assert data["position"].attrs["units"] == "m"
    assert all("long_name" in data[v].attrs for v in data.variables)
    assert data["channel_unit"].sel(vehicle="remus-1", channel="rudder") == "rad"
    assert np.isnan(data["actuator"].sel(vehicle="otter", channel="rudder")).all()
    assert list(read(recorded).vehicle("otter")["channel"].values) == ["port", "starboard"]


def test_speed_over_ground_is_the_horizontal_rate_of_the_position(run, tmp_path):
    heading, pitch = np.linspace(0, 3, 200), 0.4
    n = len(heading)
    velocity = np.zeros((n, 6))
    velocity[:, 0] = 2.0
    truth = run.vehicles["otter"]
    cut = VehicleFrames(**{k: a[:n] for k, a in vars(truth).items()})
    attitude = rf.quaternion(np.full(n, 0.3), np.full(n, pitch), heading)
    boat = dataclasses.replace(cut, attitude=attitude, velocity=velocity)
    path = record(
        tmp_path / "a.mcap", frames_of(run.time[:n], {"otter": boat}), rf.header((rf.BOAT,))
    )
    data = read(path).dataset.sel(vehicle="otter")
    np.testing.assert_allclose(data["speed"], 2.0 * np.cos(pitch), rtol=1e-12)
    np.testing.assert_allclose(data["euler"].sel(angle="yaw"), heading, atol=1e-12)
    np.testing.assert_allclose(data["euler"].sel(angle="pitch"), pitch, atol=1e-12)


def test_same_run_gives_the_same_bytes_and_another_seed_gives_others(run, recorded, tmp_path):
    again = record(tmp_path / "b.mcap", run, summary=rf.summary())
    other = record(tmp_path / "c.mcap", run, rf.header(seed=8), summary=rf.summary())
    assert again.read_bytes() == recorded.read_bytes()
    assert other.read_bytes() != recorded.read_bytes()


def test_file_cut_at_any_byte_opens_with_the_frames_flushed_by_then(run, tmp_path):
    path = tmp_path / "cut.mcap"
    recorder = McapRecorder(path)
    recorder.open(rf.header())
    flushed = [(path.stat().st_size, 0)]
    for part in rf.blocks(run, 25):
        recorder.write(part)
        flushed.append((path.stat().st_size, flushed[-1][1] + len(part.time)))
    recorder.close(rf.summary())
    whole = path.read_bytes()
    first = flushed[0][0]
    generator = np.random.default_rng(1)
    edges = [size + d for size, _ in flushed for d in (-1, 0, 1) if size + d >= first]
    for offset in sorted({*edges, *generator.integers(first, len(whole), 80).tolist()}):
        path.write_bytes(whole[:offset])
        recording = read(path)
        expected = max(frames for size, frames in flushed if size <= offset)
        # A chunk is whole before the index records behind it are, so one block more may be there.
        assert expected <= recording.dataset.sizes["time"] <= expected + 25
        assert not np.isnan(recording.dataset["position"]).any()
        assert recording.dataset["time"].values.tolist() == sorted(recording.dataset["time"].values)


_KILLED = """
import sys
import tempfile
sys.path.insert(0, sys.argv[1])
import record_frames as rf
from seatrial.record.mcap.writer import McapRecorder
recorder = McapRecorder(sys.argv[2])
recorder.open(rf.header(duration=600.0))
count = 0
for part in rf.blocks(rf.frames(duration=600.0), 10):
    recorder.write(part)
    count += len(part.time)
    print(count, flush=True)
"""


def test_killed_process_leaves_every_frame_it_had_reported(tmp_path):
    path = tmp_path / "killed.mcap"
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(Path(__file__).parent), str(path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    reported = 0
    while reported < 300:
        reported = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    reported = int([str(reported), *rest.split("\n")[:-1]][-1])
    assert process.returncode == -signal.SIGKILL
    recording = read(path)
    assert recording.summary is None
    assert reported <= recording.dataset.sizes["time"] < 6001
    assert recording.header.scenario == "circle-and-dive"


def test_vehicle_that_diverged_falls_silent_and_no_nan_is_written(run, tmp_path):
    broken = dataclasses.replace(
        run.vehicles["otter"], velocity=run.vehicles["otter"].velocity.copy()
    )
    broken.velocity[120:] = np.nan
    both = frames_of(run.time, {**run.vehicles, "otter": broken})
    recording = read(record(tmp_path / "d.mcap", both))
    assert recording.vehicle("otter").sizes["time"] == 120
    assert recording.vehicle("remus-1").sizes["time"] == len(run.time)
    assert np.isnan(recording.dataset["depth"].sel(vehicle="otter")[120:]).all()


def test_vehicle_without_actuators_is_recorded(run, tmp_path):
    drifter = dataclasses.replace(rf.BOAT, actuators=())
    truth = dataclasses.replace(
        run.vehicles["otter"],
        actuators=np.empty((len(run.time), 0)),
        command=np.empty((len(run.time), 0)),
    )
    path = record(tmp_path / "e.mcap", frames_of(run.time, {"otter": truth}), rf.header((drifter,)))
    assert read(path).dataset["actuator"].shape == (len(run.time), 1, 0)


def test_missing_figures_of_a_summary_survive_as_nan(run, tmp_path):
    summary = rf.summary()
    summary.vehicles["otter"].indices["tactical_diameter"] = float("nan")
    recording = read(record(tmp_path / "f.mcap", run, summary=summary))
    assert np.isnan(recording.summary.vehicles["otter"].indices["tactical_diameter"])
    assert recording.summary.vehicles["remus-1"] == rf.summary().vehicles["remus-1"]


def test_names_that_collide_in_ros_are_refused(tmp_path):
    twins = [dataclasses.replace(rf.BOAT, name=n) for n in ("boat-1", "boat_1")]
    with pytest.raises(RecordingError, match="rename one"):
        McapRecorder(tmp_path / "g.mcap").open(rf.header(twins))


def test_recorder_says_where_it_cannot_write(tmp_path):
    with pytest.raises(RecordingError, match=r"there is no folder .*nowhere.*\n.*\n.*mkdir -p"):
        recorder(tmp_path / "nowhere" / "a.mcap", 1)
    with pytest.raises(RecordingError, match=r"nowhere.*cannot write"):
        McapRecorder(tmp_path / "nowhere" / "a.mcap").open(rf.header())


@pytest.mark.parametrize("suffix", [".mcap", ".zarr"])
def test_a_place_that_cannot_be_used_is_refused_before_anything_is_compiled(
    suffix, tmp_path, monkeypatch
):
    """A minute was compiled before the run said that it could not write."""
    busy = tmp_path / f"busy{suffix}"
    writing = recorder(busy, 1)
    writing.open(rf.header())
    with pytest.raises(RecordingError, match="another run is recording there"):
        recorder(busy, 1)
    writing.close(rf.summary())
    recorder(busy, 1)
    assert os.listdir(tmp_path) == [busy.name]

    def refused(**where):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with pytest.raises(RecordingError, match=r"cannot write.*Permission denied(.|\n)*--out"):
        recorder(tmp_path / f"new{suffix}", 1)


def test_a_pipe_is_no_place_to_record_to(tmp_path):
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(RecordingError, match="a device or a pipe"):
        recorder(tmp_path / "pipe.mcap", 1)


@pytest.mark.parametrize(
    "content", [b"", b"name: otter\n", b"\x89MCAP0\r\n", np.random.default_rng(0).bytes(4096)]
)
def test_file_that_is_no_recording_is_refused_with_advice(content, tmp_path):
    path = tmp_path / "wrong.mcap"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"wrong\.mcap") as caught:
        read(path)
    assert "expected:" in str(caught.value)
    assert "to mend:" in str(caught.value)


def test_missing_file_is_refused_with_advice(tmp_path):
    with pytest.raises(RecordingError, match=r"absent\.mcap.*No such file"):
        read(tmp_path / "absent.mcap")


def test_foreign_mcap_is_refused_and_its_topics_are_named(tmp_path):
    from mcap.writer import Writer

    path = tmp_path / "foreign.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("x", "jsonschema", b"{}")
        writer.add_message(writer.register_channel("/chatter", "json", schema), 0, b"{}", 0)
        writer.finish()
    with pytest.raises(RecordingError, match="not written by this version") as caught:
        read(path)
    assert "/chatter" in str(caught.value)


@pytest.mark.parametrize("place", ["length of the record", "data", "end of the data"])
def test_damaged_chunk_is_refused_rather_than_read_wrongly(recorded, tmp_path, place):
    from mcap.reader import make_reader

    with recorded.open("rb") as file:
        chunk = make_reader(file).get_summary().chunk_indexes[2]
    start, end = chunk.chunk_start_offset, chunk.chunk_start_offset + chunk.chunk_length
    offset = {"length of the record": start + 5, "data": start + 200, "end of the data": end - 1}
    data = bytearray(recorded.read_bytes())
    data[offset[place]] ^= 0xFF
    path = tmp_path / "damaged.mcap"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match="damaged"):
        read(path).dataset.load()


def test_unknown_vehicle_is_named_with_those_there_are(recorded):
    with pytest.raises(RecordingError, match="otter, remus-1"):
        read(recorded).vehicle("wamv")


def test_no_message_of_a_frame_is_serialised_by_itself(tmp_path, monkeypatch):
    """Numbers are filled into templates, a block at a time: runs are faster than real time."""
    recorder = McapRecorder(tmp_path / "fast.mcap")
    recorder.open(rf.header())
    monkeypatch.setattr(TypeStore, "_serialise", lambda *_: pytest.fail("serialised one by one"))
    for part in rf.blocks(rf.frames(duration=20.0), 100):
        recorder.write(part)
    assert (tmp_path / "fast.mcap").stat().st_size > 100_000


def test_scenario_and_vehicles_are_plain_files_inside_the_recording(recorded):
    from mcap.reader import make_reader

    with recorded.open("rb") as file:
        reader = make_reader(file)
        files = {a.name: a.data for a in reader.iter_attachments()}
        metadata = {m.name: m.metadata for m in reader.iter_metadata()}
        times = {(a.create_time, a.log_time) for a in reader.iter_attachments()}
    assert files["scenario.yaml"].decode() == rf.header().description
    assert json.loads(files["run.json"])["vehicles"][1]["namespace"] == "remus_1"
    assert json.loads(files["summary.json"])["status"] == "completed"
    assert metadata["seatrial"]["seed"] == "7"
    assert times == {(0, 0)}


def test_many_channels_of_one_name_keep_their_own_units(run, tmp_path):
    auv = dataclasses.replace(rf.AUV, actuators=(ActuatorInfo("port", "rad"),))
    truth = run.vehicles["remus-1"]
    both = {
        "otter": run.vehicles["otter"],
        "remus-1": dataclasses.replace(
            truth, actuators=truth.actuators[:, :1], command=truth.command[:, :1]
        ),
    }
    path = record(tmp_path / "h.mcap", frames_of(run.time, both), rf.header((rf.BOAT, auv)))
    units = read(path).dataset["channel_unit"].sel(channel="port")
    assert units.values.tolist() == ["rev/s", "rad"]
