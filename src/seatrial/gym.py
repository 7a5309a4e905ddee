"""Gymnasium environments: `import seatrial.gym` registers `seatrial/HeadingHold-v0` and others.

>>> import gymnasium, seatrial.gym
>>> env = gymnasium.make("seatrial/HeadingHold-v0", vehicle="otter")
>>> seen, info = env.reset(seed=1)
>>> seen, reward, terminated, truncated, info = env.step(env.action_space.sample())

They stand on pure functions (`seatrial.learning`), which `make` gives to those who train inside
one compiled loop.
"""

import inspect
import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.errors import Problem, SpecError
from seatrial.learning.environment import Environment, Episodes, Outcome
from seatrial.learning.making import make, whole
from seatrial.learning.picture import picture
from seatrial.learning.task import MOST
from seatrial.learning.tasks import TASKS
from seatrial.programs import call, compile_program
from seatrial.pytree import take
from seatrial.spec.wording import did_you_mean

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError(
        "seatrial.gym needs Gymnasium: pip install 'seatrial[gym]'", name="gymnasium"
    ) from error

__all__ = ["Single", "Vector", "make"]

VARIANTS = 64
"""Vehicles that differ among which an environment of one draws at every reset."""

Floats = NDArray[np.float32]

_reset = jax.jit(Environment.reset)
_step = jax.jit(Environment.step)


def _spaces(environment: Environment) -> tuple[Any, Any]:
    seen = gymnasium.spaces.Box(-MOST, MOST, (len(environment.names()),), np.float32)
    return seen, gymnasium.spaces.Box(-1.0, 1.0, (environment.actions,), np.float32)


def _numbers(action: Any, space: Any) -> Floats:
    """An action as the array that its space has; beyond ±1 it is cut off."""
    try:
        found = np.asarray(action)
    except (TypeError, ValueError):  # rows of several lengths
        found = np.asarray(None)
    if found.dtype.kind not in "fiu" or found.shape != space.shape or not np.isfinite(found).all():
        raise SpecError(
            Problem(
                "not an action",
                path=("action",),
                value=action,
                expected=f"finite numbers of the shape {space.shape}, from -1 to 1",
                mend="look for NaN in what chose it, and at `env.action_space`",
            )
        )
    cut: Floats = np.clip(found, -1.0, 1.0).astype(np.float32)
    return cut


def _seed(seed: Any) -> int | None:
    """A seed of many episodes, or a refusal."""
    if seed is None:
        return None
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) < 1 << 32:
        raise SpecError(
            Problem(
                "not a seed",
                path=("seed",),
                value=seed,
                expected=f"a whole number, at least 0 and below {1 << 32}",
                mend="for example seed=1",
            )
        )
    return int(seed)


def _check_options(options: dict[str, Any], vehicles: str) -> None:
    """Refuse what `make` would not know; `vehicles` says how many there are."""
    known = [name for name in inspect.signature(make).parameters if name not in ("task", "count")]
    for name in options:
        if name not in known:
            mend = vehicles if name in ("count", "num_envs") else did_you_mean(name, known)
            raise SpecError(
                Problem(
                    f"there is no option `{name}`",
                    path=(name,),
                    value=options[name],
                    expected=f"one of {', '.join(known)}",
                    mend=mend or "leave it out",
                )
            )


_used_by: int | None = None
"""The process whose environments have set JAX's threads going."""


def _require_threads() -> None:
    """Refuse a process that was forked off one with environments: JAX's threads did not come
    along, and whoever waits for them waits for ever."""
    global _used_by
    _used_by = _used_by or os.getpid()
    if _used_by != os.getpid():
        raise SpecError(
            Problem(
                "a process that was forked cannot have environments, whose threads stayed behind",
                expected="a process of its own, or many vehicles in one program",
                mend='gymnasium.make_vec(..., vectorization_mode="vector_entry_point"), which is '
                'faster, or "async" with vector_kwargs={"context": "spawn"}',
            )
        )


class _Player:
    """The episodes of an environment, moved on by compiled programs that are kept on disk."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.key: Any = None
        self.episodes: Episodes | None = None
        self._step: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy finds the program again, which is no data."""
        return {**vars(self), "_step": None}

    def reset(self, seed: int | None) -> Floats:
        """New episodes; without a seed they go on with the numbers of the last ones, and the first
        of all are drawn by chance, as Gymnasium asks: copies of an environment do not all play the
        same ones."""
        with jax.enable_x64(False):
            if seed is None and self.episodes is not None:
                self.key = self.episodes.key
            else:
                drawn = int.from_bytes(os.urandom(4), "little") if seed is None else seed
                self.key = np.asarray(jax.random.PRNGKey(drawn))
            self.episodes, seen = call(_reset, self.environment, self.key)
        return np.array(seen)

    def step(self, action: Floats) -> Outcome:
        """One period; arrays of NumPy's that whoever gets them may write to, as PyTorch asks."""
        if self.episodes is None:
            raise gymnasium.error.ResetNeeded("call `reset` before `step`")
        asked = action.reshape(-1, self.environment.actions)
        with jax.enable_x64(False):
            given = (self.environment, self.episodes, asked)
            # Found once: every episode has the same shapes, and the search takes as long as a step.
            self._step = self._step or compile_program(_step, *given)
            self.episodes, outcome = self._step(*given)
        return Outcome(*(np.array(part) for part in outcome))  # type: ignore[arg-type]


