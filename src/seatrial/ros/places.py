"""Where the changing numbers of a topic's messages are: by the path of their fields."""

from typing import Any

from seatrial.ros.layout import MessageFactory, TypeStore
from seatrial.ros.topics import Topic

_MARK = 4096.0
"""Marks are this and the numbers after it: exact in every type of number but the bytes."""
_BYTE = 107


class _Marker(MessageFactory):
    """Leaves a mark in every open field."""

    def slot(self) -> float:
        self.slots.append("<f8")
        return _MARK + len(self.slots) - 1

    def short_slot(self) -> float:
        self.slots.append("<f4")
        return _MARK + len(self.slots) - 1

    def byte_slot(self) -> int:
        self.slots.append("i1")
        return _BYTE


def open_fields(store: TypeStore, topic: Topic[Any]) -> list[str]:
    """The path of each open field, for example `twist.twist.linear.x`, in the slots' order."""
    marker = _Marker(store.types)
    found: dict[int, str] = {}

    def look(kind: Any, value: Any, path: str) -> None:
        node, of = kind
        if node.name == "NAME":
            for name, inner in store.fields(of):
                look(inner, getattr(value, name), f"{path}.{name}" if path else name)
        elif node.name != "BASE":
            for i, one in enumerate(value):
                look(of[0], one, f"{path}[{i}]")
        elif of[0].startswith("float") and value >= _MARK:
            found[int(value - _MARK)] = path
        elif of[0] == "int8" and value == _BYTE:
            found[marker.slots.index("i1")] = path

    message = topic.build(marker)
    for name, kind in store.fields(topic.typename):
        look(kind, getattr(message, name), name)
    return [found[i] for i in range(len(marker.slots))]
