"""`seatrial run` and `seatrial demo`: progress while running, a table at the end."""

import json
import sys
from pathlib import Path
from typing import Any

import typer

from seatrial.api import Run
from seatrial.api import run as run_scenario
from seatrial.compile.scenario import with_overrides
from seatrial.errors import RecordingError
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario


def run_with_progress(
    scenario: str,
    *,
    seed: int | None = None,
    duration: float | None = None,
    out: Path | None = None,
    quiet: bool = False,
) -> Run:
    """Run a scenario behind a progress bar on stderr."""
    described = with_overrides(load(scenario, Scenario), seed, duration)
    if out is not None and out.is_dir():
        raise RecordingError(f"{out}: is a folder\n  expected: a file to record to")
    if quiet or not sys.stderr.isatty():
        return run_scenario(described, out=out)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} s simulated"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"compiling {described.name}", total=described.duration)

        def advance(time: float) -> None:
            bar.update(task, description=described.name, completed=time)

        return run_scenario(described, out=out, progress=advance)


def as_dict(run: Run) -> dict[str, Any]:
    """A run as plain data."""
    summary = run.summary.as_dict()
    return {
        "scenario": run.header.scenario,
        "seed": run.header.seed,
        "version": run.header.version,
        "status": run.status,
        "duration": summary["duration"],
        "wall_time": run.wall_time,
        "real_time_factor": run.real_time_factor,
        "vehicles": summary["vehicles"],
    }


def show_run(run: Run, out: Path | None, as_json: bool) -> None:
    """The closing table, or the same as JSON."""
    if as_json:
        typer.echo(json.dumps(as_dict(run), indent=2, allow_nan=False))
        return
    from rich.console import Console
    from rich.table import Table

    header = run.header
    table = Table(title=f"{header.scenario} · seed {header.seed}", title_justify="left")
    table.add_column("vehicle", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for heading in (
        "distance",
        "mean\nspeed",
        "top\nspeed",
        "max\ndepth",
        "max\nroll",
        "max\npitch",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, vehicle in run.summary.vehicles.items():
        table.add_row(
            name,
            vehicle.status,
            f"{vehicle.distance:.1f} m",
            f"{vehicle.speed_mean:.2f} m/s",
            f"{vehicle.speed_max:.2f} m/s",
            f"{vehicle.depth_max:.1f} m",
            f"{vehicle.roll_max_deg:.1f}°",
            f"{vehicle.pitch_max_deg:.1f}°",
        )
    console = Console()
    console.print(table)
    for name, vehicle in run.summary.vehicles.items():
        for index, value in vehicle.indices.items():
            console.print(f"{name}: {index.replace('_', ' ')} {value:.3g}", highlight=False)
    console.print(
        f"{run.status} after {run.summary.duration:g} s, "
        f"{run.real_time_factor:,.0f} times real time",
        highlight=False,
    )
    if out is not None:
        console.print(f"recording: {out}", highlight=False, soft_wrap=True)


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
