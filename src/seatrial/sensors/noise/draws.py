"""Random numbers as a function of a key and a sample's number, so that it does not matter whether
a run is computed in blocks or stepped.

They come from Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw 2011, Parallel random
numbers: as easy as 1, 2, 3), the generator that JAX uses as well. JAX's own runs its rounds in a
loop on the CPU, which is right for millions of numbers; for the few of a sample the loop costs more
than the numbers, so the rounds are written out here.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.seeding import generator

START = 0
"""Number of the draws that a sensor begins with; samples count from 1."""

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def key(seed: int, name: str) -> NDArray[np.uint32]:
    """Key (2,) of the stream called `name`."""
    return generator(seed, name).integers(0, 2**32, size=2, dtype=np.uint32)


def normal(
    keys: jax.Array, first: jax.Array, samples: int, count: int, dtype: np.dtype[np.floating]
) -> jax.Array:
    """Standard normal numbers (samples, count, N) of the streams `keys` (2, N), from `first` on.

    They are drawn in single precision, which reaches to 5.4 standard deviations.
    """
    pairs = -(-count // 2)
    number = (first + jnp.arange(samples)).astype(jnp.uint32)[:, None, None]
    place = jnp.arange(pairs, dtype=jnp.uint32)[:, None]
    shape = (samples, pairs, keys.shape[-1])
    a, b = threefry(keys, jnp.broadcast_to(number, shape), jnp.broadcast_to(place, shape))
    bits = jnp.stack([a, b], axis=2).reshape(samples, 2 * pairs, keys.shape[-1])[:, :count]
    # 23 random bits, centred between the steps: symmetric about zero and never ±1.
    centred = (bits >> 9).astype(jnp.float32) * 2.0**-22 + (2.0**-23 - 1.0)
    return (math.sqrt(2.0) * jax.lax.erf_inv(centred)).astype(dtype)


def threefry(keys: jax.Array, high: jax.Array, low: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Two random words for every counter (high, low), under the keys (2, …)."""
    schedule = (keys[0], keys[1], keys[0] ^ keys[1] ^ jnp.uint32(_PARITY))
    a, b = high + schedule[0], low + schedule[1]
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            a = a + b
            b = (b << turn) | (b >> (32 - turn))
            b = a ^ b
        a = a + schedule[(group + 1) % 3]
        b = b + schedule[(group + 2) % 3] + jnp.uint32(group + 1)
    return a, b


def uniform(draw: jax.Array) -> jax.Array:
    """A standard normal number as one that is uniform between 0 and 1: Φ(x)."""
    return jax.scipy.special.ndtr(draw)
