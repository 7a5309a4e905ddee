"""Cases of the study of consistency: a vehicle with sensors of one fidelity.

Each that is sailed is kept in a file of its own, so that many processes can share the work and one
page is made of what they kept.
"""

import dataclasses
import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from seatrial.errors import Problem, SpecError
from seatrial.validation.consistency.voyages import MISSIONS, Judged, Spread, judge, sail

SENSORS = {"matched": "nominal", "full": "full"}
"""What the sensors get wrong, what the filter is told of them or everything, as a fidelity; by the
word after the vehicle: `otter:full`."""


@dataclass(frozen=True)
class Row:
    """A case, sailed and judged."""

    vehicle: str
    sensors: str
    vehicles: int
    """How many of them sailed."""
    duration: float
    """s."""
    judged: Judged


def named(pattern: str) -> list[str]:
    """The cases of a name such as `otter:full`, or of a pattern such as `remus100*:*`."""
    found = [name for name in _every() if fnmatchcase(name, pattern)]
    if not found:
        raise SpecError(
            Problem(
                "the study of consistency has no such case",
                value=pattern,
                expected=f"VEHICLE:SENSORS, one of {', '.join(MISSIONS)} and one of "
                + ", ".join(SENSORS),
                mend="for example otter:full, or 'remus100*:*' for several",
            )
        )
    return found


def sail_case(name: str, seeds: range, duration: float) -> Row:
    """One case."""
    vehicle, _, sensors = name.partition(":")
    judged = judge(sail(vehicle, SENSORS[sensors], seeds, duration))
    return Row(vehicle, sensors, len(seeds), duration, judged)


def keep(row: Row, out: Path) -> None:
    """Write a case to its file in the folder of the study."""
    path = _file(out, f"{row.vehicle}:{row.sensors}")
    path.parent.mkdir(parents=True, exist_ok=True)
    data = dataclasses.asdict(row)
    data["judged"]["parts"] = {name: p._asdict() for name, p in row.judged.parts.items()}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def kept(out: Path) -> list[Row]:
    """What was kept there, in the order of `MISSIONS`."""
    files = [path for name in _every() if (path := _file(out, name)).exists()]
    if not files:
        raise SpecError(
            Problem(
                "no case of the study is kept there",
                value=str(out / "consistency"),
                mend="sail some first: seatrial study consistency --case otter:full",
            )
        )
    return [_read(path) for path in files]


def _every() -> list[str]:
    return [f"{vehicle}:{sensors}" for vehicle in MISSIONS for sensors in SENSORS]


def _file(out: Path, name: str) -> Path:
    return out / "consistency" / f"{name.replace(':', '-')}.json"


def _read(path: Path) -> Row:
    data = json.loads(path.read_text(encoding="utf-8"))
    judged = data.pop("judged")
    parts = {name: Spread(**part) for name, part in judged.pop("parts").items()}
    return Row(**data, judged=Judged(parts=parts, **judged))
