"""How the energy of a sea is spread over directions about its mean direction.

    long_crested  everything travels along the mean direction
    cos2          G(α) = (2/π) cos² α within ±π/2 (ITTC 1978)
    cos2s         G(α) ∝ cos^2s (α/2) within ±π (Longuet-Higgins, Cartwright and Smith 1963)

α is measured from the mean direction of the waves.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.ocean.integrals import cumulative

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Spreading:
    """A spreading function by its name."""

    kind: str = "cos2"
    """long_crested, cos2 or cos2s."""
    exponent: float = 1.0
    """s of cos2s; larger is narrower."""

    def bands(self, count: int) -> tuple[Array, Array]:
        """Centres of equal bands about the mean direction, and the share of energy in each."""
        if self.kind == "long_crested":
            return np.zeros(1), np.ones(1)
        angle, energy = self._cumulative()
        half = math.pi / 2.0 if self.kind == "cos2" else float(np.interp(0.999, energy, angle))
        edges = np.linspace(-half, half, count + 1)
        share = np.diff(np.interp(edges, angle, energy))
        return 0.5 * (edges[:-1] + edges[1:]), share / np.sum(share)

    def equal_energy(self, count: int) -> Array:
        """Angles in the middle, by energy, of `count` bands of the same energy."""
        if self.kind == "long_crested":
            return np.zeros(1)
        angle, energy = self._cumulative()
        return np.interp((np.arange(count) + 0.5) / count, energy, angle)

    def _cumulative(self) -> tuple[Array, Array]:
        limit = math.pi / 2.0 if self.kind == "cos2" else math.pi
        angle = np.linspace(-limit, limit, 20001)
        power = 2.0 if self.kind == "cos2" else 2.0 * self.exponent
        argument = angle if self.kind == "cos2" else angle / 2.0
        energy = cumulative(np.abs(np.cos(argument)) ** power, angle)
        return angle, energy / energy[-1]
