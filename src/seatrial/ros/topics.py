"""Which ROS 2 topics a vehicle has, and how its frames become their numbers and back.

A topic states its message once (`build`) and two functions between a block of frames, in
seatrial's frames and units, and the changing numbers of the messages in ROS's (`pack`, `unpack`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import VehicleFrames, VehicleInfo
from seatrial.errors import RecordingError
from seatrial.ros.axes import swap_attitude, swap_body, swap_world
from seatrial.ros.layout import Array, Message, MessageFactory

WORLD_FRAME = "map"
CLOCK_TOPIC = "/clock"
CLOCK_TYPE = "rosgraph_msgs/msg/Clock"
TF_TOPIC = "/tf"
TF_TYPE = "tf2_msgs/msg/TFMessage"

VECTOR = "geometry_msgs/msg/Vector3"
JOINT_STATE = "sensor_msgs/msg/JointState"
POINT = "geometry_msgs/msg/Point"
QUATERNION = "geometry_msgs/msg/Quaternion"
ODOMETRY = "nav_msgs/msg/Odometry"
WORLD_VECTOR = "geometry_msgs/msg/Vector3Stamped"
UNKNOWN = np.zeros(36)
"""In ROS a covariance of zeros means that none is given."""

Source = TypeVar("Source")


@dataclass(frozen=True)
class Topic(Generic[Source]):
    """One stream of messages, made of a block of frames or of a sensor's samples."""

    name: str
    typename: str
    slots: int
    build: Callable[[MessageFactory], Message]
    pack: Callable[[Source], Array]
    unpack: Callable[[Array], dict[str, Array]] | None
    """None for a topic that only repeats what another one says."""
    chosen: Callable[[Source], NDArray[np.bool_]] | None = None
    """What becomes a message; None for all that is alive (frames) or valid (samples)."""


def build_clock(f: MessageFactory) -> Message:
    """rosgraph_msgs/Clock: the simulated time."""
    return f.make(CLOCK_TYPE, f.stamp())


def namespaces(vehicles: tuple[VehicleInfo, ...]) -> dict[str, str]:
    """A legal ROS name for every vehicle."""
    result = {vehicle.name: ros_name(vehicle.name) for vehicle in vehicles}
    refuse_shared(result)
    return result


def refuse_shared(spaces: dict[str, str]) -> None:
    """Refuse vehicles whose topics would have the same names."""
    whose: dict[str, str] = {}
    for vehicle, name in spaces.items():
        other = whose.setdefault(name, vehicle)
        if other != vehicle:
            raise RecordingError(
                f"vehicles {other!r} and {vehicle!r} would share the topics /{name}/…\n"
                "  expected: names that differ in letters and digits\n"
                "  to mend:  rename one of the two vehicles in the scenario"
            )


def ros_name(name: str) -> str:
    """The same with letters, digits and underscores only, and no digit in front."""
    legal = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"v{legal}" if not legal or legal[0].isdigit() else legal


def body_frame(namespace: str) -> str:
    """Name of a vehicle's body frame: forward, left, up."""
    return f"{namespace}/base_link"


