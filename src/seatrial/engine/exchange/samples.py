"""Rows of samples that the compiled loop fills, as measurements with times."""

from typing import cast

import numpy as np

from seatrial.engine.compiled.group import Samples, Schedule
from seatrial.engine.compiled.suite import Fitted
from seatrial.engine.exchange import taps
from seatrial.engine.exchange.deliveries import Measured
from seatrial.engine.plan import Fleet
from seatrial.sensors.tap import Tap
from seatrial.signals import Measurements


def measured_at_start(fleet: Fleet, taken: Samples, schedule: Schedule) -> Measured:
    """What a fleet's sensors measured at t = 0; inertial ones have felt nothing yet."""
    found = {}
    for name, fitted, sample in zip(fleet.sensors, fleet.group.suite, taken, strict=True):
        rows = np.asarray(sample.rows)[None]
        one = _measurements(fitted, rows, np.zeros(1, np.int64), 1, schedule)
        one = _expanded(fleet, name, fitted, one)
        found[name] = one.cut(slice(0)) if fitted.inertial else one
    return found


def measured_in(
    fleet: Fleet, taken: Samples, first: int, periods: int, schedule: Schedule
) -> Measured:
    """What they measured in some control periods from time step `first` on.

    A control period holds the instants after its beginning up to its end; inertial sensors feel
    its beginning, and not its end.
    """
    found = {}
    starts = first + np.arange(periods) * schedule.substeps
    for name, fitted, sample in zip(fleet.sensors, fleet.group.suite, taken, strict=True):
        rows = np.asarray(sample.rows)[:periods]
        begins = starts if fitted.inertial else starts + 1
        some = _measurements(fitted, rows, begins, schedule.substeps, schedule)
        found[name] = _expanded(fleet, name, fitted, some)
    return found


def _expanded(fleet: Fleet, name: str, fitted: Fitted, some: Measurements) -> Measurements:
    """The same, with the array of a dense sensor in place of its tap."""
    if name not in fleet.dense:
        return some
    tap = cast(Tap, fitted.sensor)
    return taps.expand(fleet.dense[name], tap, some, np.asarray(fitted.keys), fleet.ocean)


def _measurements(
    fitted: Fitted,
    rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    begins: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    steps: int,
    schedule: Schedule,
) -> Measurements:
    """Rows (windows, samples, D + 3, N) of windows of `steps` time steps."""
    rows = np.moveaxis(rows, -1, 2)
    numbers = -(-begins // fitted.period)[:, None] + np.arange(rows.shape[1])
    at = numbers * fitted.period
    inside = at < begins[:, None] + steps
    rows = rows[inside]
    time = at[inside].astype(np.float64) * schedule.time_step
    return Measurements(
        time=time,
        arrival=time[:, None] + rows[..., -2],
        values=rows[..., :-3],
        valid=rows[..., -3] > 0.5,
        fault=rows[..., -1].astype(np.int32),
    )
