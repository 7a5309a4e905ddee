"""Gains for a vehicle, from its own equations of motion.

For several speeds the vehicle is trimmed and linearised, and its loops are designed one after the
other, each with those before it closed: attitude, sway, heading, surge, depth, position. A loop is
as fast as actuators allow (their strength, lag and rate), but never so fast that its margins,
with lag and dead time, fall short.
"""

import dataclasses
import math
from typing import Any

import jax
import numpy as np

from seatrial.design.authority import Craft, authority
from seatrial.design.linearisation import FASTEST, linearise, service_speed
from seatrial.design.loop_bench import SLOWEST, Bench, LoopReport
from seatrial.design.loop_design import Law, design_loops
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.pytree import constant

DType = np.dtype[Any]

SPEEDS = (SLOWEST, 0.7, 1.0, 1.4)
"""Speeds of the design over the service speed; craft that do not need way for it add rest."""


@dataclasses.dataclass(frozen=True)
class TrimReport:
    """Straight and level motion."""

    speed: float
    """m/s."""
    roll: float
    pitch: float
    """rad."""
    wrench: tuple[float, ...]
    """Six components that the actuators make, N and N m."""
    residual: float
    """Acceleration that is left, m/s² or rad/s²."""


@dataclasses.dataclass(frozen=True)
class Tuning:
    """Gains and how good they are."""

    vehicle: str
    autopilot: Autopilot
    """NumPy's arrays in double precision; `in_precision` gives it in another."""
    period: float
    """Of control, s."""
    trim: TrimReport
    loops: tuple[LoopReport, ...]
    slowest: float
    """Largest real part of the poles with all loops closed, those of position left out, 1/s."""

    def in_precision(self, dtype: DType) -> Autopilot:
        """The autopilot with arrays of a precision."""
        result: Autopilot = jax.tree.map(lambda a: constant(a, dtype), self.autopilot)
        return result


def tune(
    craft: Craft,
    speed: float | None = None,
    *,
    period: float = 0.1,
    wave_frequency: float | None = None,
    heading: Law = "pid",
) -> Tuning:
    """Gains for a vehicle, scheduled over speed and reported for one.

    `speed` is the service speed unless given (above 0 and up to `FASTEST`, and only for a craft
    that controls its surge), `period` that of control, `wave_frequency` (rad/s)
    that at which waves are met where station keeping is to leave them alone, `heading` either
    `pid` or `sliding`.
    """
    with jax.enable_x64(True):
        cruise = _cruise(craft) if speed is None else speed
        designed = [
            design_loops(craft, v, cruise, period, wave_frequency, heading, keep_station=k == 0)
            for k, v in enumerate(_speeds(craft, cruise))
        ]
        # A station is kept at rest, whatever the speed on the way there.
        station = designed[0][0].station
        parts = [dataclasses.replace(autopilot, station=station) for autopilot, _ in designed]
        stacked: Autopilot = jax.tree.map(lambda *a: constant(np.stack(a)), *parts)
    bench = min((b for _, b in designed), key=lambda b: abs(b.linear.speed - cruise))
    resting = designed[0][1].reports
    reports = bench.reports | {n: resting[n] for n in resting if n.startswith("station")}
    x = bench.linear.state
    return Tuning(
        craft.name,
        stacked,
        period,
        TrimReport(
            bench.linear.speed,
            float(x[3]),
            float(x[4]),
            tuple(float(w) for w in bench.linear.wrench),
            bench.linear.residual,
        ),
        tuple(reports.values()),
        _slowest(bench),
    )


def _cruise(craft: Craft) -> float:
    found = service_speed(craft)
    return _easy_speed(craft) if found is None else found


def _easy_speed(craft: Craft) -> float:
    """Speed whose resistance is a third of what the thrusters have at rest."""
    if 0 not in craft.dofs:
        return linearise(craft, 1.0).speed
    from scipy.optimize import brentq

    most = authority(craft, 0.0, np.zeros(6), 0)

    def left(speed: float) -> float:
        return most / 3.0 - float(linearise(craft, speed).wrench[0])

    return float(brentq(left, 1e-3, FASTEST, xtol=1e-3)) if left(FASTEST) < 0 else 1.0


def _speeds(craft: Craft, cruise: float) -> list[float]:
    if 0 not in craft.dofs:
        return [cruise]
    moving = [s * cruise for s in SPEEDS]
    return moving if bool(np.any(np.asarray(craft.effectors.fin))) else [0.0, *moving]


def _slowest(bench: Bench) -> float:
    poles = np.linalg.eigvals(bench.system()[0])
    return float(np.max(poles.real[np.abs(poles) > 1e-4], initial=-math.inf))
