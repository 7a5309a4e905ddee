"""What a run knew of its bottom, time by time: of a map the part that was loaded then."""

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Array, Event
from seatrial.engine.loaded import LEFT, Loaded, Moved
from seatrial.engine.plan import Plan
from seatrial.geometry.terrain import Terrain
from seatrial.ocean.seabed import Seabed, under


class Known:
    """The bottom of a run, and who has left what is known of it."""

    def __init__(self, plan: Plan) -> None:
        self._flat: Seabed | None = plan.fleets[0].ocean.seabed
        self._parts: list[Moved] = []
        if plan.loaded is not None:
            self._parts.append(Moved(-np.inf, plan.loaded))

    def move(self, moved: Moved) -> None:
        """Another part is loaded."""
        self._parts.append(moved)

    def forget(self, time: float) -> None:
        """Parts that others had taken the place of by then."""
        while len(self._parts) > 1 and self._parts[1].time <= time:
            del self._parts[0]

    def under(self, x: float, y: float) -> float:
        """Depth of the bottom under a place now, m, in a world that has one."""
        if self._parts:
            return float(self._parts[-1].loaded.part.at(x, y))
        assert self._flat is not None
        return float(under(self._flat, x, y))

    def left(
        self, time: Array, position: Array, alive: NDArray[np.bool_]
    ) -> dict[tuple[int, str], Event]:
        """What is told of vehicles at `position` (T, N, 3) that are not over a known bottom, by
        vehicle and by what they have left, each once."""
        found: dict[tuple[int, str], Event] = {}
        for number, (begin, loaded) in enumerate(self._parts):
            end = np.inf if number + 1 == len(self._parts) else self._parts[number + 1].time
            rows = slice(*np.searchsorted(time, (begin - SOON, end - SOON)).tolist())
            for key, event in _left(loaded, time[rows], position[rows], alive[rows]).items():
                found.setdefault(key, event)
        return found


SOON = 1e-6
"""By which times that are equal may differ, s."""


def _left(
    loaded: Loaded, time: Array, position: Array, alive: NDArray[np.bool_]
) -> dict[tuple[int, str], Event]:
    codes = np.where(alive, loaded.left(position), 0)
    found: dict[tuple[int, str], Event] = {}
    for row, vehicle in np.argwhere(codes).tolist():
        code = int(codes[row, vehicle])
        if (vehicle, LEFT[code]) not in found:
            said = loaded.told(code, position[row, vehicle])
            event = Event(float(time[row]), said, "left the map", -1)
            found[vehicle, LEFT[code]] = event
    return found


def new_parts(moved: list[Moved], before: Loaded | None) -> tuple[Terrain, ...]:
    """The parts among them that were read."""
    found = []
    for _, loaded in moved:
        if before is None or loaded.part is not before.part:
            found.append(loaded.part)
        before = loaded
    return tuple(found)
