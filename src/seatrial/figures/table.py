"""The closing figures under a map."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seatrial.figures.style import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RULE = "#d5dbe1"


def draw_table(
    axes: "Axes",
    columns: Mapping[str, float],
    rows: Mapping[str, Sequence[str]],
    colours: Mapping[str, str],
    *,
    left: tuple[int, ...],
    head_height: float,
    row_height: float,
    font_size: float,
) -> None:
    """Draw a table without frame; `columns` are headings and widths, heights shares of the axes.

    `rows` are keyed by what `colours` colours their first cell with; the columns in `left` are
    flush left.
    """
    axes.axis("off")
    table = axes.table(
        [list(cells) for cells in rows.values()],
        colLabels=list(columns),
        colWidths=list(columns.values()),
        cellLoc="right",
        loc="upper center",
        edges="horizontal",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(font_size)
    keys = list(rows)
    for (row, column), cell in table.get_celld().items():
        cell.set_edgecolor(_RULE)
        cell.set_height(head_height if row == 0 else row_height)
        cell.set_text_props(color=MUTED if row == 0 else INK)
        if row == 0:
            cell.set_fontsize(8)
        if column in left:
            cell.set_text_props(ha="left")
        if row > 0 and column == 0:
            cell.set_text_props(color=colours[keys[row - 1]], fontweight="bold")
