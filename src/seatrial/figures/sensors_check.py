"""A page that shows what each sensor of a vehicle says beside the truth."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import euler_angles
from seatrial.figures.style import INK, MUTED, PALETTE, STYLE
from seatrial.record.reader import Recording
from seatrial.signals import Measurements, SensorInfo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seatrial.figures.page import Page

Array = NDArray[np.float64]

_COLUMNS = 3
_MOST_DOTS = 3000
"""Dots of a line at most; a picture has no room for more."""
_DEGREES = 180.0 / np.pi
_SHOWN_UNITS: dict[str, tuple[str, float]] = {
    "1": ("", 1.0),
    "1e-3": ("practical scale", 1.0),
    "A": ("A", 1.0),
    "Pa": ("kPa", 1e-3),
    "S m-1": ("S/m", 1.0),
    "T": ("µT", 1e6),
    "degree_Celsius": ("°C", 1.0),
    "m s-1": ("m/s", 1.0),
    "m s-2": ("m/s²", 1.0),
    "rad": ("°", _DEGREES),
    "rad s-1": ("°/s", _DEGREES),
    "rev s-1": ("rev/s", 1.0),
}
"""CF unit -> unit of the picture and the factor to it; any other is shown as it is."""
_PART = re.compile(r"^(?:(?P<whole>.+)_)?(?P<part>[wxyz]|north|east|down|\d+)$")
_FAR_APART = 3.0
_FEW_DOTS = 700
_NAMELESS = "position"
"""What components are that have a part and no name: north, east, down."""


@dataclass(frozen=True)
class _Line:
    """One number over time, measured and true."""

    name: str
    time: Array
    measured: Array
    true_time: Array
    true: Array

    @property
    def error(self) -> float:
        """Root mean square of measured less true; 0 without a measurement."""
        if not np.isfinite(self.measured).any():
            return 0.0
        there = np.interp(self.time, self.true_time, self.true)
        return float(np.sqrt(np.nanmean((self.measured - there) ** 2)))

    @property
    def label(self) -> str:
        """Name and error, as far as there are such."""
        heard = np.isfinite(self.measured).any()
        return f"{self.name} ±{self.error:.2g}".strip() if heard else self.name

    def shifted(self, by: float) -> "_Line":
        """The same less a constant, which the name then tells."""
        name = f"{self.name} {'−' if by > 0 else '+'} {abs(by):g}"
        return _Line(name, self.time, self.measured - by, self.true_time, self.true - by)


@dataclass(frozen=True)
class _Panel:
    title: str
    lines: list[_Line]


def draw_check(
    recording: Recording, vehicle: str, pairs: list[tuple[SensorInfo, SensorInfo]]
) -> "Page":
    """Every sensor of `pairs`, (measured, ideal), a panel per kind of quantity."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from seatrial.figures.page import Page

    panels = []
    for info, ideal in pairs:
        measured, true = (recording.samples(vehicle, s.name) for s in (info, ideal))
        panels += _panels(info, measured.cut(measured.valid), true.cut(true.valid))
    ends = [line.true_time[-1] for p in panels for line in p.lines if len(line.true_time)]
    rows = -(-len(panels) // _COLUMNS)
    with matplotlib.rc_context(STYLE):
        spacing = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, wspace=0.02, hspace=0.03)
        page = Page(figsize=(16.0, 1.1 + 2.05 * rows), layout=spacing)
        FigureCanvasAgg(page)
        grid: Any = page.subplots(rows, _COLUMNS, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw(axes, panel, float(max(ends, default=1.0)))
        for axes in grid.flat[len(panels) :]:
            axes.set_axis_off()
        for column in range(min(_COLUMNS, len(panels))):
            lowest = max(range(column, len(panels), _COLUMNS))
            grid.flat[lowest].set_xlabel("time [s]")
        _draw_title(page, recording, vehicle, len(pairs))
    return page


def _panels(info: SensorInfo, measured: Measurements, true: Measurements) -> list[_Panel]:
    """Components that belong together, such as the three of a vector, share a panel."""
    groups: dict[tuple[str, str], list[int]] = {}
    for column, (name, unit) in enumerate(zip(info.components, info.units, strict=True)):
        groups.setdefault((_whole(name), unit), []).append(column)
    panels = []
    for (whole, unit), columns in groups.items():
        shown, scale = _SHOWN_UNITS.get(unit, (unit, 1.0))
        names = [_part(info.components[column]) for column in columns]
        values, true_values = (scale * m.values[:, columns] for m in (measured, true))
        if whole == "orientation":
            names, shown = ["roll", "pitch", "yaw"], "°"
            values, true_values = (_DEGREES * euler_angles(q) for q in (values, true_values))
        each = zip(names, values.T, true_values.T, strict=True)
        lines = [_Line(name, measured.time, a, true.time, b) for name, a, b in each]
        if shown == "°":
            lines = [_unwrapped(line) for line in lines]
        if info.type == "dvl" and whole == "range":
            lines = [_without_zeros(line) for line in lines]
        if whole != "orientation":
            lines = _side_by_side(lines)
        title = f"{info.name}: {whole.replace('_', ' ')}"
        panels.append(_Panel(f"{title} [{shown}]" if shown else title, lines))
    return panels


def _whole(name: str) -> str:
    found = _PART.match(name)
    return name if found is None else found["whole"] or _NAMELESS


def _part(name: str) -> str:
    found = _PART.match(name)
    return "" if found is None else found["part"]


def _unwrapped(line: _Line) -> _Line:
    """An angle, degrees, that runs on where it would jump by a whole turn."""
    true = np.unwrap(line.true, period=360.0)
    near = np.interp(line.time, line.true_time, true) if len(true) else line.measured
    measured = line.measured + 360.0 * np.rint((near - line.measured) / 360.0)
    return _Line(line.name, line.time, measured, line.true_time, true)


def _without_zeros(line: _Line) -> _Line:
    """The length of a beam, which is 0 where the beam was lost."""
    measured = np.where(line.measured == 0.0, np.nan, line.measured)
    return _Line(line.name, line.time, measured, line.true_time, line.true)


def _side_by_side(lines: list[_Line]) -> list[_Line]:
    """Lines that lie far apart, compared with how far they move, are brought together."""
    if len(lines) < 2 or not all(len(line.true) for line in lines):
        return lines
    middles = [float(np.mean(line.true)) for line in lines]
    motion = max(max(float(np.ptp(line.true)), 2.0 * line.error) for line in lines)
    if np.ptp(middles) < _FAR_APART * motion:
        return lines
    shifts = [float(f"{middle:.2g}") for middle in middles]
    return [
        line.shifted(shift) if abs(shift) > motion else line
        for line, shift in zip(lines, shifts, strict=True)
    ]


def _draw(axes: "Axes", panel: _Panel, end: float) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    axes.set_title(panel.title)
    handles = []
    for i, line in enumerate(panel.lines):
        colour = PALETTE[i % len(PALETTE)]
        red, green, blue = to_rgb(colour)
        dark = (0.55 * red, 0.55 * green, 0.55 * blue)
        step = max(1, len(line.time) // _MOST_DOTS)
        size, alpha = (4.5, 0.8) if len(line.time) < _FEW_DOTS else (2.6, 0.55)
        dots = line.time[::step], line.measured[::step]
        axes.plot(*dots, ".", color=colour, ms=size, mew=0, alpha=alpha)
        axes.plot(line.true_time, line.true, color=dark, lw=1.0)
        handles.append(
            Line2D([], [], color=dark, marker=".", ms=7, mfc=colour, mew=0, label=line.label)
        )
    if not any(len(line.time) for line in panel.lines):
        empty = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        axes.text(
            0.98,
            0.06,
            "no measurement",
            ha="right",
            transform=axes.transAxes,
            color=MUTED,
            bbox=empty,
        )
    axes.set_xlim(0.0, end)
    axes.margins(y=0.08)
    if all(_is_state(line) for line in panel.lines):
        low, high = axes.get_ylim()
        axes.set_ylim(np.ceil(low) - 0.5, np.floor(high) + 0.5)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True, min_n_ticks=1))
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.01),
        ncols=len(handles),
        fontsize=7.5,
    )


def _is_state(line: _Line) -> bool:
    """Whether the numbers only tell which of several states there is, as the kind of a fix."""
    whole = np.concatenate([line.measured, line.true])
    return bool(np.all(whole == np.rint(whole)))


def _draw_title(page: "Page", recording: Recording, vehicle: str, count: int) -> None:
    header = recording.header
    words = f"{count} sensors" if count > 1 else "1 sensor"
    facts = [
        "dots: measured",
        "lines: truth",
        "±: root mean square of the error",
        f"seed {header.seed}",
        f"seatrial {header.version}",
    ]
    page.suptitle(
        f"{vehicle}: {words} against the truth",
        x=0.012,
        ha="left",
        fontsize=16,
        fontweight="bold",
        color=INK,
    )
    page.text(0.99, 0.99, "  ·  ".join(facts), ha="right", va="top", fontsize=10.5, color=MUTED)
