"""The recorder: a run as an MCAP file with ROS 2 messages.

The file holds simulated time only, so the same run gives the same bytes; and every block of
frames is a finished chunk on disk when `write` returns, so a killed run leaves a file that opens.

A message is logged at the time at which it is there: a frame at its own, a measurement when it
arrives. Messages of a block lie in that order. What arrives after the end of its block is written
with it all the same, for it must survive a kill, so the chunks of two blocks may overlap by the
latency; readers of MCAP put them in order by the index.

The arrays of dense sensors lie in chunks of their own, before those of their block: who reads the
frames of a recording that is full of pictures does not unpack the pictures.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BufferedRandom
from pathlib import Path
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Act, Frames, RunHeader, RunSummary, Scene, VehicleFrames
from seatrial.errors import RecordingError
from seatrial.record.lock import open_alone
from seatrial.record.mcap import description
from seatrial.ros.acts import ACTS_TOPIC, ACTS_TYPE, encode_act
from seatrial.ros.compressed import CompressedLayout
from seatrial.ros.layout import Array, Layout, Message, MessageFactory, TypeStore
from seatrial.ros.loop_topics import PATH_TYPE, build_path, frame_topics, path_topic
from seatrial.ros.payloads import PayloadLayout, check_payload, payload_layout
from seatrial.ros.sensor_topics import (
    KEPT_FOR_LATE_READERS,
    TF_STATIC_TOPIC,
    build_mountings,
    payload_places,
    sensor_names,
    sensor_topics,
)
from seatrial.ros.topics import (
    CLOCK_TOPIC,
    CLOCK_TYPE,
    TF_TYPE,
    Source,
    Topic,
    build_clock,
    namespaces,
)
from seatrial.signals import Measurements

_CHUNK_BYTES = 1 << 20
_BATCH_BYTES = 1 << 26  # encoded at once; bounds the memory when a whole run comes as one block
NEVER = 1 << 62  # chunk size at which mcap would close a chunk by itself, between two frames

SEQUENCES = 1 << 32  # an MCAP message has room for so many numbers; then they begin again

Times = NDArray[np.int64]
"""ns since the start."""
Logged = tuple[int, int, bytes]
"""Channel, time of logging (ns) and data of a message."""


@dataclass(frozen=True)
class _Stream(Generic[Source]):
    """A topic with its channel in this file."""

    topic: Topic[Source]
    layout: Layout
    channel: int


@dataclass(frozen=True)
class _Encoded:
    """Messages of one channel, and when they are logged."""

    channel: int
    times: Times
    messages: list[bytes]


class McapRecorder:
    """A sink that writes an MCAP file."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._clock = (Layout(np.empty(0, np.uint8), None, ()), 0)
        self._streams: dict[str, list[_Stream[VehicleFrames]]] = {}
        self._sensors: dict[str, dict[str, list[_Stream[Measurements]]]] = {}
        self._payloads: dict[tuple[str, str], tuple[PayloadLayout | CompressedLayout, int]] = {}
        """Layout and channel by vehicle and sensor."""
        self._store = TypeStore()
        self._acts: int | None = None
        """Channel of what people did, once somebody has done something."""
        self._bottoms = 0
        """Further parts of the map of the bottom so far."""
        self._frames_per_batch = 1
        self._sequence = 0
        self._file: BufferedRandom
        self._writer: Any  # mcap annotates only half of its writer

    def open(self, header: RunHeader, scene: Scene | None = None) -> None:
        """Create the file with everything that is known before the first frame."""
        from mcap.writer import Writer

        names = namespaces(header.vehicles)
        for vehicle in header.vehicles:  # refused before an older recording is replaced
            sensor_names(vehicle, names[vehicle.name])
            for sensor in vehicle.sensors:
                if sensor.payload is not None:
                    check_payload(sensor)
        try:
            self._file = open_alone(self.path)
            self._file.truncate(0)
            self._writer = Writer(self._file, chunk_size=NEVER)
            self._writer.start(profile="ros2", library=f"seatrial {header.version}")
            self._writer.add_metadata(description.METADATA, description.metadata(header))
            for name, media_type, data in description.attachments(header, names, scene):
                self._writer.add_attachment(0, 0, name, media_type, data)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._register(header, names)
        self._flush()

    def write(self, frames: Frames) -> None:
        """Write a block of frames; it survives a kill from here on."""
        time_ns = _to_ns(frames.time)
        self._write_bottom(frames)
        for start in range(0, len(time_ns), self._frames_per_batch):
            part = slice(start, start + self._frames_per_batch)
            span = _span(time_ns, part)
            self._write_messages(self._encode_payloads(frames, span), lambda channel: True)
            batch = [self._encode_clock(time_ns[part])]
            for name, vehicle in frames.vehicles.items():
                batch += _encode_frames(self._streams[name], time_ns[part], _cut(vehicle, part))
            for name, sensors in frames.measurements.items():
                for sensor, samples in sensors.items():
                    batch += _encode_samples(self._sensors[name][sensor], samples, span)
            batch += self._encode_acts(frames.acts, span)
            self._write_batch(batch)

    def close(self, summary: RunSummary) -> None:
        """Add the summary and the index."""
        try:
            self._writer.add_attachment(0, 0, *description.summary_attachment(summary))
            self._writer.finish()
            self._file.close()
        except OSError as error:
            raise self._cannot_write(error) from error

    def _write_bottom(self, frames: Frames) -> None:
        try:
            for part in frames.bottom:
                self._bottoms += 1
                attachment = description.bottom_attachment(self._bottoms, part)
                self._writer.add_attachment(0, 0, *attachment)
        except OSError as error:
            raise self._cannot_write(error) from error

    def _register(self, header: RunHeader, names: dict[str, str]) -> None:
        store = self._store
        schemas: dict[str, int] = {}
        channels: dict[str, int] = {}

        def channel(topic: str, typename: str, **about: str) -> int:
            if typename not in schemas:
                schemas[typename] = self._writer.register_schema(
                    typename, "ros2msg", store.definition(typename)
                )
            if topic not in channels:
                channels[topic] = self._writer.register_channel(
                    topic, "cdr", schemas[typename], about
                )
            return channels[topic]

        def stream(topic: Topic[Source]) -> _Stream[Source]:
            layout = store.layout(topic.typename, topic.build, topic.slots)
            return _Stream(topic, layout, channel(topic.name, topic.typename))

        clock = store.layout(CLOCK_TYPE, build_clock, 0)
        self._clock = (clock, channel(CLOCK_TOPIC, CLOCK_TYPE))
        frame_bytes = float(clock.size)
        for vehicle in header.vehicles:
            streams = [stream(t) for t in frame_topics(vehicle, names[vehicle.name])]
            frame_bytes += sum(s.layout.size for s in streams)
            self._streams[vehicle.name] = streams
            topics = sensor_topics(vehicle, names[vehicle.name], header.datum)
            sensors = {sensor: [stream(t) for t in some] for sensor, some in topics.items()}
            for info in vehicle.sensors:
                size = sum(s.layout.size for s in sensors[info.name])
                frame_bytes += size * info.rate * header.frame_period
            self._sensors[vehicle.name] = sensors
            for name, (topic, frame) in payload_places(vehicle, names[vehicle.name]).items():
                info = next(s for s in vehicle.sensors if s.name == name)
                payload = payload_layout(store, info, frame)
                place = payload, channel(topic, payload.typename)
                self._payloads[vehicle.name, name] = place
        self._frames_per_batch = max(1, int(_BATCH_BYTES / frame_bytes))

        def say_once(
            topic: str, typename: str, build: Callable[[MessageFactory], Message]
        ) -> _Encoded:
            start = np.zeros(1, np.int64)
            message = store.layout(typename, build, 0).encode(start, np.empty((1, 0)))
            kept = channel(topic, typename, offered_qos_profiles=KEPT_FOR_LATE_READERS)
            return _Encoded(kept, start, message)

        once = []
        if any(vehicle.sensors for vehicle in header.vehicles):
            once.append(
                say_once(
                    TF_STATIC_TOPIC, TF_TYPE, lambda f: build_mountings(f, header.vehicles, names)
                )
            )
        for vehicle in header.vehicles:
            if vehicle.legs:
                build = partial(build_path, legs=vehicle.legs)
                once.append(say_once(path_topic(names[vehicle.name]), PATH_TYPE, build))
        if once:
            self._write_batch(once)

    def _encode_clock(self, stamps: Times) -> _Encoded:
        layout, channel = self._clock
        return _Encoded(channel, stamps, layout.encode(stamps, np.empty((len(stamps), 0))))

    def _encode_acts(self, acts: tuple[Act, ...], span: tuple[float, float]) -> list[_Encoded]:
        """What was done in a span of time."""
        times = _to_ns(np.array([act.time for act in acts]))
        inside = np.flatnonzero((times >= span[0]) & (times < span[1])).tolist()
        if not inside:
            return []
        if self._acts is None:
            schema = self._writer.register_schema(
                ACTS_TYPE, "ros2msg", self._store.definition(ACTS_TYPE)
            )
            self._acts = self._writer.register_channel(ACTS_TOPIC, "cdr", schema, {})
        messages = [encode_act(self._store, acts[i]) for i in inside]
        return [_Encoded(self._acts, times[inside], messages)]

    def _encode_payloads(self, frames: Frames, span: tuple[float, float]) -> Iterator[Logged]:
        """The arrays of the samples taken in a span of time, one at a time, as they arrive.

        Those of one sensor keep the order in which they were taken.
        """
        taken = []
        for (vehicle, sensor), place in self._payloads.items():
            samples = frames.measurements[vehicle].get(sensor)
            if samples is not None and samples.payload is not None:
                stamps = _to_ns(samples.time)
                chosen = np.flatnonzero((stamps >= span[0]) & (stamps < span[1]) & samples.valid)
                arrival = np.maximum.accumulate(_to_ns(samples.arrival[chosen]))
                rows = zip(arrival.tolist(), chosen.tolist(), strict=True)
                taken += [(*row, samples, place) for row in rows]
        for arrival_ns, i, samples, (layout, channel) in sorted(taken, key=lambda t: t[0]):
            yield channel, arrival_ns, layout.encode(samples, i)

    def _write_batch(self, batch: list[_Encoded]) -> None:
        """Write messages in the order of their times, those of one time as they stand."""
        times = np.concatenate([e.times for e in batch])
        channels = np.repeat([e.channel for e in batch], [len(e.messages) for e in batch])
        messages = [message for e in batch for message in e.messages]
        order = np.argsort(times, kind="stable")
        ordered = (messages[i] for i in order.tolist())
        clock = self._clock[1]
        self._write_messages(
            zip(channels[order].tolist(), times[order].tolist(), ordered, strict=True),
            lambda channel: channel == clock,  # between two frames
        )

    def _write_messages(self, messages: Iterable[Logged], may_begin: Callable[[int], bool]) -> None:
        """Write messages in chunks; a message of a channel that `may_begin` one opens the next."""
        add: Callable[..., None] = self._writer.add_message
        size = 0
        for channel, time, data in messages:
            if size >= _CHUNK_BYTES and may_begin(channel):
                self._flush()
                size = 0
            self._sequence += 1
            size += len(data)
            add(channel, time, data, time, self._sequence % SEQUENCES)
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


