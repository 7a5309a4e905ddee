"""Where the changing numbers of a topic's messages are: by the path of their fields."""

from typing import Any

from seatrial.ros.layout import MessageFactory, TypeStore
from seatrial.ros.topics import Topic

_SHIFT = 64
"""Between the marks of one message and of another; both are exact in every type of number."""


class _Marker(MessageFactory):
    """Leaves a mark in every open field: its number among them, shifted."""

    def __init__(self, types: dict[str, type], shift: int) -> None:
        super().__init__(types)
        self._shift = shift

    def slot(self) -> float:
        return float(self._marked("<f8"))

    def short_slot(self) -> float:
        return float(self._marked("<f4"))

    def byte_slot(self) -> int:
        return self._marked("i1")

    def _marked(self, kind: str) -> int:
        self.slots.append(kind)
        return len(self.slots) - 1 + self._shift


def open_fields(store: TypeStore, topic: Topic[Any]) -> list[str]:
    """The path of each open field, for example `twist.twist.linear.x`, in the slots' order.

    They are those by which two messages with other marks differ: whatever number a field may always
    have, it has it in both.
    """
    marker = _Marker(store.types, 0)
    found: dict[int, str] = {}

    def look(kind: Any, value: Any, other: Any, path: str) -> None:
        node, of = kind
        if node.name == "NAME":
            for name, inner in store.fields(of):
                place = f"{path}.{name}" if path else name
                look(inner, getattr(value, name), getattr(other, name), place)
        elif node.name != "BASE":
            for i, (one, same) in enumerate(zip(value, other, strict=True)):
                look(of[0], one, same, f"{path}[{i}]")
        elif of[0] != "string" and other - value == _SHIFT:
            found[int(value)] = path

    message, other = topic.build(marker), topic.build(_Marker(store.types, _SHIFT))
    for name, kind in store.fields(topic.typename):
        look(kind, getattr(message, name), getattr(other, name), name)
    return [found[i] for i in range(len(marker.slots))]
