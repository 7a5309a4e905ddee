"""Proximal policy optimisation in one compiled loop: an Otter learns to follow a way in waves.

    python examples/learn_path_following.py --updates 200 --out learnt.png

Schulman et al. (2017), with generalised advantages (Schulman et al. 2016). Simulation, policy,
gradient and optimiser are one program: nothing leaves it between two updates but a number.
"""

import argparse
import time
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.gym import make
from seatrial.learning.environment import Environment, Episodes, Outcome

STEPS = 64  # of every vehicle between two updates
EPOCHS = 4
BATCHES = 8
DISCOUNT, TRACE = 0.99, 0.95
CLIP, ENTROPY = 0.2, 0.003
RATE = 1e-3
HIDDEN = 64


class Sample(NamedTuple):
    """One step of one vehicle."""

    seen: Any
    action: Any
    chance: Any
    value: Any
    reward: Any
    ended: Any


class Learner(NamedTuple):
    """Everything that changes while it learns."""

    weights: Any
    slope: Any  # Adam's means of the gradient and of its square
    square: Any
    count: Any
    episodes: Episodes
    seen: Any
    key: Any


def network(key: Any, inputs: int, outputs: int) -> dict[str, Any]:
    """Two layers for the policy and two for the value, with small last layers."""

    def layer(key: Any, rows: int, columns: int, size: float) -> tuple[Any, Any]:
        drawn = jax.random.orthogonal(key, max(rows, columns))[:rows, :columns]
        return size * drawn, jnp.zeros(columns)

    keys = jax.random.split(key, 6)
    sizes = [(inputs, HIDDEN, 1.4), (HIDDEN, HIDDEN, 1.4)]
    return {
        "policy": [
            layer(k, *s) for k, s in zip(keys, [*sizes, (HIDDEN, outputs, 0.01)], strict=False)
        ],
        "value": [layer(k, *s) for k, s in zip(keys[3:], [*sizes, (HIDDEN, 1, 1.0)], strict=True)],
        "spread": jnp.full(outputs, -0.5),
    }


def apply(layers: Any, x: Any) -> Any:
    """Hyperbolic tangents between the layers."""
    for matrix, offset in layers[:-1]:
        x = jnp.tanh(x @ matrix + offset)
    matrix, offset = layers[-1]
    return x @ matrix + offset


def chance_of(weights: Any, seen: Any, action: Any) -> Any:
    """Logarithm of a normal density, without its constant."""
    off = (action - apply(weights["policy"], seen)) * jnp.exp(-weights["spread"])
    return jnp.sum(-0.5 * off**2 - weights["spread"], axis=-1)


def loss(weights: Any, sample: Sample, advantage: Any, target: Any) -> Any:
    """Clipped objective, squared error of the value, and a reward for trying things."""
    ratio = jnp.exp(chance_of(weights, sample.seen, sample.action) - sample.chance)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    gain = jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled)
    error = apply(weights["value"], sample.seen)[..., 0] - target
    return -gain.mean() + 0.5 * jnp.mean(error**2) - ENTROPY * jnp.sum(weights["spread"])


def gather(environment: Environment, learner: Learner) -> tuple[Learner, Sample, Any]:
    """STEPS periods of every vehicle."""
    weights = learner.weights

    def one(at: tuple[Episodes, Any, Any], _: Any) -> tuple[Any, tuple[Sample, Any]]:
        episodes, seen, key = at
        key, drawn = jax.random.split(key)
        mean = apply(weights["policy"], seen)
        action = mean + jnp.exp(weights["spread"]) * jax.random.normal(drawn, mean.shape)
        following, outcome = environment.step(episodes, action)
        # Where the time was up, what would have come is worth what the value says.
        last = apply(weights["value"], outcome.final_observation)[..., 0]
        sample = Sample(
            seen,
            action,
            chance_of(weights, seen, action),
            apply(weights["value"], seen)[..., 0],
            outcome.reward + DISCOUNT * last * outcome.truncated,
            outcome.terminated | outcome.truncated,
        )
        return (following, outcome.observation, key), (sample, tally(outcome))

    start = (learner.episodes, learner.seen, learner.key)
    (episodes, seen, key), (samples, tallies) = jax.lax.scan(one, start, None, STEPS)
    return learner._replace(episodes=episodes, seen=seen, key=key), samples, tallies.sum(axis=0)


def tally(outcome: Outcome) -> Any:
    """Reward, episodes that ended, and those that ended well."""
    ended = outcome.terminated | outcome.truncated
    return jnp.array([outcome.reward.mean(), ended.sum(), outcome.succeeded.sum()])


def advantages(weights: Any, samples: Sample, seen: Any) -> Any:
    """How much better each action was than expected."""
    last = apply(weights["value"], seen)[..., 0]

    def back(at: tuple[Any, Any], sample: Sample) -> tuple[tuple[Any, Any], Any]:
        better, following = at
        left = 1.0 - sample.ended
        step = sample.reward + DISCOUNT * following * left - sample.value
        better = step + DISCOUNT * TRACE * left * better
        return (better, sample.value), better

    return jax.lax.scan(back, (jnp.zeros_like(last), last), samples, reverse=True)[1]


