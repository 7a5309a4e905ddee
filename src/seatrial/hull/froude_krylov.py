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

    The blocks give the shape; area, volume, centres and metacentric radii are the hull's own, so
    that the force in a long wave balances the restoring force exactly.
    """

    blocks: tuple[Block, ...]
    waterline: float
    """z of the waterline in the body frame, m."""
    waterplane_area: float
    flotation: float
    """x of the centroid of the waterplane, m."""
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
    shortest = 2.0 * math.pi / float(sea.wavenumber.max())

    total = np.zeros((OUTPUTS, *kx.shape), dtype=np.complex128)
    X, Y, Z, K, M, N, elevation, along, athwart, u, v, w, p, q = total
    area_levers, volume_levers = np.zeros(2), np.zeros(2)
    for block in hull.blocks:
        x, y, weight = block.quadrature(shortest)
        second = np.array([np.sum(weight * (x - figures.flotation) ** 2), np.sum(weight * y * y)])
        area_levers += second
        volume_levers += second * block.draught

        E0, Ex, Ey = _footprint(x - figures.flotation, x, y, weight, kx, ky)
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


def _footprint(
    lever: Array, x: Array, y: Array, weight: Array, kx: Array, ky: Array
) -> tuple[Complex, Complex, Complex]:
    """∫ exp(−ik·r) dA and its moments with `lever` and y over a waterplane, each (C, H)."""
    E0 = np.empty(kx.shape, dtype=np.complex128)
    Ex, Ey = np.empty_like(E0), np.empty_like(E0)
    moments = np.stack([weight, weight * lever, weight * y], axis=1)
    for c in range(kx.shape[0]):
        wave = np.exp(-1j * (kx[c][:, None] * x + ky[c][:, None] * y))
        E0[c], Ex[c], Ey[c] = (wave @ moments).T
    return E0, Ex, Ey


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


def harmonic_rows(
    hull: HullInWaves, sea: Sea, tolerance: float = 1e-3
) -> tuple[Array, list[tuple[int, int, bool]]]:
    """Matrix (R, 2C) and the meaning of its rows (output, harmonic, sine).

    The transfer functions are periodic in the relative direction β = μ − ψ; their Fourier series
    turns the dependence on the heading ψ into a few fixed rows. Rows that carry less than
    `tolerance` of an output's root mean square in this sea are left out.
    """
    span = max(b.length + abs(b.x) * 2 + b.beam + abs(b.y) * 2 for b in hull.blocks)
    harmonics = int(min(8 + math.ceil(float(sea.wavenumber.max()) * span), 60))
    count = 2 * harmonics + 2
    beta = 2.0 * math.pi * np.arange(count) / count
    series = np.fft.fft(transfer(hull, sea, beta), axis=2) / count
    turn = np.exp(1j * np.outer(sea.direction, np.arange(harmonics + 1)))

    matrix: list[Array] = []
    rows: list[tuple[int, int, bool]] = []
    floor = _noise_floor(series, sea.amplitude)
    for output in range(OUTPUTS):
        candidates: list[tuple[Array, tuple[int, int, bool], float]] = []
        for n in range(harmonics + 1):
            ahead = sea.amplitude * series[output, :, n] * turn[:, n]
            back = (
                sea.amplitude * series[output, :, -n] * turn[:, n].conj()
                if n
                else np.zeros_like(ahead)
            )
            P, Q = ahead + back, ahead - back
            candidates.append((np.concatenate([P.real, -P.imag]), (output, n, False), _rms(P)))
            if n:
                candidates.append((np.concatenate([Q.imag, Q.real]), (output, n, True), _rms(Q)))
        size = math.sqrt(sum(rms**2 for _, _, rms in candidates))
        for row, meaning, rms in candidates:
            if rms > max(tolerance * size, floor[output]):
                matrix.append(row)
                rows.append(meaning)
    return np.array(matrix), rows


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
