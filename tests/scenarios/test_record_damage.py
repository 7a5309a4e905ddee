"""Damaged recordings: refused, or read unchanged; never silently wrong, never a stack trace."""

import dataclasses
import os
import shutil
import struct
import zlib

import numpy as np
import pytest
import record_frames as rf
import record_sensors as rs
import xarray
import zstandard

from seatrial.engine.frames import Scene, vehicle_bodies
from seatrial.errors import RecordingError
from seatrial.record.export import export
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read
from seatrial.record.swarm.store import ZarrRecorder

BOAT = dataclasses.replace(rf.BOAT, sensors=(rs.SENSORS[0],), faults=rs.FAULTS[:1])
SCENE = Scene(water_depth=40.0, bodies=vehicle_bodies((BOAT,)))


def write(sink, block=10, finished=True):
    run = rs.whole_run((BOAT,))
    sink.open(rf.header((BOAT,), rs.DURATION), SCENE)
    for part in rf.blocks(run, block):
        sink.write(part)
    if finished:
        sink.close(rf.summary((BOAT,), rs.DURATION))


def everything(path):
    """All that can be read, as plain bytes; a refusal is the only exception allowed."""
    recording = read(path)
    data = recording.dataset.load()
    samples = recording.samples("otter", "imu")
    parts = [
        repr((recording.header, recording.summary, recording.scene, recording.complete)),
        *(f"{name} {data[name].values.tolist()}" for name in sorted(map(str, data.variables))),
        *(f"{name} {array}" for name, array in vars(samples).items()),
    ]
    return "\n".join(parts)