def vehicle_topics(vehicle: VehicleInfo, namespace: str) -> list[Topic[VehicleFrames]]:
    """The topics that tell the truth of one vehicle, in the order in which a frame is written."""
    body = body_frame(namespace)
    channels = [a.name for a in vehicle.actuators]

    def transform(f: MessageFactory) -> Message:
        pose = f.make("geometry_msgs/msg/Transform", f.xyz(VECTOR), quaternion(f))
        return f.make(
            TF_TYPE,
            [f.make("geometry_msgs/msg/TransformStamped", f.header(WORLD_FRAME), body, pose)],
        )

    def acceleration(f: MessageFactory) -> Message:
        return f.make("geometry_msgs/msg/AccelStamped", f.header(body), _pair(f, "Accel"))

    def point(f: MessageFactory) -> Message:
        return f.make("geometry_msgs/msg/PointStamped", f.header(WORLD_FRAME), f.xyz(POINT))

    def number(f: MessageFactory) -> Message:
        return f.make("std_msgs/msg/Float64", f.slot())

    def world_vector(topic: str, field: str) -> Topic[VehicleFrames]:
        return Topic(
            f"/{namespace}/{topic}",
            WORLD_VECTOR,
            3,
            build_world_vector,
            lambda frames: swap_world(getattr(frames, field)),
            lambda values: {field: swap_world(values)},
        )

    def scalar(topic: str, field: str) -> Topic[VehicleFrames]:
        return Topic(
            f"/{namespace}/{topic}",
            "std_msgs/msg/Float64",
            1,
            number,
            lambda frames: getattr(frames, field)[:, None],
            lambda values: {field: values[:, 0]},
        )

    def joint_state(topic: str, field: str, names: list[str]) -> Topic[VehicleFrames]:
        return Topic(
            f"/{namespace}/{topic}",
            JOINT_STATE,
            len(names),
            lambda f: named_numbers(f, body, names),
            lambda frames: getattr(frames, field),
            lambda values: {field: values},
        )

    topics: list[Topic[VehicleFrames]] = [
        Topic(
            TF_TOPIC,
            TF_TYPE,
            7,
            transform,
            lambda frames: pack_pose(frames.position, frames.attitude),
            None,
        ),
        Topic(
            f"/{namespace}/odometry",
            ODOMETRY,
            13,
            lambda f: build_odometry(f, body, UNKNOWN),
            lambda frames: np.hstack(
                [pack_pose(frames.position, frames.attitude), swap_six(frames.velocity)]
            ),
            unpack_odometry,
        ),
        Topic(
            f"/{namespace}/accel",
            "geometry_msgs/msg/AccelStamped",
            6,
            acceleration,
            lambda frames: swap_six(frames.acceleration),
            lambda values: {"acceleration": swap_six(values)},
        ),
        joint_state("actuators", "actuators", channels),
        joint_state("command", "command", channels),
        Topic(
            f"/{namespace}/wave",
            "geometry_msgs/msg/PointStamped",
            3,
            point,
            _pack_surface_point,
            lambda values: {"wave_elevation": values[:, 2]},
        ),
        world_vector("wave_velocity", "wave_velocity"),
        world_vector("current", "current"),
        world_vector("wind", "wind"),
        scalar("density", "density"),
        scalar("wet_fraction", "wet_fraction"),
    ]
    if vehicle.faults:
        topics.append(joint_state("faults", "faults", [fault.name for fault in vehicle.faults]))
    return topics


def named_numbers(f: MessageFactory, frame_id: str, names: list[str]) -> Message:
    """A JointState with an open position per name: ROS's own stamped list of named numbers."""
    position = np.array([f.slot() for _ in names], dtype=np.float64)
    return f.make(JOINT_STATE, f.header(frame_id), names, position, np.empty(0), np.empty(0))


def quaternion(f: MessageFactory) -> Message:
    """A quaternion with four open fields, x y z w."""
    return f.make(QUATERNION, *(f.slot() for _ in range(4)))


def build_odometry(
    f: MessageFactory, body: str, covariance: Array, twist_covariance: Array = UNKNOWN
) -> Message:
    """nav_msgs/Odometry with an open pose and twist; covariances (36,) are those of both."""
    pose = f.make("geometry_msgs/msg/Pose", f.xyz(POINT), quaternion(f))
    return f.make(
        ODOMETRY,
        f.header(WORLD_FRAME),
        body,
        f.make("geometry_msgs/msg/PoseWithCovariance", pose, covariance),
        f.make("geometry_msgs/msg/TwistWithCovariance", _pair(f, "Twist"), twist_covariance),
    )


def build_world_vector(f: MessageFactory) -> Message:
    """geometry_msgs/Vector3Stamped in the world's axes."""
    return f.make(WORLD_VECTOR, f.header(WORLD_FRAME), f.xyz(VECTOR))


def _pair(f: MessageFactory, kind: str) -> Message:
    return f.make(f"geometry_msgs/msg/{kind}", f.xyz(VECTOR), f.xyz(VECTOR))


def swap_six(values: Array) -> Array:
    """Linear and angular velocity (or acceleration) between seatrial's body axes and ROS's."""
    return np.hstack([swap_body(values[:, :3]), swap_body(values[:, 3:])])


def pack_pose(position: Array, attitude: Array) -> Array:
    """Position ENU, then the quaternion in ROS's order x y z w."""
    return np.hstack([swap_world(position), np.roll(swap_attitude(attitude), -1, axis=-1)])


def unpack_odometry(values: Array) -> dict[str, Array]:
    """Position, attitude and velocity of the 13 numbers of an odometry message."""
    return {
        "position": swap_world(values[:, :3]),
        "attitude": swap_attitude(np.roll(values[:, 3:7], 1, axis=-1)),
        "velocity": swap_six(values[:, 7:]),
    }


def _pack_surface_point(frames: VehicleFrames) -> Array:
    """The point of the water surface straight above (or below) the vehicle's origin."""
    enu = swap_world(frames.position)
    return np.column_stack([enu[:, 0], enu[:, 1], frames.wave_elevation])
