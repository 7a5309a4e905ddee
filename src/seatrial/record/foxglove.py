"""A recording for Foxglove: hulls, sea and places on Earth beside its topics, and a layout.

The wave surface is not in a recording, for it follows from the seed and would be most of the file.
Here it is computed from the recorded scene, a patch around every vehicle four times a second, and
written with the recording's own messages into a new file.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import VehicleInfo
from seatrial.errors import RecordingError
from seatrial.record.mcap import description
from seatrial.record.mcap.copying import Copy
from seatrial.record.mcap.messages import McapSource
from seatrial.record.reader import Recording
from seatrial.ros import markers
from seatrial.ros.layout import Array, Layout, TypeStore
from seatrial.ros.sensor_topics import KEPT_FOR_LATE_READERS
from seatrial.ros.topics import body_frame
from seatrial.spatial.geodesy import to_geodetic

_RATE = 4.0
"""Patches of sea a second."""
_MOST_SEAS = 6
"""Vehicles with a patch of sea and the triangles of their hull; of more the viewer would see
nothing."""
_AT_ONCE = 64
"""Messages that are encoded together."""
BODIES, STANDING, BOTTOM = "/scene/bodies", "/scene/standing", "/scene/bottom"
_BESIDE = 100.0
"""How far beside the tracks the bottom is drawn, m."""
_MOST_NODES = 96
"""Of the bottom along a side; a finer map is thinned out."""

Logged = tuple[int, int, bytes]
"""Channel, time (ns), data."""


def write_foxglove(run: Recording, target: Path, progress: Callable[[float], None]) -> list[Path]:
    """Write `target`, an MCAP file, and the layout beside it; tells the share that is done."""
    if not isinstance(run.source, McapSource):
        raise RecordingError(
            f"{run.path}: only MCAP recordings have topics for Foxglove\n"
            "  expected: a run recorded with --out FILE.mcap"
        )
    with target.open("wb") as file:
        copy = Copy(run.source.file, description.metadata(run.header), "with its scene", file)
        scene = _Scene(run, copy, run.source.namespaces)
        places = run.source.file.places
        for k, place in enumerate(places):
            progress(k / len(places))
            copy.copy(place)
            for messages in scene.until(place.end):
                copy.write(messages)
        copy.finish()
    layout = target.with_suffix(".json")
    layout.write_text(json.dumps(build_layout(run, run.source.namespaces), indent=2) + "\n")
    return [target, layout]


def _topic(namespace: str, what: str) -> str:
    return f"/{namespace}/scene/{what}"


@dataclass(frozen=True)
class _Told:
    """A vehicle with what is told of its surroundings."""

    vehicle: VehicleInfo
    time: NDArray[np.int64]
    """(T,) of its frames, ns."""
    position: Array
    """(T, 3) NED."""
    sea: tuple[int, Layout] | None
    """Channel and layout."""
    fix: tuple[int, Layout]


class _Scene:
    """The messages that the recording does not have, in the order of time."""

    def __init__(self, run: Recording, copy: Copy, names: dict[str, str]) -> None:
        self._run, self._next = run, 0
        store = TypeStore()
        self._once: list[Logged] = []
        self._told: list[_Told] = []
        zero = np.zeros(1, np.int64)

        def once(topic: str, build: Any) -> None:
            layout = store.layout(markers.MARKERS, build, 0)
            kept = copy.channel(topic, markers.MARKERS, offered_qos_profiles=KEPT_FOR_LATE_READERS)
            self._once.append((kept, 0, layout.encode(zero, np.empty((1, 0)))[0]))

        for k, v in enumerate(run.header.vehicles):
            frame = body_frame(names[v.name])
            shape = run.header.hulls.get(v.name) if k < _MOST_SEAS else None
            hull = partial(markers.build_hull, vehicle=v, frame=frame, shape=shape)
            once(_topic(names[v.name], "hull"), hull)
            sea = None
            if k < _MOST_SEAS and run.scene is not None:
                slots = 2 + len(markers.patch_points(v))
                layout = store.layout(markers.MARKERS, partial(markers.build_sea, vehicle=v), slots)
                sea = copy.channel(_topic(names[v.name], "sea"), markers.MARKERS), layout
            fix = store.layout(markers.FIX, partial(markers.build_fix, frame=frame), 3)
            channel = copy.channel(_topic(names[v.name], "location"), markers.FIX)
            data = run.vehicle(v.name)
            time = np.rint(data["time"].values * 1e9).astype(np.int64)
            told = _Told(v, time, data["position"].values, sea, (channel, fix))
            self._told.append(told)
        bodies = () if run.scene is None else run.scene.bodies
        standing = [b for b in bodies if b.shape != "vehicle" and not b.moves]
        if standing:
            once(STANDING, partial(markers.build_standing, bodies=standing))
        bottom = _bottom(run, [told.position for told in self._told])
        if bottom is not None:
            north, east, depth = bottom
            once(BOTTOM, partial(markers.build_bottom, north=north, east=east, depth=depth))
        self._moving = [b for b in bodies if b.shape != "vehicle" and b.moves]
        self._bodies: tuple[int, Layout] | None = None
        if self._moving:
            build = partial(markers.build_moving, bodies=self._moving)
            layout = store.layout(markers.MARKERS, build, 5 * len(self._moving))
            self._bodies = copy.channel(BODIES, markers.MARKERS), layout

    def until(self, end: int) -> Iterator[list[Logged]]:
        """Everything up to a time (ns) that was not told yet, some at a time."""
        if self._once:
            yield self._once
            self._once = []
        last = int(np.floor(end * 1e-9 * _RATE))
        for first in range(self._next, last + 1, _AT_ONCE):
            numbers = np.arange(first, min(first + _AT_ONCE, last + 1))
            yield self._tell(np.rint(numbers / _RATE * 1e9).astype(np.int64))
        self._next = max(self._next, last + 1)

    def _tell(self, times: NDArray[np.int64]) -> list[Logged]:
        found: list[Logged] = []
        for told in self._told:
            alive = times[times <= (told.time[-1] if len(told.time) else -1)]
            if not len(alive):
                continue
            rows = np.searchsorted(told.time, alive).clip(max=len(told.time) - 1)
            place = told.position[rows]
            if told.sea is not None:
                channel, layout = told.sea
                data = layout.encode(alive, self._heights(told.vehicle, place, alive))
                found += zip([channel] * len(alive), alive.tolist(), data, strict=True)
            channel, layout = told.fix
            geodetic = np.stack(to_geodetic(place.T, self._run.header.datum), axis=-1)
            data = layout.encode(alive, geodetic)
            found += zip([channel] * len(alive), alive.tolist(), data, strict=True)
        if self._bodies is not None:
            channel, layout = self._bodies
            data = layout.encode(times, self._places(times))
            found += zip([channel] * len(times), times.tolist(), data, strict=True)
        return sorted(found, key=lambda message: message[1])

    def _places(self, times: NDArray[np.int64]) -> Array:
        """East, north, up, and the half angle's sine and cosine, of every body that moves."""
        rows = []
        for t in (times * 1e-9).tolist():
            row: list[float] = []
            for body in self._moving:
                (north, east, down), matrix = body.pose(t)
                # From east, anticlockwise, as in ROS.
                half = 0.5 * np.arctan2(matrix[0, 0], matrix[1, 0])
                row += [east, north, -down, np.sin(half), np.cos(half)]
            rows.append(row)
        return np.array(rows).reshape(len(times), -1)

    def _heights(self, vehicle: VehicleInfo, place: Array, times: NDArray[np.int64]) -> Array:
        """East and north of the middle, and the heights of the patch to a millimetre."""
        scene = self._run.scene
        assert scene is not None
        points, which = np.unique(markers.patch_points(vehicle), axis=0, return_inverse=True)
        north, east = place[:, :1] + points[:, 1], place[:, 1:2] + points[:, 0]
        height = scene.elevation(north, east, times[:, None] * 1e-9)
        values: Array = np.concatenate(
            [place[:, 1:2], place[:, :1], np.round(height, 3)[:, which.ravel()]], axis=1
        )
        return values


