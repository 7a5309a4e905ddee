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

from seatrial.design.authority import Craft, authority, full_ahead
from seatrial.design.linearisation import (
    FASTEST,
    coupling,
    drag,
    fastest_level,
    linearise,
    service_speed,
)
from seatrial.design.loop_bench import SLOWEST, STATIONS, Bench, LoopReport, OwnGains
from seatrial.design.loop_design import Law, design_loops, fastest_sideways, stands_across
from seatrial.design.steerage import slowest_flown, trim_load
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.pytree import constant

DType = np.dtype[Any]

SPEEDS = (SLOWEST, 0.7, 1.0, 1.4)
"""Speeds of the design over the service speed; craft that do not need way for it add rest."""


LEAST_DECAY = 0.02
"""Of upsets at the largest speed of a craft that hovers, 1/s."""


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
    load: float
    """Share of the limits of the actuators that the wrench takes, thrust ahead left out."""


@dataclasses.dataclass(frozen=True)
class ModeReport:
    """The loops that fly together at one speed."""

    mode: str
    """`track` or `velocity`; of vehicles that keep a station `hold` (at a heading) and `stay`."""
    speed: float
    """Through the water, which passes a vehicle on station, m/s."""
    growth: float
    """Largest real part of the poles, those of free positions left out, 1/s."""


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
    modes: tuple[ModeReport, ...]
    lookahead: tuple[float, ...]
    """Of line-of-sight guidance at each speed of the schedule, m; empty without a heading."""
    fastest: float | None
    """Speed through the water above which a craft that hovers would tilt too far, or its loops fall
    short, m/s; None for other craft."""
    sideways: float | None
    """The same to the side."""
    steady: float | None
    """Speed of the water, along or across, up to which a station is kept by loops within their
    limits, m/s; None for craft that keep none."""
    top: float | None
    """Speed through the water at which the resistance takes all the thrust, m/s, or the larger of
    `fastest` and `sideways` where that is less; None for a craft without thrust or without end."""
    slowest: float | None
    """Speed through the water below which fins do not hold the depth of a craft that dives by its
    pitch, m/s, infinite where they never do; None for other craft."""
    failures: tuple[str, ...]
    """Where the design does not keep its own limits; empty for a good one."""

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
    own: OwnGains | None = None,
) -> Tuning:
    """Gains for a vehicle, scheduled over speed and reported for one.

    `speed` is the service speed unless given (above 0 and up to `FASTEST`, and only for a craft
    that controls its surge), `period` that of control, `wave_frequency` (rad/s)
    that at which waves are met where station keeping is to leave them alone, `heading` either
    `pid` or `sliding`. Gains of the user's `own` take the place of the designed ones at every
    speed, and are judged like them.
    """
    with jax.enable_x64(True):
        level = fastest_level(craft)
        fastest = sideways = None
        cruise = cruise_speed(craft) if speed is None else speed
        if level is not None:
            cruise = min(cruise, level)
        options = (cruise, period, wave_frequency, heading, own or {})
        slowest, *faster = _speeds(craft, cruise, level)
        designed = [design_loops(craft, slowest, *options)]
        resting = designed[0][1]
        designed += [design_loops(craft, v, *options, resting=resting) for v in faster]
        limits: dict[str, Any] = {}
        if resting.hovers:
            # Nothing is flown faster than the loops are good for.
            while not _good(designed[-1][1]) and designed[-1][1].linear.speed > cruise:
                designed.pop()
            fastest = designed[-1][1].linear.speed
            limits["most_surge"] = constant(designed[-1][1].linear.wrench[0])
            limits |= {
                name: constant(coupling(craft, resting.linear, dof, tilt))
                for name, dof, tilt in (("roll_coupling", 1, 3), ("pitch_coupling", 0, 4))
                if tilt in craft.dofs
            }
            if 1 in craft.dofs:
                sideways = fastest_sideways(resting)
                limits["most_sway"] = constant(drag(craft, resting.linear, 1, sideways))
        top, steady = _top_speed(craft), None
        slowest_speed = slowest_flown(craft, designed[-1][1].linear.speed)
        # A station is kept at rest, whatever the speed on the way there.
        station = designed[0][0].station
        if station is not None:
            steady = _steady([b for _, b in designed])
        parts = [
            dataclasses.replace(autopilot, station=station, **limits) for autopilot, _ in designed
        ]
        stacked: Autopilot = jax.tree.map(lambda *a: constant(np.stack(a)), *parts)
    bench = min((b for _, b in designed), key=lambda b: abs(b.linear.speed - cruise))
    load = trim_load(craft, bench.linear)
    held = {n: report for n, report in resting.reports.items() if n.startswith("station")}
    reports = bench.reports | held
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
            load,
        ),
        tuple(reports.values()),
        tuple(
            ModeReport(mode, b.linear.speed, growth)
            for _, b in designed
            for mode, growth in b.growths.items()
        ),
        tuple(b.lookahead for _, b in designed) if 5 in craft.dofs else (),
        fastest,
        sideways,
        steady,
        top if fastest is None else min(max(fastest, sideways or 0.0), top or math.inf),
        slowest_speed,
        (
            *_beyond(bench.linear.speed, load),
            *(reason for _, b in designed for reason in b.failures),
        ),
    )


