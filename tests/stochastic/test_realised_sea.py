"""The sea a swarm meets, over 200 seeds: its height, its direction, and that it never repeats."""

import math

import jax
import numpy as np
import pytest

from seatrial.compile.surroundings.world import build_ocean
from seatrial.spec.world import World

SEEDS = range(200)
HEIGHT, TOWARDS = 0.5, math.radians(130.0)


def sea(seed, method):
    world = World.model_validate(
        {
            "kind": "world",
            "name": "sea",
            "waves": {
                "spectrum": "pierson_moskowitz",
                "significant_height": HEIGHT,
                "towards": TOWARDS,
                "spreading": "cos2",
                "method": method,
                "frequencies": 15,
                "directions": 5,
            },
        }
    )
    with jax.enable_x64(True):
        waves = build_ocean(world, seed, np.dtype(np.float64)).waves
    return {k: np.asarray(getattr(waves, k)) for k in ("amplitude", "omega", "direction", "phase")}


@pytest.mark.parametrize("method", ["uniform", "equal_energy", "jittered"])
def test_significant_height_and_mean_direction_are_on_target_for_every_seed(method):
    for seed in SEEDS:
        waves = sea(seed, method)
        energy = 0.5 * waves["amplitude"] ** 2
        assert 4.0 * math.sqrt(energy.sum()) == pytest.approx(HEIGHT, rel=0.02)
        resultant = np.sum(energy * np.exp(1j * waves["direction"]))
        error = np.angle(resultant * np.exp(-1j * TOWARDS))
        assert abs(math.degrees(error)) < 2.0


@pytest.mark.parametrize("method", ["uniform", "equal_energy", "jittered"])
def test_no_component_travels_against_the_wind(method):
    for seed in SEEDS:
        ahead = np.cos(sea(seed, method)["direction"] - TOWARDS)
        assert ahead.min() > 0.0


def test_a_jittered_sea_does_not_repeat_within_an_hour():
    """The record at a point, correlated with itself later: never close to one again."""
    time = np.arange(0.0, 3600.0, 0.25)
    for seed in range(5):
        waves = sea(seed, "jittered")
        # Autocovariance of a sum of cosines, averaged over the phases.
        covariance = np.cos(np.outer(time, waves["omega"])) @ (0.5 * waves["amplitude"] ** 2)
        correlation = covariance / covariance[0]
        assert correlation[time > 10.0].max() < 0.8
