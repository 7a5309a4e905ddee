"""Damaged Zarr stores, and what a recorder or an export may write over."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import record_frames as rf
import record_sensors as rs
import xarray
from record_damage import BOAT, SCENE, everything, flip, write

from seatrial.errors import RecordingError
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder


@pytest.fixture(scope="module")
def zarr(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "run.zarr"
    write(ZarrRecorder(path))
    return path


def test_bit_flipped_in_any_file_of_a_store_is_refused_or_changes_nothing(zarr, tmp_path):
    truth, path = everything(zarr), tmp_path / "flipped.zarr"
    shutil.copytree(zarr, path)
    files = sorted(f for f in path.rglob("*") if f.is_file() and f.stat().st_size)
    rng = np.random.default_rng(6)
    refused = 0
    for number in rng.integers(len(files), size=60).tolist():
        data = files[number].read_bytes()
        files[number].write_bytes(flip(data, int(rng.integers(8 * len(data)))))
        try:
            found = everything(path)
        except RecordingError:
            refused += 1
        else:
            assert found == truth, files[number]
        files[number].write_bytes(data)
    assert refused > 20


def test_chunks_exchanged_in_a_store_are_refused(zarr, tmp_path):
    path = tmp_path / "exchanged.zarr"
    shutil.copytree(zarr, path)
    pairs = [
        (a, b)
        for folder in (path / "position", path / "velocity", path / "sensors" / "imu" / "values")
        for a in sorted(folder.glob("[0-9]*"))
        for b in sorted(folder.glob("[0-9]*"))
        if a < b and a.read_bytes() != b.read_bytes()
    ]
    assert len(pairs) > 20
    for a, b in pairs[::5]:
        first, second = a.read_bytes(), b.read_bytes()
        a.write_bytes(second)
        b.write_bytes(first)
        with pytest.raises(RecordingError, match="does not match its checksum"):
            everything(path)
        a.write_bytes(first)
        b.write_bytes(second)


def test_anybody_who_opens_a_store_with_zarr_alone_notices_a_flipped_bit(zarr, tmp_path):
    path = tmp_path / "flipped.zarr"
    shutil.copytree(zarr, path)
    chunk = path / "position" / "1.0.0"
    data = chunk.read_bytes()
    chunk.write_bytes(flip(data, 8 * (len(data) - 5)))
    with pytest.raises(Exception, match=r"(?i)checksum|blosc|crc|mismatch|error"):
        xarray.open_zarr(path)["position"].load()


def test_store_whose_list_of_checksums_is_gone_is_refused(zarr, tmp_path):
    path = tmp_path / "a.zarr"
    shutil.copytree(zarr, path)
    (path / "checksums").unlink()
    with pytest.raises(RecordingError, match="list of its checksums is missing"):
        read(path)


# ------------------------------------------------------------------ what is written over


@pytest.fixture(scope="module")
def mcap(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "run.mcap"
    write(McapRecorder(path))
    return path


@pytest.mark.parametrize("kind", [McapRecorder, ZarrRecorder])
def test_second_run_to_the_same_place_is_refused_and_harms_nothing(kind, tmp_path):
    path = tmp_path / ("a.mcap" if kind is McapRecorder else "a.zarr")
    first = kind(path)
    first.open(rf.header((BOAT,), rs.DURATION), SCENE)
    parts = rf.blocks(rs.whole_run((BOAT,)), 20)
    first.write(parts[0])
    with pytest.raises(RecordingError, match="another run is recording there"):
        kind(path).open(rf.header((BOAT,), rs.DURATION), SCENE)
    for part in parts[1:]:
        first.write(part)
    first.close(rf.summary((BOAT,), rs.DURATION))
    assert read(path).dataset.sizes["time"] == 61
    kind(path).open(rf.header((BOAT,), rs.DURATION), SCENE)  # after that it may be replaced
    assert read(path).dataset.sizes["time"] == 0


def test_store_with_a_strangers_file_inside_is_not_replaced(zarr, tmp_path):
    for place in ("notes.txt", "position/notes.txt", "sensors/figures/a.png"):
        path = tmp_path / "a.zarr"
        shutil.copytree(zarr, path)
        (path / place).parent.mkdir(exist_ok=True)
        (path / place).write_text("years of work")
        with pytest.raises(RecordingError, match=place):
            ZarrRecorder(path).open(rf.header((BOAT,)))
        assert (path / place).read_text() == "years of work"
        assert everything(path) == everything(zarr)
        shutil.rmtree(path)


def test_folder_that_a_kill_left_with_nothing_but_its_beginning_is_used_again(tmp_path):
    path = tmp_path / "a.zarr"
    path.mkdir()
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    write(ZarrRecorder(path))
    assert read(path).complete


@pytest.mark.parametrize(("to", "suffix"), [("csv", ".csv"), ("netcdf", ".nc")])
def test_export_to_a_folder_is_refused(to, suffix, mcap, tmp_path):
    (tmp_path / f"a{suffix}").mkdir()
    with pytest.raises(RecordingError, match="is a folder"):
        export(mcap, to, tmp_path / f"a{suffix}")


@pytest.mark.parametrize("to", ["csv", "netcdf"])
def test_export_does_not_overwrite_its_own_source(to, mcap, zarr, tmp_path):
    suffix = {"csv": ".csv", "netcdf": ".nc"}[to]
    own = tmp_path / "run.mcap"
    shutil.copy(mcap, own)
    link = tmp_path / f"link{suffix}"
    link.symlink_to(own)
    for out in (own, tmp_path / "." / "run.mcap", Path(".")):
        with pytest.raises(RecordingError, match="is no name for an export"):
            export(own, to, out)
    with pytest.raises(RecordingError, match="is the recording itself"):
        export(own, to, link)
    assert own.read_bytes() == mcap.read_bytes()
    folder = tmp_path / "run.zarr"
    shutil.copytree(zarr, folder)
    with pytest.raises(RecordingError, match="is no name for an export"):
        export(folder, to, folder)
    with pytest.raises(RecordingError, match="is the recording itself"):
        export(folder, to, folder / "position" / f"0{suffix}")
    assert everything(folder) == everything(zarr)


def test_netcdf_on_a_disk_without_room_is_refused_before_hdf5_meets_its_end(
    mcap, tmp_path, monkeypatch
):
    """HDF5 ends the process by a signal when a file cannot be closed for want of room."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=300_000))
    with pytest.raises(RecordingError, match="No space left on device"):
        export(mcap, "netcdf", tmp_path / "run.nc")
    assert not (tmp_path / "run.nc").exists()
