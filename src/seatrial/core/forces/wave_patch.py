"""The sea around one hull, sampled once at the nodes of a patch and interpolated between them.

The patch lies in the vehicle's heading axes about its origin, with Chebyshev nodes along and
across. Sines and cosines are needed per row and per column only, since on such a grid

    cos(φ − a ξ − b η) = cos(φ − a ξ) cos b η + sin(φ − a ξ) sin b η,

and the sum over components is a product of matrices. Between the nodes a field is the polynomial
through them: a wave of n nodes over a half-length h has an error of about (k h)ⁿ / (2ⁿ⁻¹ n!) of its
amplitude (Trefethen 2013, chapter 8). Components too short for the nodes are left out: their
pressure averages away over the hull.

The pressure under the surface is ρ g (d − S) with the depth d under the instantaneous surface and
S = Σ a (1 − P(d)) cos θ, P = exp(−k d) in deep water: hydrostatic, and Froude and Krylov's with
Wheeler's stretching (1970), so that it is zero on the surface itself. S/d is kept at three depths.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.ocean.dispersion import local
from seatrial.ocean.waves import Waves
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import Rotation
from seatrial.spatial.trig import sincos
from seatrial.spatial.vectors import Scalar, Vec3

Array = NDArray[np.float64]

LAYERS = 3
"""Depths at which S/d is kept."""


@pytree
class WavePatch:
    """Where the sea around a hull is sampled."""

    half: jax.Array
    """(2,) half of its length and breadth, m."""
    reach: jax.Array
    """Depth of its lowest layer, m."""
    mid_depth: jax.Array
    """Depth at which the water's velocity is taken, m."""
    amplitude: jax.Array
    """(C,) of the components that the nodes can carry, 0 for the others, m."""
    nodes: tuple[int, int] = static()


class LocalSea(NamedTuple):
    """Polynomials of one vehicle's patch."""

    cos: Scalar
    """Of the heading of the patch."""
    sin: Scalar
    half: jax.Array
    reach: jax.Array
    fields: jax.Array
    """(F, A, B) Chebyshev coefficients: elevation, S/d in layers, velocity of the water NED."""


def nodes(count: int) -> Array:
    """(n,) Chebyshev nodes of the first kind in −1 … 1."""
    return np.asarray(np.cos(np.pi * (np.arange(count) + 0.5) / count))


def from_nodes(count: int) -> Array:
    """(n, n) matrix from values at the nodes to Chebyshev coefficients."""
    k, j = np.arange(count)[:, None], np.arange(count)[None, :]
    matrix = 2.0 / count * np.cos(np.pi * k * (j + 0.5) / count)
    matrix[0] *= 0.5
    return np.asarray(matrix)


def basis(count: int, x: jax.Array) -> list[jax.Array]:
    """T₀ … T_{n−1} at x."""
    values = [jnp.ones_like(x), x]
    while len(values) < count:
        values.append(2.0 * x * values[-1] - values[-2])
    return values[:count]


def sample(
    patch: WavePatch,
    waves: Waves,
    x: Scalar,
    y: Scalar,
    turned: Rotation,
    now: jax.Array,
    bottom: jax.Array | None = None,
) -> LocalSea:
    """The sea around one vehicle; `now` is the phase of every component at the origin, (C,).

    Where the `bottom` is a map, the waves around the vehicle have the length that belongs to the
    depth under it.
    """
    kind = patch.half.dtype
    level = jnp.sqrt(turned.r00**2 + turned.r10**2 + 1e-24)
    c, s = turned.r00 / level, turned.r10 / level
    direction_sin, direction_cos = sincos(waves.direction)
    k = waves.wavenumber
    kx, ky = k * direction_cos, k * direction_sin
    phase = now - kx * x - ky * y
    h = waves.depth
    if bottom is not None and waves.by_depth is not None:
        h, k = local(waves.by_depth, bottom)
        kx, ky = k * direction_cos, k * direction_sin
    along, across = (kx * c + ky * s) * patch.half[0], (ky * c - kx * s) * patch.half[1]
    rows, columns = (jnp.asarray(nodes(n), kind) for n in patch.nodes)
    row_sin, row_cos = sincos(phase[None] - along[None] * rows[:, None])
    column_sin, column_cos = sincos(across[None] * columns[:, None])
    # cos(φ − b η) and sin(φ − b η) as sums over both halves of the components' axis
    right = jnp.concatenate([column_cos, column_sin], axis=1).T
    cosine = jnp.concatenate([row_cos, row_sin], axis=1)
    sine = jnp.concatenate([row_sin, -row_cos], axis=1)

    layer = 0.5 * patch.reach * (1.0 + jnp.asarray(nodes(LAYERS), kind))
    shares = _lost(k, h, layer[:, None]) / layer[:, None]
    level_decay, fall_decay = _decay(k, h, patch.mid_depth)
    speed = waves.omega.astype(kind) * patch.amplitude
    level_rows = jnp.concatenate([jnp.ones_like(k)[None], shares]) * patch.amplitude
    moving = speed * level_decay * jnp.stack([direction_cos, direction_sin])
    falling = (speed * fall_decay)[None]

    def fields(weights: jax.Array, left: jax.Array) -> jax.Array:
        doubled = jnp.concatenate([weights, weights], axis=1)
        product = (doubled[:, None] * left[None]).reshape(-1, left.shape[1])
        values = jnp.matmul(product, right, precision=jax.lax.Precision.HIGHEST)
        return values.reshape(len(weights), *patch.nodes)

    values = jnp.concatenate(
        [fields(level_rows, cosine), fields(moving, cosine), fields(falling, sine)]
    )
    matrices = [jnp.asarray(from_nodes(n), kind) for n in patch.nodes]
    by_layer = jnp.asarray(from_nodes(LAYERS), kind)
    coefficients = jnp.einsum("ai,fij,bj->fab", matrices[0], values, matrices[1])
    deficit = jnp.einsum("lm,mab->lab", by_layer, coefficients[1 : 1 + LAYERS])
    coefficients = jnp.concatenate([coefficients[:1], deficit, coefficients[1 + LAYERS :]])
    return LocalSea(c, s, patch.half, patch.reach, coefficients)


