"""A place from distances to known places, and distances that came by a detour.

The place minimises, by Gauss–Newton from the previous solution p₀,

    Σ (ρ_i − |p − a_i|)² + κ (z − z₀)²,   κ = (σ_ρ / σ_z)²

with ρ_i the distances to the places a_i. The last term matters where these are at one height: they
then say little or nothing of the depth.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.sensors.noise.draws import uniform

ITERATIONS = 6
LEAST_RANGES = 3
DAMPING = 1e-3
"""Added to the normal matrix, whose entries are sums of direction cosines, so that places in a
line leave the solution finite; it slows convergence to a thousandth per iteration, not less."""


@pytree
class Solver:
    """How a place is found."""

    start: jax.Array
    """(3,) where the first solution begins, NED, m."""
    depth_weight: jax.Array
    """κ."""
    longest_step: jax.Array
    """No iteration moves the solution further, m."""


def towards(anchors: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Unit vectors (3, A, N) from known places (3, A) to a place (3, N), and distances (A, N)."""
    away = place[:, None] - anchors[:, :, None]
    # The square root has no gradient at an anchor itself.
    distance = jnp.sqrt(jnp.maximum(jnp.sum(away * away, axis=0), 1e-18))
    return away / distance, distance


def detour(
    probability: jax.Array, mean: jax.Array, whether: jax.Array, length: jax.Array
) -> jax.Array:
    """Extra distance (A, N), exponentially distributed, of those that come by a detour.

    `whether` and `length` are standard normal numbers.
    """
    # −ln Φ(x) of a normal x is exponential; log_ndtr keeps the digits of its long tail.
    extra = -mean * jax.scipy.special.log_ndtr(length)
    return jnp.where(uniform(whether) < probability, extra, 0.0)


def solve(
    anchors: jax.Array, ranges: jax.Array, heard: jax.Array, before: jax.Array, solver: Solver
) -> jax.Array:
    """Position (3, N) by Gauss–Newton from the solution before."""
    weight = heard.astype(ranges.dtype)
    place = before
    for _ in range(ITERATIONS):
        along, distance = towards(anchors, place)
        weighted = weight * along
        gradient = jnp.sum(weighted * (ranges - distance), axis=1)
        gradient = gradient.at[2].add(solver.depth_weight * (before[2] - place[2]))
        xx, xy, xz = jnp.sum(weighted[0] * along, axis=1)
        _, yy, yz = jnp.sum(weighted[1] * along, axis=1)
        zz = jnp.sum(weighted[2] * along[2], axis=0) + solver.depth_weight
        step = _symmetric_solve((xx + DAMPING, xy, xz, yy + DAMPING, yz, zz + DAMPING), gradient)
        length = jnp.sqrt(jnp.sum(step * step, axis=0))
        far = length / solver.longest_step
        place = place + step / jnp.maximum(far, 1.0)
    return place


def _symmetric_solve(matrix: tuple[jax.Array, ...], right: jax.Array) -> jax.Array:
    """Solution of a symmetric 3×3 system by cofactors; `matrix` is xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = matrix
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    x, y, z = right
    determinant = xx * a + xy * b + xz * c
    cofactors = [a * x + b * y + c * z, b * x + d * y + e * z, c * x + e * y + f * z]
    return jnp.stack(cofactors) / determinant
