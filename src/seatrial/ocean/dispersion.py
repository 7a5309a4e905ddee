"""How waves feel the depth under a place: wavenumbers over a bottom that is a map.

A wave keeps its frequency wherever it goes, so over a bottom that slopes gently its wavenumber
follows the depth h under it (Dean and Dalrymple 1991, sections 3.4 and 4.8; Mei 1989, section 3.1):

    ω² = g k tanh kh.

The wavenumbers are tabled over the logarithm of the depth, so that a step looks two rows up instead
of solving for them. They decide how the motion under the surface decays with depth, how fast the
water moves along the bottom and how steep the waves are around a hull. The phase of a component,
and with it the surface that is drawn, stays one field over the whole map, with the wavenumbers of
its mean depth: crests keep their distance and height over shoals (`docs/theory/ocean.md`).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.pytree import constant, pytree

Array = NDArray[np.float64]

ROWS = 128
"""Depths of a table. From 1 m to 1 km a wavenumber between two of them errs by 2e-4 at most."""


@pytree
class DepthTable:
    """Wavenumbers over the depth of the water."""

    first: jax.Array
    """Natural logarithm of the least depth, which in m holds for less too."""
    per_row: jax.Array
    """Difference of the logarithms from row to row."""
    wavenumber: jax.Array
    """(D, C) rad/m."""


class Local(NamedTuple):
    """Water of its own depth under every point."""

    depth: jax.Array
    """(...) m."""
    wavenumber: jax.Array
    """(C, ...) rad/m."""


def depth_table(
    solve: Callable[[float], Array], shallowest: float, deepest: float, dtype: type[np.floating]
) -> DepthTable:
    """A table between two depths; `solve` gives the wavenumbers (C,) at one."""
    first, last = math.log(shallowest), math.log(max(deepest, 2.0 * shallowest))
    depths = np.exp(np.linspace(first, last, ROWS))
    return DepthTable(
        first=constant(first, dtype),
        per_row=constant((last - first) / (ROWS - 1), dtype),
        wavenumber=constant(np.stack([solve(h) for h in depths]), dtype),
    )


def local(table: DepthTable, depth: jax.Array) -> Local:
    """The water under places where the bottom is `depth` deep, (...); land is shallow water."""
    floor = jnp.exp(table.first)
    depth = jnp.maximum(depth.astype(table.wavenumber.dtype), floor)
    row = jnp.clip((jnp.log(depth) - table.first) / table.per_row, 0.0, ROWS - 1.0)
    lower = jnp.minimum(jnp.floor(row).astype(jnp.int32), ROWS - 2)
    share = (row - lower)[..., None]
    numbers = jnp.asarray(table.wavenumber)
    found = (1.0 - share) * numbers[lower] + share * numbers[lower + 1]
    return Local(depth, jnp.moveaxis(found, -1, 0))
