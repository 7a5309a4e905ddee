"""Follow a way of straight legs."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import Outline, Task, Verdict, direction
from seatrial.spatial.trig import sincos

LEGS = 5
SHARPEST = np.radians(60.0)
"""Turn from one leg to the next."""
LEG_IN_LENGTHS = 15.0
LOST_IN_LENGTHS = 8.0
"""Distance from the leg at which an episode has failed."""


class Way(NamedTuple):
    """Straight legs; K = LEGS + 1 corners."""

    north: jax.Array
    """(K, N) m."""
    east: jax.Array
    """(K, N) m."""
    course: jax.Array
    """(K, N) of the leg that begins at each corner, rad; the last goes on with the last leg's."""
    leg: jax.Array
    """(N,) which one it is on."""


@dataclass(frozen=True)
class PathFollowing(Task):
    """Legs of fifteen lengths that turn by up to 60°, begun up to three lengths off the first.

    Reward of a period: progress along the leg over what the cruising speed would make, at most 1,
    less 0.5 |e| / 3 lengths (at most 0.5) for a distance e from it. It succeeds at the last corner
    and fails eight lengths from its leg.
    """

    duration: float = 120.0

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Way:
        """The first leg begins beside the vehicle and points within 90° of its heading."""
        one, two, three = jax.random.split(key, 3)
        count, dtype = heading.shape[0], heading.dtype
        first = heading + jax.random.uniform(one, (count,), dtype, -0.5 * jnp.pi, 0.5 * jnp.pi)
        turns = jax.random.uniform(two, (LEGS - 1, count), dtype, -SHARPEST, SHARPEST)
        course = first + jnp.concatenate([jnp.zeros((1, count), dtype), jnp.cumsum(turns, 0)])
        s, c = sincos(course)
        leg = LEG_IN_LENGTHS * arena.length
        aside = 3.0 * arena.length * jax.random.uniform(three, (count,), dtype, -1.0, 1.0)
        north = (start[0] - aside * s[0]) + leg * jnp.concatenate(
            [jnp.zeros((1, count), dtype), jnp.cumsum(c, 0)]
        )
        east = (start[1] + aside * c[0]) + leg * jnp.concatenate(
            [jnp.zeros((1, count), dtype), jnp.cumsum(s, 0)]
        )
        course = jnp.concatenate([course, course[-1:]])
        return Way(north, east, course, jnp.zeros(count, jnp.int32))

    def observe(self, arena: Arena, goal: Way, motion: Motion) -> dict[str, jax.Array]:
        """Where it is beside its leg, how it heads, and how the next leg turns."""
        along, aside, course = _beside(goal, goal.leg, motion)
        following = _pick(goal.course, goal.leg + 1)
        s, c = direction(motion.heading - course)
        turn_s, turn_c = direction(following - course)
        left = LEG_IN_LENGTHS - along / arena.length
        return {
            "aside": aside / arena.length,
            "course_error_sine": s,
            "course_error_cosine": c,
            "lengths_to_corner": left / LEG_IN_LENGTHS,
            "next_turn_sine": turn_s,
            "next_turn_cosine": turn_c,
        }

    def judge(self, arena: Arena, goal: Way, before: Motion, after: Motion) -> Verdict:
        """As the class says."""
        was, _, _ = _beside(goal, goal.leg, before)
        now, aside, _ = _beside(goal, goal.leg, after)
        made = jnp.clip((now - was) / (arena.cruise * arena.period), -1.0, 1.0)
        off = jnp.abs(aside) / arena.length
        reward = made - 0.5 * jnp.minimum(off / 3.0, 1.0)
        passed = now > LEG_IN_LENGTHS * arena.length
        leg = goal.leg + passed
        return Verdict(
            goal._replace(leg=jnp.minimum(leg, LEGS - 1)),
            reward,
            off > LOST_IN_LENGTHS,
            leg >= LEGS,
        )

    def outlines(self, goal: Way, length: float) -> list[Outline]:
        """The legs."""
        return [Outline("way", np.stack([goal.north, goal.east]))]


def _pick(rows: jax.Array, index: jax.Array) -> jax.Array:
    """Of (K, N) the row `index` (N,) of each column."""
    return jnp.take_along_axis(rows, index[None], axis=0)[0]


def _beside(goal: Way, leg: jax.Array, motion: Motion) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Along the leg from its beginning and to starboard of it, m, and its course."""
    course = _pick(goal.course, leg)
    s, c = direction(course)
    x = motion.position[0] - _pick(goal.north, leg)
    y = motion.position[1] - _pick(goal.east, leg)
    return c * x + s * y, c * y - s * x, course
