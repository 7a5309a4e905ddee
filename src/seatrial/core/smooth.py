"""Switches without corners, so that integrators keep their order and gradients exist."""

import jax.numpy as jnp

from seatrial.spatial.vectors import Scalar


def smoothstep(s: Scalar) -> Scalar:
    """0 below 0, 1 above 1, 3 s² − 2 s³ between: C¹."""
    s = jnp.clip(s, 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def smootherstep(s: Scalar) -> Scalar:
    """0 below 0, 1 above 1, 6 s⁵ − 15 s⁴ + 10 s³ between: C², so that a switch which is passed in
    every wave leaves a fourth-order integrator its order.
    """
    s = jnp.clip(s, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def smooth_ramp(x: Scalar, width: Scalar) -> Scalar:
    """0 below −width, x above width, a parabola between: a C¹ max(x, 0)."""
    # by what does not change from step to step: a product is several times quicker than a quotient
    t = jnp.clip((x + width) * (0.5 / width), 0.0, 1.0)
    return jnp.where(x < width, width * t * t, x)


def smooth_clip(x: Scalar, high: Scalar, width: Scalar) -> Scalar:
    """`x` held between 0 and `high`, with rounded corners of half-width `width`."""
    return smooth_ramp(x, width) - smooth_ramp(x - high, width)
