"""A vehicle on a path in closed form, and sensors with exactly the errors that a filter assumes."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import offline, state
from seatrial.gnc.navigation.aiding import Slow, attitude_error
from seatrial.gnc.navigation.aids.directions import Heading
from seatrial.gnc.navigation.aids.places import Depth, Fix
from seatrial.gnc.navigation.aids.velocities import BodyVelocity
from seatrial.gnc.navigation.consistency import threshold
from seatrial.gnc.navigation.kalman import Test as Judgement
from seatrial.gnc.navigation.offline import Feed
from seatrial.gnc.types import Estimate
from seatrial.seeding import generator
from seatrial.spatial.rotations import from_euler, multiply, rotation

IMU_ARM = (0.3, -0.1, 0.05)
IMU_TURN = (0.4, -0.3, 2.0)
ANTENNA = (-0.5, 0.2, -0.8)
LOG = (0.6, 0.0, 0.3)
LOG_TURN = (0.1, -0.05, 0.7)


def matrix(euler: tuple[float, float, float]) -> np.ndarray:
    """Rotation (3, 3) of roll, pitch, yaw."""
    return np.array(rotation(from_euler(*(jnp.asarray(a) for a in euler)))).reshape(3, 3)


def position(t):
    """Of the origin: a figure of eight that dives and rises, at about 2 m/s."""
    return jnp.stack(
        [60 * jnp.sin(0.03 * t), 25 * jnp.sin(0.06 * t + 0.3), 12 + 4 * jnp.sin(0.05 * t)]
    )


def attitude(t):
    """A vehicle that turns, rolls and pitches."""
    return from_euler(
        0.15 * jnp.sin(0.7 * t), 0.1 * jnp.sin(0.5 * t + 1), 0.05 * t + 0.8 * jnp.sin(0.11 * t)
    )


def _sensor(t):
    turned = rotation(attitude(t))
    return position(t) + jnp.stack(turned.to_world(tuple(jnp.asarray(a) for a in IMU_ARM)))


def kinematics(t):
    """Position, attitude, IMU position, IMU velocity, IMU acceleration and body rate at `t`."""
    one = jnp.ones_like(t)
    velocity = lambda s: jax.jvp(_sensor, (s,), (one,))[1]  # noqa: E731
    moving, acceleration = jax.jvp(velocity, (t,), (one,))
    q, change = jax.jvp(attitude, (t,), (one,))
    rate = 2.0 * multiply(q * jnp.array([1.0, -1.0, -1.0, -1.0]), change)[1:]
    return position(t), q, _sensor(t), moving, acceleration, rate


@dataclass(frozen=True)
class Noise:
    """Errors of the sensors, SI; the walks are densities."""

    accelerometer: float = 2e-3
    gyroscope: float = 2e-4
    accelerometer_walk: float = 3e-4
    gyroscope_walk: float = 1e-5
    current_walk: float = 2e-3
    accelerometer_bias: float = 0.03
    gyroscope_bias: float = 1e-3
    current: float = 0.3
    gnss: float = 0.5
    gnss_velocity: float = 0.05
    dvl: float = 0.01
    depth: float = 0.05
    compass: float = 0.02


USUAL = Noise()


@dataclass(frozen=True)
class Voyage:
    """Truth and samples of a number of runs."""

    time: np.ndarray
    state: Any
    """NavState of the truth, (S, ..., N)."""
    origin: np.ndarray
    """(S, 3) of the vehicle's origin."""
    samples: np.ndarray
    """(S, 6, N) in the IMU's axes."""
    start: Estimate
    feeds: dict[str, Feed]


