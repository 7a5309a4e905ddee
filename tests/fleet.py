"""Groups of vehicles with pilots and sensors, turned together by a plain loop that differentiates.

What the engine does, without its blocks and records: sensors, pilot, step, in a scan whose length
is known. Vehicles of all groups see each other as of the last control period.
"""

import dataclasses
import itertools
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core.step import step_with_rates
from seatrial.core.types import State, Traffic
from seatrial.engine import pilot as piloting
from seatrial.engine import suite as sensing
from seatrial.sensors.look import Look
from seatrial.spatial.rotations import from_euler, rotation, to_euler
from seatrial.spatial.vectors import vec3


class Ship(NamedTuple):
    """One group on its way."""

    state: State
    memory: Any
    sensing: Any


def begin(group):
    """A group before its first instant."""
    count, dtype = group.initial.position.shape[-1], group.initial.velocity.dtype
    return Ship(
        group.initial,
        piloting.begin(group.commander, group.suite, group.initial, group.model.channels),
        sensing.begin(group.suite, count, dtype),
    )


def traffic_of(ships, sizes):
    """Everybody, in the order of the groups; `sizes` holds length and beam of each group."""
    states = [ship.state for ship in ships]
    counts = [s.position.shape[-1] for s in states]
    velocity = [jnp.stack(rotation(s.attitude).to_world(vec3(s.velocity))) for s in states]
    total = sum(counts)
    everybody = Traffic(
        position=jnp.concatenate([s.position for s in states], axis=1),
        velocity=jnp.concatenate(velocity, axis=1),
        heading=jnp.concatenate([to_euler(s.attitude)[2] for s in states]),
        length=jnp.asarray(np.repeat([size[0] for size in sizes], counts)),
        beam=jnp.asarray(np.repeat([size[1] for size in sizes], counts)),
        identity=jnp.arange(1, total + 1),
        own=jnp.arange(total),
    )
    first = np.concatenate([[0], np.cumsum(counts)])
    return [everybody._replace(own=jnp.arange(a, b)) for a, b in itertools.pairwise(first)]


def period(group, ocean, ship, index, schedule, traffic=None):
    """One control period of a group from time step `index` on; a copy of what the engine does."""
    suite = group.suite
    inertial = [i for i, f in enumerate(suite) if f.inertial]
    others = [i for i, f in enumerate(suite) if not f.inertial]
    tick = int(np.gcd.reduce([schedule.substeps, *(f.period for f in suite)]))
    windows = sensing.open_window(suite, ship.sensing, index, schedule.substeps)
    since = jnp.zeros((0, group.initial.position.shape[-1]))

    def turn(carry, j):
        ship, windows, orders = carry
        at = index + j * tick
        t = at * schedule.time_step
        look = Look(group.model, ocean, ship.state, t, traffic=traffic)
        sensed, windows = sensing.sense(suite, others, ship.sensing, windows, since, at, look, tick)
        memory = piloting.hear(group.commander, ship.memory, suite, sensed, others, at, t)
        memory, orders = jax.lax.cond(
            j == 0,
            lambda: piloting.decide(group.commander, memory, ship.state, t),
            lambda: (memory, orders),
        )

        def advance(state, i):
            return step_with_rates(
                group.model, ocean, state, orders, t + i * schedule.time_step, schedule.time_step
            )

        state, rates = jax.lax.scan(advance, ship.state, jnp.arange(tick))
        look = Look(group.model, ocean, ship.state, t, rates[0], traffic)
        sensed, windows = sensing.sense(suite, inertial, sensed, windows, since, at, look, tick)
        memory = piloting.feel(group.commander, memory, suite, sensed, at, tick)
        return (Ship(state, memory, sensed), windows, orders), None

    none = jnp.zeros((group.model.channels, ship.state.position.shape[-1]))
    ticks = schedule.substeps // tick
    (ship, _, orders), _ = jax.lax.scan(turn, (ship, windows, none), jnp.arange(ticks))
    return ship, orders


@partial(jax.jit, static_argnames=("schedule", "periods", "sizes"))
def sail(groups, oceans, schedule, periods, sizes=None):
    """All groups for some control periods; positions, velocities and headings after each."""

    def one(ships, k):
        index = k * schedule.substeps
        looks = [None] * len(ships) if sizes is None else traffic_of(ships, sizes)
        ships = tuple(
            period(group, ocean, ship, index, schedule, traffic)[0]
            for group, ocean, ship, traffic in zip(groups, oceans, ships, looks, strict=True)
        )
        return ships, [ship.state for ship in ships]

    ships, track = jax.lax.scan(one, tuple(begin(group) for group in groups), jnp.arange(periods))
    return ships, track


def spread(group, place, heading, speed, way, salt):
    """A group of one vessel as many, each with a start, a course and noise of its own.

    `place` is (2, N) north and east, `heading` and `speed` (N,); each goes straight on for `way`.
    """
    count = len(heading)
    level = jnp.zeros(count)
    depth = group.initial.position[2, 0] + level
    position = jnp.stack([jnp.asarray(place[0]), jnp.asarray(place[1]), depth])
    attitude = from_euler(level, level, jnp.asarray(heading))
    velocity = jnp.zeros((6, count)).at[0].set(speed)
    end = position + way * jnp.stack([jnp.cos(heading), jnp.sin(heading), level])
    pilot = group.commander
    start = pilot.navigator.start._replace(
        position=position, attitude=attitude, velocity=velocity, current=jnp.zeros((3, count))
    )
    mission = jax.tree.map(lambda a: jnp.repeat(a, count, axis=-1), pilot.mission)
    rng = np.random.default_rng(salt)
    suite = tuple(
        dataclasses.replace(
            f, keys=jnp.asarray(rng.integers(0, 2**32, (2, count), dtype=np.uint32))
        )
        for f in group.suite
    )
    return dataclasses.replace(
        group,
        initial=dataclasses.replace(
            group.initial,
            position=position,
            attitude=attitude,
            velocity=velocity,
            actuators=jnp.tile(group.initial.actuators, (1, count)),
        ),
        suite=suite,
        commander=dataclasses.replace(
            pilot,
            navigator=dataclasses.replace(pilot.navigator, start=start),
            mission=dataclasses.replace(
                mission, start=position[None], end=end[None], speed=jnp.asarray(speed)[None]
            ),
        ),
    )
