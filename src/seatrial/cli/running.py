"""`seatrial run` and `seatrial demo`: progress while running, a table at the end."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import typer

from seatrial.api import Run
from seatrial.api import run as run_scenario
from seatrial.compile.variations import with_overrides
from seatrial.engine.frames import INDEX_UNITS, Event
from seatrial.errors import RecordingError
from seatrial.record.choose import recorder
from seatrial.record.infos import without_nan
from seatrial.record.kinds import KindSummary, by_kind
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario

_MOST_ROWS = 20
"""With more vehicles than this the table has a row per kind."""
_MOST_EVENTS = 20
"""Lines for the events of one vehicle; the JSON and the recording have them all."""
_MOST_IN_JSON = 1000
"""With more vehicles than this the JSON has an entry per kind."""

_FIGURES = {
    "distance": ("distance\nm", 1),
    "speed_mean": ("mean\nspeed\nm/s", 2),
    "speed_max": ("top\nspeed\nm/s", 2),
    "depth_max": ("max\ndepth\nm", 1),
    "roll_max_deg": ("max\nroll\n°", 1),
    "pitch_max_deg": ("max\npitch\n°", 1),
}
"""Name in a summary -> heading with unit, decimals."""


class ViewOptions(NamedTuple):
    """How a run is shown while it runs."""

    speed: float
    port: int
    browser: bool


def run_with_progress(
    scenario: str,
    *,
    seed: int | None = None,
    duration: float | None = None,
    faults: Sequence[str] = (),
    out: Path | None = None,
    allow_code: bool = False,
    quiet: bool = False,
    view: ViewOptions | None = None,
) -> Run:
    """Run a scenario behind a progress bar on stderr, or behind a page."""
    described = with_overrides(load(scenario, Scenario), seed, duration, faults)
    if out is not None:  # a name that cannot be used is refused before anything is compiled
        recorder(out, sum(p.count for p in described.vehicles))
    if view is not None:
        return _run_in_view(described, view, out, allow_code)
    if quiet or not sys.stderr.isatty():
        return run_scenario(described, out=out, allow_code=allow_code)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} s simulated"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"compiling {described.name}", total=described.duration)

        def advance(time: float) -> None:
            bar.update(task, description=described.name, completed=time)

        return run_scenario(described, out=out, progress=advance, allow_code=allow_code)


def _run_in_view(described: Scenario, view: ViewOptions, out: Path | None, allow_code: bool) -> Run:
    from seatrial.cli.viewing import say_refusals, show_page
    from seatrial.viewing import Page, run_in_view

    pages: list[Page] = []

    def shown(page: Page) -> None:
        pages.append(page)
        show_page(page, view.browser, err=True)  # the outcome alone goes to stdout

    run = run_in_view(
        described, out=out, allow_code=allow_code, port=view.port, speed=view.speed, shown=shown
    )
    for page in pages:
        say_refusals(page, err=True)
    return run


def as_dict(run: Run) -> dict[str, Any]:
    """A run as plain data."""
    if len(run.header.vehicles) > _MOST_IN_JSON:
        kinds = by_kind(run.header, run.summary)
        vehicles = {kind: _kind_as_dict(end) for kind, end in kinds.items()}
    else:
        vehicles = run.summary.as_dict()["vehicles"]
    return {
        "scenario": run.header.scenario,
        "seed": run.header.seed,
        "version": run.header.version,
        "status": run.status,
        "failure": None if run.failure is None else str(run.failure),
        "duration": run.summary.duration,
        "wall_time": run.wall_time,
        "real_time_factor": run.real_time_factor,
        "vehicles": vehicles,
    }


def _kind_as_dict(end: KindSummary) -> dict[str, Any]:
    figures = {name: asdict(spread) for name, spread in end.figures.items()}
    return {"count": end.count, "status": end.status, **figures}


def show_run(run: Run, out: Path | None, as_json: bool) -> None:
    """The closing table, or the same as JSON."""
    if as_json:
        typer.echo(json.dumps(without_nan(as_dict(run)), indent=2, allow_nan=False))
        return
    from seatrial.cli.tables import show_table, terminal

    console = terminal()
    header = run.header
    crowd = len(header.vehicles) > _MOST_ROWS
    headings = ("vehicles", "") if crowd else ("vehicle", "status")
    show_table(
        console,
        f"{header.scenario} · seed {header.seed}",
        [*headings, *(heading for heading, _ in _FIGURES.values())],
        _rows_of_kinds(run) if crowd else _rows_of_vehicles(run),
        names=2,
    )
    if not crowd:
        for name, vehicle in run.summary.vehicles.items():
            for line in (*_list_events(vehicle.events), *_list_indices(vehicle.indices)):
                console.print(f"{name}: {line}")
    console.print(
        f"{run.status} after {run.summary.duration:g} s, "
        f"{run.real_time_factor:,.0f} times real time",
    )
    if out is not None:
        console.print(f"recording: {out}", soft_wrap=True)


def _list_events(events: tuple[Event, ...]) -> list[str]:
    """A line per event; of a long list its first and last ones."""
    lines = [f"{event.time:g} s {event.text}" for event in events]
    if len(lines) <= _MOST_EVENTS:
        return lines
    half = _MOST_EVENTS // 2
    return [*lines[:half], f"and {len(lines) - 2 * half} more events", *lines[-half:]]


def _list_indices(indices: dict[str, float]) -> list[str]:
    legs = []
    if "legs" in indices:
        done, reached = indices["legs_done"], indices["legs_reached"]
        legs = [f"{done:.0f} of {indices['legs']:.0f} legs done, {reached:.0f} reached"]
    return legs + [
        f"{index.replace('_', ' ')} {value:.3g} {INDEX_UNITS.get(index, '')}".rstrip()
        for index, value in indices.items()
        if not index.startswith("legs")
    ]


def _rows_of_vehicles(run: Run) -> list[list[str]]:
    from seatrial.cli.tables import fixed

    return [
        [name, v.ending, *(fixed(getattr(v, f), places) for f, (_, places) in _FIGURES.items())]
        for name, v in run.summary.vehicles.items()
    ]


def _rows_of_kinds(run: Run) -> list[list[str]]:
    """Three lines per kind."""
    from seatrial.cli.tables import fixed

    rows = []
    for kind, end in by_kind(run.header, run.summary).items():
        ends = [f"{count:,} {status}" for status, count in end.status.items()]
        figures = []
        for figure, (_, places) in _FIGURES.items():
            spread = end.figures[figure]
            values = (spread.median, spread.min, spread.max)
            figures.append("\n".join(fixed(value, places) for value in values))
        rows.append(["\n".join([kind, *ends]), "median\nmin\nmax", *figures])
    return rows


def show_demo(folder: Path) -> None:
    """Run the demo, record it and draw it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"{folder}: cannot be used as a folder ({error.strerror})\n"
            "  to mend:  name another one with --folder"
        ) from None
    out = folder / "demo.mcap"
    finished = run_with_progress("demo", out=out)
    show_run(finished, out, as_json=False)
    finished.plot(folder / "demo.png")
    typer.echo(f"figure: {folder / 'demo.png'}")
    typer.echo(f"in the browser: seatrial view {out}")