class Single(gymnasium.Env[Floats, Floats]):
    """One vehicle with one task."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012 as Gymnasium has it

    def __init__(self, task: str, render_mode: str | None = None, **options: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SpecError(
                Problem(
                    "not a way to show an episode",
                    path=("render_mode",),
                    value=render_mode,
                    expected="rgb_array, or none",
                    mend='set render_mode="rgb_array"',
                )
            )
        _check_options(options, "many at once: gymnasium.make_vec with `num_envs`")
        _require_threads()
        pool = make(task, **options, count=VARIANTS if options.get("vary") else 1)
        self._pool, self._varies = pool, bool(options.get("vary"))
        self._player = _Player(self._chosen(0))
        self.observation_space, self.action_space = _spaces(self._player.environment)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1.0 / pool.arena.period)}
        self._track: list[NDArray[np.float64]] = []

    def _chosen(self, which: int) -> Environment:
        if not self._varies:
            return self._pool
        arena = take(self._pool.arena, np.array([which]))
        return Environment(arena, self._pool.task, 1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """A new episode, with another of the vehicles where they differ."""
        super().reset(seed=seed)
        drawn = None if seed is None else int(self.np_random.integers(2**31))
        self._player.environment = self._chosen(int(self.np_random.integers(VARIANTS)))
        seen = self._player.reset(drawn)
        self._track = [self._place()]
        return seen[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """One period."""
        before = self._player.episodes
        outcome = self._player.step(_numbers(action, self.action_space))
        ended = bool(outcome.terminated[0] or outcome.truncated[0])
        # The functions have begun the next episode already: the picture stays with this one.
        if ended and before is not None:
            self._player.episodes = before._replace(key=self._player.episodes.key)  # type: ignore[union-attr]
        self._track.append(self._place())
        info = {"succeeded": bool(outcome.succeeded[0])} if ended else {}
        return (
            np.asarray(outcome.final_observation[0]),
            float(outcome.reward[0]),
            bool(outcome.terminated[0]),
            bool(outcome.truncated[0]),
            info,
        )

    def render(self) -> NDArray[np.uint8] | None:
        """The track of the episode and its task from above, as an image of 480 by 480."""
        episodes = self._player.episodes
        if self.render_mode is None or episodes is None:
            return None
        return picture(self._player.environment, episodes, np.array(self._track))

    def _place(self) -> NDArray[np.float64]:
        assert self._player.episodes is not None
        return np.asarray(self._player.episodes.vessel.position, np.float64)[:, 0]


class Vector(VectorEnv[Floats, Floats, NDArray[Any]]):
    """Many vehicles, each with a task of its own, in one compiled program.

    Episodes that end begin anew in the same step; `info["final_obs"]` has the last observations.
    """

    metadata = {  # noqa: RUF012 as Gymnasium has it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(self, task: str, num_envs: int = 1, **options: Any) -> None:
        if options.pop("render_mode", None) is not None:
            raise SpecError(
                Problem(
                    "many vehicles at once are not drawn",
                    path=("render_mode",),
                    expected="none",
                    mend='gymnasium.make(..., render_mode="rgb_array") draws a single one',
                )
            )
        num_envs = whole("num_envs", num_envs)
        _check_options(options, "say how many with `num_envs`")
        _require_threads()
        self._player = _Player(make(task, **options, count=num_envs))
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = _spaces(self._player.environment)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Any = None
    ) -> tuple[Floats, dict[str, Any]]:
        """New episodes; one seed for all, or the first of several."""
        super().reset(seed=None)
        first = next(iter(seed), None) if isinstance(seed, Sequence | np.ndarray) else seed
        return self._player.reset(_seed(first)), {}

    def step(
        self, actions: Floats
    ) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One period."""
        outcome = self._player.step(_numbers(actions, self.action_space))
        info: dict[str, Any] = {}
        ended = np.asarray(outcome.terminated | outcome.truncated)
        if ended.any():
            kept = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(ended):
                kept[i] = np.asarray(outcome.final_observation[i])
            succeeded = np.asarray(outcome.succeeded)
            info = {
                "final_obs": kept,
                "_final_obs": ended,
                "final_info": {"succeeded": succeeded, "_succeeded": ended},
                "_final_info": ended,
            }
        return (
            np.asarray(outcome.observation),
            np.asarray(outcome.reward, np.float64),
            np.asarray(outcome.terminated),
            np.asarray(outcome.truncated),
            info,
        )


for _name in TASKS:
    gymnasium.register(
        f"seatrial/{_name}-v0",
        entry_point="seatrial.gym:Single",
        vector_entry_point="seatrial.gym:Vector",
        kwargs={"task": _name},
    )
