"""Pictures of the handover study, after figures 2.3, 2.4, 2.7 and 2.11 of the thesis."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from seatrial.validation.figures import INK, LINE, STYLE, new_figure, save_figure
from seatrial.validation.handover.course import COURSE, DEGREE, LIMIT_SHOWN, PRINTED, Run, Study

COLOURS = ("#0072b2", "#d55e00", "#009e73")
TRANSLATION = ("$s_x$", "$s_y$", "$s_z$")
ROTATION = (r"$\theta_x$", r"$\theta_y$", r"$\theta_z$")
DASHES = ("-", "--", ":")
"""Curves that lie on each other stay visible."""


def draw_step(step: Run, out: Path) -> Path:
    """Unit step in all degrees of freedom (figure 2.3)."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(11.0, 4.0)
        figure.suptitle("Unit step in six degrees of freedom", x=0.01, ha="left", color=INK)
        panels: Any = figure.subplots(1, 2)
        for axes, first, names, what in (
            (panels[0], 0, TRANSLATION, "translation [m]"),
            (panels[1], 3, ROTATION, "rotation [rad]"),
        ):
            axes.axhline(1.0, color=LINE, lw=1.0)
            for i in range(3):
                axes.plot(
                    step.time,
                    step.pose[:, first + i, 0],
                    DASHES[i],
                    color=COLOURS[i],
                    lw=2.0 - 0.3 * i,
                    label=names[i],
                )
            axes.set_title(what)
            axes.set_xlim(0.0, step.time[-1])
            axes.legend(loc="lower right")
            _plain(axes)
        return save_figure(figure, out)


def draw_course(hard: Run, soft: Run, out: Path) -> Path:
    """The long course with either handover, side by side (figures 2.4 and 2.7)."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(13.0, 9.0)
        figure.suptitle(
            "Waypoints handed over hard and soft (thin: the waypoint ahead; upright: handovers)",
            x=0.01,
            ha="left",
            color=INK,
        )
        panels: Any = figure.subplots(4, 2, sharex=True, sharey="row")
        end = min(hard.time[-1], 1.25 * hard.time[hard.handovers()[-1]])
        titles = ("hard (figure 2.4)", f"soft, polynomial of degree {DEGREE} (figure 2.7)")
        for column, (run, title) in enumerate(zip((hard, soft), titles, strict=True)):
            target = COURSE[run.number[:, 0]]
            for row, (first, names, values) in enumerate(
                (
                    (0, TRANSLATION, run.pose),
                    (3, ROTATION, run.pose),
                    (0, tuple(f"$\\dot s_{a}$" for a in "xyz"), run.rate),
                )
            ):
                axes = panels[row, column]
                for i in range(3):
                    if row < 2:
                        axes.step(
                            run.time, target[:, first + i], color=COLOURS[i], lw=0.8, alpha=0.5
                        )
                    axes.plot(
                        run.time, values[:, first + i, 0], color=COLOURS[i], lw=1.6, label=names[i]
                    )
            panels[3, column].plot(run.time, run.speed(), color=INK, lw=1.6)
            panels[0, column].set_title(title)
            panels[3, column].set_xlabel("time [s]")
            for axes in panels[:, column]:
                for step in run.handovers():
                    axes.axvline(run.time[step], color=LINE, lw=0.8, zorder=0)
                _plain(axes, label=False)
                axes.set_xlim(0.0, end)
        for row, label in enumerate(
            ("position [m]", "angle [rad]", "velocity [m/s]", "speed [m/s]")
        ):
            panels[row, 0].set_ylabel(label)
            if row < 3:
                panels[row, 0].legend(loc="upper left", ncols=3, fontsize=9)
        panels[3, 0].set_ylim(bottom=0.0)
        panels[2, 0].set_ylim(top=0.45)  # room for the legend
        return save_figure(figure, out)


def draw_corners(study: Study, out: Path) -> Path:
    """Single against double waypoints, without a limit on the inputs and with one (figure 2.11)."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(13.0, 7.0)
        figure.suptitle(
            "Single and double waypoints at (1, 0, 0), (1, 1, 0), (1, 1, 1) and (0, 0, 0)",
            x=0.01,
            ha="left",
            color=INK,
        )
        panels: Any = figure.subplots(2, 2, sharey=True, sharex="col")
        for column, limit in enumerate((math.inf, LIMIT_SHOWN)):
            vehicle = study.limits.index(limit)
            end = 1.35 * max(
                study.corners[case].time[study.corners[case].handovers(vehicle)[-1]]
                for case in PRINTED
            )
            for row, (case, printed) in enumerate(PRINTED.items()):
                axes, run = panels[row, column], study.corners[case]
                axes.axhline(1.0, color=LINE, lw=0.8, zorder=0)
                axes.axhline(
                    printed, color=COLOURS[2], lw=1.0, ls=":", label="largest $s_z$, thesis"
                )
                for i in range(3):
                    axes.plot(
                        run.time,
                        run.pose[:, i, vehicle],
                        color=COLOURS[i],
                        lw=1.8,
                        label=TRANSLATION[i],
                    )
                top = int(np.argmax(run.pose[:, 2, vehicle]))
                height = run.pose[top, 2, vehicle]
                axes.plot(run.time[top], height, "o", color=COLOURS[2], ms=5)
                axes.text(
                    0.99,
                    0.94,
                    f"largest $s_z$: {height:.2f} m (thesis ≈ {printed:.2f} m)",
                    transform=axes.transAxes,
                    ha="right",
                    color=INK,
                    fontsize=9,
                )
                for step in run.handovers(vehicle):
                    axes.axvline(run.time[step], color=LINE, lw=0.8, zorder=0)
                inputs = "no limit" if math.isinf(limit) else f"$v_1$ limited to {limit:g} N/s"
                axes.set_title(f"{case} waypoints, {inputs}")
                axes.set_ylim(-0.1, 1.2)
                axes.set_xlim(0.0, end)
                _plain(axes, label=row == 1)
            panels[0, 0].set_ylabel("position [m]")
            panels[1, 0].set_ylabel("position [m]")
        panels[0, 1].legend(loc="center right", fontsize=9)
        return save_figure(figure, out)


def _plain(axes: Any, label: bool = True) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    if label:
        axes.set_xlabel("time [s]")
