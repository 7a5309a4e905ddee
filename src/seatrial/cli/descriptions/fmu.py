"""`seatrial export-fmu`: a vehicle for other people's co-simulation."""

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from seatrial.cli.arguments import VehicleArgument


def export_fmu(
    vehicle: VehicleArgument,
    world: Annotated[str, typer.Option(help="A world file, or a library name.")] = "calm",
    out: Annotated[Path | None, typer.Option(help="Unit to write; VEHICLE.fmu by default.")] = None,
    fmi: Annotated[int, typer.Option(help="Version of FMI.", min=2, max=3)] = 2,
    period: Annotated[
        float, typer.Option(help="Steps are whole multiples of this, s.", min=1e-3, max=1.0)
    ] = 0.02,
    seed: Annotated[int, typer.Option(help="Seed of the sea.", min=0)] = 0,
) -> None:
    """Write a vehicle in a sea as a Functional Mock-up Unit (FMI 2 or 3, co-simulation)."""
    from seatrial.fmu.export import export_fmu

    version = cast(Literal[2, 3], fmi)
    target = out or Path(f"{Path(vehicle).stem}.fmu")
    typer.echo(str(export_fmu(vehicle, world, target, version, period=period, seed=seed)))
