"""An episode from above, as an image."""

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.learning.environment import Environment, Episodes
from seatrial.spatial.rotations import to_euler

SIZE = 480
"""Of the image, pixels."""
LEAST = 10.0
"""Lengths of the vehicle that are always shown."""


def picture(
    environment: Environment, episodes: Episodes, track: NDArray[np.float64]
) -> NDArray[np.uint8]:
    """(480, 480, 3): the track (P, 3), the vehicle to scale, and what it is to do."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIZE / 100, SIZE / 100), dpi=100, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)  # it has no types
    axes = figure.add_subplot()
    length = float(environment.arena.length)
    goal: Any = jax.tree.map(lambda part: np.asarray(part)[..., 0], episodes.goal)
    colours: dict[str, str] = {}
    for outline in environment.task.outlines(goal, length):
        colour = colours.get(outline.label)
        north, east = outline.points
        (line,) = axes.plot(
            *(east, north),
            color=colour or f"C{len(colours) + 1}",
            label=None if colour else outline.label,
            linewidth=1.2,
        )
        colours[outline.label] = str(line.get_color())
    axes.plot(track[:, 1], track[:, 0], color="C0", linewidth=1.5, label="track")
    heading = float(np.asarray(to_euler(episodes.vessel.attitude))[2, 0])
    shape = length * np.array([[0.5, 0.2, -0.5, -0.5, 0.2, 0.5], [0.0, 0.2, 0.2, -0.2, -0.2, 0.0]])
    c, s = np.cos(heading), np.sin(heading)
    north, east = np.array([[c, -s], [s, c]]) @ shape + track[-1, :2, None]
    axes.fill(east, north, color="black")
    _frame(axes, LEAST * length)
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")
    axes.legend(loc="upper right", fontsize=8)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _frame(axes: Any, least: float) -> None:
    """A square that holds everything."""
    axes.set_aspect("equal", adjustable="box")
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    half = 0.5 * max(x1 - x0, y1 - y0, least)
    axes.set_xlim(0.5 * (x0 + x1) - half, 0.5 * (x0 + x1) + half)
    axes.set_ylim(0.5 * (y0 + y1) - half, 0.5 * (y0 + y1) + half)
