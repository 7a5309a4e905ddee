"""ROS 2 messages of a fixed shape, many at a time.

Serialising message by message in Python is too slow for a run that is computed a thousand times
faster than real time. Within one topic of ours only the stamp and some numbers change, so rosbags
serialises one template per topic with a recognisable number in every such field; where these
numbers are found is the layout, and NumPy fills all messages of a block at once. Numbers of one
byte are not recognisable: they are found as the bytes in which two templates differ.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seatrial.ros.definitions import register

Array = NDArray[np.float64]
Message: TypeAlias = Any
"""An instance of one of rosbags' generated message classes."""

_SLOT_PATTERN = 0x5A17_2A1E_5EA0_0000
_SHORT_PATTERN = 0x4C3B_9D00
_STAMP_PATTERN = (0x5EA0_2A1E, 0x5A17_5EA0)
_NANOSECONDS = 1_000_000_000
STAMP_BYTES = 8
"""Of a builtin_interfaces/Time."""


class MessageFactory:
    """Makes ROS 2 messages whose changing fields are still open."""

    def __init__(self, types: dict[str, type], byte: int = 0):
        self._types = types
        self._byte = byte
        self.slots: list[str] = []
        """NumPy type of every open field so far."""

    def make(self, typename: str, *fields: Any) -> Message:
        """A message of the given type, fields in the order of its definition."""
        return self._types[typename](*fields)

    def slot(self) -> float:
        """The next float64 that changes from message to message."""
        return self._open("<f8", struct.pack("<Q", _SLOT_PATTERN + len(self.slots)))

    def short_slot(self) -> float:
        """The same for a float32."""
        return self._open("<f4", struct.pack("<I", _SHORT_PATTERN + len(self.slots)))

    def byte_slot(self) -> int:
        """The same for an int8; several are asked for in the order of the message's fields."""
        self.slots.append("i1")
        return self._byte

    def _open(self, kind: str, pattern: bytes) -> float:
        self.slots.append(kind)
        return float(np.frombuffer(pattern, kind)[0])

    def xyz(self, typename: str) -> Message:
        """A vector or point with three open fields."""
        return self.make(typename, self.slot(), self.slot(), self.slot())

    def header(self, frame_id: str) -> Message:
        """A std_msgs/Header with an open stamp."""
        return self.make("std_msgs/msg/Header", self.stamp(), frame_id)

    def stamp(self) -> Message:
        """A builtin_interfaces/Time that is filled with the simulated time."""
        return self.make("builtin_interfaces/msg/Time", *_STAMP_PATTERN)


@dataclass(frozen=True)
class Layout:
    """Where the stamp and the changing numbers sit in the bytes of one topic's messages."""

    template: NDArray[np.uint8]
    stamp: int | None
    """Offset of the stamp; None for a message without one."""
    slots: tuple[tuple[int, str], ...]
    """Offset and NumPy type of each changing number."""

    @property
    def size(self) -> int:
        """Bytes of one message."""
        return len(self.template)

    @cached_property
    def _runs(self) -> list[tuple[slice, slice, str]]:
        """Slots of a type that follow each other: which, their bytes, and the type."""
        runs: list[tuple[slice, slice, str]] = []
        for i, (offset, kind) in enumerate(self.slots):
            slots, octets = slice(i, i + 1), slice(offset, offset + np.dtype(kind).itemsize)
            if runs and runs[-1][1].stop == offset and runs[-1][2] == kind:
                before = runs.pop()
                slots, octets = slice(before[0].start, i + 1), slice(before[1].start, octets.stop)
            runs.append((slots, octets, kind))
        return runs

    def encode(self, time_ns: NDArray[np.int64], values: Array) -> list[bytes]:
        """Messages of (T,) times and (T, slots) values."""
        count = len(time_ns)
        rows = np.tile(self.template, (count, 1))
        if self.stamp is not None:
            seconds = np.stack(np.divmod(time_ns, _NANOSECONDS), axis=-1).astype("<u4")
            rows[:, self.stamp : self.stamp + 8] = seconds.view(np.uint8)
        for slots, octets, kind in self._runs:
            numbers = np.ascontiguousarray(values[:, slots], kind)
            rows[:, octets] = numbers.view(np.uint8)
        data = rows.tobytes()
        return [data[i : i + self.size] for i in range(0, count * self.size, self.size)]

    def decode(self, messages: list[bytes]) -> Array:
        """(T, slots) values of messages that all have this layout's size."""
        rows = self._rows(messages)
        values = np.empty((len(messages), len(self.slots)))
        for slots, octets, kind in self._runs:
            values[:, slots] = np.ascontiguousarray(rows[:, octets]).view(kind)
        return values

    def decode_stamps(self, messages: list[bytes]) -> NDArray[np.int64]:
        """(T,) stamps of such messages, ns."""
        assert self.stamp is not None, "these messages have no stamp"
        rows = self._rows(messages)
        octets = np.ascontiguousarray(rows[:, self.stamp : self.stamp + STAMP_BYTES])
        seconds, rest = octets.view("<u4").astype(np.int64).T
        return np.asarray(seconds * _NANOSECONDS + rest)

    def _rows(self, messages: list[bytes]) -> NDArray[np.uint8]:
        return np.frombuffer(b"".join(messages), np.uint8).reshape(-1, self.size)


