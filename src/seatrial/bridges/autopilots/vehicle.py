"""What autopilots share: which output moves which channel, and what an IMU at the origin feels."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.bridges.bridge import Setting
from seatrial.conventions import GRAVITY
from seatrial.engine.frames import ActuatorInfo, VehicleInfo, VehicleState
from seatrial.errors import Problem, SpecError
from seatrial.signals import Command

Array = NDArray[np.float64]

STEERING, THROTTLE = 1, 3
"""Outputs of ArduPilot's boats by default: steering or the left engine, throttle or the right."""


@dataclass(frozen=True)
class Place:
    """`[VEHICLE@]PORT[:left=1,right=3]`, taken apart."""

    vehicle: str | None
    port: int
    outputs: dict[str, int]
    """By channel the number of the autopilot's output, from 1; empty for the usual ones."""


def place_of(text: str, option: str) -> Place:
    """What was typed, or a refusal."""
    vehicle, at, rest = text.rpartition("@")
    port, _, pairs = rest.partition(":")
    try:
        outputs = {}
        for pair in filter(None, pairs.split(",")):
            name, _, number = pair.partition("=")
            outputs[name.strip()] = int(number)
        found = Place(vehicle if at else None, int(port), outputs)
        if not 0 <= found.port < 65_536 or not all(1 <= n <= 32 for n in outputs.values()):
            raise ValueError
    except ValueError:
        raise SpecError(
            Problem(
                f"this is no place for {option}",
                value=text,
                expected="`PORT`, `VEHICLE@PORT` or `VEHICLE@PORT:left=1,right=3` with outputs "
                "from 1 to 32",
            )
        ) from None
    return found


class Driven:
    """The vehicle that an autopilot drives, and its outputs."""

    def __init__(self, setting: Setting, place: Place) -> None:
        vehicles = {v.name: v for v in setting.header.vehicles}
        name = place.vehicle or next(iter(vehicles))
        if name not in vehicles:
            raise SpecError(
                Problem(
                    f"there is no vehicle `{name}` in this scenario",
                    value=name,
                    expected=f"one of {', '.join(list(vehicles)[:20])}",
                )
            )
        self.info = vehicles[name]
        self._limits = setting.limits[name]
        self.outputs = place.outputs or usual_outputs(self.info)
        for channel in self.outputs:
            if channel not in self._limits:
                raise SpecError(
                    Problem(
                        f"`{name}` has no channel `{channel}`",
                        value=channel,
                        expected=f"one of {', '.join(self._limits)}",
                    )
                )

    def command(self, shares: Array) -> Command:
        """Orders of outputs from −1 to 1; those that are not there, or NaN, order nothing.

        What steers turns the bow to starboard with a positive output, whichever way its own angle
        is counted.
        """
        turns = {a.name: turns_to_starboard(a) for a in self.info.actuators}
        orders = {}
        for channel, number in self.outputs.items():
            if number > len(shares) or not np.isfinite(shares[number - 1]):
                continue
            share = float(np.clip(shares[number - 1], -1.0, 1.0))
            if turns[channel] < 0.0:
                share = -share
            low, high = self._limits[channel]
            orders[channel] = share * high if share >= 0.0 else -share * low
        return Command(channels=orders)


def turns_to_starboard(actuator: ActuatorInfo) -> float:
    """1 where a positive angle turns the bow to starboard while going ahead, −1 where to port: a
    rudder, and an azimuth thruster that stands aft. 0 of all that has no such angle."""
    if "rudder" in actuator.name:
        return -1.0
    ahead = actuator.position[0] if actuator.kind == "azimuth" else 0.0
    return math.copysign(1.0, ahead) if ahead else 0.0


def usual_outputs(vehicle: VehicleInfo) -> dict[str, int]:
    """Of a boat with two channels as ArduPilot's Rover has them, else one after the other."""
    names = [a.name for a in vehicle.actuators]
    if vehicle.craft != "surface" or len(names) != 2:
        return {name: i + 1 for i, name in enumerate(names)}
    steers = [turns_to_starboard(a) != 0.0 for a in vehicle.actuators]
    if any(steers):
        return dict(zip(names, (STEERING if s else THROTTLE for s in steers), strict=True))
    return dict(zip(names, (STEERING, THROTTLE), strict=True))


def rotation(attitude: Array) -> Array:
    """From body axes to NED."""
    w, x, y, z = attitude
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class Inertial:
    """What an ideal IMU at the vehicle's origin feels, from one state to the next.

    The specific force is the mean over the control period, f = Rᵀ((v₁ − v₀)/Δt − g): its sum over
    time is the change of velocity exactly, which is what an autopilot integrates.
    """

    def __init__(self) -> None:
        self._before: tuple[float, Array] | None = None

    def feel(self, state: VehicleState) -> tuple[Array, Array]:
        """Velocity in NED and specific force in body axes."""
        turn = rotation(state.attitude)
        velocity: Array = turn @ state.velocity[:3]
        acceleration = np.zeros(3)
        if self._before is not None and state.time > self._before[0]:
            acceleration = (velocity - self._before[1]) / (state.time - self._before[0])
        self._before = (state.time, velocity)
        force: Array = turn.T @ (acceleration - np.array([0.0, 0.0, GRAVITY]))
        return velocity, force
