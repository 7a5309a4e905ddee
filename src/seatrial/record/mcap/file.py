"""An MCAP file of ours: opened by its index, read chunk by chunk, never believed unchecked.

A file that was closed has an index with a checksum. It says where every chunk and every attachment
lies, and how many messages of which topic a chunk holds: opening reads the index and the
attachments, and a question about one topic or one stretch of time reads the chunks that hold it.
A killed run leaves no index; such a file is read once from the front, chunk after chunk, for as far
as it goes.

What was read is checked before it is used: the index, every chunk and every attachment against its
checksum, the head of a chunk, which no checksum covers, against the index, and the messages by
their numbers, which the recorder counts through the whole file: a chunk that was lost, repeated or
moved does not go on where the one before it ended.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.errors import RecordingError
from seatrial.record.mcap.description import SUMMARY_FILE

if TYPE_CHECKING:
    from mcap.summary import Summary

_MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_FOOTER = struct.Struct("<BQQQI")
_FOOTER_OP, _CHANNEL_OP, _MESSAGE_OP, _CHUNK_OP, _ATTACHMENT_OP = 0x02, 0x04, 0x05, 0x06, 0x09
_DATA_END_OP, _LAST_OP = 0x0F, 0x0F
_INDEX_ENTRY, _INDEX_HEAD = 16, _HEAD.size + 6
"""Bytes of an entry in a message index, and of all that stands before the entries."""
_SEQUENCES = 1 << 32
LARGEST_CHUNK = 1 << 30
"""Bytes of an unpacked chunk at most; more is taken for damage before memory is asked for."""


@dataclass(frozen=True)
class Place:
    """Where a chunk is, and what the index says of it."""

    offset: int
    length: int
    """Of its record, head included."""
    start: int
    end: int
    """First and last time at which its messages were logged, ns."""
    size: int
    """Unpacked, bytes."""
    first: int
    """Number of its first message."""
    counts: dict[str, int]
    """Messages by topic."""

    @property
    def messages(self) -> int:
        """Of all topics."""
        return sum(self.counts.values())


Message = tuple[int, bytes]
"""Time at which it was logged (ns), data."""


@dataclass
class McapFile:
    """What is known of a file after opening it."""

    path: Path
    places: list[Place] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    complete: bool = False
    """Whether the run came to its end, as it does unless it was killed."""
    indexed: bool = False
    """Whether it was closed with an index, which other readers need."""
    chunks_read: int = 0
    """How many chunks were unpacked so far."""

    def read(self, place: Place, topics: set[str]) -> dict[str, list[Message]]:
        """The messages of some topics in a chunk, in the order of the file."""
        with self._open() as file, self._refusing():
            data = self._unpack(file, place)
            return self._messages(data, place, topics)

    def records(self, place: Place) -> Iterator[tuple[int, bytes]]:
        """Kind and body of every record in a chunk."""
        with self._open() as file, self._refusing():
            data = self._unpack(file, place)
        return ((opcode, data[start:end]) for opcode, start, end in _records(data))

    def _messages(self, data: bytes, place: Place, topics: set[str]) -> dict[str, list[Message]]:
        found: dict[str, list[Message]] = {topic: [] for topic in topics}
        wanted = {channel: found.get(topic) for channel, topic in self.topics.items()}
        # Unpacked here and not by mcap's `breakup_chunk`, which takes seven times as long.
        number = place.first
        for opcode, start, end in _records(data):
            if opcode != _MESSAGE_OP:
                continue
            channel, sequence, logged, _ = _MESSAGE.unpack_from(data, start)
            if sequence != number % _SEQUENCES:
                raise _DamagedError(
                    f"message {number % _SEQUENCES} is missing: in its place stands {sequence}; "
                    "chunks were lost, repeated or moved"
                )
            number += 1
            kept = wanted[channel]
            if kept is not None:
                kept.append((logged, data[start + _MESSAGE.size : end]))
        if number != place.first + place.messages:
            raise _DamagedError(f"a chunk holds {number - place.first} messages")
        return found

    def _unpack(self, file: BufferedReader, place: Place) -> bytes:
        """The records in a chunk, checked."""
        from mcap.data_stream import ReadDataStream
        from mcap.records import Chunk

        opcode, body = _read_record(file, place.offset)
        if opcode != _CHUNK_OP or len(body) + _HEAD.size != place.length:
            raise _DamagedError(f"there is no chunk at byte {place.offset}")
        chunk = Chunk.read(ReadDataStream(BytesIO(body)))
        stated = (chunk.message_start_time, chunk.message_end_time, chunk.uncompressed_size)
        if stated != (place.start, place.end, place.size):
            raise _DamagedError(f"the chunk at byte {place.offset} is not the one in the index")
        self.chunks_read += 1
        return _decompress(chunk)

    @contextmanager
    def _open(self) -> Iterator[BufferedReader]:
        try:
            if self.path.exists() and not self.path.is_file():  # a pipe would wait for ever
                raise OSError(None, "not a file")
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise RecordingError(
                f"{self.path}: cannot read the recording ({error.strerror or error})\n"
                "  expected: an MCAP file written by `seatrial run`\n"
                "  to mend:  check the name, or record a run with --out FILE.mcap"
            ) from error

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Whatever damaged bytes lead to is a refusal."""
        from mcap.exceptions import McapError
        from zstandard import ZstdError

        wrong = (
            *(_DamagedError, McapError, ZstdError, struct.error),
            *(ValueError, KeyError, IndexError, OverflowError, MemoryError, RuntimeError),
        )
        try:
            yield
        except wrong as error:
            raise RecordingError(
                f"{self.path}: the recording is damaged: {_reason(error)}\n"
                "  expected: whole records that match their own checksum, in their order\n"
                "  to mend:  copy the file again or repeat the run; the seed gives the same run"
            ) from error


