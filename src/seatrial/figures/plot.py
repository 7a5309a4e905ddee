"""Figures that tell what happened in a run: a page of all of it, or what was chosen, for a paper.

A figure is a matplotlib Figure of its own: no pyplot, no display, nothing left behind in a
notebook's state. The same recording gives the same bytes.
"""

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from seatrial.engine.frames import INDEX_UNITS, RunSummary
from seatrial.errors import RecordingError
from seatrial.figures.run.choice import View, checked, choose
from seatrial.figures.run.film import FILMS, Told, write_film
from seatrial.figures.run.lines import Line, lines_of
from seatrial.figures.run.panels import Panel, Panels
from seatrial.figures.run.paper import draw_paper
from seatrial.figures.run.track import draw_track
from seatrial.figures.style import INK, MUTED, STYLE
from seatrial.figures.swarm_page import SwarmPage, count_per_kind
from seatrial.figures.table import draw_table
from seatrial.record.place import as_path
from seatrial.record.reader import Recording, read

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seatrial.figures.page import Page

Recorded = str | Path | Recording

FORMATS = ("png", "pdf", "svg")
_NO_DATES: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}
_QUICKLY: dict[str, dict[str, Any]] = {"png": {"pil_kwargs": {"compress_level": 3}}}
"""A tenth larger than by default, and written in half the time."""
MOST_SINGLES = 12
"""With more vehicles than this the page shows the swarm, not every vehicle."""
_ROWS_IN_TABLE = 6
_COLUMNS = {
    "vehicle": 0.2,
    "status": 0.135,
    "distance\n[m]": 0.105,
    "mean speed\n[m/s]": 0.13,
    "top speed\n[m/s]": 0.12,
    "max depth\n[m]": 0.12,
    "max roll\n[°]": 0.1,
    "max pitch\n[°]": 0.11,
}
"""Heading -> share of the table's width."""
_HEAD, _ROW, _LINE = 0.42, 0.26, 0.19
"""Heights in the table, inches."""
_NOTE_WIDTH = 78
_NAME_WIDTH = 12
_MAP_WIDTH, _PANEL_WIDTH = 5.6, 4.05
"""Of the axes, inches."""


def plot(
    recordings: Recorded | Sequence[Recorded],
    out: str | Path,
    *,
    progress: Told | None = None,
    **view: Unpack[View],
) -> Path:
    """Write `figure`; the suffix of `out` says whether as png, pdf or svg.

    With gif or mp4 it is a film of the track and the attitude; `progress` is told the share of it
    that is done.
    """
    written(recordings, out, progress=progress, **view)
    return as_path(out)


def written(
    recordings: Recorded | Sequence[Recorded],
    out: str | Path,
    *,
    progress: Told | None = None,
    **view: Unpack[View],
) -> "Page | None":
    """The same, and the page that was drawn for it; a film has none."""
    view = checked(view)
    out, speed = as_path(out), view.get("speed")
    if out.suffix.lstrip(".").lower() in FILMS:
        wrong = [key for key in ("panels", "width", "height") if view.get(key)]
        if wrong:
            raise RecordingError(
                f"{out}: a film shows map and attitude, and takes no {wrong[0]}\n"
                "  expected: a time, vehicles and a speed\n"
                f"  to mend:  leave it out, or draw {out.with_suffix('.png')}"
            )
        runs = _chosen(recordings, view)
        _check_count(runs)
        with _style():
            write_film(runs, out, speed, progress)
        return None
    if speed is not None:
        raise RecordingError(
            f"{out}: only a film has a speed\n"
            f"  expected: a file name that ends in {' or '.join('.' + f for f in FILMS)}"
        )
    check_format(out, (*FORMATS, *FILMS))
    page = figure(recordings, **view)
    save(page, out)
    return page


def check_format(out: str | Path, formats: tuple[str, ...] = FORMATS) -> str:
    """The format that the name of a picture asks for, or a refusal."""
    out = as_path(out)
    suffix = out.suffix.lstrip(".").lower()
    if suffix not in formats:
        raise RecordingError(
            f"{out}: cannot draw a picture of this kind\n"
            f"  expected: a file name that ends in {', '.join('.' + f for f in formats)}\n"
            f"  to mend:  {out.parent / (out.stem.strip('.') or 'figure')}.png"
        )
    if not out.parent.is_dir():
        raise RecordingError(
            f"{out}: there is no folder {out.parent}\n"
            "  expected: a name in a folder that exists\n"
            f"  to mend:  make it: mkdir -p {out.parent}"
        )
    return suffix


def save(page: "Page", out: str | Path) -> Path:
    """Write any page, the same bytes every time."""
    out = as_path(out)
    suffix = check_format(out)
    try:
        with _style():
            page.savefig(out, dpi=150, metadata=_NO_DATES[suffix], **_QUICKLY.get(suffix, {}))
    except OSError as error:
        raise RecordingError(
            f"{out}: cannot write the picture ({error.strerror or error})\n"
            "  expected: a file in a folder that exists and is writable"
        ) from error
    return out


def figure(recordings: Recorded | Sequence[Recorded], **view: Unpack[View]) -> "Page":
    """A matplotlib Figure that a notebook shows by itself.

    Of one recording a page that tells all of it; with `panels`, `width` or `height`, or of several
    recordings, only their diagrams, in the size that was asked for.
    """
    view = checked(view)
    runs = _chosen(recordings, view)
    chosen = len(runs) > 1 or any(view.get(key) for key in ("panels", "width", "height"))
    if chosen:
        _check_count(runs)
    with _style():
        return draw_paper(runs, view) if chosen else _draw_page(runs[0])


