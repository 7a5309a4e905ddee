"""A recording read back: header, summary and one xarray.Dataset in seatrial's own frames."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import RecordingError
from seatrial.record.dataset import build_dataset, with_motion
from seatrial.record.mcap import description
from seatrial.record.mcap.layout import Array, TypeStore
from seatrial.record.mcap.stream import Contents, read_contents
from seatrial.record.mcap.topics import CLOCK_TOPIC, Topic, vehicle_topics
from seatrial.record.swarm.store import read_store
from seatrial.scenario.frames import RunHeader, RunSummary, VehicleFrames, VehicleInfo, frames_of

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Recording:
    """A run as it was recorded."""

    path: Path
    header: RunHeader
    summary: RunSummary | None
    """None when the run was killed before its end."""
    dataset: "xarray.Dataset"
    """All frames, dimensions time, vehicle and axis; NED, forward-starboard-down, SI. Read from a
    Zarr store it holds the variables stored there; `vehicle` adds what follows from them."""

    def vehicle(self, name: str) -> "xarray.Dataset":
        """One vehicle alone: its own actuator channels, and only frames in which it was alive."""
        info = next((v for v in self.header.vehicles if v.name == name), None)
        if info is None:
            names = [v.name for v in self.header.vehicles]
            known = ", ".join(names if len(names) <= 20 else [*names[:3], "…", names[-1]])
            raise RecordingError(
                f"{self.path}: no vehicle {name!r} in this recording\n  expected: one of {known}"
            )
        data = self.dataset.sel(vehicle=name, channel=[a.name for a in info.actuators])
        data = with_motion(data)
        return data.isel(time=np.isfinite(data["depth"].values))


def read(path: str | Path) -> Recording:
    """Open a recording, also one whose run was killed.

    The frames of an MCAP file are read at once, those of a Zarr store when they are asked for.
    """
    path = Path(path)
    if path.is_dir() or path.suffix == ".zarr":
        return Recording(path, *read_store(path))
    contents = read_contents(path)
    header, namespaces = _read_header(path, contents)
    found = contents.attachments.get(description.SUMMARY_FILE)
    time_ns = np.array(contents.times.get(CLOCK_TOPIC, []), dtype=np.int64)
    store = TypeStore()
    vehicles = {
        v.name: _read_vehicle(path, contents, store, v, namespaces[v.name], time_ns)
        for v in header.vehicles
    }
    return Recording(
        path,
        header,
        description.read_summary(found) if found is not None else None,
        build_dataset(header, frames_of(time_ns / 1e9, vehicles)),
    )


def _read_header(path: Path, contents: Contents) -> tuple[RunHeader, dict[str, str]]:
    try:
        return description.read_header(
            contents.attachments[description.SCENARIO_FILE],
            contents.attachments[description.RUN_FILE],
        )
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        topics = ", ".join(sorted(contents.times)) or "no topics"
        raise RecordingError(
            f"{path}: this MCAP file was not written by this version of seatrial, "
            "or it ends before the first frame\n"
            f"  found:    {topics}\n"
            f"  expected: attachments {description.SCENARIO_FILE} and {description.RUN_FILE}, "
            f"topics {CLOCK_TOPIC} and /NAME/odometry\n"
            "  to mend:  record the run again with `seatrial run SCENARIO --out FILE.mcap`"
        ) from error


def _read_vehicle(
    path: Path,
    contents: Contents,
    store: TypeStore,
    vehicle: VehicleInfo,
    namespace: str,
    time_ns: NDArray[np.int64],
) -> VehicleFrames:
    fields: dict[str, Array] = {}
    for topic in vehicle_topics(vehicle, namespace):
        if topic.unpack is not None:
            values = _read_topic(path, contents, store, topic, time_ns)
            fields.update(topic.unpack(values))
    return VehicleFrames(**fields)


def _read_topic(
    path: Path,
    contents: Contents,
    store: TypeStore,
    topic: Topic,
    time_ns: NDArray[np.int64],
) -> Array:
    """(T, slots) numbers on the clock's times, NaN where the vehicle was silent."""
    layout = store.layout(topic.typename, topic.build, topic.slots)
    messages = contents.messages.get(topic.name, [])
    if any(len(m) != layout.size for m in messages):
        raise RecordingError(
            f"{path}: messages of {topic.name} do not have the layout of this file's header\n"
            f"  expected: {topic.typename} of {layout.size} bytes each\n"
            "  to mend:  use the file as `seatrial run` wrote it"
        )
    values = np.full((len(time_ns), topic.slots), np.nan)
    if messages:
        rows = np.searchsorted(time_ns, np.array(contents.times[topic.name], dtype=np.int64))
        values[rows] = layout.decode(messages)
    return values
