"""Sizes of errors: the deviations that a filter is told, and slow errors as its states."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.gnc.navigation import aiding
from seatrial.pytree import constant

MEMORY = 10.0
"""Time over which the direct filter averages the fixes of a sensor, s: it has no states for slow
errors. One that stays for so long is not averaged away: it counts with the white noise that would
leave as much after this time."""

LEAST = {"position": 0.005, "depth": 0.001, "velocity": 0.001, "angle": 1e-4, "field": 1e-7}
"""Deviations below which no sensor is believed: an IMU errs in ways that a filter has no state for,
and a sensor without errors would be rejected for them. m, m/s, rad, T."""


class Error(NamedTuple):
    """A slow error of a sensor: what stays, and what drifts with a correlation time (s)."""

    fixed: float
    drift: float = 0.0
    time: float = math.inf


def as_states(errors: list[Error]) -> aiding.Slow:
    """Errors as states. What stays and drifts at once walks as fast as the drift does."""
    decay = [0.0 if e.fixed else 1.0 / e.time for e in errors]
    walk = [e.drift * math.sqrt(2.0 / e.time) for e in errors]
    deviation = [max(math.hypot(e.fixed, e.drift), 1e-9) for e in errors]
    return aiding.Slow(*(constant(part, np.float64) for part in (deviation, decay, walk)))


def rounded(noise: float, step: float) -> float:
    """Deviation of a number with noise that is rounded to a step."""
    return math.hypot(noise, step / math.sqrt(12.0))


def at_least(deviation: Any, what: str) -> NDArray[np.float64]:
    """A deviation, or the least one of a `position`, an `angle` …."""
    return np.maximum(np.asarray(deviation, np.float64), LEAST[what])


def lasting(white: Any, slow: Any, time: float, period: float) -> Any:
    """White noise of samples `period` apart that stands for white noise and a slow error.

    An average over T of an error of standard deviation σ and correlation time τ keeps the variance
    σ² min(1, 2τ/T), which white noise of σ² min(2τ, T)/Δt keeps as well; T is `MEMORY`.
    """
    longer = max(1.0, min(2.0 * time, MEMORY) / period)
    return np.sqrt(np.asarray(white) ** 2 + np.asarray(slow) ** 2 * longer)
