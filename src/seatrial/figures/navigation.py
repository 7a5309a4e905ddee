"""A navigation filter against the truth: the track, and the errors within their stated bands."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import RunHeader
from seatrial.figures.style import INK, MUTED, PALETTE, STYLE

if TYPE_CHECKING:
    from seatrial.figures.page import Page

Array = NDArray[np.float64]

AXES = ("north", "east", "down")


def draw_navigation(
    header: RunHeader,
    vehicle: str,
    time: Array,
    true: Array,
    believed: Array,
    deviation: Array,
    how: str,
) -> "Page":
    """One page; positions (T, 3) NED in m, `how` says what was done to get the believed ones."""
    import matplotlib as mpl

    from seatrial.figures.page import Page

    with mpl.rc_context(STYLE):
        page = Page(figsize=(13.0, 7.5), layout="constrained")
        grid = page.add_gridspec(3, 2, width_ratios=(1.0, 1.15))
        track = page.add_subplot(grid[:, 0])
        track.plot(true[:, 1], true[:, 0], color=MUTED, linewidth=2.4, label="truth")
        track.plot(believed[:, 1], believed[:, 0], color=PALETTE[1], label=how)
        track.plot(true[0, 1], true[0, 0], "o", color=INK, markersize=5, label="start")
        track.set_aspect("equal", adjustable="datalim")
        track.set_title("track")
        track.set_xlabel("east, m")
        track.set_ylabel("north, m")
        track.legend(loc="lower right", bbox_to_anchor=(1.0, 1.01), ncols=3)
        error = believed - true
        for i, name in enumerate(AXES):
            axes = page.add_subplot(grid[i, 1])
            band = 3.0 * deviation[:, i]
            axes.fill_between(
                time, -band, band, color=PALETTE[0], alpha=0.15, linewidth=0, label="±3σ stated"
            )
            axes.plot(time, error[:, i], color=PALETTE[0], label="error")
            axes.set_xlim(float(time[0]), float(time[-1]))
            inside = float(np.mean(np.abs(error[:, i]) <= band))
            axes.set_title(f"error {name}, m   ({inside:.1%} within ±3σ)")
            if i == 0:
                axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.01), ncols=2)
            if i == len(AXES) - 1:
                axes.set_xlabel("time, s")
        page.suptitle(
            f"{vehicle}: navigation against the truth",
            x=0.012,
            ha="left",
            fontsize=16,
            fontweight="bold",
            color=INK,
        )
        facts = [header.scenario, f"seed {header.seed}", f"seatrial {header.version}"]
        page.text(0.99, 0.99, "  ·  ".join(facts), ha="right", va="top", fontsize=10.5, color=MUTED)
    return page
