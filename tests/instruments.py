"""Short ways to build one sensor and to read it, without a run around it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import craft
from seatrial.compile.sensors import acoustic, cameras, machinery, optical, ranging, water
from seatrial.compile.sensors.context import Context
from seatrial.compile.vehicles.actuators import channels_of, expand
from seatrial.geometry.rays import RayScene
from seatrial.sensors.look import Look
from seatrial.sensors.noise import draws
from seatrial.sensors.sensor import Mount
from seatrial.spec.sensors import cameras as cameras_spec
from seatrial.spec.sensors import machinery as machinery_spec
from seatrial.spec.sensors import optical as optical_spec
from seatrial.spec.sensors import position as position_spec
from seatrial.spec.sensors import ranging as ranging_spec
from seatrial.spec.sensors import water as water_spec

BUILDERS = {
    "pressure": (water_spec.Pressure, water.pressure),
    "dvl": (water_spec.Dvl, water.dvl),
    "speed_log": (water_spec.SpeedLog, water.speed_log),
    "ctd": (water_spec.Ctd, water.ctd),
    "anemometer": (water_spec.Anemometer, water.anemometer),
    "encoder": (machinery_spec.Encoder, machinery.encoder),
    "shaft": (machinery_spec.Shaft, machinery.shaft),
    "battery": (machinery_spec.Battery, machinery.battery),
    "echo_sounder": (ranging_spec.EchoSounder, ranging.echo_sounder),
    "lbl": (position_spec.Lbl, acoustic.lbl),
    "usbl": (position_spec.Usbl, acoustic.usbl),
    "modem": (position_spec.Modem, acoustic.modem),
    "lidar": (optical_spec.Lidar, optical.lidar),
    "depth_camera": (cameras_spec.DepthCamera, cameras.depth_camera),
    "camera": (cameras_spec.Camera, cameras.camera),
    "thermal_camera": (cameras_spec.ThermalCamera, cameras.thermal_camera),
    "obstacle_sonar": (ranging_spec.ObstacleSonar, ranging.obstacle_sonar),
    "altimeter": (ranging_spec.Altimeter, ranging.altimeter),
}

BOAT = craft.vehicle(
    actuators=[
        {
            "kind": "thruster",
            "name": "screw",
            "thrust": {"model": "polynomial", "ahead": [0, 0, 1], "speed_limits": [-10, 20]},
        },
        {
            "kind": "thruster",
            "name": "pod",
            "azimuth": {},
            "thrust": {"model": "direct", "thrust_limits": [-50, 100]},
        },
        {"kind": "fin", "name": "rudder", "angle_limit": 0.6},
    ]
)
"""Its channels: screw (rev/s), pod (N), pod_angle (rad), rudder (rad)."""


def fit(
    kind,
    ocean=None,
    rate=10.0,
    dtype=np.float64,
    vehicle=BOAT,
    bottom="sand",
    rays=None,
    weather=None,
    numbers=None,
    modems=None,
    vehicle_name="",
    **described,
):
    """The built sensor of a type."""
    cls, build = BUILDERS[kind]
    spec = cls.model_validate({"type": kind, "name": kind, "rate": rate, **described})
    with jax.enable_x64(True):
        matrix = craft.euler_matrix(spec.roll, spec.pitch, spec.yaw)
        context = Context(
            mount=Mount(jnp.asarray(spec.position, dtype), jnp.asarray(matrix.ravel(), dtype)),
            dtype=np.dtype(dtype),
            period=1.0 / rate,
            ocean=ocean or craft.calm(),
            vehicle=vehicle,
            channels=tuple(channels_of(expand(vehicle.actuators))),
            datum=(0.0, 0.0),
            bottom=bottom,
            numbers=numbers,
            modems=modems or {},
            name=vehicle_name,
            rays=rays or RayScene(()),
            weather=weather,
        )
        return build(spec, context)


@functools.cache
def _body():
    return craft.compiled(craft.vehicle())


def state(position=(0, 0, 5.0), euler=(0, 0, 0), velocity=(0,) * 6, actuators=(0, 0, 0, 0), n=1):
    """`n` equal vehicles, or as many as the last axis of an entry counts."""

    def columns(values):
        values = [np.atleast_1d(np.asarray(v, np.float64)) for v in values]
        size = max(n, *(len(v) for v in values))
        return np.stack([np.broadcast_to(v, size) for v in values])

    parts = [columns(p) for p in (position, euler, velocity, actuators)]
    size = max(p.shape[1] for p in parts)
    position, euler, velocity, actuators = (np.broadcast_to(p, (len(p), size)) for p in parts)
    first = craft.state(_body(), position, euler, velocity)
    with jax.enable_x64(True):
        return first.__class__(
            first.position, first.attitude, first.velocity, jnp.asarray(actuators)
        )


def normal(count, n, seed=0, index=1):
    """(count, n) numbers of n streams, as a run draws them."""
    keys = np.stack([draws.key(seed, f"unit {i}") for i in range(n)], axis=-1)
    with jax.enable_x64(True):
        drawn = draws.normal(jnp.asarray(keys), jnp.int64(index), 1, count, np.dtype(np.float64))
    return drawn[0]


def read(built, ocean, at, t=0.0, drawn=None, memory=None):
    """One sample: (values (D, N), valid (N,), memory), NumPy; draws are 0 unless given."""
    with jax.enable_x64(True):
        sensor, n = built.sensor, at.position.shape[-1]
        if memory is None:
            memory = sensor.begin(jnp.zeros((sensor.starting_draws, n)))
        if drawn is None:
            drawn = jnp.zeros((sensor.draws, n))
        reading = sensor.measure(memory, look(ocean, at, t), drawn)
        return np.array(reading.values), np.array(reading.valid), reading.memory


def shapes(built, ocean, n=3, dtype=np.float64):
    """Memory before and after a sample, values and validity, as shapes and types alone."""
    with jax.enable_x64(True):
        sensor = built.sensor
        at = jax.tree.map(lambda a: a.astype(dtype), state(n=n))
        memory = jax.eval_shape(sensor.begin, jnp.zeros((sensor.starting_draws, n), dtype))
        reading = jax.eval_shape(
            lambda memory, drawn: sensor.measure(memory, look(ocean, at), drawn),
            memory,
            jnp.zeros((sensor.draws, n), dtype),
        )
        return memory, reading


def look(ocean, at, t=0.0):
    """What a sensor sees; nobody asks it for accelerations."""
    return Look(None, ocean, at, jnp.float64(t))


def record(built, ocean, states, drawn=None, starting=None):
    """Values (S, D, N) of consecutive samples of states with the samples on the first axis."""
    with jax.enable_x64(True):
        sensor, n = built.sensor, states.position.shape[-1]
        samples = states.position.shape[0]
        if drawn is None:
            drawn = jnp.zeros((samples, sensor.draws, n))

        def one(memory, inputs):
            at, noise = inputs
            reading = sensor.measure(memory, look(ocean, at), noise)
            return reading.memory, reading.values

        if starting is None:
            starting = jnp.zeros((sensor.starting_draws, n))
        memory = sensor.begin(starting)
        return np.array(jax.jit(lambda: jax.lax.scan(one, memory, (states, drawn))[1])())


def repeated(at, samples, **parts):
    """The state `samples` times, with some of its arrays given over time."""
    with jax.enable_x64(True):
        arrays = {
            name: jnp.asarray(parts[name])
            if name in parts
            else jax.tree.map(lambda a: jnp.broadcast_to(a, (samples, *a.shape)), value)
            for name, value in vars(at).items()
        }
        return type(at)(**arrays)
