"""Errors that many sensors share: drifting biases, rounding, the end of the range.

Each drifting bias is advanced by its exact discretisation, so its statistics do not depend on the
sampling rate.
"""

import math

import jax
import jax.numpy as jnp

FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)
"""Floor of the Allan deviation of flicker noise over its coefficient B: 0.664 (IEEE Std 952-1997,
eq. C.15). Data sheets that quote the lowest point of the curve quote 0.664 B."""

PEAK_TIME = 1.89262
"""Averaging time, in time constants, at which the Allan deviation of a Gauss–Markov process is
highest."""

PEAK = 0.617364
"""The Allan deviation there over the standard deviation of the process. Where the process is given
by its driving noise q instead (σ² = q² T / 2), this is the 0.437 q √T of IEEE Std 952-1997."""


def instability_deviation(bias_instability: float) -> float:
    """Standard deviation σ of the Gauss–Markov process that stands for a bias instability B.

    Flicker noise has no finite description; one Gauss–Markov process has a single broad hump in
    its place. σ is chosen so that the top of the hump lies at the floor, 0.617 σ = 0.664 B.
    """
    return FLOOR / PEAK * bias_instability


def gauss_markov(
    state: jax.Array,
    draw: jax.Array,
    dt: jax.Array | float,
    time_constant: jax.Array | float,
    sigma: jax.Array | float,
) -> jax.Array:
    """First-order Gauss–Markov process after `dt`: x' = φ x + σ √(1 − φ²) n, φ = exp(−dt/T).

    `sigma` is its standard deviation once it is stationary; begin with sigma times a draw.
    """
    exponent = jnp.asarray(-dt / time_constant)
    # −expm1 keeps its digits where dt is tiny against T and φ² rounds to 1.
    return jnp.exp(exponent) * state + sigma * jnp.sqrt(-jnp.expm1(2.0 * exponent)) * draw


def random_walk(
    state: jax.Array, draw: jax.Array, dt: jax.Array | float, density: jax.Array | float
) -> jax.Array:
    """Random walk after `dt`: x' = x + K √dt n, with K in units of the signal per s and √Hz."""
    return state + density * jnp.sqrt(jnp.asarray(dt)) * draw


def quantise(value: jax.Array, step: jax.Array | float) -> jax.Array:
    """The nearest whole number of steps."""
    return step * jnp.round(value / step)


def saturate(value: jax.Array, limit: jax.Array | float) -> jax.Array:
    """The value, or the end of the range ±limit beyond it."""
    return jnp.clip(value, -limit, limit)
