"""A boat with every kind of sensor and some faults, an AUV with two IMUs; samples of formulas."""

import dataclasses

import numpy as np
import record_frames as rf

from seatrial.engine.frames import frames_of
from seatrial.signals import FaultInfo, Measurements, SensorInfo

TURNED = tuple(rf.quaternion(0.1, -0.2, 0.7).tolist())
LATENCY = 0.0173


def sensor(name, rate, deviation, **facts):
    """A sensor whose name begins with its type."""
    kind = name.rstrip("0123456789")
    components, units = zip(*COMPONENTS[kind], strict=True)
    place = (0.4, -0.3, 0.2)
    facts = {k: tuple(v) for k, v in facts.items()}
    return SensorInfo(name, kind, components, units, tuple(deviation), rate, place, TURNED, facts)


def vector(name, unit, axes="xyz"):
    return [(f"{name}_{axis}", unit) for axis in axes]


PLACE = [("north", "m"), ("east", "m"), ("down", "m")]
COMPONENTS = {
    "imu": vector("acceleration", "m s-2") + vector("angular_velocity", "rad s-1"),
    "ahrs": vector("orientation", "1", "wxyz") + vector("angular_velocity", "rad s-1"),
    "compass": [("heading", "rad")],
    "magnetometer": vector("field", "T"),
    "gnss": [*PLACE, *vector("velocity", "m s-1", ("north", "east", "down")), ("fix", "1")],
    "uwb": [*PLACE, *vector("range", "m", "12345")],
    "pressure": [("pressure", "Pa"), ("depth", "m")],
    "dvl": [
        *vector("velocity", "m s-1"),
        ("altitude", "m"),
        *vector("range", "m", "1234"),
        ("lock", "1"),
    ],
    "speed_log": [("speed_x", "m s-1"), ("speed_y", "m s-1")],
    "anemometer": [("speed", "m s-1"), ("angle", "rad")],
    "ctd": [
        ("conductivity", "S m-1"),
        ("temperature", "degree_Celsius"),
        ("pressure", "Pa"),
        ("salinity", "1e-3"),
        ("sound_speed", "m s-1"),
    ],
    "encoder": [("angle", "rad")],
    "shaft": [("speed", "rev s-1")],
    "battery": [("voltage", "V"), ("current", "A"), ("power", "W"), ("charge", "1")],
    "hydrophone": [("level", "Pa")],
}
SENSORS = (
    sensor("imu", 50.0, (0.01,) * 3 + (0.002,) * 3),
    sensor("ahrs", 20.0, (0.01,) * 7, attitude_deviation=(0.01, 0.01, 0.03)),
    sensor("compass", 10.0, (0.02,)),
    sensor("magnetometer", 10.0, (1e-7,) * 3),
    sensor("gnss", 5.0, (0.8, 0.9, 1.7, 0.05, 0.06, 0.1, 0.0)),
    sensor("uwb", 4.0, (0.1, 0.2, 0.3, *(0.05,) * 5)),
    sensor("pressure", 10.0, (30.0, 0.003)),
    sensor("dvl", 4.0, (0.003, 0.003, 0.001, *(0.0,) * 6)),
    sensor("speed_log", 5.0, (0.01, 0.02)),
    sensor("anemometer", 2.0, (0.1, 0.02)),
    sensor("ctd", 1.0, (1e-4, 1e-3, 10.0, 0.0, 0.0)),
    sensor("encoder", 10.0, (0.001,)),
    sensor("shaft", 10.0, (0.1,)),
    sensor("battery", 1.0, (0.01, 0.1, 0.0, 0.0), capacity_C=(36000.0,)),
    sensor("hydrophone", 10.0, (0.1,)),
)
FAULTS = (
    FaultInfo("imu: freeze", "imu", "freeze"),
    FaultInfo("port: runaway", "port", "runaway"),
    FaultInfo("imu: bias jump", "imu", "bias_jump"),
    FaultInfo("gnss: dropout", "gnss", "dropout"),
)
BOAT = dataclasses.replace(rf.BOAT, sensors=SENSORS, faults=FAULTS)
AUV = dataclasses.replace(
    rf.AUV, sensors=(sensor("imu", 25.0, (0.0,) * 6), sensor("imu2", 10, (0.0,) * 6))
)
DURATION = 6.0


def measure(info, seed, duration=DURATION, lost=True):
    """Samples of formulas, each with a latency of its own; some are lost, some distorted."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(duration * info.rate) + 1) / info.rate
    count = len(time)
    values = rng.normal(size=(count, len(info.components)))
    column = {name: i for i, name in enumerate(info.components)}
    valid = rng.uniform(size=count) < (0.8 if lost else 2.0)
    fault = np.zeros(count, np.int32)
    if info.type == "ahrs":
        values[:, :4] = rf.quaternion(*rng.uniform(-1.5, 1.5, (3, count)))
    if info.type == "compass":
        values[:, 0] = rng.uniform(0.0, 2.0 * np.pi, count)
        values[:3, 0] = (0.0, 1e-12, np.nextafter(2.0 * np.pi, 0.0))
    if info.type == "anemometer":
        values[:, 0] = np.abs(values[:, 0]) * (rng.uniform(size=count) < 0.8)
    if info.type in ("gnss", "uwb"):
        values[:, :3] *= (3000.0, 3000.0, 20.0)
    if info.type == "gnss":
        values[:, column["fix"]] = rng.integers(1, 5, count)
        under = (time > 1.0) & (time < 2.0)  # under water: no fix
        values[under] = 0.0
        valid[under] = False
        fault[time > 5.0] = 8
    if info.type == "dvl":
        values[:, column["lock"]] = rng.integers(0, 3, count)
    if info.type == "imu" and info.rate == 50.0:
        fault = np.where(time > 1.0, 1, 0) + np.where(time > 3.0, 4, 0)
    late = np.maximum.accumulate(time + LATENCY * rng.uniform(0.5, 1.5, count))
    return Measurements(time, late, values, valid, fault.astype(np.int32))


def whole_run(vehicles=(BOAT, AUV)):
    run = rf.frames(vehicles, DURATION)
    taken = {
        v.name: {s.name: measure(s, 100 * i + k) for k, s in enumerate(v.sensors)}
        for i, v in enumerate(vehicles)
    }
    return frames_of(run.time, run.vehicles, taken)


def write(sink, run, vehicles=(BOAT, AUV), block=13, finished=True):
    sink.open(rf.header(vehicles, DURATION))
    for part in rf.blocks(run, block):
        sink.write(part)
    if finished:
        sink.close(rf.summary(vehicles, DURATION))
    return sink


def valid(run, name, vehicle="otter"):
    samples = run.measurements[vehicle][name]
    return samples.cut(samples.valid)
