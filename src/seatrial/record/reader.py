"""A recording read back: header, summary and one xarray.Dataset in seatrial's own frames."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import (
    ESTIMATE,
    RunHeader,
    RunSummary,
    VehicleFrames,
    VehicleInfo,
    frames_of,
)
from seatrial.errors import RecordingError
from seatrial.record.dataset import FAULT, build_dataset, loop_names, with_motion
from seatrial.record.mcap import description
from seatrial.record.mcap.messages import McapSamples, read_messages
from seatrial.record.mcap.stream import Contents, read_contents
from seatrial.record.samples import label_samples
from seatrial.record.swarm.store import read_store
from seatrial.ros.layout import Array, TypeStore
from seatrial.ros.loop_topics import frame_topics
from seatrial.ros.topics import CLOCK_TOPIC
from seatrial.signals import Measurements

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
    samples: Callable[[str, str], Measurements]
    """What a sensor of a vehicle measured, by their names; `sensor` makes a Dataset of it."""

    def vehicle(self, name: str) -> "xarray.Dataset":
        """One vehicle alone: only what it has, and only frames in which it was alive."""
        info = self._info(name)
        data = self.dataset.sel(vehicle=name, channel=[a.name for a in info.actuators])
        if FAULT in data:
            data = data.sel(fault_name=[f.name for f in info.faults])
        others = set(loop_names(self.header.vehicles)) - set(loop_names((info,)))
        data = data.drop_vars(others, errors="ignore")
        data = with_motion(data)
        return data.isel(time=np.isfinite(data["depth"].values))

    def sensor(self, vehicle: str, name: str) -> "xarray.Dataset":
        """What one sensor measured: a variable per component over the time of taking the samples,
        with `arrival` and the bits of `fault`; SI, in the sensor's axes."""
        info = self._info(vehicle)
        sensor = next((s for s in info.sensors if s.name == name), None)
        if sensor is None:
            known = ", ".join(s.name for s in info.sensors) or "none: the vehicle has no sensors"
            raise RecordingError(
                f"{self.path}: {vehicle!r} has no sensor {name!r}\n  expected: one of {known}"
            )
        return label_samples(info, sensor, self.samples(vehicle, name))

    def _info(self, name: str) -> VehicleInfo:
        info = next((v for v in self.header.vehicles if v.name == name), None)
        if info is None:
            names = [v.name for v in self.header.vehicles]
            known = ", ".join(names if len(names) <= 20 else [*names[:3], "…", names[-1]])
            raise RecordingError(
                f"{self.path}: no vehicle {name!r} in this recording\n  expected: one of {known}"
            )
        return info


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
        McapSamples(path, contents, store, header, namespaces).read,
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
    """Numbers on the clock's times, NaN where the vehicle was silent."""
    none = np.empty((len(time_ns), 0))
    fields: dict[str, Array] = {"faults": none, "estimate": none, "guidance": none}
    for topic in frame_topics(vehicle, namespace):
        if topic.unpack is not None:
            found = read_messages(path, contents, store, topic)
            values = np.full((len(time_ns), topic.slots), np.nan)
            values[np.searchsorted(time_ns, found.logged)] = found.values
            fields.update(topic.unpack(values))
    if vehicle.estimated:
        fields["estimate"] = np.hstack([fields.pop(f"estimate_{part}") for part in ESTIMATE])
    return VehicleFrames(**fields)
