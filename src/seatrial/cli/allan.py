"""`seatrial allan`: the noise of a recorded IMU, as its Allan deviation shows it."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from seatrial.errors import RecordingError
from seatrial.record.reader import Recording, read
from seatrial.sensors.noise.allan import Curve, Estimate, Fit, allan, fit
from seatrial.sensors.noise.processes import FLOOR
from seatrial.signals import Measurements, SensorInfo

HOUR = 3600.0
DEGREE = math.pi / 180.0
MICRO_G = 9.80665e-6


@dataclass(frozen=True)
class _Coefficient:
    """How N, B or K of a triad is called and written."""

    letter: str
    name: str
    unit: str
    usual_unit: str
    usual: float
    """One usual unit in SI."""


_TRIADS = {
    "accelerometer": (
        "m/s²",
        (
            _Coefficient("N", "noise_density", "(m/s²)/√Hz", "µg/√Hz", MICRO_G),
            _Coefficient("B", "bias_instability", "m/s²", "µg", MICRO_G),
            _Coefficient("K", "random_walk", "(m/s³)/√Hz", "µg/√s", MICRO_G),
        ),
    ),
    "gyroscope": (
        "rad/s",
        (
            _Coefficient("N", "noise_density", "(rad/s)/√Hz", "°/√h", DEGREE / math.sqrt(HOUR)),
            _Coefficient("B", "bias_instability", "rad/s", "°/h", DEGREE / HOUR),
            _Coefficient("K", "random_walk", "(rad/s²)/√Hz", "(°/h)/√h", DEGREE / HOUR**1.5),
        ),
    ),
}
_SLOW = 1e-6
"""Speed, m/s or rad/s, below which a vehicle counts as still."""


def show_allan(
    path: Path, sensor: str | None, vehicle: str | None, out: Path | None, as_json: bool
) -> None:
    """Compute, print and draw; the figure is RUN-SENSOR-allan.png unless `out` names another."""
    from seatrial.figures.plot import check_format, save

    recording = read(path)
    vehicle, info = _choose(recording, vehicle, sensor)
    picture = out or path.with_name(f"{path.stem}-{info.name}-allan.png")
    check_format(picture)
    samples = _unbroken(recording.samples(vehicle, info.name))
    results = {}
    for first, triad in zip((0, 3), _TRIADS, strict=True):
        curve = allan(samples.values[:, first : first + 3], 1.0 / info.rate)
        try:
            results[triad] = curve, fit(curve)
        except ValueError as error:
            raise RecordingError(
                f"{path}: no noise to be found in the {triad} of {info.name!r}\n"
                f"  found:    {len(samples.time)} samples; {error}\n"
                "  expected: minutes, better hours, of a still IMU that is not `ideal`"
            ) from None
    document = {
        "recording": str(path),
        "vehicle": vehicle,
        "sensor": info.name,
        "rate_hz": info.rate,
        "duration_s": len(samples.time) / info.rate,
        "moved": _moved(recording, vehicle),
        **{triad: _as_json(triad, info, *result) for triad, result in results.items()},
    }
    save(_draw(recording, document, info, results), picture)
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    _print(document, info, results)
    typer.echo(f"figure: {picture}")


def _choose(
    recording: Recording, vehicle: str | None, sensor: str | None
) -> tuple[str, SensorInfo]:
    """The IMU that is meant; with several to choose from it has to be named."""
    found = [
        (v.name, s)
        for v in recording.header.vehicles
        for s in v.sensors
        if s.type == "imu" and vehicle in (None, v.name) and sensor in (None, s.name)
    ]
    if len(found) == 1:
        return found[0]
    every = [
        f"{v.name}/{s.name}" for v in recording.header.vehicles for s in v.sensors
        if s.type == "imu"
    ]  # fmt: skip
    listed = ", ".join(every[:20]) + (" …" if len(every) > 20 else "") or "none"
    raise RecordingError(
        f"{recording.path}: {'no such IMU' if not found else 'several IMUs'}\n"
        f"  found:    {listed}\n"
        "  to mend:  name one with --vehicle NAME and --sensor NAME"
        + ("" if every else "; record a vehicle that has a sensor of `type: imu`")
    )


def _unbroken(samples: Measurements) -> Measurements:
    """The longest stretch without a gap or a fault."""
    good = samples.valid & (samples.fault == 0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    if len(edges) == 0:
        return samples.cut(slice(0, 0))
    starts, ends = edges[::2], edges[1::2]
    best = int(np.argmax(ends - starts))
    return samples.cut(slice(int(starts[best]), int(ends[best])))


def _moved(recording: Recording, vehicle: str) -> bool:
    data = recording.vehicle(vehicle)
    return any(
        float(np.max(np.abs(data[name].values))) > _SLOW
        for name in ("velocity", "angular_velocity")
    )


def _as_json(triad: str, info: SensorInfo, curve: Curve, fitted: Fit) -> dict[str, Any]:
    low, high = fitted.limits(curve)
    return {
        "level": fitted.level,
        **{
            c.letter: {
                "unit": c.unit,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "observed": estimate.value is not None,
                "asked": _asked(info, triad, c),
            }
            for c, estimate in _estimates(triad, fitted)
        },
        "time_constant_s": fitted.time_constant,
        "tau_s": curve.tau.tolist(),
        "deviation": curve.pooled.tolist(),
        "deviation_low": low.tolist(),
        "deviation_high": high.tolist(),
        "degrees_of_freedom": fitted.freedom.tolist(),
    }


def _estimates(triad: str, fitted: Fit) -> list[tuple[_Coefficient, Estimate]]:
    return [(c, getattr(fitted, c.letter)) for c in _TRIADS[triad][1]]


def _asked(info: SensorInfo, triad: str, coefficient: _Coefficient) -> float | None:
    """What the description of the sensor says, where the recording holds it."""
    said = info.facts.get(f"{triad}_{coefficient.name}")
    return said[0] if said else None


def _words(c: _Coefficient, estimate: Estimate) -> tuple[str, str]:
    """The value with its interval, in SI and in the unit that data sheets use."""
    if estimate.value is None:
        return "not observed", f"≤ {estimate.high:#.3g} {c.unit}"
    return (
        f"{estimate.value:#.4g} {c.unit} = {estimate.value / c.usual:#.4g} {c.usual_unit}",
        f"{estimate.low:#.4g} … {estimate.high:#.4g}",
    )


def _print(
    document: dict[str, Any], info: SensorInfo, results: dict[str, tuple[Curve, Fit]]
) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    hours = document["duration_s"] / HOUR
    console.print(
        f"{document['vehicle']}/{info.name}: {hours:.3g} h at {info.rate:g} Hz, axes pooled",
        highlight=False,
    )
    if document["moved"]:
        console.print(_MOVED, style="yellow")
    for triad, (_, fitted) in results.items():
        table = Table(title=triad, title_justify="left", box=None)
        for heading in ("", "fitted", f"{100 * fitted.level:g} % interval", "asked for"):
            table.add_column(heading, no_wrap=True)
        for c, estimate in _estimates(triad, fitted):
            asked = _asked(info, triad, c)
            table.add_row(c.letter, *_words(c, estimate), "" if asked is None else f"{asked:.4g}")
        console.print(table)


_MOVED = "The vehicle moved: the curve holds its motion as well as the noise."


def _draw(
    recording: Recording,
    document: dict[str, Any],
    info: SensorInfo,
    results: dict[str, tuple[Curve, Fit]],
) -> Any:
    from seatrial.figures.allan import AllanPanel, draw_allan

    panels = []
    for triad, (curve, fitted) in results.items():
        low, high = fitted.limits(curve)
        slopes = {
            "N": 1.0 / np.sqrt(curve.tau),
            "B": np.full_like(curve.tau, FLOOR),
            "K": np.sqrt(curve.tau / 3.0),
        }
        panels.append(
            AllanPanel(
                title=triad.capitalize(),
                unit=_TRIADS[triad][0],
                tau=curve.tau,
                deviation=curve.deviation,
                low=low,
                high=high,
                fitted=fitted.deviation(curve.tau),
                lines={
                    c.letter: estimate.value * slopes[c.letter]
                    for c, estimate in _estimates(triad, fitted)
                    if estimate.value is not None
                },
                rows=tuple(
                    (c.letter, _row(info, triad, c, estimate))
                    for c, estimate in _estimates(triad, fitted)
                ),
                level=fitted.level,
            )
        )
    facts = (
        f"{document['vehicle']}/{info.name}   ·   {document['duration_s'] / HOUR:.3g} h at "
        f"{info.rate:g} Hz   ·   overlapping Allan deviation; fit to the three axes together"
    )
    if document["moved"]:
        facts += "   ·   " + _MOVED
    return draw_allan(panels, f"{recording.header.scenario}: Allan deviation", facts)


def _row(info: SensorInfo, triad: str, c: _Coefficient, estimate: Estimate) -> str:
    value, interval = _words(c, estimate)
    asked = _asked(info, triad, c)
    text = f"{value}   ({interval})"
    if asked is None:
        return text
    return f"{text}   asked for {asked:.4g}" if asked else f"{text}   none asked for"
