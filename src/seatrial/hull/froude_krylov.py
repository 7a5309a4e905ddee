"""Wave force amplitudes of a hull, for every component and all headings: stage one of two.

The pressure of a component, p = ρ g a f(z) cos(φ − k·r), is integrated over the wetted hull.
For wall-sided blocks this splits into the hydrostatic pressure ρ g ζ on the waterplane and the
gradient −∇p over the volume. This is section III-B of Thomas, Bossens and Tarapore (2021)
without its slips: the pressure (their eq. 11) is multiplied by the wave amplitude, roll and pitch
(eq. 13) use their own levers, yaw is kept, and the pressure varies over the hull as it really
does rather than linearly, so waves shorter than the hull cancel out by themselves.

Added to it is the force of the water's acceleration on the added mass, M_A a_w: for waves longer
than the hull it is the diffraction force (Faltinsen 1990, section 3.4), and with it a small
float follows a long wave exactly.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.hull.blocks import Block, hydrostatics

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

OUTPUTS = 14
"""X Y Z K M N, elevation, two slopes, u v w p q: the order of core's `wave_excitation.OUTPUTS`."""


@dataclass(frozen=True)
class Sea:
    """The components of a sea, as far as a hull cares."""

    amplitude: Array
    omega: Array
    wavenumber: Array
    direction: Array
    depth: float | None
    """Of the water, m; None for deep water."""


@dataclass(frozen=True)
class HullInWaves:
    """A hull's figures that scale the integrals over its blocks.

    The blocks give the shape; volume, centre of buoyancy and metacentric radii are the hull's own,
    so that the force in a long wave balances the restoring force exactly.
    """

    blocks: tuple[Block, ...]
    waterline: float
    """z of the waterline in the body frame, m."""
    volume: float
    buoyancy: float
    """x of the centre of buoyancy: that of the centre of gravity, since there is no trim, m."""
    transverse_radius: float
    """BM_T, m."""
    longitudinal_radius: float
    """BM_L, m."""
    added_mass: Array
    """(6, 6) about the origin."""
    density: float


def transfer(hull: HullInWaves, sea: Sea, headings: Array) -> Complex:
    """Complex outputs per unit amplitude, (OUTPUTS, C, H), at relative directions `headings`.

    An output is Re[W a exp(iφ)], with φ the phase of the component at the vehicle's origin. The
    heave force of the waterplane is left out: the restoring force takes it from the elevation.
    """
    k, omega = sea.wavenumber[:, None], sea.omega[:, None]
    c, s = np.cos(headings), np.sin(headings)
    kx, ky = k * c, k * s
    figures = hydrostatics(hull.blocks)
    weight_of_water = hull.density * GRAVITY
    volume_scale = hull.volume / figures.volume

    total = np.zeros((OUTPUTS, *kx.shape), dtype=np.complex128)
    X, Y, Z, K, M, N, elevation, along, athwart, u, v, w, p, q = total
    area_levers, volume_levers = np.zeros(2), np.zeros(2)
    for block in hull.blocks:
        own = np.array(block.second_moments)
        second = own + block.area * np.array([(block.x - figures.flotation) ** 2, block.y**2])
        area_levers += second
        volume_levers += second * block.draught

        E0, Ex, Ey = block.fourier(kx, ky)
        Ex = Ex - figures.flotation * E0
        elevation += E0
        along += Ex
        athwart += Ey

        bottom, mean, first, horizontal, vertical = _profiles(sea, block.draught)
        shift = hull.buoyancy - figures.buoyancy + figures.flotation
        gradient = weight_of_water * volume_scale
        push = 1j * gradient * mean * E0
        lever = 1j * gradient * (first + hull.waterline * mean) * E0
        lift = -gradient * (bottom - 1.0)
        X += kx * push
        Y += ky * push
        Z += lift * E0
        K += lift * Ey - ky * lever
        M += kx * lever - lift * (Ex + shift * E0)
        N += 1j * gradient * mean * (ky * (Ex + shift * E0) - kx * Ey)

        u += omega * horizontal * c * E0
        v += omega * horizontal * s * E0
        w += -1j * omega * vertical * E0
        p += -1j * omega * vertical * Ey
        q += 1j * omega * vertical * Ex
    elevation /= figures.area
    along /= area_levers[0]
    athwart /= area_levers[1]
    K -= weight_of_water * hull.volume * hull.transverse_radius * athwart
    M += weight_of_water * hull.volume * hull.longitudinal_radius * along
    total[9:12] /= figures.volume
    p /= volume_levers[1]
    q /= volume_levers[0]
    motion = np.stack([u, v, w, p, q, np.zeros_like(u)])
    total[:6] += np.einsum("ij,jch->ich", hull.added_mass, 1j * omega * motion)
    return total


