"""What a vehicle looks like, as URDF: its hull, or a box as large; a link for every sensor.

A URDF names the file of a mesh. The hull is therefore kept in the cache as binary STL, in the axes
of ROS, under a name of its content: who runs on this machine reads it there.
"""

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from seatrial import cache
from seatrial.engine.frames import HullShape, VehicleInfo
from seatrial.geometry.mesh import Mesh
from seatrial.ros.axes import swap_body, swap_mounting
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_topics import sensor_names
from seatrial.ros.topics import body_frame

STRING = "std_msgs/msg/String"
DESCRIPTION = "robot_description"


def build_description(
    f: MessageFactory, vehicle: VehicleInfo, namespace: str, hull: HullShape | None
) -> Message:
    """std_msgs/String with the URDF of a vehicle, as RViz takes it from a latched topic."""
    file = None
    if hull is not None:
        mesh = Mesh(swap_body(hull.mesh.vertices), hull.mesh.faces)
        file = cache.lay_out("hull", ".stl", stl(mesh))
    return f.make(STRING, urdf(vehicle, namespace, file))


def urdf(vehicle: VehicleInfo, namespace: str, hull: Path | None = None) -> str:
    """Frames are those of `/tf` and `/tf_static`; forward, left, up."""
    body = quoteattr(body_frame(namespace))
    shape = f'<box size="{vehicle.length:g} {vehicle.beam:g} {vehicle.height:g}"/>'
    if hull is not None:
        shape = f"<mesh filename={quoteattr(hull.as_uri())}/>"
    lines = [
        f"<robot name={quoteattr(namespace)}>",
        f"  <link name={body}>",
        f"    <visual><geometry>{shape}</geometry></visual>",
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


def stl(mesh: Mesh) -> bytes:
    """Binary STL: 80 bytes, the number of triangles, then normal, corners and a spare number."""
    rows = np.zeros(len(mesh.faces), [("numbers", "<f4", (4, 3)), ("spare", "<u2")])
    rows["numbers"][:, 0] = mesh.normals
    rows["numbers"][:, 1:] = mesh.vertices[mesh.faces]
    return bytes(80) + len(rows).to_bytes(4, "little") + rows.tobytes()


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
