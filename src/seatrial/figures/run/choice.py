"""What of a recording is drawn: some vehicles, a stretch of time; and how large."""

import numbers
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from seatrial.engine.frames import Act
from seatrial.errors import RecordingError
from seatrial.record.lazy import LazyArray
from seatrial.record.reader import Recording
from seatrial.record.source import Source, Span, within
from seatrial.signals import Measurements

if TYPE_CHECKING:
    import xarray

_INCH = {"mm": 25.4, "cm": 2.54, "in": 1.0}
_SMALLEST, _LARGEST = 1.0, 60.0
"""Inches of a figure's side."""


class View(TypedDict, total=False):
    """What a figure shows; whatever is left out is as the run has it."""

    panels: list[str] | str | None
    """Names of panels, in order, or one text with commas; all that tell something by default."""
    width: str | float | None
    """With a unit, `180mm`, `18cm` or `7in`, or a number of millimetres."""
    height: str | float | None
    start: float | None
    """s since the start of the run."""
    end: float | None
    vehicles: list[str] | str | None
    """Names, or one text with commas."""
    speed: float | None
    """Of a film: how many times as fast as the run was; without, it is 10 s long."""


def checked(view: View) -> View:
    """The same with lists of names and numbers of seconds; whatever is none of these is refused."""
    for key in view:
        if key not in View.__annotations__:
            raise RecordingError(
                f"a figure has no {key!r}\n  expected: some of {', '.join(View.__annotations__)}"
            )
    for key in ("start", "end", "speed"):
        given = view.get(key)
        if given is not None and not isinstance(given, numbers.Real):
            raise RecordingError(f"{key}={given!r} is no number\n  expected: seconds, as 12.5")
    return {**view, "panels": _names(view, "panels"), "vehicles": _names(view, "vehicles")}


def _names(view: View, key: Literal["panels", "vehicles"]) -> list[str] | None:
    given = view.get(key)
    if isinstance(given, str):
        return [name.strip() for name in given.split(",")]
    if given is not None and not isinstance(given, Iterable):
        raise RecordingError(f"{key}={given!r} names nothing\n  expected: names, as in ['track']")
    return None if given is None else [str(name) for name in given]


def inches(length: str | float) -> float:
    """A length with its unit, or in millimetres, as inches."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(mm|cm|in)?\s*", str(length))
    size = float(found[1]) / _INCH[found[2] or "mm"] if found else np.nan
    if not _SMALLEST <= size <= _LARGEST:
        raise RecordingError(
            f"{length!r} is no size for a figure\n"
            "  expected: 26 mm to 1.5 m, for example 180mm, 18cm or 7in"
        )
    return size


def choose(run: Recording, view: View) -> Recording:
    """The run as if it had only the vehicles, and only the time, that were chosen."""
    header, summary = run.header, run.summary
    names = view.get("vehicles")
    if names:
        chosen = [run.info(name) for name in dict.fromkeys(names)]
        header = replace(header, vehicles=tuple(chosen))
    first, last = view.get("start"), view.get("end")
    span = (-np.inf if first is None else first, np.inf if last is None else last)
    if span == (-np.inf, np.inf):
        return replace(run, header=header)
    time = run.dataset["time"].values
    if np.count_nonzero((time >= span[0]) & (time <= span[1])) < 2:
        ends = f"{time[0]:g} to {time[-1]:g} s" if len(time) else "no frames at all"
        raise RecordingError(
            f"{run.path}: nothing to draw from {span[0]:g} to {span[1]:g} s\n"
            f"  expected: a stretch of two frames or more of {ends}"
        )
    if summary is not None:
        ends_of = {
            name: replace(v, events=tuple(e for e in v.events if span[0] <= e.time <= span[1]))
            for name, v in summary.vehicles.items()
        }
        summary = replace(summary, vehicles=ends_of)
    return replace(run, header=header, summary=summary, source=_Stretch(run.source, span))


@dataclass(frozen=True)
class _Stretch:
    """A stretch of time of another source."""

    whole: Source
    span: Span

    def dataset(self) -> "xarray.Dataset":
        """Its frames."""
        return self.whole.dataset().sel(time=slice(*self.span))

    def parts(self) -> Iterator[slice]:
        """All at once: it is drawn as a whole."""
        yield slice(0, self.dataset().sizes["time"])

    def acts(self) -> tuple[Act, ...]:
        """Those of the stretch."""
        first, last = self.span
        return tuple(act for act in self.whole.acts() if first <= act.time <= last)

    def samples(self, vehicle: str, sensor: str, span: Span) -> Iterator[Measurements]:
        """Those of the stretch."""
        both = max(span[0], self.span[0]), min(span[1], self.span[1])
        for part in self.whole.samples(vehicle, sensor, both):
            yield within(part, both)

    def counts(self) -> dict[tuple[str, str], int]:
        """Of the whole."""
        return self.whole.counts()

    def payload(self, vehicle: str, sensor: str) -> LazyArray:
        """The arrays that belong to its samples."""
        always = (-np.inf, np.inf)
        parts = [p.time[p.valid] for p in self.whole.samples(vehicle, sensor, always)]
        time = np.concatenate([np.empty(0), *parts])
        rows = np.flatnonzero((time >= self.span[0]) & (time <= self.span[1]))
        arrays = self.whole.payload(vehicle, sensor)
        part = slice(int(rows[0]), int(rows[-1]) + 1) if len(rows) else slice(0, 0)
        chosen = arrays[part]
        return LazyArray([len(chosen)], chosen.shape[1:], chosen.dtype, lambda block: chosen)
