"""Allan deviations of an inertial sensor on one page, with what was fitted to them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.figures.style import INK, MUTED, PALETTE, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seatrial.figures.page import Page

Array = NDArray[np.float64]

_AXIS_COLOURS = (PALETTE[7], PALETTE[2], PALETTE[4])
_LINE_COLOURS = {"N": PALETTE[0], "B": PALETTE[3], "K": PALETTE[1]}


@dataclass(frozen=True)
class AllanPanel:
    """One triad of axes."""

    title: str
    unit: str
    tau: Array
    """(P,) averaging times, s."""
    deviation: Array
    """(P, 3) of each axis."""
    low: Array
    high: Array
    """(P,) confidence limits of the three axes together."""
    fitted: Array
    """(P,) the curve through them."""
    lines: dict[str, Array]
    """(P,) what each of N, B and K contributes, of those that were observed."""
    rows: tuple[tuple[str, str], ...]
    """A coefficient, and what is known of it."""
    level: float
    """Confidence of limits and intervals."""


def draw_allan(panels: list[AllanPanel], title: str, facts: str) -> "Page":
    """One panel beside the other, the coefficients below each."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from seatrial.figures.page import Page

    with matplotlib.rc_context(STYLE):
        spacing = ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.08, rect=(0.0, 0.0, 1.0, 0.9))
        page = Page(figsize=(13.0, 6.6), layout=spacing)
        FigureCanvasAgg(page)
        axes: Any = page.subplots(2, len(panels), height_ratios=(5.2, 1.0), squeeze=False)
        for curve, below, panel in zip(axes[0], axes[1], panels, strict=True):
            _draw_curve(curve, panel)
            _write_rows(below, panel)
        page.text(0.012, 0.965, title, fontsize=15, fontweight="bold", color=INK, va="center")
        page.text(0.012, 0.922, facts, fontsize=9.5, color=MUTED, va="center")
    return page


def _draw_curve(ax: "Axes", panel: AllanPanel) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    for i, name in enumerate("xyz"):
        ax.plot(
            panel.tau, panel.deviation[:, i], "o", ms=3.2, mew=0,
            color=_AXIS_COLOURS[i], label=name,
        )  # fmt: skip
    ax.fill_between(
        panel.tau, panel.low, panel.high, color=INK, alpha=0.13, lw=0,
        label=f"{100 * panel.level:g} % limits",
    )  # fmt: skip
    bottom = 0.3 * float(np.min(panel.low))
    top = 1.5 * float(np.max(panel.high))
    ax.set(xscale="log", yscale="log", ylim=(bottom, top), title=panel.title)
    ax.set_xlim(0.7 * panel.tau[0], 1.5 * panel.tau[-1])
    for name, line in panel.lines.items():
        seen = (line > bottom) & (line < top)
        ax.plot(panel.tau[seen], line[seen], "--", lw=1.1, color=_LINE_COLOURS[name])
        if np.any(seen):
            _label_line(ax, name, panel.tau[seen], line[seen])
    ax.plot(panel.tau, panel.fitted, color=INK, lw=1.5, label="fit")
    ax.set_xlabel("averaging time τ [s]")
    ax.set_ylabel(f"Allan deviation [{panel.unit}]")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(LogLocator(subs=tuple(range(2, 10)), numticks=99))
        axis.set_minor_formatter(NullFormatter())
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=5)


def _label_line(ax: "Axes", name: str, tau: Array, line: Array) -> None:
    """At the end of a line that stands free of the curve, on the side away from the others."""
    words = {"N": "N / √τ", "B": "0.664 B", "K": "K √(τ/3)"}
    reaches_edge = tau[-1] * 3.0 > ax.get_xlim()[1]
    at, shift, across, along = {
        "N": (-1, (-5, -5), "right", "top") if reaches_edge else (-1, (5, 3), "left", "bottom"),
        "B": (0, (2, 3), "left", "bottom"),
        "K": (0, (-5, 3), "right", "bottom"),
    }[name]
    ax.annotate(
        words[name], (float(tau[at]), float(line[at])), xytext=shift, textcoords="offset points",
        ha=across, va=along, color=_LINE_COLOURS[name], fontsize=8.5,
    )  # fmt: skip


def _write_rows(ax: "Axes", panel: AllanPanel) -> None:
    ax.set_axis_off()
    for i, (name, words) in enumerate(panel.rows):
        y = 0.95 - 0.33 * i
        ax.text(0.0, y, name, fontweight="bold", color=_LINE_COLOURS[name], va="top")
        # A long line may reach beyond its panel without pushing the panels together.
        ax.text(0.03, y, words, color=INK, va="top").set_in_layout(False)
