"""The messages of one MCAP file written into another, chunk by chunk, with others between them."""

from collections.abc import Iterable
from io import BufferedWriter, BytesIO
from typing import Any

from seatrial.record.mcap import description
from seatrial.record.mcap.file import McapFile, Place
from seatrial.record.mcap.writer import NEVER, SEQUENCES
from seatrial.ros.layout import TypeStore


class Copy:
    """A file that grows; messages are numbered anew, through the whole file, as readers of ours
    expect them to be."""

    def __init__(
        self, found: McapFile, metadata: dict[str, str], how: str, file: BufferedWriter
    ) -> None:
        from mcap.writer import Writer

        self._found = found
        self._store = TypeStore()
        self._sequence = 0
        self._schemas: dict[int, int] = {0: 0}
        self._channels: dict[int, int] = {}
        self._added: dict[str, int] = {}
        self._writer: Any = Writer(file, chunk_size=NEVER)  # mcap annotates only half of it
        self._writer.start(profile="ros2", library=f"seatrial {metadata['version']}, {how}")
        self._writer.add_metadata(description.METADATA, metadata)
        for name, data in found.attachments.items():
            kind = "yaml" if name.endswith(".yaml") else "json"
            self._writer.add_attachment(0, 0, name, f"application/{kind}", data)

    def copy(self, place: Place) -> None:
        """The messages of a chunk."""
        from mcap.data_stream import ReadDataStream
        from mcap.opcode import Opcode
        from mcap.records import Channel, Message, Schema

        for opcode, body in self._found.records(place):
            stream = ReadDataStream(BytesIO(body))
            if opcode == Opcode.SCHEMA:
                s = Schema.read(stream)
                self._schemas[s.id] = self._writer.register_schema(s.name, s.encoding, s.data)
            elif opcode == Opcode.CHANNEL:
                c = Channel.read(stream)
                self._channels[c.id] = self._writer.register_channel(
                    c.topic, c.message_encoding, self._schemas[c.schema_id], c.metadata
                )
            elif opcode == Opcode.MESSAGE:
                m = Message.read(stream, len(body))
                self._add(self._channels[m.channel_id], m.log_time, m.data, m.publish_time)
        self._writer.flush()

    def channel(self, topic: str, typename: str, **about: str) -> int:
        """A topic that the source does not have."""
        if typename not in self._added:
            self._added[typename] = self._writer.register_schema(
                typename, "ros2msg", self._store.definition(typename)
            )
        channel: int = self._writer.register_channel(topic, "cdr", self._added[typename], about)
        return channel

    def write(self, messages: Iterable[tuple[int, int, bytes]]) -> None:
        """A chunk of other messages: channel, time (ns) and data."""
        for channel, time, data in messages:
            self._add(channel, time, data, time)
        self._writer.flush()

    def finish(self) -> None:
        """Write the index."""
        self._writer.finish()

    def _add(self, channel: int, time: int, data: bytes, published: int) -> None:
        self._sequence += 1
        self._writer.add_message(channel, time, data, published, self._sequence % SEQUENCES)
