"""A hull on one page: body plan, righting arm, sections, added mass and damping, motions."""

from dataclasses import dataclass

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from seatrial.figures.page import Page
from seatrial.figures.style import INK, MUTED, PALETTE, STYLE, WATER

Array = NDArray[np.float64]

MOST_SEEN = 5.0
"""Motions over waves that are drawn; a hull without viscosity would have more in resonance."""


@dataclass(frozen=True)
class HullPage:
    """What is drawn."""

    title: str
    facts: str
    aft: list[Array]
    """Sections of the after body, segments (K, 2, 2) of y and z each."""
    fore: list[Array]
    angles: Array
    """Of heel, rad."""
    arms: Array
    metacentric_height: float
    stations: Array
    sections: Array
    omega: Array
    added_mass: Array
    """(6, W) diagonal, over the rigid body's own mass or moment."""
    damping: Array
    """(6, W) diagonal, over the same times the frequency."""
    headings: Array
    """(H,) rad, of the motions."""
    motions: Array
    """(3, V, H) heave, roll over wave slope, pitch over wave slope."""
    waves: Array
    """(V,) rad/s, of the motions: more than are solved for, as resonances are narrow."""


def draw_hull(page: HullPage) -> Page:
    """Six panels."""
    with rc_context(STYLE):
        engine = ConstrainedLayoutEngine(rect=(0.0, 0.03, 1.0, 0.97))
        figure = Page(figsize=(11.0, 7.6), layout=engine)
        figure.suptitle(page.title, x=0.01, ha="left", fontweight="bold", color=INK)
        axes = figure.subplots(2, 3)
        _body_plan(axes[0, 0], page)
        plan, arms, masses, dampings = axes[0, 1], axes[0, 2], axes[1, 0], axes[1, 1]
        plan.fill_between(page.stations, page.sections, color=WATER, linewidth=0)
        plan.plot(page.stations, page.sections, color=PALETTE[0])
        plan.set(title="Section areas", xlabel="x / m", ylabel="area / m²")
        plan.set_ylim(bottom=0.0)
        degrees = np.degrees(page.angles)
        arms.plot(degrees, page.arms, color=PALETTE[0], label="GZ")
        slope = page.metacentric_height * page.angles
        seen = slope <= 1.3 * max(float(page.arms.max()), 1e-3)
        arms.plot(degrees[seen], slope[seen], "--", color=MUTED, label="GM φ")
        arms.axhline(0.0, color=MUTED, linewidth=0.8)
        arms.set(title="Righting arm", xlabel="heel / °", ylabel="GZ / m")
        arms.legend()
        names = ("surge", "sway", "heave", "roll", "pitch", "yaw")
        for i, name in enumerate(names):
            masses.plot(page.omega, page.added_mass[i], color=PALETTE[i], label=name)
            dampings.plot(page.omega, page.damping[i], color=PALETTE[i], label=name)
        masses.set(title="Added mass over mass", xlabel="ω / (rad/s)", ylabel="A / M")
        dampings.set(title="Radiation damping", xlabel="ω / (rad/s)", ylabel="B / (M ω)")
        masses.legend(ncols=2)
        _motions(axes[1, 2], page)
        figure.text(0.01, 0.002, page.facts, color=MUTED, fontsize=7.5, va="bottom")
        return figure


def _body_plan(axes: Axes, page: HullPage) -> None:
    for sections, colour, label, side in (
        (page.aft, PALETTE[0], "aft", (-np.inf, 0.0)),
        (page.fore, PALETTE[1], "fore", (0.0, np.inf)),
    ):
        lines = np.concatenate(sections) if sections else np.zeros((0, 2, 2))
        half = np.stack([np.clip(lines[..., 0], *side), -lines[..., 1]], axis=-1)
        half = half[np.abs(half[..., 0]).max(axis=1) > 0.0]  # the other side is the other body
        axes.add_collection(LineCollection(list(half), colors=colour, linewidths=0.9))
        axes.plot([], [], color=colour, label=label)
    axes.axhline(0.0, color=WATER, linewidth=2.0, zorder=0)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")  # a spar is narrow, a catamaran is low
    axes.set_title("Body plan", loc="right")
    axes.set(xlabel="y / m", ylabel="height / m")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)


def _motions(axes: Axes, page: HullPage) -> None:
    period = 2.0 * np.pi / page.waves
    shown = (
        (0, np.pi, "heave, head sea"),
        (0, np.pi / 2, "heave, beam sea"),
        (1, np.pi / 2, "roll, beam sea"),
        (2, np.pi, "pitch, head sea"),
    )
    for colour, (motion, heading, label) in zip(PALETTE, shown, strict=False):
        h = int(np.argmin(np.abs(page.headings - heading)))
        axes.plot(period, page.motions[motion, :, h], color=colour, label=label)
    axes.axhline(1.0, color=MUTED, linewidth=0.8, linestyle=":")
    highest = float(page.motions.max())
    title = "Motions over waves" + (f", seen to {MOST_SEEN:g}" if highest > MOST_SEEN else "")
    axes.set(title=title, xlabel="period / s", ylabel="per amplitude, per slope")
    axes.set_ylim(0.0, min(MOST_SEEN, 1.1 * highest))
    axes.set_xlim(0.0, min(float(period.max()), 8.0 * float(period.min())))
    axes.legend()
