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

import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seatrial.errors import RecordingError
from seatrial.record.mcap.description import SUMMARY_FILE
from seatrial.record.mcap.records import (
    ATTACHMENT_OP,
    CHANNEL_OP,
    CHUNK_OP,
    DATA_END_OP,
    FOOTER,
    FOOTER_OP,
    HEAD,
    INDEX_ENTRY,
    INDEX_HEAD,
    LAST_OP,
    MAGIC,
    MESSAGE,
    MESSAGE_OP,
    SEQUENCES,
    DamagedError,
    decompress,
    read_record,
    reason,
    records,
    stretch,
    whole_chunks,
    wrong,
)

if TYPE_CHECKING:
    from mcap.summary import Summary


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
        with self._open() as file, self._refusing(place):
            data = self._unpack(file, place)
            return self._messages(data, place, topics)

    def records(self, place: Place) -> Iterator[tuple[int, bytes]]:
        """Kind and body of every record in a chunk."""
        with self._open() as file, self._refusing(place):
            data = self._unpack(file, place)
        return ((opcode, data[start:end]) for opcode, start, end in records(data))

    def _messages(self, data: bytes, place: Place, topics: set[str]) -> dict[str, list[Message]]:
        found: dict[str, list[Message]] = {topic: [] for topic in topics}
        wanted = {channel: found.get(topic) for channel, topic in self.topics.items()}
        # Unpacked here and not by mcap's `breakup_chunk`, which takes seven times as long.
        number = place.first
        for opcode, start, end in records(data):
            if opcode != MESSAGE_OP:
                continue
            channel, sequence, logged, _ = MESSAGE.unpack_from(data, start)
            if sequence != number % SEQUENCES:
                raise DamagedError(
                    f"message {number % SEQUENCES} is missing: in its place stands {sequence}; "
                    "chunks were lost, repeated or moved"
                )
            number += 1
            kept = wanted[channel]
            if kept is not None:
                kept.append((logged, data[start + MESSAGE.size : end]))
        if number != place.first + place.messages:
            raise DamagedError(f"a chunk holds {number - place.first} messages")
        return found

    def _unpack(self, file: BufferedReader, place: Place) -> bytes:
        """The records in a chunk, checked."""
        from mcap.data_stream import ReadDataStream
        from mcap.records import Chunk

        opcode, body = read_record(file, place.offset)
        if opcode != CHUNK_OP or len(body) + HEAD.size != place.length:
            raise DamagedError(f"there is no chunk at byte {place.offset}")
        chunk = Chunk.read(ReadDataStream(BytesIO(body)))
        stated = (chunk.message_start_time, chunk.message_end_time, chunk.uncompressed_size)
        if stated != (place.start, place.end, place.size):
            raise DamagedError(f"the chunk at byte {place.offset} is not the one in the index")
        self.chunks_read += 1
        return decompress(chunk)

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
    def _refusing(self, place: Place | None = None) -> Iterator[None]:
        """Whatever damaged bytes lead to is a refusal, which says what they held."""
        try:
            yield
        except wrong() as error:
            lost = stretch(place.start, place.end) if place else self._missing()
            raise RecordingError(
                f"{self.path}: the recording is damaged: {reason(error)}\n"
                f"  found:    {lost}\n"
                "  expected: whole records that match their own checksum, in their order\n"
                "  to mend:  copy the file again or repeat the run; the seed gives the same run; "
                "`seatrial recover` keeps what comes before"
            ) from error

    def _missing(self) -> str:
        """Which stretches of time a damaged file has no whole chunk for."""
        with self._open() as file:
            gaps, end = [], None
            for start, finish, lost in whole_chunks(file):
                if lost:
                    gaps.append(stretch(0 if end is None else end, start))
                end = finish
        if end is None:
            return "nothing in it can be read"
        return "; ".join(gaps) or f"its chunks are whole up to {end / 1e9:.1f} s"


def open_whole_part(path: Path) -> McapFile:
    """Open a damaged recording up to where its damage begins, as if a kill had cut it there."""
    contents = McapFile(path)
    with contents._open() as file:
        size = file.seek(0, 2)
        with suppress(*wrong()):
            _read_through(contents, file, size)
    if not contents.complete:
        contents.attachments.pop(SUMMARY_FILE, None)
    return contents


