"""`seatrial tune`."""

import dataclasses
import json
import math
from typing import Any

import typer

from seatrial.compile.autonomy.tuning import design
from seatrial.design.tuning import Tuning
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle


def show_tuning(
    name: str, speed: float | None, period: float, wave_frequency: float | None, as_json: bool
) -> None:
    """Design the loops of a vehicle and print trim, gains, bandwidths and margins."""
    vehicle = load(name, Vehicle)
    tuning = design(vehicle, speed, period=period, wave_frequency=wave_frequency).tuning
    if as_json:
        typer.echo(json.dumps(_document(tuning), indent=2))
        raise typer.Exit(1 if tuning.failures else 0)
    from rich.console import Console
    from rich.table import Table

    console = Console()
    trim = tuning.trim
    forces = ", ".join(f"{round(w, 6):.4g}" for w in trim.wrench)
    console.print(
        f"[bold]{tuning.vehicle}[/bold] at {trim.speed:.3g} m/s: pitch "
        f"{math.degrees(trim.pitch):.2f}°, roll {math.degrees(trim.roll):.2f}°, wrench "
        f"\\[{forces}] N, N m; control every {tuning.period:g} s"
    )
    table = Table(box=None)
    table.add_column("loop")
    for heading in ("ω rad/s", "mass", "Kp", "Ki", "Kd", "phase °", "gain dB", "max |S|"):
        table.add_column(heading, justify="right")
    for loop in tuning.loops:
        margins = loop.margins
        table.add_row(
            loop.name,
            f"{loop.bandwidth:.3g}",
            f"{loop.mass:.3g}" if loop.mass else "",
            f"{loop.proportional:.3g}",
            f"{loop.integral:.3g}",
            f"{loop.derivative:.3g}",
            f"{margins.phase:.0f}",
            f"{_decibels(margins.gain):.1f}" if math.isfinite(margins.gain) else "∞",
            f"{margins.sensitivity:.2f}",
        )
    console.print(table)
    console.print(
        f"Gains for {', '.join(f'{float(v):.3g}' for v in tuning.autopilot.speeds)} m/s; slowest "
        + ", ".join(f"pole in mode {m} {growth:.3g} 1/s" for m, growth in _slowest(tuning).items())
        + "."
    )
    for reason in tuning.failures:
        console.print(f"[bold red]falls short[/bold red]: {reason}")
    if tuning.failures:
        console.print(
            "An autopilot like this is not to be trusted at these speeds: give the vehicle quicker "
            "or stronger actuators, a shorter `--period`, or another `--speed`."
        )
        raise typer.Exit(1)


def _slowest(tuning: Tuning) -> dict[str, float]:
    """Largest growth of each mode over all speeds."""
    found: dict[str, float] = {}
    for report in tuning.modes:
        found[report.mode] = max(report.growth, found.get(report.mode, -math.inf))
    return found


def _decibels(factor: float) -> float:
    return 20.0 * math.log10(factor)


def _document(tuning: Tuning) -> dict[str, Any]:
    """The report as plain data; what is infinite is null."""
    loops = [dataclasses.asdict(loop) for loop in tuning.loops]
    for loop in loops:
        loop["margins"] = {
            key: value if math.isfinite(value) else None for key, value in loop["margins"].items()
        }
    return {
        "vehicle": tuning.vehicle,
        "period": tuning.period,
        "trim": dataclasses.asdict(tuning.trim),
        "speeds": [float(v) for v in tuning.autopilot.speeds],
        "follows": list(tuning.autopilot.follows),
        "loops": loops,
        "modes": [dataclasses.asdict(mode) for mode in tuning.modes],
        "lookahead": list(tuning.lookahead),
        "fastest": tuning.fastest,
        "sideways": tuning.sideways,
        "failures": list(tuning.failures),
    }
