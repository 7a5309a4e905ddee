"""`seatrial sensors document`: how the sensors of a vehicle speak."""

from pathlib import Path
from typing import Any

import typer

from seatrial.bridges.documents import interface_document
from seatrial.cli.progress import working
from seatrial.compile.scenario import compile_scenario
from seatrial.errors import RecordingError
from seatrial.spec.loading import load
from seatrial.spec.scenario import Scenario
from seatrial.spec.vehicle import Vehicle


def write_document(name: str, out: Path | None) -> None:
    """Write the page of a vehicle, or print it."""
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
