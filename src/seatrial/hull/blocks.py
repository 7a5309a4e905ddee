"""Hydrostatics of a hull made of wall-sided blocks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """A vertical prism under the waterline, with a rectangular or elliptical waterplane."""

    elliptical: bool
    length: float
    beam: float
    draught: float
    x: float
    y: float

    @property
    def area(self) -> float:
        """Area of its waterplane, m²."""
        return self.length * self.beam * (math.pi / 4.0 if self.elliptical else 1.0)

    @property
    def second_moments(self) -> tuple[float, float]:
        """∫x² dA and ∫y² dA about its own centre, m⁴."""
        factor = 16.0 if self.elliptical else 12.0
        return self.area * self.length**2 / factor, self.area * self.beam**2 / factor

    def quadrature(self, shortest_wave: float) -> tuple[Array, Array, Array]:
        """Points and weights over the waterplane that resolve waves of the given length."""
        n = int(np.clip(math.ceil(4.0 * max(self.length, self.beam) / shortest_wave) + 6, 6, 48))
        nodes, weights = np.polynomial.legendre.leggauss(n)
        if not self.elliptical:
            u, v = np.meshgrid(nodes, nodes, indexing="ij")
            w = np.outer(weights, weights) * 0.25 * self.area
            return (
                self.x + 0.5 * self.length * u.ravel(),
                self.y + 0.5 * self.beam * v.ravel(),
                w.ravel(),
            )
        # Polar: Gauss in the squared radius (equal areas), equal angles (exact for harmonics).
        radius = np.sqrt(0.5 * (nodes + 1.0))
        angle = 2.0 * math.pi * np.arange(2 * n) / (2 * n)
        r, a = np.meshgrid(radius, angle, indexing="ij")
        w = np.repeat(weights * 0.5 / (2 * n), 2 * n) * self.area
        return (
            self.x + 0.5 * self.length * (r * np.cos(a)).ravel(),
            self.y + 0.5 * self.beam * (r * np.sin(a)).ravel(),
            w,
        )


@dataclass(frozen=True)
class Hydrostatics:
    """What the blocks add up to."""

    volume: float
    area: float
    flotation: float
    """x of the centroid of the waterplane, m."""
    buoyancy: float
    """x of the centre of buoyancy, m."""
    buoyancy_depth: float
    """Depth of the centre of buoyancy below the waterline, m."""
    transverse_radius: float
    """BM_T = I_T / ∇, m."""
    longitudinal_radius: float
    """BM_L = I_L / ∇ about the centre of flotation, m."""


def hydrostatics(blocks: tuple[Block, ...]) -> Hydrostatics:
    """Sum the blocks; second moments by the parallel-axis theorem."""
    area = sum(b.area for b in blocks)
    volume = sum(b.area * b.draught for b in blocks)
    flotation = sum(b.area * b.x for b in blocks) / area
    longitudinal = sum(b.second_moments[0] + b.area * (b.x - flotation) ** 2 for b in blocks)
    transverse = sum(b.second_moments[1] + b.area * b.y**2 for b in blocks)
    return Hydrostatics(
        volume=volume,
        area=area,
        flotation=flotation,
        buoyancy=sum(b.area * b.draught * b.x for b in blocks) / volume,
        buoyancy_depth=sum(b.area * b.draught**2 / 2.0 for b in blocks) / volume,
        transverse_radius=transverse / volume,
        longitudinal_radius=longitudinal / volume,
    )
