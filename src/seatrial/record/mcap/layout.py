"""ROS 2 messages of a fixed shape, many at a time.

Serialising message by message in Python is too slow for a run that is computed a thousand times
faster than real time. Within one topic of ours only the stamp and some float64 fields change, so
rosbags serialises one template per topic with a recognisable number in every such field; where
these numbers are found is the layout, and NumPy fills all messages of a block at once.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Message: TypeAlias = Any
"""An instance of one of rosbags' generated message classes."""

_SLOT_PATTERN = 0x5A17_2A1E_5EA0_0000
_STAMP_PATTERN = (0x5EA0_2A1E, 0x5A17_5EA0)
_NANOSECONDS = 1_000_000_000


class MessageFactory:
    """Makes ROS 2 messages whose changing fields are still open."""

    def __init__(self, types: dict[str, type], slots: int):
        self._types = types
        self._next = 0
        self._slots = slots

    def make(self, typename: str, *fields: Any) -> Message:
        """A message of the given type, fields in the order of its definition."""
        return self._types[typename](*fields)

    def slot(self) -> float:
        """The next float64 that changes from message to message."""
        pattern: float = struct.unpack("<d", struct.pack("<Q", _SLOT_PATTERN + self._next))[0]
        self._next += 1
        if self._next > self._slots:
            raise ValueError("message has more open fields than its topic declares")
        return pattern

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
    slots: tuple[int, ...]
    """Offset of each changing float64."""

    @property
    def size(self) -> int:
        """Bytes of one message."""
        return len(self.template)

    def encode(self, time_ns: NDArray[np.int64], values: Array) -> list[bytes]:
        """Messages of (T,) times and (T, slots) values."""
        count = len(time_ns)
        rows = np.tile(self.template, (count, 1))
        if self.stamp is not None:
            seconds = np.stack(np.divmod(time_ns, _NANOSECONDS), axis=-1).astype("<u4")
            rows[:, self.stamp : self.stamp + 8] = seconds.view(np.uint8)
        octets = np.ascontiguousarray(values, "<f8").view(np.uint8)
        for i, offset in enumerate(self.slots):
            rows[:, offset : offset + 8] = octets[:, 8 * i : 8 * i + 8]
        data = rows.tobytes()
        return [data[i : i + self.size] for i in range(0, count * self.size, self.size)]

    def decode(self, messages: list[bytes]) -> Array:
        """(T, slots) values of messages that all have this layout's size."""
        rows = np.frombuffer(b"".join(messages), np.uint8).reshape(-1, self.size)
        columns = [np.ascontiguousarray(rows[:, o : o + 8]).view("<f8")[:, 0] for o in self.slots]
        return np.stack(columns, axis=-1) if columns else np.empty((len(messages), 0))


class TypeStore:
    """ROS 2 message definitions as rosbags ships them."""

    def __init__(self) -> None:
        from rosbags.typesys import Stores, get_typestore

        self._store = get_typestore(Stores.ROS2_HUMBLE)

    def definition(self, typename: str) -> bytes:
        """The text of a type and of all types in it, in the `ros2msg` form that MCAP expects."""
        text: str = self._store.generate_msgdef(typename, ros_version=2)[0]
        return text.encode()

    def layout(
        self, typename: str, build: Callable[[MessageFactory], Message], slots: int
    ) -> Layout:
        """Serialise one message of `build` and find its open fields."""
        message = build(MessageFactory(self._store.types, slots))
        data = bytearray(self._store.serialize_cdr(message, typename))
        offsets = [_take(data, struct.pack("<Q", _SLOT_PATTERN + i)) for i in range(slots)]
        stamp_bytes = struct.pack("<II", *_STAMP_PATTERN)
        stamp = _take(data, stamp_bytes) if stamp_bytes in data else None
        return Layout(np.frombuffer(bytes(data), np.uint8), stamp, tuple(offsets))


def _take(data: bytearray, pattern: bytes) -> int:
    """Offset of the pattern, which is zeroed."""
    offset = data.index(pattern)
    data[offset : offset + len(pattern)] = bytes(len(pattern))
    return offset
