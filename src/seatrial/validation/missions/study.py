"""The study of random missions, as tables, numbers and claims."""

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.record.infos import without_nan
from seatrial.validation.claims import Claim
from seatrial.validation.findings import Findings, Table, Watch
from seatrial.validation.missions.figures import draw_missions
from seatrial.validation.missions.voyages import (
    SEAS,
    WAYPOINTS,
    Drive,
    Voyage,
    drives,
    sail_missions,
)

SEEDS = 10
CASES = (("calm", "truth"), *((sea, "estimate") for sea in SEAS))
SAMPLE = ("otter",)
"""Vehicle of a sample: two seeds, two waypoints, in calm with the truth fed back."""
KEEN = ("otter", "wamv", "remus100", "bluerov2")
"""Vehicles whose tracks are held to half a metre."""


@dataclass(frozen=True)
class Row:
    """A vehicle in one sea with one kind of feedback."""

    vehicle: str
    sea: str
    feedback: str
    voyages: list[Voyage]
    length: float

    @property
    def reached(self) -> float:
        """Share of waypoints."""
        return sum(v.reached for v in self.voyages) / sum(v.waypoints for v in self.voyages)

    @property
    def off_track(self) -> float:
        """Rms over all missions, m."""
        return _rms([v.off_track for v in self.voyages])

    @property
    def lost(self) -> float:
        """Rms error of navigation over all missions, m."""
        return _rms([v.lost for v in self.voyages])

    @property
    def capsized(self) -> int:
        """How many."""
        return sum(v.capsized for v in self.voyages)

    @property
    def effort(self) -> float:
        """Mean share of the largest orders."""
        return float(np.mean([v.effort for v in self.voyages]))

    @property
    def reversals(self) -> float:
        """Per minute and thruster."""
        return float(np.mean([v.reversals for v in self.voyages]))


def missions(out: Path, sample: bool, watch: Watch) -> Findings:
    """Every library vehicle that has a drive on random missions, in calm and in two seas."""
    crafts = drives(SAMPLE if sample else None)
    cases = CASES[:1] if sample else CASES
    seeds, count = (range(1, 3), 2) if sample else (range(1, SEEDS + 1), WAYPOINTS)
    wanted = [(d, *case) for d in crafts for case in cases if case[1] == "truth" or d.navigates]
    rows: list[Row] = []
    for k, (drive, sea, feedback) in enumerate(wanted):
        voyages = sail_missions(drive, sea, feedback, seeds, count)
        rows.append(Row(drive.name, sea, feedback, voyages, drive.length))
        watch.share((k + 1) / len(wanted))
        watch.line(_line(rows[-1]))
    draw_missions(rows, out / "missions.png")
    blind = [d.name for d in crafts if not d.navigates]
    numbers: dict[str, Any] = {
        "seeds": len(seeds),
        "waypoints": count,
        "without_own_navigation": blind,
        "vehicles": {d.name: _numbers(d) for d in crafts},
        "missions": [
            {"vehicle": r.vehicle, "sea": r.sea, "feedback": r.feedback, **dataclasses.asdict(v)}
            for r in rows
            for v in r.voyages
        ],
    }
    return Findings(without_nan(numbers), [_table(rows)], _claims(rows))


def _numbers(drive: Drive) -> dict[str, float]:
    return {"length": drive.length, "speed": drive.speed, "turning_circle": drive.circle}


def _line(row: Row) -> str:
    return (
        f"{row.vehicle}, {row.sea}, {row.feedback}: {100 * row.reached:.0f} % reached, "
        f"{row.off_track:.2f} m off, {row.capsized} capsized"
    )


def _table(rows: list[Row]) -> Table:
    return Table(
        "Random missions",
        [
            "vehicle",
            "sea",
            "feedback",
            "reached",
            "off track",
            "in lengths",
            "navigation",
            "capsized",
            "effort",
            "reversals",
        ],
        [
            [
                r.vehicle,
                r.sea,
                r.feedback,
                f"{100 * r.reached:.0f} %",
                f"{r.off_track:.2f} m",
                f"{r.off_track / r.length:.2f}",
                f"{r.lost:.2f} m" if r.feedback == "estimate" else "",
                f"{r.capsized} of {len(r.voyages)}",
                f"{100 * r.effort:.0f} %",
                f"{r.reversals:.1f} /min",
            ]
            for r in rows
        ],
    )


def _claims(rows: list[Row]) -> list[Claim]:
    upset = [f"{r.vehicle} in {r.sea} ({r.feedback}): {r.capsized}" for r in rows if r.capsized]
    found = [Claim("no vehicle capsizes", not upset, "; ".join(upset) or "none did")]
    for sea, least in (("calm", 0.99), ("sea state 3", 0.97)):
        there = [r for r in rows if r.sea == sea]
        if there:
            missed = [_share(r) for r in there if r.reached < least]
            statement = f"{100 * least:.0f} % of the waypoints are reached in {sea}"
            found.append(Claim(statement, not missed, "; ".join(missed) or "all vehicles"))
    keen = [r for r in rows if r.vehicle in KEEN and (r.sea, r.feedback) == ("calm", "truth")]
    found.append(
        Claim(
            "true feedback in calm: less than 0.5 m off straight legs",
            all(r.off_track < 0.5 for r in keen),
            "; ".join(f"{r.vehicle} {r.off_track:.2f} m" for r in keen),
        )
    )
    own = [r for r in rows if r.vehicle in KEEN and r.feedback == "estimate"]
    if own:
        found.append(
            Claim(
                "own sensors: off the track by less than 1.5 times the error of navigation",
                all(r.off_track < 1.5 * r.lost for r in own),
                "; ".join(
                    f"{r.vehicle} in {r.sea} {r.off_track:.2f} m, {r.lost:.2f} m" for r in own
                ),
            )
        )
    return found


def _share(row: Row) -> str:
    return f"{row.vehicle} ({row.feedback}) {100 * row.reached:.0f} %"


def _rms(values: list[float]) -> float:
    there = [v for v in values if math.isfinite(v)]
    return float(np.sqrt(np.mean(np.square(there)))) if there else math.nan