def _beyond(speed: float, load: float) -> tuple[str, ...]:
    """What a trim is that takes more than the actuators have."""
    if load <= 1.0:
        return ()
    often = f"{load:.3g} times" if math.isfinite(load) else "more than ever"
    return (f"trim at {speed:.3g} m/s: straight and level takes {often} what the actuators give",)


def cruise_speed(craft: Craft) -> float:
    """Speed of the orders `ahead`, or one that a third of the thrust at rest would keep, m/s."""
    found = service_speed(craft)
    return _easy_speed(craft) if found is None else found


def _easy_speed(craft: Craft) -> float:
    """Speed whose resistance is a third of what the thrusters have at rest."""
    if 0 not in craft.dofs:
        return linearise(craft, 1.0).speed
    found = _speed_for(craft, 1.0 / 3.0)
    return 1.0 if found is None else found


def _speed_for(craft: Craft, share: float) -> float | None:
    """Speed whose resistance is a share of what the thrusters have at rest; None beyond reach."""
    from scipy.optimize import brentq

    most = authority(craft, 0.0, np.zeros(6), 0)

    def left(speed: float) -> float:
        return share * most - float(linearise(craft, speed).wrench[0])

    return float(brentq(left, 1e-3, FASTEST, xtol=1e-3)) if left(FASTEST) < 0 else None


def _top_speed(craft: Craft) -> float | None:
    """Speed at which the resistance takes all the thrust ahead; None beyond reach."""
    from scipy.optimize import brentq

    if 0 not in craft.dofs:
        return None

    def left(speed: float) -> float:
        return full_ahead(craft, speed) - float(linearise(craft, speed).wrench[0])

    if left(1e-3) <= 0.0 or left(FASTEST) >= 0.0:
        return None
    return float(brentq(left, 1e-3, FASTEST, xtol=1e-3))


def _speeds(craft: Craft, cruise: float, level: float | None) -> list[float]:
    if 0 not in craft.dofs:
        return [cruise]
    if level is not None:
        # Nothing is flown faster than this.
        return [0.0, *(s * level for s in (SLOWEST, 0.7, 1.0))]
    moving = [s * cruise for s in SPEEDS]
    if bool(np.any(np.asarray(craft.effectors.fin))):
        return moving
    if not craft.floats and 2 in craft.dofs:
        top = _speed_for(craft, 0.5)
        if top is not None and top > 1.1 * moving[-1]:
            moving += list(np.linspace(moving[-1], top, 4)[1:])
    return [0.0, *moving]


def _good(bench: Bench) -> bool:
    """Whether a craft may be flown at a speed: limits kept, and upsets die out soon."""
    flown = [growth for mode, growth in bench.growths.items() if mode not in STATIONS]
    return not bench.failures and max(flown) < -LEAST_DECAY


def _steady(benches: list[Bench]) -> float:
    """Speed of the schedule up to which water may pass a station, ahead or aside."""
    resting, steady = benches[0], 0.0
    for bench in benches[1:]:
        speed = bench.linear.speed
        if bench.adrift or not stands_across(resting, speed):
            break
        steady = speed
    return steady