@pytest.fixture(scope="module")
def mcap(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "run.mcap"
    write(McapRecorder(path))
    return path


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "cut.mcap"
    write(McapRecorder(path), finished=False)
    return path


# ------------------------------------------------------------------ MCAP


def flip(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def test_bit_flipped_anywhere_in_a_closed_file_is_refused_or_changes_nothing(mcap, tmp_path):
    data, truth = mcap.read_bytes(), everything(mcap)
    path = tmp_path / "flipped.mcap"
    refusals = []
    for bit in np.random.default_rng(3).integers(0, 8 * len(data), 300).tolist():
        path.write_bytes(flip(data, bit))
        try:
            found = everything(path)
        except RecordingError as error:
            refusals.append(str(error))
            continue
        assert found == truth, f"bit {bit % 8} of byte {bit // 8}"
    assert len(refusals) > 200
    assert all("flipped.mcap" in text and "to mend:" in text for text in refusals)


def test_bit_flipped_in_the_heads_of_records_is_refused_or_changes_nothing(mcap, tmp_path):
    """Where no checksum reaches: heads of chunks and attachments, header, metadata, the end."""
    data, truth = mcap.read_bytes(), everything(mcap)
    heads = [start for start, _, _ in records(data)]
    bits = [8 * (start + k) + k % 8 for start in heads[:9] for k in range(0, 50, 4)]
    bits += [8 * (len(data) - 1 - k) + k % 8 for k in range(45)]
    path = tmp_path / "flipped.mcap"
    for bit in bits:
        path.write_bytes(flip(data, bit))
        try:
            found = everything(path)
        except RecordingError:
            continue
        assert found == truth, f"bit {bit % 8} of byte {bit // 8}"


def test_bit_flipped_in_a_cut_file_is_refused_or_leaves_whole_frames(cut, tmp_path):
    data, truth = cut.read_bytes(), read(cut)
    dataset, samples = truth.dataset.load(), truth.samples("otter", "imu")
    path = tmp_path / "flipped.mcap"
    for bit in np.random.default_rng(4).integers(0, 8 * len(data), 200).tolist():
        path.write_bytes(flip(data, bit))
        try:
            recording = read(path)
            found, taken = recording.dataset.load(), recording.samples("otter", "imu")
        except RecordingError:
            continue
        assert not recording.complete
        assert recording.header == truth.header
        xarray.testing.assert_identical(found, dataset.isel(time=slice(0, found.sizes["time"])))
        np.testing.assert_array_equal(taken.values, samples.values[: len(taken.time)])


def records(data):
    """Start, kind and body of every record after the magic, as far as the end of the data."""
    position = 8
    while True:
        opcode, length = struct.unpack_from("<BQ", data, position)
        yield position, opcode, data[position + 9 : position + 9 + length]
        position += 9 + length
        if opcode == 0x0F:
            return


def rebuild(data, change):
    """The file with its records changed and its index written anew, as a tool would."""
    from io import BytesIO

    from mcap.stream_reader import StreamReader
    from mcap.writer import MCAP0_MAGIC

    parts = change([(op, body) for _, op, body in records(data)])
    raw = data[:8] + b"".join(struct.pack("<BQ", op, len(body)) + body for op, body in parts)
    summary = []
    for record in StreamReader(BytesIO(data), emit_chunks=True).records:
        if type(record).__name__ == "DataEnd":
            summary.append(None)
        elif summary and type(record).__name__ not in ("Footer", "SummaryOffset"):
            summary.append(record)
    return raw, summary[1:], MCAP0_MAGIC


def reindexed(data, change):
    """A file that is consistent in itself, with chunks that were lost, repeated or moved."""
    from mcap.data_stream import RecordBuilder
    from mcap.records import AttachmentIndex, ChunkIndex, Statistics

    raw, summary, magic = rebuild(data, change)
    old = {c.chunk_start_offset: c for c in summary if isinstance(c, ChunkIndex)}
    by_times = {(c.message_start_time, c.message_end_time): c for c in old.values()}
    indexes, place = [], None
    for start, opcode, body in records(raw):
        if opcode == 0x06:
            times = struct.unpack_from("<QQ", body)
            place = dataclasses.replace(
                by_times[times], chunk_start_offset=start, message_index_offsets={}
            )
            indexes.append(place)
        elif opcode == 0x07:
            place.message_index_offsets[struct.unpack_from("<H", body)[0]] = start
    messages = sum(
        (i.message_index_length - 15 * len(i.message_index_offsets)) // 16 for i in indexes
    )
    builder = RecordBuilder()
    for record in summary:
        if isinstance(record, Statistics):
            record = dataclasses.replace(record, chunk_count=len(indexes), message_count=messages)
        if not isinstance(record, ChunkIndex | AttachmentIndex):
            record.write(builder)
    for index in indexes:
        index.write(builder)
    for start, opcode, body in records(raw):
        if opcode == 0x09:
            name_length = struct.unpack_from("<I", body, 16)[0]
            name = body[20 : 20 + name_length].decode()
            AttachmentIndex(start, len(body) + 9, 0, 0, 0, name, "").write(builder)
    told = builder.end()
    footer = struct.pack("<BQQQ", 0x02, 20, len(raw), 0)
    checksum = zlib.crc32(footer, zlib.crc32(told))
    return raw + told + footer + struct.pack("<I", checksum) + magic


def chunks(parts):
    """Records in groups that begin with a chunk, and what stands before and after them."""
    groups, before, after = [], [], []
    for op, body in parts:
        if op == 0x06:
            groups.append([(op, body)])
        elif op == 0x07:
            groups[-1].append((op, body))
        else:
            (after if groups else before).append((op, body))
    return before, groups, after


def flat(groups):
    return [record for group in groups for record in group]


def lose(parts):
    before, groups, after = chunks(parts)
    return [*before, *flat(groups[:2] + groups[3:]), *after]


def repeat(parts):
    before, groups, after = chunks(parts)
    return [*before, *flat(groups[:3] + groups[2:]), *after]


def exchange(parts):
    before, groups, after = chunks(parts)
    groups[2], groups[3] = groups[3], groups[2]
    return [*before, *flat(groups), *after]


def unchanged(parts):
    return parts


def test_the_tool_of_these_tests_makes_files_that_open(mcap, tmp_path):
    path = tmp_path / "same.mcap"
    path.write_bytes(reindexed(mcap.read_bytes(), unchanged))
    assert everything(path) == everything(mcap)


@pytest.mark.parametrize("change", [lose, repeat, exchange])
@pytest.mark.parametrize("index", ["kept", "made anew", "none"])
def test_lost_repeated_and_moved_chunks_are_refused(change, index, mcap, cut, tmp_path):
    path = tmp_path / "odd.mcap"
    if index == "made anew":
        path.write_bytes(reindexed(mcap.read_bytes(), change))
    else:
        data = mcap.read_bytes()
        raw, _, _ = rebuild(data, change)
        end = next(start for start, op, _ in records(data) if op == 0x0F) + 13
        path.write_bytes(raw + data[end:] if index == "kept" else raw)
    with pytest.raises(RecordingError, match="damaged") as caught:
        everything(path)
    assert "to mend:" in str(caught.value)


def test_lost_chunk_is_noticed_by_who_reads_a_later_one_alone(mcap, tmp_path):
    path = tmp_path / "odd.mcap"
    path.write_bytes(reindexed(mcap.read_bytes(), lose))
    with pytest.raises(RecordingError, match="chunks were lost, repeated or moved"):
        read(path).samples("otter", "imu", (4.0, 4.1))


@pytest.mark.parametrize("size", [1 << 63, 3 << 30, 12])
def test_chunk_that_lies_about_its_size_asks_for_no_memory(size, mcap, tmp_path):
    def swell(parts):
        before, groups, after = chunks(parts)
        op, body = groups[2][0]
        groups[2][0] = (op, body[:16] + struct.pack("<Q", size) + body[24:])
        return [*before, *flat(groups), *after]

    for made in (reindexed(mcap.read_bytes(), swell), rebuild(mcap.read_bytes(), swell)[0]):
        path = tmp_path / "bomb.mcap"
        path.write_bytes(made)
        with pytest.raises(RecordingError, match="damaged"):
            everything(path)


def test_packed_bomb_is_refused_by_what_it_says_of_itself(mcap, tmp_path):
    bomb = zstandard.ZstdCompressor().compress(bytes(200 << 20))

    def arm(parts):
        before, groups, after = chunks(parts)
        op, body = groups[2][0]
        head = body[:28] + struct.pack("<I", 4) + b"zstd" + struct.pack("<Q", len(bomb))
        groups[2][0] = (op, head + bomb)
        return [*before, *flat(groups), *after]

    path = tmp_path / "bomb.mcap"
    path.write_bytes(rebuild(mcap.read_bytes(), arm)[0])
    with pytest.raises(RecordingError, match="unpacks to another size"):
        everything(path)


def test_recording_of_a_killed_run_says_that_it_is_cut_short(cut, mcap, seatrial, tmp_path):
    recording = read(cut)
    assert not recording.complete
    assert recording.summary is None
    assert recording.scene is not None
    assert read(mcap).complete
    code, _, err = seatrial("export", cut, "--to", "csv", "--out", tmp_path / "cut.csv")
    assert code == 0
    assert "cut short" in err
    assert (
        "cut short" not in seatrial("export", mcap, "--to", "csv", "--out", tmp_path / "a.csv")[2]
    )


def test_file_whose_rest_is_zeros_after_a_loss_of_power_opens_as_far_as_it_goes(cut, tmp_path):
    path = tmp_path / "zeros.mcap"
    path.write_bytes(cut.read_bytes() + bytes(5000))
    assert read(path).dataset.sizes["time"] == read(cut).dataset.sizes["time"]


def test_last_chunk_that_never_reached_the_disk_is_left_out(cut, tmp_path):
    data = cut.read_bytes()
    chunk = max(start for start, op, body in all_records(data) if op == 0x06)
    length = struct.unpack_from("<Q", data, chunk + 1)[0]
    torn = data[: chunk + 60] + bytes(length + 9 - 60)
    path = tmp_path / "torn.mcap"
    path.write_bytes(torn)
    assert read(path).dataset.sizes["time"] == 60  # of 61 in blocks of ten


def all_records(data):
    position = 8
    while position + 9 <= len(data):
        opcode, length = struct.unpack_from("<BQ", data, position)
        yield position, opcode, data[position + 9 : position + 9 + length]
        position += 9 + length


@pytest.mark.skipif(os.name != "posix", reason="makes a POSIX pipe")
def test_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(RecordingError, match="not a file"):
        read(tmp_path / "pipe.mcap")


# ------------------------------------------------------------------ Zarr


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


@pytest.mark.parametrize("to", ["csv", "netcdf"])
def test_export_does_not_overwrite_its_own_source(to, mcap, zarr, tmp_path):
    own = tmp_path / "run.mcap"
    shutil.copy(mcap, own)
    link = tmp_path / "link.csv"
    link.symlink_to(own)
    for out in (own, tmp_path / "." / "run.mcap", link):
        with pytest.raises(RecordingError, match="is the recording itself"):
            export(own, to, out)
    assert own.read_bytes() == mcap.read_bytes()
    folder = tmp_path / "run.zarr"
    shutil.copytree(zarr, folder)
    for out in (folder, folder / "position" / "0.0.0"):
        with pytest.raises(RecordingError, match="is the recording itself"):
            export(folder, to, out)
    assert everything(folder) == everything(zarr)
