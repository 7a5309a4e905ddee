"""Margins of a loop from its transfer function on a grid of frequencies."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

GRID = 400
"""Frequencies of a grid."""


@dataclass(frozen=True)
class Margins:
    """How far a loop is from instability; NaN for the margins of one that is unstable."""

    crossover: float
    """Highest frequency at which the gain is one, rad/s."""
    phase: float
    """Least phase margin at such frequencies, degrees."""
    gain: float
    """Factor by which the gain may grow; infinite where it may grow without limit."""
    reduction: float
    """Factor to which the gain may fall; 0 where it may vanish."""
    sensitivity: float
    """Largest |1/(1 + L)|: its inverse is the distance from the critical point."""

    def of_unstable(self) -> "Margins":
        """Of a loop that grows: a distance from the critical point is no margin there."""
        return replace(self, phase=math.nan, gain=math.nan, reduction=math.nan)


def frequencies(about: float) -> Array:
    """From a three-hundredth of a bandwidth to three hundred times it, rad/s."""
    return np.asarray(about * np.logspace(-2.5, 2.5, GRID))


def respond(A: Array, b: Array, C: Array, omega: Array) -> Complex:
    """C (jωI − A)⁻¹ b for each row of C, (rows, frequencies)."""
    system = 1j * omega[:, None, None] * np.eye(len(A)) - A
    states = np.linalg.solve(system, np.broadcast_to(b, (len(omega), len(b)))[..., None])
    return np.asarray(C @ states[..., 0].T)


def actuation(lag: float, delay: float, omega: Array) -> Complex:
    """First-order lag of the actuators and a dead time."""
    s = 1j * omega
    return np.asarray(np.exp(-s * delay) / (1.0 + s * lag))


def margins(loop: Complex, omega: Array) -> Margins:
    """Margins of L(jω) under negative feedback."""
    size, phase = np.log(np.abs(loop)), np.unwrap(np.angle(loop))
    crossovers = _crossings(size, 0.0, np.log(omega), phase)
    at = [(math.exp(x), _from_critical(p)) for x, p in crossovers]
    up, down = math.inf, 0.0
    lowest, highest = phase.min(), phase.max()
    for turn in range(math.floor((lowest - math.pi) / math.tau), math.ceil(highest / math.tau) + 1):
        level = math.pi + math.tau * turn
        for _, value in _crossings(phase, level, np.log(omega), size):
            factor = math.exp(-value)
            up = min(up, factor) if factor > 1.0 else up
            down = max(down, factor) if factor <= 1.0 else down
    return Margins(
        crossover=max((w for w, _ in at), default=0.0),
        phase=min((math.degrees(p) for _, p in at), default=math.inf),
        gain=up,
        reduction=down,
        sensitivity=float(np.max(1.0 / np.abs(1.0 + loop))),
    )


def _crossings(signal: Array, level: float, *others: Array) -> list[tuple[float, ...]]:
    """Values of the others where the signal passes a level, by linear interpolation."""
    over = signal - level
    found = []
    for k in np.flatnonzero(np.sign(over[:-1]) * np.sign(over[1:]) < 0):
        share = over[k] / (over[k] - over[k + 1])
        found.append(tuple(float(o[k] + share * (o[k + 1] - o[k])) for o in others))
    return found


def _from_critical(phase: float) -> float:
    """Distance of a phase from ±180°, rad."""
    return abs(math.remainder(phase - math.pi, math.tau))
