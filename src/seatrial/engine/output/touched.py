"""Events of contact: what a vehicle touched, where, and how hard."""

from dataclasses import dataclass, field

import numpy as np

from seatrial.engine.frames import Array, Event

MOST_TOUCHES = 20
"""Events that are kept of a vehicle: one that rubs along a wall in waves makes thousands."""
PAUSE = 5.0
"""Touches of the same thing with shorter pauses between them are one event, s."""


@dataclass
class _Touched:
    """A touch that is going on, or was."""

    time: float
    partner: int
    last: float
    """Time of the last frame that shows it."""
    impulse: float = 0.0
    force: float = -1.0
    place: list[float] = field(default_factory=list)

    def is_over(self, time: float, touched: bool, partner: int) -> bool:
        """Whether it has ended at a frame."""
        return partner != self.partner if touched else time > self.last + PAUSE

    def told(self, partner: str) -> str:
        """For people."""
        north, east, down = self.place
        return (
            f"touched {partner} at {north:.1f} m north, {east:.1f} m east, {down:.1f} m down: "
            f"{self.impulse:.3g} N s, {self.force:.3g} N at most"
        )


class Touches:
    """What vehicles touched: one event for touches of the same thing with short pauses."""

    def __init__(self, count: int, partners: dict[int, str]) -> None:
        self._partners = partners
        self._open: list[_Touched | None] = [None] * count
        self._closed: list[list[_Touched]] = [[] for _ in range(count)]

    def add(self, time: Array, contact: Array) -> None:
        """Take a block of frames, (T, N, 6)."""
        partner = np.rint(contact[..., 5]).astype(np.int64)
        touched = contact[..., 0] > 0.0
        going_on = np.array([touch is not None for touch in self._open])
        for i in np.flatnonzero(np.any(touched, axis=0) | going_on):
            for k, is_so in enumerate(touched[:, i]):
                now = self._open[i]
                if now is not None and now.is_over(float(time[k]), is_so, int(partner[k, i])):
                    if len(self._closed[i]) < MOST_TOUCHES:
                        self._closed[i].append(now)
                    now = None
                if is_so:
                    impulse, force, *place = contact[k, i, :5].tolist()
                    if now is None:
                        now = _Touched(float(time[k]), int(partner[k, i]), float(time[k]))
                    now.impulse += impulse
                    now.last = float(time[k])
                    if force > now.force:
                        now.force, now.place = force, place
                self._open[i] = now

    def events(self, vehicle: int) -> list[Event]:
        """Of one vehicle; the first `MOST_TOUCHES` of them."""
        last = self._open[vehicle]
        found = [*self._closed[vehicle], *([last] if last is not None else [])]
        return [
            Event(t.time, t.told(self._partners.get(t.partner, "something")), "touched", -1)
            for t in found[:MOST_TOUCHES]
        ]
