"""`seatrial sensors`: every sensor of a vehicle, and a gallery of those that draw."""

from pathlib import Path

import typer

from seatrial.cli.progress import working
from seatrial.figures.plot import save
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle


def show_check(name: str, out: Path | None, seed: int) -> None:
    """Run a vehicle for a minute and draw each of its sensors against the truth."""
    from seatrial.validation.sensor_check import check_sensors

    vehicle = load(name, Vehicle)
    out = out or Path(f"{vehicle.name}-sensors.png")
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
