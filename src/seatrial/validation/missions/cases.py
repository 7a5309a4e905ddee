"""Cases of the study of missions: a vehicle in one sea with one kind of feedback.

Each that is sailed is kept in a file of its own, so that many processes can share the work and one
page is made of what they kept.
"""

import dataclasses
import json
import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.errors import Problem, SpecError
from seatrial.record.infos import without_nan
from seatrial.spec.library import library_names
from seatrial.validation.missions.voyages import Voyage, drives, sail_missions

KINDS = {
    "truth": ("calm", "truth"),
    "calm": ("calm", "estimate"),
    "sea3": ("sea state 3", "estimate"),
    "sea4": ("sea state 4", "estimate"),
}
"""Sea and feedback, by the word after the vehicle: `otter:sea3`."""


@dataclass(frozen=True)
class Row:
    """A case, sailed."""

    vehicle: str
    sea: str
    feedback: str
    voyages: list[Voyage]
    length: float
    speed: float
    turning_circle: float

    @property
    def reached(self) -> float:
        """Share of waypoints."""
        return sum(v.reached for v in self.voyages) / sum(v.waypoints for v in self.voyages)

    @property
    def off_track(self) -> float:
        """Rms over all missions, m."""
        return _rms([v.off_track for v in self.voyages])

    @property
    def swayed(self) -> float:
        """What of it waves do, rms over all missions, m."""
        return _rms([v.swayed for v in self.voyages])

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


def named(pattern: str) -> list[str]:
    """The cases of a name such as `otter:sea3`, or of a pattern such as `remus100*:*`."""
    every = [f"{vehicle}:{kind}" for vehicle in library_names("vehicle") for kind in KINDS]
    found = [name for name in every if fnmatchcase(name, pattern)]
    if not found:
        raise SpecError(
            Problem(
                "the study of missions has no such case",
                value=pattern,
                expected=f"VEHICLE:KIND, a vehicle of the library and one of {', '.join(KINDS)}",
                mend="for example otter:sea3, or 'remus100*:*' for several",
            )
        )
    return found


def sail_case(name: str, seeds: range, waypoints: int) -> Row | None:
    """One case; None for a vehicle that nothing drives ahead, or that has no sensors to go by."""
    vehicle, _, kind = name.partition(":")
    sea, feedback = KINDS[kind]
    for drive in drives([vehicle]):
        if feedback == "truth" or drive.navigates:
            voyages = sail_missions(drive, sea, feedback, seeds, waypoints)
            return Row(vehicle, sea, feedback, voyages, drive.length, drive.speed, drive.circle)
    return None


def keep(row: Row, name: str, out: Path) -> None:
    """Write a case to its file in the folder of the study."""
    path = _folder(out) / f"{name.replace(':', '-')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(without_nan(dataclasses.asdict(row)), indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def kept(out: Path) -> list[Row]:
    """What was kept there, in the order of the library and of the seas."""
    found = []
    for vehicle in library_names("vehicle"):
        for kind in KINDS:
            path = _folder(out) / f"{vehicle}-{kind}.json"
            if path.exists():
                found.append(_read(json.loads(path.read_text(encoding="utf-8"))))
    if not found:
        raise SpecError(
            Problem(
                "no case of the study is kept there",
                value=str(_folder(out)),
                mend="sail some first: seatrial study missions --case otter:sea3",
            )
        )
    return found


def _folder(out: Path) -> Path:
    return out / "missions"


def _read(data: dict[str, Any]) -> Row:
    rows: list[dict[str, Any]] = data.pop("voyages")
    for row in rows:
        row.update({k: math.nan for k, v in row.items() if v is None})
    voyages = [Voyage(**row) for row in rows]
    return Row(**data, voyages=voyages)


def _rms(values: list[float]) -> float:
    there = [v for v in values if math.isfinite(v)]
    return float(np.sqrt(np.mean(np.square(there)))) if there else math.nan
