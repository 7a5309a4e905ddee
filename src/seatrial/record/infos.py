"""What a header says of a vehicle, back from JSON, which knows no tuples."""

from typing import Any

from seatrial.engine.frames import ActuatorInfo, LegInfo, VehicleInfo
from seatrial.signals import FaultInfo, PayloadInfo, SensorInfo


def read_vehicle(data: dict[str, Any]) -> VehicleInfo:
    """The vehicle whose fields, as plain data, are `data`."""
    parts = {
        "actuators": tuple(ActuatorInfo(**a) for a in data["actuators"]),
        "sensors": tuple(_read_sensor(s) for s in data["sensors"]),
        "faults": tuple(FaultInfo(**f) for f in data["faults"]),
        "legs": tuple(_read_leg(leg) for leg in data["legs"]),
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
