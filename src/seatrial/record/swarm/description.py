"""Header and summary of a swarm's store, and back: nothing in them is repeated per vessel.

The header names every stretch of equal vehicles once. The summary's figures are variables over
the dimension `vehicle`, the events of missions over `event`; only what concerns the whole run is
text.
"""

import json
from collections import Counter
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.engine.frames import (
    Event,
    RunHeader,
    RunSummary,
    VehicleInfo,
    VehicleSummary,
)
from seatrial.record.dataset import Labelled
from seatrial.record.infos import read_vehicle

if TYPE_CHECKING:
    import xarray

FORMAT = 3

_FIGURES = {
    "ended_at": ("s", "time of the last frame in which the vehicle was alive"),
    "distance": ("m", "length of the track over ground"),
    "speed_mean": ("m s-1", "mean horizontal speed over ground"),
    "speed_max": ("m s-1", "largest horizontal speed over ground"),
    "depth_max": ("m", "largest depth of the vehicle's origin"),
    "roll_max_deg": ("degree", "largest roll to either side"),
    "pitch_max_deg": ("degree", "largest pitch to either side"),
}
"""Numbers of a VehicleSummary -> (unit, long name)."""


_EVENT: dict[str, tuple[str, dict[str, str]]] = {
    "event_vehicle": ("vehicle to which it happened", {}),
    "event_time": ("simulated time", {"units": "s"}),
    "event_text": ("what happened", {}),
    "event_outcome": ("how the leg ended", {}),
    "event_leg": ("number of the leg, from 0", {"units": "1"}),
}
"""A vehicle's name and the fields of an Event -> (long name, other attributes)."""


def write_header(header: RunHeader) -> str:
    """The header without the vehicles' names and the scenario, which the store has elsewhere."""
    run = asdict(replace(header, vehicles=()))
    del run["describe"], run["shapes"]
    run["vehicles"] = []
    for _, alike in groupby(header.vehicles, key=_but_name):
        some = list(alike)
        info = asdict(some[0])
        del info["name"]
        run["vehicles"].append({"count": len(some), **info})
    return json.dumps({"format": FORMAT, **run}, ensure_ascii=False, allow_nan=False)


def read_header(text: str, scenario: str, names: list[str]) -> RunHeader:
    """The header; `names` are the vehicles' in their order."""
    data: dict[str, Any] = json.loads(text)
    if data.pop("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    left = iter(names)
    vehicles = []
    for alike in data.pop("vehicles"):
        count = alike.pop("count")
        info = read_vehicle({"name": "", **alike})
        vehicles += [replace(info, name=next(left)) for _ in range(count)]
    latitude, longitude = data.pop("datum")
    return RunHeader(
        **data, describe=lambda: scenario, datum=(latitude, longitude), vehicles=tuple(vehicles)
    )


def write_summary(summary: RunSummary) -> str:
    """Status, duration and how many vehicles came to which end."""
    statuses = Counter(v.status for v in summary.vehicles.values())
    whole = {"status": summary.status, "duration": summary.duration, "vehicles": dict(statuses)}
    return json.dumps(whole, sort_keys=True, allow_nan=False)


def summary_columns(summary: RunSummary) -> dict[str, Labelled]:
    """The figures of all vehicles, each as one variable."""
    ends = list(summary.vehicles.values())
    columns: dict[str, Labelled] = {
        "status": (
            ("vehicle",),
            np.array([v.status for v in ends], dtype=str),
            {"long_name": "what became of the vehicle"},
        )
    }
    for name, (unit, long_name) in _FIGURES.items():
        values = np.array([getattr(v, name) for v in ends], dtype=np.float64)
        columns[name] = (("vehicle",), values, {"units": unit, "long_name": long_name})
    names = list(dict.fromkeys(name for v in ends for name in v.indices))
    if names:
        table = [[v.indices.get(name, np.nan) for name in names] for v in ends]
        note = {"long_name": "figures of the manoeuvre; NaN where there is none"}
        columns["indices"] = (("vehicle", "index_name"), np.array(table, dtype=np.float64), note)
        labels = np.array(names, dtype=str)
        columns["index_name"] = (("index_name",), labels, {"long_name": "name of the figure"})
    return columns | _event_columns(summary)


def read_summary(text: str, data: "xarray.Dataset") -> RunSummary:
    """The summary of every vehicle."""
    whole = json.loads(text)
    names = data["vehicle"].values.tolist()
    figures = zip(*(data[name].values.tolist() for name in _FIGURES), strict=True)
    indices = _read_indices(data, len(names))
    ends = zip(names, data["status"].values.tolist(), figures, indices, strict=True)
    events = _read_events(data)
    vehicles = {
        name: VehicleSummary(
            status,
            **dict(zip(_FIGURES, numbers, strict=True)),
            indices=index,
            events=tuple(events.get(name, ())),
        )
        for name, status, numbers, index in ends
    }
    return RunSummary(whole["status"], whole["duration"], vehicles)


def _event_columns(summary: RunSummary) -> dict[str, Labelled]:
    """The events of all vehicles one below the other, if there are any."""
    rows = [
        (name, *vars(event).values())
        for name, vehicle in summary.vehicles.items()
        for event in vehicle.events
    ]
    if not rows:
        return {}
    return {
        name: (("event",), np.array(column), {"long_name": long_name, **about})
        for (name, (long_name, about)), column in zip(
            _EVENT.items(), zip(*rows, strict=True), strict=True
        )
    }


def _read_events(data: "xarray.Dataset") -> dict[str, list[Event]]:
    """By the vehicle's name."""
    found: dict[str, list[Event]] = {}
    if "event_time" in data:
        for name, *event in zip(*(data[column].values.tolist() for column in _EVENT), strict=True):
            found.setdefault(name, []).append(Event(*event))
    return found


def _read_indices(data: "xarray.Dataset", count: int) -> list[dict[str, float]]:
    if "indices" not in data:
        return [{} for _ in range(count)]
    names = data["index_name"].values.tolist()
    return [
        {name: x for name, x in zip(names, row, strict=True) if np.isfinite(x)}
        for row in data["indices"].values.tolist()
    ]


def _but_name(vehicle: VehicleInfo) -> tuple[Any, ...]:
    return tuple(value for name, value in vars(vehicle).items() if name != "name")
