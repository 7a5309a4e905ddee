"""When a filter believes its sensors, and what the vehicle knows without one."""

import math
from typing import Any

import jax
import numpy as np

from seatrial.compile.sensors.fitting import lateness
from seatrial.gnc.navigation.consistency import threshold
from seatrial.gnc.navigation.kalman import Test
from seatrial.pytree import constant
from seatrial.signals import SensorInfo
from seatrial.spec import navigation as spec

FADING, CERTAIN = 10.0, 1.0 - 1e-10
"""Time over which a sensor is judged by the mean of its innovations, s, and how sure the judgement
is: innovations of neighbouring samples are not quite independent, so surer than it looks."""

HASTE = 3.0
"""How long a sensor that never fitted may be found wrong, or any while most disagree with the
filter, s."""

SILENCE = (2.0, 3.0)
"""A sensor is silent when it was not heard for so many seconds and so many of its periods."""

HOURS = 10.0
"""Within which a sensor that is well is not to be found frozen, or wrong by outliers that it is
known to have, but once in a thousand cases."""

FEW = 3
"""Samples in a row, at the least, by which a sensor is found frozen or wrong."""

NEVER = 2**30
"""Samples."""


class Belief:
    """Tests by what a navigation is described with."""

    def __init__(self, described: spec.Navigation) -> None:
        self._described = described

    def sensor(
        self,
        sensor: Any,
        info: SensorInfo,
        groups: tuple[int, ...],
        noise: float,
        step: float = 0.0,
        unstated: float = 0.0,
    ) -> Test:
        """When a sensor is believed; noise is infinite where no two samples can be alike."""
        late = lateness(sensor)
        outliers = getattr(sensor, "outlier_probability", 0.0)
        return Test(
            **self._judgement(groups, info.rate),
            few=constant(in_a_row(outliers, info.rate), np.int32),
            still=constant(longest_repeat(noise, step, sum(groups), info.rate), np.int32),
            unstated=constant(unstated),
            stale=constant(late + 1.0 / info.rate),
            silence=constant(max(SILENCE[0], SILENCE[1] / info.rate) + late),
        )

    def knowledge(self, period: float, size: int) -> Test:
        """When it is believed what is known without a sensor."""
        never = {
            "few": constant(FEW, np.int32),
            "still": constant(NEVER, np.int32),
            "stale": constant(math.inf),
            "unstated": constant(0.0),
        }
        return Test(**self._judgement((size,), 1.0 / period), **never, silence=constant(math.inf))

    def _judgement(self, groups: tuple[int, ...], rate: float) -> dict[str, jax.Array]:
        gate, patience = self._described.gate, self._described.patience
        judged = gate < 1.0 and self._described.filter != "direct"
        samples = max(10.0, FADING * rate)
        return {
            "threshold": constant([threshold(n, gate) for n in groups]),
            "lasting": constant([threshold(n, CERTAIN) if judged else math.inf for n in groups]),
            "fading": constant(1.0 - 1.0 / samples),
            "back": constant(math.ceil(max(5.0, 2.0 * rate)), np.int32),
            "patience": constant(math.ceil(patience * rate), np.int32),
            "haste": constant(math.ceil(min(HASTE, patience) * rate), np.int32),
        }


def longest_repeat(noise: float, step: float, numbers: int, rate: float) -> int:
    """Identical samples in a row that a sensor gives by chance less than once in a thousand times
    `HOURS`; noise and step are those of each of its numbers.

    Two numbers with noise σ are rounded to the same step q with probability q / (2 √π σ).
    """
    if not noise:
        return NEVER
    alike = min(1.0, step / (2.0 * math.sqrt(math.pi) * noise)) ** numbers
    return in_a_row(alike, rate)


def in_a_row(probability: float, rate: float) -> int:
    """How often in a row something of this probability happens to samples less than once in a
    thousand times `HOURS`."""
    if probability > 0.99:
        return NEVER
    if not probability:
        return FEW
    return max(FEW, math.ceil(math.log(1e-3 / (3600.0 * HOURS * rate)) / math.log(probability)))
