"""`seatrial allan`: the noise of a recorded IMU, printed and drawn."""

import json
from pathlib import Path

import typer

from seatrial.figures.plot import check_format, save
from seatrial.record.reader import read
from seatrial.validation.imu_noise import HOUR, MOVED, ImuNoise, analyse, choose_imu, words


def show_allan(
    path: Path, sensor: str | None, vehicle: str | None, out: Path | None, as_json: bool
) -> None:
    """Compute, print and draw; the figure is RUN-SENSOR-allan.png unless `out` names another."""
    recording = read(path)
    vehicle, info = choose_imu(recording, vehicle, sensor)
    picture = out or path.with_name(f"{path.stem}-{info.name}-allan.png")
    check_format(picture)
    noise = analyse(recording, vehicle, info)
    save(noise.draw(), picture)
    if as_json:
        typer.echo(json.dumps(noise.report(), indent=2))
        return
    _print(noise)
    typer.echo(f"figure: {picture}")


def _print(noise: ImuNoise) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(
        f"{noise.vehicle}/{noise.info.name}: {noise.duration / HOUR:.3g} h at "
        f"{noise.info.rate:g} Hz, axes pooled",
        highlight=False,
    )
    if noise.moved:
        console.print(MOVED, style="yellow")
    for triad, (_, fitted) in noise.triads.items():
        table = Table(title=triad, title_justify="left", box=None)
        for heading in ("", "fitted", f"{100 * fitted.level:g} % interval", "asked for"):
            table.add_column(heading, no_wrap=True)
        for c, estimate, asked in noise.found(triad):
            table.add_row(c.letter, *words(c, estimate), "" if asked is None else f"{asked:.4g}")
        console.print(table)
