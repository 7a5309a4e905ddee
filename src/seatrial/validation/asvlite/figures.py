"""Pictures of the ASVLite studies."""

from pathlib import Path
from typing import Any

import numpy as np

from seatrial.validation.asvlite import paper
from seatrial.validation.asvlite.tank import HEADING_DEG, PERIOD, Tank
from seatrial.validation.asvlite.trends import MOTIONS, Trends
from seatrial.validation.figures import INK, LINE, STYLE, new_figure, save_figure

OURS, MEASURED, THEIRS = "#0072b2", INK, "#d55e00"
UNITS = {"heave": "m", "roll": "°", "pitch": "°"}


def draw_trends(trends: Trends, out: Path) -> Path:
    """Three heat maps over wave height and heading, as figure 2 of the paper."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(13.5, 4.6)
        figure.suptitle(
            f"SMARTY, 4 N ahead for 50 m: {trends.grid.runs:,} runs", x=0.01, ha="left", color=INK
        )
        panels: Any = figure.subplots(1, 3, sharey=True)
        headings, heights = trends.grid.headings_deg, trends.grid.heights
        for axes, motion in zip(panels, MOTIONS, strict=True):
            mean = trends.mean(motion)
            drawn = axes.pcolormesh(
                _edges(headings), _edges(heights), mean, cmap="viridis", rasterized=True
            )
            axes.set_title(motion)
            axes.set_xticks([0, 90, 180, 270, 360])
            axes.set_xticklabels(["0°\nfollowing", "90°\nbeam", "180°\nhead", "270°\nbeam", "360°"])
            bar = figure.colorbar(drawn, ax=axes, pad=0.02)
            bar.outline.set_visible(False)
            bar.set_label(f"significant amplitude [{UNITS[motion]}]")
        panels[0].set_ylabel("significant wave height [m]")
        panels[1].set_xlabel("wave heading")
        return save_figure(figure, out)


def draw_tank(tank: Tank, out: Path) -> Path:
    """Ranges of heave, roll and pitch over the wave period, beside table II."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(13.5, 4.6)
        figure.suptitle("SMARTY in a regular wave of 6 cm amplitude", x=0.01, ha="left", color=INK)
        panels: Any = figure.subplots(1, 3)
        stated = tank.headings_deg.index(HEADING_DEG)
        for axes, motion in zip(panels, MOTIONS, strict=True):
            scale = 100.0 if motion == "heave" else 1.0
            low, high = scale * tank.ranges[motion]
            for j, heading in enumerate(tank.headings_deg):
                if j == stated:
                    axes.fill_between(
                        tank.periods, low[:, j], high[:, j], color=OURS, alpha=0.25, lw=0
                    )
                    axes.plot(tank.periods, low[:, j], color=OURS, lw=1.6)
                    label = f"seatrial, waves from {180 - heading:g}° off the bow"
                    axes.plot(tank.periods, high[:, j], color=OURS, lw=1.6, label=label)
                else:
                    label = "other headings (bow, 30°, beam)" if j == 0 else "_"
                    axes.plot(tank.periods, low[:, j], color=OURS, lw=0.7, alpha=0.55)
                    axes.plot(tank.periods, high[:, j], color=OURS, lw=0.7, alpha=0.55, label=label)
            for table, colour, dash, label in (
                (paper.TANK, MEASURED, "-", "towing tank"),
                (paper.TANK_ASVLITE, THEIRS, "--", "ASVLite"),
            ):
                for end in table[motion]:
                    axes.axhline(scale * end, color=colour, ls=dash, lw=1.3, label=label)
                    label = "_"
            axes.axvline(PERIOD, color=LINE, lw=1.0, ls=":", zorder=0)
            reach = 2.0 * max(map(abs, paper.TANK[motion])) * scale
            axes.set_ylim(-reach, reach)
            axes.set_xlim(tank.periods[0], tank.periods[-1])
            axes.set_title(f"{motion} [{'cm' if motion == 'heave' else '°'}]")
            axes.set_xlabel("wave period [s]")
            axes.spines[["top", "right"]].set_visible(False)
        panels[2].legend(loc="upper right", fontsize=8.5)
        return save_figure(figure, out)


def _edges(centres: tuple[float, ...]) -> Any:
    """Borders of cells around these centres."""
    middle = np.array(centres)
    half = np.diff(middle) / 2.0
    return np.concatenate([[middle[0] - half[0]], middle[:-1] + half, [middle[-1] + half[-1]]])
