"""The recorder: a run as an MCAP file with ROS 2 messages.

The file holds simulated time only, so the same run gives the same bytes; and every block of
frames is a finished chunk on disk when `write` returns, so a killed run leaves a file that opens.
"""

from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import RecordingError
from seatrial.record.mcap import description
from seatrial.record.mcap.layout import Array, Layout, TypeStore
from seatrial.record.mcap.topics import (
    CLOCK_TOPIC,
    CLOCK_TYPE,
    Topic,
    build_clock,
    namespaces,
    vehicle_topics,
)
from seatrial.scenario.frames import Frames, RunHeader, RunSummary, VehicleFrames

_CHUNK_BYTES = 1 << 20
_BATCH_BYTES = 1 << 26  # encoded at once; bounds the memory when a whole run comes as one block
_NEVER = 1 << 62  # chunk size at which mcap would close a chunk by itself, between two frames


@dataclass(frozen=True)
class _Stream:
    """A topic with its channel in this file."""

    topic: Topic
    layout: Layout
    channel: int


class McapRecorder:
    """A sink that writes an MCAP file."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._clock = (Layout(np.empty(0, np.uint8), None, ()), 0)
        self._streams: dict[str, list[_Stream]] = {}
        self._frames_per_chunk = 1
        self._frames_per_batch = 1
        self._sequence = 0
        self._file: BufferedWriter
        self._writer: Any  # mcap annotates only half of its writer

    def open(self, header: RunHeader) -> None:
        """Create the file with everything that is known before the first frame."""
        from mcap.writer import Writer

        names = namespaces(header.vehicles)
        try:
            self._file = self.path.open("wb")
            self._writer = Writer(self._file, chunk_size=_NEVER)
            self._writer.start(profile="ros2", library=f"seatrial {header.version}")
            self._writer.add_metadata(description.METADATA, description.metadata(header))
            for name, media_type, data in description.attachments(header, names):
                self._writer.add_attachment(0, 0, name, media_type, data)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._register(header, names)
        self._flush()

    def write(self, frames: Frames) -> None:
        """Write a block of frames; it survives a kill from here on."""
        time_ns = np.rint(frames.time * 1e9).astype(np.int64)
        for start in range(0, len(time_ns), self._frames_per_batch):
            part = slice(start, start + self._frames_per_batch)
            cut = {name: _cut(vehicle, part) for name, vehicle in frames.vehicles.items()}
            self._write_batch(time_ns[part], cut)

    def close(self, summary: RunSummary) -> None:
        """Add the summary and the index."""
        try:
            self._writer.add_attachment(0, 0, *description.summary_attachment(summary))
            self._writer.finish()
            self._file.close()
        except OSError as error:
            raise self._cannot_write(error) from error

    def _register(self, header: RunHeader, names: dict[str, str]) -> None:
        store = TypeStore()
        schemas: dict[str, int] = {}
        channels: dict[str, int] = {}

        def channel(topic: str, typename: str) -> int:
            if typename not in schemas:
                schemas[typename] = self._writer.register_schema(
                    typename, "ros2msg", store.definition(typename)
                )
            if topic not in channels:
                channels[topic] = self._writer.register_channel(topic, "cdr", schemas[typename])
            return channels[topic]

        clock = store.layout(CLOCK_TYPE, build_clock, 0)
        self._clock = (clock, channel(CLOCK_TOPIC, CLOCK_TYPE))
        frame_bytes = clock.size
        for vehicle in header.vehicles:
            streams = []
            for topic in vehicle_topics(vehicle, names[vehicle.name]):
                layout = store.layout(topic.typename, topic.build, topic.slots)
                streams.append(_Stream(topic, layout, channel(topic.name, topic.typename)))
                frame_bytes += layout.size
            self._streams[vehicle.name] = streams
        self._frames_per_chunk = max(1, _CHUNK_BYTES // frame_bytes)
        self._frames_per_batch = max(1, _BATCH_BYTES // frame_bytes)

    def _write_batch(self, stamps: NDArray[np.int64], vehicles: dict[str, VehicleFrames]) -> None:
        clock, clock_channel = self._clock
        ticks = clock.encode(stamps, np.empty((len(stamps), 0)))
        encoded = [
            _encode(streams, stamps, vehicles[name]) for name, streams in self._streams.items()
        ]
        add = self._writer.add_message
        for i, stamp in enumerate(stamps.tolist()):
            self._sequence += 1
            add(clock_channel, stamp, ticks[i], stamp, self._sequence)
            for alive, messages in encoded:
                if alive[i]:
                    for channel, data in messages:
                        add(channel, stamp, data[i], stamp, self._sequence)
            if (i + 1) % self._frames_per_chunk == 0:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        try:
            self._writer.flush()
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> RecordingError:
        return RecordingError(
            f"{self.path}: cannot write the recording ({error.strerror or error})\n"
            "  expected: a file in a folder that exists, is writable and has space\n"
            "  to mend:  choose another place with --out FILE.mcap"
        )


def _cut(vehicle: VehicleFrames, part: slice) -> VehicleFrames:
    return VehicleFrames(**{name: values[part] for name, values in vars(vehicle).items()})


def _encode(
    streams: list[_Stream], stamps: NDArray[np.int64], vehicle: VehicleFrames
) -> tuple[NDArray[np.bool_], list[tuple[int, list[bytes]]]]:
    """In which frames every number of the vehicle is finite, and its messages per channel.

    A vehicle that diverged falls silent: no NaN goes into a file.
    """
    alive = np.ones(len(stamps), dtype=np.bool_)
    messages = []
    for stream in streams:
        values: Array = stream.topic.pack(vehicle)
        alive &= np.isfinite(values).all(axis=1)
        messages.append((stream.channel, stream.layout.encode(stamps, values)))
    return alive, messages
