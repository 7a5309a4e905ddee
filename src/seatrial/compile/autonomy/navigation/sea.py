"""What a filter is told of the waves beforehand, as from a forecast."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.gnc.navigation import waves
from seatrial.ocean import Waves
from seatrial.pytree import constant

Array = NDArray[np.float64]

LONGEST = 0.01
"""Share of the energy that is in waves longer than those that count as the longest."""

MATTERS = 0.1
"""Depth where it matters how much is left of the waves, as a share of their mean length."""


class Sea(NamedTuple):
    """What is known of the waves."""

    variance: float
    """Of the elevation, m²."""
    wavenumbers: waves.Sea
    """How their energy is spread."""

    @property
    def speed(self) -> float:
        """Root mean square of the water's vertical velocity at the surface, m/s."""
        spread = self.wavenumbers
        mean = float(spread.longest + spread.shape * spread.spread)
        return math.sqrt(self.variance * float(spread.pull) * mean)


def sea_of(forecast: Waves | None) -> Sea | None:
    """The waves of a forecast; None where there are none.

    Their energy is taken to be a gamma distribution over wavenumbers k (`waves.Sea`). It has the
    longest waves of the sea, all of its energy at the surface, and what is left of it as well as
    the mean of k a tenth of a wave's length below. With L = −ln(left) − 2k₀z and u = 2θz,

        p ln(1 + u) = L,   p u/(1 + u) = 2 z (⟨k⟩ − k₀);

    the ratio of both sides, u/((1 + u) ln(1 + u)), falls from 1 to 0. There is always a solution:
    the mean of k falls with depth, so L, its integral, is the larger one.
    """
    if forecast is None:
        return None
    energy = 0.5 * np.asarray(forecast.amplitude, np.float64) ** 2
    variance = float(energy.sum())
    if variance == 0.0:
        return None
    number = np.asarray(forecast.wavenumber, np.float64)
    longest = _longest(energy, number)
    depth = MATTERS * 2.0 * math.pi * variance / float(energy @ number)
    faded = energy * np.exp(-2.0 * number * depth)
    left, mean = float(faded.sum()), float(faded @ number / faded.sum())
    lost = math.log(variance / left) - 2.0 * longest * depth
    spread, shape = 0.0, 0.0
    if mean - longest > 1e-6 * mean:
        u = _falling(2.0 * depth * (mean - longest) / lost)
        spread, shape = u / (2.0 * depth), lost / math.log1p(u)
    omega = np.asarray(forecast.omega, np.float64)
    pull = float(faded @ omega**2 / left) / mean
    return Sea(variance, waves.Sea(*(constant(v) for v in (longest, spread, shape, pull))))


def _longest(energy: Array, number: Array) -> float:
    order = np.argsort(number)
    below = np.cumsum(energy[order])
    return float(number[order][np.searchsorted(below, LONGEST * below[-1])])


def _falling(ratio: float) -> float:
    """u of u/((1 + u) ln(1 + u)) = ratio, between 0 and 1."""
    low, high = -14.0, 14.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        u = math.exp(middle)
        if u / ((1.0 + u) * math.log1p(u)) > ratio:
            low = middle
        else:
            high = middle
    return math.exp(low)
