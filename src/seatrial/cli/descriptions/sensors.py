"""`seatrial sensors`: sensors of a vehicle, how they speak, and a gallery of those that draw."""

from pathlib import Path
from typing import Any

import typer

from seatrial.cli.progress import working
from seatrial.errors import RecordingError
from seatrial.figures.plot import check_format, save
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle


def show_check(name: str, out: Path | None, seed: int) -> None:
    """Run a vehicle for a minute and draw each of its sensors against the truth."""
    from seatrial.validation.sensor_check import check_sensors

    vehicle = load(name, Vehicle)
    out = out or Path(f"{vehicle.name}-sensors.png")
    check_format(out)  # before a minute is computed
    with working(f"running {vehicle.name}"):
        checked = check_sensors(vehicle, seed)
        save(checked.draw(), out)
    for sensor, _ in checked.pairs:
        typer.echo(f"{sensor.name:>14}  {sensor.type:<13} {sensor.rate:6g} Hz")
    typer.echo(f"figure: {out}")


def show_gallery(out: Path, seed: int) -> None:
    """Draw what sonars, radar, LiDAR and depth camera see of worlds of the library."""
    from seatrial.figures.gallery import write_gallery
    from seatrial.validation.gallery import PICTURES, take

    shots = []
    for picture in PICTURES:
        with working(f"{picture.title}, in {picture.world}"):
            shots.append(take(picture, seed))
    with working("drawing"):
        write_gallery(shots, out)
    typer.echo(f"{len(shots)} pictures: {out}")


def write_document(name: str, out: Path | None) -> None:
    """Write the page of a vehicle, or print it."""
    from seatrial.bridges.documents import interface_document
    from seatrial.compile.scenario import compile_scenario
    from seatrial.spec.scenario import Scenario

    if out is not None and out.suffix.lower() not in (".md", ".txt"):
        raise RecordingError(
            f"{out}: the page is text\n"
            "  expected: a name that ends in .md or .txt\n"
            f"  to mend:  --out {Path(name).stem}-sensors.md"
        )
    vehicle = load(name, Vehicle)
    described: dict[str, Any] = {"world": "calm", "duration": 1.0}
    described["vehicles"] = [{"name": vehicle.name, "vehicle": vehicle}]
    with working(f"reading {vehicle.name}"):
        header = compile_scenario(Scenario(**described)).header
    text = interface_document(header, header.vehicles[0])
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordingError(
            f"{out}: cannot write the page ({error.strerror})\n"
            "  expected: a file in a folder that exists and is writable"
        ) from None
    typer.echo(f"page: {out}")
