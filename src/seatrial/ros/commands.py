"""Messages that steer, as orders: from ROS's conventions to seatrial's, here and nowhere else.

- `cmd_vel`, Twist: speed ahead and rate of turn, for the autopilot.
- `cmd/CHANNEL`, Float64: one channel, SI, as the channel counts.
- `cmd/thrusters`, Float64MultiArray: all channels in order, −1 to 1 of their limits.
- `actuator_cmd`, interfaces/Actuator: `cs_1` in degrees, `th_1` in rpm (in N where it is ordered in
  N), or names of channels.
- `goal_pose`, `waypoints`, `follow_path`, PoseStamped, PoseArray, Path: places to go to in order,
  in the frame `map`; a header without a frame means that one.
- `cruise_speed`, Float64: the speed to them, m/s.
- `set_fault`, `clear_fault`, String: a fault of the scenario by name.
- `release`, Empty: the vehicle is given back.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.engine.frames import VehicleInfo
from seatrial.ros.axes import swap_world
from seatrial.ros.definitions import ACTUATOR
from seatrial.ros.profiles import ARRAY, Profile, surfaces_and_thrusters
from seatrial.ros.topics import WORLD_FRAME
from seatrial.signals import RELEASE, Command, Setpoint

FLOAT = "std_msgs/msg/Float64"
TEXT = "std_msgs/msg/String"

Limits = dict[str, tuple[float, float]]
"""Least and largest order by channel, SI."""


@dataclass(frozen=True)
class Route:
    """Places to go to one after the other."""

    places: tuple[tuple[float, float], ...]
    """North and east, m."""


@dataclass(frozen=True)
class Fault:
    """A fault to set or to clear."""

    name: str
    on: bool


@dataclass(frozen=True)
class Cruise:
    """The speed at which places are gone to, m/s."""

    speed: float


Steered = Command | Route | Fault | Cruise


class MessageError(ValueError):
    """A message that is whole and still no order; its text says why."""


@dataclass(frozen=True)
class CommandTopic:
    """A topic by which a vehicle is steered."""

    name: str
    typename: str
    vehicle: str
    read: Callable[[Any], Steered]
    """Raises MessageError."""


def command_topics(
    vehicle: VehicleInfo, namespace: str, limits: Limits, profile: Profile
) -> list[CommandTopic]:
    """Every topic by which a vehicle is steered."""

    def topic(name: str, typename: str, read: Callable[[Any], Steered]) -> CommandTopic:
        return CommandTopic(f"/{namespace}/{name}", typename, vehicle.name, read)

    found = [
        topic("cmd_vel", "geometry_msgs/msg/Twist", _velocity),
        topic("cmd/thrusters", ARRAY, lambda m: _shares(m, vehicle, limits)),
        topic("actuator_cmd", ACTUATOR, lambda m: _named(m, vehicle)),
        topic("goal_pose", "geometry_msgs/msg/PoseStamped", lambda m: _route([m.pose], m)),
        topic(
            "follow_path",
            "nav_msgs/msg/Path",
            lambda m: _route([pose.pose for pose in m.poses], m, *m.poses),
        ),
        topic("cruise_speed", FLOAT, lambda m: Cruise(_number(m.data))),
        topic("set_fault", TEXT, lambda m: Fault(m.data, on=True)),
        topic("clear_fault", TEXT, lambda m: Fault(m.data, on=False)),
        topic("release", "std_msgs/msg/Empty", lambda m: RELEASE),
    ]
    if not profile.north_east_down:  # Panisim's controllers show theirs there, in NED
        found.append(
            topic("waypoints", "geometry_msgs/msg/PoseArray", lambda m: _route(m.poses, m))
        )
    for actuator in vehicle.actuators:
        if profile.name == "vrx":
            engine = actuator.name.removesuffix("_angle")
            # An engine's angle counts about the axis that points up there, down here.
            what, sign = ("pos", -1.0) if actuator.unit == "rad" else ("thrust", 1.0)
            name = f"thrusters/{engine}/{what}"
        else:
            name, sign = f"cmd/{actuator.name}", 1.0
        found.append(topic(name, FLOAT, _one(actuator.name, sign)))
    return found


def _one(channel: str, sign: float) -> Callable[[Any], Steered]:
    return lambda m: Command(channels={channel: sign * _number(m.data)})


def _number(value: Any) -> float:
    if not math.isfinite(value):
        raise MessageError(f"{value} is no number to steer by")
    return float(value)


def _velocity(m: Any) -> Command:
    """Left is positive there and starboard here."""
    surge, turn = _number(m.linear.x), -_number(m.angular.z)
    return Command(setpoint=Setpoint(surge, yaw_rate=turn))


def _shares(m: Any, vehicle: VehicleInfo, limits: Limits) -> Command:
    names = [a.name for a in vehicle.actuators]
    if len(m.data) != len(names):
        raise MessageError(f"{len(m.data)} numbers for {len(names)} channels: {', '.join(names)}")
    orders = {}
    for name, value in zip(names, m.data, strict=True):
        share, (low, high) = float(np.clip(_number(value), -1.0, 1.0)), limits[name]
        orders[name] = share * high if share >= 0.0 else -share * low
    return Command(channels=orders)


def _named(m: Any, vehicle: VehicleInfo) -> Command:
    if len(m.actuator_names) != len(m.actuator_values):
        raise MessageError(f"{len(m.actuator_names)} names, {len(m.actuator_values)} values")
    if len(set(m.actuator_names)) < len(m.actuator_names):
        raise MessageError("a name is there twice")
    surfaces, thrusters = surfaces_and_thrusters(vehicle)
    short = {f"cs_{k + 1}": vehicle.actuators[i] for k, i in enumerate(surfaces)}
    short |= {f"th_{k + 1}": vehicle.actuators[i] for k, i in enumerate(thrusters)}
    suffix = {"rad": "_deg", "rev/s": "_rpm"}
    orders = {}
    for name, value in zip(m.actuator_names, m.actuator_values, strict=True):
        channel = short.get(name)
        key = name if channel is None else channel.name + suffix.get(channel.unit, "")
        orders[key] = _number(value)
    return Command(channels=orders)


def _route(poses: list[Any], *stamped: Any) -> Route:
    """Places in the frame of the world: what is said of another one is nothing to go by."""
    for one in stamped:
        if one.header.frame_id not in ("", WORLD_FRAME):
            raise MessageError(
                f"places are in the frame `{WORLD_FRAME}`, not `{one.header.frame_id[:80]}`"
            )
    if not 1 <= len(poses) <= 10_000:
        raise MessageError(f"{len(poses)} places")
    enu = np.array([[_number(getattr(p.position, axis)) for axis in "xyz"] for p in poses])
    return Route(tuple((float(n), float(e)) for n, e, _ in swap_world(enu)))
