"""The records of an MCAP file, each checked as it is read, and what is left of a damaged file."""

import struct
import zlib
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from typing import Any

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")
MESSAGE = struct.Struct("<HIQQ")
FOOTER = struct.Struct("<BQQQI")
FOOTER_OP, CHANNEL_OP, MESSAGE_OP, CHUNK_OP, ATTACHMENT_OP = 0x02, 0x04, 0x05, 0x06, 0x09
DATA_END_OP, LAST_OP = 0x0F, 0x0F
INDEX_ENTRY, INDEX_HEAD = 16, HEAD.size + 6
"""Bytes of an entry in a message index, and of all that stands before the entries."""
SEQUENCES = 1 << 32
LARGEST_CHUNK = 1 << 30
"""Bytes of an unpacked chunk at most; more is taken for damage before memory is asked for."""


class DamagedError(Exception):
    """Bytes that are not what was written."""


def wrong() -> tuple[type[Exception], ...]:
    """What reading damaged bytes may raise."""
    from mcap.exceptions import McapError
    from zstandard import ZstdError

    return (
        *(DamagedError, McapError, ZstdError, struct.error),
        *(ValueError, KeyError, IndexError, OverflowError, MemoryError, RuntimeError),
    )


def stretch(start: int, end: int) -> str:
    """What is lost, by its first and last time (ns)."""
    return f"{start / 1e9:.1f} s to {end / 1e9:.1f} s are missing"


def whole_chunks(file: BufferedReader) -> Iterator[tuple[int, int, bool]]:
    """First and last time of every chunk that is whole, and whether others are lost before it."""
    from mcap.data_stream import ReadDataStream
    from mcap.records import Chunk

    size, position, number = file.seek(0, 2), len(MAGIC), 1
    while position + HEAD.size <= size:
        file.seek(position)
        opcode, length = HEAD.unpack(file.read(HEAD.size))
        if opcode in (0, DATA_END_OP) or opcode > LAST_OP or position + length > size:
            return
        if opcode == CHUNK_OP:
            try:
                chunk = Chunk.read(ReadDataStream(BytesIO(read_record(file, position)[1])))
                data = decompress(chunk)
                found = [
                    MESSAGE.unpack_from(data, start)[1:3]
                    for kind, start, _ in records(data)
                    if kind == MESSAGE_OP
                ]
            except wrong():
                found = []
            if found and found[0][0] >= number % SEQUENCES:  # one that is repeated adds nothing
                times = [time for _, time in found]
                yield min(times), max(times), found[0][0] != number % SEQUENCES
                number = found[-1][0] + 1
        position += HEAD.size + length


def reason(error: Exception) -> str:
    """In words."""
    if isinstance(error, DamagedError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def read_record(file: BufferedReader, offset: int) -> tuple[int, bytes]:
    """Kind and body of the record at a place of the file."""
    size = file.seek(0, 2)
    file.seek(offset)
    opcode, length = HEAD.unpack(file.read(HEAD.size))
    if length > size - offset - HEAD.size:
        raise DamagedError(f"the record at byte {offset} reaches beyond the end of the file")
    return opcode, file.read(length)


def records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of every record in a chunk."""
    position = 0
    while position < len(data):
        opcode, length = HEAD.unpack_from(data, position)
        start = position + HEAD.size
        position = start + length
        if position > len(data):
            raise DamagedError("a record reaches beyond the end of its chunk")
        yield opcode, start, position


def decompress(chunk: Any) -> bytes:
    """The records of a chunk, which must match its checksum."""
    from mcap.stream_reader import get_chunk_data_stream
    from zstandard import frame_content_size

    size = chunk.uncompressed_size
    if size > LARGEST_CHUNK:
        raise DamagedError(f"a chunk of {size} bytes")
    if chunk.compression == "zstd" and frame_content_size(chunk.data) not in (-1, size):
        raise DamagedError("a chunk unpacks to another size than it says")
    stream, found = get_chunk_data_stream(chunk)
    data: bytes = stream.read(found)
    if found != size or zlib.crc32(data) != chunk.uncompressed_crc:
        raise DamagedError("a chunk does not match its checksum")
    return data