def open_file(path: Path) -> McapFile:
    """Open a recording, by its index or, where a kill left none, by reading it through."""
    contents = McapFile(path)
    with contents._open() as file:
        head = file.read(len(MAGIC))
        size = file.seek(0, 2)
        if head != MAGIC:
            raise RecordingError(
                f"{path}: this is not an MCAP file\n"
                f"  found:    {size} bytes that begin with {head!r}\n"
                "  expected: a recording written by `seatrial run`, beginning with "
                f"{MAGIC!r}\n"
                "  to mend:  name the .mcap file, not the scenario, picture or export made from it"
            )
        file.seek(max(len(MAGIC), size - len(MAGIC)))
        with contents._refusing():
            contents.indexed = file.read() == MAGIC and _read_index(contents, file, size)
            if not contents.indexed:
                _read_through(contents, file, size)
    # A file that was cut and then closed by other hands is whole, and the run in it is not.
    contents.complete &= SUMMARY_FILE in contents.attachments
    return contents


def _read_index(contents: McapFile, file: BufferedReader, size: int) -> bool:
    """Take everything from the index of a closed file; False where it tells too little."""
    from mcap.reader import SeekingReader

    footer_at = size - len(MAGIC) - FOOTER.size
    file.seek(max(0, footer_at))
    footer = file.read(FOOTER.size)
    opcode, length, start, _, checksum = FOOTER.unpack(footer)
    if opcode != FOOTER_OP or length != FOOTER.size - HEAD.size or start > footer_at:
        raise DamagedError("records are missing before the end of a file that was closed")
    if start == 0:
        return False
    file.seek(start)
    if zlib.crc32(footer[:-4], zlib.crc32(file.read(footer_at - start))) != checksum:
        raise DamagedError("its index does not match its checksum")
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
        raise DamagedError("its index does not list all chunks")
    for attachment in summary.attachment_indexes:
        _take_attachment(contents, *read_record(file, attachment.offset))
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
        entries, rest = divmod(following - offset - INDEX_HEAD, INDEX_ENTRY)
        if rest or entries < 1:
            raise DamagedError("its message indices do not follow one another")
        counts[topics[channel]] = counts.get(topics[channel], 0) + entries
    return counts


def _read_through(contents: McapFile, file: BufferedReader, size: int) -> None:
    """Take every whole record of a file without an index."""
    from mcap.data_stream import ReadDataStream
    from mcap.records import Chunk

    position, first = len(MAGIC), 1
    while position + HEAD.size <= size:
        file.seek(position)
        opcode, length = HEAD.unpack(file.read(HEAD.size))
        end = position + HEAD.size + length
        if end > size or opcode == 0:  # torn; some file systems fill the rest with zeros
            return
        if opcode > LAST_OP:
            raise DamagedError(f"a record of kind {opcode:#04x} at byte {position} is none")
        if opcode == CHUNK_OP:
            try:
                chunk = Chunk.read(ReadDataStream(BytesIO(read_record(file, position)[1])))
                data = decompress(chunk)
            except Exception:
                if end == size:  # the last thing that was written
                    return
                raise
            times, counts = _take_chunk(contents, data)
            if times != (chunk.message_start_time, chunk.message_end_time):
                raise DamagedError(f"the head of the chunk at byte {position} tells other times")
            place = Place(position, end - position, *times, len(data), first, counts)
            contents._messages(data, place, set())
            contents.places.append(place)
            first += place.messages
        elif opcode == ATTACHMENT_OP:
            _take_attachment(contents, *read_record(file, position))
        elif opcode == DATA_END_OP:
            contents.complete = True
            return
        position = end


def _take_chunk(contents: McapFile, data: bytes) -> tuple[tuple[int, int], dict[str, int]]:
    """Note the channels that a chunk declares; first and last time, and messages by topic."""
    from mcap.data_stream import ReadDataStream
    from mcap.records import Channel

    counts: dict[str, int] = {}
    times = []
    for opcode, start, end in records(data):
        if opcode == CHANNEL_OP:
            channel = Channel.read(ReadDataStream(BytesIO(data[start:end])))
            contents.topics[channel.id] = channel.topic
        elif opcode == MESSAGE_OP:
            number, _, logged, _ = MESSAGE.unpack_from(data, start)
            topic = contents.topics[number]
            counts[topic] = counts.get(topic, 0) + 1
            times.append(logged)
    return (min(times), max(times)), counts


def _take_attachment(contents: McapFile, opcode: int, body: bytes) -> None:
    from mcap.data_stream import ReadDataStream
    from mcap.records import Attachment

    if opcode != ATTACHMENT_OP:
        raise DamagedError("an attachment is not where the index says")
    if zlib.crc32(body[:-4]) != int.from_bytes(body[-4:], "little"):
        raise DamagedError("an attachment does not match its checksum")
    attachment = Attachment.read(ReadDataStream(BytesIO(body)))
    if attachment.name in contents.attachments:
        raise DamagedError(f"the attachment {attachment.name} is there twice")
    contents.attachments[attachment.name] = attachment.data