def _bottom(run: Recording, tracks: list[Array]) -> tuple[Array, Array, Array] | None:
    """Nodes north (A,) and east (B,) and their depths (A, B), around where the vehicles went."""
    places = np.concatenate([*tracks, np.zeros((0, 3))])[:, :2]
    if run.scene is None or not len(places):
        return None
    low, high = places.min(axis=0) - _BESIDE, places.max(axis=0) + _BESIDE
    terrain = run.scene.terrain
    if terrain is None:
        if run.scene.water_depth is None:
            return None
        return *np.array([low, high]).T, np.full((2, 2), run.scene.water_depth)
    axes = []
    for nodes, a, b in zip((terrain.north, terrain.east), low, high, strict=True):
        some = np.flatnonzero((nodes >= a) & (nodes <= b))
        axes.append(some[:: -(-len(some) // _MOST_NODES)] if len(some) > 1 else np.arange(2))
    return terrain.north[axes[0]], terrain.east[axes[1]], terrain.filled[np.ix_(*axes)]


def build_layout(run: Recording, names: dict[str, str]) -> dict[str, Any]:
    """A layout that Foxglove imports: 3-D view and map on the left, plots on the right."""
    first = run.header.vehicles[0]
    visible = {topic: {"visible": True} for topic in (BODIES, STANDING, BOTTOM)}
    for name in names.values():
        visible |= {_topic(name, what): {"visible": True} for what in ("hull", "sea")}
        visible[f"/{name}/path"] = {"visible": True}
    own = names[first.name]
    panels: dict[str, Any] = {
        "3D!scene": {
            "followMode": "follow-position",
            "followTf": body_frame(own),
            "cameraState": {
                "perspective": True,
                "distance": 0.8 * markers.patch_size(first),
                "phi": 65.0,
                "thetaOffset": 45.0,
                "target": [0.0, 0.0, 0.0],
                "targetOffset": [0.0, 0.0, 0.0],
                "targetOrientation": [0.0, 0.0, 0.0, 1.0],
                "fovy": 45.0,
                "near": 0.1,
                "far": 10000.0,
            },
            "scene": {"enableStats": False, "transforms": {"showLabel": False}},
            "transforms": {},
            "topics": visible,
            "layers": {},
        },
        "map!place": {
            "layer": "map",
            "zoomLevel": 16,
            "followTopic": _topic(own, "location"),
            "disabledTopics": [],
            "topicColors": {},
        },
        "Plot!speed": _plot(
            "Speed ahead [m/s]",
            {f"/{n}/odometry.twist.twist.linear.x": v for v, n in names.items()},
        ),
        "Plot!height": _plot(
            "Height above mean water [m]",
            {f"/{n}/odometry.pose.pose.position.z": v for v, n in names.items()},
        ),
        "Plot!turn": _plot(
            "Yaw rate, to port [rad/s]",
            {f"/{n}/odometry.twist.twist.angular.z": v for v, n in names.items()},
        ),
        "Plot!actuators": _plot(
            f"Actuators of {first.name}",
            {f"/{own}/actuators.position[{i}]": a.name for i, a in enumerate(first.actuators)},
        ),
    }
    return {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1.0},
        "layout": {
            "direction": "row",
            "splitPercentage": 60,
            "first": {
                "direction": "column",
                "splitPercentage": 65,
                "first": "3D!scene",
                "second": "map!place",
            },
            "second": {
                "direction": "column",
                "splitPercentage": 50,
                "first": {"direction": "column", "first": "Plot!speed", "second": "Plot!height"},
                "second": {"direction": "column", "first": "Plot!turn", "second": "Plot!actuators"},
            },
        },
    }


def _plot(title: str, lines: dict[str, str]) -> dict[str, Any]:
    """Message paths and the names of their lines."""
    return {
        "foxglovePanelTitle": title,
        "paths": [
            {"value": path, "label": name, "enabled": True, "timestampMethod": "receiveTime"}
            for path, name in lines.items()
        ],
        "xAxisVal": "timestamp",
        "isSynced": True,
        "showLegend": True,
        "legendDisplay": "floating",
        "showXAxisLabels": True,
        "showYAxisLabels": True,
        "sidebarDimension": 240,
    }