class TypeStore:
    """ROS 2 message definitions as rosbags ships them, and those of sonars."""

    def __init__(self) -> None:
        self._store = _known_types()

    def definition(self, typename: str) -> bytes:
        """The text of a type and of all types in it, in the `ros2msg` form that MCAP expects."""
        text: str = self._store.generate_msgdef(typename, ros_version=2)[0]
        return text.encode()

    def layout(
        self, typename: str, build: Callable[[MessageFactory], Message], slots: int
    ) -> Layout:
        """Serialise one message of `build` and find its open fields, `slots` in number."""
        factory = MessageFactory(self._store.types)
        data = self._serialise(typename, build(factory))
        if len(factory.slots) != slots:
            raise ValueError(f"{typename} has {len(factory.slots)} open fields, not {slots}")
        other = self._serialise(typename, build(MessageFactory(self._store.types, byte=1)))
        differing = [k for k, (one, two) in enumerate(zip(data, other, strict=True)) if one != two]
        offsets = []
        for i, kind in enumerate(factory.slots):
            if kind == "i1":
                offset = differing.pop(0)
            elif kind == "<f4":
                offset = _take(data, struct.pack("<I", _SHORT_PATTERN + i))
            else:
                offset = _take(data, struct.pack("<Q", _SLOT_PATTERN + i))
            offsets.append((offset, kind))
        stamp_bytes = struct.pack("<II", *_STAMP_PATTERN)
        stamp = _take(data, stamp_bytes) if stamp_bytes in data else None
        return Layout(np.frombuffer(bytes(data), np.uint8), stamp, tuple(offsets))

    def serialise(self, typename: str, build: Callable[[MessageFactory], Message]) -> bytes:
        """The bytes of one message."""
        return bytes(self._serialise(typename, build(MessageFactory(self._store.types))))

    @property
    def types(self) -> dict[str, type]:
        """rosbags' classes by name."""
        found: dict[str, type] = self._store.types
        return found

    def fields(self, typename: str) -> list[tuple[str, Any]]:
        """Names and definitions of a type's fields, as rosbags has them."""
        found: list[tuple[str, Any]] = self._store.fielddefs[typename][1]
        return found

    def make(self, typename: str, *fields: Any) -> Message:
        """A message, fields in the order of its definition."""
        return self._store.types[typename](*fields)

    def read(self, typename: str, data: bytes) -> Message:
        """A message out of its bytes; raises ValueError when they are none of this type."""
        try:
            return self._store.deserialize_cdr(data, typename)
        except Exception as error:  # rosbags raises whatever its generated code meets
            raise ValueError(f"these bytes are no {typename}") from error

    def stamp_place(self, message: bytes) -> int:
        """Where the open stamp of a message is."""
        return message.index(struct.pack("<II", *_STAMP_PATTERN))

    def short_place(self, message: bytes) -> int:
        """Where the first open float32 of a message is."""
        return message.index(struct.pack("<I", _SHORT_PATTERN))

    def _serialise(self, typename: str, message: Message) -> bytearray:
        return bytearray(self._store.serialize_cdr(message, typename))


def to_ns(seconds: float) -> int:
    """A time in whole nanoseconds."""
    return round(float(seconds) * 1e9)


def stamp_octets(time_ns: int) -> bytes:
    """A time as it stands in a message."""
    return struct.pack("<II", *divmod(time_ns, _NANOSECONDS))


@cache
def _known_types() -> Any:
    """One for the whole process: rosbags compiles code for every type that it meets."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    register(store)
    return store


def _take(data: bytearray, pattern: bytes) -> int:
    """Offset of the pattern, which is zeroed."""
    offset = data.index(pattern)
    data[offset : offset + len(pattern)] = bytes(len(pattern))
    return offset
