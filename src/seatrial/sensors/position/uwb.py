"""Ultra-wideband ranging to fixed anchors, and the position solved from the ranges.

Signals that are blocked on the straight way arrive by a detour, so an error of this sort is
always positive; its extra distance is drawn from an exponential distribution. `ranges` says how
the position follows from the ranges.
"""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.sensors.position.radio import above_water
from seatrial.sensors.position.ranges import LEAST_RANGES, Solver, detour, solve, towards
from seatrial.sensors.sensor import Mount, Reading
from seatrial.spatial.vectors import Vec3


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
    solver: Solver


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
        return jnp.broadcast_to(self.radio.solver.start[:, None], (3, draws.shape[1]))

    def measure(self, memory: jax.Array, look: Look, draws: jax.Array) -> Reading:
        """Solved position NED, then the ranges, 0 where an anchor is not heard."""
        place = look.place(self.mount.arm)
        count = self.anchors.shape[1]
        _, distance = towards(self.anchors, jnp.stack(place))
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
        solved = solve(self.anchors, ranges, heard, memory, self.radio.solver)
        memory = jnp.where(valid, solved, memory)
        return Reading(memory, jnp.concatenate([memory, ranges]), valid)

    def lose_lock(self, memory: jax.Array, lost: jax.Array, t: jax.Array) -> jax.Array:
        """Memory after the anchors were lost: the next solution begins as the first one."""
        if self.radio is None:
            return memory
        return jnp.where(lost, self.radio.solver.start[:, None], memory)


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
    return detour(probability, mean, whether, length)
