"""Picture of the outage study: where filters believed the vehicle to be, and how far off."""

from pathlib import Path
from typing import Any

import numpy as np

from seatrial.validation.figures import INK, LINE, MUTED, STYLE, new_figure, save_figure
from seatrial.validation.outage.voyage import BOTTOM, CITED, WITH, WITHOUT, Study, wrong

COLOURS = {WITH: "#0072b2", wrong(0.3): "#cc79a7", WITHOUT: "#d55e00", BOTTOM: "#009e73"}


def draw_outage(study: Study, out: Path) -> Path:
    """Tracks of the first seed, and errors of all seeds over time."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(13.5, 5.6)
        figure.suptitle(
            "REMUS 100 with an LSM6DSR, without a fix for 18 min", x=0.01, ha="left", color=INK
        )
        tracks, errors = figure.subplots(1, 2, width_ratios=(1.0, 1.35))
        _draw_tracks(tracks, study)
        _draw_errors(errors, study)
        return save_figure(figure, out)


def _draw_tracks(axes: Any, study: Study) -> None:
    true = study.tracks[WITH][0].true
    axes.plot(true[:, 1], true[:, 0], color=INK, lw=2.2, label="truth")
    for case, colour in COLOURS.items():
        believed = study.tracks[case][0].believed
        axes.plot(believed[:, 1], believed[:, 0], color=colour, lw=1.3, label=case)
    axes.plot(true[0, 1], true[0, 0], "o", color=INK, ms=6)
    axes.annotate("last fix", true[0, ::-1], (6, -12), textcoords="offset points", color=MUTED)
    # The track without a velocity aid leaves the picture; the others decide its borders.
    middle, reach = true.mean(axis=0), 0.75 * np.ptp(true, axis=0).max()
    axes.set_xlim(middle[1] - reach, middle[1] + reach)
    axes.set_ylim(middle[0] - reach, middle[0] + reach)
    axes.set_aspect("equal")
    axes.set_title("tracks of the first seed")
    axes.set_xlabel("east [m]")
    axes.set_ylabel("north [m]")
    axes.legend(loc="best", fontsize=8.5)
    _tidy(axes)


def _draw_errors(axes: Any, study: Study) -> None:
    for case, colour in COLOURS.items():
        for i, track in enumerate(study.tracks[case]):
            label = case if i == 0 else "_"
            axes.plot(track.time / 60, track.error, color=colour, lw=0.9, alpha=0.8, label=label)
        if case != wrong(0.3):
            first = study.tracks[case][0]
            label = "3σ that the filter states, first seed" if case == WITH else "_"
            axes.plot(
                first.time / 60, 3 * first.deviation, color=colour, lw=1.6, ls="--", label=label
            )
    first = study.tracks[WITH][0]
    axes.plot(
        first.time / 60, CITED * first.distance, color=INK, lw=1.4, ls=":",
        label=f"{100 * CITED:.0f} % of the distance, as cited",
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(0.5, 1e5)
    axes.set_xlim(0.0, first.time[-1] / 60)
    axes.set_title("horizontal error, all seeds")
    axes.set_xlabel("time since the last fix [min]")
    axes.set_ylabel("error [m]")
    axes.grid(color=LINE, lw=0.4, alpha=0.6)
    axes.legend(loc="upper left", fontsize=8.5, ncols=2)
    _tidy(axes)


def _tidy(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
