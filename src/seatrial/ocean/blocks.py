"""Sums over components: as matrix products, and at very many points block by block."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp

from seatrial.spatial.vectors import Scalar

Result = TypeVar("Result")

CPU_BLOCK = 4096
"""Points treated at once on a CPU: 75 components in double precision are then 2.5 MB."""
ACCELERATOR_BLOCK = 2**18
"""The same on a GPU, which needs more points to keep it busy."""


def in_blocks(function: Callable[..., Result], *points: Scalar) -> Result:
    """Call `function` on arrays of one common shape, block by block when there are many points.

    A block or less is one direct call. Every array in the result has the points' shape.
    """
    arrays = jnp.broadcast_arrays(*points)
    shape, count = arrays[0].shape, arrays[0].size
    block = CPU_BLOCK if jax.default_backend() == "cpu" else ACCELERATOR_BLOCK
    if count <= block:
        return function(*arrays)
    padding = -count % block
    rows = [jnp.pad(a.reshape(-1), (0, padding)).reshape(-1, block) for a in arrays]
    result = jax.lax.map(lambda row: function(*row), rows)
    whole: Result = jax.tree.map(lambda r: r.reshape(-1)[:count].reshape(shape), result)
    return whole


def sums(weights: jax.Array, field: jax.Array) -> jax.Array:
    """Weighted sums over the components, (R, C) times (C, ...), in full precision.

    A matrix product computes the field once; written as reductions, a single point would see its
    sines again in each of them. Left to itself a GPU rounds single precision to ten bits here;
    three passes of its tensor cores keep all of it.
    """
    precise: jax.lax.Precision | jax.lax.DotAlgorithmPreset = jax.lax.Precision.HIGHEST
    if jax.default_backend() == "gpu" and weights.dtype == jnp.float32:
        precise = jax.lax.DotAlgorithmPreset.TF32_TF32_F32_X3
    flat = field.reshape(field.shape[0], -1)
    result: jax.Array = jnp.matmul(weights, flat, precision=precise)
    return result.reshape((weights.shape[0], *field.shape[1:]))
