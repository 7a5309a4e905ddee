"""`seatrial tune`."""

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import typer

from seatrial.cli.progress import working
from seatrial.cli.tables import number, show_table, terminal
from seatrial.compile.autonomy.tuning import design
from seatrial.design.loop_bench import STATIONS
from seatrial.design.tuning import Tuning
from seatrial.errors import Problem, SpecError
from seatrial.spec.loading import load
from seatrial.spec.mission import Control
from seatrial.spec.vehicle import Vehicle

_HEADINGS = (
    "loop", "ω\nrad/s", "mass\nkg, kg m²", "Kp", "Ki", "Kd", "phase\n°", "gain\ndB", "max\n|S|"
)  # fmt: skip
_UNITS = (
    "Kp: force [N] or moment [N m] per m/s or rad/s of error in the loops of a velocity (surge, "
    "sway, heave, yaw rate), per m or rad in the others; Ki: the same per s; Kd: the same times s."
)


def show_tuning(
    name: str,
    speed: float | None,
    period: float,
    wave_frequency: float | None,
    chosen: Sequence[str],
    as_json: bool,
) -> None:
    """Design the loops of a vehicle and print trim, gains, bandwidths and margins."""
    vehicle = load(name, Vehicle)
    own: dict[Any, Any] = dict(_own(text) for text in chosen)
    control = Control(gains=own, wave_frequency=wave_frequency)
    with working(f"designing for {vehicle.name}", quiet=as_json):
        tuning = design(
            vehicle,
            speed,
            period=period,
            wave_frequency=control.wave_frequency,
            gains=control.gains,
        ).tuning
    if as_json:
        typer.echo(json.dumps(_document(tuning), indent=2))
        raise typer.Exit(1 if tuning.failures else 0)
    console = terminal()
    trim = tuning.trim
    forces = ", ".join(number(w) if abs(w) > 1e-6 else "0" for w in trim.wrench)
    console.print(
        f"{tuning.vehicle} at {number(trim.speed)} m/s: pitch "
        f"{_degrees(trim.pitch)}°, roll {_degrees(trim.roll)}°, wrench [{forces}] N and "
        f"N\u00a0m; control every {tuning.period:g} s",
    )
    rows = []
    for loop in tuning.loops:
        gains = (loop.proportional, loop.integral, loop.derivative)
        margins = loop.margins
        rows.append(
            [
                loop.name,
                number(loop.bandwidth),
                number(loop.mass) if loop.mass else "",
                *(number(gain) for gain in gains),
                _margin(margins.phase, ".0f"),
                _margin(_decibels(margins.gain), ".1f"),
                f"{margins.sensitivity:.2f}",
            ]
        )
    show_table(console, "", _HEADINGS, rows)
    console.print(_UNITS)
    speeds = ", ".join(number(float(v)) for v in tuning.autopilot.speeds)
    poles = ", ".join(f"{number(growth)} 1/s ({m})" for m, growth in _slowest(tuning).items())
    console.print(f"Gains for {speeds} m/s; slowest poles {poles}.")
    if tuning.steady is not None:
        console.print(f"Keeps a station in water that passes at up to {number(tuning.steady)} m/s.")
    if tuning.slowest is not None:
        where = (
            f"from {number(tuning.slowest)} m/s on"
            if math.isfinite(tuning.slowest)
            else "at none of these speeds"
        )
        console.print(f"Its fins hold its depth {where}.")
    for reason in tuning.failures:
        console.print(f"falls short: {reason}", style="red")
    console.print(f"Verdict: {_verdict(tuning)}")
    if tuning.failures:
        raise typer.Exit(1)


def _verdict(tuning: Tuning) -> str:
    """Whether the loops are fit to steer, and which of them limits the vehicle."""
    if tuning.failures:
        return (
            "not fit. An autopilot like this is not to be trusted at these speeds: give the "
            "vehicle quicker or stronger actuators, other gains, a shorter `--period`, or another "
            "`--speed`."
        )
    said = ["fit"]
    if tuning.loops:
        least = max(tuning.loops, key=lambda loop: loop.margins.sensitivity)
        said.append(
            f"the {least.name} loop limits it, with a phase margin of {least.margins.phase:.0f}° "
            f"and a sensitivity of {least.margins.sensitivity:.2f}"
        )
    if found := _slowest(tuning):
        mode, growth = max(found.items(), key=lambda one: one[1])
        if growth < 0.0:
            fate = f"falls to a third in {number(-1.0 / growth)} s ({mode})"
        else:
            # Unstable is what grows by more than `design.gains.NEUTRAL`, and that is not fit.
            fate = f"stays: it grows threefold in {number(1.0 / growth)} s ({mode})"
        said.append(f"the slowest upset {fate}")
    return "; ".join(said) + "."


def _own(text: str) -> tuple[str, dict[str, float]]:
    """Gains as the command line gives them: `heading=107,14.5,83.3`."""
    loop, _, numbers = text.partition("=")
    names = ("proportional", "integral", "derivative")
    try:
        given = [float(number) for number in numbers.split(",")]
        return loop.strip(), dict(zip(names[: len(given)], given, strict=True))
    except ValueError:
        raise SpecError(
            Problem(
                "these are no gains of a loop",
                value=text,
                expected="a loop and its gains Kp, Ki and Kd, or the first of them",
                mend="write for example `--gain heading=107,14.5,83.3`",
            )
        ) from None


def _degrees(angle: float) -> str:
    return f"{round(math.degrees(angle), 2) + 0.0:.2f}"  # no minus before a zero


def _slowest(tuning: Tuning) -> dict[str, float]:
    """Largest growth of each mode over all speeds at which it is flown: of a station, those of the
    water in which it is kept."""
    found: dict[str, float] = {}
    for report in tuning.modes:
        if report.mode in STATIONS and report.speed > (tuning.steady or 0.0):
            continue
        found[report.mode] = max(report.growth, found.get(report.mode, -math.inf))
    return found


def _margin(value: float, digits: str) -> str:
    """A margin, infinite where nothing limits it; an unstable loop has none."""
    if math.isnan(value):
        return "none"
    return format(value, digits) if math.isfinite(value) else "∞"


def _decibels(factor: float) -> float:
    return 20.0 * math.log10(factor)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _document(tuning: Tuning) -> dict[str, Any]:
    """The report as plain data; what is infinite, or not there, is null."""
    loops = [dataclasses.asdict(loop) for loop in tuning.loops]
    for loop in loops:
        loop["margins"] = {
            key: value if math.isfinite(value) else None for key, value in loop["margins"].items()
        }
    return {
        "vehicle": tuning.vehicle,
        "period": tuning.period,
        "trim": dataclasses.asdict(tuning.trim) | {"load": _finite(tuning.trim.load)},
        "speeds": [float(v) for v in tuning.autopilot.speeds],
        "follows": list(tuning.autopilot.follows),
        "loops": loops,
        "modes": [dataclasses.asdict(mode) for mode in tuning.modes],
        "lookahead": list(tuning.lookahead),
        "fastest": tuning.fastest,
        "sideways": tuning.sideways,
        "steady": tuning.steady,
        "slowest": _finite(tuning.slowest),
        "fit": not tuning.failures,
        "verdict": _verdict(tuning),
        "failures": list(tuning.failures),
    }