def _style() -> AbstractContextManager[None]:
    import matplotlib

    return matplotlib.rc_context(STYLE)


def _chosen(recordings: Recorded | Sequence[Recorded], view: View) -> list[Recording]:
    """What there is to draw, or a refusal."""
    given = [recordings] if isinstance(recordings, str | Path | Recording) else recordings
    runs = [choose(r if isinstance(r, Recording) else read(r), view) for r in given]
    for run in runs:
        if run.dataset.sizes["time"] < 2:
            raise RecordingError(
                f"{run.path}: nothing to draw\n"
                f"  found:    {run.dataset.sizes['time']} frames\n"
                "  expected: a run of two frames or more"
            )
    return runs


def _check_count(runs: list[Recording]) -> None:
    """Refuse a swarm where every vehicle would have a line of its own."""
    vehicles = sum(len(run.header.vehicles) for run in runs)
    if vehicles > MOST_SINGLES:
        raise RecordingError(
            f"{runs[0].path}: {vehicles:,} vehicles are too many for lines of their own\n"
            f"  expected: at most {MOST_SINGLES}\n"
            "  to mend:  name some with --vehicle, or draw the whole swarm as a page"
        )


def _draw_page(run: Recording) -> "Page":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from seatrial.figures.page import Page

    swarm = SwarmPage(run) if len(run.header.vehicles) > MOST_SINGLES else None
    lines = [] if swarm else lines_of([run])
    panels = [] if swarm else Panels([run], lines).telling()
    rows = swarm.rows if swarm else -(-len(panels) // 2)
    height = 1.2 + (2.3 * rows if swarm else 1.75 * max(rows, 4))
    spacing = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.05, wspace=0.03, hspace=0.03)
    page = Page(figsize=(16.0, height), layout=spacing)
    FigureCanvasAgg(page)
    areas: Any = page.subfigures(1, 2, width_ratios=(0.82, 1.18))
    left, right = areas
    if swarm:
        swarm.draw_left(left, height)
        swarm.draw_right(right)
    else:
        _draw_left(left, run, lines, height)
        _draw_panels(right, panels, rows)
    _draw_title(page, run)
    return page


def _draw_title(page: "Page", run: Recording) -> None:
    header = run.header
    time = run.dataset["time"].values
    facts = [
        count_per_kind(run),
        f"{time[-1] - time[0]:.6g} s",
        run.summary.status if run.summary else "unfinished recording",
        f"seed {header.seed}",
        f"seatrial {header.version}",
    ]
    page.suptitle(header.scenario, x=0.012, ha="left", fontsize=16, fontweight="bold", color=INK)
    page.text(0.99, 0.99, "  ·  ".join(facts), ha="right", va="top", fontsize=10.5, color=MUTED)


def _draw_left(area: Any, run: Recording, lines: list[Line], height: float) -> None:
    """The map, and below it the closing table as high as it needs to be (inches)."""
    if run.summary is None:
        draw_track(area.subplots(), lines, _MAP_WIDTH)
        return
    names = [v.name for v in run.header.vehicles if v.name in run.summary.vehicles]
    shown = names[:_ROWS_IN_TABLE]
    notes = _notes(run.summary, shown)
    if len(names) > len(shown):
        notes.append(f"and {len(names) - len(shown)} more vehicles")
    table_height = _HEAD + _ROW * len(shown) + _LINE * (len(notes) + 1)
    above, below = area.subplots(2, 1, height_ratios=(height - table_height, table_height))
    draw_track(above, lines, _MAP_WIDTH)
    colours = {x.vehicle.name: x.colour for x in lines}
    _draw_table(below, run.summary, shown, colours, table_height)
    below.text(0.0, 0.0, "\n".join(notes), transform=below.transAxes, va="bottom", color=INK)


def _notes(summary: RunSummary, names: list[str]) -> list[str]:
    """The figures of manoeuvre, mission and navigation, broken into lines."""
    lines = []
    for name in names:
        figures = [
            f"{k.replace('_', ' ')} {x:.3g}\N{NO-BREAK SPACE}{INDEX_UNITS.get(k, '')}".rstrip()
            for k, x in summary.vehicles[name].indices.items()
        ]
        if figures:
            lines += textwrap.wrap(f"{name}:  " + ",  ".join(figures), _NOTE_WIDTH)
    return lines


def _draw_table(
    axes: "Axes", summary: RunSummary, names: list[str], colours: dict[str, str], height: float
) -> None:
    """The closing figures, one row per vehicle."""
    rows = {}
    for name in names:
        v = summary.vehicles[name]
        speeds = [f"{v.speed_mean:.2f}", f"{v.speed_max:.2f}", f"{v.depth_max:.2f}"]
        angles = [f"{v.roll_max_deg:.1f}", f"{v.pitch_max_deg:.1f}"]
        short = name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"
        rows[name] = [short, v.status, f"{v.distance:.1f}", *speeds, *angles]
    draw_table(
        axes,
        _COLUMNS,
        rows,
        colours,
        left=(0, 1),
        head_height=_HEAD / height,
        row_height=_ROW / height,
        font_size=9,
    )


def _draw_panels(area: Any, panels: list[Panel], rows: int) -> None:
    """Down the first column, then down the second."""
    grid = area.subplots(rows, 2, sharex=True, squeeze=False)
    places = list(grid.T.flat)
    for axes, panel in zip(places, panels, strict=False):
        panel.draw(axes, _PANEL_WIDTH)
    for axes in places[len(panels) :]:
        axes.remove()
    for axes in (places[rows - 1], places[len(panels) - 1]):
        axes.xaxis.set_tick_params(labelbottom=True)
        axes.set_xlabel(panels[0].time_label)
