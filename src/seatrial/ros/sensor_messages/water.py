"""Messages of sensors that feel water and air."""

from dataclasses import replace

import numpy as np

from seatrial.ros.axes import swap_body
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_messages.common import (
    TWIST,
    Samples,
    Sensor,
    fluid_pressure,
    twist,
    xyz,
)
from seatrial.ros.topics import VECTOR


def dvl(sensor: Sensor) -> list[Samples]:
    """Velocity in the sensor's axes, the altitude, and the four beams with the kind of lock."""
    names, typename = xyz("velocity"), "sensor_msgs/msg/Range"

    def build(f: MessageFactory) -> Message:
        sound, narrow, nearest, farthest = 0, 0.0, 0.0, float("inf")
        head = f.header(sensor.frame)
        return f.make(typename, head, sound, narrow, nearest, farthest, f.short_slot())

    return [
        sensor.publish("", TWIST, names, twist(sensor, sensor.frame, *names), swap_body),
        sensor.publish("/altitude", typename, ["altitude"], build),
        sensor.publish_numbers("/beams", [*sensor.numbered("range"), "lock"]),
    ]


def speed_log(sensor: Sensor) -> list[Samples]:
    """Velocity through the water."""
    names = ["speed_x", "speed_y"]
    flip = np.array([1.0, -1.0])
    build = twist(sensor, sensor.frame, *names)
    return [sensor.publish("", TWIST, names, build, lambda v: v * flip)]


def anemometer(sensor: Sensor) -> list[Samples]:
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


def ctd(sensor: Sensor) -> list[Samples]:
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
