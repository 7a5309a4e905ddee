"""Wave filter: a notch and a low-pass filter in cascade (Fossen 2021, section 13.2).

h(s) = (s² + 2 ζ ω s + ω²) / (s + ω)² · 1 / (1 + s/ω_f)

Actuators cannot and should not answer the first-order motion in waves; the filter takes it out of
what is fed back. Discretised by the bilinear transform with the notch at its exact frequency.
"""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.pytree import pytree

Complex = NDArray[np.complex128]

STATES = 3
"""Inner states for each filtered signal."""


@pytree
class WaveFilter:
    """Frequencies of the filter."""

    frequency: jax.Array
    """ω, where the waves are met, rad/s."""
    damping: jax.Array
    """ζ: what is left at that frequency is ζ of the signal, before the low-pass filter."""
    cutoff: jax.Array
    """ω_f of the low-pass filter, rad/s."""


def begin(signals: jax.Array) -> jax.Array:
    """Memory (3, ...) of a filter at rest for signals (...)."""
    return jnp.zeros((STATES, *signals.shape), signals.dtype)


def smooth(
    filter: WaveFilter, memory: jax.Array, signal: jax.Array, period: float
) -> tuple[jax.Array, jax.Array]:
    """Memory and filtered signal after one period."""
    # s → c (z − 1)/(z + 1), with c such that the notch falls on ω exactly.
    w = filter.frequency
    c = w / jnp.tan(0.5 * w * period)
    unit = (c + w) ** 2
    b0 = (c * c + 2.0 * filter.damping * w * c + w * w) / unit
    b1 = 2.0 * (w * w - c * c) / unit
    b2 = (c * c - 2.0 * filter.damping * w * c + w * w) / unit
    a1, a2 = b1, ((c - w) / (c + w)) ** 2
    notched = b0 * signal + memory[0]
    first = b1 * signal - a1 * notched + memory[1]
    second = b2 * signal - a2 * notched
    share = filter.cutoff / (filter.cutoff + 2.0 / period)
    output = share * notched + memory[2]
    third = share * notched - (2.0 * share - 1.0) * output
    return jnp.stack([first, second, third]), output


def response(frequency: float, damping: float, cutoff: float, s: Complex) -> Complex:
    """h(s), for design."""
    notch = (s * s + 2.0 * damping * frequency * s + frequency**2) / (s + frequency) ** 2
    return np.asarray(notch / (1.0 + s / cutoff))
