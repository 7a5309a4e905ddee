"""The study of consistency: NEES and NIS of every navigation set of the library."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seatrial.validation.claims import Claim
from seatrial.validation.consistency.cases import Row, keep, kept, named, sail_case
from seatrial.validation.consistency.voyages import PARTS
from seatrial.validation.findings import Findings, Table, Watch

SEEDS = 60
DURATION = 200.0
SAMPLE = "otter:full", range(1, 3), 90.0
TRUE = (0.7, 1.4)
"""Band of NEES over its degrees of freedom."""
HEARD = (0.6, 1.6)
"""Band of NIS over its degrees of freedom."""
INSIDE = 0.9
"""Least share of errors within the region that holds 95 %."""
UNITS = {"position": 1.0, "depth": 1.0, "velocity": 1.0, "tilt": 57.29578, "heading": 57.29578}
"""To m, m/s and degrees."""


def consistency(out: Path, sample: bool, watch: Watch) -> Findings:
    """Every library vehicle with an IMU in sea state 3, sixty of each."""
    if sample:
        return _page([sail_case(*SAMPLE)])
    sail(out, ("*",), SEEDS, watch)
    return merged(out)


def sail(out: Path, patterns: Iterable[str], seeds: int, watch: Watch) -> list[Row]:
    """The cases that are named, each kept in a file of its own."""
    names = list(dict.fromkeys(name for pattern in patterns for name in named(pattern)))
    rows = []
    for k, name in enumerate(names):
        row = sail_case(name, range(1, seeds + 1), DURATION)
        keep(row, out)
        watch.share((k + 1) / len(names))
        watch.line(" ".join(_nees(row) + _nis(row)))
        rows.append(row)
    return rows


def merged(out: Path) -> Findings:
    """The page of all cases that are kept."""
    return _page(kept(out))


def _page(rows: list[Row]) -> Findings:
    numbers: dict[str, Any] = {
        "sets": [
            {
                "vehicle": r.vehicle,
                "sensors": r.sensors,
                "vehicles": r.vehicles,
                "duration_s": r.duration,
                "parts": {name: part._asdict() for name, part in r.judged.parts.items()},
                "nis": r.judged.nis,
                "alarms": r.judged.alarms,
                "hours": r.judged.hours,
            }
            for r in rows
        ],
    }
    return Findings(numbers, _tables(rows), _claims(rows))


def _tables(rows: list[Row]) -> list[Table]:
    return [
        Table(
            "NEES over its degrees of freedom (share within 95 %)",
            ["vehicle", "sensors", "of them", *PARTS],
            [_nees(r) for r in rows],
        ),
        Table(
            "Errors, rms, and what is stated of them",
            ["vehicle", "sensors", "position, depth [m]", "velocity [m/s]", "tilt, heading [deg]"],
            [_errors(r) for r in rows],
        ),
        Table(
            "NIS over its degrees of freedom",
            ["vehicle", "sensors", "of the sensors", "of what it knows", "found wrong"],
            [[r.vehicle, r.sensors, *_nis(r)] for r in rows],
        ),
    ]


def _nees(row: Row) -> list[str]:
    parts = [f"{p.nees:.2f} ({100 * p.inside:.0f} %)" for p in row.judged.parts.values()]
    return [row.vehicle, row.sensors, str(row.vehicles), *parts]


def _errors(row: Row) -> list[str]:
    said = {
        name: f"{UNITS[name] * p.error:.3g} of {UNITS[name] * p.stated:.3g}"
        for name, p in row.judged.parts.items()
    }
    pairs = (("position", "depth"), ("velocity",), ("tilt", "heading"))
    return [row.vehicle, row.sensors, *("; ".join(said[n] for n in names) for names in pairs)]


def _nis(row: Row) -> list[str]:
    judged = row.judged
    own, known = (
        ", ".join(f"{name} {value:.2f}" for name, value in found.items())
        for found in (judged.nis, judged.known)
    )
    return [own, known, f"{judged.alarms} in {judged.hours:.1f} h"]


def _claims(rows: list[Row]) -> list[Claim]:
    found = []
    for sensors in dict.fromkeys(r.sensors for r in rows):
        these = [r for r in rows if r.sensors == sensors]
        off = [
            f"{r.vehicle} {name} {part.nees:.2f}"
            for r in these
            for name, part in r.judged.parts.items()
            if not TRUE[0] <= part.nees <= TRUE[1]
        ]
        out = [
            f"{r.vehicle} {name} {100 * part.inside:.0f} %"
            for r in these
            for name, part in r.judged.parts.items()
            if part.inside < INSIDE
        ]
        loud = [
            f"{r.vehicle} {name} {value:.2f}"
            for r in these
            for name, value in r.judged.nis.items()
            if not HEARD[0] <= value <= HEARD[1]
        ]
        words = f", {sensors} sensors"
        found += [
            _claim(f"NEES between {TRUE[0]} and {TRUE[1]}{words}", off),
            _claim(f"at least {100 * INSIDE:.0f} % within 95 %{words}", out),
            _claim(f"NIS of every sensor between {HEARD[0]} and {HEARD[1]}{words}", loud),
        ]
    alarms, hours = (sum(getattr(r.judged, what) for r in rows) for what in ("alarms", "hours"))
    few = alarms < 0.1 * hours
    found.append(
        Claim("fewer false alarms than one in ten hours", few, f"{alarms} in {hours:.1f} h")
    )
    return found


def _claim(statement: str, wrong: list[str]) -> Claim:
    return Claim(statement, not wrong, "; ".join(wrong) or "all")
