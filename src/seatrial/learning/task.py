"""What agents are asked to do: how a task is laid out, seen and rewarded.

A task is a frozen object without arrays; what it draws for each vehicle is a *goal*, a tuple of
arrays whose last axis counts the vehicles. All lengths that an agent sees are in lengths of its
vehicle and all speeds in shares of its cruising speed, clipped to ±10, so that an agent that has
learnt on one vehicle can begin on another.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.learning.arena import Arena, Motion
from seatrial.spatial.trig import sincos, wrap_signed

Goal = Any
"""What a task has drawn for the vehicles: a tuple of arrays (..., N)."""

MOST = 10.0
"""Beyond which an observation is cut off."""
SMOOTH = 0.02
"""Reward lost by a whole turn-over of every actuator within one period."""
DEPTH = 0.2
"""Reward lost by being a length off the depth at which a diving vehicle works."""


class Verdict(NamedTuple):
    """How a period went; every part (N,)."""

    goal: Goal
    """What is left to do."""
    reward: jax.Array
    failed: jax.Array
    """Ended badly: it hit something or got lost."""
    succeeded: jax.Array
    """Ended well."""


class Outline(NamedTuple):
    """A line of a picture of the task, seen from above."""

    label: str
    points: NDArray[np.float64]
    """(2, P) north and east, m."""


@dataclass(frozen=True)
class Task:
    """Something to learn."""

    duration: float = 60.0
    """After which an episode is cut off, s."""
    starting_speed: tuple[float, float] = (0.0, 1.0)
    """Between which shares of the cruising speed a vehicle begins."""
    keeps_depth: bool = True
    """Whether a vehicle that dives is to stay at the depth at which it works."""

    def check(self, arena: Arena) -> None:
        """Refuse a vehicle or a world in which nobody could do it."""

    def depth(self, arena: Arena, goal: Goal, start: jax.Array) -> jax.Array:
        """(N,) at which vehicles at (2, N) places begin, m."""
        return jnp.broadcast_to(arena.depth, start.shape[1:])

    def draw(self, key: jax.Array, arena: Arena, start: jax.Array, heading: jax.Array) -> Goal:
        """A goal for vehicles at (2, N) places north and east with (N,) headings."""
        raise NotImplementedError

    def observe(self, arena: Arena, goal: Goal, motion: Motion) -> dict[str, jax.Array]:
        """What the agent sees beside its own motion: name -> (N,)."""
        raise NotImplementedError

    def judge(self, arena: Arena, goal: Goal, before: Motion, after: Motion) -> Verdict:
        """How a period went."""
        raise NotImplementedError

    def outlines(self, goal: Goal, length: float) -> list[Outline]:
        """What a picture shows of the goal of one vehicle, whose arrays have no last axis."""
        raise NotImplementedError


def own_motion(arena: Arena, motion: Motion) -> dict[str, jax.Array]:
    """What every agent sees: velocities, tilt, actuators, and the depth where it dives."""
    u, v, w, p, q, r = motion.velocity
    turning = arena.length / arena.cruise
    seen = {
        "surge": u / arena.cruise,
        "sway": v / arena.cruise,
        "heave": w / arena.cruise,
        "roll_rate": p * turning,
        "pitch_rate": q * turning,
        "yaw_rate": r * turning,
        "roll": jnp.asarray(motion.euler[0]),
        "pitch": jnp.asarray(motion.euler[1]),
    }
    seen |= {f"actuator_{name}": motion.actuators[i] for i, name in enumerate(arena.channels)}
    return seen


def depth_error(arena: Arena, motion: Motion) -> jax.Array:
    """How much too deep, in lengths."""
    return (motion.position[2] - arena.depth) / arena.length


def direction(angle: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sine and cosine, by which an angle has no jump."""
    return sincos(wrap_signed(angle))


def offset_in_body(
    motion: Motion, north: jax.Array, east: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """A place ahead of and to starboard of the vehicle, m, on the level."""
    s, c = direction(motion.heading)
    x, y = north - motion.position[0], east - motion.position[1]
    return c * x + s * y, c * y - s * x


def away(motion: Motion, place: jax.Array) -> jax.Array:
    """Level distance to a place (2, N), m."""
    return jnp.hypot(place[0] - motion.position[0], place[1] - motion.position[1])


def going_on(reward: jax.Array) -> jax.Array:
    """(N,) nobody: for tasks that end in one way only, or in none."""
    return jnp.zeros(reward.shape, bool)


def ring(north: float, east: float, radius: float) -> NDArray[np.float64]:
    """A circle for a picture."""
    angle = np.linspace(0.0, 2.0 * np.pi, 61)
    return np.stack([north + radius * np.cos(angle), east + radius * np.sin(angle)])
