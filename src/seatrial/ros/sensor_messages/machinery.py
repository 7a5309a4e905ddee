"""Messages of sensors on machinery."""

import numpy as np

from seatrial.ros.layout import Message, MessageFactory
from seatrial.ros.sensor_messages.common import Samples, SensorTopic
from seatrial.ros.topics import JOINT_STATE, named_numbers


def encoder(sensor: SensorTopic) -> list[Samples]:
    """A joint's position, with the sign of the actuator channel."""

    def build(f: MessageFactory) -> Message:
        return named_numbers(f, sensor.frame, [sensor.info.name])

    return [sensor.publish("", JOINT_STATE, ["angle"], build)]


def shaft(sensor: SensorTopic) -> list[Samples]:
    """A joint's velocity is in rad/s."""

    def build(f: MessageFactory) -> Message:
        none = np.empty(0)
        velocity = np.array([f.slot()])
        return f.make(JOINT_STATE, f.header(sensor.frame), [sensor.info.name], none, velocity, none)

    turn = 2.0 * np.pi
    return [
        sensor.publish(
            "", JOINT_STATE, ["speed"], build, lambda v: v * turn, back=lambda v: v / turn
        )
    ]


def battery(sensor: SensorTopic) -> list[Samples]:
    """In ROS a current is negative while the battery gives it."""
    names, typename = ["voltage", "current", "charge"], "sensor_msgs/msg/BatteryState"
    discharging, good, unknown = 2, 1, 0
    unmeasured, none = float("nan"), np.empty(0, np.float32)
    signs = np.array([1.0, -1.0, 1.0])
    ampere_hours = sensor.info.facts["capacity_C"][0] / 3600.0

    def build(f: MessageFactory) -> Message:
        return f.make(
            typename,
            f.header(sensor.frame),
            f.short_slot(),  # voltage
            unmeasured,  # temperature
            f.short_slot(),  # current
            unmeasured,  # charge, A h
            unmeasured,  # capacity
            ampere_hours,  # design capacity
            f.short_slot(),  # percentage, which is a share
            discharging,
            good,
            unknown,  # technology
            True,
            none,  # voltage of the cells
            none,  # their temperature
            sensor.info.name,
            "",
        )

    return [
        sensor.publish("", typename, names, build, lambda v: v * signs),
        sensor.publish_numbers("/power", ["power"]),
    ]
