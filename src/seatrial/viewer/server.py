"""The server of the page: static files, and a WebSocket per page.

Programs that speak rosbridge come to the same port, at `/rosbridge`, by the same rules.
Without a token it listens on loopback only, and answers only those who ask for it under a loopback
name, so that no page from elsewhere reaches it by a name of its own (DNS rebinding); a WebSocket
must come from the page itself. Every page has its latest state sent when it has taken the one
before: one that is slow misses states, one that takes none for `PATIENCE` is dropped.
"""

import asyncio
import contextlib
import hmac
import math
import time as wall_clock
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from seatrial.doors import door
from seatrial.errors import Problem, SpecError
from seatrial.viewer.messages import (
    Channels,
    Recall,
    Refused,
    Release,
    Request,
    Reset,
    Seats,
    Stick,
    Watch,
    Waypoint,
    read_request,
)
from seatrial.viewer.roles import Blinds, Role
from seatrial.viewer.stage import Stage

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import HTTPConnection
    from starlette.websockets import WebSocket

Links = dict[str, Role]
"""Roles by token; one without a token is for those on this machine."""

STATIC = Path(__file__).parent / "static"
LOOPBACK = ("127.0.0.1", "localhost", "::1")

PATIENCE = 10.0
"""A page that takes no state for so long is dropped, s."""
MOST_VIEWERS = 200
MOST_TEXT = 8192
"""Characters of a page's request."""
MOST_MESSAGE = 1 << 20
"""Bytes of one message of anybody."""
SENSING = 0.1
"""Shortest time between two messages of the sensor that a page watches, s; a picture has twice."""
STATES_PER_SECOND = 2000.0
"""That all pages together are sent at most."""
SPARING = 5.0
"""By so much fewer while the run falls behind."""
REQUESTS_PER_SECOND, BURST = 40.0, 80.0
"""That a page may send on average, and at once."""

_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self' ws: wss:; "
    # The cell of a notebook, whose server has another port of this machine, or an editor.
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* vscode-webview:"
)


def require_page() -> None:
    """Refuse to go on when the page was not built."""
    if not (STATIC / "index.html").is_file():
        raise SpecError(
            Problem(
                "the page is not built in this installation",
                expected=f"{STATIC / 'index.html'}",
                mend="run `make web` in the checkout (it brings Node itself where there is none)",
            )
        )


class Viewer:
    """One page that is connected."""

    def __init__(self, socket: "WebSocket", role: Role) -> None:
        self.socket, self.role = socket, role
        self.refusals: deque[str] = deque(maxlen=20)
        """What this page is answered."""
        self.news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.watched = ("", "")
        """The vehicle and the sensor that it looks at."""
        self.watching = asyncio.Event()
        self.sending = asyncio.Lock()
        self._allowance, self._refilled = BURST, wall_clock.monotonic()

    def answer(self, text: str) -> None:
        """Refuse something that it asked for; from any thread."""
        self.refusals.append(text)
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self.news.set)

    def may_ask(self) -> bool:
        """Whether its allowance of requests is not used up (a token bucket)."""
        now = wall_clock.monotonic()
        gained = (now - self._refilled) * REQUESTS_PER_SECOND
        self._allowance, self._refilled = min(self._allowance + gained, BURST), now
        if self._allowance < 1.0:
            return False
        self._allowance -= 1.0
        return True


