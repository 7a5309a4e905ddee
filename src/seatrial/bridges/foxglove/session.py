"""One client of Foxglove's protocol: channels are ROS's topics, messages the bytes of recordings.

Texts are JSON, data is binary: to the client 0x01, the number of the subscription, the time in ns,
the message; or 0x02 and the time. From the client 0x01, the number of its channel, the message, in
CDR or JSON as its channel says.
"""

import json
import struct
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from seatrial.bridges.clients import Session
from seatrial.ros.commands import MessageError
from seatrial.ros.layout import TypeStore
from seatrial.ros.plain import from_plain
from seatrial.ros.topics import CLOCK_TOPIC

MOST_SUBSCRIPTIONS = 500
MOST_CHANNELS = 100
MOST_QUEUED = 100
"""Messages of one subscription that wait for a client."""
_DATA, _TIME = 1, 2
_ERROR = 2
"""Level of a status."""


class House(Protocol):
    """What a session belongs to."""

    topics: dict[str, str]
    inputs: dict[str, str]
    kept: dict[str, bytes]

    def take(self, topic: str, message: Any) -> None:
        """A message that a client published; raises MessageError."""


class FoxgloveSession(Session):
    """One client."""

    def __init__(self, house: House, store: TypeStore) -> None:
        super().__init__()
        self._house, self._store = house, store
        self._topics = list(house.topics)
        """The number of a channel is its place here."""
        self._subscribed: dict[str, dict[int, deque[tuple[float, bytes]]]] = {}
        """What waits, by topic and number of the subscription."""
        self._channels: dict[int, tuple[str, str]] = {}
        """Topic and encoding of the client's own channels."""
        self._time: float | None = None
        self._answers: deque[str | bytes] = deque(maxlen=MOST_QUEUED)
        self._say(
            op="serverInfo",
            name="seatrial",
            capabilities=["clientPublish", "time"],
            supportedEncodings=["cdr", "json"],
            metadata={},
        )
        self._say(
            op="advertise",
            channels=[
                {
                    "id": i,
                    "topic": topic,
                    "encoding": "cdr",
                    "schemaName": house.topics[topic],
                    "schemaEncoding": "ros2msg",
                    "schema": store.definition(house.topics[topic]).decode(),
                }
                for i, topic in enumerate(self._topics)
            ],
        )

    def _say(self, **message: Any) -> None:
        self._answers.append(json.dumps(message))

    @property
    def wanted(self) -> set[str]:
        """Topics that it subscribed to, and the clock."""
        return {CLOCK_TOPIC, *self._subscribed}

    # ── What it says ──────────────────────────────────────────────────────────────────────────

    def receive(self, data: str | bytes) -> str:
        """Take a message; why it could not be used, or nothing."""
        try:
            if isinstance(data, bytes):
                self._published(data)
            else:
                self._asked(data)
        except MessageError as error:
            self._say(op="status", level=_ERROR, message=str(error))
            return str(error)
        return ""

    def _asked(self, text: str) -> None:
        try:
            asked = json.loads(text)
        except (ValueError, RecursionError):
            raise MessageError("this is no JSON") from None
        doing: dict[Any, Callable[[dict[str, Any]], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "advertise": self._advertise,
            "unadvertise": self._unadvertise,
        }
        operation = asked.get("op") if isinstance(asked, dict) else None
        if not isinstance(operation, str) or operation not in doing:
            raise MessageError("there is no such operation here")
        doing[operation](asked)

    def _subscribe(self, asked: dict[str, Any]) -> None:
        for one in _objects(asked, "subscriptions"):
            number, channel = _whole(one, "id"), _whole(one, "channelId")
            if channel >= len(self._topics):
                raise MessageError(f"there is no channel {channel}")
            if sum(map(len, self._subscribed.values())) >= MOST_SUBSCRIPTIONS:
                raise MessageError("too many subscriptions")
            topic = self._topics[channel]
            waiting: deque[tuple[float, bytes]] = deque(maxlen=MOST_QUEUED)
            if topic in self._house.kept:
                waiting.append((self._time or 0.0, self._house.kept[topic]))
            self._subscribed = {**self._subscribed}  # read by the run's thread as a whole
            self._subscribed.setdefault(topic, {})[number] = waiting

    def _unsubscribe(self, asked: dict[str, Any]) -> None:
        gone = set(_numbers(asked, "subscriptionIds"))
        left = {
            topic: {n: waiting for n, waiting in some.items() if n not in gone}
            for topic, some in self._subscribed.items()
        }
        self._subscribed = {topic: some for topic, some in left.items() if some}

    def _advertise(self, asked: dict[str, Any]) -> None:
        for one in _objects(asked, "channels"):
            number, topic, encoding = _whole(one, "id"), one.get("topic"), one.get("encoding")
            if not isinstance(topic, str) or topic not in self._house.inputs:
                raise MessageError(f"nobody listens on {str(topic)[:80]!r}")
            if encoding not in ("cdr", "json"):
                raise MessageError(f"there is no encoding {str(encoding)[:20]!r} here")
            if len(self._channels) >= MOST_CHANNELS:
                raise MessageError("too many channels")
            self._channels[number] = (topic, str(encoding))

    def _unadvertise(self, asked: dict[str, Any]) -> None:
        for number in _numbers(asked, "channelIds"):
            self._channels.pop(number, None)

    def _published(self, data: bytes) -> None:
        if len(data) < 5 or data[0] != _DATA:
            raise MessageError("data begins with 1 and the number of a channel")
        (number,) = struct.unpack_from("<I", data, 1)
        if number not in self._channels:
            raise MessageError(f"channel {number} was not advertised")
        topic, encoding = self._channels[number]
        typename, payload = self._house.inputs[topic], data[5:]
        try:
            if encoding == "cdr":
                message = self._store.read(typename, payload)
            else:
                message = from_plain(self._store, typename, json.loads(payload))
        except MessageError:
            raise
        except (ValueError, RecursionError):
            raise MessageError(f"these bytes are no {typename}") from None
        self._house.take(topic, message)

    # ── What it hears ─────────────────────────────────────────────────────────────────────────

    def deliver(self, topic: str, time: float, data: bytes) -> None:
        """A message of a topic, if it subscribed to it; the clock is told as the time."""
        if topic == CLOCK_TOPIC:
            self._time = time
        for waiting in self._subscribed.get(topic, {}).values():
            self.dropped += len(waiting) == waiting.maxlen
            waiting.append((time, data))

    def outgoing(self) -> list[str | bytes]:
        """What is to be sent now."""
        found: list[str | bytes] = list(self._answers)
        self._answers.clear()
        for some in self._subscribed.values():
            for number, waiting in some.items():
                while waiting:
                    time, data = waiting.popleft()
                    found.append(struct.pack("<BIQ", _DATA, number, round(time * 1e9)) + data)
        if self._time is not None:
            found.append(struct.pack("<BQ", _TIME, round(self._time * 1e9)))
            self._time = None
        return found


def _objects(asked: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = asked.get(key)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise MessageError(f"`{key}` is a list of objects")
    return found


def _numbers(asked: dict[str, Any], key: str) -> list[int]:
    found = asked.get(key)
    if not isinstance(found, list) or not all(isinstance(one, int) for one in found):
        raise MessageError(f"`{key}` is a list of numbers")
    return found


def _whole(one: dict[str, Any], key: str) -> int:
    value = one.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 32:
        raise MessageError(f"`{key}` is a number")
    return value