def _lost(k: jax.Array, h: jax.Array | None, depth: jax.Array) -> jax.Array:
    """1 − P: what is missing of a component's pressure at a depth; P as in `ocean.waves`."""
    if h is None:
        return -jnp.expm1(-k * depth)
    reflected = jnp.exp(-k * (2.0 * h - depth))
    return 1.0 - (jnp.exp(-k * depth) + reflected) / (1.0 + jnp.exp(-2.0 * k * h))


def _decay(k: jax.Array, h: jax.Array | None, depth: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Factors C and S of level and vertical velocity, as in `ocean.waves`."""
    down = jnp.exp(-k * depth)
    if h is None:
        return down, down
    up, twice = jnp.exp(-k * (2.0 * h - depth)), jnp.exp(-2.0 * k * h)
    return (down + up) / (1.0 - twice), (down - up) / (1.0 - twice)


def at(sea: LocalSea, offset: Vec3, fields: slice) -> list[jax.Array]:
    """Fields at points (P,) given level, north-east from the vehicle's origin."""
    north, east = jnp.asarray(offset[0]), jnp.asarray(offset[1])
    x = jnp.clip((sea.cos * north + sea.sin * east) / sea.half[0], -1.0, 1.0)
    y = jnp.clip((sea.cos * east - sea.sin * north) / sea.half[1], -1.0, 1.0)
    _, rows, columns = sea.fields.shape
    by_row = jnp.stack(basis(rows, x))
    by_column = jnp.stack(basis(columns, y))
    wanted = sea.fields[fields]
    inner = jnp.matmul(
        wanted.transpose(0, 2, 1).reshape(-1, rows), by_row, precision=jax.lax.Precision.HIGHEST
    ).reshape(len(wanted), columns, -1)
    return list(jnp.sum(inner * by_column[None], axis=1))


def pressure_head(sea: LocalSea | None, offset: Vec3, depth: Scalar) -> tuple[Scalar, Scalar]:
    """Depth d under the surface and pressure over ρ g, both m, at points `depth` under the mean
    level; the pressure goes on as a linear function above the surface."""
    if sea is None:
        return depth, depth
    elevation, *deficit = at(sea, offset, slice(0, 1 + LAYERS))
    d = depth + elevation
    layers = basis(LAYERS, jnp.clip(2.0 * d / sea.reach - 1.0, -1.0, 1.0))
    share = sum((a * b for a, b in zip(deficit, layers, strict=True)), jnp.zeros_like(d))
    return d, d * (1.0 - share)


def head_gradient(sea: LocalSea, offset: Vec3, depth: Scalar) -> tuple[Scalar, Vec3]:
    """Depth d under the surface, and the derivatives of the head of pressure along NED."""
    wanted = sea.fields[: 1 + LAYERS]
    _, rows, columns = wanted.shape
    kind = wanted.dtype
    along = jnp.einsum("ij,fjb->fib", jnp.asarray(slopes(rows), kind), wanted) / sea.half[0]
    across = jnp.einsum("ij,faj->fai", jnp.asarray(slopes(columns), kind), wanted) / sea.half[1]
    whole = sea._replace(fields=jnp.concatenate([wanted, along, across]))
    values = at(whole, offset, slice(None))
    (elevation, *deficit), along_, across_ = (
        values[i * (1 + LAYERS) : (i + 1) * (1 + LAYERS)] for i in range(3)
    )
    d = depth + elevation
    tau = jnp.clip(2.0 * d / sea.reach - 1.0, -1.0, 1.0)
    layers = basis(LAYERS, tau)
    steep = [jnp.zeros_like(tau), jnp.ones_like(tau), 4.0 * tau]
    share = sum(a * b for a, b in zip(deficit, layers, strict=True))
    steeper = sum(a * b for a, b in zip(deficit, steep, strict=True)) * (2.0 / sea.reach)
    down = 1.0 - share - d * steeper
    level = [
        slope[0] * down - d * sum(a * b for a, b in zip(slope[1:], layers, strict=True))
        for slope in (along_, across_)
    ]
    north = sea.cos * level[0] - sea.sin * level[1]
    east = sea.sin * level[0] + sea.cos * level[1]
    return d, (north, east, down)


def slopes(count: int) -> Array:
    """(n, n) matrix from Chebyshev coefficients to those of the derivative."""
    k, j = np.arange(count)[:, None], np.arange(count)[None, :]
    matrix = np.where((j > k) & ((j - k) % 2 == 1), 2.0 * j, 0.0)
    matrix[0] *= 0.5
    return np.asarray(matrix)


def velocity(sea: LocalSea, offset: Vec3) -> Vec3:
    """Of the water at points, NED, m/s."""
    u, v, w = at(sea, offset, slice(1 + LAYERS, 4 + LAYERS))
    return u, v, w
