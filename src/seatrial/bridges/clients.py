"""Clients that speak of ROS's topics on WebSockets, whoever's server lets them in.

A session is one client; what it subscribed to waits for it in a queue of bounded length. The run
has a thread and the server another one.
"""

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from seatrial.bridges.bridge import MOST_WAITING, Answer, Bridge, Request, Setting, Turn
from seatrial.bridges.steering import CONTROLS, SEA, Steering, control, other_sea
from seatrial.ros.commands import MessageError
from seatrial.ros.layout import TypeStore
from seatrial.ros.profiles import profile_of
from seatrial.ros.streams import Streams

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

MOST_SESSIONS = 32
PATIENCE = 10.0
"""A client that takes nothing for so long is dropped, s."""
TICK = 0.01
"""How often clients whose topics are throttled are looked at, s."""


class Session(ABC):
    """One client."""

    def __init__(self) -> None:
        self.dropped = 0
        """Messages that it did not take in time."""

    @property
    @abstractmethod
    def wanted(self) -> set[str]:
        """Topics that it subscribed to."""

    @abstractmethod
    def receive(self, data: str | bytes) -> str:
        """Take a message; why it could not be used, or nothing."""

    @abstractmethod
    def deliver(self, topic: str, time: float, data: bytes) -> None:
        """A message of a topic, if it subscribed to it."""

    @abstractmethod
    def outgoing(self) -> list[str | bytes]:
        """What is to be sent now."""

    @property
    def waits(self) -> bool:
        """Whether something is to be sent later."""
        return False


