"""What a bridge is: told of every control period, asked what its peers want.

A bridge never breaks a run. What a peer sends that nobody can use is counted and, where the
protocol has a way to say so, answered; a peer that does not listen loses messages.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from seatrial.engine.frames import Frames, RunHeader, RunSummary, Scene, VehicleState
from seatrial.signals import Command

MOST_WAITING = 1000
"""Requests of one bridge that wait to be heard; further ones are refused."""


@dataclass(frozen=True)
class Setting:
    """What a bridge is told before the first turn of a run."""

    header: RunHeader
    scene: Scene
    control_period: float
    """s."""
    limits: dict[str, dict[str, tuple[float, float]]]
    """By vehicle and channel the least and the largest order, SI."""


@dataclass(frozen=True)
class Turn:
    """What a bridge is told after every control period."""

    time: float
    """Now, s."""
    frames: Frames
    """Those that began since the last turn. The samples with them are those that arrived since."""
    vehicles: dict[str, VehicleState]
    """Every vehicle now."""


@dataclass(frozen=True)
class Order:
    """Tell a vehicle something."""

    vehicle: str
    command: Command


@dataclass(frozen=True)
class SetFault:
    """Strike a vehicle with a fault of its scenario, or call it off."""

    vehicle: str
    fault: str
    on: bool


@dataclass(frozen=True)
class Sea:
    """Waves to begin anew with."""

    significant_height: float
    """m."""
    peak_period: float
    """s."""


@dataclass(frozen=True)
class Control:
    """Stop, go on, make one step, or begin anew, perhaps in another sea."""

    do: Literal["pause", "resume", "step", "reset"]
    sea: Sea | None = None


Request = Order | SetFault | Control

Answer = Callable[[str], None]
"""Told why a request was refused, or nothing when it was done."""


class Bridge(ABC):
    """One way to speak to the world."""

    name: str
    """As in `seatrial run --NAME`."""
    paces = False
    """Whether every control period waits for an order of this bridge's peer."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """What went out (`sent`), came in (`heard`), and could not be used or delivered."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where peers find it, for people."""

    @abstractmethod
    def open(self, setting: Setting) -> None:
        """A run begins; called again after a reset."""

    def forget(self) -> None:  # noqa: B027 most bridges have nothing to forget
        """The first step follows: drop and count what peers who await no answer said while
        programs were compiled. Who has connected stays."""

    @abstractmethod
    def write(self, turn: Turn) -> None:
        """Tell the peers; never waits for them."""

    @abstractmethod
    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """What the peers asked for since the last time, oldest first; waits for at most so many
        seconds, of the wall clock, when there is nothing yet."""

    @abstractmethod
    def close(self, summary: RunSummary) -> None:
        """The run is over."""

    def drives(self) -> set[str]:
        """Vehicles that wait for an order of each control period when this bridge paces."""
        return set()

    def refuse(self, why: str) -> None:
        """Count what could not be used; the default answer to a request that was refused."""
        if why:
            self.counts["refused"] += 1