@partial(jax.jit, donate_argnums=1)
def update(environment: Environment, learner: Learner) -> tuple[Learner, Any]:
    """Gather, then several rounds of Adam over shuffled parts."""
    learner, samples, tallies = gather(environment, learner)
    better = advantages(learner.weights, samples, learner.seen)
    target = better + samples.value
    flat = jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), (samples, better, target))
    total = flat[1].shape[0]

    def descend(learner: Learner, chosen: Any) -> tuple[Learner, None]:
        part = jax.tree.map(lambda a: a[chosen], flat)
        slopes = jax.grad(loss)(learner.weights, *part)
        size = jnp.sqrt(sum(jnp.sum(s**2) for s in jax.tree.leaves(slopes)))
        slopes = jax.tree.map(lambda s: s * jnp.minimum(1.0, 0.5 / (size + 1e-9)), slopes)
        count = learner.count + 1
        slope = jax.tree.map(lambda m, s: 0.9 * m + 0.1 * s, learner.slope, slopes)
        square = jax.tree.map(lambda v, s: 0.999 * v + 0.001 * s**2, learner.square, slopes)
        rate = RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        weights = jax.tree.map(
            lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), learner.weights, slope, square
        )
        return learner._replace(weights=weights, slope=slope, square=square, count=count), None

    key, *drawn = jax.random.split(learner.key, EPOCHS + 1)
    orders = [jax.random.permutation(k, total)[: total // BATCHES * BATCHES] for k in drawn]
    chosen = jnp.concatenate([o.reshape(BATCHES, -1) for o in orders])
    learner, _ = jax.lax.scan(descend, learner._replace(key=key), chosen)
    return learner, tallies


@partial(jax.jit, static_argnums=3)
def sail(environment: Environment, weights: Any, key: Any, steps: int) -> tuple[Any, Any]:
    """Tracks (steps, 2, N) of the policy without its spread, and the ways they were to follow."""
    episodes, seen = environment.reset(key)

    def one(at: tuple[Episodes, Any], _: Any) -> tuple[Any, Any]:
        episodes, seen = at
        following, outcome = environment.step(episodes, apply(weights["policy"], seen))
        return (following, outcome.observation), (following.vessel.position[:2], following.age)

    _, (tracks, ages) = jax.lax.scan(one, (episodes, seen), None, steps)
    first = jnp.cumsum(ages == 0, axis=0) == 0  # up to the end of the first episode
    return jnp.where(first[:, None], tracks, jnp.nan), episodes.goal


def learn(parallel: int, updates: int, seed: int, world: str | None) -> tuple[Any, Any, Any, Any]:
    """The environment, weights before and after, and a row of numbers for every update."""
    environment = make("PathFollowing", vehicle="otter", world=world, count=parallel)
    key, one, two = jax.random.split(jax.random.PRNGKey(seed), 3)
    weights = network(one, len(environment.names()), environment.actions)
    nothing = jax.tree.map(jnp.zeros_like, weights)
    learner = Learner(
        jax.tree.map(jnp.copy, weights),
        nothing,
        jax.tree.map(jnp.copy, nothing),
        jnp.zeros(()),
        *jax.jit(Environment.reset)(environment, two),
        key,
    )
    rows, began = [], time.perf_counter()
    for number in range(updates):
        learner, tallies = update(environment, learner)
        reward, ended, well = (float(n) for n in tallies)
        rows.append((time.perf_counter() - began, reward / STEPS, well / max(ended, 1.0)))
        if number % 20 == 19 or number == updates - 1:
            print(
                f"{number + 1:5d}  {rows[-1][0]:7.1f} s  reward {rows[-1][1]:6.3f} a period, "
                f"{rows[-1][2]:4.0%} of the ways followed to their end"
            )
    return environment, weights, learner.weights, np.array(rows)


def draw(environment: Any, before: Any, after: Any, rows: Any, out: str) -> None:
    """How it learnt, and the tracks of the first vehicles before and after."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    axes[0].plot(rows[:, 1], label="reward of a period")
    axes[0].plot(rows[:, 2], label="share of ways followed to their end")
    axes[0].set(xlabel="updates", ylim=(-0.6, 1.05))
    axes[0].set_title(f"learnt in {rows[-1, 0]:.0f} s, compiling included")
    axes[0].legend()
    for axis, weights, title in ((axes[1], before, "before"), (axes[2], after, "after")):
        tracks, way = sail(environment, weights, jax.random.PRNGKey(7), environment.steps)
        for i in range(3):
            start = float(way.north[0, i]), float(way.east[0, i])
            shift = 80.0 * i
            axis.plot(way.east[:, i] - start[1] + shift, way.north[:, i] - start[0], "k--", lw=1)
            track = np.asarray(tracks[:, :, i])
            axis.plot(track[:, 1] - start[1] + shift, track[:, 0] - start[0])
        axis.set(title=title, xlabel="east, m", ylabel="north, m", aspect="equal")
    figure.savefig(out, dpi=130)


def main() -> None:
    """Learn, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parallel", type=int, default=256)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--world", default="sea-state-4")
    parser.add_argument("--out", default="learnt.png")
    options = parser.parse_args()
    found = learn(options.parallel, options.updates, options.seed, options.world)
    draw(*found, options.out)
    print(f"drawn to {options.out}")


if __name__ == "__main__":
    main()
