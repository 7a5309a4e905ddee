"""`seatrial allan`: the noise of a recorded IMU, printed and drawn."""

import json
from pathlib import Path

import typer

from seatrial.cli.progress import working
from seatrial.figures.plot import check_format, save
from seatrial.record.reader import read
from seatrial.validation.imu_noise import HOUR, MOVED, ImuNoise, analyse, choose_imu


def show_allan(
    path: Path, sensor: str | None, vehicle: str | None, out: Path | None, as_json: bool
) -> None:
    """Compute, print and draw; the figure is RUN-SENSOR-allan.png unless `out` names another."""
    recording = read(path)
    vehicle, info = choose_imu(recording, vehicle, sensor)
    picture = out or path.with_name(f"{path.stem}-{info.name}-allan.png")
    check_format(picture)
    with working("analysing", quiet=as_json):
        noise = analyse(recording, vehicle, info)
        save(noise.draw(), picture)
    if as_json:
        typer.echo(json.dumps(noise.report(), indent=2))
        return
    _print(noise)
    typer.echo(f"figure: {picture}")


def _print(noise: ImuNoise) -> None:

    from seatrial.cli.tables import number, show_table, terminal

    console = terminal()
    console.print(
        f"{noise.vehicle}/{noise.info.name}: {noise.duration / HOUR:.3g} h at "
        f"{noise.info.rate:g} Hz, axes pooled",
    )
    if noise.moved:
        console.print(MOVED, style="yellow")
    for triad, (_, fitted) in noise.triads.items():
        rows = []
        for c, estimate, asked in noise.found(triad):
            wanted = "" if asked is None else number(asked)
            if estimate.value is None:
                found = ["not observed", f"at most {number(estimate.high)}", wanted, ""]
            else:
                interval = f"{number(estimate.low)} to {number(estimate.high)}"
                usual = f"{number(estimate.value / c.usual)} {c.usual_unit}"
                found = [number(estimate.value), interval, wanted, usual]
            rows.append([c.letter, c.unit, *found])
        headings = ("", "unit", "fitted", f"{100 * fitted.level:g} % interval", "asked for")
        show_table(console, triad, (*headings, "fitted, as on\ndata sheets"), rows, names=2)
