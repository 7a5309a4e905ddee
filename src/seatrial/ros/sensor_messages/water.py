"""Messages of sensors that feel water and air."""

from dataclasses import replace

import numpy as np

from seatrial.ros.axes import swap_body
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
    ]


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
