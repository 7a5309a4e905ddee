"""Turn to a heading and keep it, at a speed."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import Outline, Task, Verdict, direction, going_on


class Asked(NamedTuple):
    """A heading and a speed."""

    heading: jax.Array
    """(N,) rad."""
    speed: jax.Array
    """(N,) surge, m/s."""
    start: jax.Array
    """(2, N) where the episode began."""


@dataclass(frozen=True)
class HeadingHold(Task):
    """A heading anywhere, and between a half and the whole of the cruising speed.

    Reward of a period: (1 + cos e)/2 − 0.3 |Δu|/U with e the error of the heading and Δu that of
    the speed, 1 at best.
    """

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Asked:
        """Any heading."""
        one, two = jax.random.split(key)
        shape = heading.shape
        wanted = jax.random.uniform(one, shape, heading.dtype, -jnp.pi, jnp.pi)
        return Asked(
            wanted, arena.cruise * jax.random.uniform(two, shape, heading.dtype, 0.5, 1.0), start
        )

    def observe(self, arena: Arena, goal: Asked, motion: Motion) -> dict[str, jax.Array]:
        """Both errors."""
        s, c = direction(goal.heading - motion.heading)
        slow = (goal.speed - motion.velocity[0]) / arena.cruise
        return {"heading_error_sine": s, "heading_error_cosine": c, "speed_error": slow}

    def judge(self, arena: Arena, goal: Asked, before: Motion, after: Motion) -> Verdict:
        """As the class says; it goes on until the time is up."""
        seen = self.observe(arena, goal, after)
        fast = jnp.minimum(jnp.abs(seen["speed_error"]), 1.0)
        reward = 0.5 * (1.0 + seen["heading_error_cosine"]) - 0.3 * fast
        return Verdict(goal, reward, going_on(reward), going_on(reward))

    def outlines(self, goal: Asked, length: float) -> list[Outline]:
        """The way that was asked for."""
        reach = 30.0 * length
        x, y = (float(part) for part in goal.start)
        psi = float(goal.heading)
        ends = np.array([[x, x + reach * np.cos(psi)], [y, y + reach * np.sin(psi)]])
        return [Outline("heading asked", ends)]
