"""Frames as one labelled xarray.Dataset with units and names after the CF conventions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.engine.frames import (
    ASKED,
    ESTIMATE,
    GUIDANCE,
    OUTCOMES,
    Frames,
    RunHeader,
    VehicleInfo,
    euler_angles,
    ground_speed,
)
from seatrial.record.swarm.columns import Columns, Pick, Values
from seatrial.signals import ACTIONS, FAILSAFES, RULES

if TYPE_CHECKING:
    import xarray

Labelled = tuple[tuple[str, ...], Values, dict[str, str]]
"""Dimensions, values, attributes."""

_AXES = {
    "axis": ("north", "east", "down"),
    "body_axis": ("forward", "starboard", "down"),
    "quaternion": ("w", "x", "y", "z"),
    "angle": ("roll", "pitch", "yaw"),
}

_VARIABLES: dict[str, tuple[str | None, str, str]] = {
    "position": ("axis", "m", "position of the vehicle's origin, north east down"),
    "attitude": ("quaternion", "1", "attitude quaternion, body to world, scalar first"),
    "euler": ("angle", "rad", "Euler angles roll, pitch, yaw (ZYX)"),
    "velocity": ("body_axis", "m s-1", "velocity over ground u, v, w in body axes"),
    "angular_velocity": ("body_axis", "rad s-1", "angular velocity p, q, r in body axes"),
    "acceleration": ("body_axis", "m s-2", "time derivative of u, v, w in body axes"),
    "angular_acceleration": ("body_axis", "rad s-2", "time derivative of p, q, r in body axes"),
    "speed": (None, "m s-1", "horizontal speed over ground"),
    "depth": (None, "m", "depth of the vehicle's origin below the mean water level"),
    "wave_elevation": (None, "m", "elevation of the water surface above the vehicle"),
    "wave_velocity": ("axis", "m s-1", "orbital velocity of the waves at the vehicle"),
    "current": ("axis", "m s-1", "water velocity without waves at the vehicle"),
    "wind": ("axis", "m s-1", "air velocity 10 m above the vehicle"),
    "density": (None, "kg m-3", "density of the water at the vehicle"),
    "wet_fraction": (None, "1", "share of the displaced volume under water"),
}
"""Name -> (component dimension, unit, long name)."""

_PICKS: dict[str, Pick] = {
    "position": lambda f: f.position,
    "attitude": lambda f: f.attitude,
    "euler": lambda f: euler_angles(f.attitude),
    "velocity": lambda f: f.velocity[..., :3],
    "angular_velocity": lambda f: f.velocity[..., 3:],
    "acceleration": lambda f: f.acceleration[..., :3],
    "angular_acceleration": lambda f: f.acceleration[..., 3:],
    "speed": lambda f: ground_speed(f.attitude, f.velocity[..., :3]),
    "depth": lambda f: f.position[..., 2],
    "wave_elevation": lambda f: f.wave_elevation,
    "wave_velocity": lambda f: f.wave_velocity,
    "current": lambda f: f.current,
    "wind": lambda f: f.wind,
    "density": lambda f: f.density,
    "wet_fraction": lambda f: f.wet_fraction,
}

_CHANNEL_VARIABLES: dict[str, tuple[str, Pick]] = {
    "actuator": ("actual actuator state", lambda f: f.actuators),
    "command": ("actuator command in force", lambda f: f.command),
}
_ESTIMATE_VARIABLES: dict[str, tuple[str | None, str, str]] = {
    "estimate_position": ("axis", "m", "position as the navigation filter believes it"),
    "estimate_attitude": ("quaternion", "1", "attitude as the filter believes it"),
    "estimate_velocity": ("body_axis", "m s-1", "velocity over ground as the filter believes it"),
    "estimate_angular_velocity": ("body_axis", "rad s-1", "angular velocity as it believes it"),
    "estimate_current": ("axis", "m s-1", "current as the filter believes it"),
    "estimate_deviation": ("axis", "m", "standard deviation that the filter gives its position"),
    "estimate_attitude_deviation": ("axis", "rad", "that it gives its attitude, about these axes"),
    "estimate_velocity_deviation": ("body_axis", "m s-1", "that it gives its velocity"),
    "estimate_angular_velocity_deviation": ("body_axis", "rad s-1", "that it gives its rates"),
    "estimate_rejected": (None, "1", "sum of 2^i of the sensors i that the filter rejects"),
    "estimate_silent": (None, "1", "sum of 2^i of the sensors i that it waits for in vain"),
}
"""As `_VARIABLES`, of vehicles with a navigation filter."""
_GUIDANCE_VARIABLES: dict[str, tuple[str | None, str, str]] = {
    "leg": (None, "1", "number of the mission's leg in force, from 0; their count when all done"),
    "leg_outcome": (None, "1", "how the last leg ended"),
    "cross_track_error": (None, "m", "distance off the track, positive to starboard of it"),
    "distance_to_go": (None, "m", "distance to go on the leg"),
    "rule": (None, "1", "rule of the road towards the nearest vessel that is watched"),
    "failsafes": (None, "1", "sum of 2^i of the failsafes i that are on"),
    "failsafe_action": (None, "1", "what the failsafes make the vehicle do"),
    "setpoint_asked": (None, "1", "what guidance asks for, sum of what is in the comment"),
    "setpoint_direction": (None, "rad", "heading or course over ground that it asks for"),
    "setpoint_surge": (None, "m s-1", "speed ahead that it asks for"),
    "setpoint_depth": (None, "m", "depth that it asks for"),
    "setpoint_sway": (None, "m s-1", "speed to starboard that it asks for"),
    "setpoint_yaw_rate": (None, "rad s-1", "rate of turn that it asks for"),
    "setpoint_north": (None, "m", "where it is to be, north"),
    "setpoint_east": (None, "m", "where it is to be, east"),
}
"""As `_VARIABLES`, of vehicles with a mission; in the order of `GUIDANCE`."""
_LOOP_VARIABLES = _ESTIMATE_VARIABLES | _GUIDANCE_VARIABLES

_LINEAR, _ANGULAR, _LINEAR_DEVIATION, _ANGULAR_DEVIATION = (
    slice(ESTIMATE[name].start + first, ESTIMATE[name].start + first + 3)
    for name in ("velocity", "velocity_deviation")
    for first in (0, 3)
)
_LOOP_PARTS: dict[str, tuple[str, slice]] = {
    "estimate_position": ("estimate", ESTIMATE["position"]),
    "estimate_attitude": ("estimate", ESTIMATE["attitude"]),
    "estimate_velocity": ("estimate", _LINEAR),
    "estimate_angular_velocity": ("estimate", _ANGULAR),
    "estimate_current": ("estimate", ESTIMATE["current"]),
    "estimate_deviation": ("estimate", ESTIMATE["deviation"]),
    "estimate_attitude_deviation": ("estimate", ESTIMATE["attitude_deviation"]),
    "estimate_velocity_deviation": ("estimate", _LINEAR_DEVIATION),
    "estimate_angular_velocity_deviation": ("estimate", _ANGULAR_DEVIATION),
    "estimate_rejected": ("estimate", ESTIMATE["rejected"]),
    "estimate_silent": ("estimate", ESTIMATE["silent"]),
    **{
        name: ("guidance", slice(i, i + 1))
        for i, name in zip(range(len(GUIDANCE)), _GUIDANCE_VARIABLES, strict=True)
    },
}
"""Name -> field of VehicleFrames, columns in it."""

FAULT = "fault"
"""Labels of faults, a variable of runs that have some."""
_FAULT_NAME = "fault_name"

_STANDARD_NAMES = {"density": "sea_water_density", "depth": "depth"}
_COMPONENT_NAMES = {
    "axis": "component in the world frame",
    "body_axis": "component in the body frame",
    "quaternion": "quaternion component",
    "angle": "Euler angle",
}

NAMES = (*_VARIABLES, *_CHANNEL_VARIABLES)
"""Every variable over time and vehicle that all runs have."""


def build_dataset(header: RunHeader, frames: Frames) -> "xarray.Dataset":
    """One dataset of all vehicles; a channel that a vehicle has not is NaN there."""
    columns = Columns(header)
    return assemble(header, columns, frames.time, lambda name: labelled(name, columns, frames))


def assemble(
    header: RunHeader,
    columns: Columns,
    time: Values,
    variable: "Callable[[str], Labelled | xarray.Variable]",
) -> "xarray.Dataset":
    """The dataset of a run whose variables are told by name."""
    import xarray

    data = {name: variable(name) for name in (*NAMES, *optional_names(header, columns))}
    known = coordinates(header, columns) | {"time": label_time(time)}
    return xarray.Dataset(data, coords=known, attrs=attributes(header))


def loop_names(vehicles: tuple[VehicleInfo, ...]) -> tuple[str, ...]:
    """Variables that come with the navigation filters and missions of some vehicles."""
    return (
        *(_ESTIMATE_VARIABLES if any(v.estimated for v in vehicles) else ()),
        *(_GUIDANCE_VARIABLES if any(v.legs for v in vehicles) else ()),
    )


def optional_names(header: RunHeader, columns: Columns) -> tuple[str, ...]:
    """Variables over time and vehicle that this run has and others have not."""
    return (*((FAULT,) if columns.faults else ()), *loop_names(header.vehicles))


def labelled(name: str, columns: Columns, frames: Frames) -> Labelled:
    """A variable of `NAMES` or of `optional_names` over all vehicles."""
    if name == FAULT:
        note = {"units": "1", "long_name": "1 while the fault is in force, else 0"}
        return ("time", "vehicle", _FAULT_NAME), columns.join_faults(frames), note
    if name in _CHANNEL_VARIABLES:
        long_name, pick = _CHANNEL_VARIABLES[name]
        note = {"long_name": long_name, "comment": "units are in the coordinate channel_unit"}
        return ("time", "vehicle", "channel"), columns.join_channels(frames, pick), note
    component = (_VARIABLES | _LOOP_VARIABLES)[name][0]
    dims = ("time", "vehicle", component) if component else ("time", "vehicle")
    if name in _LOOP_PARTS:
        values = columns.join_part(frames, *_LOOP_PARTS[name])
        return dims, values if component else values[..., 0], _attributes_of(name)
    return dims, columns.join(frames, _PICKS[name]), _attributes_of(name)


def label_time(time: Values) -> Labelled:
    """The time coordinate."""
    return ("time",), time, {"units": "s", "long_name": "simulated time", "axis": "T"}


def coordinates(header: RunHeader, columns: Columns) -> dict[str, Labelled]:
    """Every coordinate but time."""
    vehicles = header.vehicles
    place = {channel: k for k, channel in enumerate(columns.channels)}
    units = np.full((len(vehicles), len(place)), "", dtype=object)
    for i, vehicle in enumerate(vehicles):
        for actuator in vehicle.actuators:
            units[i, place[actuator.name]] = actuator.unit
    names = np.array([v.name for v in vehicles], dtype=str)
    kinds = np.array([v.kind for v in vehicles], dtype=str)
    channels = np.array(columns.channels, dtype=str)
    found: dict[str, Labelled] = {
        "vehicle": (("vehicle",), names, {"long_name": "vehicle name"}),
        "kind": (("vehicle",), kinds, {"long_name": "name of the vehicle description"}),
        "channel": (("channel",), channels, {"long_name": "actuator channel"}),
        "channel_unit": (("vehicle", "channel"), units.astype(str), {"long_name": "channel unit"}),
    }
    if columns.faults:
        faults = np.array(columns.faults, dtype=str)
        found[_FAULT_NAME] = ((_FAULT_NAME,), faults, {"long_name": "name of the fault"})
    for dim, labels in _AXES.items():
        found[dim] = ((dim,), np.array(labels, dtype=str), {"long_name": _COMPONENT_NAMES[dim]})
    return found


def attributes(header: RunHeader) -> dict[str, Any]:
    """What the dataset says about itself as a whole."""
    return {
        "Conventions": "CF-1.11",
        "title": f"seatrial run of {header.scenario}",
        "source": f"seatrial {header.version}",
        "scenario": header.scenario,
        "seed": header.seed,
        "datum_latitude_deg": header.datum[0],
        "datum_longitude_deg": header.datum[1],
        "scenario_yaml": header.description,
    }


def with_motion(data: "xarray.Dataset") -> "xarray.Dataset":
    """The dataset with `euler`, `speed` and `depth`, which a swarm's store leaves out."""
    if "euler" in data:
        return data
    attitude, velocity = data["attitude"].values, data["velocity"].values
    dims = data["attitude"].dims[:-1]
    angles = np.array(_AXES["angle"], dtype=str)
    return data.assign(
        euler=((*dims, "angle"), euler_angles(attitude), _attributes_of("euler")),
        speed=(dims, ground_speed(attitude, velocity), _attributes_of("speed")),
        depth=(dims, data["position"].sel(axis="down").values, _attributes_of("depth")),
    ).assign_coords(angle=("angle", angles, {"long_name": _COMPONENT_NAMES["angle"]}))


def _attributes_of(name: str) -> dict[str, str]:
    _, unit, long_name = (_VARIABLES | _LOOP_VARIABLES)[name]
    found = {"units": unit, "long_name": long_name}
    if name in _STANDARD_NAMES:
        found["standard_name"] = _STANDARD_NAMES[name]
    words = {
        "leg_outcome": OUTCOMES,
        "rule": RULES,
        "failsafes": dict(enumerate(FAILSAFES)),
        "failsafe_action": ACTIONS,
        "setpoint_asked": ASKED,
    }
    if name in words:
        found["comment"] = ", ".join(f"{code} {word}" for code, word in words[name].items())
    return found
