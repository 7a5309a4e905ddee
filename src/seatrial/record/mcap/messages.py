"""Messages of a recording as numbers again."""

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import RunHeader
from seatrial.errors import RecordingError
from seatrial.record.mcap.stream import Contents
from seatrial.ros.layout import Array, TypeStore
from seatrial.ros.sensor_topics import FAULT, sensor_topics
from seatrial.ros.topics import Topic
from seatrial.signals import Measurements

Times = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """The messages of one topic."""

    logged: Times
    """(T,) ns."""
    stamps: Times
    """(T,) ns; as `logged` where the message has no stamp."""
    values: Array
    """(T, slots)."""


def read_messages(path: Path, contents: Contents, store: TypeStore, topic: Topic[Any]) -> Found:
    """All messages of a topic, or a refusal when they are not of its shape."""
    layout = store.layout(topic.typename, topic.build, topic.slots)
    messages = contents.messages.get(topic.name, [])
    if any(len(m) != layout.size for m in messages):
        raise RecordingError(
            f"{path}: messages of {topic.name} do not have the layout of this file's header\n"
            f"  expected: {topic.typename} of {layout.size} bytes each\n"
            "  to mend:  use the file as `seatrial run` wrote it"
        )
    logged = np.array(contents.times.get(topic.name, []), dtype=np.int64)
    stamps = logged if layout.stamp is None else layout.decode_stamps(messages)
    return Found(logged, stamps, layout.decode(messages))


@dataclass(frozen=True)
class McapSamples:
    """The samples in a recording, decoded when they are asked for."""

    path: Path
    contents: Contents
    store: TypeStore
    header: RunHeader
    namespaces: dict[str, str]

    def read(self, vehicle: str, sensor: str) -> Measurements:
        """A sample is there when all of its messages are: a receiver without a fix, for example,
        has no velocity to tell, and a sample that was lost has a label only."""
        info = next(v for v in self.header.vehicles if v.name == vehicle)
        topics = sensor_topics(info, self.namespaces[vehicle], self.header.datum)[sensor]
        parts = [read_messages(self.path, self.contents, self.store, t) for t in topics]
        stamps = reduce(np.intersect1d, (part.stamps for part in parts))
        fields: dict[str, Array] = {FAULT: np.zeros(len(stamps))}
        for topic, part in zip(topics, parts, strict=True):
            if topic.unpack is not None:
                fields |= topic.unpack(part.values[_rows(part, stamps)])
        components = next(s.components for s in info.sensors if s.name == sensor)
        return Measurements(
            time=stamps / 1e9,
            arrival=parts[0].logged[_rows(parts[0], stamps)] / 1e9,
            values=np.stack([fields[name] for name in components], axis=-1),
            valid=np.ones(len(stamps), np.bool_),
            fault=fields[FAULT].astype(np.int32),
        )


def _rows(part: Found, stamps: Times) -> NDArray[np.int64]:
    """Where the messages with these stamps are."""
    order = np.argsort(part.stamps, kind="stable")
    rows: NDArray[np.int64] = order[np.searchsorted(part.stamps, stamps, sorter=order)]
    return rows
