"""Messages of inertial sensors and compasses."""

import numpy as np

from seatrial.ros.axes import swap_attitude, swap_body
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_messages.common import (
    UNMEASURED,
    Samples,
    SensorTopic,
    diagonal,
    no_turn,
    no_vector,
    xyz,
)
from seatrial.ros.topics import VECTOR, quaternion

_IMU = "sensor_msgs/msg/Imu"
_ABSENT = np.array([-1.0, *[0.0] * 8])
"""Covariance by which an Imu message says that it holds no such measurement."""


def imu(sensor: SensorTopic) -> list[Samples]:
    """Specific force and rate, without an orientation."""
    rates, forces = xyz("angular_velocity"), xyz("acceleration")

    def build(f: MessageFactory) -> Message:
        return f.make(
            _IMU,
            f.header(sensor.frame),
            no_turn(f),
            _ABSENT,
            f.xyz(VECTOR),
            diagonal(*sensor.variances(*rates)),
            f.xyz(VECTOR),
            diagonal(*sensor.variances(*forces)),
        )

    def swap(v: Array) -> Array:
        return np.hstack([swap_body(v[:, :3]), swap_body(v[:, 3:])])

    return [sensor.publish("", _IMU, [*rates, *forces], build, swap)]


def ahrs(sensor: SensorTopic) -> list[Samples]:
    """Orientation and rate, without a specific force."""
    turns, rates = [f"orientation_{part}" for part in "wxyz"], xyz("angular_velocity")
    angles = [angle**2 for angle in sensor.info.facts["attitude_deviation"]]

    def build(f: MessageFactory) -> Message:
        return f.make(
            _IMU,
            f.header(sensor.frame),
            quaternion(f),
            diagonal(*angles),  # of roll, pitch and yaw
            f.xyz(VECTOR),
            diagonal(*sensor.variances(*rates)),
            no_vector(f),
            _ABSENT,
        )

    def there(v: Array) -> Array:
        return np.hstack([np.roll(swap_attitude(v[:, :4]), -1, axis=-1), swap_body(v[:, 4:])])

    def back(v: Array) -> Array:
        return np.hstack([swap_attitude(np.roll(v[:, :4], 1, axis=-1)), swap_body(v[:, 4:])])

    return [sensor.publish("", _IMU, [*turns, *rates], build, there, back)]


def compass(sensor: SensorTopic) -> list[Samples]:
    """An Imu message of the heading alone, level: stamped, with a variance, and what estimators
    take a heading from; a bare Float64 in degrees has neither. Yaw counts from east, as in ROS."""
    (variance,) = sensor.variances("heading")

    def build(f: MessageFactory) -> Message:
        return f.make(
            _IMU,
            f.header(sensor.frame),
            quaternion(f),
            diagonal(UNMEASURED, UNMEASURED, variance),
            no_vector(f),
            _ABSENT,
            no_vector(f),
            _ABSENT,
        )

    def there(v: Array) -> Array:
        half, zero = 0.5 * v[:, 0], np.zeros(len(v))
        level = np.column_stack([np.cos(half), zero, zero, np.sin(half)])
        return np.roll(swap_attitude(level), -1, axis=-1)

    def back(v: Array) -> Array:
        w, _, _, z = swap_attitude(np.roll(v, 1, axis=-1)).T
        heading = np.mod(2.0 * np.arctan2(z, w), 2.0 * np.pi)
        return np.where(heading < 2.0 * np.pi, heading, 0.0)[:, None]  # rounding may give 2π

    return [sensor.publish("", _IMU, ["heading"], build, there, back, slots=4)]


def magnetometer(sensor: SensorTopic) -> list[Samples]:
    """The field in the sensor's axes, T."""
    names, typename = xyz("field"), "sensor_msgs/msg/MagneticField"

    def build(f: MessageFactory) -> Message:
        covariance = diagonal(*sensor.variances(*names))
        return f.make(typename, f.header(sensor.frame), f.xyz(VECTOR), covariance)

    return [sensor.publish("", typename, names, build, swap_body)]
