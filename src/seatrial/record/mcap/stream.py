"""Records of an MCAP file from the front, for as far as the file goes.

A killed run leaves a file without footer and index, perhaps with half a record at its end, so
this reads forward only and stops at the first record that is not whole. Files that were closed
are read the same way: one path, tested by every recording.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.errors import RecordingError

if TYPE_CHECKING:
    from mcap.records import Chunk

_MAGIC = b"\x89MCAP0\r\n"
_RECORD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_CHANNEL, _MESSAGE_OP, _CHUNK, _ATTACHMENT, _DATA_END = 0x04, 0x05, 0x06, 0x09, 0x0F


@dataclass
class Contents:
    """What was found, messages by topic in the order of the file."""

    attachments: dict[str, bytes] = field(default_factory=dict)
    times: dict[str, list[int]] = field(default_factory=dict)
    messages: dict[str, list[bytes]] = field(default_factory=dict)
    ended: bool = False
    """Whether the data section came to its end, as it does unless the run was killed."""


def read_contents(path: Path) -> Contents:
    """Read every whole record."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordingError(
            f"{path}: cannot read the recording ({error.strerror or error})\n"
            "  expected: an MCAP file written by `seatrial run`\n"
            "  to mend:  check the name, or record a run with --out FILE.mcap"
        ) from error
    if not data.startswith(_MAGIC):
        raise RecordingError(
            f"{path}: this is not an MCAP file\n"
            f"  found:    {len(data)} bytes that begin with {data[:8]!r}\n"
            "  expected: a recording written by `seatrial run`, beginning with "
            f"{_MAGIC!r}\n"
            "  to mend:  name the .mcap file, not the scenario, picture or export made from it"
        )
    contents = Contents()
    try:
        body = memoryview(data)[len(_MAGIC) :]
        _collect(body, contents)
        if bytes(body[-len(_MAGIC) :]) == _MAGIC and not contents.ended:
            raise _DamagedError("records are missing before the end of a file that was closed")
    except _DamagedError as error:
        raise RecordingError(
            f"{path}: the recording is damaged: {error}\n"
            "  expected: whole records that match their own checksum\n"
            "  to mend:  copy the file again or repeat the run; the seed gives the same run"
        ) from error
    return contents


class _DamagedError(Exception):
    pass


def _collect(data: memoryview, contents: Contents) -> None:
    from mcap.data_stream import ReadDataStream
    from mcap.exceptions import EndOfFile
    from mcap.records import Attachment, Channel, Chunk

    topics: dict[int, str] = {}

    def take(part: memoryview) -> None:
        for opcode, body in _records(part):
            try:
                enter(opcode, body)
            except (struct.error, EndOfFile, UnicodeDecodeError, KeyError) as error:
                kind = f"a record of kind {opcode:#04x} with {len(body)} bytes is no such record"
                raise _DamagedError(kind) from error
            if contents.ended:
                return

    def enter(opcode: int, body: memoryview) -> None:
        if opcode == _MESSAGE_OP:
            channel, _, log_time, _ = _MESSAGE.unpack_from(body)
            topic = topics[channel]
            contents.times[topic].append(log_time)
            contents.messages[topic].append(bytes(body[_MESSAGE.size :]))
        elif opcode == _CHANNEL:
            record = Channel.read(ReadDataStream(BytesIO(body)))
            topics[record.id] = record.topic
            contents.times.setdefault(record.topic, [])
            contents.messages.setdefault(record.topic, [])
        elif opcode == _CHUNK:
            take(memoryview(_decompress(Chunk.read(ReadDataStream(BytesIO(body))))))
        elif opcode == _ATTACHMENT:
            attachment = Attachment.read(ReadDataStream(BytesIO(body)))
            contents.attachments[attachment.name] = attachment.data
        elif opcode == _DATA_END:
            contents.ended = True

    take(data)


def _records(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    position = 0
    while position + _RECORD.size <= len(data):
        opcode, length = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        if position + length > len(data):
            return
        yield opcode, data[position : position + length]
        position += length


def _decompress(chunk: "Chunk") -> bytes:
    from mcap.exceptions import McapError
    from mcap.stream_reader import get_chunk_data_stream
    from zstandard import ZstdError

    try:
        stream, size = get_chunk_data_stream(chunk, validate_crc=True)
    except (McapError, ZstdError, ValueError) as error:
        raise _DamagedError(str(error)) from error
    data: bytes = stream.read(size)
    return data
