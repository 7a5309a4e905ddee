"""One client of rosbridge: what it subscribed to, and what it says.

Operations: advertise, unadvertise, publish, subscribe, unsubscribe, call_service and fragment, in
JSON or CBOR; topics out with `throttle_rate`, `queue_length`, `fragment_size` and the compressions
`none`, `cbor` and `cbor-raw`. Everything else is answered with a status of level error.
"""

import json
import time as wall_clock
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from seatrial.bridges.clients import Session
from seatrial.bridges.rosbridge import cbor
from seatrial.ros.commands import MessageError
from seatrial.ros.layout import TypeStore
from seatrial.ros.plain import as_plain, from_plain

COMPRESSIONS = ("none", "cbor", "cbor-raw")
MOST_SUBSCRIPTIONS = 200
MOST_WISHES = 100
"""Of one client for one topic."""
MOST_QUEUED = 100
"""Messages of one subscription that wait for a client, however many it asks for."""
MOST_PARTS = 1000
MOST_PENDING = 8
"""Messages whose fragments are being put together."""
MOST_BYTES = 4 << 20
"""Of a message put together from fragments."""


class House(Protocol):
    """What a session belongs to."""

    topics: dict[str, str]
    """Type of every topic that may be subscribed to."""
    inputs: dict[str, str]
    """Type of every topic that may be published to."""
    kept: dict[str, bytes]
    """What was said once."""

    def take(self, topic: str, message: Any) -> None:
        """A message that a client published; raises MessageError."""

    def call(self, service: str, arguments: Any, answer: Callable[[bool, Any], None]) -> None:
        """A service that a client calls; raises MessageError."""


class AnsweredError(MessageError):
    """A call that was refused: its client waits for an answer, and has had it."""


@dataclass(frozen=True)
class Wish:
    """How a part of a client's program wants a topic; several may want the same one."""

    throttle: float
    """Shortest time between two messages, s."""
    fragment: int | None
    compression: str
    queue: int
    """Messages that wait for it."""


@dataclass
class Subscription:
    """A topic that a client wants. It is told each message once: as often, in as long a queue, in
    as small fragments and as tightly packed as any of the wishes asks for."""

    wishes: dict[str | None, Wish] = field(default_factory=dict)
    """By the `id` that it gave."""
    waiting: deque[bytes] = field(default_factory=deque)
    last: float = -1e9

    def wish(self, identity: str | None, wish: Wish) -> None:
        """One more, or another one in place of that of the same `id`."""
        self.wishes[identity] = wish
        self.waiting = deque(self.waiting, max(w.queue for w in self.wishes.values()))

    @property
    def throttle(self) -> float:
        """Shortest time between two messages, s."""
        return min(w.throttle for w in self.wishes.values())

    @property
    def fragment(self) -> int | None:
        """Characters of a part, None for whole messages."""
        return min((w.fragment for w in self.wishes.values() if w.fragment), default=None)

    @property
    def compression(self) -> str:
        """One of COMPRESSIONS."""
        return max((w.compression for w in self.wishes.values()), key=COMPRESSIONS.index)


