"""Come into a berth, bow first, slowly."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import Outline, Task, Verdict, direction
from seatrial.spatial.trig import sincos

NEAREST, FARTHEST = 6.0, 12.0
"""Lengths from the berth at the start."""
QUAY = 0.75
"""Lengths ahead of the vehicle's middle in the berth at which the quay stands."""
WITHIN = 0.3
"""Lengths from the berth, ahead and aside, that count as in it."""
STRAIGHT = np.radians(15.0)
SLOW = 0.15
"""Share of the cruising speed that counts as stopped."""


class Berth(NamedTuple):
    """Where the vehicle's middle is to lie."""

    place: jax.Array
    """(2, N) north and east, m."""
    heading: jax.Array
    """(N,) rad; the quay stands ahead."""


@dataclass(frozen=True)
class Docking(Task):
    """A berth six to twelve lengths away, entered from within 45° of its own direction.

    Reward of a period: the lengths that it came nearer, less 0.2 of those that it lay aside of the
    berth's line, less 0.02 for the time. It succeeds within 0.3 lengths and 15°, slower than 15 %
    of the cruising speed; it fails when its bow meets the quay before, or twice as far away as it
    can have begun.
    """

    starting_speed: tuple[float, float] = (0.0, 0.5)
    duration: float = 90.0

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Berth:
        """The vehicle may head any way at first."""
        one, two, three = jax.random.split(key, 3)
        shape, dtype = heading.shape, heading.dtype
        facing = jax.random.uniform(one, shape, dtype, -jnp.pi, jnp.pi)
        bearing = facing + jax.random.uniform(two, shape, dtype, -0.25 * jnp.pi, 0.25 * jnp.pi)
        far = arena.length * jax.random.uniform(three, shape, dtype, NEAREST, FARTHEST)
        s, c = sincos(bearing)
        return Berth(start + far * jnp.stack([c, s]), facing)

    def observe(self, arena: Arena, goal: Berth, motion: Motion) -> dict[str, jax.Array]:
        """Where it lies and moves, seen along the berth."""
        astern, aside = _seen_from(goal, motion)
        s, c = direction(motion.heading - goal.heading)
        gs, gc = direction(goal.heading)
        north, east, _ = motion.over_ground
        return {
            "before_berth": astern / arena.length,
            "beside_berth": aside / arena.length,
            "heading_error_sine": s,
            "heading_error_cosine": c,
            "closing": (gc * north + gs * east) / arena.cruise,
            "crossing": (gc * east - gs * north) / arena.cruise,
        }

    def judge(self, arena: Arena, goal: Berth, before: Motion, after: Motion) -> Verdict:
        """As the class says."""
        length = arena.length
        was, now = _seen_from(goal, before), _seen_from(goal, after)
        far = jnp.hypot(*now)
        nearer = (jnp.hypot(*was) - far) / length
        aside = jnp.abs(now[1]) / length
        reward = nearer - 0.2 * arena.period * jnp.minimum(aside, 5.0) / 5.0 - 0.02 * arena.period
        sine, cosine = direction(after.heading - goal.heading)
        u, v, *_ = after.velocity
        there = (jnp.abs(now[0]) < WITHIN * length) & (jnp.abs(now[1]) < WITHIN * length)
        straight = (cosine > np.cos(STRAIGHT)) & (jnp.abs(sine) < np.sin(STRAIGHT))
        lies = there & straight & (jnp.hypot(u, v) < SLOW * arena.cruise)
        # The bow is half a length ahead of the middle.
        hit = 0.5 * length * cosine - now[0] > QUAY * length
        return Verdict(goal, reward, (hit & ~lies) | (far > 2.0 * FARTHEST * length), lies)

    def outlines(self, goal: Berth, length: float) -> list[Outline]:
        """The quay and the berth's line."""
        x, y = (float(part) for part in goal.place)
        ahead = np.array([np.cos(float(goal.heading)), np.sin(float(goal.heading))])
        across = np.array([-ahead[1], ahead[0]])
        middle = np.array([x, y])
        quay = middle + QUAY * length * ahead
        wall = np.stack([quay - 6.0 * length * across, quay + 6.0 * length * across], axis=1)
        line = np.stack([middle - FARTHEST * length * ahead, middle], axis=1)
        return [Outline("quay", wall), Outline("way in", line)]


def _seen_from(goal: Berth, motion: Motion) -> tuple[jax.Array, jax.Array]:
    """How far before the berth and how far to starboard of its line, m."""
    s, c = direction(goal.heading)
    x, y = motion.position[0] - goal.place[0], motion.position[1] - goal.place[1]
    return -(c * x + s * y), c * y - s * x