class House:
    """Everybody who watches one stage."""

    def __init__(self, stage: Stage, links: Links) -> None:
        self.stage, self.links = stage, links
        self.viewers: set[Viewer] = set()
        self._sticks: dict[str, Viewer] = {}
        """By vehicle the page that holds its stick out of the middle."""
        self._blinds = (stage.hello, Blinds(stage.hello))

    # ── Who may come in ───────────────────────────────────────────────────────────────────────

    def role_of(self, connection: "HTTPConnection") -> Role | None:
        """The role of whoever knocks: by the token of the link, or without one for those from this
        machine; nobody's who comes from a page of somebody else's."""
        host = connection.headers.get("host", "")
        try:
            origin = urlsplit(connection.headers.get("origin", f"//{host}")).netloc
            asked_for = urlsplit(f"//{host}").hostname
        except ValueError:  # neither is an address
            return None
        if origin != host:
            return None
        given = connection.query_params.get("token", "").encode()
        found = None
        for token, role in self.links.items():  # all of them, in the same time for any token
            if hmac.compare_digest(given, token.encode()):
                found = role
        if not given and asked_for not in LOOPBACK:
            return None
        return found

    # ── What they get ─────────────────────────────────────────────────────────────────────────

    def open(self) -> None:
        """Hear of what is new; called in the loop of the server."""
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._wake)

        self.stage.changed = wake

    def close(self) -> None:
        """Hear of nothing any more."""
        self.stage.changed = lambda: None

    def _wake(self) -> None:
        for viewer in self.viewers:
            viewer.news.set()

    async def serve(self, socket: "WebSocket") -> None:
        """One page from its coming to its going."""
        role = self.role_of(socket)
        if role is None:
            await self._turn_away(socket)
            return
        await socket.accept()
        if len(self.viewers) >= MOST_VIEWERS:
            await self._turn_away(socket, 1013, "too many viewers")
            return
        viewer = Viewer(socket, role)
        self.viewers.add(viewer)
        self._wake()
        try:
            sending = asyncio.create_task(self._send(viewer))
            hearing = asyncio.create_task(self._hear(viewer))
            sensing = asyncio.create_task(self._sense(viewer))
            tasks = {sending, hearing, sensing}
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self.viewers.discard(viewer)
            self._let_go(viewer)
            self._wake()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(socket.close(), 1.0)

    async def host(self, socket: "WebSocket") -> None:
        """A program that speaks rosbridge, by the rules of the page."""
        role, guests = self.role_of(socket), self.stage.guests
        if role is None or guests is None or not role.outside:
            await self._turn_away(socket)
        else:
            await guests.serve(socket, role)

    async def _turn_away(self, socket: "WebSocket", code: int = 1008, why: str = "") -> None:
        self.stage.counts["turned away"] += 1
        await socket.close(code, why)  # HTTP 403 where it was not accepted yet

    async def _send(self, viewer: Viewer) -> None:
        stage, socket, role = self.stage, viewer.socket, viewer.role
        number = told = seats = seed = 0
        sea, bottom = stage.sea[0], stage.bottom[0]
        while True:
            viewer.news.clear()
            hello = stage.hello
            if number == 0 or hello.seed != seed:  # another seed may have another world
                seed = hello.seed
                greeting = role.greeting(hello).model_dump_json()
                await self._give(viewer, socket.send_text(greeting))
            latest, state = stage.latest
            if latest != number:
                number = latest
                if not role.outside:
                    state = self._blinded(latest, state)
                await self._give(viewer, socket.send_bytes(state))
            if stage.sea[0] != sea:
                sea, changed = stage.sea
                if role.outside:
                    await self._give(viewer, socket.send_text(changed))
            if stage.bottom[0] != bottom:
                bottom, changed = stage.bottom
                if role.outside:
                    await self._give(viewer, socket.send_text(changed))
            missed = min(stage.told - told, len(stage.events))
            told = stage.told
            news = list(stage.events)[-missed:] if missed else []
            for event in filter(role.may_hear, news):
                await self._give(viewer, socket.send_text(event.model_dump_json()))
            while viewer.refusals:
                refused = Refused(text=viewer.refusals.popleft())
                await self._give(viewer, socket.send_text(refused.model_dump_json()))
            if len(self.viewers) != seats:
                seats = len(self.viewers)
                await self._give(viewer, socket.send_text(Seats(viewers=seats).model_dump_json()))
            # Many pages share what the server sends in a second, so that the run has its time.
            sparing = SPARING if stage.behind else 1.0
            await asyncio.sleep(sparing * len(self.viewers) / STATES_PER_SECOND)
            await viewer.news.wait()

    def _blinded(self, number: int, state: bytes) -> bytes:
        """A state for pages that do not see outside."""
        if self._blinds[0].vehicles is not self.stage.hello.vehicles:
            self._blinds = (self.stage.hello, Blinds(self.stage.hello))
        return self._blinds[1].state(number, state)

    async def _give(self, viewer: Viewer, sending: Any) -> None:
        async with viewer.sending:
            await _patiently(sending)

    async def _sense(self, viewer: Viewer) -> None:
        """Samples of the sensor that a page watches: no other ones, and not too often."""
        before, run, last = ("", ""), 0, -math.inf
        while True:
            await viewer.watching.wait()
            if (viewer.watched, self.stage.run) != (before, run):
                before, run, last = viewer.watched, self.stage.run, -math.inf
            told = await asyncio.to_thread(self.stage.samples, *before, last)
            if told is not None:
                last = told.times[-1]
                await self._give(viewer, viewer.socket.send_text(told.model_dump_json()))
            dense = told is not None and told.picture is not None
            await asyncio.sleep(2.0 * SENSING if dense else SENSING)

    async def _hear(self, viewer: Viewer) -> None:
        while True:
            received = await viewer.socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            text = received.get("text")
            if not viewer.may_ask():
                self._refuse(viewer, "too many requests; this one was not obeyed")
                await asyncio.sleep(1.0 / REQUESTS_PER_SECOND)  # not read, a flood stays with it
            elif text is None or len(text) > MOST_TEXT:
                self._refuse(viewer, "a request is JSON of a few hundred characters")
            else:
                try:
                    request = read_request.validate_json(text)
                except ValidationError as error:
                    first = error.errors(include_url=False, include_input=False)[0]
                    place = ".".join(str(part) for part in first["loc"])
                    self._refuse(viewer, f"{place}: {first['msg']}")
                else:
                    await self._take(viewer, request)

    async def _take(self, viewer: Viewer, request: Request) -> None:
        if isinstance(request, Watch):
            viewer.watched = (request.vehicle, request.sensor)
            (viewer.watching.set if request.sensor else viewer.watching.clear)()
        elif isinstance(request, Recall):
            told = await asyncio.to_thread(self.stage.history, request.vehicle)
            if told is not None:
                await self._give(viewer, viewer.socket.send_text(told.model_dump_json()))
        elif request.type not in viewer.role.may:
            self._refuse(viewer, f"the {viewer.role.name} may not ask for this: {request.type}")
        else:
            self._hold(viewer, request)
            self.stage.ask(request, viewer.answer, viewer.role.name)

    def _refuse(self, viewer: Viewer, why: str) -> None:
        self.stage.counts["refused"] += 1
        viewer.answer(why)

    def _hold(self, viewer: Viewer, request: Request) -> None:
        """Who holds which stick: the last who pushed it, until the vehicle is steered otherwise."""
        if isinstance(request, Stick) and (request.ahead or request.starboard or request.dive):
            self._sticks[request.vehicle] = viewer
        elif isinstance(request, Stick | Channels | Waypoint | Release):
            self._sticks.pop(request.vehicle, None)
        elif isinstance(request, Reset):
            self._sticks.clear()

    def _let_go(self, viewer: Viewer) -> None:
        """A page that is gone lets no key go any more: its sticks spring back."""
        for vehicle in [name for name, holder in self._sticks.items() if holder is viewer]:
            del self._sticks[vehicle]
            middle = Stick(type="stick", vehicle=vehicle, ahead=0.0, starboard=0.0)
            self.stage.ask(middle, viewer.answer, viewer.role.name)


