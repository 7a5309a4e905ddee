"""Hydrostatics of a hull made of wall-sided blocks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


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

    def fourier(self, kx: Array, ky: Array) -> tuple[Complex, Complex, Complex]:
        """∫ exp(−ik·r) dA over the waterplane, and the same with x and with y as a factor.

        A rectangle gives sin s / s along each axis; an ellipse gives 2 J₁(κ)/κ with
        κ² = (kₓ L/2)² + (k_y B/2)². The moments are i times the derivatives by kₓ and k_y.
        """
        a, b = 0.5 * self.length, 0.5 * self.beam
        zeroth: Array
        if self.elliptical:
            from scipy.special import j1, jv

            kappa = np.maximum(np.hypot(kx * a, ky * b), 1e-6)
            zeroth = 2.0 * j1(kappa) / kappa
            slope = -2.0 * jv(2, kappa) / kappa**2
            by_kx, by_ky = slope * kx * a * a, slope * ky * b * b
        else:
            along, along_slope = _sinc(kx * a)
            across, across_slope = _sinc(ky * b)
            zeroth = along * across
            by_kx, by_ky = a * along_slope * across, b * along * across_slope
        shift = self.area * np.exp(-1j * (kx * self.x + ky * self.y))
        return (
            shift * zeroth,
            shift * (1j * by_kx + self.x * zeroth),
            shift * (1j * by_ky + self.y * zeroth),
        )


def _sinc(s: Array) -> tuple[Array, Array]:
    """sin s / s and its derivative."""
    safe = np.where(np.abs(s) < 1e-4, 1.0, s)
    value = np.where(np.abs(s) < 1e-4, 1.0 - s * s / 6.0, np.sin(safe) / safe)
    slope = np.where(
        np.abs(s) < 1e-4, -s / 3.0, (safe * np.cos(safe) - np.sin(safe)) / (safe * safe)
    )
    return value, slope


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