def sail(
    seed: str,
    duration: float,
    runs: int,
    dt: float = 0.02,
    noise: Noise = USUAL,
    water_lock: bool = False,
    start: tuple[float, float, float] = (1.0, 0.2, 0.03),
) -> Voyage:
    """Go for `duration`; errors of the start: position, velocity, attitude."""
    rng = generator(7, seed)
    ticks = round(duration / dt) + 1
    t = dt * np.arange(ticks)
    parts = jax.jit(jax.vmap(kinematics))(jnp.asarray(t))
    origin, q, place, moving, acceleration, rate = (np.asarray(a) for a in parts)
    R = np.asarray(jnp.stack(jax.vmap(rotation)(jnp.asarray(q)), axis=1)).reshape(-1, 3, 3)

    def normal(*shape):
        return rng.normal(size=(*shape, runs))

    def walk(first, density):
        steps = density * np.sqrt(dt) * normal(ticks, 3)
        steps[0] = first * normal(3)
        return np.cumsum(steps, axis=0)

    bias_a = walk(noise.accelerometer_bias, noise.accelerometer_walk)
    bias_g = walk(noise.gyroscope_bias, noise.gyroscope_walk)
    current = walk(noise.current, noise.current_walk)
    force = np.einsum("sji,sj->si", R, acceleration - np.array([0, 0, GRAVITY]))
    felt = np.concatenate(
        [
            force[..., None] + bias_a + noise.accelerometer / np.sqrt(dt) * normal(ticks, 3),
            rate[..., None] + bias_g + noise.gyroscope / np.sqrt(dt) * normal(ticks, 3),
        ],
        axis=1,
    )
    mounted = matrix(IMU_TURN)
    samples = np.concatenate(
        [np.einsum("ji,sjn->sin", mounted, part) for part in (felt[:, :3], felt[:, 3:])], axis=1
    )
    truth = state.NavState(
        *(np.broadcast_to(a[..., None], (*a.shape, runs)) for a in (place, moving, q)),
        bias_a, bias_g, current, *[None] * 14, (), (), None, None,
    )  # fmt: skip

    def at(every, values):
        rows = np.arange(every, ticks, every)  # nothing at the first tick: the start is known
        full = np.zeros((ticks, values.shape[1], runs))
        full[rows] = values[rows]
        usable = np.zeros((ticks, runs), bool)
        usable[rows] = True
        return Feed(full, usable, np.zeros((ticks, runs)))

    def point(arm):
        return origin + np.einsum("sij,j->si", R, arm)

    def speed(arm):
        lever = np.cross(rate, np.array(arm) - np.array(IMU_ARM))
        return moving + np.einsum("sij,sj->si", R, lever)

    def batch(values):
        return np.broadcast_to(values[..., None], (*values.shape, runs))

    seen = np.concatenate([batch(point(ANTENNA)), batch(speed(ANTENNA))], axis=1)
    spread = np.array([noise.gnss] * 3 + [noise.gnss_velocity] * 3)[:, None]
    gnss = seen + spread * normal(ticks, 6)
    axes = np.einsum("sij,jk->sik", R, matrix(LOG_TURN))
    relative = batch(speed(LOG)) - (current if water_lock else 0.0)
    dvl = np.einsum("sik,sin->skn", axes, relative) + noise.dvl * normal(ticks, 3)
    lock = np.full((ticks, 1, runs), 2.0 if water_lock else 1.0)
    heading = np.arctan2(R[:, 1, 0], R[:, 0, 0])[:, None, None] + noise.compass * normal(ticks, 1)
    depth = batch(point(LOG)[:, 2:]) + noise.depth * normal(ticks, 1)
    feeds = {
        "gnss": at(round(1 / dt), gnss),
        "dvl": at(round(0.2 / dt), np.concatenate([dvl, lock], axis=1)),
        "depth": at(round(0.2 / dt), depth),
        "compass": at(round(0.5 / dt), heading),
    }
    turn = start[2] * normal(3)
    wrong = np.array(multiply(_small(turn), jnp.asarray(truth.attitude[0])))
    moved = truth.velocity[0] + start[1] * normal(3)
    there = truth.position[0] + start[0] * normal(3)
    tilted = np.array(jnp.stack(rotation(jnp.asarray(wrong)))).reshape(3, 3, runs)
    body = np.einsum("ijn,in->jn", tilted, moved) - np.cross(rate[0], IMU_ARM)[:, None]
    believed = Estimate(
        position=jnp.asarray(there - np.einsum("ijn,j->in", tilted, IMU_ARM)),
        attitude=jnp.asarray(wrong),
        velocity=jnp.asarray(np.concatenate([body, np.tile(rate[0][:, None], runs)])),
        current=jnp.zeros((3, runs)),
    )
    return Voyage(t, truth, origin, samples, believed, feeds)


def _small(turn):
    half = 0.5 * np.linalg.norm(turn, axis=0)
    return jnp.asarray(np.concatenate([np.cos(half)[None], turn * np.sinc(half / np.pi) / 2]))


NEVER = 2**30


def judged(gate: float, *groups: int, patience: int = 1000, **changed: float) -> Judgement:
    """Gates of this probability, and nothing that isolates a sensor but outliers."""
    usual = {
        "lasting": [np.inf] * len(groups),
        "fading": 0.9,
        "back": 5,
        "patience": patience,
        "haste": patience,
        "few": 3,
        "unstated": 0.0,
        "still": NEVER,
        "stale": np.inf,
        "silence": 1e9,
    }
    values = {"threshold": [threshold(n, gate) for n in groups]} | usual | changed
    return Judgement(**{name: jnp.asarray(value) for name, value in values.items()})


