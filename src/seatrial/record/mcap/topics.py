"""Which ROS 2 topics a vehicle has, and how its frames become their numbers and back.

A topic states its message once (`build`) and two functions between a block of frames, in
seatrial's frames and units, and the changing numbers of the messages in ROS's (`pack`, `unpack`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seatrial.errors import RecordingError
from seatrial.record.mcap.layout import Array, Message, MessageFactory
from seatrial.record.mcap.ros_frames import swap_attitude, swap_body, swap_world
from seatrial.scenario.frames import VehicleFrames, VehicleInfo

WORLD_FRAME = "map"
CLOCK_TOPIC = "/clock"
CLOCK_TYPE = "rosgraph_msgs/msg/Clock"
TF_TOPIC = "/tf"
TF_TYPE = "tf2_msgs/msg/TFMessage"

_VECTOR = "geometry_msgs/msg/Vector3"
_POINT = "geometry_msgs/msg/Point"


@dataclass(frozen=True)
class Topic:
    """One stream of messages of one vehicle."""

    name: str
    typename: str
    slots: int
    build: Callable[[MessageFactory], Message]
    pack: Callable[[VehicleFrames], Array]
    unpack: Callable[[Array], dict[str, Array]] | None
    """None for a topic that only repeats what another one says."""


def build_clock(f: MessageFactory) -> Message:
    """rosgraph_msgs/Clock: the simulated time."""
    return f.make(CLOCK_TYPE, f.stamp())


def namespaces(vehicles: tuple[VehicleInfo, ...]) -> dict[str, str]:
    """A legal ROS name for every vehicle: letters, digits and underscores, no digit in front."""
    result: dict[str, str] = {}
    for vehicle in vehicles:
        name = re.sub(r"[^A-Za-z0-9_]", "_", vehicle.name)
        name = f"v{name}" if not name or name[0].isdigit() else name
        for other, taken in result.items():
            if taken == name:
                raise RecordingError(
                    f"vehicles {other!r} and {vehicle.name!r} would share the topics /{name}/…\n"
                    "  expected: names that differ in letters and digits\n"
                    "  to mend:  rename one of the two vehicles in the scenario"
                )
        result[vehicle.name] = name
    return result


def vehicle_topics(vehicle: VehicleInfo, namespace: str) -> list[Topic]:
    """All topics of one vehicle, in the order in which a frame is written."""
    body = f"{namespace}/base_link"
    channels = [a.name for a in vehicle.actuators]

    def transform(f: MessageFactory) -> Message:
        pose = f.make("geometry_msgs/msg/Transform", f.xyz(_VECTOR), _quaternion(f))
        return f.make(
            TF_TYPE,
            [f.make("geometry_msgs/msg/TransformStamped", f.header(WORLD_FRAME), body, pose)],
        )

    def odometry(f: MessageFactory) -> Message:
        unknown = np.zeros(36)  # in ROS a covariance of zeros means that none is given
        pose = f.make("geometry_msgs/msg/Pose", f.xyz(_POINT), _quaternion(f))
        return f.make(
            "nav_msgs/msg/Odometry",
            f.header(WORLD_FRAME),
            body,
            f.make("geometry_msgs/msg/PoseWithCovariance", pose, unknown),
            f.make("geometry_msgs/msg/TwistWithCovariance", _pair(f, "Twist"), unknown),
        )

    def acceleration(f: MessageFactory) -> Message:
        return f.make("geometry_msgs/msg/AccelStamped", f.header(body), _pair(f, "Accel"))

    def joints(f: MessageFactory) -> Message:
        position = np.array([f.slot() for _ in channels], dtype=np.float64)
        none = np.empty(0)
        return f.make("sensor_msgs/msg/JointState", f.header(body), channels, position, none, none)

    def point(f: MessageFactory) -> Message:
        return f.make("geometry_msgs/msg/PointStamped", f.header(WORLD_FRAME), f.xyz(_POINT))

    def vector(f: MessageFactory) -> Message:
        return f.make("geometry_msgs/msg/Vector3Stamped", f.header(WORLD_FRAME), f.xyz(_VECTOR))

    def number(f: MessageFactory) -> Message:
        return f.make("std_msgs/msg/Float64", f.slot())

    def world_vector(topic: str, field: str) -> Topic:
        return Topic(
            f"/{namespace}/{topic}",
            "geometry_msgs/msg/Vector3Stamped",
            3,
            vector,
            lambda frames: swap_world(getattr(frames, field)),
            lambda values: {field: swap_world(values)},
        )

    def scalar(topic: str, field: str) -> Topic:
        return Topic(
            f"/{namespace}/{topic}",
            "std_msgs/msg/Float64",
            1,
            number,
            lambda frames: getattr(frames, field)[:, None],
            lambda values: {field: values[:, 0]},
        )

    def joint_state(topic: str, field: str) -> Topic:
        return Topic(
            f"/{namespace}/{topic}",
            "sensor_msgs/msg/JointState",
            len(channels),
            joints,
            lambda frames: getattr(frames, field),
            lambda values: {field: values},
        )

    return [
        Topic(TF_TOPIC, TF_TYPE, 7, transform, _pack_pose, None),
        Topic(
            f"/{namespace}/odometry",
            "nav_msgs/msg/Odometry",
            13,
            odometry,
            lambda frames: np.hstack([_pack_pose(frames), _swap_six(frames.velocity)]),
            _unpack_odometry,
        ),
        Topic(
            f"/{namespace}/accel",
            "geometry_msgs/msg/AccelStamped",
            6,
            acceleration,
            lambda frames: _swap_six(frames.acceleration),
            lambda values: {"acceleration": _swap_six(values)},
        ),
        joint_state("actuators", "actuators"),
        joint_state("command", "command"),
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


def _quaternion(f: MessageFactory) -> Message:
    return f.make("geometry_msgs/msg/Quaternion", *(f.slot() for _ in range(4)))


def _pair(f: MessageFactory, kind: str) -> Message:
    return f.make(f"geometry_msgs/msg/{kind}", f.xyz(_VECTOR), f.xyz(_VECTOR))


def _swap_six(values: Array) -> Array:
    return np.hstack([swap_body(values[:, :3]), swap_body(values[:, 3:])])


def _pack_pose(frames: VehicleFrames) -> Array:
    """Position ENU, then the quaternion in ROS's order x y z w."""
    return np.hstack(
        [swap_world(frames.position), np.roll(swap_attitude(frames.attitude), -1, axis=-1)]
    )


def _unpack_odometry(values: Array) -> dict[str, Array]:
    return {
        "position": swap_world(values[:, :3]),
        "attitude": swap_attitude(np.roll(values[:, 3:7], 1, axis=-1)),
        "velocity": _swap_six(values[:, 7:]),
    }


def _pack_surface_point(frames: VehicleFrames) -> Array:
    """The point of the water surface straight above (or below) the vehicle's origin."""
    enu = swap_world(frames.position)
    return np.column_stack([enu[:, 0], enu[:, 1], frames.wave_elevation])
