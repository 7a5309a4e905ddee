"""Samples on their way to those outside the loop who steer by them."""

import numpy as np

from seatrial.engine.plan import Plan
from seatrial.signals import Measurements, join

TOLERANCE = 1e-9
"""What arrives at 10 s is there at 10 s although the clock may read 9.999999999999998, s."""

Measured = dict[str, Measurements]
"""Samples of the vehicles of a fleet by sensor, vehicles on the second axis."""


class Deliveries:
    """Hands out to each listener what has arrived since it last listened."""

    def __init__(self, plan: Plan, opening: list[Measured]) -> None:
        self._place = {
            name: (i, k)
            for i, fleet in enumerate(plan.fleets)
            for k, name in enumerate(fleet.names)
        }
        # An inertial sensor feels the step that begins at an instant: its sample is there just
        # after those who steer at that instant have been heard.
        self._late = [
            {
                name: 2.0 * TOLERANCE if fitted.inertial else 0.0
                for name, fitted in zip(fleet.sensors, fleet.group.suite, strict=True)
            }
            for fleet in plan.fleets
        ]
        # The first of a sensor's parts is empty and tells the shape of its samples.
        self._waiting = [
            {name: [m.cut(slice(0)), m] for name, m in measured.items()} for measured in opening
        ]

    def take(self, measured: list[Measured]) -> None:
        """Take what the sensors measured in the last control periods, by fleet."""
        for waiting, samples in zip(self._waiting, measured, strict=True):
            for name, parts in waiting.items():
                if len(samples[name].time):
                    parts.append(samples[name])

    def heard(self, vehicle: str, after: float, now: float) -> dict[str, Measurements]:
        """By sensor the valid samples that arrived after one instant, up to another, in order."""
        fleet, k = self._place[vehicle]
        found: dict[str, Measurements] = {}
        for name, parts in self._waiting[fleet].items():
            own = join(parts).pick(k)
            arrival = own.arrival + self._late[fleet][name]
            here = (arrival > after + TOLERANCE) & (arrival <= now + TOLERANCE)
            found[name] = own.cut(here & own.valid)
        return found

    def forget(self, until: float) -> None:
        """Drop what everybody has heard: all that had arrived at an instant."""
        for waiting, late in zip(self._waiting, self._late, strict=True):
            for name, parts in waiting.items():
                heard = until + TOLERANCE - late[name]
                parts[1:] = [p for p in parts[1:] if np.any(p.arrival > heard)]
