"""Samples on their way: held from when they were taken until they are there to be used."""

from dataclasses import replace

import numpy as np

from seatrial.engine.frames import Frames, GroupFrames
from seatrial.signals import Measurements, join

TOLERANCE = 1e-9
"""What arrives at 10 s is there at 10 s although the clock may read 9.999999999999998, s."""


class Arrivals:
    """Gives a block the samples that arrived in it in place of those that were taken in it."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, str], list[Measurements]] = {}

    def take(self, frames: Frames, now: float) -> Frames:
        """The same frames with what has arrived by now, of this block or of earlier ones."""
        groups = tuple(self._delivered(g, group, now) for g, group in enumerate(frames.groups))
        return replace(frames, groups=groups)

    def _delivered(self, g: int, group: GroupFrames, now: float) -> GroupFrames:
        arrived = {}
        for name, taken in group.measurements.items():
            waiting = self._waiting.setdefault((g, name), [])
            if len(taken.time):
                waiting.append(taken)
            if not waiting:
                arrived[name] = taken
                continue
            all_of_it = waiting[0] if len(waiting) == 1 else join(waiting)
            # Vehicles of a group share their times and not their latencies: the last one counts.
            there = np.max(all_of_it.arrival, axis=1) <= now + TOLERANCE
            arrived[name] = all_of_it.cut(there)
            waiting[:] = [] if there.all() else [all_of_it.cut(~there)]
        return replace(group, measurements=arrived)