def _to_ns(seconds: Array) -> Times:
    return np.rint(seconds * 1e9).astype(np.int64)


def _cut(vehicle: VehicleFrames, part: slice) -> VehicleFrames:
    return VehicleFrames(**{name: values[part] for name, values in vars(vehicle).items()})


def _span(frames: Times, part: slice) -> tuple[float, float]:
    """When samples were taken that go with a part of the frames of a block."""
    first = -np.inf if part.start == 0 else frames[part.start]
    return first, frames[part.stop] if part.stop < len(frames) else np.inf


def _encode_frames(
    streams: list[_Stream[VehicleFrames]], stamps: Times, vehicle: VehicleFrames
) -> list[_Encoded]:
    """Messages of the frames in which every number of the vehicle is finite.

    A vehicle that diverged falls silent: no NaN goes into a file.
    """
    packed = [stream.topic.pack(vehicle) for stream in streams]
    alive = np.logical_and.reduce([np.isfinite(values).all(axis=1) for values in packed])
    return [
        _Encoded(s.channel, stamps[alive], s.layout.encode(stamps[alive], values[alive]))
        for s, values in zip(streams, packed, strict=True)
    ]


def _encode_samples(
    streams: list[_Stream[Measurements]], samples: Measurements, span: tuple[float, float]
) -> list[_Encoded]:
    """Messages of the samples taken in a span of time, stamped then and logged on arrival."""
    stamps = _to_ns(samples.time)
    within = (stamps >= span[0]) & (stamps < span[1])
    stamps, samples = stamps[within], samples.cut(within)
    encoded = []
    for stream in streams:
        chosen = stream.topic.chosen
        wanted = samples.valid if chosen is None else chosen(samples)
        some = samples.cut(wanted)
        data = stream.layout.encode(stamps[wanted], stream.topic.pack(some))
        encoded.append(_Encoded(stream.channel, _to_ns(some.arrival), data))
    return encoded
