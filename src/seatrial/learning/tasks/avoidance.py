"""Get to a place through what stands and passes in the way."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import Outline, Task, Verdict, away, direction, offset_in_body, ring
from seatrial.spatial.trig import sincos

THINGS = 8
BEAMS = 16
REACH = 15.0
"""Lengths that a beam looks."""
FAR = 25.0
"""Lengths to the place."""
ARRIVED = 1.5
"""Lengths from the place that count as there."""


class Crowd(NamedTuple):
    """A place to go to, and discs in the way."""

    place: jax.Array
    """(2, N) m."""
    middle: jax.Array
    """(2, K, N) of the discs, m."""
    velocity: jax.Array
    """(2, K, N) m/s."""
    radius: jax.Array
    """(K, N) m."""


@dataclass(frozen=True)
class Avoidance(Task):
    """A place 25 lengths away, with eight discs of half a length to two between, half of which move
    at up to half the cruising speed.

    It sees the ranges of sixteen beams around it, up to fifteen lengths. Reward of a period: how
    much nearer it came, over what the cruising speed would make. It succeeds within 1.5 lengths of
    the place and fails when its middle is within half a length of a disc, or forty lengths away.
    """

    duration: float = 120.0

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Crowd:
        """Discs lie across the way, none within four lengths of the start or two of the place."""
        keys = jax.random.split(key, 7)
        shape, dtype = heading.shape, heading.dtype
        many = (THINGS, *shape)
        course = heading + jax.random.uniform(keys[0], shape, dtype, -0.5 * jnp.pi, 0.5 * jnp.pi)
        s, c = sincos(course)
        place = start + FAR * arena.length * jnp.stack([c, s])
        radius = arena.length * jax.random.uniform(keys[1], many, dtype, 0.5, 2.0)
        least, most = 4.0 * arena.length + radius, (FAR - 2.0) * arena.length - radius
        along = least + (most - least) * jax.random.uniform(keys[2], many, dtype)
        aside = 6.0 * arena.length * jax.random.uniform(keys[3], many, dtype, -1.0, 1.0)
        middle = jnp.stack([start[0] + along * c - aside * s, start[1] + along * s + aside * c])
        moving = (jnp.arange(THINGS) % 2)[:, None].astype(dtype)
        speed = 0.5 * arena.cruise * moving * jax.random.uniform(keys[4], many, dtype)
        ways, wayc = sincos(jax.random.uniform(keys[5], many, dtype, -jnp.pi, jnp.pi))
        return Crowd(place, middle, speed * jnp.stack([wayc, ways]), radius)

    def observe(self, arena: Arena, goal: Crowd, motion: Motion) -> dict[str, jax.Array]:
        """The place, and sixteen ranges clockwise from the bow, as shares of the reach."""
        ahead, starboard = offset_in_body(motion, goal.place[0], goal.place[1])
        far = jnp.maximum(jnp.hypot(ahead, starboard), 1e-3)
        ranges = _ranges(goal, motion, REACH * arena.length) / (REACH * arena.length)
        seen = {
            "place_ahead": ahead / far,
            "place_starboard": starboard / far,
            "place_distance": far / (FAR * arena.length),
        }
        return seen | {f"beam_{i}": ranges[i] for i in range(BEAMS)}

    def judge(self, arena: Arena, goal: Crowd, before: Motion, after: Motion) -> Verdict:
        """As the class says."""
        middle = goal.middle + arena.period * goal.velocity
        now = goal._replace(middle=middle)
        far = away(after, goal.place)
        reward = (away(before, goal.place) - far) / (arena.cruise * arena.period)
        clear = jnp.hypot(*(middle - jnp.stack(after.position[:2])[:, None])) - goal.radius
        hit = jnp.min(clear, axis=0) < 0.5 * arena.length
        lost = far > 40.0 * arena.length
        return Verdict(now, jnp.clip(reward, -1.0, 1.0), hit | lost, far < ARRIVED * arena.length)

    def outlines(self, goal: Crowd, length: float) -> list[Outline]:
        """The discs where they are now, and the place."""
        discs = [
            Outline("in the way", ring(float(goal.middle[0, i]), float(goal.middle[1, i]), r))
            for i, r in enumerate(float(r) for r in np.asarray(goal.radius))
        ]
        place = ring(float(goal.place[0]), float(goal.place[1]), ARRIVED * length)
        return [*discs, Outline("place", place)]


def _ranges(goal: Crowd, motion: Motion, reach: jax.Array) -> jax.Array:
    """(BEAMS, N) how far beams go before they meet a disc, m.

    A ray p + t d meets the disc of radius r around m at t = b − √(b² − |m − p|² + r²) with
    b = (m − p)·d, if that root is real and t is not negative.
    """
    x = goal.middle[0] - motion.position[0]
    y = goal.middle[1] - motion.position[1]
    beside = x * x + y * y - goal.radius**2
    turned = jnp.arange(BEAMS) * (2.0 * jnp.pi / BEAMS)
    s, c = direction(motion.heading + turned.astype(x.dtype)[:, None])
    ranges = []
    for i in range(BEAMS):
        along = x * c[i] + y * s[i]
        root = along * along - beside
        entry = along - jnp.sqrt(jnp.maximum(root, 0.0))
        met = jnp.where((root > 0.0) & (along > 0.0), jnp.maximum(entry, 0.0), reach)
        ranges.append(jnp.minimum(jnp.min(met, axis=0), reach))
    return jnp.stack(ranges)
