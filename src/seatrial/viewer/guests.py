"""Programs that come to the page's server beside the pages, hear the run and may steer it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from seatrial.engine.engine import Engine
from seatrial.engine.frames import Frames
from seatrial.signals import Command
from seatrial.viewer.messages import Request
from seatrial.viewer.roles import Role

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

Answer = Callable[[str], None]
"""Told why a request was refused, or nothing when it was done."""


@dataclass(frozen=True)
class Order:
    """What a program tells a vehicle: more than a page can ask for."""

    vehicle: str
    command: Command

    @property
    def value(self) -> dict[str, Any]:
        """As an act of a recording has it."""
        told: dict[str, Any] = {"vehicle": self.vehicle}
        if self.command.release:
            release = self.command.release
            told["release"] = release if release == "all" else sorted(release)
        if self.command.channels:
            told["channels"] = dict(self.command.channels)
        if self.command.setpoint is not None:
            asked = {k: v for k, v in vars(self.command.setpoint).items() if v is not None}
            place = asked.pop("waypoint", None)
            told["setpoint"] = asked | ({} if place is None else _named(place))
        return told


def _named(place: tuple[float, float]) -> dict[str, float]:
    return {"north": place[0], "east": place[1]}


class Guests(Protocol):
    """Everybody who is not a page. The stage's thread calls all but `serve`."""

    def begin(self, engine: Engine) -> None:
        """A run begins, or begins anew."""

    @property
    def counts(self) -> Counter[str]:
        """What was refused and dropped, sent and heard."""

    @property
    def present(self) -> bool:
        """Whether somebody listens: every control period is told then."""

    def tell(self, engine: Engine, frames: Frames) -> None:
        """The engine has gone on; these are the frames that began meanwhile."""

    def heard(self) -> list[tuple[Order | Request, str, Answer]]:
        """What was asked for, by which role, and who is to be told what became of it."""

    async def serve(self, socket: "WebSocket", role: Role) -> None:
        """One guest from its coming to its going; in the loop of the server."""
