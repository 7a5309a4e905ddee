"""Names and axes of topics: our own, and those of other simulators, whose users' programs then run
unchanged.

- `panisim` (thesis of the Sookshma vessel): `/VESSEL_00/odometry_sim`, `vessel_state`, `imu/data`,
  `uwb`, `gps`, `Rudder_1/encoder`; everything in NED and forward, starboard, down.
- `vrx` (Virtual RobotX): `/VESSEL/sensors/imu/imu/data`, `/VESSEL/sensors/gps/gps/fix`,
  `/VESSEL/sensors/position/ground_truth_odometry`; ENU and forward, left, up as everywhere in ROS.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seatrial.engine.frames import VehicleFrames, VehicleInfo, euler_angles
from seatrial.errors import Problem, SpecError
from seatrial.ros.axes import swap_attitude, swap_body, swap_world
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.topics import (
    ODOMETRY,
    UNKNOWN,
    Topic,
    body_frame,
    build_odometry,
)

ARRAY = "std_msgs/msg/Float64MultiArray"


@dataclass(frozen=True)
class Profile:
    """How topics are called."""

    name: str
    renamed: tuple[tuple[str, str], ...] = ()
    """Regular expressions of our names, and what they become."""
    numbered: bool = False
    """Whether every vehicle's namespace ends with a number of two digits."""
    north_east_down: bool = False
    """Whether odometry and sensors keep seatrial's axes."""

    def namespace(self, name: str) -> str:
        """Of a vehicle: `otter_0` of a swarm is `otter_00` there, and `otter` is so too."""
        if not self.numbered:
            return name
        counted = re.fullmatch(r"(.+)_(\d{1,2})", name)
        return f"{counted[1]}_{int(counted[2]):02d}" if counted else f"{name}_00"

    def topic(self, name: str) -> str:
        """Its name in this profile."""
        for pattern, becomes in self.renamed:
            if re.fullmatch(pattern, name):
                return re.sub(pattern, becomes, name)
        return name

    def sensor(self, topic: Topic[Any]) -> Topic[Any]:
        """A sensor's topic, in this profile's axes."""
        if not self.north_east_down:
            return topic
        if topic.typename.endswith("/Imu") and topic.slots == 6:
            turn = _each_vector(swap_body)
        elif topic.typename.endswith("/Imu") and topic.slots == 7:
            turn = _turned_attitude
        elif topic.typename.endswith("/PoseWithCovarianceStamped") and topic.slots == 3:
            turn = swap_world
        else:
            return topic
        return replace(topic, pack=lambda samples: turn(topic.pack(samples)))

    def extra(self, vehicle: VehicleInfo, namespace: str) -> list[Topic[VehicleFrames]]:
        """Topics that only this profile has, told of the present instant."""
        if not self.north_east_down:
            return []
        surfaces, thrusters = surfaces_and_thrusters(vehicle)
        body = body_frame(namespace)
        columns = [*surfaces, *thrusters]
        # As they are ordered: control surfaces in degrees, thrusters in revolutions per minute or,
        # where they are ordered in newtons, in those.
        units = {"rad": float(np.degrees(1.0)), "rev/s": 60.0, "N": 1.0}
        scale = np.array([units[vehicle.actuators[i].unit] for i in columns])
        return [
            Topic(
                f"/{namespace}/odometry_sim",
                ODOMETRY,
                13,
                lambda f: build_odometry(f, body, UNKNOWN),
                lambda v: np.hstack([v.position, np.roll(v.attitude, -1, axis=-1), v.velocity]),
                None,
            ),
            Topic(
                f"/{namespace}/vessel_state",
                ARRAY,
                12 + len(columns),
                lambda f: build_array(f, 12 + len(columns)),
                lambda v: np.hstack(
                    [
                        v.velocity,
                        v.position,
                        euler_angles(v.attitude),
                        v.actuators[:, columns] * scale,
                    ]
                ),
                None,
            ),
        ]


def surfaces_and_thrusters(vehicle: VehicleInfo) -> tuple[list[int], list[int]]:
    """Places of the channels that are angles, and of those that turn or push."""
    units = [a.unit for a in vehicle.actuators]
    surfaces = [i for i, unit in enumerate(units) if unit == "rad"]
    return surfaces, [i for i, unit in enumerate(units) if unit in ("rev/s", "N")]


def build_array(f: MessageFactory, count: int) -> Message:
    """std_msgs/Float64MultiArray of so many open numbers."""
    layout = f.make("std_msgs/msg/MultiArrayLayout", [], 0)
    return f.make(ARRAY, layout, np.array([f.slot() for _ in range(count)]))


def _turned_attitude(v: Array) -> Array:
    """A quaternion x y z w, then rates."""
    attitude = np.roll(swap_attitude(np.roll(v[:, :4], 1, axis=-1)), -1, axis=-1)
    return np.hstack([attitude, swap_body(v[:, 4:])])


def _each_vector(swap: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda v: np.hstack([swap(v[:, i : i + 3]) for i in range(0, v.shape[1], 3)])


PROFILES = {
    "seatrial": Profile("seatrial"),
    "panisim": Profile(
        "panisim",
        renamed=(
            (r"/(\w+)/imu", r"/\1/imu/data"),
            (r"/(\w+)/gnss", r"/\1/gps"),
            (r"/(\w+)/rudder_angle", r"/\1/Rudder_1/encoder"),
            (r"/(\w+)/(\w+)_angle", r"/\1/\2/encoder"),
        ),
        numbered=True,
        north_east_down=True,
    ),
    "vrx": Profile(
        "vrx",
        renamed=(
            (r"/(\w+)/imu", r"/\1/sensors/imu/imu/data"),
            (r"/(\w+)/gnss", r"/\1/sensors/gps/gps/fix"),
            (r"/(\w+)/odometry", r"/\1/sensors/position/ground_truth_odometry"),
            (r"/(\w+)/(\w*lidar\w*)/cloud", r"/\1/sensors/lidars/\2_sensor/points"),
            (r"/(\w+)/(\w*lidar\w*)/scan", r"/\1/sensors/lidars/\2_sensor/scan"),
            (r"/(\w+)/(\w*camera\w*)/image", r"/\1/sensors/cameras/\2_sensor/image_raw"),
            (r"/(\w+)/(\w*camera\w*)/camera_info", r"/\1/sensors/cameras/\2_sensor/camera_info"),
        ),
    ),
}


def profile_of(name: str) -> Profile:
    """A profile by name."""
    if name not in PROFILES:
        raise SpecError(
            Problem(
                f"there is no profile `{name}`",
                value=name,
                expected=f"one of {', '.join(PROFILES)}",
                mend="leave it out for seatrial's own names",
            )
        )
    return PROFILES[name]
