"""Which ROS 2 topics tell of a vehicle's own loop: where it believes it is, how its mission goes.

The estimate is an Odometry beside that of the truth, in the same frames; the diagonals of its
covariances hold the variances, all else in them is zero. Which sensors it does without, and how the
mission goes, are JointStates of named numbers. The way that was asked for is told once, as a Path.
"""

import numpy as np

from seatrial.engine.frames import ESTIMATE, GUIDANCE, LegInfo, VehicleFrames, VehicleInfo
from seatrial.ros.axes import swap_world
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.topics import (
    JOINT_STATE,
    ODOMETRY,
    POINT,
    QUATERNION,
    WORLD_FRAME,
    WORLD_VECTOR,
    Topic,
    body_frame,
    build_odometry,
    build_world_vector,
    named_numbers,
    pack_pose,
    swap_six,
    unpack_odometry,
    vehicle_topics,
)

PATH_TYPE = "nav_msgs/msg/Path"
LOOP_TOPICS = ("estimate", "mission", "path")
"""First parts of the topics' names below a vehicle's; no sensor may be called so."""

_SENSORS = ("rejected", "silent")


def frame_topics(vehicle: VehicleInfo, namespace: str) -> list[Topic[VehicleFrames]]:
    """Every topic of one vehicle that has a message per frame."""
    topics = vehicle_topics(vehicle, namespace)
    body = body_frame(namespace)
    if vehicle.estimated:
        topics += [
            Topic(
                f"/{namespace}/estimate",
                ODOMETRY,
                25,
                lambda f: build_odometry(f, body, _open_covariance(f), _open_covariance(f)),
                _pack_estimate,
                _unpack_estimate,
            ),
            Topic(
                f"/{namespace}/estimate/sensors",
                JOINT_STATE,
                len(_SENSORS),
                lambda f: named_numbers(f, body, list(_SENSORS)),
                lambda frames: np.hstack([frames.estimate[:, ESTIMATE[s]] for s in _SENSORS]),
                lambda values: {f"estimate_{s}": values[:, [i]] for i, s in enumerate(_SENSORS)},
            ),
            Topic(
                f"/{namespace}/estimate/current",
                WORLD_VECTOR,
                3,
                build_world_vector,
                lambda frames: swap_world(frames.estimate[:, ESTIMATE["current"]]),
                lambda values: {"estimate_current": swap_world(values)},
            ),
        ]
    if vehicle.legs:
        topics.append(
            Topic(
                f"/{namespace}/mission",
                JOINT_STATE,
                len(GUIDANCE),
                lambda f: named_numbers(f, body, list(GUIDANCE)),
                lambda frames: frames.guidance,
                lambda values: {"guidance": values},
            )
        )
    return topics


def path_topic(namespace: str) -> str:
    """Where a vehicle's path is told."""
    return f"/{namespace}/path"


def build_path(f: MessageFactory, legs: tuple[LegInfo, ...]) -> Message:
    """nav_msgs/Path: where the first leg begins, then where each one ends."""
    header = f.make("std_msgs/msg/Header", f.make("builtin_interfaces/msg/Time", 0, 0), WORLD_FRAME)
    level = f.make(QUATERNION, 0.0, 0.0, 0.0, 1.0)
    poses = []
    for place in (legs[0].start, *(leg.end for leg in legs if leg.has_place)):
        point = f.make(POINT, *swap_world(np.array(place)).tolist())
        pose = f.make("geometry_msgs/msg/Pose", point, level)
        poses.append(f.make("geometry_msgs/msg/PoseStamped", header, pose))
    return f.make(PATH_TYPE, header, poses)


def _open_covariance(f: MessageFactory) -> Array:
    covariance = np.zeros(36)
    covariance[::7] = [f.slot() for _ in range(6)]
    return covariance


def _pack_estimate(frames: VehicleFrames) -> Array:
    """The variances first: `build` opens them before the pose is made."""
    part = {name: frames.estimate[:, where] for name, where in ESTIMATE.items()}
    return np.hstack(
        [
            swap_world(part["deviation"]) ** 2,
            swap_world(part["attitude_deviation"]) ** 2,
            part["velocity_deviation"] ** 2,
            pack_pose(part["position"], part["attitude"]),
            swap_six(part["velocity"]),
        ]
    )


def _unpack_estimate(values: Array) -> dict[str, Array]:
    sigma = np.sqrt(values[:, :12])
    found = unpack_odometry(values[:, 12:]) | {
        "deviation": np.abs(swap_world(sigma[:, :3])),
        "attitude_deviation": np.abs(swap_world(sigma[:, 3:6])),
        "velocity_deviation": sigma[:, 6:],
    }
    return {f"estimate_{name}": numbers for name, numbers in found.items()}
