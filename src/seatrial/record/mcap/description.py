"""Header and summary of a run as MCAP metadata and attachments, and back.

`scenario.yaml` is the scenario with every default written out; `run.json` is the rest of the
header; `scene.json` is the sea and the bodies in it, without the vehicles, which the header has;
`bottom-1.json` and so on are further parts of the map of the bottom, each before the frames that
went over it; `summary.json` is there only when the run came to its end.
"""

import json
import math
from dataclasses import asdict
from typing import Any

from seatrial.engine.frames import Event, RunHeader, RunSummary, Scene, VehicleSummary
from seatrial.geometry.terrain import Terrain
from seatrial.record.infos import (
    read_bottom,
    read_vehicle,
    without_nan,
    write_bottom,
    write_surroundings,
)

METADATA = "seatrial"
FORMAT = "3"
SCENARIO_FILE = "scenario.yaml"
RUN_FILE = "run.json"
SUMMARY_FILE = "summary.json"
SCENE_FILE = "scene.json"
BOTTOM_FILE = "bottom-{number}.json"

Attachment = tuple[str, str, bytes]
"""Name, media type, data."""


def metadata(header: RunHeader) -> dict[str, str]:
    """What a viewer shows about the file at a glance."""
    return {
        "format": FORMAT,
        "scenario": header.scenario,
        "seed": str(header.seed),
        "version": header.version,
    }


def attachments(
    header: RunHeader, namespaces: dict[str, str], scene: Scene | None
) -> list[Attachment]:
    """Everything known before the first frame; `namespaces` are the vehicles' names in ROS."""
    run = asdict(header)
    del run["describe"], run["shapes"]
    for vehicle in run["vehicles"]:
        vehicle["namespace"] = namespaces[vehicle["name"]]
    files = [
        (SCENARIO_FILE, "application/yaml", header.description.encode()),
        (RUN_FILE, "application/json", _to_json(run)),
    ]
    if scene is not None:
        files.append((SCENE_FILE, "application/json", write_surroundings(scene).encode()))
    return files


def bottom_attachment(number: int, part: Terrain) -> Attachment:
    """A further part of the map of the bottom, counted from 1."""
    return BOTTOM_FILE.format(number=number), "application/json", write_bottom(part).encode()


def read_bottoms(files: dict[str, bytes]) -> list[Terrain]:
    """All further parts, in the order in which they were loaded."""
    found: list[Terrain] = []
    while (name := BOTTOM_FILE.format(number=len(found) + 1)) in files:
        found.append(read_bottom(files[name].decode()))
    return found


def summary_attachment(summary: RunSummary) -> Attachment:
    """Everything known after the last frame."""
    return SUMMARY_FILE, "application/json", _to_json(summary.as_dict())


def read_header(scenario: bytes, run: bytes) -> tuple[RunHeader, dict[str, str]]:
    """The header and the vehicles' names in ROS."""
    data = json.loads(run)
    namespaces = {v["name"]: v.pop("namespace") for v in data["vehicles"]}
    vehicles = tuple(read_vehicle(vehicle) for vehicle in data.pop("vehicles"))
    datum = tuple(data.pop("datum"))
    text = scenario.decode()
    header = RunHeader(**data, describe=lambda: text, datum=(datum[0], datum[1]), vehicles=vehicles)
    return header, namespaces


def read_summary(data: bytes) -> RunSummary:
    """The summary; figures that did not exist come back as NaN."""
    summary = json.loads(data, object_hook=_with_nan)
    vehicles = {
        name: VehicleSummary(**(vehicle | {"events": tuple(Event(**e) for e in vehicle["events"])}))
        for name, vehicle in summary["vehicles"].items()
    }
    return RunSummary(summary["status"], summary["duration"], vehicles)


def _to_json(value: Any) -> bytes:
    text = json.dumps(without_nan(value), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def _with_nan(value: dict[str, Any]) -> dict[str, Any]:
    return {k: math.nan if v is None else v for k, v in value.items()}
