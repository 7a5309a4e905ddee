"""What a stick does to a vehicle: a setpoint where it has an autopilot, else orders by channel."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seatrial.conventions import GRAVITY
from seatrial.engine.command.pilot import Pilot
from seatrial.engine.plan import Fleet, Plan
from seatrial.errors import Problem, SpecError
from seatrial.signals import Command, Setpoint

FROUDE = 0.4
"""U/√(gL) of a stick pushed fully ahead: about where a displacement hull's wave holds it."""
FASTEST = 8.0
"""m/s."""
TURN = 0.35
"""Turn of a stick pushed fully aside, r L/U."""
DIVE = 3.0
"""Deeper than now by so much, for a stick pushed fully down, m."""

Push = tuple[float, float, float]
"""What a channel does ahead, to starboard and down, each −1 to 1."""


@dataclass
class Helm:
    """The stick of one vehicle."""

    vehicle: str
    length: float
    piloted: bool
    submerged: bool
    limits: dict[str, tuple[float, float]]
    """By channel what it can be ordered to, SI."""
    pushes: dict[str, Push]
    """Of the channels that a stick moves."""
    depth: float | None = None
    """That the stick holds, m."""

    def bounded(self, values: Mapping[str, float]) -> dict[str, float]:
        """Orders cut off at the limits of their channels; an unknown channel is refused."""
        for name in values:
            if name not in self.limits:
                known = ", ".join(self.limits)
                raise SpecError(
                    Problem(f"`{self.vehicle}` has no channel `{name}`", expected=f"one of {known}")
                )
        return {name: float(np.clip(v, *self.limits[name])) for name, v in values.items()}

    def steered(self, ahead: float, starboard: float, dive: float, depth: float) -> Command:
        """The order that a stick gives to a vehicle at a depth."""
        if not self.piloted:
            return Command(channels=self._mixed(ahead, starboard, dive))
        speed = min(FROUDE * math.sqrt(GRAVITY * self.length), FASTEST)
        if self.submerged and (self.depth is None or dive != 0.0):
            self.depth = max(0.0, depth + DIVE * dive)
        return Command(
            setpoint=Setpoint(
                surge=ahead * speed,
                yaw_rate=starboard * TURN * speed / self.length,
                depth=self.depth if self.submerged else None,
            )
        )

    def _mixed(self, ahead: float, starboard: float, dive: float) -> dict[str, float]:
        orders = {}
        for name, push in self.pushes.items():
            share = float(np.clip(np.dot(push, (ahead, starboard, dive)), -1.0, 1.0))
            low, high = self.limits[name]
            orders[name] = share * high if share >= 0.0 else -share * low
        return orders


def helms_of(plan: Plan) -> dict[str, Helm]:
    """By vehicle."""
    infos = {v.name: v for v in plan.header.vehicles}
    found = {}
    for fleet in plan.fleets:
        channels = [a.name for a in infos[fleet.names[0]].actuators]
        limits, pushes = _channels(fleet, channels)
        for name in fleet.names:
            found[name] = Helm(
                vehicle=name,
                length=infos[name].length,
                piloted=isinstance(fleet.group.commander, Pilot),
                submerged=infos[name].craft == "submerged",
                limits=limits,
                pushes=pushes,
            )
    return found


def _channels(
    fleet: Fleet, names: list[str]
) -> tuple[dict[str, tuple[float, float]], dict[str, Push]]:
    """Limits, and what a stick does, of the channels of a fleet."""
    limits: dict[str, tuple[float, float]] = {}
    pushes: dict[str, Push] = {}
    angles: dict[str, Push] = {}
    for actuator in fleet.group.model.actuators:
        if 0 <= actuator.channel < len(names):
            name = names[actuator.channel]
            limits[name] = _limits(actuator.drive)
            push = _push(actuator, name)
            if any(push):
                pushes[name] = push
        turning = getattr(actuator, "azimuth_channel", -1)
        if 0 <= turning < len(names):
            limits[names[turning]] = _limits(actuator.azimuth)  # type: ignore[union-attr]
            x = float(np.ravel(actuator.position[0])[0])  # type: ignore[union-attr]
            angles[names[turning]] = (0.0, math.copysign(1.0, x), 0.0)
    if not any(turn for _, turn, _ in pushes.values()):  # an outboard motor is its own rudder
        pushes |= angles
    return limits, pushes


def _limits(drive: Any) -> tuple[float, float]:
    return float(np.min(np.asarray(drive.low))), float(np.max(np.asarray(drive.high)))


def _push(actuator: Any, name: str) -> Push:
    """By where a thruster stands and pushes; a rudder and a plane have the signs of the literature:
    helm to starboard is a negative rudder, a positive stern plane sends the nose down."""
    direction = getattr(actuator, "direction", None)
    if direction is None:
        if "rudder" in name:
            return (0.0, -1.0, 0.0)
        return (0.0, 0.0, 1.0) if "plane" in name or "elevator" in name else (0.0, 0.0, 0.0)
    x, y, _ = (float(np.ravel(v)[0]) for v in actuator.position)
    ahead, aside, down = (float(np.ravel(v)[0]) for v in direction)
    moment = x * aside - y * ahead
    turn = 0.0 if abs(moment) < 0.02 else 0.5 * math.copysign(1.0, moment)
    return (ahead, turn, down)
