"""rosbridge as a bridge."""

from seatrial.bridges.rosbridge.session import RosbridgeSession
from seatrial.bridges.websocket import WebSocketBridge


class RosbridgeBridge(WebSocketBridge):
    """All vehicles of a run, for roslibjs and roslibpy."""

    name = "rosbridge"

    def session(self) -> RosbridgeSession:
        """A new client."""
        return RosbridgeSession(self, self.store)