def _profiles(sea: Sea, draught: float) -> tuple[Array, Array, Array, Array, Array]:
    """Vertical integrals of a component over a block's draught T, each (C, 1).

    With the pressure profile f(z): f(T), ∫f dz, ∫z f dz, and ∫ of the profiles of horizontal and
    vertical orbital velocity over a ω.
    """
    k = sea.wavenumber[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(12)
    z = 0.5 * draught * (nodes + 1.0)
    w = 0.5 * draught * weights

    def pressure(z: Array) -> Array:
        if sea.depth is None:
            return np.exp(-k * z)
        # cosh k(h − z) / cosh kh, written so that no exponential overflows
        return (np.exp(-k * z) + np.exp(-k * (2 * sea.depth - z))) / (
            1.0 + np.exp(-2 * k * sea.depth)
        )

    f = pressure(z)
    if sea.depth is None:
        horizontal = vertical = f
    else:
        tanh = np.tanh(k * sea.depth)
        horizontal = f / tanh
        vertical = (np.exp(-k * z) - np.exp(-k * (2 * sea.depth - z))) / (
            -np.expm1(-2 * k * sea.depth)
        )

    def over(values: Array) -> Array:
        total: Array = np.sum(values * w, axis=1, keepdims=True)
        return total

    return pressure(np.array([draught])), over(f), over(f * z), over(horizontal), over(vertical)


Contribution = tuple[int, int, bool, int, float]
"""Output, harmonic n, whether it goes with sin nψ (else cos nψ), row of the matrix, factor."""


class _Harmonic(NamedTuple):
    """One term of an output's Fourier series over the heading, for the whole sea."""

    values: Array
    """(2C,) amplitudes of cos φ, then of sin φ."""
    harmonic: int
    sine: bool
    rms: float


def heading_harmonics(
    hull: HullInWaves, sea: Sea, tolerance: float = 5e-3
) -> tuple[Array, list[Contribution]]:
    """Matrix (R, 2C) and what its rows contribute to the outputs.

    The transfer functions are periodic in the relative direction β = μ − ψ; their Fourier series
    turns the dependence on the heading ψ into a few fixed rows. The smallest harmonics, together
    less than `tolerance` of an output's root mean square in this sea, are left out, and rows that
    repeat up to a factor (sway after surge of a round hull) are kept once.
    """
    span = max(b.length + abs(b.x) * 2 + b.beam + abs(b.y) * 2 for b in hull.blocks)
    harmonics = min(8 + math.ceil(float(sea.wavenumber.max()) * span), 400)
    count = 2 * harmonics + 2
    beta = 2.0 * math.pi * np.arange(count) / count
    series = np.fft.fft(transfer(hull, sea, beta), axis=2) / count
    turn = np.exp(1j * np.outer(sea.direction, np.arange(harmonics + 1)))

    matrix: list[_Harmonic] = []
    contributions: list[Contribution] = []
    floor = _noise_floor(series, sea.amplitude)
    for output in range(OUTPUTS):
        candidates: list[_Harmonic] = []
        for n in range(harmonics + 1):
            ahead = sea.amplitude * series[output, :, n] * turn[:, n]
            back = (
                sea.amplitude * series[output, :, -n] * turn[:, n].conj()
                if n
                else np.zeros_like(ahead)
            )
            P, Q = ahead + back, ahead - back
            candidates.append(_Harmonic(np.concatenate([P.real, -P.imag]), n, False, _rms(P)))
            if n:
                candidates.append(_Harmonic(np.concatenate([Q.imag, Q.real]), n, True, _rms(Q)))
        candidates = [c for c in candidates if c.rms > floor[output]]
        for part in _without_smallest(candidates, tolerance):
            row, factor = _find_or_add(matrix, part)
            contributions.append((output, part.harmonic, part.sine, row, factor))
    return np.array([row.values for row in matrix]), contributions


def _without_smallest(harmonics: list[_Harmonic], tolerance: float) -> list[_Harmonic]:
    """Drop the smallest ones as long as what is dropped stays below the tolerance."""
    budget = tolerance**2 * sum(h.rms**2 for h in harmonics)
    kept = sorted(harmonics, key=lambda h: -h.rms)
    while kept and kept[-1].rms ** 2 <= budget:
        budget -= kept.pop().rms ** 2
    return kept


def _find_or_add(matrix: list[_Harmonic], new: _Harmonic) -> tuple[int, float]:
    """Index of a row that is parallel to `new`, and the factor between them."""
    for i, row in enumerate(matrix):
        if row.harmonic == new.harmonic:
            factor = float(row.values @ new.values) / (2.0 * row.rms**2)
            if np.linalg.norm(new.values - factor * row.values) < 1e-9 * new.rms:
                return i, factor
    matrix.append(new)
    return len(matrix) - 1, 1.0


def _rms(amplitudes: Complex) -> float:
    return float(np.sqrt(0.5 * np.sum(np.abs(amplitudes) ** 2)))


def _noise_floor(series: Complex, amplitude: Array) -> Array:
    """Rounding error of each output, from the largest output of its kind."""
    size = np.array([_rms(amplitude * np.abs(series[o]).sum(axis=1)) for o in range(OUTPUTS)])
    kinds = (slice(0, 3), slice(3, 6), slice(6, 7), slice(7, 9), slice(9, 12), slice(12, 14))
    floor = np.empty(OUTPUTS)
    for kind in kinds:
        floor[kind] = 1e-6 * size[kind].max()
    return floor
