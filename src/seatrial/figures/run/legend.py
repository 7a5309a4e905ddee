"""Legends that stand beside a diagram's title or below it, never on the data."""

import math
from typing import TYPE_CHECKING

from seatrial.figures.style import INK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Name = tuple[str, str, str]
"""Label, colour, and dashes as matplotlib writes them."""

ASKED: Name = ("asked for", INK, "--")
"""What guidance asks for."""
_POINTS = 72.0
_HANDLE, _BETWEEN, _LINE, _BELOW, _APART = 1.8, 1.1, 1.27, 0.4, 1.5
"""Of a line with its gap, between two entries, from row to row, between the rows and the axes, and
between the title and the first entry, in sizes of the letters."""


def write_title(axes: "Axes", title: str, names: list[Name], width: float) -> None:
    """Title, and what the lines are: to the right of it, or in rows below it; width in inches."""
    import matplotlib

    style = matplotlib.rcParams
    size, pad = float(style["legend.fontsize"]), float(style["axes.titlepad"])
    room = width * _POINTS
    entries = [text_width(label, size) + _HANDLE * size for label, _, _ in names]
    beside = sum(entries) + _BETWEEN * size * len(entries)
    head = text_width(title, float(style["axes.titlesize"]), bold=True)
    rows = 0
    if names and head + _APART * size + beside <= room:
        _draw(axes, names, len(names), right=True)
    elif names:
        columns = max(1, min(len(names), int(room / (max(entries) + _BETWEEN * size))))
        rows = math.ceil(len(names) / columns)
        columns = math.ceil(len(names) / rows)
        _draw(axes, names, columns)
    letters = float(style["axes.titlesize"]) * min(1.0, room / head)
    above = (rows * _LINE + _BELOW) * size if rows else 0.0
    axes.set_title(title, pad=pad + above, fontsize=letters)


def _draw(axes: "Axes", names: list[Name], columns: int, right: bool = False) -> None:
    axes.legend(
        handles=handles(names),
        ncols=columns,
        loc="lower right" if right else "lower left",
        bbox_to_anchor=(1.0 if right else 0.0, 1.0),
        borderaxespad=_BELOW,
        labelspacing=0.25,
    )


def handles(names: list[Name]) -> "list[Artist]":
    """Lines for a legend."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=c, ls=dashes, label=label) for label, c, dashes in names]


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Of one line in the figure's font, points."""
    import matplotlib
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    family = matplotlib.rcParams["font.family"]
    font = FontProperties(family=family, size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)
