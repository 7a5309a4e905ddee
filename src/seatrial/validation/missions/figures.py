"""The page of the study of missions: one table in colours for each figure of merit."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.validation.figures import INK, MUTED, STYLE, new_figure, save_figure

if TYPE_CHECKING:
    from seatrial.validation.missions.cases import Row

Panel = tuple[str, Callable[["Row"], float], str, float, float]

PANELS: tuple[Panel, ...] = (
    ("waypoints reached [%]", lambda r: 100.0 * r.reached, "{:.0f}", 100.0, 80.0),
    ("off the track, rms [lengths]", lambda r: r.off_track / r.length, "{:.2f}", 0.0, 2.0),
    (
        "error of navigation, rms [m]",
        lambda r: r.lost if r.feedback == "estimate" else math.nan,
        "{:.2f}",
        0.0,
        10.0,
    ),
    ("capsized", lambda r: float(r.capsized), "{:.0f}", 0.0, 1.0),
    ("effort [% of the largest orders]", lambda r: 100.0 * r.effort, "{:.0f}", 0.0, 60.0),
    ("reversals [per minute]", lambda r: r.reversals, "{:.1f}", 0.0, 30.0),
)
"""Title, figure of merit, how it is written, and the values that are coloured best and worst."""


def draw_missions(rows: "list[Row]", out: Path) -> Path:
    """One page: vehicles down, seas across."""
    import matplotlib

    vehicles = list(dict.fromkeys(r.vehicle for r in rows))
    cases = list(dict.fromkeys((r.sea, r.feedback) for r in rows))
    labels = [f"{sea}\n{'truth' if fed == 'truth' else 'own sensors'}" for sea, fed in cases]
    with matplotlib.rc_context(STYLE):
        figure = new_figure(15.0, 3.0 + 0.75 * len(vehicles))
        counts = sorted({len(r.voyages) for r in rows})
        count = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        title = f"Random missions, {count} of each vehicle in each sea"
        figure.suptitle(title, x=0.01, ha="left", color=INK)
        panels: Any = figure.subplots(2, 3, sharey=True)
        for axes, panel in zip(panels.flat, PANELS, strict=True):
            _draw(axes, panel, rows, vehicles, cases)
            axes.set_xticks(range(len(cases)), labels, fontsize=8)
            axes.set_yticks(range(len(vehicles)), vehicles)
        return save_figure(figure, out)


def _draw(
    axes: Any,
    panel: Panel,
    rows: "list[Row]",
    vehicles: list[str],
    cases: list[tuple[str, str]],
) -> None:
    title, value, text, best, worst = panel
    grid = np.full((len(vehicles), len(cases)), np.nan)
    for row in rows:
        grid[vehicles.index(row.vehicle), cases.index((row.sea, row.feedback))] = value(row)
    badness = np.clip((grid - best) / (worst - best), 0.0, 1.0)
    axes.imshow(badness, cmap="YlOrRd", vmin=0.0, vmax=1.3, aspect="auto")
    for (i, k), number in np.ndenumerate(grid):
        there = math.isfinite(number)
        axes.text(
            k,
            i,
            text.format(number) if there else "–",
            ha="center",
            va="center",
            color=INK if there else MUTED,
            fontsize=9,
        )
    axes.set_title(title)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
