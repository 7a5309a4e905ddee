"""Whose lines a figure has: the vehicles of one run, or those of several runs beside each other."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seatrial.engine.frames import VehicleInfo
from seatrial.figures.style import PALETTE
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Line:
    """One vehicle of one run."""

    label: str
    colour: str
    run: Recording
    vehicle: VehicleInfo
    data: "xarray.Dataset"


def lines_of(runs: list[Recording]) -> list[Line]:
    """A line, with a colour of its own, per run and vehicle; many go round the palette."""
    several = len(runs) > 1
    names = labels(runs)
    owners = [
        (name, run, v) for name, run in zip(names, runs, strict=True) for v in run.header.vehicles
    ]
    alone = len(owners) == len(runs)
    return [
        Line(
            v.name if not several else name if alone else f"{name}: {v.name}",
            PALETTE[i % len(PALETTE)],
            run,
            v,
            run.vehicle(v.name),
        )
        for i, (name, run, v) in enumerate(owners)
    ]


def labels(runs: list[Recording]) -> list[str]:
    """The runs by their files' names, with the folder or a number where two are alike."""
    for names in (
        [r.path.stem for r in runs],
        [f"{r.path.parent.name}/{r.path.stem}" for r in runs],
    ):
        if max(Counter(names).values()) == 1:
            return names
    return [f"{k + 1}: {run.path.stem}" for k, run in enumerate(runs)]
