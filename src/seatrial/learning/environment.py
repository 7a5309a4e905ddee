"""Episodes of a task as pure functions: `reset` and `step`, for one vessel or a million.

An `Environment` is a pytree: give it to a compiled function as an argument, or close over it.
Vessels whose episode has ended begin a new one in the same step, on the water as it is then.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.learning.arena import Arena
from seatrial.learning.task import DEPTH, MOST, SMOOTH, Goal, Task, depth_error, own_motion
from seatrial.pytree import pytree, static

FAILURE = 20.0
"""Reward lost by an episode that ends badly."""
SUCCESS = 20.0
"""Reward of one that ends well."""


class Episodes(NamedTuple):
    """Everything that changes; vehicles are the last axis."""

    vessel: State
    goal: Goal
    action: jax.Array
    """(A, N) the last one."""
    age: jax.Array
    """(N,) periods since the episode began."""
    clock: jax.Array
    """() periods since `reset`, which is the sea's time."""
    key: jax.Array


class Outcome(NamedTuple):
    """What a step gives; vehicles are the first axis, as those who train expect it."""

    observation: jax.Array
    """(N, O) of the episode that goes on, or of the new one."""
    reward: jax.Array
    """(N,)."""
    terminated: jax.Array
    """(N,) whether the episode ended by success or failure."""
    truncated: jax.Array
    """(N,) whether its time was up."""
    final_observation: jax.Array
    """(N, O) at the end of the period, before anything began anew."""
    succeeded: jax.Array
    """(N,) whether it ended well."""


@pytree
class Environment:
    """A task for `count` vehicles in an arena."""

    arena: Arena
    task: Task = static()
    count: int = static()

    @property
    def actions(self) -> int:
        """How many numbers an action has."""
        return len(self.arena.actions)

    @property
    def steps(self) -> int:
        """Periods after which an episode is cut off."""
        return round(self.task.duration / self.arena.period)

    def reset(self, key: jax.Array) -> tuple[Episodes, jax.Array]:
        """New episodes for all vehicles, and what they see, (N, O)."""
        key, own = jax.random.split(key)
        clock = jnp.zeros((), jnp.int32)
        vessel, goal = self._begin(own, clock)
        episodes = Episodes(
            vessel=vessel,
            goal=goal,
            action=jnp.zeros((self.actions, self.count), vessel.velocity.dtype),
            age=jnp.zeros(self.count, jnp.int32),
            clock=clock,
            key=key,
        )
        return episodes, self._observe(vessel, goal)

    def step(self, episodes: Episodes, action: jax.Array) -> tuple[Episodes, Outcome]:
        """One period later, under actions (N, A) from −1 to 1; NaN is taken for 0."""
        arena, task = self.arena, self.task
        before = episodes.vessel
        asked = jnp.clip(jnp.nan_to_num(action.T.astype(before.velocity.dtype)), -1.0, 1.0)
        moved = arena.advance(before, asked, episodes.clock)
        sound = arena.sound(moved)
        vessel: State = jax.tree.map(lambda new, old: jnp.where(sound, new, old), moved, before)
        after = arena.motion(vessel)
        verdict = task.judge(arena, episodes.goal, arena.motion(before), after)
        failed = verdict.failed | ~sound
        succeeded = verdict.succeeded & ~failed
        turned = jnp.mean((asked - episodes.action) ** 2, axis=0)
        # Of a vehicle that cannot be nothing can be said.
        reward = jnp.where(sound, verdict.reward, 0.0) - SMOOTH * turned
        if arena.dives and task.keeps_depth:
            reward -= DEPTH * jnp.minimum(jnp.abs(depth_error(arena, after)), 1.0)
        reward = reward - FAILURE * failed + SUCCESS * succeeded
        age = episodes.age + 1
        terminated = failed | succeeded
        truncated = (age >= self.steps) & ~terminated
        ended = terminated | truncated
        seen = self._observe(vessel, verdict.goal)
        clock = episodes.clock + 1
        key, own = jax.random.split(episodes.key)

        def anew(_: Any) -> tuple[State, Goal, jax.Array]:
            fresh, goal = self._begin(own, clock)
            chosen: tuple[State, Goal] = jax.tree.map(
                lambda new, old: jnp.where(ended, new, old), (fresh, goal), (vessel, verdict.goal)
            )
            return (*chosen, self._observe(*chosen))

        def on(_: Any) -> tuple[State, Goal, jax.Array]:
            return vessel, verdict.goal, seen

        vessel, goal, observation = jax.lax.cond(jnp.any(ended), anew, on, None)
        following = Episodes(
            vessel=vessel,
            goal=goal,
            action=jnp.where(ended, 0.0, asked),
            age=jnp.where(ended, 0, age),
            clock=clock,
            key=key,
        )
        return following, Outcome(observation, reward, terminated, truncated, seen, succeeded)

    def names(self) -> list[str]:
        """What the numbers of an observation are."""
        found: list[str] = []

        def look(environment: Environment, key: jax.Array) -> jax.Array:
            episodes, _ = environment.reset(key)
            found.extend(environment._seen(episodes.vessel, episodes.goal))
            return key

        jax.eval_shape(look, self, jax.random.PRNGKey(0))
        return found

    def _begin(self, key: jax.Array, clock: jax.Array) -> tuple[State, Goal]:
        where, facing, fast, goals = jax.random.split(key, 4)
        single = jnp.float32
        low, high = self.arena.area
        spread = jax.random.uniform(where, (2, self.count), single)
        start = low[:, None] + spread * (high - low)[:, None]
        heading = jax.random.uniform(facing, (self.count,), single, -jnp.pi, jnp.pi)
        slow, quick = self.task.starting_speed
        speed = self.arena.cruise * jax.random.uniform(fast, (self.count,), single, slow, quick)
        goal = self.task.draw(goals, self.arena, start, heading)
        depth = self.task.depth(self.arena, goal, start)
        position = jnp.concatenate([start, depth[None]])
        return self.arena.launch(position, heading, speed, clock), goal

    def _seen(self, vessel: State, goal: Goal) -> dict[str, jax.Array]:
        motion = self.arena.motion(vessel)
        seen = own_motion(self.arena, motion)
        if self.arena.dives and self.task.keeps_depth:
            seen["depth_error"] = depth_error(self.arena, motion)
        return seen | self.task.observe(self.arena, goal, motion)

    def _observe(self, vessel: State, goal: Goal) -> jax.Array:
        rows = [jnp.clip(row, -MOST, MOST) for row in self._seen(vessel, goal).values()]
        shape = (self.count,)
        return jnp.stack([jnp.broadcast_to(row, shape) for row in rows], axis=-1)
