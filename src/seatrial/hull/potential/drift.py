"""Mean second-order loads of waves on a hull that moves in them, from what it sends far away.

A wave of power P carries the momentum P/c in its direction. The hull takes the power P_s that it
scatters and the power P_a that it keeps out of the incident waves towards β, and sends the first
away towards all sides (Maruo 1960; Newman 1967, The drift force and moment on ships in waves):

    F = [(P_s + P_a) e(β) − ∫ p_s(θ) e(θ) dθ] / c,   p_s = flux |I|²,   P_s = ∫ p_s dθ.

The moment follows in the same way, with −i ∂/∂θ in place of k e(θ):

    N = −[½ρg Im I'(β) − flux ∫ Im(I* I') dθ] / ω.

Both hold in water of any depth. Drift changes with forward speed (wave-drift damping); that is left
out.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.hull.potential.solution import Complex, FarField, Solution

Array = NDArray[np.float64]


def mean_drift(solution: Solution, motions: Complex, kept: Array) -> Array:
    """X, Y and N (3, W, H) per squared amplitude of the wave.

    `motions` (6, W, H) are per unit amplitude; `kept` (W, H) is the power that their damping by
    other forces takes out of the water, per squared amplitude.
    """
    far, theta = solution.far_field, solution.headings
    assert far is not None
    total = far_waves(far, motions)
    step = 2.0 * np.pi / len(theta)
    power = far.flux[:, None, None] * np.abs(total) ** 2 * step
    taken = power.sum(axis=2) + kept
    slowness = (far.wavenumber / solution.omega)[:, None]
    along, across = (
        slowness * (taken * turn(theta) - power @ turn(theta)) for turn in (np.cos, np.sin)
    )
    orders = np.fft.fftfreq(len(theta), 1.0 / len(theta))
    orders[len(theta) // 2] = 0.0  # of the highest no derivative is known
    slope = np.fft.ifft(1j * orders * np.fft.fft(total, axis=2), axis=2)
    ahead = np.einsum("whh->wh", slope)
    sent = far.flux[:, None] * np.imag(np.conj(total) * slope).sum(axis=2) * step
    turning = -(0.5 * far.density * GRAVITY * ahead.imag - sent) / solution.omega[:, None]
    return np.stack([along, across, turning])


def finer(solution: Solution, times: int) -> Solution:
    """With so many times as many frequencies: what a hull sends away varies slowly with them, its
    drift near a resonance does not."""
    from scipy.interpolate import CubicSpline

    far, known = solution.far_field, solution.omega
    assert far is not None
    count = times * (len(known) - 1) + 1
    omega = np.interp(np.linspace(0.0, 1.0, count), np.linspace(0.0, 1.0, len(known)), known)

    def between(values: NDArray[Any], axis: int) -> NDArray[Any]:
        return np.asarray(CubicSpline(known, values, axis=axis)(omega))

    field = FarField(
        density=far.density,
        wavenumber=between(far.wavenumber, 0),
        flux=between(far.flux, 0),
        radiated=between(far.radiated, 1),
        scattered=between(far.scattered, 0),
    )
    return replace(
        solution,
        omega=omega,
        added_mass=between(solution.added_mass, 0),
        damping=between(solution.damping, 0),
        froude_krylov=between(solution.froude_krylov, 1),
        diffraction=between(solution.diffraction, 1),
        far_field=field,
    )


def far_waves(far: FarField, motions: Complex) -> Complex:
    """(W, H, T) Kochin functions of the hull that scatters waves and moves in them."""
    return np.asarray(far.scattered + np.einsum("jwh,jwt->wht", motions, far.radiated))
