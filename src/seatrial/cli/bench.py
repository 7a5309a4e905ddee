"""`seatrial bench`: timings, printed as they come or as one JSON list."""

import json
from collections.abc import Iterable

import typer

from seatrial.spec.scenario import Scenario
from seatrial.validation.timing import Case, Helm, Row, time_case, time_run


def show_steps(cases: list[Case], as_json: bool) -> None:
    """Time a step of every case."""
    _show(
        (time_case(*case) for case in cases),
        "{vehicle:>16} × {vehicles:<9,}{components:>4} waves  "
        "{precision} {us_per_vehicle_step:9.4f} µs per vehicle and step"
        "{real_time_factor:14,.1f} × real time",
        as_json,
    )


def show_runs(cases: dict[str, tuple[Scenario, Helm | None]], as_json: bool) -> None:
    """Time a whole run of every case."""
    _show(
        (time_run(name, *case) for name, case in cases.items()),
        "{real_time_factor:10,.0f} × real time  {vehicle}, {case}",
        as_json,
    )


def _show(rows: Iterable[Row], line: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(list(rows), indent=2))
        return
    for row in rows:
        typer.echo(line.format(**row))
