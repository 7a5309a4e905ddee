"""rosbridge on the page's own server and port, by the page's rules: a desk for every role.

Topics, commands and services are those of `seatrial run --rosbridge`. What a client asks for is
asked of the page's stage, so that it is allowed or not by its role, and kept with the run's acts.
"""

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from seatrial.bridges import bridge
from seatrial.bridges.arrivals import Arrivals
from seatrial.bridges.bridge import Turn
from seatrial.bridges.clients import Clients
from seatrial.bridges.rosbridge.session import RosbridgeSession
from seatrial.bridging import setting_of
from seatrial.engine.engine import Engine
from seatrial.engine.frames import Frames, RunSummary
from seatrial.ros.commands import MessageError
from seatrial.viewer.guests import Answer, Order
from seatrial.viewer.messages import Request, read_request
from seatrial.viewer.roles import Role

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

STEERING = "channels"
"""The request of a page whose role may also order from a program."""


class Desk(Clients):
    """The clients of one role."""

    name = "rosbridge"

    def __init__(self, role: Role) -> None:
        super().__init__()
        self.role = role

    @property
    def place(self) -> str:
        """Beside the page."""
        return "/rosbridge"

    def session(self) -> RosbridgeSession:
        """A new client."""
        return RosbridgeSession(self, self.store)

    def close(self, summary: RunSummary) -> None:
        """The page's server ends, and its clients with it."""

    def ask(self, request: bridge.Request, answer: bridge.Answer) -> None:
        """Only what the role may ask for."""
        wanted = asked(request)
        kind = STEERING if isinstance(wanted, Order) else wanted.type
        if kind not in self.role.may:
            raise MessageError(f"the {self.role.name} may not ask for this: {kind}")
        super().ask(request, answer)


class RosbridgeGuests:
    """All desks of one page."""

    def __init__(self) -> None:
        self._desks: dict[str, Desk] = {}
        self._lock = threading.Lock()
        """Held while desks are set up: by the server's thread and by the stage's."""
        self._arrivals = Arrivals()

    def begin(self, engine: Engine) -> None:
        """Know the run; who is there already finds its topics again."""
        with self._lock:
            self._setting = setting_of(engine.plan)
            self._arrivals = Arrivals()
            for desk in self._desks.values():
                desk.open(self._setting)

    @property
    def counts(self) -> Counter[str]:
        """Of all desks."""
        return sum((desk.counts for desk in list(self._desks.values())), Counter())

    @property
    def present(self) -> bool:
        """Whether somebody is at a desk."""
        return any(desk.busy for desk in list(self._desks.values()))

    def tell(self, engine: Engine, frames: Frames) -> None:
        """Everything of the instant, and the samples that have arrived."""
        now = engine.time
        turn = Turn(now, self._arrivals.take(frames, now), engine.vehicles)
        for desk in list(self._desks.values()):
            desk.write(turn)

    def heard(self) -> list[tuple[Order | Request, str, Answer]]:
        """What the clients of all roles asked for."""
        return [
            (asked(request), desk.role.name, answer)
            for desk in list(self._desks.values())
            for request, answer in desk.heard(0.0)
        ]

    async def serve(self, socket: "WebSocket", role: Role) -> None:
        """One client, at the desk of its role."""
        with self._lock:
            desk = self._desks.get(role.name)
            if desk is None:
                desk = Desk(role)
                desk.open(self._setting)
                self._desks[role.name] = desk
        await desk.serve(socket)


def asked(request: bridge.Request) -> Order | Request:
    """A request of a bridge as one of a page; a MessageError says that a page refuses it."""
    if isinstance(request, bridge.Order):
        return Order(request.vehicle, request.command)
    wanted: dict[str, Any]
    if isinstance(request, bridge.SetFault):
        wanted = {"type": "fault", "vehicle": request.vehicle, "fault": request.fault}
        wanted["on"] = request.on
    elif request.sea is not None:
        height, period = request.sea.significant_height, request.sea.peak_period
        wanted = {"type": "weather", "wave_height": height, "wave_period": period}
    else:
        wanted = {"type": "play" if request.do == "resume" else request.do}
    try:
        return read_request.validate_python(wanted)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise MessageError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
