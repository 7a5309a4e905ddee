"""What happened when: legs, faults, sensors that the filter did without, and events, as bars."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import OUTCOMES, Event, VehicleInfo
from seatrial.figures.run.legend import Name
from seatrial.figures.style import INK, MUTED, RED
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

Flags = NDArray[np.bool_]
Bars = list[tuple[str, str, Flags]]
"""Name, colour, and when."""

_FAULT, _REJECTED, _SILENT = RED, "#d98200", "#8a94a0"
_MOST_ROWS = 6
_LEAST_ROWS = 4
_EVENT_ROWS = 3
_LETTER = 0.05
"""Width of a letter, inches."""


def has_trouble(run: Recording, vehicle: VehicleInfo, data: "xarray.Dataset") -> bool:
    """Whether there is more to tell of a vehicle than its legs."""
    return bool(_bars(vehicle, data)) or bool(_other_events(run, vehicle))


def draw_timeline(
    axes: "Axes",
    width: float,
    run: Recording,
    vehicle: VehicleInfo,
    data: "xarray.Dataset",
    time_scale: float,
) -> list[Name]:
    """A row of legs, a row for each fault and each sensor that was not used, then the events."""
    time = data["time"].values / time_scale
    letter = _LETTER / width * float(time[-1] - time[0])
    rows = _bars(vehicle, data)
    row = 0
    axes.plot(time[[0, -1]], [0, 0], lw=0.0)  # the whole run, also where little happened
    if vehicle.legs and "leg" in data:
        _draw_legs(axes, row, vehicle, data["leg"].values, time, letter)
        row += 1
    for name, colour, when in rows[:_MOST_ROWS]:
        parts = [(time[a], time[min(b, len(time) - 1)]) for a, b in spans(when)]
        for start, end in parts:
            axes.barh(row, end - start, left=start, height=0.6, color=colour)
        _label(axes, row, name, colour, parts, (time[0], time[-1]), letter)
        row += 1
    if len(rows) > _MOST_ROWS:
        axes.text(time[0], row, f" and {len(rows) - _MOST_ROWS} more", va="center", fontsize=7)
        row += 1
    events = _other_events(run, vehicle)
    row += _draw_events(axes, row, events, time_scale, (float(time[0]), float(time[-1])), letter)
    axes.set_ylim(max(row, _LEAST_ROWS) - 0.4, -0.6)
    axes.set_yticks([])
    axes.grid(axis="y", visible=False)
    return []


def _bars(vehicle: VehicleInfo, data: "xarray.Dataset") -> Bars:
    """Faults that struck, and sensors that the filter rejected or waited for in vain."""
    rows: Bars = []
    if "fault" in data:
        for fault in vehicle.faults:
            when = data["fault"].sel(fault_name=fault.name).values > 0.5
            rows.append((f"fault  {fault.name}", _FAULT, when))
    for variable, word, colour in (
        ("estimate_rejected", "rejected", _REJECTED),
        ("estimate_silent", "silent", _SILENT),
    ):
        if variable in data and vehicle.estimated:
            bits = np.nan_to_num(data[variable].values).astype(np.int64)
            for i, sensor in enumerate(vehicle.sensors):
                rows.append((f"{word}  {sensor.name}", colour, (bits >> i) % 2 == 1))
    return [row for row in rows if row[2].any()]


def spans(when: Flags) -> list[tuple[int, int]]:
    """First frames in which something holds, and those after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], when, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _label(
    axes: "Axes",
    row: int,
    text: str,
    colour: str,
    parts: list[tuple[float, float]],
    whole: tuple[float, float],
    letter: float,
) -> None:
    """Beside its bars, on the side that has more room; where neither has enough on a bar that it
    fits into, or over the widest gap between them."""
    before, after = parts[0][0] - whole[0], whole[1] - parts[-1][1]
    gap, needed = 0.008 * (whole[1] - whole[0]), letter * len(text)
    behind, side = None, "left"
    if max(before, after) >= needed:
        at = parts[-1][1] + gap
        if before > after:
            at, side = parts[0][0] - gap, "right"
    else:
        start, end = max(parts, key=lambda part: part[1] - part[0])
        if end - start >= needed + gap:
            at, colour = start + gap, "white"
        else:
            gaps = [(a, b) for (_, a), (b, _) in pairwise([(0.0, parts[0][0]), *parts])]
            free = max(gaps, key=lambda one: one[1] - one[0])
            at = min(max(0.5 * (sum(free) - needed), whole[0]), whole[1] - needed)
            # Bars that come and go are narrower than a letter: they would show through.
            behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 1.0}
    axes.text(
        at, row, text, color=colour, fontsize=7.5, ha=side, va="center", zorder=4, bbox=behind
    )


def _draw_legs(
    axes: "Axes",
    row: int,
    vehicle: VehicleInfo,
    leg: NDArray[Any],
    time: NDArray[Any],
    letter: float,
) -> None:
    """A bar per leg, lighter and darker in turn, named where there is room."""
    number = np.nan_to_num(leg, nan=-1.0).astype(int)
    for k, one in enumerate(vehicle.legs):
        for first, last in spans(number == k):
            start, end = time[first], time[min(last, len(time) - 1)]
            colour = "#c9d3dd" if k % 2 else "#e1e8ee"
            axes.barh(row, end - start, left=start, height=0.75, color=colour)
            room = (end - start) / (letter or 1.0) - 1
            name = one.name if len(one.name) < room else str(k + 1)
            if len(name) < room:
                axes.text(
                    0.5 * (start + end), row, name, ha="center", va="center", fontsize=7, color=INK
                )
    for first, _ in spans(number >= len(vehicle.legs)):
        axes.plot([time[first]] * 2, [row - 0.4, row + 0.4], color=MUTED, lw=1.2)


def _other_events(run: Recording, vehicle: VehicleInfo) -> list[Event]:
    """Events that are not the end of a leg: those the bars tell already."""
    if run.summary is None or vehicle.name not in run.summary.vehicles:
        return []
    legs = {*OUTCOMES.values(), "unknown"}
    events = run.summary.vehicles[vehicle.name].events
    return [e for e in events if e.outcome not in legs]


def _draw_events(
    axes: "Axes",
    row: int,
    events: list[Event],
    time_scale: float,
    whole: tuple[float, float],
    letter: float,
) -> int:
    """A line for each, and its words in the next of some rows that is free there; how many."""
    free = [-np.inf] * _EVENT_ROWS
    room = int((whole[1] - whole[0]) / letter) if letter else 0
    for event in events:
        at = event.time / time_scale
        axes.axvline(at, color=INK, lw=0.8, ls=":", zorder=3)
        text = event.text if len(event.text) <= room else f"{event.text[: max(room - 1, 0)]}…"
        width = letter * len(text)
        start = max(whole[0], min(at + 0.5 * letter, whole[1] - width))
        place = next((i for i, until in enumerate(free) if start >= until), None)
        if place is not None:
            words = axes.text(
                start, row + place, text, fontsize=7, color=INK, va="center", zorder=4
            )
            words.set_in_layout(False)  # the panel is not made narrow for them
            free[place] = start + width + letter
    return sum(until > -np.inf for until in free)
