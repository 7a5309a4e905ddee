"""Cross-flow drag by strips (Faltinsen 1990; Fossen 2021 eqs. 6.91-6.92).

Y = −½ρ ∫ T(x) C_d |v + x r| (v + x r) dx,  N = −½ρ ∫ T(x) C_d x |v + x r| (v + x r) dx,
and likewise in heave and pitch with w − x q. The midpoint rule is used over the strips.
"""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar, Twist, Wrench

Array = NDArray[np.float64]

# C_d of two-dimensional ship-like sections over B/2T, read from the curve in Hoerner (1965),
# Fluid-Dynamic Drag, as reproduced by Fossen (2021) figure 6.8.
_HOERNER = np.array(
    [
        [0.01, 1.97], [0.18, 1.97], [0.35, 1.90], [0.45, 1.79], [0.47, 1.58], [0.49, 1.25],
        [0.56, 1.08], [0.65, 1.00], [0.83, 0.88], [0.99, 0.83], [1.31, 0.76], [1.64, 0.69],
        [1.86, 0.66], [2.31, 0.63], [2.60, 0.60], [3.00, 0.59], [3.45, 0.59], [4.00, 0.56],
    ]
)  # fmt: skip


def hoerner(beam: float, draught: float) -> float:
    """Two-dimensional drag coefficient of a section by its B/2T; constant beyond the curve."""
    return float(np.interp(beam / (2.0 * draught), _HOERNER[:, 0], _HOERNER[:, 1]))


def strip_positions(length: float, centre: float, strips: int) -> Array:
    """Middles of equal strips."""
    return centre + length * ((np.arange(strips) + 0.5) / strips - 0.5)


@pytree
class CrossFlow:
    """Strips along the hull; `heave` is None for a craft damped in the horizontal plane only."""

    x: jax.Array
    """(S,) middles of the strips, m."""
    sway: jax.Array
    """½ρ C_d T Δx of a strip, kg/m."""
    heave: jax.Array | None


def force(model: CrossFlow, relative: Twist, density_ratio: Scalar) -> Wrench:
    """Drag of all strips."""
    x = model.x.reshape(model.x.shape + (1,) * jnp.ndim(relative.v))
    Y, xY = _strips(model.sway, x, relative.v, relative.r)
    Y, N = density_ratio * Y, density_ratio * xY
    if model.heave is None:
        return Wrench(0.0, Y, 0.0, 0.0, 0.0, N)
    Z, xZ = _strips(model.heave, x, relative.w, -relative.q)
    return Wrench(0.0, Y, density_ratio * Z, 0.0, -density_ratio * xZ, N)


def _strips(strip: jax.Array, x: jax.Array, v: Scalar, r: Scalar) -> tuple[Scalar, Scalar]:
    local = v + x * r
    drag = -strip * jnp.abs(local) * local
    return jnp.sum(drag, axis=0), jnp.sum(x * drag, axis=0)


def fitted_coefficients(x: Array, strip: float) -> dict[str, float]:
    """Coefficients of Y and N in v|v|, |v|r, v|r|, r|r| that replace the strips.

    Pure sway and pure yaw are those of the strips; the mixed terms are a least-squares fit over
    all ratios of v and r (scaled by the half length), done once, offline (Fossen 2021,
    section 6.5).
    """
    half = float(np.abs(x).max())
    angle = (np.arange(720) + 0.5) * (2.0 * np.pi / 720)
    v, r = np.cos(angle), np.sin(angle) / half
    local = v + x[:, None] * r
    drag = -strip * np.abs(local) * local
    mixed = np.stack([np.abs(v) * r, v * np.abs(r)], axis=1)
    result: dict[str, float] = {}
    for letter, lever in (("Y", np.ones_like(x)), ("N", x)):
        sway = -strip * float(np.sum(lever))
        yaw = -strip * float(np.sum(lever * np.abs(x) * x))
        rest = lever @ drag - sway * v * np.abs(v) - yaw * r * np.abs(r)
        av_r, v_ar = np.linalg.lstsq(mixed, rest, rcond=None)[0]
        result |= {f"{letter}_v_av": sway, f"{letter}_r_ar": yaw}
        result |= {f"{letter}_av_r": float(av_r), f"{letter}_v_ar": float(v_ar)}
    return result
