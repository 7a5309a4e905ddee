"""Tables III and IV of the ASVLite paper: how much faster than real time.

The paper measured on a quad-core Intel Core i7-6700; the factors here are of the machine that the
study runs on, so the ratios compare programs and machines at once. One vessel runs in double
precision and swarms in single, as a scenario would by default.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from seatrial.validation.asvlite import paper as printed
from seatrial.validation.claims import Claim
from seatrial.validation.timing.steps import time_case

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


def components_table(rounds: int, sample: bool = False) -> Iterator[SpeedRow]:
    """Table III: one vessel in 15 to 260 waves."""
    cases: Iterable[tuple[int, int]] = [(5, 15)] if sample else printed.COMPONENTS
    for directions, frequencies in cases:
        paper = (printed.COMPONENTS[directions, frequencies],)
        yield _row(rounds, 1, directions, frequencies, "double", paper)


def swarm_table(rounds: int, sample: bool = False) -> Iterator[SpeedRow]:
    """Table IV and beyond: 10 to 100,000 vessels in 75 waves."""
    for vessels in (10, 500) if sample else (*printed.SWARM, *BEYOND):
        paper = printed.SWARM.get(vessels, ())
        yield _row(rounds, vessels, 5, 15, "single", paper)


def _row(
    rounds: int,
    vessels: int,
    directions: int,
    frequencies: int,
    precision: str,
    paper: tuple[float, ...],
) -> SpeedRow:
    sea = (frequencies, directions)
    timed = [time_case("smarty", vessels, sea, precision) for _ in range(rounds)]
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


def judge(rows: list[SpeedRow]) -> list[Claim]:
    """Whether every row that the paper has is faster than its best column."""
    slowest = min(row.ratio for row in rows if row.ratio is not None)
    return [
        Claim(
            "every row of tables III and IV is faster than the paper's best column",
            slowest > 1.0,
            f"at least {slowest:.1f} times",
        )
    ]