class RosbridgeSession(Session):
    """One client."""

    def __init__(self, house: House, store: TypeStore) -> None:
        super().__init__()
        self._house, self._store = house, store
        self.subscriptions: dict[str, Subscription] = {}
        self.answers: deque[str | bytes] = deque(maxlen=MOST_QUEUED)
        self._parts: OrderedDict[str, dict[int, str]] = OrderedDict()
        self._binary = False
        self._fragments = 0

    # ── What it says ──────────────────────────────────────────────────────────────────────────

    def receive(self, data: str | bytes) -> str:
        """Take a message; why it could not be used, or nothing."""
        identity = None
        try:
            asked = _decoded(data)
            self._binary = isinstance(data, bytes)
            if not isinstance(asked, dict):
                raise MessageError("a message is an object")
            identity = _identity(asked)
            self._do(asked, identity)
        except AnsweredError as error:
            return str(error)
        except MessageError as error:
            self.answer({"op": "status", "level": "error", "msg": str(error), "id": identity})
            return str(error)
        return ""

    def _do(self, asked: dict[str, Any], identity: str | None) -> None:
        operation = asked.get("op")
        if operation == "subscribe":
            self._subscribe(asked, identity)
        elif operation == "unsubscribe":
            self._unsubscribe(_text(asked, "topic"), identity)
        elif operation == "advertise":
            self._input(_text(asked, "topic"), asked.get("type"))
        elif operation == "publish":
            topic = _text(asked, "topic")
            typename = self._input(topic, None)
            if "msg" not in asked:
                raise MessageError("`msg` is missing")
            self._house.take(topic, from_plain(self._store, typename, asked["msg"]))
        elif operation == "call_service":
            self._call(_text(asked, "service"), asked.get("args"), identity)
        elif operation == "fragment":
            self._fragment(asked)
        elif operation not in ("unadvertise", "set_level"):
            raise MessageError(f"there is no operation {str(operation)[:40]!r} here")

    def _subscribe(self, asked: dict[str, Any], identity: str | None) -> None:
        topic = _text(asked, "topic")
        typename = self._house.topics.get(topic)
        if typename is None:
            raise MessageError(f"there is no topic {topic[:80]!r}")
        _check_type(topic, typename, asked.get("type"))
        compression = asked.get("compression") or "none"
        if compression not in COMPRESSIONS:
            raise MessageError(f"there is no compression {str(compression)[:20]!r} here")
        fragment, queue = _whole(asked, "fragment_size", 0), _whole(asked, "queue_length", 0)
        made = Wish(
            1e-3 * _whole(asked, "throttle_rate", 0),
            max(fragment, 16) if fragment else None,
            compression,
            min(queue, MOST_QUEUED) or MOST_QUEUED,
        )
        wanted = self.subscriptions.get(topic)
        if wanted is None and len(self.subscriptions) >= MOST_SUBSCRIPTIONS:
            raise MessageError("too many subscriptions")
        if wanted is None or list(wanted.wishes) == [identity]:
            wanted = Subscription()
        if identity not in wanted.wishes and len(wanted.wishes) >= MOST_WISHES:
            raise MessageError("too many subscriptions")
        wanted.wish(identity, made)
        self.subscriptions[topic] = wanted
        if topic in self._house.kept:
            wanted.waiting.append(self._house.kept[topic])

    def _unsubscribe(self, topic: str, identity: str | None) -> None:
        """One part of the client's program, or without an `id` all of it, wants it no more."""
        wanted = self.subscriptions.get(topic)
        if wanted is not None:
            wanted.wishes.pop(identity, None)
            if identity is None or not wanted.wishes:
                del self.subscriptions[topic]

    def _input(self, topic: str, wanted: Any) -> str:
        typename = self._house.inputs.get(topic)
        if typename is None:
            raise MessageError(f"nobody listens on {topic[:80]!r}")
        _check_type(topic, typename, wanted)
        return typename

    def _call(self, service: str, arguments: Any, identity: str | None) -> None:
        def answer(done: bool, values: Any) -> None:
            response = {"op": "service_response", "service": service, "values": values}
            self.answer(response | {"result": done} | ({"id": identity} if identity else {}))

        try:
            self._house.call(service, arguments, answer)
        except MessageError as error:
            answer(False, str(error))
            raise AnsweredError(str(error)) from None

    def _fragment(self, asked: dict[str, Any]) -> None:
        identity, data = _text(asked, "id"), _text(asked, "data")
        number, total = _whole(asked, "num", -1), _whole(asked, "total", 0)
        if not 0 <= number < total <= MOST_PARTS:
            raise MessageError(f"a fragment has a number from 0 to below its total, {MOST_PARTS}")
        parts = self._parts.setdefault(identity, {})
        while len(self._parts) > MOST_PENDING:  # the oldest will never be whole
            self._parts.popitem(last=False)
        parts[number] = data
        if sum(map(len, parts.values())) > MOST_BYTES:
            self._parts.pop(identity, None)
            raise MessageError("the fragments of a message are too long")
        if len(parts) == total:
            self._parts.pop(identity, None)
            whole = _decoded("".join(parts[i] for i in range(total)))
            if not isinstance(whole, dict) or whole.get("op") == "fragment":
                raise MessageError("fragments of no message")
            self._do(whole, _identity(whole))

    @property
    def wanted(self) -> set[str]:
        """Topics that it subscribed to."""
        return set(self.subscriptions)

    @property
    def waits(self) -> bool:
        """Whether a throttled topic has something to tell later."""
        return any(s.waiting for s in self.subscriptions.values())

    # ── What it hears ─────────────────────────────────────────────────────────────────────────

    def answer(self, message: dict[str, Any]) -> None:
        """Something for this client alone."""
        self.answers.append(_encoded(message, self._binary))

    def deliver(self, topic: str, time: float, data: bytes) -> None:
        """A message of a topic, if it subscribed to it."""
        wanted = self.subscriptions.get(topic)
        if wanted is not None:
            self.dropped += len(wanted.waiting) == wanted.waiting.maxlen
            wanted.waiting.append(data)

    def outgoing(self) -> list[str | bytes]:
        """What is to be sent now."""
        found: list[str | bytes] = []
        while self.answers:
            found.append(self.answers.popleft())
        now = wall_clock.monotonic()
        for topic, wanted in list(self.subscriptions.items()):
            while wanted.waiting and now >= wanted.last + wanted.throttle:
                # With a throttle the newest counts; without one, everything.
                data = wanted.waiting.popleft()
                if wanted.throttle:
                    data = wanted.waiting.pop() if wanted.waiting else data
                    wanted.waiting.clear()
                    wanted.last = now
                found += self._published(topic, wanted, data)
        return found

    def _published(self, topic: str, wanted: Subscription, data: bytes) -> list[str | bytes]:
        typename = self._house.topics[topic]
        binary = wanted.compression != "none"
        body: Any
        if wanted.compression == "cbor-raw":
            seconds, rest = divmod(wall_clock.time_ns(), 1_000_000_000)
            body = {"secs": seconds, "nsecs": rest, "bytes": data}
        else:
            body = as_plain(self._store, typename, self._store.read(typename, data), binary)
        whole = _encoded({"op": "publish", "topic": topic, "msg": body}, binary)
        if wanted.fragment is None or isinstance(whole, bytes) or len(whole) <= wanted.fragment:
            return [whole]
        size, self._fragments = wanted.fragment, self._fragments + 1
        parts = [whole[i : i + size] for i in range(0, len(whole), size)]
        about = {"op": "fragment", "id": str(self._fragments), "total": len(parts)}
        return [json.dumps(about | {"num": i, "data": part}) for i, part in enumerate(parts)]


