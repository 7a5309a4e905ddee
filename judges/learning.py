"""Stable-Baselines3's PPO learns to hold a heading from scratch, on the processor.

    python judges/learning.py [--steps 400000]

It is installed into build/judges beside this checkout's own environment, because it brings torch.
`together` is all that it takes to train it in a vectorised environment. The verdict: deterministic
episodes of the learnt policy, with seeds that it was not trained on, return at least three quarters
of what a perfect helmsman could have; random actions return less than half.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from packages import bring

PLACE = Path("build/judges/learning")
EPISODES = 20
ENOUGH, LITTLE = 0.75, 0.5
PARTS = 10
"""In which it says how far it is."""


def together(env: Any) -> Any:
    """A vectorised environment of Gymnasium's as one of Stable-Baselines3's.

    Both begin an episode anew in the step that ends the one before.
    """
    import numpy as np
    from stable_baselines3.common.vec_env import VecEnv

    class Together(VecEnv):
        def __init__(self) -> None:
            super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

        def reset(self) -> Any:
            return env.reset(seed=self._seeds[0])[0]

        def step_async(self, actions: Any) -> None:
            self.actions = actions

        def step_wait(self) -> Any:
            seen, reward, terminated, truncated, info = env.step(self.actions)
            told: list[dict[str, Any]] = [{} for _ in range(env.num_envs)]
            for i in np.flatnonzero(terminated | truncated):
                told[i] = {
                    "terminal_observation": info["final_obs"][i],
                    "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                }
            return seen, reward.astype(np.float32), terminated | truncated, told

        def close(self) -> None:
            env.close()

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [getattr(env, attr_name, None)] * env.num_envs

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            raise NotImplementedError

        def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
            raise NotImplementedError

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [False] * env.num_envs

    return Together()


def judge(steps: int) -> None:
    """Train, then play."""
    import gymnasium
    import numpy as np
    import torch
    from stable_baselines3 import PPO

    import seatrial.gym  # noqa: F401 registers them

    name, began = "seatrial/HeadingHold-v0", (time.perf_counter(), time.process_time())
    envs = together(gymnasium.make_vec(name, num_envs=64))
    learner = PPO("MlpPolicy", envs, n_steps=64, batch_size=512, gamma=0.98, seed=0, device="cpu")
    torch.set_num_threads(1)  # of networks so small several threads only wait for each other
    for _ in range(PARTS):
        learner.learn(steps // PARTS, reset_num_timesteps=False)
        print(f"{learner.num_timesteps} steps, {time.process_time() - began[1]:.0f} s", flush=True)
    took = (time.perf_counter() - began[0], time.process_time() - began[1])

    def played(choose: object) -> float:
        env = gymnasium.make(name)
        shares = []
        for episode in range(EPISODES):
            seen, _ = env.reset(seed=10_000 + episode)
            total, length, ended = 0.0, 0, False
            while not ended:
                seen, reward, terminated, truncated, _ = env.step(choose(env, seen))
                total, length, ended = total + reward, length + 1, terminated or truncated
            shares.append(total / length)
        return float(np.mean(shares))

    learnt = played(lambda _, seen: learner.predict(seen, deterministic=True)[0])
    random = played(lambda env, _: env.action_space.sample())
    passed = learnt > ENOUGH and random < LITTLE
    row = {"steps": steps, "learnt": learnt, "random": random, "passed": passed}
    print(json.dumps(row | {"wall_s": round(took[0]), "processor_s": round(took[1])}))
    raise SystemExit(0 if passed else 1)


def main() -> None:
    """Install, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400_000)
    options = parser.parse_args()
    bring(PLACE, "stable_baselines3", "stable-baselines3>=2.4")
    judge(options.steps)


if __name__ == "__main__":
    main()
