"""Orders from outside: taken, kept until they are replaced or released, and handed to the loop."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.channels import Channel, find_channel
from seatrial.engine.command.commanders import Given
from seatrial.engine.command.pilot import Pilot, Wishes
from seatrial.engine.parts import Member
from seatrial.engine.plan import Plan
from seatrial.errors import Problem, SpecError, shorten
from seatrial.signals import Command, Setpoint

Array = NDArray[np.float64]

STEERING = ("heading", "course", "yaw_rate", "waypoint")
"""Of a setpoint: ways to say where to go, one at a time."""


class Orders:
    """What every vehicle of a plan was told from outside, and has not been released from."""

    def __init__(self, plan: Plan) -> None:
        self._channels = {
            v.name: [Channel(a.name, a.unit) for a in v.actuators] for v in plan.header.vehicles
        }
        self._piloted = {
            name
            for fleet in plan.fleets
            for name in fleet.names
            if isinstance(fleet.group.commander, Pilot)
        }
        self._names = [fleet.names for fleet in plan.fleets]
        self._held: dict[str, Array] = {}
        """Orders by vehicle, NaN in channels that are its own."""
        self._setpoints: dict[str, Setpoint] = {}

    def take(self, vehicle: str, command: Command) -> None:
        """Take a command; one that the vehicle cannot obey raises SpecError and changes nothing."""
        channels = self._channels[vehicle]
        held = self._held.get(vehicle, np.full(len(channels), np.nan)).copy()
        setpoint = self._setpoints.get(vehicle)
        if command.release == "all":
            held[:], setpoint = np.nan, None
        else:
            for name in command.release:
                if name == "setpoint":
                    setpoint = None
                else:
                    held[find_channel(channels, str(name), (vehicle, "release"), 0.0)[0]] = np.nan
        for name, value in command.channels.items():
            key = str(name)
            i, converted = find_channel(channels, key, (vehicle,), _number((vehicle, key), value))
            held[i] = converted
        if command.setpoint is not None:
            setpoint = self._checked(vehicle, command.setpoint)
        self._held[vehicle] = held
        if setpoint is None:
            self._setpoints.pop(vehicle, None)
        else:
            self._setpoints[vehicle] = setpoint

    def given(self, member: Member) -> Given:
        """The orders of some vehicles as arrays."""
        names = [self._names[member.fleet][i] for i in member.columns]
        group = member.group
        unset = np.full(group.model.channels, np.nan)
        values = np.stack([self._held.get(n, unset) for n in names], axis=-1)
        taken = np.isfinite(values)
        orders = np.where(taken, values, 0.0).astype(group.initial.velocity.dtype)
        wishes = None
        if isinstance(group.commander, Pilot):
            wishes = self._wishes(names, orders.dtype)
        return Given(taken, orders, wishes)  # type: ignore[arg-type]  # NumPy for the program

    def _wishes(self, names: list[str], dtype: Any) -> Wishes:
        asked = [self._setpoints.get(name) for name in names]

        def row(name: str) -> Any:
            found = [None if s is None else getattr(s, name) for s in asked]
            return np.array([math.nan if v is None else v for v in found], dtype)

        points = [
            (math.nan, math.nan) if s is None or s.waypoint is None else s.waypoint for s in asked
        ]
        numbers = {f: row(f) for f in ("surge", "heading", "course", "yaw_rate", "depth")}
        return Wishes(
            steered=np.array([s is not None for s in asked]),  # type: ignore[arg-type]
            waypoint=np.array(points, dtype).T,  # type: ignore[arg-type]
            **numbers,
        )

    def _checked(self, vehicle: str, setpoint: Setpoint) -> Setpoint:
        path = (vehicle, "setpoint")
        if vehicle not in self._piloted:
            raise SpecError(
                Problem(
                    f"`{vehicle}` has no autopilot to give a setpoint to",
                    path,
                    expected="a vehicle with a `mission`",
                    mend="give it a mission (`- velocity: …` will do), or orders by channel",
                )
            )
        given = {f.name: getattr(setpoint, f.name) for f in fields(setpoint)}
        for name, value in given.items():
            parts = value if name == "waypoint" and value is not None else (value,)
            for part in parts:
                if part is not None:
                    _number((*path, name), part)
        ways = [name for name in STEERING if given[name] is not None]
        if len(ways) != 1 or (setpoint.waypoint is not None and len(setpoint.waypoint) != 2):
            raise SpecError(
                Problem(
                    "a setpoint says in one way where to go",
                    path,
                    value=", ".join(ways) or "none",
                    expected="one of `heading`, `course`, `yaw_rate` and `waypoint` (north, east)",
                )
            )
        return setpoint


def as_commands(
    given: Command | Mapping[str, Any] | None, vehicles: list[str]
) -> dict[str, Command]:
    """Commands by vehicle, from a command or orders by channel, alone or by vehicle.

    Without the name of a vehicle they are for the only one that there is.
    """
    if given is None:
        return {}
    if isinstance(given, Command):
        return {_only(vehicles, given): given}
    if not isinstance(given, Mapping):
        raise SpecError(
            Problem(
                f"a command cannot be {shorten(given)}",
                expected="`{channel: value}`, `{vehicle: {channel: value}}` or a `Command`",
            )
        )
    if not given:
        return {}
    if not any(isinstance(value, Mapping | Command) for value in given.values()):
        if len(vehicles) > 1:
            _refuse_unknown(vehicles, given)
        return {_only(vehicles, given): Command(channels=given)}
    _refuse_unknown(vehicles, given)
    return {
        name: value if isinstance(value, Command) else Command(channels=value)
        for name, value in given.items()
    }


def _only(vehicles: list[str], given: object) -> str:
    if len(vehicles) > 1:
        raise SpecError(
            Problem(
                "with several vehicles a command must say whom it is for",
                value=given,
                expected=f"one of {', '.join(vehicles)}",
                mend="give {vehicle: command}",
            )
        )
    return vehicles[0]


def _refuse_unknown(vehicles: list[str], given: Mapping[str, Any]) -> None:
    unknown = [name for name in given if name not in vehicles]
    if unknown:
        raise SpecError(
            Problem(
                f"there is no vehicle `{unknown[0]}` in this simulation",
                value=unknown[0],
                expected=f"one of {', '.join(vehicles)}",
                mend="with several vehicles, give {vehicle: {channel: value}}",
            )
        )


def _number(path: tuple[str, ...], value: object) -> float:
    """A value as a number; arrays without axes, as NumPy and JAX compute them, are numbers too."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # such as lists in lists of different lengths
        array = np.asarray(None)
    if array.shape != () or array.dtype.kind not in "iuf" or not np.isfinite(array):
        message = f"a command must be a finite number, not {shorten(value)}"
        raise SpecError(Problem(message, path))
    return float(array)
