"""Orders from outside: taken, kept until they are replaced or released, and handed to the loop."""

import math
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, Literal

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

By = Literal["controller", "outside"]
"""Who gives an order; those from outside stand above those of a controller of the user's own."""

_Held = tuple[Array, Setpoint | None]
"""Orders to a vehicle's channels, NaN in those that are its own, and a setpoint."""

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
        self._submerged = {v.name for v in plan.header.vehicles if v.craft == "submerged"}
        self._held: dict[By, dict[str, _Held]] = {"controller": {}, "outside": {}}

    def take(self, commands: Mapping[str, Command], by: By) -> None:
        """Take commands by vehicle; if one cannot be obeyed, SpecError is raised and none is."""
        self._held[by] |= {v: self._taken(v, command, by) for v, command in commands.items()}

    def _taken(self, vehicle: str, command: Command, by: By) -> _Held:
        _check_sorts(vehicle, command)
        channels = self._channels[vehicle]
        held, setpoint = self._of(vehicle, by)
        held = held.copy()
        if command.release == "all":
            held[:], setpoint = np.nan, None
        else:
            for name in command.release:
                if name == "setpoint":
                    setpoint = None
                else:
                    held[find_channel(channels, str(name), (vehicle, "release"), 0.0)[0]] = np.nan
        given: dict[int, str] = {}
        for name, value in command.channels.items():
            key = str(name)
            i, converted = find_channel(channels, key, (vehicle,), _number((vehicle, key), value))
            if i in given:
                problem = f"`{given[i]}` and `{key}` are orders to one channel"
                raise SpecError(Problem(problem, (vehicle, key), mend="leave out one of them"))
            held[i], given[i] = converted, key
        if command.setpoint is not None:
            setpoint = self._checked(vehicle, command.setpoint)
        return held, setpoint

    def _of(self, vehicle: str, by: By) -> _Held:
        unset = np.full(len(self._channels[vehicle]), np.nan)
        return self._held[by].get(vehicle, (unset, None))

    def _in_force(self, vehicle: str) -> _Held:
        if not any(vehicle in held for held in self._held.values()):
            return self._of(vehicle, "outside")
        (own, ours), (above, theirs) = self._of(vehicle, "controller"), self._of(vehicle, "outside")
        return np.where(np.isfinite(above), above, own), ours if theirs is None else theirs

    def given(self, member: Member) -> Given:
        """The orders of some vehicles as arrays."""
        names = [self._names[member.fleet][i] for i in member.columns]
        group = member.group
        values = np.stack([self._in_force(n)[0] for n in names], axis=-1)
        taken = np.isfinite(values)
        orders = np.where(taken, values, 0.0).astype(group.initial.velocity.dtype)
        wishes = None
        if isinstance(group.commander, Pilot):
            wishes = self._wishes(names, orders.dtype)
        return Given(taken, orders, wishes)  # type: ignore[arg-type]  # NumPy for the program

    def _wishes(self, names: list[str], dtype: Any) -> Wishes:
        asked = [self._in_force(name)[1] for name in names]

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
                    mend="give it a mission (`- {do: velocity, …}` will do), or orders by channel",
                )
            )
        given = {f.name: getattr(setpoint, f.name) for f in fields(setpoint)}
        for name, value in given.items():
            parts = value if name == "waypoint" and np.ndim(value) == 1 else (value,)
            for part in parts:
                if part is not None:
                    _number((*path, name), part)
        ways = [name for name in STEERING if given[name] is not None]
        whole = setpoint.waypoint is None or np.shape(setpoint.waypoint) == (2,)
        if len(ways) != 1 or not whole:
            raise SpecError(
                Problem(
                    "a setpoint says in one way where to go",
                    path,
                    value=", ".join(ways) or "none",
                    expected="one of `heading`, `course`, `yaw_rate` and `waypoint` (north, east)",
                )
            )
        if setpoint.depth is not None and not (vehicle in self._submerged and setpoint.depth >= 0):
            raise SpecError(
                Problem(
                    "this depth cannot be kept",
                    (*path, "depth"),
                    value=setpoint.depth,
                    expected="a depth of 0 or more, for a vehicle that dives",
                )
            )
        return setpoint


def _check_sorts(vehicle: str, command: Command) -> None:
    """Refuse what is no orders, setpoint or names at all."""
    channels, setpoint, release = command.channels, command.setpoint, command.release
    for key, value, fits, expected in (
        ("channels", channels, isinstance(channels, Mapping), "orders by channel: {'left': 5.0}"),
        ("setpoint", setpoint, setpoint is None or isinstance(setpoint, Setpoint), "a `Setpoint`"),
        (
            "release",
            release,
            release == "all" or (isinstance(release, Collection) and not isinstance(release, str)),
            "names of channels, as in `('left',)`, or `'all'`",
        ),
    ):
        if not fits:
            message = f"`{key}` of a command cannot be {shorten(value)}"
            raise SpecError(Problem(message, (vehicle, key), expected=expected))


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
