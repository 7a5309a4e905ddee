"""Damaged MCAP files: refused, or read unchanged; never silently wrong, never a stack trace."""

import dataclasses
import os
import struct
import zlib

import numpy as np
import pytest
import xarray
import zstandard
from record_damage import everything, flip, write

from seatrial.errors import RecordingError
from seatrial.record.mcap.writer import McapRecorder
from seatrial.record.reader import read


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
