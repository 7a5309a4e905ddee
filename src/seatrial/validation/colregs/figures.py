"""Pictures of the encounters at sea."""

from pathlib import Path
from typing import Any

import numpy as np

from seatrial.validation.colregs import claims, encounters
from seatrial.validation.colregs.encounters import KINDS, Voyages
from seatrial.validation.figures import INK, LINE, MUTED, STYLE, new_figure, save_figure

FIRST, SECOND = "#0072b2", "#d55e00"
COLOURS = ("#0072b2", "#009e73", "#88ccaa", "#b8860b", "#e0c060")
MOST_FAILURES = 12
WINDOW = 40
"""Samples drawn before and after the closest approach: seconds."""
_HULL = np.array([[1.0, 0.3, -1.0, -1.0, 0.3], [0.0, 0.5, 0.5, -0.5, -0.5]])
"""Outline of a vessel, forward and starboard, in half-lengths."""


def draw_encounters(both: Voyages, alone: Voyages, out: Path) -> Path:
    """Some encounters from above, and how close all of them came."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = new_figure(14.0, 9.2)
        figure.suptitle(
            f"{both.closest.size:,} encounters of two vessels, twice: once both avoid, once the "
            "other keeps her course and speed",
            x=0.01,
            ha="left",
            color=INK,
        )
        upper, lower = figure.subfigures(2, 1, height_ratios=[1.2, 1.0])
        panels: Any = upper.subplots(1, 4)
        shown = (
            (both, encounters.HEAD_ON, "Head-on (rule 14)\nboth alter to starboard"),
            (both, encounters.STARBOARD, "Crossing (rule 15)\nblue passes astern"),
            (both, encounters.OVERTAKING, "Overtaking (rule 13)\nblue keeps clear"),
            (alone, encounters.PORT, "Crossing (rule 17): orange\nfails to give way, blue acts"),
        )
        for axes, (voyages, kind, title) in zip(panels, shown, strict=True):
            _draw_tracks(axes, voyages, _example(voyages, kind))
            axes.set_title(title)
        upper.legend(handles=_legend(), loc="outside lower center", fontsize=9, ncols=5)
        pair: Any = lower.subplots(1, 2, sharex=True, sharey=True)
        for axes, voyages, title in (
            (pair[0], both, "Closest distance where both avoid"),
            (pair[1], alone, "Closest distance where the other keeps on"),
        ):
            _draw_distances(axes, voyages)
            axes.set_title(title)
        pair[0].set_ylabel("encounters")
        pair[1].legend(loc="upper right", fontsize=9)
        return save_figure(figure, out)


def draw_failures(voyages: Voyages, out: Path) -> Path | None:
    """The encounters that went wrong, each from above; nothing when there are none."""
    import matplotlib

    failed = claims.failures(voyages)[:MOST_FAILURES]
    if not failed.size:
        return None
    rows = -(-failed.size // 4)
    with matplotlib.rc_context(STYLE):
        figure = new_figure(14.0, 4.4 * rows)
        panels: Any = np.ravel(figure.subplots(rows, 4, squeeze=False))
        for axes in panels[failed.size :]:
            axes.set_visible(False)
        hit = claims.collided(voyages)
        for axes, i in zip(panels, failed, strict=False):
            _draw_tracks(axes, voyages, i)
            what = "collision" if hit[i] else "wrong side"
            axes.set_title(f"#{i}: {what}\n{voyages.encounters.kind[i]}")
        return save_figure(figure, out)


def _example(voyages: Voyages, kind: str) -> int:
    """Of the encounters of a kind that would have been near, the one with the plainest track."""
    e = voyages.encounters
    direction = np.stack([np.cos(e.course), np.sin(e.course)])
    off = voyages.track[:, :, 0] - e.start[:, 0]
    aside = np.abs(direction[0, 0] * off[:, 1] - direction[1, 0] * off[:, 0]).max(axis=0)
    angle = np.abs(np.sin(e.course[1] - e.course[0]))
    clear = angle > 0.7 if kind in (encounters.STARBOARD, encounters.PORT) else angle < 0.3
    slow = (e.speed.min(axis=0) > 1.0) & (e.speed.max(axis=0) < 2.0)
    chosen = np.flatnonzero((e.kind == kind) & (claims.unavoided(e) < 4.0) & clear & slow)
    if not chosen.size:
        chosen = np.flatnonzero(e.kind == kind)
    return int(chosen[np.argsort(aside[chosen])[chosen.size // 2]])


def _draw_tracks(axes: Any, voyages: Voyages, i: int) -> None:
    """Both tracks around the closest approach, the first vessel's course up."""
    track = voyages.track[:, :, :, i]
    course = voyages.encounters.course[0, i]
    up = np.stack([np.cos(course), np.sin(course)])
    right = np.stack([-np.sin(course), np.cos(course)])
    x = np.einsum("c,tcv->tv", right, track)
    y = np.einsum("c,tcv->tv", up, track)
    apart = np.hypot(x[:, 1] - x[:, 0], y[:, 1] - y[:, 0])
    nearest = int(np.argmin(apart))
    window = slice(max(0, nearest - WINDOW), nearest + WINDOW + 1)
    x, y = x[window], y[window]
    nearest -= window.start
    x, y = x - x[nearest].mean(), y - y[nearest].mean()
    start = voyages.encounters.course[:, i] - course
    for v, colour in enumerate((FIRST, SECOND)):
        # Where she would have gone.
        far = y[0, v] + np.array([0.0, 200.0]) * np.cos(start[v])
        aside = x[0, v] + np.array([0.0, 200.0]) * np.sin(start[v])
        axes.plot(aside, far, color=colour, lw=0.8, ls=":", zorder=1)
        axes.plot(x[:, v], y[:, v], color=colour, lw=1.6, zorder=2)
        step = np.gradient(np.stack([x[:, v], y[:, v]]), axis=1)
        for k in range(nearest % 20, len(x), 20):
            _draw_hull(axes, x[k, v], y[k, v], np.arctan2(step[0, k], step[1, k]), colour)
    axes.plot(x[nearest], y[nearest], color=INK, lw=0.9, ls="--", zorder=1)
    axes.annotate(
        f"{apart.min():.0f} m",
        (x[nearest].max(), y[nearest].min()),
        textcoords="offset points",
        xytext=(8, -11),
        color=INK,
        fontsize=9,
    )
    reach = 1.08 * max(np.abs(x).max(), np.abs(y).max())
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.tick_params(length=0, labelsize=8.5)
    axes.grid(color="#e6ebf0", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("m")


def _draw_hull(axes: Any, x: float, y: float, heading: float, colour: str) -> None:
    size = 1.5 * encounters.LENGTH  # three times as long as it is, or nobody would see it
    ahead, aside = size * _HULL
    axes.fill(
        x + ahead * np.sin(heading) + aside * np.cos(heading),
        y + ahead * np.cos(heading) - aside * np.sin(heading),
        color=colour,
        lw=0,
        zorder=3,
    )


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=FIRST, lw=1.6, label="first vessel, her course up"),
        Line2D([], [], color=SECOND, lw=1.6, label="the other"),
        Line2D([], [], color=MUTED, lw=0.8, ls=":", label="without avoidance"),
        Line2D([], [], color=MUTED, lw=0, marker="^", ms=6, label="every 20 s"),
        Line2D([], [], color=INK, lw=0.9, ls="--", label="closest approach"),
    ]


def _draw_distances(axes: Any, voyages: Voyages) -> None:
    kinds = [voyages.closest[voyages.encounters.kind == kind] for kind in KINDS]
    bins = np.arange(0.0, 25.5, 0.5)
    clipped = [np.minimum(k, bins[-1] - 0.1) for k in kinds]
    axes.hist(clipped, bins, stacked=True, color=COLOURS, label=KINDS, lw=0)
    touch, wanted = 2.0 * encounters.RADIUS, 2.0 * encounters.RADIUS + encounters.CLEARANCE
    axes.axvspan(0.0, touch, color=SECOND, alpha=0.12, lw=0)
    for at, text, side in ((touch, "safety circles meet", 1), (wanted, "clearance wanted", -1)):
        axes.axvline(at, color=INK, lw=1.0, ls="--")
        axes.annotate(
            text,
            (at, 0.98),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            xytext=(4 * side, 0),
            ha="left" if side > 0 else "right",
            va="top",
            color=INK,
            fontsize=9,
        )
    axes.set_xlim(0.0, bins[-1])
    axes.set_xlabel("m (the last bar holds all beyond 25 m)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE)
