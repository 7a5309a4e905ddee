"""Random numbers as a function of a key and a sample's number, so that it does not matter whether
a run is computed in blocks or stepped.

They come from Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw 2011, Parallel random
numbers: as easy as 1, 2, 3), the generator that JAX uses as well. JAX's own runs its rounds in a
loop on the CPU, which is right for millions of numbers; for the few of a sample the loop costs more
than the numbers, so the rounds are written out here.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

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


class Wanted(NamedTuple):
    """Numbers (samples, draws, N) of the streams `keys` (2, N), from the sample `first` on."""

    keys: jax.Array
    first: jax.Array
    samples: int
    draws: int

    @property
    def pairs(self) -> int:
        """Words come in twos."""
        return -(-self.draws // 2)


def normal(
    keys: jax.Array, first: jax.Array, samples: int, count: int, dtype: np.dtype[np.floating]
) -> jax.Array:
    """Standard normal numbers (samples, count, N) of one stream per vehicle."""
    return normals([Wanted(keys, first, samples, count)], dtype)[0]


def normals(wanted: Sequence[Wanted], dtype: np.dtype[np.floating]) -> list[jax.Array]:
    """Standard normal numbers of several kinds of streams, all in one go: written out once each,
    the rounds are a tenth of a mission's program.

    They are drawn in single precision, which reaches to 5.4 standard deviations.
    """
    numbers = [jnp.repeat(w.first + jnp.arange(w.samples), w.pairs) for w in wanted]
    places = np.concatenate([np.tile(np.arange(w.pairs), w.samples) for w in wanted])
    rows = [w.samples * w.pairs for w in wanted]
    vehicles = max(w.keys.shape[-1] for w in wanted)
    keys = jnp.concatenate(
        [
            jnp.broadcast_to(w.keys[:, None], (2, r, vehicles))
            for w, r in zip(wanted, rows, strict=True)
        ],
        axis=1,
    )
    shape = keys.shape[1:]
    high = jnp.broadcast_to(jnp.concatenate(numbers).astype(jnp.uint32)[:, None], shape)
    low = jnp.broadcast_to(jnp.asarray(places, jnp.uint32)[:, None], shape)
    bits = jnp.stack(threefry(keys, high, low), axis=1)
    # 23 random bits, centred between the steps: symmetric about zero and never ±1.
    centred = (bits >> 9).astype(jnp.float32) * 2.0**-22 + (2.0**-23 - 1.0)
    drawn = (math.sqrt(2.0) * jax.lax.erf_inv(centred)).astype(dtype)
    ends = np.cumsum(rows)
    return [
        drawn[end - r : end].reshape(w.samples, 2 * w.pairs, vehicles)[:, : w.draws]
        for w, r, end in zip(wanted, rows, ends, strict=True)
    ]


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
