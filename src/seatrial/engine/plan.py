"""A compiled scenario: what the engine turns."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.compiled.group import Group, Schedule
from seatrial.engine.frames import LegInfo, RunHeader, Scene
from seatrial.ocean import Ocean
from seatrial.sensors.tap import DenseSensor


@dataclass(frozen=True)
class Fleet:
    """Vehicles of one kind: their arrays, their names, and the ocean in their precision."""

    names: tuple[str, ...]
    group: Group
    ocean: Ocean
    sensors: tuple[str, ...]
    """Names of the sensors in the group's suite."""
    legs: dict[str, tuple[LegInfo, ...]]
    """Legs of each vehicle that has a mission."""
    dense: dict[str, DenseSensor] = field(default_factory=dict)
    """What expands the taps of the dense sensors, by name."""


@dataclass(frozen=True)
class Loaded:
    """The part of a map that a run has loaded; beyond it the bottom goes on as at its edge."""

    low: NDArray[np.float64]
    """(2,) least north and east, m."""
    high: NDArray[np.float64]
    whole: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The same of the map."""

    def left(self, place: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(...,) whether places (..., 2 or more) lie beyond."""
        level = place[..., :2]
        return np.asarray(np.any((level < self.low) | (level > self.high), axis=-1))

    def told(self, place: NDArray[np.float64]) -> str:
        """What to say of a vehicle that has left it, for people."""
        (n0, e0), (n1, e1), low, high = self.low, self.high, *self.whole
        part, mend = "the map", "import more of it"
        if np.all(place[:2] >= low) and np.all(place[:2] <= high):
            part, mend = "the loaded part of the map", "a mission that leads here has more loaded"
        return (
            f"left {part} at {place[0]:.0f} m north, {place[1]:.0f} m east: from {n0:.0f} to "
            f"{n1:.0f} m north and {e0:.0f} to {e1:.0f} m east the bottom is known, and taken as "
            f"at the edge beyond; {mend}"
        )


@dataclass(frozen=True)
class Plan:
    """A compiled scenario."""

    header: RunHeader
    fleets: tuple[Fleet, ...]
    schedule: Schedule
    frames: int
    """Frames to record, the one at t = 0 included."""
    stop_when_done: bool
    """Whether the run ends before that with the last of its missions."""
    manoeuvres: dict[str, tuple[str, dict[str, float]]]
    """Type and parameters of each vehicle's standard manoeuvre, for the indices."""
    scenario: object
    """The description that it was compiled from, for those who know descriptions."""
    scene: Scene
    """The ocean and the bodies as the sinks get them."""
    loaded: Loaded | None = None
    """Of a map; None where the bottom is none."""
