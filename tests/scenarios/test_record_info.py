"""`seatrial info`: what is in a recording, without reading it."""

import json

import pytest
import record_frames as rf
import record_sensors as rs
from record_damage import BOAT, write

from seatrial.record.contents import describe
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.memory import MemoryRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder


@pytest.mark.parametrize(("recorder", "name"), [(McapRecorder, "r.mcap"), (ZarrRecorder, "r.zarr")])
def test_info_counts_what_is_in_the_file(recorder, name, seatrial, tmp_path):
    path = tmp_path / name
    write(recorder(path))
    code, out, err = seatrial("info", path, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["scenario"], found["seed"]) == ("circle-and-dive", 7)
    assert (found["status"], found["complete"]) == ("completed", True)
    assert found["duration_s"] == pytest.approx(rs.DURATION)
    recording = read(path)
    assert found["frames"] == recording.dataset.sizes["time"]
    boat = found["vehicles"][0]
    (imu,) = boat["sensors"]
    assert (imu["type"], imu["rate_hz"]) == ("imu", BOAT.sensors[0].rate)
    assert imu["samples"] == len(recording.samples("otter", "imu").time)
    assert boat["faults"] == [fault.name for fault in BOAT.faults]
    files = path.rglob("*") if path.is_dir() else [path]
    assert found["bytes"] == sum(f.stat().st_size for f in files if f.is_file())


def test_counts_of_every_kind_of_sensor_are_those_that_reading_finds(tmp_path):
    boat = rs.BOAT
    run = rs.whole_run((boat,))
    path = tmp_path / "r.mcap"
    memory = MemoryRecorder()
    for sink in (McapRecorder(path), memory):
        sink.open(rf.header((boat,), rs.DURATION))
        for part in rf.blocks(run, 10):
            sink.write(part)
        sink.close(rf.summary((boat,), rs.DURATION))
    recording = read(path)
    counted = {s["name"]: s["samples"] for s in describe(recording)["vehicles"][0]["sensors"]}
    assert recording.source.file.chunks_read <= 2  # of the clock: the first and the last
    assert len(counted) > 5
    taken = {s.name: len(recording.samples(boat.name, s.name).time) for s in boat.sensors}
    assert counted == taken
    remembered = describe(memory.recording())["vehicles"][0]["sensors"]
    assert {s["name"]: s["samples"] for s in remembered} == taken


def test_info_of_a_cut_recording_says_so_on_one_screen(seatrial, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "cut.mcap"
    write(McapRecorder(path), finished=False)
    code, out, _ = seatrial("info", path)
    assert code == 0
    assert "cut short" in out
    assert "imu" in out
    lines = out.splitlines()
    assert len(lines) <= 24
    body = [line for line in lines if str(path) not in line]
    assert max(map(len, body)) <= 80
    assert "…" not in out
    assert json.loads(seatrial("info", path, "--json")[1])["status"] is None
    assert seatrial("info", tmp_path / "none.mcap")[0] == 2


def test_a_path_with_brackets_is_printed_as_it_is(seatrial, tmp_path):
    folder = tmp_path / "runs[" / "old]"  # `[/old]` would end a style in the markup of rich
    folder.mkdir(parents=True)
    path = folder / "a [bold]run.mcap"
    write(McapRecorder(path))
    code, out, err = seatrial("info", path)
    assert code == 0, err
    assert f"{path}: " in out
