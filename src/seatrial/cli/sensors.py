"""`seatrial sensors check`: every sensor of a vehicle, listed and drawn."""

from pathlib import Path

import typer

from seatrial.figures.plot import save
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.validation.sensor_check import check_sensors


def show_check(name: str, out: Path | None, seed: int) -> None:
    """Run a vehicle for a minute and draw each of its sensors against the truth."""
    vehicle = load(name, Vehicle)
    checked = check_sensors(vehicle, seed)
    out = out or Path(f"{vehicle.name}-sensors.png")
    save(checked.draw(), out)
    for sensor, _ in checked.pairs:
        typer.echo(f"{sensor.name:>14}  {sensor.type:<13} {sensor.rate:6g} Hz")
    typer.echo(f"figure: {out}")
