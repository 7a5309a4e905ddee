"""Wave spectra: variance density S(ω) in m² s over circular frequency in rad/s.

Every spectrum satisfies m₀ = ∫ S dω = (Hs/4)².
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.ocean.integrals import integral

Array = NDArray[np.float64]

PM_ALPHA = 8.10e-3
PM_BETA = 0.74
"""Constants of Pierson and Moskowitz (1964), for the wind speed 19.5 m above the sea."""


@dataclass(frozen=True)
class Spectrum:
    """A spectrum of one or more systems."""

    density: Callable[[Array], Array]
    """S(ω), for ω > 0."""
    significant_height: float
    """Hs, m."""
    peaks: tuple[float, ...]
    """Peak frequency of each system, rad/s; the one that gives Tp comes first."""

    @property
    def peak_period(self) -> float:
        """Tp, s."""
        return 2.0 * math.pi / self.peaks[0]

    def grid(self) -> Array:
        """Frequencies that resolve the spectrum and hold all but 1e-4 of its energy."""
        return np.geomspace(0.25 * min(self.peaks), 100.0 * max(self.peaks), 12001)

    def moment(self, order: int) -> float:
        """m_n = ∫ ωⁿ S dω over the grid."""
        omega = self.grid()
        return integral(omega**order * self.density(omega), omega)


def pierson_moskowitz_by_wind(wind_speed: float) -> Spectrum:
    """Fully developed sea by the wind speed U at 19.5 m (Pierson and Moskowitz 1964).

    S(f) = A f⁻⁵ exp(−B f⁻⁴), A = α g² (2π)⁻⁴, B = β (2πU/g)⁻⁴, f_p = (4B/5)^¼, which is a
    Bretschneider spectrum with Hs = 2 (U²/g) √(α/β) and this peak.
    """
    height = 2.0 * wind_speed**2 / GRAVITY * math.sqrt(PM_ALPHA / PM_BETA)
    peak = (0.8 * PM_BETA) ** 0.25 * GRAVITY / wind_speed
    return bretschneider(height, 2.0 * math.pi / peak)


def pierson_moskowitz_by_height(significant_height: float) -> Spectrum:
    """Fully developed sea by its significant height."""
    wind = math.sqrt(0.5 * significant_height * GRAVITY / math.sqrt(PM_ALPHA / PM_BETA))
    return pierson_moskowitz_by_wind(wind)


def bretschneider(significant_height: float, peak_period: float) -> Spectrum:
    """Two-parameter spectrum (Bretschneider 1959; ITTC 1978; ISSC).

    S(ω) = (5/16) Hs² ω_p⁴ ω⁻⁵ exp(−(5/4)(ω_p/ω)⁴).
    """
    return _normalised(significant_height, peak_period, gamma=1.0, tail=5.0)


def jonswap(significant_height: float, peak_period: float, gamma: float = 3.3) -> Spectrum:
    """Bretschneider's shape times γ^exp(−(ω/ω_p − 1)² / 2σ²) (Hasselmann et al. 1973).

    σ is 0.07 below and 0.09 above the peak. Normalised numerically, so that Hs is exact for every
    peak enhancement γ.
    """
    return _normalised(significant_height, peak_period, gamma=gamma, tail=5.0)


def ochi_hubble(systems: tuple[tuple[float, float, float], ...]) -> Spectrum:
    """Six-parameter spectrum (Ochi and Hubble 1976): (Hs, Tp, λ) of each of two systems.

    S(ω) = ¼ Σ [((4λ+1)/4) ω_m⁴]^λ / Γ(λ) · Hs² ω^−(4λ+1) exp(−((4λ+1)/4)(ω_m/ω)⁴).
    """

    def density(omega: Array) -> Array:
        total = np.zeros_like(omega)
        for height, period, shape in systems:
            b = (shape + 0.25) * (2.0 * math.pi / period) ** 4
            # in logarithms, because b^λ and ω^(4λ+1) overflow for the narrow systems
            log_s = (
                shape * math.log(b)
                - math.lgamma(shape)
                - (4.0 * shape + 1.0) * np.log(omega)
                - b / omega**4
            )
            total = total + 0.25 * height**2 * np.exp(log_s)
        return total

    peaks = sorted(
        (2.0 * math.pi / period for _, period, _ in systems), key=lambda w: -_at(density, w)
    )
    return Spectrum(density, math.hypot(*(h for h, _, _ in systems)), tuple(peaks))


def torsethaugen(significant_height: float, peak_period: float) -> Spectrum:
    """Wind sea and swell by Hs and Tp alone, for the North Sea and the Norwegian Sea.

    The simplified double-peak form of Torsethaugen and Haver (2004), as in DNV-RP-C205 appendix A:
    T_f = 6.6 Hs^⅓ parts wind-dominated (Tp ≤ T_f) from swell-dominated seas; the primary system
    is a JONSWAP-like peak, the secondary one has γ = 1; both have the tail ω⁻⁴.
    """
    hs, tp = significant_height, peak_period
    fully_developed = 6.6 * hs ** (1.0 / 3.0)
    if tp <= fully_developed:
        lowest = 2.0 * math.sqrt(hs)
        young = (fully_developed - tp) / (fully_developed - lowest)
        share = 0.7 + 0.3 * math.exp(-((young / 0.5) ** 2))
        gamma = 35.0 * (2.0 * math.pi / GRAVITY * share * hs / tp**2) ** 0.857
        other_period = fully_developed + 2.0
    else:
        old = (tp - fully_developed) / (25.0 - fully_developed)
        share = 0.6 + 0.4 * math.exp(-((old / 0.3) ** 2))
        gamma = 35.0 * (2.0 * math.pi / GRAVITY * hs / fully_developed**2) ** 0.857
        gamma *= 1.0 + 6.0 * old
        other_period = 6.6 * (math.sqrt(1.0 - share**2) * hs) ** (1.0 / 3.0)
    primary = _normalised(share * hs, tp, gamma=max(gamma, 1.0), tail=4.0)
    rest = math.sqrt(1.0 - share**2) * hs
    if rest < 1e-6 * hs:
        return primary
    secondary = _normalised(rest, other_period, gamma=1.0, tail=4.0)
    return Spectrum(
        lambda omega: primary.density(omega) + secondary.density(omega),
        hs,
        primary.peaks + secondary.peaks,
    )


def _normalised(height: float, period: float, gamma: float, tail: float) -> Spectrum:
    """x^−n exp(−(n/4) x⁻⁴) with the JONSWAP peak factor, x = ω/ω_p, scaled to m₀ = (Hs/4)²."""
    peak = 2.0 * math.pi / period

    def shape(omega: Array) -> Array:
        x = omega / peak
        width = np.where(x <= 1.0, 0.07, 0.09)
        factor = gamma ** np.exp(-0.5 * ((x - 1.0) / width) ** 2)
        return np.asarray(x**-tail * np.exp(-0.25 * tail * x**-4.0) * factor)

    unscaled = Spectrum(shape, height, (peak,))
    scale = (height / 4.0) ** 2 / unscaled.moment(0)
    return Spectrum(lambda omega: scale * shape(omega), height, (peak,))


def _at(density: Callable[[Array], Array], omega: float) -> float:
    return float(density(np.array([omega]))[0])
