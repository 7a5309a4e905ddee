"""`seatrial recover`: a whole file out of one that a kill cut short, for every reader of MCAP."""

import os

import numpy as np
import pytest
import record_sensors as rs
import xarray
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from seatrial.errors import RecordingError
from seatrial.record.mcap.file import open_file
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.recovery import recover
from seatrial.record.swarm.store import ZarrRecorder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("recovery") / "whole.mcap"
    rs.write(McapRecorder(path), rs.whole_run())
    return path


@pytest.fixture(scope="module")
def messages(whole):
    return all_messages(whole)


def all_messages(path):
    """As rosbags finds them, with nothing but the definitions in the file."""
    with AnyReader([path], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        found = []
        for connection, time, data in reader.messages():
            reader.deserialize(data, connection.msgtype)
            found.append((connection.topic, time, data))
    return found


@pytest.mark.parametrize("share", [0.35, 0.5, 0.77])
def test_file_cut_anywhere_opens_everywhere_after_recovery(share, whole, messages, tmp_path):
    data = whole.read_bytes()
    cut, out = tmp_path / "cut.mcap", tmp_path / "out.mcap"
    cut.write_bytes(data[: int(share * len(data))])
    with pytest.raises(Exception, match="magic"):
        all_messages(cut)
    assert recover(cut, out)

    found = all_messages(out)
    assert 0 < len(found) < len(messages)
    assert set(found) <= set(messages)  # topic, time and bytes
    assert len(set(found)) == len(found)
    with out.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_summary().statistics.message_count == len(found)
        assert sum(1 for _ in reader.iter_messages()) == len(found)
        assert {a.name for a in reader.iter_attachments()} == {"scenario.yaml", "run.json"}
    before, after = read(cut), read(out)
    assert not after.complete  # the file is whole, the run is not
    assert (after.header, after.summary) == (before.header, None)
    xarray.testing.assert_identical(after.dataset.load(), before.dataset.load())
    for vehicle in before.header.vehicles:
        for sensor in vehicle.sensors:
            one, other = (r.samples(vehicle.name, sensor.name) for r in (before, after))
            np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("lost", [1, 20, 500])
def test_file_cut_in_its_index_loses_nothing(lost, whole, messages, tmp_path, seatrial):
    cut, out = tmp_path / "cut.mcap", tmp_path / "out.mcap"
    cut.write_bytes(whole.read_bytes()[:-lost])
    code, text, _ = seatrial("recover", cut, "--out", out)
    assert code == 0
    assert "missing: nothing" in text
    assert all_messages(out) == messages
    assert read(out).summary == read(whole).summary


def test_file_cut_before_the_first_frame_is_refused_or_empty(whole, tmp_path):
    data = whole.read_bytes()
    cut, out = tmp_path / "cut.mcap", tmp_path / "out.mcap"
    for size in (100, 3000):
        cut.write_bytes(data[:size])
        with pytest.raises(RecordingError, match="to mend:"):
            recover(cut, out)
        assert not out.exists()
    cut.write_bytes(data[: open_file(whole).places[0].offset + 50])
    assert recover(cut, out)
    assert all_messages(out) == []
    assert read(out).dataset.sizes["time"] == 0


def test_nothing_is_overwritten_unless_asked_and_whole_files_are_left_alone(
    whole, tmp_path, seatrial
):
    data = whole.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) // 2])
    half = cut.read_bytes()
    code, out, _ = seatrial("recover", cut)
    assert code == 0
    assert "missing: what came after" in out
    assert "and the summary" in out
    recovered = tmp_path / "cut-recovered.mcap"
    first = recovered.read_bytes()
    code, _, err = seatrial("recover", cut)
    assert code == 2
    assert "exists already" in err
    assert seatrial("recover", cut, "--out", cut)[0] == 2
    assert cut.read_bytes() == half
    assert seatrial("recover", cut, "--out", cut, "--overwrite")[0] == 0
    assert cut.read_bytes() == first  # in its own place, and the same bytes again

    code, out, _ = seatrial("recover", whole, "--out", tmp_path / "no.mcap")
    assert code == 0
    assert "is whole" in out
    assert sorted(os.listdir(tmp_path)) == ["cut-recovered.mcap", "cut.mcap"]


def test_store_needs_no_recovery_and_says_so(tmp_path, seatrial):
    path = tmp_path / "killed.zarr"
    rs.write(ZarrRecorder(path), rs.whole_run(), finished=False)
    code, _, err = seatrial("recover", path)
    assert code == 2
    assert "use the store as it is" in err


def test_seconds_that_a_lost_chunk_held_are_named(whole, tmp_path):
    places = open_file(whole).places
    data, lost = whole.read_bytes(), places[1]
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(data[: lost.offset] + data[lost.offset + lost.length :])
    missing = f"{places[0].end / 1e9:.1f} s to {places[2].start / 1e9:.1f} s are missing"
    with pytest.raises(RecordingError, match=missing):
        read(torn)


def test_seconds_that_a_changed_chunk_held_are_named(whole, tmp_path):
    place = open_file(whole).places[2]
    torn = damaged(whole, place, tmp_path)
    missing = f"{place.start / 1e9:.1f} s to {place.end / 1e9:.1f} s are missing"
    with pytest.raises(RecordingError, match=missing):
        read(torn).dataset.load()


@pytest.mark.parametrize("number", [2, 3])
def test_what_comes_before_the_damage_is_recovered(number, whole, tmp_path, seatrial):
    place = open_file(whole).places[number]
    torn, out = damaged(whole, place, tmp_path), tmp_path / "out.mcap"
    code, text, _ = seatrial("recover", torn, "--out", out)
    assert code == 0
    assert "missing: what came after" in text
    found, right = read(out), read(whole).dataset.load()
    assert not found.complete
    kept = found.dataset.load()
    assert 0 < kept.sizes["time"] < right.sizes["time"]
    assert float(kept.time[-1]) <= place.start / 1e9
    xarray.testing.assert_equal(kept, right.isel(time=slice(0, kept.sizes["time"]))[list(kept)])
    all_messages(out)


def damaged(whole, place, folder):
    """A copy with one bit of a chunk's content changed."""
    data = bytearray(whole.read_bytes())
    data[place.offset + place.length - 5] ^= 4
    path = folder / "torn.mcap"
    path.write_bytes(data)
    return path
