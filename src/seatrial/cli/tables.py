"""Tables for a terminal of 80 columns: every number whole, a unit in every head."""

import math
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_GAP = 2
_LONGEST_NAME = 30
"""Columns that a name is given at least; a longer one is folded where room is short."""


def terminal() -> Console:
    """Where tables and sentences are printed: brackets in paths and names are no markup."""
    return Console(markup=False, highlight=False)


def show_table(
    console: Console,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: int = 1,
) -> None:
    """Print a table without a frame; the first `names` columns are words, the others numbers.

    Words are folded where they must be, and sentences in any column; numbers never are. Columns
    that find no room come below, beside the words once more.
    """
    widths = [max(map(_width, column)) for column in zip(headings, *rows, strict=True)]
    room = console.width - sum(min(w, _LONGEST_NAME) + _GAP for w in widths[:names])
    parts: list[list[int]] = [[]]
    left = room
    for i in range(names, len(headings)):
        if parts[-1] and widths[i] + _GAP > left:
            parts.append([])
            left = room
        parts[-1].append(i)
        left -= widths[i] + _GAP
    for k, part in enumerate(parts):
        table = Table(title=None if k else title or None, title_justify="left", box=None)
        for heading in headings[:names]:
            table.add_column(Text(heading), overflow="fold")
        for i in part:
            if widths[i] > room:  # sentences, which no terminal has room for
                table.add_column(Text(headings[i]), overflow="fold")
            else:
                table.add_column(Text(headings[i]), justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(cell) for cell in (*row[:names], *(row[i] for i in part))))
        console.print(table)


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits: 0.0596, 7.72, 38.3, 1450, 4.72e10, −2.5e−7."""
    if value == 0.0 or not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, f"{abs(value):g}")
    size = math.floor(math.log10(abs(value)))
    if -4 <= size < 6:
        decimals = digits - 1 - size
        return f"{round(value, decimals):.{max(0, decimals)}f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals, unless it is too large for a column."""
    return f"{value:.{decimals}f}" if abs(value) < 1e6 else number(value)


def _width(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))