def _decoded(data: str | bytes) -> Any:
    if isinstance(data, bytes):
        return cbor.decoded(data)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MessageError("this is no JSON") from error


def _encoded(message: dict[str, Any], binary: bool) -> str | bytes:
    if binary:
        import cbor2

        return bytes(cbor2.dumps(message))
    return json.dumps(message, allow_nan=False)


def _identity(asked: dict[str, Any]) -> str | None:
    """The `id` that it gave; one that is no text is none."""
    given = asked.get("id")
    return given if isinstance(given, str) else None


def _text(asked: dict[str, Any], key: str) -> str:
    value = asked.get(key)
    if not isinstance(value, str) or not value:
        raise MessageError(f"`{key}` is a text")
    return value


def _whole(asked: dict[str, Any], key: str, otherwise: int) -> int:
    value = asked.get(key)
    if value is None:
        return otherwise
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise MessageError(f"`{key}` is a whole number, 0 or more")
    return value


def _check_type(topic: str, typename: str, wanted: Any) -> None:
    """`sensor_msgs/Imu` is the same as `sensor_msgs/msg/Imu`."""
    if wanted is None or wanted == "":
        return
    if not isinstance(wanted, str) or wanted.replace("/msg/", "/") != typename.replace(
        "/msg/", "/"
    ):
        raise MessageError(f"{topic} is of type {typename}")