class Clients(Bridge):
    """All vehicles of a run, for clients that a server lets in."""

    @abstractmethod
    def session(self) -> Session:
        """A new client."""

    def __init__(self, profile: str = "seatrial", drive: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._profile, self._drive = profile_of(profile), drive
        self._inbox: deque[tuple[Request, Answer]] = deque()
        self._arrived = threading.Event()
        self._sessions: set[Session] = set()
        self._wake: dict[Session, asyncio.Event] = {}
        self.store = TypeStore()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.topics: dict[str, str] = {}
        self.inputs: dict[str, str] = {}
        self.kept: dict[str, bytes] = {}

    # ── The run's side ────────────────────────────────────────────────────────────────────────

    def open(self, setting: Setting) -> None:
        """Know the topics."""
        self._streams = Streams(setting.header, self._profile)
        self._steering = Steering(setting, self._streams.namespaces, self._profile)
        self._vehicles = {v.name for v in setting.header.vehicles}
        self.topics = {name: typename for name, (typename, _) in self._streams.topics.items()}
        self.inputs = self._steering.topics
        self.kept = dict(self._streams.latched)
        self._under_way: list[Request] = []

    def drives(self) -> set[str]:
        """Those named, or all."""
        return set(self._drive) or self._vehicles

    def write(self, turn: Turn) -> None:
        """Hand what somebody wants to the server's thread."""
        self._under_way += self._steering.underway(turn)
        wanted = {topic for session in list(self._sessions) for topic in session.wanted}
        if wanted and self._loop is not None:
            messages = self._streams.messages(turn.time, turn.frames, turn.vehicles)
            said = [(topic, data) for topic, data in messages if topic in wanted]
            self.counts["sent"] += len(said)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._deliver, turn.time, said)

    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """What clients asked for."""
        found: list[tuple[Request, Answer]] = [(r, self.refuse) for r in self._under_way]
        self._under_way = []
        if not found and not self._inbox and wait > 0.0:
            self._arrived.wait(wait)
        self._arrived.clear()
        while self._inbox:
            found.append(self._inbox.popleft())
        return found

    @property
    def busy(self) -> bool:
        """Whether there are clients."""
        return bool(self._sessions)

    # ── The clients' side, in the server's thread ─────────────────────────────────────────────

    def take(self, topic: str, message: Any) -> None:
        """A message that a client published."""
        request = self._steering.request(topic, message)
        if request is not None:
            self.ask(request, self.refuse)

    def call(self, service: str, arguments: Any, answer: Callable[[bool, Any], None]) -> None:
        """`/simulation/pause` and so on, and `/rosapi/topics`."""
        word = service.removeprefix("/simulation/")
        if service == "/rosapi/topics":
            answer(True, {"topics": list(self.topics), "types": list(self.topics.values())})
        elif service != word and word in (*CONTROLS, SEA):
            if word != SEA and arguments:
                raise MessageError(f"{service} takes no `args`")
            request = _sea(arguments) if word == SEA else control(word)
            loop = asyncio.get_running_loop()

            def done(why: str) -> None:
                self.refuse(why)
                values = {"success": not why, "message": why}
                loop.call_soon_threadsafe(self._answered, answer, values)

            self.ask(request, done)
        else:
            raise MessageError(f"there is no service {service[:80]!r}")

    def _answered(self, answer: Callable[[bool, Any], None], values: dict[str, Any]) -> None:
        answer(True, values)
        self._wake_all()

    def ask(self, request: Request, answer: Answer) -> None:
        """Put it to the run; raises MessageError."""
        if len(self._inbox) >= MOST_WAITING:
            self.counts["dropped"] += 1
            raise MessageError("too many requests wait already")
        self.counts["heard"] += 1
        self._inbox.append((request, answer))
        self._arrived.set()

    def _deliver(self, time: float, said: list[tuple[str, bytes]]) -> None:
        for session in self._sessions:
            for topic, data in said:
                session.deliver(topic, time, data)
        self._wake_all()

    def _wake_all(self) -> None:
        for event in self._wake.values():
            event.set()

    async def serve(self, socket_: "WebSocket", subprotocol: str | None = None) -> None:
        """One client from its coming to its going; who may come in the server has decided."""
        self._loop = asyncio.get_running_loop()
        if len(self._sessions) >= MOST_SESSIONS:
            await self.turn_away(socket_)
            return
        await socket_.accept(subprotocol)
        session, wake = self.session(), asyncio.Event()
        self._sessions.add(session)
        self._wake[session] = wake
        try:
            tasks = {
                asyncio.create_task(self._hear(socket_, session, wake)),
                asyncio.create_task(self._tell(socket_, session, wake)),
            }
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self.counts["dropped"] += session.dropped
            self._sessions.discard(session)
            self._wake.pop(session, None)
            with contextlib.suppress(Exception):
                await asyncio.wait_for(socket_.close(), 1.0)

    async def turn_away(self, socket_: "WebSocket") -> None:
        """Somebody may not come in."""
        self.counts["refused"] += 1
        await socket_.close(1008)

    async def _hear(self, socket_: "WebSocket", session: Session, wake: asyncio.Event) -> None:
        while True:
            received = await socket_.receive()
            if received["type"] == "websocket.disconnect":
                return
            data = received.get("text")
            why = session.receive(received.get("bytes") or b"" if data is None else data)
            if why:
                self.counts["refused"] += 1
            wake.set()

    async def _tell(self, socket_: "WebSocket", session: Session, wake: asyncio.Event) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(wake.wait(), TICK if session.waits else None)
            wake.clear()
            for message in session.outgoing():
                if isinstance(message, str):
                    await asyncio.wait_for(socket_.send_text(message), PATIENCE)
                else:
                    await asyncio.wait_for(socket_.send_bytes(message), PATIENCE)


def _sea(arguments: Any) -> Request:
    """What `set_sea_state` is asked for."""
    names = ("significant_height", "peak_period")
    known = arguments if isinstance(arguments, dict) else {}
    given: list[Any] = [known.get(name) for name in names]
    if set(known) - set(names) or not all(
        isinstance(x, int | float) and not isinstance(x, bool) for x in given
    ):
        raise MessageError(f"`args` are {' and '.join(names)}, numbers")
    height, period = given
    return other_sea(height, period)
