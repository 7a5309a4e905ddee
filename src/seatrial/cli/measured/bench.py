"""`seatrial bench`: timings, printed as they come or as one JSON list."""

import json
from collections.abc import Iterable

import typer

from seatrial.spec.scenario import Scenario
from seatrial.validation.timing.steps import Case, Helm, Row, time_case, time_run


def show_steps(cases: list[Case], as_json: bool) -> None:
    """Time a step of every case."""
    _show(
        (time_case(*case) for case in cases),
        f"{'vehicle':>16}{'vehicles':>11}  waves  precision  µs/(vehicle step)  × real time",
        "{vehicle:>16}{vehicles:>11,}{components:>7}  {precision:>9}"
        "{us_per_vehicle_step:>19.4f}{real_time_factor:>13,.1f}",
        as_json,
    )


def show_hulls(as_json: bool) -> None:
    """Time every model of a hull."""
    from seatrial.validation.timing.hulls import hull_rows

    _show(
        hull_rows(),
        f"{'vehicle':>10}  {'model':<15}{'panels':>8}{'vehicles':>10}  µs/(vehicle step)"
        "  of a core  × real time",
        "{vehicle:>10}  {model:<15}{panels:>8}{vehicles:>10}{us_per_vehicle_step:>19.3f}"
        "{cpu_us_per_vehicle_step:>11.3f}{real_time_factor:>13,.1f}",
        as_json,
    )


def show_rays(as_json: bool) -> None:
    """Time every sensor that casts rays, and some together."""
    from seatrial.validation.timing.rays import ray_rows

    _show(
        ray_rows(),
        f"{'sensor':>24}  rays/s of all cores  of raw Embree  with the same ends"
        "  in processor time  × real time",
        "{sensor:>24}{rays_per_s:>21,.0f}{share_of_raw:>15.0%}{share_of_ended:>20.0%}"
        "{share_in_processor_time:>19.0%}"
        "{real_time_factor:>13,.2f}",
        as_json,
    )


def show_camera(as_json: bool) -> None:
    """Time cameras above and below the water."""
    from seatrial.validation.timing.cameras import camera_rows

    _show(
        camera_rows(),
        f"{'sensor':>14}  {'renderer':<8}{'size':>12}  frames/s of all cores"
        "  processor ms/frame  share of the rays",
        "{sensor:>14}  {renderer:<8}{width:>7} × {height:<4}{frames_per_s:>19.1f}"
        "{cpu_ms_per_frame:>20.0f}{share_of_rays:>19.0%}",
        as_json,
    )


def show_gym(parallel: int, as_json: bool) -> None:
    """Time every environment for agents that learn."""
    from seatrial.validation.timing.learning import gym_rows

    _show(
        gym_rows(parallel),
        f"{'environment':>16}{'parallel':>12}  waves      steps/s",
        "{environment:>16}{parallel:>12,}{components:>7}{steps_per_s:>13,.0f}",
        as_json,
    )


def show_runs(cases: dict[str, tuple[Scenario, Helm | None]], as_json: bool) -> None:
    """Time a whole run of every case."""
    _show(
        (time_run(name, *case) for name, case in cases.items()),
        "× real time  what",
        "{real_time_factor:>11,.0f}  {vehicle}, {case}",
        as_json,
    )


def _show(rows: Iterable[Row], head: str, line: str, as_json: bool) -> None:
    """A row is printed when it was measured, so no table can be laid out."""
    if as_json:
        typer.echo(json.dumps(list(rows), indent=2))
        return
    typer.echo(head)
    for row in rows:
        typer.echo(line.format(**row))
