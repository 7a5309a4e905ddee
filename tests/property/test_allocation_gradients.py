"""Orders and the wrench they make, differentiated: against differences, met and clipped demands."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sampling import sampled
from seatrial.compile.autonomy.allocation import build_effectors
from seatrial.compile.surroundings.world import build_ocean
from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.gnc.allocation import allocate
from seatrial.gnc.allocation.authority import strength
from seatrial.seeding import generator
from seatrial.spec.loading import load
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.world import World

VEHICLES = ("otter", "remus100", "bluerov2_heavy", "wamv_azimuth")
DEMANDS = 200
STEP = 1e-5
AGES = 1e9
"""A control period in which no rate limit matters, s."""

pytestmark = pytest.mark.usefixtures("x64")
run = jax.jit(allocate)


@functools.cache
def effectors_of(name):
    double = np.dtype(np.float64)
    with jax.enable_x64(True):
        spec = load(name, Vehicle)
        ocean = build_ocean(load("calm", World), 0, double)
        vehicle = compile_vehicle(spec, ocean, double)
        return vehicle.model.channels, build_effectors(vehicle, spec, double)


@jax.jit
def backwards(e, demand, flow, previous, period, pull, share):
    """Derivatives of pull · wrench + share · orders by demand, speed and orders."""

    def total(*args):
        given = allocate(e, *args, period)
        return jnp.sum(pull * given.wrench) + share * jnp.sum(given.orders)

    return jax.grad(total, argnums=(0, 1, 2))(demand, flow, previous)


@pytest.mark.parametrize("name", sampled(VEHICLES, "remus100", "wamv_azimuth"))
def test_the_derivative_of_the_wrench_is_the_limit_of_differences(name):
    """Two thirds of the demands are met, the others clipped; with time to get there and without.

    At a corner of this piecewise smooth function the differences to both sides disagree; there, no
    derivative is right.
    """
    channels, e = effectors_of(name)
    rng = generator(1, f"{name}/gradients")
    flow = np.zeros((6, DEMANDS))
    flow[0] = rng.uniform(0.3, 2.0, DEMANDS)
    most = np.abs(strength(e, 1.0)).sum(axis=1, keepdims=True)
    size = np.where(np.arange(DEMANDS) % 3, 0.1, 1.5)
    demand = size * most * rng.normal(size=(6, DEMANDS))
    previous = np.zeros((channels, DEMANDS))
    along = (most * rng.normal(size=(6, DEMANDS)), 0.3 * rng.normal(size=(6, DEMANDS)))
    pull = rng.normal(size=(6, DEMANDS)) / np.where(most > 0.0, most, 1.0)
    for period in (AGES, 0.2):

        def made(shift, period=period):
            there = [a + shift * d for a, d in zip((demand, flow), along, strict=True)]
            wrench = np.asarray(run(e, *there, previous, period).wrench)
            return np.sum(pull * wrench, axis=0)

        here, right, left = made(0.0), made(STEP), made(-STEP)
        ahead, behind = (right - here) / STEP, (here - left) / STEP
        by_demand, by_flow, _ = backwards(e, demand, flow, previous, period, pull, 0.0)
        slope = np.sum(by_demand * along[0] + by_flow * along[1], axis=0)
        smooth = np.abs(ahead - behind) < 1e-3 * (1.0 + np.abs(ahead))
        assert smooth.mean() > 0.9
        error = np.abs(slope - 0.5 * (ahead + behind)) / (1.0 + np.abs(slope))
        assert error[smooth].max() < 1e-4
        clipped = np.abs(slope) < 0.2 * np.abs(np.sum(pull * along[0], axis=0))
        assert clipped[::3].any()


@pytest.mark.parametrize("name", sampled(VEHICLES, "remus100", "wamv_azimuth"))
def test_the_derivative_is_finite_where_nothing_is_asked_and_nothing_moves(name):
    channels, e = effectors_of(name)
    rng = generator(1, f"{name}/backwards")
    most = np.abs(strength(e, 1.0)).sum(axis=1, keepdims=True)
    demand = most * rng.normal(size=(6, DEMANDS)) * 10.0 ** rng.uniform(-9, 1, DEMANDS)
    flow = rng.normal(size=(6, DEMANDS))
    demand[:, :20], flow[:, 10:40] = 0.0, 0.0
    previous = np.zeros((channels, DEMANDS))
    pull = rng.normal(size=(6, DEMANDS))
    for period in (AGES, 0.2):
        for share in (0.0, 1.0):
            for found in backwards(e, demand, flow, previous, period, pull, share):
                assert np.all(np.isfinite(found))
