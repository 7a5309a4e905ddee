"""Ultra-wideband ranging to fixed anchors, and the position solved from the ranges.

Signals that are blocked on the straight way arrive by a detour, so an error of this sort is
always positive; its extra distance is drawn from an exponential distribution. The position
minimises, by Gauss–Newton from the previous solution p₀,

    Σ (ρ_i − |p − a_i|)² + κ (z − z₀)²,   κ = (σ_ρ / σ_z)²

with ρ_i the ranges to the anchors a_i. The last term matters where the anchors are at one height:
they then say little or nothing of the depth.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.noise.draws import uniform
from seatrial.sensors.position.radio import above_water
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.vectors import Vec3

ITERATIONS = 6
LEAST_RANGES = 3
DAMPING = 1e-3
"""Added to the normal matrix, whose entries are sums of direction cosines, so that anchors in a
line leave the solution finite; it slows convergence to a thousandth per iteration, not less."""


@pytree
class Shadow:
    """A box from which one anchor is hidden."""

    low: jax.Array
    """(3,) corner, NED, m."""
    high: jax.Array
    """(3,) opposite corner."""
    probability: jax.Array
    detour: jax.Array
    """Mean extra distance, m."""
    anchor: int = static()
    """Counted from 0."""


@pytree
class Detours:
    """Ranges out of line of sight."""

    probability: jax.Array
    """Of every range, wherever the tag is."""
    detour: jax.Array
    """Mean extra distance, m."""
    shadows: tuple[Shadow, ...]


@pytree
class Radio:
    """What a real tag hears, and how it solves."""

    maximum_range: jax.Array
    margin: jax.Array
    """Least height of the tag above the surface, m."""
    start: jax.Array
    """(3,) where the first solution begins, NED, m."""
    depth_weight: jax.Array
    """κ."""
    longest_step: jax.Array
    """No iteration moves the solution further, m."""


@pytree
class Uwb:
    """An ultra-wideband tag."""

    mount: Mount
    anchors: jax.Array
    """(3, A) NED, m."""
    radio: Radio | None = None
    """None for a tag that knows its place exactly."""
    white: jax.Array | None = None
    """Standard deviation of a range, m."""
    detours: Detours | None = None

    @property
    def starting_draws(self) -> int:
        """None are needed."""
        return 0

    @property
    def draws(self) -> int:
        """For every anchor: noise, then whether there is a detour, then its length."""
        each = (0 if self.white is None else 1) + (0 if self.detours is None else 2)
        return each * self.anchors.shape[1]

    def begin(self, draws: jax.Array) -> jax.Array:
        """The previous solution."""
        if self.radio is None:
            return draws[:0]
        return jnp.broadcast_to(self.radio.start[:, None], (3, draws.shape[1]))

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Solved position NED, then the ranges, 0 where an anchor is not heard."""
        place = look.place(self.mount.arm)
        count = self.anchors.shape[1]
        _, distance = _towards(self.anchors, jnp.stack(place))
        if self.radio is None:
            exact = jnp.concatenate([jnp.stack(place), distance])
            return Reading(memory, exact, jnp.ones(distance.shape[1:], bool))
        ranges = distance
        if self.white is not None:
            ranges = ranges + self.white * draws[:count]
        if self.detours is not None:
            whether, length = draws[-2 * count : -count], draws[-count:]
            ranges = ranges + _extra(self.detours, place, whether, length)
        wet = ~above_water(look, place, self.radio.margin)
        heard = (distance <= self.radio.maximum_range) & ~wet
        # Noise does not make a distance negative.
        ranges = jnp.where(heard, jnp.maximum(ranges, 0.0), 0.0)
        valid = jnp.sum(heard, axis=0) >= LEAST_RANGES
        solved = _solve(self.anchors, ranges, heard, memory, self.radio)
        memory = jnp.where(valid, solved, memory)
        return Reading(memory, jnp.concatenate([memory, ranges]), valid)

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Memory after the anchors were lost: the next solution begins as the first one."""
        if self.radio is None:
            return memory
        return jnp.where(lost, self.radio.start[:, None], memory)


def _towards(anchors: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Unit vectors (3, A, N) from the anchors to a place (3, N), and distances (A, N)."""
    away = place[:, None] - anchors[:, :, None]
    # The square root has no gradient at an anchor itself.
    distance = jnp.sqrt(jnp.maximum(jnp.sum(away * away, axis=0), 1e-18))
    return away / distance, distance


def _extra(detours: Detours, place: Vec3, whether: jax.Array, length: jax.Array) -> jax.Array:
    """Extra distance of every range, (A, N)."""
    probability = jnp.broadcast_to(detours.probability, whether.shape)
    mean = jnp.broadcast_to(detours.detour, whether.shape)
    here = jnp.stack(place)
    for box in detours.shadows:
        inside = jnp.all((here >= box.low[:, None]) & (here <= box.high[:, None]), axis=0)
        row = box.anchor
        probability = probability.at[row].set(
            jnp.where(inside, jnp.maximum(probability[row], box.probability), probability[row])
        )
        mean = mean.at[row].set(jnp.where(inside, box.detour, mean[row]))
    # −ln Φ(x) of a normal x is exponential; log_ndtr keeps the digits of its long tail.
    extra = -mean * jax.scipy.special.log_ndtr(length)
    return jnp.where(uniform(whether) < probability, extra, 0.0)


def _solve(
    anchors: jax.Array, ranges: jax.Array, heard: jax.Array, before: jax.Array, radio: Radio
) -> jax.Array:
    """Position (3, N) by Gauss–Newton from the solution before."""
    weight = heard.astype(ranges.dtype)
    place = before
    for _ in range(ITERATIONS):
        along, distance = _towards(anchors, place)
        weighted = weight * along
        gradient = jnp.sum(weighted * (ranges - distance), axis=1)
        gradient = gradient.at[2].add(radio.depth_weight * (before[2] - place[2]))
        xx, xy, xz = jnp.sum(weighted[0] * along, axis=1)
        _, yy, yz = jnp.sum(weighted[1] * along, axis=1)
        zz = jnp.sum(weighted[2] * along[2], axis=0) + radio.depth_weight
        step = _symmetric_solve((xx + DAMPING, xy, xz, yy + DAMPING, yz, zz + DAMPING), gradient)
        length = jnp.sqrt(jnp.sum(step * step, axis=0))
        far = length / radio.longest_step
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
