"""The page of a swarm: where it went, what its vehicles went through, and how they differ."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.figures.style import INK, MUTED, PALETTE, WATER
from seatrial.figures.swarm_figures import Array, SwarmFigures, swarm_figures
from seatrial.figures.table import draw_table
from seatrial.record.kinds import KindSummary, by_kind
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 50_000
_MOST_KINDS = 6
"""Rows of the table."""
_HEAD, _ROW, _NOTE = 0.42, 0.42, 0.2
"""Heights in the table, inches."""
_COLUMNS = {
    "kind": 0.18,
    "vehicles": 0.1,
    "status": 0.17,
    "distance\n[m]": 0.15,
    "mean speed\n[m/s]": 0.14,
    "max roll\n[°]": 0.13,
    "max pitch\n[°]": 0.13,
}
"""Heading -> share of the table's width."""


class SwarmPage:
    """Draws into the two halves of a page."""

    def __init__(self, run: Recording) -> None:
        self.run = run
        self.figures: SwarmFigures = swarm_figures(run)
        self.colours = {k: PALETTE[i % len(PALETTE)] for i, k in enumerate(self.figures.kinds)}
        craft = {v.kind: v.craft for v in run.header.vehicles}
        self.surface = [k for k in self.figures.kinds if craft[k] == "surface"]
        self.submerged = [k for k in self.figures.kinds if craft[k] != "surface"]
        end = float(self.figures.time[-1])
        self.scale, self.unit = (
            (1.0, "s") if end <= 900.0 else (60.0, "min") if end <= 10800.0 else (3600.0, "h")
        )

    def draw_left(self, area: Any, height: float) -> None:
        """The map, and below it the closing figures of every kind (heights in inches)."""
        if self.run.summary is None:
            self._draw_map(area.subplots())
            return
        ends = by_kind(self.run.header, self.run.summary)
        shown = dict(list(ends.items())[:_MOST_KINDS])
        table_height = _HEAD + _ROW * len(shown) + _NOTE
        above, below = area.subplots(2, 1, height_ratios=(height - table_height, table_height))
        self._draw_map(above)
        self._draw_table(below, shown, table_height)

    @property
    def rows(self) -> int:
        """Rows of panels in the right half."""
        return 4 if self.surface and self.submerged else 3

    def draw_right(self, area: Any) -> None:
        """Bands over time, and below them how the vehicles differ."""
        panels: list[tuple[str, Callable[[Axes], None]]] = [
            ("Speed over ground [m/s]", lambda axes: self._draw_bands(axes, "speed"))
        ]
        if self.surface:
            panels.append(("Heave on the waves [m]", self._draw_heave))
        if self.submerged:
            panels.append(("Depth [m]", self._draw_depth))
        panels += [
            ("Roll, starboard down [°]", lambda axes: self._draw_bands(axes, "roll")),
            ("Pitch, bow up [°]", lambda axes: self._draw_bands(axes, "pitch")),
        ]
        if len(panels) % 2:
            yaw = ("Yaw rate, to starboard [°/s]", lambda axes: self._draw_bands(axes, "yaw_rate"))
            panels.append(yaw)
        grid = area.subplots(self.rows, 2, squeeze=False)
        for axes, (title, draw) in zip(grid[:-1].flat, panels, strict=True):
            axes.set_title(title)
            draw(axes)
            axes.margins(x=0.0)
            axes.set_xlabel(f"time [{self.unit}]")
        grey = "#52606d" if len(self.colours) > 1 else next(iter(self.colours.values()))
        _name(grid[0, 0], [("median", grey, 1.5), ("5–95 %", grey + "40", 6.0)])
        self._draw_histogram(grid[-1, 0], "Distance covered [m]", self.figures.distance)
        self._draw_histogram(grid[-1, 1], "Largest roll [°]", self.figures.roll_max)

    def _draw_map(self, axes: "Axes") -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.colors import TwoSlopeNorm
        from matplotlib.lines import Line2D

        figures = self.figures
        lines = [track[:, ::-1] for track in np.moveaxis(figures.tracks, 1, 0)]
        kind_of = np.empty(len(figures.last), dtype=object)
        for kind, rows in figures.kinds.items():
            kind_of[rows] = self.colours[kind] if len(figures.kinds) > 1 else "#8a97a5"
        axes.add_collection(
            LineCollection(lines, colors=kind_of[figures.tracked].tolist(), lw=0.6, alpha=0.6)
        )
        step = -(-len(figures.last) // _MOST_POINTS)
        roll = figures.last_roll[::step]
        limit = max(float(np.nanquantile(np.abs(roll), 0.99)) if len(roll) else 0.0, 0.5)
        points = axes.scatter(
            figures.last[::step, 1],
            figures.last[::step, 0],
            c=roll,
            cmap="coolwarm",
            norm=TwoSlopeNorm(0.0, -limit, limit),
            s=float(np.clip(9000.0 / len(roll), 2.5, 26.0)),
            edgecolors=INK,
            linewidths=0.25 if len(roll) <= 2000 else 0.0,
            zorder=4,
            rasterized=True,
        )
        axes.figure.colorbar(
            points, ax=axes, label="roll in the last frame [°]", shrink=0.6, aspect=30, pad=0.02
        )
        note = "" if len(lines) == len(figures.last) else f", {len(lines)} of the tracks"
        axes.set_title(f"Tracks, north up; points: the last frame{note}")
        axes.set_xlabel("east [m]")
        axes.set_ylabel("north [m]")
        axes.set_aspect("equal", adjustable="datalim")
        axes.autoscale_view()
        if len(self.colours) > 1:
            names = [
                Line2D([], [], color=colour, lw=2.5, label=_short(kind))
                for kind, colour in self.colours.items()
            ]
            axes.legend(handles=names, loc="upper left", ncols=3, frameon=True, edgecolor="none")

    def _draw_table(self, axes: "Axes", ends: dict[str, KindSummary], height: float) -> None:
        columns = {"distance": 1, "speed_mean": 2, "roll_max_deg": 1, "pitch_max_deg": 1}
        rows = {}
        for kind, end in ends.items():
            counted = [f"{n:,} {word}" for word, n in end.status.items()]
            status = "\n".join(counted[:2] if len(counted) > 1 else end.status)
            spreads = []
            for name, digits in columns.items():
                s = end.figures[name]
                spreads.append(f"{s.median:.{digits}f}\n{s.min:.{digits}f}–{s.max:.{digits}f}")
            rows[kind] = [_short(kind), f"{end.count:,}", status, *spreads]
        draw_table(
            axes,
            _COLUMNS,
            rows,
            self.colours,
            left=(0, 2),
            head_height=_HEAD / height,
            row_height=_ROW / height,
            font_size=8.5,
        )
        note = "figures: median over the vehicles, below it smallest–largest"
        if len(self.figures.kinds) > len(ends):
            note += f"; {len(self.figures.kinds) - len(ends)} more kinds"
        axes.text(1.0, 0.0, note, transform=axes.transAxes, ha="right", fontsize=8, color=MUTED)

    def _band(self, kind: str, series: str) -> tuple[Array, Array, Array]:
        low, middle, high = self.figures.bands[kind, series]
        return low, middle, high

    def _draw_bands(self, axes: "Axes", series: str) -> None:
        time = self.figures.time / self.scale
        for kind, colour in self.colours.items():
            low, middle, high = self._band(kind, series)
            axes.fill_between(time, low, high, color=colour, alpha=0.22, lw=0)
            axes.plot(time, middle, color=colour)

    def _draw_heave(self, axes: "Axes") -> None:
        """The water's band filled, the vehicles' as its edges: the two lie on each other."""
        time = self.figures.time / self.scale
        for kind in self.surface:
            low, _, high = self._band(kind, "elevation")
            axes.fill_between(time, low, high, color=WATER, alpha=0.6, lw=0)
        for kind in self.surface:
            low, middle, high = self._band(kind, "heave")
            colour = self.colours[kind]
            axes.plot(time, middle, color=colour)
            for edge in (low, high):
                axes.plot(time, edge, color=colour, lw=0.6)
        _name(axes, [("heave", INK, 1.2), ("water surface", WATER, 6.0)])

    def _draw_depth(self, axes: "Axes") -> None:
        time = self.figures.time / self.scale
        for kind in self.submerged:
            low, middle, high = self._band(kind, "heave")
            colour = self.colours[kind]
            axes.fill_between(time, -high, -low, color=colour, alpha=0.22, lw=0)
            axes.plot(time, -middle, color=colour)
        axes.invert_yaxis()

    def _draw_histogram(self, axes: "Axes", title: str, values: Array) -> None:
        axes.set_title(title)
        axes.set_ylabel("vehicles")
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        spread = max(high - low, 1e-3 * max(abs(high), 1.0))  # equal values still need a width
        bins = np.linspace(low, low + spread, 41)
        for kind, rows in self.figures.kinds.items():
            axes.hist(
                values[rows],
                bins=bins.tolist(),
                color=self.colours[kind],
                alpha=0.75,
                edgecolor="white",
                lw=0.3,
            )


def count_per_kind(run: Recording) -> str:
    """`500 smarty, 20 otter`."""
    counts: dict[str, int] = {}
    for vehicle in run.header.vehicles:
        counts[vehicle.kind] = counts.get(vehicle.kind, 0) + 1
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _short(kind: str) -> str:
    return kind if len(kind) <= 14 else kind[:13] + "…"


def _name(axes: "Axes", names: list[tuple[str, str, float]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=c, lw=width, label=label) for label, c, width in names]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.02), ncols=len(names))
