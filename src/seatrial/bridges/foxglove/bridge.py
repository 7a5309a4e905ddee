"""Foxglove as a bridge."""

from seatrial.bridges.foxglove.session import FoxgloveSession
from seatrial.bridges.websocket import WebSocketBridge


class FoxgloveBridge(WebSocketBridge):
    """All vehicles of a run, for Foxglove's app."""

    name = "foxglove"
    subprotocol = "foxglove.websocket.v1"
    origins = ("https://app.foxglove.dev",)

    def session(self) -> FoxgloveSession:
        """A new client."""
        return FoxgloveSession(self, self.store)