def slow(*errors: tuple[float, float]) -> Slow:
    """Gauss–Markov errors of a deviation and a correlation time."""
    sigma, time = np.array(errors).reshape(-1, 2).T
    return Slow(jnp.asarray(sigma), jnp.asarray(1 / time), jnp.asarray(sigma * np.sqrt(2 / time)))


def matched(
    aids: tuple[str, ...],
    noise: Noise = USUAL,
    start: tuple[float, float, float] = (1.0, 0.2, 0.03),
    gate: float = 1.0,
    current: bool = True,
) -> state.Filter:
    """The filter that knows all of this; a gate of probability 1 lets everything in."""

    def arm(where):
        return jnp.asarray(np.array(where) - np.array(IMU_ARM))

    def same(value):
        return jnp.full(3, value)

    known = {
        "gnss": Fix(
            arm(ANTENNA),
            same(noise.gnss),
            same(noise.gnss_velocity),
            judged(gate, 3, 3),
            slow(),
        ),
        "dvl": BodyVelocity(
            arm(LOG),
            jnp.asarray(matrix(LOG_TURN).ravel()),
            same(noise.dvl),
            same(noise.dvl),
            judged(gate, 3),
            slow(),
            axes=(0, 1, 2),
            lock=3,
        ),
        "depth": Depth(
            arm(LOG),
            jnp.asarray(0.0),
            jnp.asarray(1.0),
            jnp.asarray(noise.depth),
            judged(gate, 1),
            slow(),
            component=0,
        ),
        "compass": Heading(
            jnp.eye(3).ravel(),
            jnp.asarray(0.0),
            jnp.asarray(0.0),
            jnp.asarray(noise.compass),
            judged(gate, 1),
            slow(),
        ),
    }
    deviation = [start[0]] * 3 + [start[1]] * 3 + [start[2]] * 3
    deviation += [noise.accelerometer_bias] * 3 + [noise.gyroscope_bias] * 3
    deviation += [noise.current if current else 1e-6] * 3 + [1e-7] * 18
    return state.Filter(
        arm=jnp.asarray(IMU_ARM),
        matrix=jnp.asarray(matrix(IMU_TURN).ravel()),
        accelerometer_noise=jnp.asarray(noise.accelerometer),
        gyroscope_noise=jnp.asarray(noise.gyroscope),
        rate_noise=jnp.asarray(noise.gyroscope / np.sqrt(0.02)),
        gyroscope_pulled=jnp.asarray(0.0),
        lull=jnp.asarray(1),
        still=jnp.asarray(NEVER),
        stuck=jnp.full(6, NEVER),
        accelerometer_walk=jnp.asarray(noise.accelerometer_walk),
        gyroscope_walk=jnp.asarray(noise.gyroscope_walk),
        current_walk=same(noise.current_walk if current else 0.0),
        deviation=jnp.asarray(deviation),
        aids=tuple(known[name] for name in aids),
    )


def errors(voyage: Voyage, state: Any, rows: np.ndarray) -> np.ndarray:
    """True errors (B, 18, N) of filter states at these ticks."""
    true = voyage.state
    parts = [
        getattr(true, name)[rows] - np.asarray(getattr(state, name))
        for name in ("position", "velocity")
    ]
    turned = jnp.moveaxis(jnp.asarray(true.attitude[rows]), 0, -1)
    believed = jnp.moveaxis(jnp.asarray(state.attitude), 0, -1)
    parts.append(np.moveaxis(np.asarray(attitude_error(turned, believed)), -1, 0))
    parts += [
        getattr(true, name)[rows] - np.asarray(getattr(state, name))
        for name in ("accelerometer_bias", "gyroscope_bias", "current")
    ]
    return np.concatenate(parts, axis=1)


def filtered(
    voyage: Voyage, filter: Any, aids: tuple[str, ...], every: int = 50, dt: float = 0.02
) -> tuple[offline.Solution, np.ndarray]:
    """The track of a filter, and the ticks at which it is reported."""
    feeds = jax.tree.map(jnp.asarray, tuple(voyage.feeds[name] for name in aids))
    samples = jnp.asarray(voyage.samples)
    valid = jnp.ones((samples.shape[0], samples.shape[2]), bool)
    track = offline.run(filter, voyage.start, samples, valid, dt, feeds, every=every)
    return track, np.arange(every - 1, len(voyage.time) // every * every, every)
