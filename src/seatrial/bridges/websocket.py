"""A WebSocket at a port of its own: its server has a thread beside the run.

On loopback only those are let in who ask for it under a loopback name, and pages only that came
from there.
"""

import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from seatrial.bridges.bridge import Setting
from seatrial.bridges.clients import MOST_SESSIONS, Clients
from seatrial.bridges.lines import listening_stream
from seatrial.doors import door
from seatrial.engine.frames import RunSummary

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_MESSAGE = 1 << 20
"""Bytes of one message of a client."""


class WebSocketBridge(Clients):
    """All vehicles of a run at one WebSocket."""

    subprotocol: str | None = None
    origins: tuple[str, ...] = ()
    """Of pages from elsewhere that may come in all the same."""

    def __init__(
        self,
        port: int,
        host: str = "127.0.0.1",
        profile: str = "seatrial",
        drive: tuple[str, ...] = (),
    ) -> None:
        super().__init__(profile, drive)
        self._socket = listening_stream(host, port, MOST_SESSIONS)  # who comes early waits
        self._host = host
        self._server: Any = None
        self._thread = threading.Thread(
            target=lambda: self._server.run(sockets=[self._socket]), name=self.name, daemon=True
        )

    @property
    def place(self) -> str:
        """The address of the WebSocket."""
        host, port = self._socket.getsockname()[:2]
        return f"ws://{f'[{host}]' if ':' in host else host}:{port}"

    def open(self, setting: Setting) -> None:
        """Know the topics, and let clients in."""
        super().open(setting)
        if self._server is None:
            self._server = self._made()  # before its thread, so that whoever closes can end it
            self._thread.start()

    def close(self, summary: RunSummary) -> None:
        """End the server."""
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join(5.0)
        self._socket.close()

    def _made(self) -> Any:
        """The server."""
        import uvicorn
        from starlette.applications import Starlette
        from starlette.routing import WebSocketRoute

        app = Starlette(routes=[WebSocketRoute("/", self._knock)])
        config = uvicorn.Config(
            app,
            log_level="critical",
            ws_max_size=MOST_MESSAGE,
            ws_ping_interval=20.0,
            ws_ping_timeout=20.0,
            timeout_graceful_shutdown=1,
            **door(self._turned_away),
        )
        return uvicorn.Server(config)

    def _turned_away(self) -> None:
        self.counts["refused"] += 1

    def _admits(self, socket_: "WebSocket") -> bool:
        """Whether a client may come in (DNS rebinding)."""
        if self._host not in LOOPBACK:
            return True
        origin, host = socket_.headers.get("origin"), socket_.headers.get("host", "")
        try:
            here = urlsplit(f"//{host}").hostname in LOOPBACK
            own = origin is None or urlsplit(origin).hostname in LOOPBACK
        except ValueError:  # one of them is no address
            return False
        return here and (own or origin in self.origins)

    async def _knock(self, socket_: "WebSocket") -> None:
        offered = socket_.scope.get("subprotocols", [])
        speaks = self.subprotocol is None or self.subprotocol in offered
        if self._admits(socket_) and speaks:
            await self.serve(socket_, self.subprotocol)
        else:
            await self.turn_away(socket_)
