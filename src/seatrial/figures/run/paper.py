"""A figure for a paper: the diagrams that were asked for, in the size that was asked for."""

from typing import TYPE_CHECKING, Any

from seatrial.figures.run.choice import View, inches
from seatrial.figures.run.legend import handles, text_width
from seatrial.figures.run.lines import Line, lines_of
from seatrial.figures.run.panels import TRACK, Panels
from seatrial.figures.run.track import draw_track
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    from seatrial.figures.page import Page

_WIDTH, _WIDE = 180.0, 300.0
"""Of a figure over both columns of a journal, and of one with everything, mm."""
_COLUMN = 3.2
"""Least width of a column of diagrams, inches."""
_ROW, _LEAST_ROWS = 1.35, 2
"""Height of a diagram, inches, and rows of one that nobody gave a height."""
_LEAST_HEIGHT = 2.3
"""Of a figure, inches: room for eight thrusters' names above their lines."""
_MAP_SHAPE = 0.95
"""Height of the map over its width."""
_LABELS = 0.75
"""Of a column's width, what is left of and right of the axes, inches."""
_SMALL: Any = {
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "lines.linewidth": 1.0,
    "axes.linewidth": 0.6,
    "axes.titlepad": 3,
}
"""As journals ask for: 7 to 8 points when it is printed."""


def draw_paper(runs: list[Recording], view: View) -> "Page":
    """The map beside or above the diagrams; no title, which a caption gives."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from seatrial.figures.page import Page

    asked = view.get("panels")
    assert not isinstance(asked, str)  # `checked` makes lists
    width = inches(view.get("width") or (_WIDTH if asked else _WIDE))
    with matplotlib.rc_context(_SMALL):
        lines = lines_of(runs)
        made = Panels(runs, lines)
        panels = made.asked(asked) if asked else made.telling()
        grid = _Grid(width, len(panels), not asked or TRACK in asked)
        height = view.get("height")
        high = inches(height) if height else max(_LEAST_HEIGHT, _ROW * grid.rows + 0.35)
        spacing = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0.02, hspace=0.02)
        page = Page(figsize=(width, high), layout=spacing)
        FigureCanvasAgg(page)
        columns = page.add_gridspec(1, len(grid.counts))
        room = width / len(grid.counts) - _LABELS
        left, first = iter(panels), None
        for k, count in enumerate(grid.counts):
            heights = [*([grid.map_rows] if k == 0 and grid.map_rows else []), *[1] * count]
            cells = columns[k].subgridspec(len(heights), 1, height_ratios=heights)
            places = [cells[row] for row in range(len(heights))]
            if len(heights) > count:
                draw_track(page.add_subplot(places.pop(0)), lines, room, named=False)
            for place in places:
                panel = next(left)
                first = axes = page.add_subplot(place, sharex=first)
                panel.draw(axes, room)
                if place is places[-1]:
                    axes.set_xlabel(panel.time_label)
                else:
                    axes.xaxis.set_tick_params(labelbottom=False)
        if len(lines) > 1:
            _name(page, lines, width)
    return page


class _Grid:
    """Columns of diagrams that fill the height: the map at the upper left, the others after it."""

    def __init__(self, width: float, panels: int, mapped: bool) -> None:
        columns = max(1, min(int(width / _COLUMN), 3, panels + mapped))
        high = round(_MAP_SHAPE * width / columns / _ROW)
        self.map_rows = max(_LEAST_ROWS, high) if mapped else 0
        self.rows = max(1, self.map_rows, -(-(panels + self.map_rows) // columns))
        below = min(panels, self.rows - self.map_rows) if columns > 1 and mapped else 0
        others = columns - 1 if mapped and columns > 1 else columns
        share, more = divmod(panels - below, others)
        counts = [share + (k < more) for k in range(others)]
        self.counts = [below, *counts] if others < columns else counts
        """Diagrams in every column."""


def _name(page: "Page", lines: list[Line], width: float) -> None:
    """Who is who, above all diagrams."""
    import matplotlib

    size = float(matplotlib.rcParams["legend.fontsize"])
    widest = max(text_width(x.label, size) for x in lines) + 3.0 * size
    columns = max(1, min(len(lines), int(72.0 * width / widest)))
    page.legend(
        handles=handles([(x.label, x.colour, "-") for x in lines]),
        loc="outside upper center",
        borderaxespad=0.6,
        ncols=columns,
    )
