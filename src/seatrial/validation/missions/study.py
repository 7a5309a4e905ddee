"""The study of random missions, as tables, numbers and claims."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seatrial.record.infos import without_nan
from seatrial.validation.claims import Claim
from seatrial.validation.findings import Findings, Table, Watch
from seatrial.validation.missions.cases import Row, keep, kept, named, sail_case
from seatrial.validation.missions.figures import draw_missions
from seatrial.validation.missions.voyages import WAYPOINTS

SEEDS = 10
SAMPLE = "otter:truth", range(1, 3), 2
"""Case, seeds and waypoints of a sample."""
KEEN = ("otter", "wamv", "remus100", "bluerov2")
"""Vehicles whose tracks are held to half a metre."""


def missions(out: Path, sample: bool, watch: Watch) -> Findings:
    """Every library vehicle that has a drive on random missions, in calm and in two seas."""
    if sample:
        row = sail_case(*SAMPLE)
        assert row is not None
        return _page(out, [row])
    sail(out, ("*",), SEEDS, watch)
    return merged(out)


def sail(out: Path, patterns: Iterable[str], seeds: int, watch: Watch) -> list[Row]:
    """The cases that are named, each kept in a file of its own."""
    names = list(dict.fromkeys(name for pattern in patterns for name in named(pattern)))
    rows = []
    for k, name in enumerate(names):
        row = sail_case(name, range(1, seeds + 1), WAYPOINTS)
        watch.share((k + 1) / len(names))
        if row is None:
            watch.line(f"{name}: nothing drives it, or it has no sensors to go by")
            continue
        keep(row, name, out)
        watch.line(_line(row))
        rows.append(row)
    return rows


def merged(out: Path) -> Findings:
    """The page of all cases that are kept."""
    return _page(out, kept(out))


def _page(out: Path, rows: list[Row]) -> Findings:
    draw_missions(rows, out / "missions.png")
    numbers: dict[str, Any] = {
        "seeds": max(len(r.voyages) for r in rows),
        "waypoints": rows[0].voyages[0].waypoints,
        "vehicles": {
            r.vehicle: {
                "length": r.length,
                "speed": r.speed,
                "turning_circle": r.turning_circle,
            }
            for r in rows
        },
        "missions": [
            {"vehicle": r.vehicle, "sea": r.sea, "feedback": r.feedback, **dataclasses.asdict(v)}
            for r in rows
            for v in r.voyages
        ],
    }
    return Findings(without_nan(numbers), [_table(rows)], _claims(rows))


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
            "by waves",
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
                f"{r.swayed:.2f} m" if r.sea != "calm" else "",
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
