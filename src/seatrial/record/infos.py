"""What a header says of a vehicle and a scene of its surroundings, to JSON and back."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from seatrial.engine.frames import (
    ActuatorInfo,
    LegInfo,
    Scene,
    VehicleInfo,
    read_scene,
    vehicle_bodies,
    write_scene,
)
from seatrial.geometry.terrain import Terrain, joined
from seatrial.signals import FaultInfo, PayloadInfo, SensorInfo


def write_surroundings(scene: Scene) -> str:
    """A scene as text, without the vehicles, which are in the header."""
    others = tuple(body for body in scene.bodies if body.shape != "vehicle")
    return write_scene(replace(scene, bodies=others))


def read_surroundings(text: str, vehicles: tuple[VehicleInfo, ...]) -> Scene:
    """The whole scene again."""
    scene = read_scene(text)
    return replace(scene, bodies=(*vehicle_bodies(vehicles), *scene.bodies))


def write_bottom(part: Terrain) -> str:
    """A further part of the map of a bottom as text, like the first one in its scene."""
    return write_scene(Scene(terrain=part))


def read_bottom(text: str) -> Terrain:
    """The part again."""
    part = read_scene(text).terrain
    if part is None:
        raise ValueError("expected a part of a bottom, found a scene without")
    return part


def with_bottom(scene: Scene | None, parts: Sequence[Terrain]) -> Scene | None:
    """A scene whose bottom is all that was loaded of it while the run went on."""
    if scene is None or scene.terrain is None or not parts:
        return scene
    return replace(scene, terrain=joined([scene.terrain, *parts]))


def without_nan(value: Any) -> Any:
    """Plain data for JSON, which has no NaN or infinity: both become null."""
    if isinstance(value, dict):
        return {k: without_nan(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def read_vehicle(data: dict[str, Any]) -> VehicleInfo:
    """The vehicle whose fields, as plain data, are `data`."""
    parts = {
        "actuators": tuple(ActuatorInfo(**_plain(a)) for a in data["actuators"]),
        "sensors": tuple(_read_sensor(s) for s in data["sensors"]),
        "faults": tuple(FaultInfo(**f) for f in data["faults"]),
        "legs": tuple(_read_leg(leg) for leg in data["legs"]),
        "fence": tuple((north, east) for north, east in data.get("fence", ())),
    }
    return VehicleInfo(**(data | parts))


def _read_leg(data: dict[str, Any]) -> LegInfo:
    return LegInfo(**(data | {"start": tuple(data["start"]), "end": tuple(data["end"])}))


def _read_sensor(data: dict[str, Any]) -> SensorInfo:
    facts = {name: tuple(numbers) for name, numbers in data["facts"].items()}
    payload = data.get("payload")
    whole = {"facts": facts, "payload": None if payload is None else PayloadInfo(**_plain(payload))}
    return SensorInfo(**(_plain(data) | whole))


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
