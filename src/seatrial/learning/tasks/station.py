"""Go to a place and stay there."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import (
    Outline,
    Task,
    Verdict,
    away,
    going_on,
    offset_in_body,
    ring,
)
from seatrial.spatial.trig import sincos

LOST_IN_LENGTHS = 30.0
"""Distance at which an episode has failed."""


class Place(NamedTuple):
    """Where to stay."""

    place: jax.Array
    """(2, N) north and east, m."""


@dataclass(frozen=True)
class StationKeeping(Task):
    """A place up to five lengths away, against current, wind and waves.

    Reward of a period: exp(−d/2) for a distance of d lengths, 1 at best. It fails thirty lengths
    away.
    """

    starting_speed: tuple[float, float] = (0.0, 0.2)

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Place:
        """Anywhere around."""
        one, two = jax.random.split(key)
        far = 5.0 * arena.length * jax.random.uniform(one, heading.shape, heading.dtype)
        s, c = sincos(jax.random.uniform(two, heading.shape, heading.dtype, -jnp.pi, jnp.pi))
        return Place(start + far * jnp.stack([c, s]))

    def observe(self, arena: Arena, goal: Place, motion: Motion) -> dict[str, jax.Array]:
        """Where the place is, seen from the vehicle."""
        ahead, starboard = offset_in_body(motion, goal.place[0], goal.place[1])
        return {"ahead": ahead / arena.length, "starboard": starboard / arena.length}

    def judge(self, arena: Arena, goal: Place, before: Motion, after: Motion) -> Verdict:
        """As the class says."""
        far = away(after, goal.place) / arena.length
        reward = jnp.exp(-0.5 * far)
        return Verdict(goal, reward, far > LOST_IN_LENGTHS, going_on(reward))

    def outlines(self, goal: Place, length: float) -> list[Outline]:
        """A circle of one length."""
        return [Outline("place", ring(float(goal.place[0]), float(goal.place[1]), length))]
