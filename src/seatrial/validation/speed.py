"""Tables III and IV of the ASVLite paper: how much faster than real time.

The paper measured on a quad-core Intel Core i7-6700; the factors here are of the machine that the
study runs on, so the ratios compare programs and machines at once. One vessel runs in double
precision and swarms in single, as a scenario would by default.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from seatrial.validation import asvlite

Timer = Callable[[str, int, tuple[int, int] | None, str], dict[str, Any]]
"""Vehicle, how many, (frequencies, directions), precision -> a row with `real_time_factor` and
`us_per_vehicle_step`: the best of several runs, on all cores."""

BEYOND = (1_000, 10_000, 100_000)
"""Swarms that the paper does not show."""

ROUNDS = 3
"""Times that every case is measured; the best counts."""


@dataclass(frozen=True)
class SpeedRow:
    """One line of a table."""

    vessels: int
    directions: int
    frequencies: int
    precision: str
    real_time_factor: float
    us_per_vehicle_step: float
    paper: tuple[float, ...]
    """Real-time factors of the paper: desktop; or its columns A, B and C; empty beyond its rows."""

    @property
    def components(self) -> int:
        """Number of regular waves."""
        return self.directions * self.frequencies

    @property
    def ratio(self) -> float | None:
        """To the best of the paper's columns."""
        return self.real_time_factor / max(self.paper) if self.paper else None


def components_table(timer: Timer, rounds: int, sample: bool = False) -> Iterator[SpeedRow]:
    """Table III: one vessel in 15 to 260 waves."""
    cases: Iterable[tuple[int, int]] = [(5, 15)] if sample else asvlite.COMPONENTS
    for directions, frequencies in cases:
        paper = (asvlite.COMPONENTS[directions, frequencies],)
        yield _row(timer, rounds, 1, directions, frequencies, "double", paper)


def swarm_table(timer: Timer, rounds: int, sample: bool = False) -> Iterator[SpeedRow]:
    """Table IV and beyond: 10 to 100,000 vessels in 75 waves."""
    for vessels in (10, 500) if sample else (*asvlite.SWARM, *BEYOND):
        paper = asvlite.SWARM.get(vessels, ())
        yield _row(timer, rounds, vessels, 5, 15, "single", paper)


def _row(
    timer: Timer,
    rounds: int,
    vessels: int,
    directions: int,
    frequencies: int,
    precision: str,
    paper: tuple[float, ...],
) -> SpeedRow:
    sea = (frequencies, directions)
    timed = [timer("smarty", vessels, sea, precision) for _ in range(rounds)]
    best = max(timed, key=lambda row: float(row["real_time_factor"]))
    return SpeedRow(
        vessels=vessels,
        directions=directions,
        frequencies=frequencies,
        precision=precision,
        real_time_factor=float(best["real_time_factor"]),
        us_per_vehicle_step=float(best["us_per_vehicle_step"]),
        paper=paper,
    )
