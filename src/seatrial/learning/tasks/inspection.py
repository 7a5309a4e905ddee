"""Look at a pile from all sides."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import Outline, Task, Verdict, offset_in_body, ring
from seatrial.spatial.gradients import bearing
from seatrial.spatial.trig import sincos, wrap_signed

RADIUS = 1.0
"""Of the pile, m."""
SECTORS = 24
"""Into which its side is cut."""
FACING = np.radians(20.0)
"""From the bow within which the pile is in the picture."""
SHARPNESS = np.radians(25.0)
"""Between the line of sight and the side's own direction within which a sector is seen."""


class Pile(NamedTuple):
    """What is looked at."""

    place: jax.Array
    """(2, N) its middle, m."""
    seen: jax.Array
    """(SECTORS, N) 1 for what was seen, else 0."""


@dataclass(frozen=True)
class Inspection(Task):
    """A pile of one metre's radius, to be seen from about one and a half lengths plus two metres.

    A sector of its side is seen by a vehicle whose bow points within 20° of the pile, from 0.5 to
    1.5 times that distance. Reward of a period: 1 for every new sector of 24, less 0.05 of the
    error of the distance in lengths and of the bow's direction. It succeeds when all were seen and
    fails when it touches the pile or is thirty lengths away.
    """

    starting_speed: tuple[float, float] = (0.0, 0.1)
    duration: float = 180.0

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Pile:
        """Somewhere around, within twice the distance at which it is seen."""
        one, two = jax.random.split(key)
        shape, dtype = heading.shape, heading.dtype
        s, c = sincos(jax.random.uniform(one, shape, dtype, -jnp.pi, jnp.pi))
        far = _stand_off(arena) * jax.random.uniform(two, shape, dtype, 1.0, 2.0)
        return Pile(start + far * jnp.stack([c, s]), jnp.zeros((SECTORS, *shape), dtype))

    def observe(self, arena: Arena, goal: Pile, motion: Motion) -> dict[str, jax.Array]:
        """Where the pile is, and which way round the next unseen sector is."""
        ahead, starboard = offset_in_body(motion, goal.place[0], goal.place[1])
        far = jnp.maximum(jnp.hypot(ahead, starboard), 1e-3)
        apart = wrap_signed(_middles(far.dtype) - _side(goal, motion))
        nearest = jnp.argmin(jnp.abs(apart) + 10.0 * goal.seen, axis=0)
        way = jnp.take_along_axis(apart, nearest[None], axis=0)[0]
        return {
            "pile_ahead": ahead / far,
            "pile_starboard": starboard / far,
            "too_far": (far - _stand_off(arena)) / arena.length,
            "unseen_clockwise": way / jnp.pi,
            "share_seen": jnp.mean(goal.seen, axis=0),
        }

    def judge(self, arena: Arena, goal: Pile, before: Motion, after: Motion) -> Verdict:
        """As the class says."""
        ahead, starboard = offset_in_body(after, goal.place[0], goal.place[1])
        far = jnp.hypot(ahead, starboard)
        ratio = far / _stand_off(arena)
        pointing = ahead > far * np.cos(FACING)
        apart = jnp.abs(wrap_signed(_middles(far.dtype) - _side(goal, after)))
        now = (apart < SHARPNESS) & pointing & (ratio > 0.5) & (ratio < 1.5)
        seen = jnp.maximum(goal.seen, now.astype(goal.seen.dtype))
        new = jnp.sum(seen - goal.seen, axis=0)
        off = jnp.minimum(jnp.abs(far - _stand_off(arena)) / arena.length, 2.0)
        turned = 0.5 * (1.0 - ahead / jnp.maximum(far, 1e-3))
        reward = new - 0.05 * (off + turned)
        hit = far < RADIUS + 0.5 * arena.length
        lost = far > 30.0 * arena.length
        return Verdict(goal._replace(seen=seen), reward, hit | lost, jnp.all(seen > 0.5, axis=0))

    def outlines(self, goal: Pile, length: float) -> list[Outline]:
        """The pile, and what of it was seen."""
        x, y = (float(part) for part in goal.place)
        found = [Outline("pile", ring(x, y, RADIUS))]
        for i in np.flatnonzero(np.asarray(goal.seen) > 0.5):
            angle = (i + np.linspace(0.0, 1.0, 5)) * 2.0 * np.pi / SECTORS
            arc = [x + 1.3 * RADIUS * np.cos(angle), y + 1.3 * RADIUS * np.sin(angle)]
            found.append(Outline("seen", np.stack(arc)))
        return found


def _stand_off(arena: Arena) -> jax.Array:
    return RADIUS + 2.0 + 1.5 * arena.length


def _middles(dtype: np.dtype) -> jax.Array:
    """(SECTORS, 1) directions of the sectors' middles from the pile's, rad."""
    return ((jnp.arange(SECTORS) + 0.5) * (2.0 * jnp.pi / SECTORS)).astype(dtype)[:, None]


def _side(goal: Pile, motion: Motion) -> jax.Array:
    """(N,) direction of the vehicle from the pile, rad."""
    return bearing(motion.position[1] - goal.place[1], motion.position[0] - goal.place[0])
