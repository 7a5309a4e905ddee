"""What surfaces send back to a fan of rays, spread over the bins that they reach.

A patch is the surface within the solid angle of a ray. Its echo is evenly spread over the ranges
between which it lies: a step up where it begins and one down where it ends, of which a running sum
over the bins makes the spread. A step s at the fraction f of its bin gives s (1 − f) to the running
sum there and s f to that of the next. So a picture is one sum over the patches and a running one,
however long they are.

Steps are whole numbers of a small unit: their sums are exact, so that nothing is left of a patch
behind its end, and it does not matter in which order they are taken.

All of it is one compiled function of all rays, those that met nothing too: arithmetic costs less
than to sort them out, and Python is left alone for as long.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.sensors.sonar.fan import Fan
from seatrial.sensors.sonar.scene import Echoes
from seatrial.sensors.sonar.targets import NOTHING, SURFACE, Targets, law

Array = NDArray[np.float64]
Single = NDArray[np.float32]

LEAST_EXTENT = 0.01
"""Of a patch, in bins: what is met squarely lies at one range."""
FARTHEST_FACTOR = 2.0
"""How much farther or nearer than its ray a patch may reach: a plane met at grazing incidence has
no end."""
LARGEST_STEP, LARGEST_SUM = 1 << 50, 1 << 61
"""Of whole numbers; the largest there are are larger by a few bits, for what rounds."""
BLOCK = 1 << 14
"""Rays of which steps are taken at once."""
SHIFT = 1.5 * 2.0**52
_TWO_CELLS = jax.lax.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(), scatter_dims_to_operand_dims=(0,)
)


class Detour(NamedTuple):
    """Echoes of rays that are heard by way of a mirror as well as straight on."""

    later: Single
    """(K, R) how much farther a target then looks, m."""
    heard: Single
    """(K, R) how well, beside the pattern with which the ray is sent."""


class Law(NamedTuple):
    """What is known of a fan beforehand."""

    cells: tuple[Single, ...]
    """`Fan.cells`, (C,) each, of the rays of a row, which end up in the same bins."""
    surfaces: Single
    """(3, M) `Targets.laws`, with those of the surface and of nothing."""
    turned: np.float32
    """cos(Δe/2)."""
    per_metre: np.float32
    """Bins."""
    units: np.float64
    """In a step of 1: a power of two."""


def law_of(fan: Fan, targets: Targets, per_metre: float, echoes: float) -> Law:
    """Of a fan, each ray of which brings back up to so many times what it is lit with."""
    cells = fan.cells
    steepest = echoes * targets.strongest * float(cells.lit.max()) / LEAST_EXTENT
    most = min(LARGEST_STEP, LARGEST_SUM // cells.lit.size)
    units = math.ldexp(1.0, math.frexp(most / steepest)[1] - 1)
    surfaces = np.pad(targets.laws(np.float32), ((0, 0), (0, 1)))
    turned = np.float32(math.cos(fan.half_step))
    return Law(tuple(cells), surfaces, turned, np.float32(per_metre), np.float64(units))


def steps_of(echoes: Echoes, detours: Sequence[Detour], known: Law, bins: int) -> jax.Array:
    """(P, bins + 2) steps whose running sums over the bins are what rows of C rays bring back, in
    the units of the law; what ends behind the last bin lies in those beyond. Echoes are (P, C)."""
    lit, heard, turn, tilt = known.cells
    solid = echoes.material < SURFACE
    cosine = jnp.where(solid, echoes.cosine, -echoes.down)
    rise = jnp.where(solid, echoes.rise, echoes.upright[:, None])
    lean = rise / jnp.maximum(cosine, 1e-6) * turn - tilt
    near, far = _extent(known.per_metre * echoes.distance, lean, known.turned)
    # S / cos γ; the rest of b_t b_r dΩ lies in the cells of the fan.
    strength = law(jnp, [row[echoes.material] for row in known.surfaces], cosine)
    strength = jnp.where(echoes.material < NOTHING, strength, 0.0)
    total = jnp.zeros((len(strength), bins + 2), jnp.int64)
    total = stepped(total, near, far, strength * heard, known.units)
    for later, well in detours:
        away = known.per_metre * later
        total = stepped(total, near + away, far + away, strength * well * lit, known.units)
    return total


@partial(jax.jit, static_argnums=3)
def steps_of_azimuths(
    echoes: Echoes, detours: Sequence[Detour], known: Law, bins: int
) -> jax.Array:
    """The same of a ping, of which the rows are azimuths."""
    rows = echoes.distance.size // len(known.cells[0])
    upright: Any = jnp.broadcast_to(echoes.upright, (rows,))

    def cut(part: jax.Array) -> jax.Array:
        return part.reshape(rows, -1) if part.ndim > 1 else part

    given = jax.tree.map(cut, (echoes._replace(upright=upright), list(detours)))
    found = jnp.zeros((rows, bins + 2), jnp.int64)
    return in_blocks(
        lambda *some: steps_of(some[0], some[1], known, bins), given, found, rows, known
    )


def in_blocks(
    function: Callable[..., jax.Array],
    given: Any,
    found: jax.Array,
    count: int | jax.Array,
    known: Law,
) -> jax.Array:
    """What is found with a function of some rows after the others, up to so many, each with the
    rays of a law: all that is made of them stays in the cache."""
    rows = len(found)
    most = max(BLOCK // len(known.cells[0]), 1)
    some = -(-rows // -(-rows // most))

    def block(i: jax.Array, found: jax.Array) -> jax.Array:
        # The last block begins where it ends with the last row that there is room for.
        first = jnp.minimum(i * some, rows - some)

        def cut(part: jax.Array) -> jax.Array:
            return jax.lax.dynamic_slice_in_dim(part, first, some) if part.ndim else part

        part = function(*jax.tree.map(cut, given))
        return jax.lax.dynamic_update_slice_in_dim(found, part, first, 0)

    return jnp.asarray(jax.lax.fori_loop(0, (count + some - 1) // some, block, found))


def _extent(middle: Any, lean: Any, turned: Any) -> tuple[jax.Array, jax.Array]:
    """Nearest and farthest range of the patch in the solid angle of each ray."""
    lean = jnp.abs(lean)
    nearest = middle / jnp.minimum(turned + lean, FARTHEST_FACTOR)
    farthest = middle / jnp.maximum(turned - lean, 1.0 / FARTHEST_FACTOR)
    return nearest, farthest


def stepped(
    total: jax.Array, near: jax.Array, far: jax.Array, echo: jax.Array, units: Any
) -> jax.Array:
    """Steps (rows, bins + 2) with those of some patches (rows, C) between two ranges, in bins."""
    rows, wide = total.shape
    flat = total.reshape(-1)
    row = wide * jnp.arange(rows, dtype=jnp.int32)[:, None]
    end = jnp.maximum(far, near + LEAST_EXTENT)
    steep = units * (echo / (end - near)).astype(jnp.float64)
    for place, step in ((near, steep), (end, -steep)):
        held = jnp.clip(place, 0.0, wide - 2.0)
        first = jnp.floor(held)
        behind = _whole((held - first) * step)
        both = jnp.stack([_whole(step) - behind, behind], axis=-1).reshape(-1, 2)
        at = (row + first.astype(jnp.int32)).reshape(-1, 1)
        flat = jax.lax.scatter_add(flat, at, both, _TWO_CELLS, mode="promise_in_bounds")
    return flat.reshape(rows, wide)


def _whole(x: jax.Array) -> jax.Array:
    """The nearest whole number of a size below 2⁵¹: that which a float has in its last 52 bits when
    it is so large that they count ones. XLA converts numbers one by one."""
    shifted = jax.lax.bitcast_convert_type(x + SHIFT, jnp.int64)
    return shifted - np.int64(np.float64(SHIFT).view(np.int64))
