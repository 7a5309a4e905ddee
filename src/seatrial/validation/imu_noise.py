"""The noise of a recorded IMU, as its Allan deviation shows it, beside what was asked for."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seatrial.errors import RecordingError
from seatrial.record.reader import Recording
from seatrial.sensors.noise.allan import Curve, Fit, FittedValue, allan, fit
from seatrial.sensors.noise.processes import FLOOR
from seatrial.signals import Measurements, SensorInfo

if TYPE_CHECKING:
    from seatrial.figures.allan import AllanPanel
    from seatrial.figures.page import Page

HOUR = 3600.0
DEGREE = math.pi / 180.0
MICRO_G = 9.80665e-6


@dataclass(frozen=True)
class Coefficient:
    """How N, B or K of a triad is called and written."""

    letter: str
    name: str
    unit: str
    usual_unit: str
    usual: float
    """One usual unit in SI."""


TRIADS = {
    "accelerometer": (
        "m/s²",
        (
            Coefficient("N", "noise_density", "(m/s²)/√Hz", "µg/√Hz", MICRO_G),
            Coefficient("B", "bias_instability", "m/s²", "µg", MICRO_G),
            Coefficient("K", "random_walk", "(m/s³)/√Hz", "µg/√s", MICRO_G),
        ),
    ),
    "gyroscope": (
        "rad/s",
        (
            Coefficient("N", "noise_density", "(rad/s)/√Hz", "°/√h", DEGREE / math.sqrt(HOUR)),
            Coefficient("B", "bias_instability", "rad/s", "°/h", DEGREE / HOUR),
            Coefficient("K", "random_walk", "(rad/s²)/√Hz", "(°/h)/√h", DEGREE / HOUR**1.5),
        ),
    ),
}
_SLOW = 1e-6
"""Speed, m/s or rad/s, below which a vehicle counts as still."""


MOVED = "The vehicle moved: the curve holds its motion as well as the noise."


class FittedCoefficient(NamedTuple):
    """One coefficient: how it is written, what was fitted, and what the description asked for."""

    coefficient: Coefficient
    estimate: FittedValue
    asked: float | None


@dataclass(frozen=True)
class ImuNoise:
    """Allan deviations of an IMU's axes, and what was fitted to them."""

    recording: Recording
    vehicle: str
    info: SensorInfo
    duration: float
    """Of the samples that were used, s."""
    moved: bool
    """Whether the vehicle did; then the curves hold its motion too."""
    triads: dict[str, tuple[Curve, Fit]]
    """Of accelerometer and gyroscope, three axes each."""

    def found(self, triad: str) -> list[FittedCoefficient]:
        """N, B and K of a triad."""
        fitted = self.triads[triad][1]
        rows = []
        for c in TRIADS[triad][1]:
            said = self.info.facts.get(f"{triad}_{c.name}")
            rows.append(FittedCoefficient(c, getattr(fitted, c.letter), said[0] if said else None))
        return rows

    def report(self) -> dict[str, Any]:
        """Numbers for people and programs."""
        return {
            "recording": str(self.recording.path),
            "vehicle": self.vehicle,
            "sensor": self.info.name,
            "rate_hz": self.info.rate,
            "duration_s": self.duration,
            "moved": self.moved,
            **{triad: self._numbers(triad) for triad in self.triads},
        }

    def _numbers(self, triad: str) -> dict[str, Any]:
        curve, fitted = self.triads[triad]
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
                    "asked": asked,
                }
                for c, estimate, asked in self.found(triad)
            },
            "time_constant_s": fitted.time_constant,
            "tau_s": curve.tau.tolist(),
            "deviation": curve.pooled.tolist(),
            "deviation_low": low.tolist(),
            "deviation_high": high.tolist(),
            "degrees_of_freedom": fitted.freedom.tolist(),
        }

    def draw(self) -> "Page":
        """The curves, the fit, and the coefficients below."""
        from seatrial.figures.allan import draw_allan

        facts = (
            f"{self.vehicle}/{self.info.name}   ·   {self.duration / HOUR:.3g} h at "
            f"{self.info.rate:g} Hz   ·   overlapping Allan deviation; fit to the three axes "
            "together"
        )
        if self.moved:
            facts += "   ·   " + MOVED
        title = f"{self.recording.header.scenario}: Allan deviation"
        return draw_allan([self._panel(triad) for triad in self.triads], title, facts)

    def _panel(self, triad: str) -> "AllanPanel":
        from seatrial.figures.allan import AllanPanel

        curve, fitted = self.triads[triad]
        low, high = fitted.limits(curve)
        slopes = {
            "N": 1.0 / np.sqrt(curve.tau),
            "B": np.full_like(curve.tau, FLOOR),
            "K": np.sqrt(curve.tau / 3.0),
        }
        found = self.found(triad)
        return AllanPanel(
            title=triad.capitalize(),
            unit=TRIADS[triad][0],
            tau=curve.tau,
            deviation=curve.deviation,
            low=low,
            high=high,
            fitted=fitted.deviation(curve.tau),
            lines={
                c.letter: estimate.value * slopes[c.letter]
                for c, estimate, _ in found
                if estimate.value is not None
            },
            rows=tuple((one.coefficient.letter, _row(one)) for one in found),
            level=fitted.level,
        )


def choose_imu(
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


def analyse(recording: Recording, vehicle: str, info: SensorInfo) -> ImuNoise:
    """Allan deviations of the longest stretch that an IMU measured without a gap or a fault."""
    samples = _unbroken(recording.samples(vehicle, info.name))
    triads = {}
    for first, triad in zip((0, 3), TRIADS, strict=True):
        curve = allan(samples.values[:, first : first + 3], 1.0 / info.rate)
        try:
            triads[triad] = curve, fit(curve)
        except ValueError as error:
            raise RecordingError(
                f"{recording.path}: no noise to be found in the {triad} of {info.name!r}\n"
                f"  found:    {len(samples.time)} samples; {error}\n"
                "  expected: minutes, better hours, of a still IMU that is not `ideal`"
            ) from None
    duration = len(samples.time) / info.rate
    return ImuNoise(recording, vehicle, info, duration, _moved(recording, vehicle), triads)


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


def words(c: Coefficient, estimate: FittedValue) -> tuple[str, str]:
    """The value with its interval, in SI and in the unit that data sheets use."""
    if estimate.value is None:
        return "not observed", f"≤ {estimate.high:#.3g} {c.unit}"
    return (
        f"{estimate.value:#.4g} {c.unit} = {estimate.value / c.usual:#.4g} {c.usual_unit}",
        f"{estimate.low:#.4g} … {estimate.high:#.4g}",
    )


def _row(one: FittedCoefficient) -> str:
    value, interval = words(one.coefficient, one.estimate)
    text = f"{value}   ({interval})"
    if one.asked is None:
        return text
    return f"{text}   asked for {one.asked:.4g}" if one.asked else f"{text}   none asked for"
