"""What a vehicle looks like, as URDF: its hull as a box, a link for every sensor."""

from xml.sax.saxutils import quoteattr

import numpy as np

from seatrial.engine.frames import VehicleInfo
from seatrial.ros.axes import swap_body, swap_mounting
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_topics import sensor_names
from seatrial.ros.topics import body_frame

STRING = "std_msgs/msg/String"
DESCRIPTION = "robot_description"


def build_description(f: MessageFactory, vehicle: VehicleInfo, namespace: str) -> Message:
    """std_msgs/String with the URDF of a vehicle, as RViz takes it from a latched topic."""
    return f.make(STRING, urdf(vehicle, namespace))


def urdf(vehicle: VehicleInfo, namespace: str) -> str:
    """Frames are those of `/tf` and `/tf_static`; forward, left, up."""
    body = quoteattr(body_frame(namespace))
    lines = [
        f"<robot name={quoteattr(namespace)}>",
        f"  <link name={body}>",
        "    <visual><geometry>"
        f'<box size="{vehicle.length:g} {vehicle.beam:g} {vehicle.height:g}"/>'
        "</geometry></visual>",
        "  </link>",
    ]
    names = sensor_names(vehicle, namespace)
    for sensor in vehicle.sensors:
        link = quoteattr(f"{namespace}/{names[sensor.name]}")
        place = _numbers(swap_body(np.array(sensor.position)))
        turn = _numbers(_roll_pitch_yaw(swap_mounting(np.array(sensor.orientation))))
        lines += [
            f"  <link name={link}/>",
            f'  <joint name={quoteattr(f"{names[sensor.name]}_mounting")} type="fixed">',
            f"    <parent link={body}/>",
            f"    <child link={link}/>",
            f'    <origin xyz="{place}" rpy="{turn}"/>',
            "  </joint>",
        ]
    return "\n".join([*lines, "</robot>", ""])


def _numbers(values: Array) -> str:
    return " ".join(f"{value + 0.0:.9g}" for value in values)  # no minus zero


def _roll_pitch_yaw(quaternion: Array) -> Array:
    w, x, y, z = quaternion
    return np.array(
        [
            np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
            np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0)),
            np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        ]
    )
