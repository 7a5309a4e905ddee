"""Wave force amplitudes of a hull, for every component and any heading: stage one of two.

The pressure of a component, p = ρ g a f(z) cos(φ − k·r), is integrated over the wetted hull.
For wall-sided blocks this splits into the hydrostatic pressure ρ g ζ on the waterplane and the
gradient −∇p over the volume. This is section III-B of Thomas, Bossens and Tarapore (2021)
without its slips: the pressure (their eq. 11) is multiplied by the wave amplitude, roll and pitch
(eq. 13) use their own levers, yaw is kept, and the pressure varies over the hull as it really
does rather than linearly, so waves shorter than the hull cancel out by themselves.

Beside it stands the acceleration of the water, which a step multiplies by the added mass in the
axes of the leaning hull: for waves longer than the hull that is the diffraction force (Faltinsen
1990, section 3.4), and with it a small float follows a long wave exactly. Its level part needs no
rows of its own: pressure over a volume is ρ∇ times the mean acceleration in it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.hull.blocks import Block, hydrostatics

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

OUTPUTS = 16
"""X Y Z K M N, elevation, two slopes, u v w p q, rates of p and q: the order of core's
`wave_excitation.OUTPUTS`."""
KINDS = (
    *(slice(0, 3), slice(3, 6), slice(6, 7), slice(7, 9)),
    *(slice(9, 12), slice(12, 14), slice(14, 16)),
)
"""Outputs that share a unit."""


@dataclass(frozen=True)
class Sea:
    """The components of a sea, as far as a hull cares."""

    amplitude: Array
    omega: Array
    wavenumber: Array
    direction: Array
    depth: float | None
    """Of the water, m; None for deep water."""


class SolvedLoads(Protocol):
    """Wave loads of a hull that were solved for."""

    def __call__(self, omega: Array, headings: Array, pressure: bool) -> Complex:
        """Complex loads (6, C, H) per unit amplitude at frequencies (C,) and headings (C, H).

        With or without the pressure of the undisturbed waves.
        """


class MeanDrift(Protocol):
    """Mean second-order loads of a hull in waves."""

    def __call__(self, omega: Array, headings: Array) -> Array:
        """X, Y and N (3, C, H) per squared amplitude at frequencies (C,) and headings (C, H)."""


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
    density: float
    pressure: bool = True
    """False where the pressure on the hull's triangles or cubes is integrated at every step: X, Y
    and Z then stand for the water's acceleration alone."""
    loads: SolvedLoads | None = None
    """Wave loads by a boundary-element solution, in place of pressure and acceleration."""
    drift: MeanDrift | None = None
    """None where mean loads are left to what first-order loads make of themselves."""
    waterplane_area: float = 0.0
    flotation: float = 0.0
    """x of the waterplane's centroid, m; both as the restoring force has them."""


def transfer(hull: HullInWaves, sea: Sea, headings: Array) -> Complex:
    """Complex outputs per unit amplitude, (OUTPUTS, C, H), at relative directions `headings`.

    `headings` is (H,), or (C, H) where every component has directions of its own. Vectors are
    along and across the heading. An output is Re[W a exp(iφ)], with φ the phase of the component
    at the vehicle's origin. The heave force of the waterplane is left out: the restoring force
    takes it from the elevation.
    """
    k, omega = sea.wavenumber[:, None], sea.omega[:, None]
    c, s = np.cos(headings), np.sin(headings)
    kx, ky = k * c, k * s
    figures = hydrostatics(hull.blocks)
    weight_of_water = hull.density * GRAVITY
    volume_scale = hull.volume / figures.volume

    total = np.zeros((OUTPUTS, *kx.shape), dtype=np.complex128)
    X, Y, Z, K, M, N, elevation, along, athwart, u, v, w, p, q = total[:14]
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
    if hull.loads is not None:
        total[:6] = hull.loads(sea.omega, np.broadcast_to(headings, kx.shape), hull.pressure)
        if hull.pressure:  # less what the restoring force takes from the elevation
            lifted = weight_of_water * hull.waterplane_area * elevation
            Z += lifted
            M -= hull.flotation * lifted
        return total
    if not hull.pressure:
        total[3:6] = 0.0
    total[14:] = 1j * omega * total[12:14]
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
