"""Who may do what: a role for every link to the page.

In a drill the instructor changes the weather and breaks things; the trainee steers by instruments
and is told neither what was broken nor what the sea is like.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seatrial.viewer.messages import CLEAR, REQUESTS, STATE_HEAD, Event, Hello

RoleName = Literal["operator", "instructor", "trainee", "watcher"]

_STEERING = frozenset({"channels", "stick", "waypoint", "release"})

_HIDDEN = ("elevation", "current", "wind", "faults")
"""Parts of a state that no instrument shows."""

_HEAD = sum({"f8": 8, "u4": 4, "f4": 4}[kind] for kind in STATE_HEAD.values())


@dataclass(frozen=True)
class Role:
    """What a page may ask for, and what it is told."""

    name: RoleName
    may: frozenset[str]
    """Types of requests."""
    outside: bool = True
    """Whether it sees the sea, the bodies and what is broken."""

    def greeting(self, hello: Hello) -> Hello:
        """The greeting for a page of this role; a run that may only be watched stays so."""
        may = sorted(self.may & set(hello.may))
        told = hello.model_copy(
            update={"role": self.name, "may": may, "outside": self.outside, "control": bool(may)}
        )
        if self.outside:
            return told
        vehicles = [v.model_copy(update={"faults": []}) for v in hello.vehicles]
        hidden = {"waves": None, "weather": None, "visibility": CLEAR, "wind_speed": 0.0}
        return told.model_copy(update={"vehicles": vehicles, "bodies": [], **hidden})

    def may_hear(self, event: Event) -> bool:
        """Whether an event is told to it: who sees nothing outside hears of no fault, and of no
        act but its own."""
        return self.outside or event.kind == "event" or event.who == self.name


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        Role("operator", frozenset(REQUESTS)),
        Role("instructor", frozenset(REQUESTS)),
        Role("trainee", _STEERING, outside=False),
        Role("watcher", frozenset()),
    )
}


class Blinds:
    """States as they are told to pages that do not see outside."""

    def __init__(self, hello: Hello) -> None:
        shown = []
        for vehicle in hello.vehicles:
            for part in vehicle.fields:
                shown += [part.name not in _HIDDEN] * part.size
        self._shown = np.array(shown, bool)
        self._last: tuple[int, bytes] = (0, b"")

    def state(self, number: int, state: bytes) -> bytes:
        """The state without what no instrument shows, and without the bodies."""
        if self._last[0] != number:
            rows = np.frombuffer(state, "<f4", len(self._shown), _HEAD)
            hidden = np.where(self._shown, rows, np.float32(np.nan)).astype("<f4")
            self._last = number, state[:_HEAD] + hidden.tobytes()
        return self._last[1]
