"""Messages of ROS that steer, as requests; for every bridge that speaks ROS."""

from dataclasses import replace
from typing import Any

from seatrial.bridges.bridge import Control, Order, Request, Sea, SetFault, Setting, Turn
from seatrial.bridges.routes import RouteFollower
from seatrial.engine.frames import RunHeader
from seatrial.ros.commands import (
    TEXT,
    CommandTopic,
    Cruise,
    Fault,
    MessageError,
    Route,
    Steered,
    command_topics,
)
from seatrial.ros.profiles import Profile
from seatrial.signals import Command

CONTROL_TOPIC = "/simulation/control"
SEA_TOPIC = "/simulation/set_sea_state"
SEA_TYPE = "geometry_msgs/msg/Vector3"
CONTROLS = ("pause", "resume", "step", "reset")
SEA = "set_sea_state"
"""The service beside those; all are below `/simulation/`."""
HIGHEST, SHORTEST, LONGEST = 20.0, 0.5, 25.0
"""Waves that are computed: significant height, m, and peak periods, s."""


class Steering:
    """The topics by which the vehicles of a run, and the run itself, are steered."""

    def __init__(self, setting: Setting, namespaces: dict[str, str], profile: Profile) -> None:
        self._commands: dict[str, CommandTopic] = {}
        for vehicle in setting.header.vehicles:
            limits = setting.limits[vehicle.name]
            for topic in command_topics(vehicle, namespaces[vehicle.name], limits, profile):
                self._commands[topic.name] = topic
        self.topics = {name: topic.typename for name, topic in self._commands.items()}
        """Type by name."""
        self.topics |= {CONTROL_TOPIC: TEXT, SEA_TOPIC: SEA_TYPE}
        self._followers = _followers(setting.header)
        self._by: dict[str, type] = {}
        """In which way a vehicle is steered: by channel or by setpoint."""

    def request(self, topic: str, message: Any) -> Request | None:
        """What a message asks for, None for nothing yet; raises MessageError."""
        if topic == CONTROL_TOPIC:
            return control(message.data)
        if topic == SEA_TOPIC:
            return other_sea(message.x, message.y)
        command = self._commands[topic]
        return self._asked(command.vehicle, command.read(message))

    def _asked(self, vehicle: str, steered: Steered) -> Request | None:
        if isinstance(steered, Fault):
            return SetFault(vehicle, steered.name, steered.on)
        if isinstance(steered, Route | Cruise):
            order = self._followers[vehicle].take(steered)
            return None if order is None else self._ordered(vehicle, order)
        self._followers[vehicle].forget()
        return self._ordered(vehicle, steered)

    def _ordered(self, vehicle: str, command: Command) -> Request:
        """What was held in another way is not held any more."""
        by = type(command.setpoint)
        if command.release != "all" and self._by.get(vehicle, by) is not by:
            command = replace(command, release="all")
        self._by[vehicle] = by
        return Order(vehicle, command)

    def underway(self, turn: Turn) -> list[Request]:
        """Orders to vehicles that have reached a place of their route."""
        found: list[Request] = []
        for name, follower in self._followers.items():
            order = follower.reached(turn.vehicles[name])
            if order is not None:
                found.append(Order(name, order))
        return found


def control(word: str) -> Control:
    """Stop, go on, step or begin anew."""
    if word not in CONTROLS:
        raise MessageError(f"expected one of {', '.join(CONTROLS)}")
    return Control(word)  # type: ignore[arg-type]  # one of them


def other_sea(significant_height: float, peak_period: float) -> Control:
    """Begin anew in other waves."""
    if not (0.0 <= significant_height <= HIGHEST and SHORTEST <= peak_period <= LONGEST):
        raise MessageError(
            f"a sea state has a significant height (x) of 0 to {HIGHEST:g} m and a peak period (y) "
            f"of {SHORTEST:g} to {LONGEST:g} s"
        )
    return Control("reset", Sea(float(significant_height), float(peak_period)))


def _followers(header: RunHeader) -> dict[str, RouteFollower]:
    return {vehicle.name: RouteFollower(vehicle) for vehicle in header.vehicles}
