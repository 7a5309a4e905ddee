"""`seatrial navigate`: how well a filter does on a recording, printed and drawn."""

import json
from pathlib import Path
from typing import Any

import typer

from seatrial.cli.progress import working
from seatrial.record.reader import read
from seatrial.spec.loading import load_text
from seatrial.spec.scenario import Scenario
from seatrial.validation.navigation import navigate


def show_navigation(
    path: Path, vehicle: str | None, smooth: bool, as_json: bool, out: Path | None
) -> None:
    """Navigate one vehicle of a recording again, print how well, and draw it."""
    if out is not None:  # a name that cannot be used is refused before anything is computed
        from seatrial.figures.plot import check_format

        check_format(out)
    with working("smoothing" if smooth else "filtering", quiet=as_json):
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

    from seatrial.cli.tables import fixed, show_table, terminal

    typer.echo(f"{report['vehicle']}: {report['distance_m']:.1f} m in {report['duration_s']:.1f} s")
    share = report["horizontal_error_end_share"]
    end = f"{report['horizontal_error_end_m']:.3f}"
    rows = [
        ["horizontal error, root mean square [m]", f"{report['horizontal_error_rms_m']:.3f}"],
        ["horizontal error at the end [m]", end],
        ["depth error, root mean square [m]", f"{report['depth_error_rms_m']:.3f}"],
        ["largest jump of the error [m]", f"{report['largest_jump_m']:.3f}"],
        ["position NEES, mean (3 expected)", f"{report['position_nees_mean']:.2f}"],
    ]
    if share is not None:
        rows.insert(2, ["the same over the distance [%]", f"{100.0 * share:.2f}"])
    console = terminal()
    show_table(console, "", ("", "found"), rows)
    measured = [
        [
            name,
            f"{row['samples']}",
            fixed(row["mean"], 2),
            " to ".join(fixed(limit, 2) for limit in row["band_95"]),
            f"{100.0 * row['rejected']:.1f}",
        ]
        for name, row in report["nis"].items()
    ]
    if measured:
        headings = ("sensor", "samples", "mean NIS", "95 % band", "rejected\n%")
        show_table(console, "", headings, measured)
    typer.echo(f"Verdict: {report['verdict']}.")
