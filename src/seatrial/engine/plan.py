"""A compiled scenario: what the engine turns."""

from dataclasses import dataclass, field

from seatrial.engine.compiled.group import Group, Schedule
from seatrial.engine.frames import LegInfo, RunHeader, Scene
from seatrial.engine.loaded import Loaded
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
    """The part of a map that it begins with; None where the bottom is none."""
