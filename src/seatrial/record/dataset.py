"""Frames as one labelled xarray.Dataset with units and names after the CF conventions."""

from typing import TYPE_CHECKING

import numpy as np

from seatrial.record.layout import Array
from seatrial.scenario.frames import RunHeader, VehicleFrames, euler_angles, ground_speed

if TYPE_CHECKING:
    import xarray

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

_STANDARD_NAMES = {"density": "sea_water_density", "depth": "depth"}
_COMPONENT_NAMES = {
    "axis": "component in the world frame",
    "body_axis": "component in the body frame",
    "quaternion": "quaternion component",
    "angle": "Euler angle",
}


def build_dataset(
    header: RunHeader, time: Array, vehicles: dict[str, VehicleFrames]
) -> "xarray.Dataset":
    """One dataset of all vehicles; a channel that a vehicle has not is NaN there."""
    import xarray

    names = [v.name for v in header.vehicles]
    fields = {name: _fields(vehicles[name]) for name in names}
    data: dict[str, tuple[tuple[str, ...], Array, dict[str, str]]] = {}
    for variable, (component, unit, long_name) in _VARIABLES.items():
        dims = ("time", "vehicle", component) if component else ("time", "vehicle")
        attributes = {"units": unit, "long_name": long_name}
        if variable in _STANDARD_NAMES:
            attributes["standard_name"] = _STANDARD_NAMES[variable]
        data[variable] = (dims, np.stack([fields[n][variable] for n in names], 1), attributes)

    channels = list(dict.fromkeys(a.name for v in header.vehicles for a in v.actuators))
    units = np.full((len(names), len(channels)), "", dtype=object)
    state = np.full((len(time), len(names), len(channels)), np.nan)
    command = state.copy()
    for i, vehicle in enumerate(header.vehicles):
        for j, actuator in enumerate(vehicle.actuators):
            k = channels.index(actuator.name)
            units[i, k] = actuator.unit
            state[:, i, k] = vehicles[vehicle.name].actuators[:, j]
            command[:, i, k] = vehicles[vehicle.name].command[:, j]
    actuator_dims = ("time", "vehicle", "channel")
    note = {"comment": "units are in the coordinate channel_unit"}
    data["actuator"] = (actuator_dims, state, {"long_name": "actual actuator state", **note})
    data["command"] = (actuator_dims, command, {"long_name": "actuator command in force", **note})

    coordinates = {
        "time": ("time", time, {"units": "s", "long_name": "simulated time", "axis": "T"}),
        "vehicle": ("vehicle", np.array(names, dtype=str), {"long_name": "vehicle name"}),
        "channel": ("channel", np.array(channels, dtype=str), {"long_name": "actuator channel"}),
        "channel_unit": (("vehicle", "channel"), units.astype(str), {"long_name": "channel unit"}),
    } | {
        dim: (dim, np.array(labels, dtype=str), {"long_name": _COMPONENT_NAMES[dim]})
        for dim, labels in _AXES.items()
    }
    about: dict[str, str | int | float] = {
        "Conventions": "CF-1.11",
        "title": f"seatrial run of {header.scenario}",
        "source": f"seatrial {header.version}",
        "scenario": header.scenario,
        "seed": header.seed,
        "datum_latitude_deg": header.datum[0],
        "datum_longitude_deg": header.datum[1],
        "scenario_yaml": header.description,
    }
    return xarray.Dataset(data, coords=coordinates, attrs=about)


def _fields(frames: VehicleFrames) -> dict[str, Array]:
    linear, angular = frames.velocity[:, :3], frames.velocity[:, 3:]
    return {
        "position": frames.position,
        "attitude": frames.attitude,
        "euler": euler_angles(frames.attitude),
        "velocity": linear,
        "angular_velocity": angular,
        "acceleration": frames.acceleration[:, :3],
        "angular_acceleration": frames.acceleration[:, 3:],
        "speed": ground_speed(frames.attitude, linear),
        "depth": frames.position[:, 2],
        "wave_elevation": frames.wave_elevation,
        "wave_velocity": frames.wave_velocity,
        "current": frames.current,
        "wind": frames.wind,
        "density": frames.density,
        "wet_fraction": frames.wet_fraction,
    }
