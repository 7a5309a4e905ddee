"""What linear potential theory knows of a hull: over frequency and heading, and between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

MIRROR = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
"""Signs of the six motions seen in a mirror on the centre plane."""


@dataclass(frozen=True)
class FarField:
    """The waves that a hull sends away, by their Kochin functions over the headings θ.

    I(θ) = ∫ (φ ∂g/∂n − g ∂φ/∂n) dS over the wet hull, g = Z(z) exp(−ik·r); a wave of unit amplitude
    or a motion of unit amplitude sends the power `flux` |I|² away per radian (Newman 1977, 6.18).
    """

    density: float
    wavenumber: Array
    """(W,) rad/m."""
    flux: Array
    """(W,) ½ρ g c_g (ω/g)² C₀²/(2πk), with C₀ = k² c/(2 c_g ω²/g), which is k in deep water."""
    radiated: Complex
    """(6, W, T) by motions of unit amplitude."""
    scattered: Complex
    """(W, H, T) of waves towards each heading by the hull at rest."""


@dataclass(frozen=True)
class Tail:
    """Radiation beyond the solved band, where panels are coarse for the waves: good enough to say
    how the damping falls off, not for loads."""

    omega: Array
    """(V,) rad/s, increasing."""
    added_mass: Array
    """(V, 6, 6)."""
    damping: Array
    """(V, 6, 6)."""


@dataclass(frozen=True)
class Solution:
    """Coefficients about the body's origin, in body axes (forward, starboard, down).

    Loads follow Re[F exp(iωt)] in a wave of unit amplitude whose crest is at the origin at t = 0,
    and which travels towards a heading counted from forward through starboard.
    """

    omega: Array
    """(W,) rad/s, increasing."""
    headings: Array
    """(H,) rad, evenly around from 0."""
    added_mass: Array
    """(W, 6, 6)."""
    damping: Array
    """(W, 6, 6)."""
    infinite: Array
    """(6, 6) added mass at infinite frequency."""
    froude_krylov: Complex
    """(6, W, H) of the undisturbed wave."""
    diffraction: Complex
    """(6, W, H) of the wave that the hull sends back."""
    stiffness: Array
    """(6, 6) hydrostatic, without the weight's part."""
    volume: float
    panels: int
    source: str
    """Where it comes from, for people."""
    far_field: FarField | None = None
    """None of a solution that somebody else's solver wrote."""
    tail: Tail | None = None
    """Likewise."""

    def loads(self, omega: Array, headings: Array, pressure: bool) -> Complex:
        """Loads (6, C, H) at frequencies (C,) and headings (C, H); between the solved ones by
        splines over the frequency and by all harmonics over the heading.

        At ω = 0 the loads are hydrostatic. Beyond the last frequency, where panels are too large
        to tell, they fall off as 1/ω².
        """
        known = self.diffraction + self.froude_krylov if pressure else self.diffraction
        # ζ = 1 everywhere lifts the hull by its stiffness in heave: z is down, ζ up.
        still = -self.stiffness[:, 2] if pressure else np.zeros(6)
        start = np.broadcast_to(still[:, None, None], (6, 1, len(self.headings)))
        within = np.minimum(omega, self.omega[-1])
        found = self.between(np.concatenate([start, known], axis=1), within, headings)
        return np.asarray(found * ((within / np.maximum(omega, 1e-9)) ** 2)[None, :, None])

    def between(self, values: Complex, omega: Array, headings: Array) -> Complex:
        """Values (D, 1 + W, H), the first at ω = 0, at frequencies (C,) and headings (C, H')."""
        from scipy.interpolate import CubicSpline

        count = len(self.headings)
        harmonics = np.fft.fft(values, axis=2) / count
        orders = np.fft.fftfreq(count, 1.0 / count)
        if count % 2 == 0:  # the highest order is as much +n as −n
            middle = count // 2
            half = 0.5 * harmonics[:, :, middle : middle + 1]
            harmonics = np.concatenate([harmonics, half], axis=2)
            harmonics[:, :, middle] = half[:, :, 0]
            orders = np.append(orders, -orders[middle])
        spline = CubicSpline(np.concatenate([[0.0], self.omega]), harmonics, axis=1)
        turns = np.exp(1j * orders[:, None] * headings[:, None, :])
        return np.asarray(np.einsum("dcn,cnh->dch", spline(omega), turns))


def responses(
    solution: Solution, mass: Array, stiffness: Array, damping: Array | None = None
) -> Complex:
    """Motions (6, W, H) per unit amplitude: [−ω²(M + A) + iωB + C] ξ = F.

    `stiffness` is the whole hydrostatic one, with the weight's part.
    """
    force = solution.froude_krylov + solution.diffraction
    w = solution.omega[:, None, None]
    dampings = solution.damping + (0.0 if damping is None else damping)
    matrix = -(w**2) * (mass + solution.added_mass) + 1j * w * dampings + stiffness
    found = np.linalg.solve(matrix, np.moveaxis(force, 0, 1))
    return np.asarray(np.moveaxis(found, 1, 0))


def symmetric(added_mass: Array, tolerance: float = 0.02) -> bool:
    """Whether what couples the planes of symmetry is no more than the noise of the panels."""
    odd = np.outer(MIRROR, MIRROR) < 0.0
    size = np.sqrt(np.abs(np.diag(added_mass)))
    scale = np.maximum(np.outer(size, size), 1e-12 * size.max() ** 2)
    return bool(np.max(np.abs(added_mass / scale)[odd]) < tolerance)
