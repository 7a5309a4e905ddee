"""Evaluate a sum over components at very many points without a component × point array."""

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
