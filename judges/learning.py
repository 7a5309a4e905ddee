"""Stable-Baselines3's PPO learns to hold a heading from scratch, on the processor.

    python judges/learning.py [--steps 150000]

It is installed into build/judges beside this checkout's own environment, because it brings torch.
The verdict: deterministic episodes of the learnt policy, with seeds that it was not trained on,
return at least three quarters of what a perfect helmsman could have; random actions return less
than half.
"""

import argparse
import json
from pathlib import Path

from packages import bring

PLACE = Path("build/judges/learning")
EPISODES = 20
ENOUGH, LITTLE = 0.75, 0.5


def judge(steps: int) -> None:
    """Train, then play."""
    import gymnasium
    import numpy as np
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    import seatrial.gym

    name = "seatrial/HeadingHold-v0"
    envs = make_vec_env(name, n_envs=8, seed=0)
    learner = PPO("MlpPolicy", envs, n_steps=256, batch_size=256, gamma=0.98, seed=0, device="cpu")
    learner.learn(steps)

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
    print(json.dumps(row | {"tasks": list(seatrial.gym.TASKS)}))
    raise SystemExit(0 if passed else 1)


def main() -> None:
    """Install, then judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=150_000)
    options = parser.parse_args()
    bring(PLACE, "stable_baselines3", "stable-baselines3>=2.4")
    judge(options.steps)


if __name__ == "__main__":
    main()
