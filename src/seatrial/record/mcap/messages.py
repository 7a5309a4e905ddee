"""Messages of a recording as numbers again, chunk by chunk."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import (
    ESTIMATE,
    Act,
    Frames,
    RunHeader,
    VehicleFrames,
    VehicleInfo,
    frames_of,
)
from seatrial.errors import RecordingError
from seatrial.record.dataset import assemble, build_dataset, labelled
from seatrial.record.lazy import Cache, LazyArray, as_variable
from seatrial.record.mcap.file import McapFile, Message, Place
from seatrial.record.source import Span
from seatrial.record.swarm.columns import Columns
from seatrial.ros.acts import ACTS_TOPIC, ACTS_TYPE, decode_act
from seatrial.ros.layout import Array, Layout, TypeStore
from seatrial.ros.loop_topics import frame_topics
from seatrial.ros.payloads import payload_layout
from seatrial.ros.sensor_topics import FAULT, payload_places, sensor_topics
from seatrial.ros.topics import CLOCK_TOPIC, Topic
from seatrial.signals import Measurements

if TYPE_CHECKING:
    import xarray

Times = NDArray[np.int64]

_KEPT_BYTES = 128 << 20
"""Decoded frames kept in memory at most, so that several variables share one reading."""
_KEPT_ARRAY_BYTES = 8 << 20
"""The same of the arrays of a dense sensor."""


@dataclass(frozen=True)
class Found:
    """The messages of one topic in a chunk."""

    logged: Times
    """(T,) ns."""
    stamps: Times
    """(T,) ns; as `logged` where the message has no stamp."""
    values: Array
    """(T, slots)."""


@dataclass
class McapSource:
    """Frames, samples and arrays in an MCAP file."""

    file: McapFile
    header: RunHeader
    namespaces: dict[str, str]

    def __post_init__(self) -> None:
        self._store = TypeStore()
        self._layouts: dict[str, Layout] = {}
        self._blocks = [p for p in self.file.places if p.counts.get(CLOCK_TOPIC)]
        counts = [place.counts[CLOCK_TOPIC] for place in self._blocks]
        self._edges = [0, *np.cumsum(counts).tolist()]
        """First frame of every block, and the number of all."""
        self._topics = {
            v.name: frame_topics(v, self.namespaces[v.name]) for v in self.header.vehicles
        }
        self._frames: Cache[Frames] = Cache(self._load_frames, _KEPT_BYTES)

    # ------------------------------------------------------------------ frames

    def dataset(self) -> "xarray.Dataset":
        """All frames; a variable reads the chunks that its part needs."""
        if len(self._blocks) < 2:
            return build_dataset(self.header, self._frames(0) if self._blocks else self._nothing)
        counts = [place.counts[CLOCK_TOPIC] for place in self._blocks]
        empty, columns = self._nothing, Columns(self.header)

        def lazy(name: str) -> "xarray.Variable":
            dims, values, attrs = labelled(name, columns, empty)

            def load(block: int) -> NDArray[Any]:
                return labelled(name, columns, self._frames(block))[1]

            return as_variable(dims, LazyArray(counts, values.shape[1:], values.dtype, load), attrs)

        return assemble(self.header, columns, self._times / 1e9, lazy)

    def parts(self) -> Iterator[slice]:
        """The frames of a chunk each."""
        for first, end in pairwise(self._edges):
            yield slice(first, end)

    @cached_property
    def _times(self) -> Times:
        """Of all frames, ns.

        A run's frames are evenly spaced: the first and the last chunk tell whether these are, and
        every chunk is held against it when it is read. Otherwise all chunks are read for it.
        """
        first, last = self._clock(0), self._clock(len(self._blocks) - 1)
        period = self.header.frame_period
        begin = int(np.rint(first[0] / 1e9 / period))
        even = np.rint((begin + np.arange(self._edges[-1])) * period * 1e9).astype(np.int64)
        if np.array_equal(even[: len(first)], first) and np.array_equal(even[-len(last) :], last):
            return even
        return np.concatenate([self._clock(block) for block in range(len(self._blocks))])

    def _clock(self, block: int) -> Times:
        found = self.file.read(self._blocks[block], {CLOCK_TOPIC})[CLOCK_TOPIC]
        return np.array([logged for logged, _ in found], np.int64)

    def _load_frames(self, block: int) -> tuple[Frames, int]:
        wanted = {t.name for some in self._topics.values() for t in some if t.unpack is not None}
        messages = self.file.read(self._blocks[block], wanted | {CLOCK_TOPIC})
        time_ns = np.array([logged for logged, _ in messages[CLOCK_TOPIC]], np.int64)
        if np.any(np.diff(time_ns) <= 0):
            raise self._refuse(CLOCK_TOPIC, "do not follow one another in time")
        if len(self._blocks) > 1:
            expected = self._times[self._edges[block] : self._edges[block + 1]]
            if not np.array_equal(time_ns, expected):
                raise self._refuse(CLOCK_TOPIC, "are not evenly spaced, unlike their neighbours")
        vehicles = {v.name: self._read_vehicle(v, messages, time_ns) for v in self.header.vehicles}
        size = sum(a.nbytes for v in vehicles.values() for a in vars(v).values())
        return frames_of(time_ns / 1e9, vehicles), size

    def _read_vehicle(
        self, vehicle: VehicleInfo, messages: dict[str, list[Message]], time_ns: Times
    ) -> VehicleFrames:
        """Numbers on the clock's times, NaN where the vehicle was silent."""
        none = np.empty((len(time_ns), 0))
        fields: dict[str, Array] = {"faults": none, "estimate": none, "guidance": none}
        for topic in self._topics[vehicle.name]:
            if topic.unpack is not None:
                found = self._decode(topic, messages.get(topic.name, []))
                values = np.full((len(time_ns), topic.slots), np.nan)
                rows = np.searchsorted(time_ns, found.logged)
                if not np.array_equal(time_ns[np.minimum(rows, len(time_ns) - 1)], found.logged):
                    raise self._refuse(topic.name, "belong to no frame of their chunk")
                values[rows] = found.values
                fields.update(topic.unpack(values))
        if vehicle.estimated:
            fields["estimate"] = np.hstack([fields.pop(f"estimate_{part}") for part in ESTIMATE])
        return VehicleFrames(**fields)

    @property
    def _nothing(self) -> Frames:
        """No frames."""
        never = np.empty(0, np.int64)
        silent = {v.name: self._read_vehicle(v, {}, never) for v in self.header.vehicles}
        return frames_of(never / 1e9, silent)

    def acts(self) -> tuple[Act, ...]:
        """What people did, in order."""
        found = []
        for place in self.file.places:
            if ACTS_TOPIC in place.counts:
                found += self.file.read(place, {ACTS_TOPIC})[ACTS_TOPIC]
        found.sort(key=lambda message: message[0])
        try:
            return tuple(decode_act(self._store, *message) for message in found)
        except (ValueError, KeyError, TypeError) as error:
            raise self._refuse(ACTS_TOPIC, f"are not {ACTS_TYPE} of ours ({error})") from None

    # ------------------------------------------------------------------ samples

    def samples(self, vehicle: str, sensor: str, span: Span) -> Iterator[Measurements]:
        """A sample is there when all of its messages are: a receiver without a fix, for example,
        has no velocity to tell, and a sample that was lost has a label only."""
        info = self._info(vehicle)
        topics = self._sample_topics(info)[sensor]
        components = next(s.components for s in info.sensors if s.name == sensor)
        for place in self.file.places:
            there = all(topic.name in place.counts for topic in topics)
            if not there or place.end < span[0] * 1e9:
                continue
            part = self._read_samples(place, topics, components)
            if not len(part.time):
                continue
            if part.time[0] > span[1]:  # none overtakes another on its way
                return
            yield part

    def counts(self) -> dict[tuple[str, str], int]:
        """Of messages, by the index; of a sensor's topics the one that has the fewest."""
        there: Counter[str] = Counter()
        for place in self.file.places:
            there.update(place.counts)
        found = {}
        for vehicle in self.header.vehicles:
            for sensor, topics in self._sample_topics(vehicle).items():
                found[vehicle.name, sensor] = min(there[topic.name] for topic in topics)
        return found

    def _sample_topics(self, vehicle: VehicleInfo) -> dict[str, list[Topic[Measurements]]]:
        """Of each sensor, those that its numbers are read from: others may not be there, in
        recordings of former versions."""
        every = sensor_topics(vehicle, self.namespaces[vehicle.name], self.header.datum)
        return {name: [t for t in some if t.unpack is not None] for name, some in every.items()}

    def _read_samples(
        self, place: Place, topics: list[Topic[Measurements]], components: tuple[str, ...]
    ) -> Measurements:
        messages = self.file.read(place, {topic.name for topic in topics})
        parts = [self._decode(topic, messages[topic.name]) for topic in topics]
        stamps = reduce(np.intersect1d, (part.stamps for part in parts))
        fields: dict[str, Array] = {FAULT: np.zeros(len(stamps))}
        for topic, part in zip(topics, parts, strict=True):
            assert topic.unpack is not None
            fields |= topic.unpack(part.values[_rows(part, stamps)])
        numbers = [fields[name] for name in components]
        return Measurements(
            time=stamps / 1e9,
            arrival=parts[0].logged[_rows(parts[0], stamps)] / 1e9,
            values=np.stack(numbers, axis=-1) if numbers else np.empty((len(stamps), 0)),
            valid=np.ones(len(stamps), np.bool_),
            fault=fields[FAULT].astype(np.int32),
        )

    # ------------------------------------------------------------------ arrays

    def payload(self, vehicle: str, sensor: str) -> LazyArray:
        """A row per valid sample; the rows of a chunk are read together."""
        info = self._info(vehicle)
        described = next(s for s in info.sensors if s.name == sensor)
        topic, frame = payload_places(info, self.namespaces[vehicle])[sensor]
        layout = payload_layout(self._store, described, frame)
        places = [place for place in self.file.places if topic in place.counts]
        counts = [place.counts[topic] for place in places]
        if not self.file.complete:  # the last arrays may be there without their numbers
            told = sum(len(p.time) for p in self.samples(vehicle, sensor, (-np.inf, np.inf)))
            counts = np.diff(np.minimum([0, *np.cumsum(counts)], told)).tolist()

        def load(block: int) -> tuple[NDArray[Any], int]:
            messages = self.file.read(places[block], {topic})[topic]
            if not all(layout.fits(data) for _, data in messages):
                raise self._refuse(topic, f"are not {layout.typename} of {layout.told()}")
            try:
                arrays = np.stack([layout.decode(data) for _, data in messages])
            except ValueError as error:
                raise self._refuse(topic, f"hold {error}") from None
            return arrays, arrays.nbytes

        assert described.payload is not None
        cache = Cache(load, _KEPT_ARRAY_BYTES)
        return LazyArray(counts, described.payload.shape, described.payload.dtype, cache)

    # ------------------------------------------------------------------

    def _info(self, vehicle: str) -> VehicleInfo:
        return next(v for v in self.header.vehicles if v.name == vehicle)

    def _decode(self, topic: Topic[Any], messages: list[Message]) -> Found:
        """Messages of a topic, or a refusal when they are not of its shape."""
        if topic.name not in self._layouts:
            layout = self._store.layout(topic.typename, topic.build, topic.slots)
            self._layouts[topic.name] = layout
        layout = self._layouts[topic.name]
        data = [message for _, message in messages]
        if any(len(message) != layout.size for message in data):
            raise self._refuse(topic.name, f"are not {topic.typename} of {layout.size} bytes each")
        logged = np.array([time for time, _ in messages], dtype=np.int64)
        stamps = logged if layout.stamp is None else layout.decode_stamps(data)
        return Found(logged, stamps, layout.decode(data))

    def _refuse(self, topic: str, what: str) -> RecordingError:
        return RecordingError(
            f"{self.file.path}: messages of {topic} {what}\n"
            "  expected: messages as this file's header describes them\n"
            "  to mend:  use the file as `seatrial run` wrote it"
        )


def _rows(part: Found, stamps: Times) -> NDArray[np.int64]:
    """Where the messages with these stamps are."""
    order = np.argsort(part.stamps, kind="stable")
    rows: NDArray[np.int64] = order[np.searchsorted(part.stamps, stamps, sorter=order)]
    return rows
