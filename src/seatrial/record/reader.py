"""A recording read back: header, summary, scene, and data that stay in the file until used."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seatrial.engine.frames import Act, RunHeader, RunSummary, Scene, VehicleInfo
from seatrial.errors import RecordingError, shorten
from seatrial.record.dataset import FAULT, loop_names, with_motion
from seatrial.record.infos import read_surroundings, with_bottom
from seatrial.record.lazy import LazyArray
from seatrial.record.mcap import description
from seatrial.record.mcap.file import McapFile, open_file
from seatrial.record.mcap.messages import McapSource
from seatrial.record.place import as_path
from seatrial.record.samples import label_samples
from seatrial.record.source import Source, Span, no_samples, within
from seatrial.record.swarm.reading import read_store
from seatrial.ros.topics import CLOCK_TOPIC
from seatrial.signals import Measurements, SensorInfo, join

if TYPE_CHECKING:
    import xarray

ALWAYS: Span = (-np.inf, np.inf)


@dataclass(frozen=True)
class Recording:
    """A run as it was recorded."""

    path: Path
    header: RunHeader
    summary: RunSummary | None
    """None when the run was killed before its end."""
    scene: Scene | None
    """The sea and the bodies in it; None in recordings of older versions."""
    complete: bool
    """Whether it came to its end: a recording of a killed run is cut short."""
    source: Source
    """Where frames, samples and arrays are read from when they are asked for."""

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """All frames, dimensions time, vehicle and axis; NED, forward-starboard-down, SI.

        Its variables stay in the file until they are used, and `sel(time=slice(60, 70))` reads
        only what it needs. From a Zarr store it holds the variables stored there; `vehicle` adds
        what follows from them.
        """
        return self.source.dataset()

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """What people did while it ran, from the page for example, in order."""
        return self.source.acts()

    def vehicle(self, name: str, part: slice = slice(None)) -> "xarray.Dataset":
        """One vehicle alone: only what it has, and only frames in which it was alive.

        `part` says which frames, by number.
        """
        info = self.info(name)
        data = self.dataset.isel(time=part)
        data = data.sel(vehicle=name, channel=[a.name for a in info.actuators])
        if FAULT in data:
            data = data.sel(fault_name=[f.name for f in info.faults])
        others = set(loop_names(self.header.vehicles)) - set(loop_names((info,)))
        data = data.drop_vars(others, errors="ignore")
        data = with_motion(data)
        return data.isel(time=np.isfinite(data["depth"].values))

    def sensor(self, vehicle: str, name: str, span: Span = ALWAYS) -> "xarray.Dataset":
        """What one sensor measured: a variable per component over the time of taking the samples,
        with `arrival` and the bits of `fault`; SI, in the sensor's axes. The arrays of a dense
        sensor are not in it: see `payload`."""
        info, sensor = self._sensor(vehicle, name)
        return label_samples(info, sensor, self.samples(vehicle, name, span))

    def samples(self, vehicle: str, sensor: str, span: Span = ALWAYS) -> Measurements:
        """What a sensor of a vehicle measured from one time to another, without its arrays."""
        components = self._sensor(vehicle, sensor)[1].components
        parts = list(self.sample_parts(vehicle, sensor, span))
        joined = join(parts) if parts else no_samples(len(components))
        if np.all(np.diff(joined.time) >= 0.0):
            return joined
        return joined.cut(np.argsort(joined.time, kind="stable"))

    def sample_parts(
        self, vehicle: str, sensor: str, span: Span = ALWAYS
    ) -> Iterator[Measurements]:
        """The same piece by piece, as they lie in the file."""
        self._sensor(vehicle, sensor)
        try:
            first, last = map(float, span)
        except (TypeError, ValueError):
            raise RecordingError(
                f"{shorten(span)}: this is no span of time\n"
                "  expected: from when to when, s, as (60, 70)"
            ) from None
        for part in self.source.samples(vehicle, sensor, (first, last)):
            yield within(part, (first, last))

    def payload(self, vehicle: str, sensor: str) -> LazyArray:
        """The arrays of a dense sensor, in the file until they are indexed: `payload[10:20]`.

        Row i belongs to row i of `sensor(vehicle, sensor)`.
        """
        _, info = self._sensor(vehicle, sensor)
        if info.payload is None:
            dense = [s.name for s in self.info(vehicle).sensors if s.payload is not None]
            known = ", ".join(dense) or "none: the vehicle has no such sensor"
            raise RecordingError(
                f"{self.path}: sensor {sensor!r} of {vehicle!r} gives numbers, no arrays\n"
                f"  expected: one of {known}"
            )
        return self.source.payload(vehicle, sensor)

    def _sensor(self, vehicle: str, name: str) -> tuple[VehicleInfo, SensorInfo]:
        info = self.info(vehicle)
        sensor = next((s for s in info.sensors if s.name == name), None)
        if sensor is None:
            known = ", ".join(s.name for s in info.sensors) or "none: the vehicle has no sensors"
            raise RecordingError(
                f"{self.path}: {vehicle!r} has no sensor {name!r}\n  expected: one of {known}"
            )
        return info, sensor

    def info(self, name: str) -> VehicleInfo:
        """What the header says of a vehicle."""
        info = next((v for v in self.header.vehicles if v.name == name), None)
        if info is None:
            names = [v.name for v in self.header.vehicles]
            known = ", ".join(names if len(names) <= 20 else [*names[:3], "…", names[-1]])
            raise RecordingError(
                f"{self.path}: no vehicle {name!r} in this recording\n  expected: one of {known}"
            )
        return info


def read(path: str | Path) -> Recording:
    """Open a recording, also one whose run was killed; its data are read when they are used.

    >>> run = st.run("otter-turning-circle", duration=1.0, out="run.mcap")
    >>> st.read("run.mcap").dataset.position.dims
    ('time', 'vehicle', 'axis')
    """
    path = as_path(path)
    if path.is_dir() or path.suffix == ".zarr":
        return Recording(path, *read_store(path))
    file = open_file(path)
    header, namespaces, summary, scene = read_description(file)
    source = McapSource(file, header, namespaces)
    return Recording(path, header, summary, scene, file.complete, source)


def read_description(
    file: McapFile,
) -> tuple[RunHeader, dict[str, str], RunSummary | None, Scene | None]:
    """What the attachments of a file tell: header, namespaces, summary, scene."""
    found = file.attachments
    try:
        header, namespaces = description.read_header(
            found[description.SCENARIO_FILE], found[description.RUN_FILE]
        )
        summary, scene = found.get(description.SUMMARY_FILE), found.get(description.SCENE_FILE)
        return (
            header,
            namespaces,
            None if summary is None else description.read_summary(summary),
            None
            if scene is None
            else with_bottom(
                read_surroundings(scene.decode(), header.vehicles), description.read_bottoms(found)
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        topics = ", ".join(sorted(file.topics.values())) or "no topics"
        raise RecordingError(
            f"{file.path}: this MCAP file was not written by this version of seatrial, "
            "or it ends before the first frame\n"
            f"  found:    {topics}\n"
            f"  expected: attachments {description.SCENARIO_FILE} and {description.RUN_FILE}, "
            f"topics {CLOCK_TOPIC} and /NAME/odometry\n"
            "  to mend:  record the run again with `seatrial run SCENARIO --out FILE.mcap`"
        ) from error
