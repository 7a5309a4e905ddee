"""`seatrial navigate`: how well a filter does on a recording, printed and drawn."""

import json
from pathlib import Path
from typing import Any

import typer

from seatrial.record.reader import read
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.validation.navigation import navigate


def show_navigation(
    path: Path, vehicle: str | None, smooth: bool, as_json: bool, out: Path | None
) -> None:
    """Navigate one vehicle of a recording again, print how well, and draw it."""
    recording = read(path)
    scenario = load_text(recording.header.description, Scenario)
    names = [v.name for v in recording.header.vehicles]
    rerun = navigate(recording, scenario, vehicle or names[0], smooth=smooth)
    report = rerun.report()
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        _print(report)
    if out is not None:
        from seatrial.figures.navigation import draw_navigation
        from seatrial.figures.plot import save

        page = draw_navigation(
            recording.header, rerun.vehicle, rerun.time, rerun.true, rerun.believed,
            rerun.deviation, "smoothed" if smooth else "filtered",
        )  # fmt: skip
        save(page, out)
        if not as_json:
            typer.echo(f"figure: {out}")


def _print(report: dict[str, Any]) -> None:
    typer.echo(f"{report['vehicle']}: {report['distance_m']:.1f} m in {report['duration_s']:.1f} s")
    share = report["horizontal_error_end_share"]
    typer.echo(
        f"horizontal error: {report['horizontal_error_rms_m']:.3f} m root mean square, "
        f"{report['horizontal_error_end_m']:.3f} m at the end"
        + (f" ({share:.2%} of the distance)" if share is not None else "")
    )
    typer.echo(f"depth error: {report['depth_error_rms_m']:.3f} m root mean square")
    typer.echo(f"largest jump of the error: {report['largest_jump_m']:.3f} m")
    typer.echo(f"position NEES: mean {report['position_nees_mean']:.2f}, 3 expected")
    for name, row in report["nis"].items():
        low, high = row["band_95"]
        typer.echo(
            f"NIS of {name}: mean {row['mean']:.2f}, 95 % band {low:.2f} … {high:.2f}, "
            f"{row['rejected']:.1%} of {row['samples']} rejected"
        )