async def _patiently(sending: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        await sending


def application(stage: Stage, links: Links) -> "Starlette":
    """The app that uvicorn runs."""
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import FileResponse, PlainTextResponse, Response
    from starlette.routing import Mount, Route, WebSocketRoute
    from starlette.staticfiles import StaticFiles

    house = House(stage, links)

    async def page(request: HttpRequest) -> Response:
        if house.role_of(request) is None:
            stage.counts["turned away"] += 1
            return PlainTextResponse("This page needs the link that the command printed.", 403)
        headers = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}
        return FileResponse(STATIC / "index.html", headers=headers)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        house.open()
        yield
        house.close()

    return Starlette(
        routes=[
            Route("/", page),
            WebSocketRoute("/ws", house.serve),
            WebSocketRoute("/rosbridge", house.host),
            Mount("/", StaticFiles(directory=STATIC, check_dir=False)),
        ],
        lifespan=life,
    )


def settings(stage: Stage) -> dict[str, Any]:
    """How uvicorn serves it."""

    def turned_away() -> None:
        stage.counts["turned away"] += 1

    return door(turned_away) | {
        "log_level": "error",
        "ws_max_size": MOST_MESSAGE,
        "ws_per_message_deflate": False,  # states are numbers that change: it would save little
        "ws_ping_interval": 20.0,
        "ws_ping_timeout": 20.0,
        "timeout_graceful_shutdown": 2,
    }
