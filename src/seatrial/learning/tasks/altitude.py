"""Fly at a height above the bottom, straight on."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.errors import Problem, SpecError
from seatrial.learning.arena import Arena, Motion
from seatrial.learning.task import Outline, Task, Verdict, direction, going_on
from seatrial.ocean import seabed
from seatrial.spatial.trig import sincos

LOWEST, HIGHEST = 3.0, 8.0
"""Heights that are asked for, m."""
AHEAD = (30.0, 60.0)
"""Degrees from straight down, towards the bow, of the beams that look ahead."""
REACH = 60.0
"""Of the beams, m."""
STEPS = 24
TOUCH = 0.5
"""Height at which it has touched, m."""
LEAST_WATER = 2.0
"""Between the surface and the height that is asked for, m."""


class Height(NamedTuple):
    """A height and a heading."""

    height: jax.Array
    """(N,) above the bottom, m."""
    heading: jax.Array
    """(N,) rad."""
    start: jax.Array
    """(2, N)."""


@dataclass(frozen=True)
class Altitude(Task):
    """Three to eight metres above a bottom that is not flat, on the heading it began with.

    It sees its height straight down and two beams that look ahead. Reward of a period:
    exp(−(Δh/2 m)²) (1 + cos e)/2 for a height Δh off and a heading e off, with 0.3 taken away for
    a speed that is off by the whole cruising speed. It fails when it touches, or 25 m off.
    """

    starting_speed: tuple[float, float] = (0.6, 1.0)
    keeps_depth: bool = False

    def check(self, arena: Arena) -> None:
        """Only what dives, over a bottom."""
        if not arena.dives or arena.ocean.seabed is None:
            raise SpecError(
                Problem(
                    "heights above the bottom are kept by vehicles that dive, over a bottom",
                    expected="a submerged vehicle, and a world with a `seabed`",
                    mend='for example vehicle="remus100", world="rolling-seabed"',
                )
            )

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Height:
        """Any of the heights, as far as there is water for it."""
        wanted = jax.random.uniform(key, heading.shape, heading.dtype, LOWEST, HIGHEST)
        return Height(jnp.minimum(wanted, _bottom(arena, start) - LEAST_WATER), heading, start)

    def depth(self, arena: Arena, goal: Height, start: jax.Array) -> jax.Array:
        """At the height that is asked for."""
        return _bottom(arena, start) - goal.height

    def observe(self, arena: Arena, goal: Height, motion: Motion) -> dict[str, jax.Array]:
        """Heights in lengths of the vehicle, ranges of the beams as shares of their reach."""
        assert arena.ocean.seabed is not None
        s, c = direction(goal.heading - motion.heading)
        height = _height(arena, motion)
        seen = {
            "too_high": (height - goal.height) / arena.length,
            "height": height / REACH,
            "heading_error_sine": s,
            "heading_error_cosine": c,
        }
        hs, hc = direction(motion.heading)
        reach = jnp.asarray(REACH, height.dtype)
        for angle in AHEAD:
            # Tilted with the vehicle: nose down turns a beam back towards straight down.
            tilt = np.radians(angle) + motion.euler[1]
            ts, tc = sincos(tilt)
            along = (ts * hc, ts * hs, tc)
            met = seabed.cast(arena.ocean.seabed, motion.position, along, reach, STEPS)
            seen[f"beam_{angle:.0f}"] = met / REACH
        return seen

    def judge(self, arena: Arena, goal: Height, before: Motion, after: Motion) -> Verdict:
        """As the class says."""
        height = _height(arena, after)
        off = height - goal.height
        _, c = direction(goal.heading - after.heading)
        slow = jnp.minimum(jnp.abs(after.velocity[0] / arena.cruise - 0.8), 1.0)
        reward = 0.5 * (1.0 + c) * jnp.exp(-((off / 2.0) ** 2)) - 0.3 * slow
        lost = (height < TOUCH) | (jnp.abs(off) > 25.0)
        return Verdict(goal, reward, lost, going_on(reward))

    def outlines(self, goal: Height, length: float) -> list[Outline]:
        """The way it began."""
        x, y = (float(part) for part in goal.start)
        psi, reach = float(goal.heading), 30.0 * length
        ends = np.array([[x, x + reach * np.cos(psi)], [y, y + reach * np.sin(psi)]])
        return [Outline("heading asked", ends)]


def _bottom(arena: Arena, place: jax.Array) -> jax.Array:
    assert arena.ocean.seabed is not None
    return jnp.broadcast_to(seabed.sample(arena.ocean.seabed, place[0], place[1]), place.shape[1:])


def _height(arena: Arena, motion: Motion) -> jax.Array:
    return _bottom(arena, jnp.stack(motion.position[:2])) - motion.position[2]
