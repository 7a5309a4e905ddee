"""A swarm in few numbers: the closing figures of its vehicles, kind by kind."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from seatrial.engine.frames import RunHeader, RunSummary

FIGURES = (
    "ended_at",
    "distance",
    "speed_mean",
    "speed_max",
    "depth_max",
    "roll_max_deg",
    "pitch_max_deg",
)
"""The numbers of a VehicleSummary."""


@dataclass(frozen=True)
class Spread:
    """One figure of many vehicles."""

    median: float
    min: float
    max: float


@dataclass(frozen=True)
class KindSummary:
    """What became of the vehicles of one kind."""

    count: int
    status: dict[str, int]
    """How many came to which end, the most frequent first."""
    figures: dict[str, Spread]
    """By the names of `FIGURES`."""


def by_kind(header: RunHeader, summary: RunSummary) -> dict[str, KindSummary]:
    """The kinds in the order of their first vehicle."""
    members: dict[str, list[str]] = {}
    for vehicle in header.vehicles:
        members.setdefault(vehicle.kind, []).append(vehicle.name)
    return {kind: _summarise(summary, names) for kind, names in members.items()}


def _summarise(summary: RunSummary, names: list[str]) -> KindSummary:
    ends = [summary.vehicles[name] for name in names]
    figures = {}
    for figure in FIGURES:
        values = np.array([getattr(end, figure) for end in ends])
        figures[figure] = Spread(float(np.median(values)), float(values.min()), float(values.max()))
    return KindSummary(len(ends), dict(Counter(e.status for e in ends).most_common()), figures)
