"""Positioning sensors built from a description and shown one instant after another."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from seatrial.compile.sensors import position
from seatrial.compile.sensors.context import Context
from seatrial.compile.surroundings.world import build_ocean
from seatrial.core.types import State
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws as drawing
from seatrial.sensors.sensor import Mount
from seatrial.spec.sensors import position as spec
from seatrial.spec.world import World

KINDS = {
    "gnss": spec.Gnss,
    "uwb": spec.Uwb,
    "compass": spec.Compass,
    "ahrs": spec.Ahrs,
    "magnetometer": spec.Magnetometer,
}
BASIN = [[-8.0, -5.0, -2.5], [-8.0, 5.0, -2.0], [8.0, 5.0, -3.0], [8.0, -5.0, -2.2]]
"""Anchors at the corners of a wave basin, as in the basin where the Sookshma vessel sailed."""
NEEDS = {"uwb": {"anchors": BASIN}}
"""What a description must name."""
ODD = {"position": [0.4, -0.3, -0.5], "roll_deg": 20.0, "pitch_deg": -35.0, "yaw_deg": 110.0}
"""A mounting off the origin at an odd angle."""


def describe(kind, rate=1.0, **given):
    name = {"type": kind, "name": kind, "rate": rate}
    return KINDS[kind].model_validate(name | NEEDS.get(kind, {}) | given)


def mounting(described):
    """Rotation from sensor to body axes."""
    return Rotation.from_euler("ZYX", [described.yaw, described.pitch, described.roll])


def build(kind, *, rate=1.0, dtype=jnp.float64, latitude=0.0, **given):
    """The sensor of a description and what readers are told about it."""
    described = describe(kind, rate, **given)
    context = Context(
        mount=Mount(
            position=jnp.asarray(described.position, dtype),
            matrix=jnp.asarray(mounting(described).as_matrix().ravel(), dtype),
        ),
        dtype=np.dtype(dtype),
        period=1.0 / rate,
        ocean=calm(),
        vehicle=None,
        channels=(),
        datum=(latitude, 0.0),
    )
    return getattr(position, kind)(described, context)


def ocean(dtype=jnp.float64, **world):
    return build_ocean(World.model_validate({"kind": "world", "name": "sea"} | world), 0, dtype)


@functools.cache
def calm():
    return ocean()


def state(places, turns=None, velocity=None, dtype=jnp.float64):
    """Vehicles at `places` (3, N) with attitudes `turns` and body velocities (6, N)."""
    places = np.asarray(places, float)
    count = places.shape[1]
    turns = Rotation.identity(count) if turns is None else turns
    velocity = np.zeros((6, count)) if velocity is None else velocity
    attitude = turns.as_quat()[:, [3, 0, 1, 2]].T
    parts = (places, attitude, velocity, np.zeros((0, count)))
    return State(*(jnp.asarray(p, dtype) for p in parts))


def look(seen, sea=None, t=0.0):
    return Look(None, sea or calm(), seen, jnp.asarray(t, jnp.float64))


def begin(sensor, count, draws=None):
    shape = (sensor.starting_draws, count)
    return sensor.begin(jnp.zeros(shape) if draws is None else draws)


def once(sensor, seen, sea=None, t=0.0, draws=None):
    """One sample, first of all, with the random numbers given; all zero without."""
    count = seen.position.shape[1]
    memory = begin(sensor, count)
    draws = jnp.zeros((sensor.draws, count), seen.position.dtype) if draws is None else draws
    return jax.jit(lambda m, s, d: sensor.measure(m, look(s, sea, t), d))(memory, seen, draws)


def series(sensor, places, *, sea=None, dt=1.0, keys=None, noise=None, turns=None):
    """Samples of vehicles that are taken along `places` (S, 3, N): values (S, D, N), valid (S, N).

    With `keys` (2, N) their random numbers are those of a run; without, they are `noise` or zero.
    """
    places = jnp.asarray(places)
    samples, _, count = places.shape
    still = state(np.zeros((3, count)), turns)
    if keys is None:
        memory = begin(sensor, count)
        noise = jnp.zeros((samples, sensor.draws, count)) if noise is None else jnp.asarray(noise)
    else:
        at = [jnp.int64(drawing.START), jnp.int64(drawing.START + 1)]
        start = drawing.normal(keys, at[0], 1, sensor.starting_draws, np.dtype(float))
        memory = begin(sensor, count, start[0])
        noise = drawing.normal(keys, at[1], samples, sensor.draws, np.dtype(float))

    def sample(memory, given):
        place, drawn, t = given
        seen = State(place, still.attitude, still.velocity, still.actuators)
        reading = sensor.measure(memory, Look(None, sea or calm(), seen, t), drawn)
        return reading.memory, (reading.values, reading.valid)

    t = dt * jnp.arange(samples, dtype=jnp.float64)
    _, (values, valid) = jax.jit(lambda m, g: jax.lax.scan(sample, m, g))(
        memory, (places, noise, t)
    )
    return np.asarray(values), np.asarray(valid)


def keys(count, seed=1):
    """Streams of `count` vehicles."""
    return jnp.asarray(
        np.stack([drawing.key(seed, f"sensor/{i}/test") for i in range(count)], axis=-1)
    )


def random_states(count, seed=7, spread=20.0):
    """Vehicles anywhere, turned anyhow, moving and spinning."""
    rng = np.random.default_rng(seed)
    turns = Rotation.random(count, random_state=rng)
    velocity = np.concatenate([rng.normal(0, 2, (3, count)), rng.normal(0, 1, (3, count))])
    places = rng.uniform(-spread, spread, (3, count))
    return places, turns, velocity
