"""Echoes over range as a receiver tells them: pulses of finite length, speckle, decibels.

A compiled function does all of it at once, for sonars and radars alike: NumPy would go through a
picture some twenty times, and threads would wait for each other as often.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.sensors.noise.streams import exponential

Array = NDArray[np.float64]
Picture = NDArray[np.float32]

DECIBELS = 10.0 / math.log(10.0)
"""In a factor of e."""


def told(power: Picture, quietest: float, levels: Picture) -> None:
    """Fill levels with 10 log₁₀ of powers, which are overwritten, of at least the quietest."""
    np.maximum(power, np.float32(quietest), out=power)
    np.log(power, out=power)  # which NumPy has vectorised on more machines than log₁₀
    np.multiply(power, np.float32(DECIBELS), out=levels)


def pulse_weights(pulse: Array, longest: float) -> Array:
    """(K, M) what pulses that cover so many bins (K,) at once hear of bins that are 0, 1, 2, …
    before and behind the one that is told; M goes with the longest that there may be.

    What lies at v hears a pulse at u where |u − v| is less than half of its length. Between two
    bins that are m apart this is so for the share H(m + n/2) − H(m − n/2) of their points, with H
    the distribution function of the sum of two evenly spread numbers.
    """
    half = 0.5 * pulse[:, None]
    apart = np.arange(math.ceil(0.5 * longest + 1.0))
    return _share(apart + half) - _share(apart - half)


def _share(x: Array) -> Array:
    """H."""
    within = 1.0 - 0.5 * np.square(1.0 - np.minimum(np.abs(x), 1.0))
    return np.where(x < 0.0, 1.0 - within, within)


def lengthened(picture: Any, weights: Any) -> jax.Array:
    """Echoes (P, bins) of pulses of the weights (P or 1, M)."""
    bins, count = picture.shape[1], weights.shape[1]
    beside = jnp.pad(picture, ((0, 0), (count - 1, count - 1)))
    result = weights[:, :1] * picture
    for m in range(1, count):
        before, behind = (beside[:, count - 1 + side :][:, :bins] for side in (-m, m))
        result += weights[:, m : m + 1] * (before + behind)
    return jnp.asarray(result)


class Hearing(NamedTuple):
    """How a receiver hears rows of a picture."""

    weights: Picture
    """(P or 1, M) `pulse_weights`."""
    loss: Picture
    """(P or 1, bins) what is left of a unit of the picture."""
    noise: np.float32
    quietest: np.float32
    """That is told."""


@jax.jit
def power_of(picture: jax.Array, hearing: Hearing) -> jax.Array:
    """(P, bins) mean powers of echoes, without noise."""
    return lengthened(picture, hearing.weights) * hearing.loss


@jax.jit
def levels_of(picture: jax.Array, hearing: Hearing, chance: jax.Array | None) -> jax.Array:
    """(P, bins) 10 log₁₀ of powers; without chance of their means, without noise.

    Waves of many scatterers add up to a complex Gaussian noise, so the power of a cell is
    exponentially distributed around its mean.
    """
    power = power_of(picture, hearing)
    if chance is not None:
        power = (power + hearing.noise) * exponential(jnp, chance)
    return DECIBELS * jnp.log(jnp.maximum(power, hearing.quietest))
