"""Which ROS 2 topics the sensors of a vehicle have, and where the sensors sit.

A sensor publishes on `/VEHICLE/SENSOR` the message that programs expect of it, and on topics below
that what the message has no field for. Vectors in the sensor's axes turn about its x axis, from
forward-starboard-down to forward-left-up, and so does the sensor's frame in `/tf_static`. What is
said of the world (a GNSS velocity, a position, a depth) is in ENU, in the frame `map`.

Numbers that no standard message holds travel as `JointState`, which ROS's tools plot by name.
Covariances hold the variance of the random error; zeros mean that it is unknown, or none.
"""

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import VehicleInfo
from seatrial.errors import RecordingError
from seatrial.ros.axes import swap_body, swap_mounting
from seatrial.ros.layout import Message, MessageFactory
from seatrial.ros.loop_topics import LOOP_TOPICS
from seatrial.ros.sensor_messages import KINDS
from seatrial.ros.sensor_messages.common import Samples, SensorTopic
from seatrial.ros.sensor_messages.optical import OPTICAL, is_camera
from seatrial.ros.topics import (
    JOINT_STATE,
    QUATERNION,
    TF_TYPE,
    VECTOR,
    Topic,
    body_frame,
    named_numbers,
    ros_name,
    vehicle_topics,
)

TF_STATIC_TOPIC = "/tf_static"
KEPT_FOR_LATE_READERS = """- history: 1
  depth: 1
  reliability: 1
  durability: 1
  deadline: {sec: 9223372036, nsec: 854775807}
  lifespan: {sec: 9223372036, nsec: 854775807}
  liveliness: 1
  liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
  avoid_ros_namespace_conventions: false
"""
"""Quality of service of what is said once, as rosbag2 writes it: reliable and transient local, so
that a program that subscribes while the file is played gets the mountings and the paths too."""
FAULT = "fault"
"""Last part of the topic that labels a sensor's samples."""


def sensor_names(vehicle: VehicleInfo, namespace: str) -> dict[str, str]:
    """A legal ROS name for every sensor, that no other topic of the vehicle has."""
    taken = {topic.name.rpartition("/")[2]: "" for topic in vehicle_topics(vehicle, namespace)}
    taken |= dict.fromkeys((body_frame("").strip("/"), "faults", *LOOP_TOPICS), "")
    result: dict[str, str] = {}
    for sensor in vehicle.sensors:
        name = ros_name(sensor.name)
        if name in taken:
            other = f"of sensor {taken[name]!r}" if taken[name] else "for the truth"
            raise RecordingError(
                f"sensor {sensor.name!r} of {vehicle.name!r} would publish on "
                f"/{namespace}/{name}, which is the topic {other}\n"
                "  expected: a name that differs from it in letters and digits\n"
                "  to mend:  rename the sensor in the vehicle's description"
            )
        taken[name] = sensor.name
        result[sensor.name] = name
    return result


def sensor_topics(
    vehicle: VehicleInfo, namespace: str, datum: tuple[float, float]
) -> dict[str, list[Samples]]:
    """The topics of every sensor of a vehicle."""
    found = {}
    for info in vehicle.sensors:
        name = sensor_names(vehicle, namespace)[info.name]
        sensor = SensorTopic(info, f"/{namespace}/{name}", f"{namespace}/{name}", datum)
        found[info.name] = KINDS.get(info.type, _other)(sensor)
        bits = [i for i, fault in enumerate(vehicle.faults) if fault.target == info.name]
        if bits:
            names = [vehicle.faults[i].name for i in bits]
            found[info.name].append(_labels(sensor, names, np.array(bits)))
    return found


def payload_places(vehicle: VehicleInfo, namespace: str) -> dict[str, tuple[str, str]]:
    """Topic and frame of the arrays of every dense sensor; its few numbers have topics as always.

    The arrays lie on `/VEHICLE/SENSOR/KIND`, for example `/otter/sounder/echogram`, and
    compressed pictures on `/VEHICLE/SENSOR/image/compressed`.
    """
    names = sensor_names(vehicle, namespace)
    return {
        info.name: (
            f"/{namespace}/{names[info.name]}/{info.payload.kind}"
            + ("/compressed" if info.payload.encoding else ""),
            f"{namespace}/{names[info.name]}{OPTICAL if is_camera(info) else ''}",
        )
        for info in vehicle.sensors
        if info.payload is not None
    }


def build_mountings(
    f: MessageFactory, vehicles: tuple[VehicleInfo, ...], namespaces: dict[str, str]
) -> Message:
    """tf2_msgs/TFMessage: where every sensor of every vehicle sits, and how it is turned."""
    transforms = []
    for vehicle in vehicles:
        namespace = namespaces[vehicle.name]
        names = sensor_names(vehicle, namespace)
        for info in vehicle.sensors:
            place = swap_body(np.array(info.position))
            w, x, y, z = swap_mounting(np.array(info.orientation)).tolist()
            pose = f.make(
                "geometry_msgs/msg/Transform",
                f.make(VECTOR, *place.tolist()),
                f.make(QUATERNION, x, y, z, w),
            )
            parent = f.make(
                "std_msgs/msg/Header",
                f.make("builtin_interfaces/msg/Time", 0, 0),
                body_frame(namespace),
            )
            child = f"{namespace}/{names[info.name]}"
            transforms.append(f.make("geometry_msgs/msg/TransformStamped", parent, child, pose))
            if is_camera(info):
                turn = f.make(QUATERNION, -0.5, 0.5, -0.5, 0.5)
                pose = f.make("geometry_msgs/msg/Transform", f.make(VECTOR, 0.0, 0.0, 0.0), turn)
                stamp = f.make("builtin_interfaces/msg/Time", 0, 0)
                parent = f.make("std_msgs/msg/Header", stamp, child)
                child = child + OPTICAL
                transforms.append(f.make("geometry_msgs/msg/TransformStamped", parent, child, pose))
    return f.make(TF_TYPE, transforms)


def _other(sensor: SensorTopic) -> list[Samples]:
    """A sensor for which ROS has no message."""
    return [sensor.publish_numbers("", sensor.info.components)]


def _labels(sensor: SensorTopic, names: list[str], bits: NDArray[np.int64]) -> Samples:
    """Which faults distort a sample, told of every sample, also of those that were lost."""
    return Topic(
        f"{sensor.topic}/{FAULT}",
        JOINT_STATE,
        len(names),
        lambda f: named_numbers(f, sensor.frame, names),
        lambda samples: ((samples.fault[:, None] >> bits) & 1).astype(np.float64),
        lambda numbers: {FAULT: (numbers.astype(np.int64) << bits).sum(axis=1)},
        chosen=lambda samples: np.ones(len(samples.time), np.bool_),
    )
