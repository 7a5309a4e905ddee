"""Proportional, integral and derivative control of one degree of freedom.

τ = K_p e + I + K_d s/(1 + T_f s) e,  İ = K_i e + k_t (τ_achieved − τ)

The last term is the back-calculation of Åström and Murray (2021, section 11.4): while actuators
cannot give what is demanded, the integral follows what they do give instead of winding up.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree


@pytree
class Pid:
    """Gains; a part that is None is absent."""

    proportional: jax.Array
    integral: jax.Array
    derivative: jax.Array | None
    tracking: jax.Array
    """k_t, 1/s: how fast the integral follows what actuators can give."""
    filter_time: jax.Array | None
    """T_f, s; None feeds a measured rate back as it is."""


class PidMemory(NamedTuple):
    """What one period hands to the next."""

    integral: jax.Array
    """I, in units of the output."""
    filtered: jax.Array
    """Low-passed error, or low-passed rate of it where the rate is measured."""


def begin(error: jax.Array) -> PidMemory:
    """Start at an error without a kick of the derivative."""
    return PidMemory(jnp.zeros_like(error), error)


def pid(
    gains: Pid,
    memory: PidMemory,
    error: jax.Array,
    error_rate: jax.Array | None,
    shortfall: jax.Array,
    period: float,
    learning: jax.Array | float = 1.0,
) -> tuple[PidMemory, jax.Array]:
    """One period of control.

    `error_rate` is the derivative of the error where it is measured; otherwise the filter makes
    it. `shortfall` is the achieved less the demanded output of the last period. The integral grows
    by the share `learning` of what its gain says.
    """
    slope, filtered = _slope(gains, memory.filtered, error, error_rate, period)
    output = gains.proportional * error + memory.integral
    if gains.derivative is not None:
        output = output + gains.derivative * slope
    integral = memory.integral + period * (
        learning * gains.integral * error + gains.tracking * shortfall
    )
    return PidMemory(integral, filtered), output


def _slope(
    gains: Pid,
    filtered: jax.Array,
    error: jax.Array,
    error_rate: jax.Array | None,
    period: float,
) -> tuple[jax.Array, jax.Array]:
    """Filtered derivative, and the filter's next state: exact for an input held over a period."""
    if gains.filter_time is None:
        if error_rate is None:
            raise ValueError("a derivative that is not measured needs a filter time")
        return error_rate, filtered
    value = error if error_rate is None else error_rate
    closer = filtered - jnp.expm1(-period / gains.filter_time) * (value - filtered)
    if error_rate is None:
        return (error - filtered) / gains.filter_time, closer
    return closer, closer
