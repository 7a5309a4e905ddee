"""Sliding-mode control with integral action and a boundary layer (Fossen 2021, section 16.4).

With the error e of the heading, λ > 0 and the virtual rate r_v = r_d + 2 λ e + λ² ∫e:

σ = r_v − r,   τ = m ṙ_v + d r_v + d₂ |r_v| r_v + K_d σ + K_s sat(σ/φ)

On σ = 0 the error dies out as (s + λ)². A moment that the model does not know, up to K_s, moves σ
no further than the boundary layer φ, whatever it is made of.
"""

import jax
import jax.numpy as jnp

from seatrial.gnc.control.pid import PidMemory
from seatrial.pytree import pytree


@pytree
class SlidingMode:
    """Gains."""

    slope: jax.Array
    """λ, rad/s."""
    proportional: jax.Array
    """K_d, N m s."""
    switching: jax.Array
    """K_s, N m: the largest unknown moment."""
    boundary: jax.Array
    """φ, rad/s."""
    tracking: jax.Array
    """1/s: how fast the integral gives way while actuators cannot follow."""


def slide(
    gains: SlidingMode,
    memory: PidMemory,
    error: jax.Array,
    error_rate: jax.Array,
    shortfall: jax.Array,
    mass: jax.Array,
    damping: jax.Array,
    period: float,
) -> tuple[PidMemory, jax.Array]:
    """One period: memory and the moment beside that of the reference's own motion.

    `memory.integral` is ∫e. `mass` and `damping` are those of the model at the reference's rate.
    """
    extra = 2.0 * gains.slope * error + gains.slope**2 * memory.integral
    extra_rate = 2.0 * gains.slope * error_rate + gains.slope**2 * error
    distance = error_rate + extra
    switched = gains.switching * jnp.clip(distance / gains.boundary, -1.0, 1.0)
    output = mass * extra_rate + damping * extra + gains.proportional * distance + switched
    # The gain of the integral on the moment turns a shortfall into an error.
    stiffness = gains.slope**2 * (gains.proportional + damping)
    relief = gains.tracking * shortfall / stiffness
    integral = memory.integral + period * (error + relief)
    return PidMemory(integral, memory.filtered), output
