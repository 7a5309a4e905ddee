"""Messages of sensors that feel water and air."""

from dataclasses import replace

import numpy as np

from seatrial.ros.axes import swap_body
from seatrial.ros.definitions import DVL
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_messages.common import (
    TWIST,
    UNMEASURED,
    Samples,
    SensorTopic,
    diagonal,
    fluid_pressure,
    no_vector,
    twist,
    xyz,
)
from seatrial.ros.topics import VECTOR


def dvl(sensor: SensorTopic) -> list[Samples]:
    """Velocity in the sensor's axes, the altitude, and the four beams with the kind of lock.

    The covariance of the velocity is that of the lock in force.
    """
    names = xyz("velocity")
    ground = sensor.variances(*names)
    water = np.square(sensor.info.facts.get("water_deviation", np.sqrt(ground)))

    def moving(f: MessageFactory) -> Message:
        mean = f.make("geometry_msgs/msg/Twist", f.xyz(VECTOR), no_vector(f))
        spread = diagonal(*ground, *[UNMEASURED] * 3)
        spread[[0, 7, 14]] = [f.slot() for _ in range(3)]
        return f.make(
            TWIST,
            f.header(sensor.frame),
            f.make("geometry_msgs/msg/TwistWithCovariance", mean, spread),
        )

    def there(v: Array) -> Array:
        return np.hstack([swap_body(v[:, :3]), np.where(v[:, 3:] > 1.5, water, ground)])

    velocity = sensor.publish("", TWIST, [*names, "lock"], moving, there, slots=6)
    return [
        replace(
            velocity,
            unpack=lambda numbers: dict(zip(names, swap_body(numbers[:, :3]).T, strict=True)),
        ),
        _sounding(sensor, "/altitude", "altitude", 0.0, (0.0, float("inf"))),
        sensor.publish_numbers("/beams", [*sensor.numbered("range"), "lock"]),
        _dvl_ping(sensor, names, ground, water),
    ]


def _dvl_ping(sensor: SensorTopic, names: list[str], ground: list[float], water: Array) -> Samples:
    """All of it once more in the message that drivers of Doppler logs send, in the axes of the
    sensor's frame. The sound speed and the velocities by beam are not told."""
    ranges = sensor.numbered("range")
    unknown = np.full(len(ranges), -1.0, np.float32)
    facts = sensor.info.facts

    def ping(f: MessageFactory) -> Message:
        mode = f.byte_slot()
        velocity = f.xyz(VECTOR)
        spread = np.zeros(9)
        spread[[0, 4, 8]] = [f.slot() for _ in range(3)]
        altitude, course, speed = (f.slot() for _ in range(3))
        good = f.byte_slot()
        beams = [
            f.make(VECTOR, *swap_body(np.array([facts.get(name, (0.0,) * 3)]))[0].tolist())
            for name in (f"beam_{k + 1}" for k in range(len(ranges)))
        ]
        lengths = np.array([f.slot() for _ in ranges])
        return f.make(
            *(DVL, f.header(sensor.frame), mode, 0, velocity, spread, altitude, course, speed),
            *(good, float("nan"), True, False, beams, lengths),
            *(unknown, np.zeros(len(ranges), np.float32), np.zeros(len(ranges), np.float32)),
            unknown,
        )

    def there(v: Array) -> Array:
        moving, altitude, lengths, lock = np.split(v, [3, 4, 4 + len(ranges)], axis=1)
        ahead = swap_body(moving)
        return np.hstack(
            [
                np.clip(np.rint(lock), 0.0, 2.0),
                ahead,
                np.where(lock > 1.5, water, ground),
                altitude,
                np.arctan2(ahead[:, 1:2], ahead[:, :1]),
                np.hypot(ahead[:, 1:2], ahead[:, :1]),
                np.sum(np.isfinite(lengths) & (lengths > 0.0), axis=1, keepdims=True),
                lengths,
            ]
        )

    every = [*names, "altitude", *ranges, "lock"]
    told = sensor.publish("/ping", DVL, every, ping, there, slots=11 + len(ranges))
    return replace(told, unpack=None)  # the other topics keep all of it


def altimeter(sensor: SensorTopic) -> list[Samples]:
    """The range of the bottom."""
    (width,), (nearest, farthest) = sensor.info.facts["beamwidth"], sensor.info.facts["limits"]
    return [_sounding(sensor, "", "range", width, (nearest, farthest))]


def _sounding(
    sensor: SensorTopic, suffix: str, name: str, width: float, limits: tuple[float, float]
) -> Samples:
    """A range by sound as ROS has it."""
    typename, sound = "sensor_msgs/msg/Range", 0

    def build(f: MessageFactory) -> Message:
        return f.make(typename, f.header(sensor.frame), sound, width, *limits, f.short_slot())

    return sensor.publish(suffix, typename, [name], build)


def speed_log(sensor: SensorTopic) -> list[Samples]:
    """Velocity through the water."""
    names = ["speed_x", "speed_y"]
    flip = np.array([1.0, -1.0])
    build = twist(sensor, sensor.frame, *names)
    return [sensor.publish("", TWIST, names, build, lambda v: v * flip)]


def anemometer(sensor: SensorTopic) -> list[Samples]:
    """The apparent wind as the vector in which the air moves past the sensor, and as it is read:
    the vector of a calm has no direction."""
    names, typename = ["speed", "angle"], "geometry_msgs/msg/Vector3Stamped"

    def build(f: MessageFactory) -> Message:
        return f.make(typename, f.header(sensor.frame), f.xyz(VECTOR))

    def blow(v: Array) -> Array:
        speed, origin = v.T
        where_from = np.column_stack([np.cos(origin), np.sin(origin), np.zeros(len(v))])
        return swap_body(-speed[:, None] * where_from)

    vector = sensor.publish("", typename, names, build, blow, slots=3)
    return [replace(vector, unpack=None), sensor.publish_numbers("/reading", names)]


def ctd(sensor: SensorTopic) -> list[Samples]:
    """Temperature and pressure have messages of their own; the rest are named numbers."""
    (variance,) = sensor.variances("temperature")
    typename = "sensor_msgs/msg/Temperature"

    def build(f: MessageFactory) -> Message:
        return f.make(typename, f.header(sensor.frame), f.slot(), variance)

    return [
        sensor.publish_numbers("", ["conductivity", "salinity", "sound_speed"]),
        sensor.publish("/temperature", typename, ["temperature"], build),
        fluid_pressure(sensor, "/pressure"),
    ]
