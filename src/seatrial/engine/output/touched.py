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

    def __init__(self, partners: dict[int, str]) -> None:
        self._partners = partners
        self._open: dict[tuple[int, int], _Touched] = {}
        """By vehicle, and whether other vehicles are touched or what stands around."""
        self._closed: dict[tuple[int, int], list[_Touched]] = {}

    def add(self, time: Array, contact: Array) -> None:
        """Take a block of frames, as `assembly.Block` says."""
        apart = contact.reshape(*contact.shape[:2], -1, 6)
        touched = np.any(apart[..., 0] > 0.0, axis=0)
        for i, kind in sorted({*self._open, *map(tuple, np.argwhere(touched).tolist())}):
            self._follow((i, kind), time, apart[:, i, kind])

    def _follow(self, which: tuple[int, int], time: Array, contact: Array) -> None:
        """Take a block of frames, (T, 6), of one vehicle."""
        closed = self._closed.setdefault(which, [])
        for at, (impulse, force, *place, named) in zip(
            time.tolist(), contact.tolist(), strict=True
        ):
            touched, partner, now = impulse > 0.0, round(named), self._open.get(which)
            if now is not None and now.is_over(at, touched, partner):
                if len(closed) < MOST_TOUCHES:
                    closed.append(now)
                del self._open[which]
                now = None
            if touched:
                now = self._open.setdefault(which, now or _Touched(at, partner, at))
                now.impulse += impulse
                now.last = at
                if force > now.force:
                    now.force, now.place = force, place

    def events(self, vehicle: int) -> list[Event]:
        """Of one vehicle; the first `MOST_TOUCHES` of them."""
        over = [
            touch for (i, _), all_of in self._closed.items() if i == vehicle for touch in all_of
        ]
        going_on = [touch for (i, _), touch in self._open.items() if i == vehicle]
        found = sorted([*over, *going_on], key=lambda touch: touch.time)
        return [
            Event(t.time, t.told(self._partners.get(t.partner, "something")), "touched", -1)
            for t in found[:MOST_TOUCHES]
        ]