class _DamagedError(Exception):
    pass


def _reason(error: Exception) -> str:
    if isinstance(error, _DamagedError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def open_file(path: Path) -> McapFile:
    """Open a recording, by its index or, where a kill left none, by reading it through."""
    contents = McapFile(path)
    with contents._open() as file:
        head = file.read(len(_MAGIC))
        size = file.seek(0, 2)
        if head != _MAGIC:
            raise RecordingError(
                f"{path}: this is not an MCAP file\n"
                f"  found:    {size} bytes that begin with {head!r}\n"
                "  expected: a recording written by `seatrial run`, beginning with "
                f"{_MAGIC!r}\n"
                "  to mend:  name the .mcap file, not the scenario, picture or export made from it"
            )
        file.seek(max(len(_MAGIC), size - len(_MAGIC)))
        with contents._refusing():
            contents.indexed = file.read() == _MAGIC and _read_index(contents, file, size)
            if not contents.indexed:
                _read_through(contents, file, size)
    # A file that was cut and then closed by other hands is whole, and the run in it is not.
    contents.complete &= SUMMARY_FILE in contents.attachments
    return contents


def _read_index(contents: McapFile, file: BufferedReader, size: int) -> bool:
    """Take everything from the index of a closed file; False where it tells too little."""
    from mcap.reader import SeekingReader

    footer_at = size - len(_MAGIC) - _FOOTER.size
    file.seek(max(0, footer_at))
    footer = file.read(_FOOTER.size)
    opcode, length, start, _, checksum = _FOOTER.unpack(footer)
    if opcode != _FOOTER_OP or length != _FOOTER.size - _HEAD.size or start > footer_at:
        raise _DamagedError("records are missing before the end of a file that was closed")
    if start == 0:
        return False
    file.seek(start)
    if zlib.crc32(footer[:-4], zlib.crc32(file.read(footer_at - start))) != checksum:
        raise _DamagedError("its index does not match its checksum")
    file.seek(0)
    summary: Summary | None = SeekingReader(file).get_summary()
    if summary is None or any(not index.message_index_offsets for index in summary.chunk_indexes):
        return False
    contents.topics = {channel.id: channel.topic for channel in summary.channels.values()}
    first = 1
    for index in sorted(summary.chunk_indexes, key=lambda c: int(c.chunk_start_offset)):
        counts = _count_messages(index, contents.topics)
        place = Place(
            index.chunk_start_offset,
            index.chunk_length,
            index.message_start_time,
            index.message_end_time,
            index.uncompressed_size,
            first,
            counts,
        )
        contents.places.append(place)
        first += place.messages
    told = summary.statistics
    if told is not None and (told.chunk_count, told.message_count) != (
        len(contents.places),
        first - 1,
    ):
        raise _DamagedError("its index does not list all chunks")
    for attachment in summary.attachment_indexes:
        _take_attachment(contents, *_read_record(file, attachment.offset))
    contents.complete = True
    return True


def _count_messages(index: Any, topics: dict[int, str]) -> dict[str, int]:
    """Messages by topic in a chunk: its message indices, one per topic, lie behind one another."""
    offsets = sorted((offset, channel) for channel, offset in index.message_index_offsets.items())
    end = index.chunk_start_offset + index.chunk_length + index.message_index_length
    counts: dict[str, int] = {}
    for (offset, channel), following in zip(
        offsets, [*(o for o, _ in offsets[1:]), end], strict=True
    ):
        entries, rest = divmod(following - offset - _INDEX_HEAD, _INDEX_ENTRY)
        if rest or entries < 1:
            raise _DamagedError("its message indices do not follow one another")
        counts[topics[channel]] = counts.get(topics[channel], 0) + entries
    return counts


def _read_through(contents: McapFile, file: BufferedReader, size: int) -> None:
    """Take every whole record of a file without an index."""
    from mcap.data_stream import ReadDataStream
    from mcap.records import Chunk

    position, first = len(_MAGIC), 1
    while position + _HEAD.size <= size:
        file.seek(position)
        opcode, length = _HEAD.unpack(file.read(_HEAD.size))
        end = position + _HEAD.size + length
        if end > size or opcode == 0:  # torn; some file systems fill the rest with zeros
            return
        if opcode > _LAST_OP:
            raise _DamagedError(f"a record of kind {opcode:#04x} at byte {position} is none")
        if opcode == _CHUNK_OP:
            try:
                chunk = Chunk.read(ReadDataStream(BytesIO(_read_record(file, position)[1])))
                data = _decompress(chunk)
            except Exception:
                if end == size:  # the last thing that was written
                    return
                raise
            times, counts = _take_chunk(contents, data)
            if times != (chunk.message_start_time, chunk.message_end_time):
                raise _DamagedError(f"the head of the chunk at byte {position} tells other times")
            place = Place(position, end - position, *times, len(data), first, counts)
            contents._messages(data, place, set())
            contents.places.append(place)
            first += place.messages
        elif opcode == _ATTACHMENT_OP:
            _take_attachment(contents, *_read_record(file, position))
        elif opcode == _DATA_END_OP:
            contents.complete = True
            return
        position = end


def _take_chunk(contents: McapFile, data: bytes) -> tuple[tuple[int, int], dict[str, int]]:
    """Note the channels that a chunk declares; first and last time, and messages by topic."""
    from mcap.data_stream import ReadDataStream
    from mcap.records import Channel

    counts: dict[str, int] = {}
    times = []
    for opcode, start, end in _records(data):
        if opcode == _CHANNEL_OP:
            channel = Channel.read(ReadDataStream(BytesIO(data[start:end])))
            contents.topics[channel.id] = channel.topic
        elif opcode == _MESSAGE_OP:
            number, _, logged, _ = _MESSAGE.unpack_from(data, start)
            topic = contents.topics[number]
            counts[topic] = counts.get(topic, 0) + 1
            times.append(logged)
    return (min(times), max(times)), counts


def _take_attachment(contents: McapFile, opcode: int, body: bytes) -> None:
    from mcap.data_stream import ReadDataStream
    from mcap.records import Attachment

    if opcode != _ATTACHMENT_OP:
        raise _DamagedError("an attachment is not where the index says")
    if zlib.crc32(body[:-4]) != int.from_bytes(body[-4:], "little"):
        raise _DamagedError("an attachment does not match its checksum")
    attachment = Attachment.read(ReadDataStream(BytesIO(body)))
    if attachment.name in contents.attachments:
        raise _DamagedError(f"the attachment {attachment.name} is there twice")
    contents.attachments[attachment.name] = attachment.data


def _read_record(file: BufferedReader, offset: int) -> tuple[int, bytes]:
    """Kind and body of the record at a place of the file."""
    size = file.seek(0, 2)
    file.seek(offset)
    opcode, length = _HEAD.unpack(file.read(_HEAD.size))
    if length > size - offset - _HEAD.size:
        raise _DamagedError(f"the record at byte {offset} reaches beyond the end of the file")
    return opcode, file.read(length)


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of every record in a chunk."""
    position = 0
    while position < len(data):
        opcode, length = _HEAD.unpack_from(data, position)
        start = position + _HEAD.size
        position = start + length
        if position > len(data):
            raise _DamagedError("a record reaches beyond the end of its chunk")
        yield opcode, start, position


def _decompress(chunk: Any) -> bytes:
    """The records of a chunk, which must match its checksum."""
    from mcap.stream_reader import get_chunk_data_stream
    from zstandard import frame_content_size

    size = chunk.uncompressed_size
    if size > LARGEST_CHUNK:
        raise _DamagedError(f"a chunk of {size} bytes")
    if chunk.compression == "zstd" and frame_content_size(chunk.data) not in (-1, size):
        raise _DamagedError("a chunk unpacks to another size than it says")
    stream, found = get_chunk_data_stream(chunk)
    data: bytes = stream.read(found)
    if found != size or zlib.crc32(data) != chunk.uncompressed_crc:
        raise _DamagedError("a chunk does not match its checksum")
    return data
