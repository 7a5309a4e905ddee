"""Vehicles side by side: the groups of a block as arrays over all vehicles of the run."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Frames, GroupFrames, RunHeader, VehicleFrames, VehicleInfo

Values = NDArray[Any]
Pick = Callable[[VehicleFrames], Values]


class Columns:
    """Where each vehicle and each channel of a run stands; arrays keep their groups' precision."""

    def __init__(self, header: RunHeader) -> None:
        self.vehicles = len(header.vehicles)
        self._infos = header.vehicles
        self._row = {v.name: i for i, v in enumerate(header.vehicles)}
        kinds = dict.fromkeys(v.actuators for v in header.vehicles)
        self.channels = tuple(dict.fromkeys(a.name for kind in kinds for a in kind))
        troubles = dict.fromkeys(v.faults for v in header.vehicles)
        self.faults = tuple(dict.fromkeys(f.name for some in troubles for f in some))
        self._places: dict[tuple[str, ...], slice | NDArray[np.int64]] = {}

    def join(self, frames: Frames, pick: Pick) -> Values:
        """Values (T, N, ...) of every vehicle."""
        parts = [pick(group.frames) for group in frames.groups]
        shape = (len(frames.time), self.vehicles, *parts[0].shape[2:])
        joined = np.empty(shape, np.result_type(*parts))
        for group, part in zip(frames.groups, parts, strict=True):
            joined[:, self._place(group)] = part
        return joined

    def join_channels(self, frames: Frames, pick: Pick) -> Values:
        """Values (T, N, C) of every vehicle and channel; NaN where a vehicle has no such one."""
        return self._join_named(
            frames, pick, self.channels, lambda info: [a.name for a in info.actuators]
        )

    def join_faults(self, frames: Frames) -> Values:
        """Labels (T, N, F) of every vehicle and fault; NaN where a vehicle has no such one."""
        return self._join_named(
            frames,
            lambda f: f.faults.astype(np.float64),
            self.faults,
            lambda info: [fault.name for fault in info.faults],
        )

    def join_part(self, frames: Frames, field: str, part: slice) -> Values:
        """Some columns (T, N, n) of a field; NaN where a vehicle has none of them."""
        parts = [getattr(group.frames, field)[..., part] for group in frames.groups]
        shape = (len(frames.time), self.vehicles, part.stop - part.start)
        joined = np.full(shape, np.nan, np.result_type(*parts))
        for group, values in zip(frames.groups, parts, strict=True):
            if values.shape[-1]:
                joined[:, self._place(group)] = values
        return joined

    def _join_named(
        self,
        frames: Frames,
        pick: Pick,
        names: tuple[str, ...],
        own: Callable[[VehicleInfo], list[str]],
    ) -> Values:
        parts = [pick(group.frames) for group in frames.groups]
        shape = (len(frames.time), self.vehicles, len(names))
        joined = np.full(shape, np.nan, np.result_type(*parts))
        for group, part in zip(frames.groups, parts, strict=True):
            for i, name in enumerate(own(self._infos[self._row[group.names[0]]])):
                joined[:, self._place(group), names.index(name)] = part[..., i]
        return joined

    def _place(self, group: GroupFrames) -> slice | NDArray[np.int64]:
        if group.names not in self._places:
            rows = np.array([self._row[name] for name in group.names], np.int64)
            first, last = int(rows[0]), int(rows[-1])
            together = np.array_equal(rows, np.arange(first, last + 1))
            self._places[group.names] = slice(first, last + 1) if together else rows
        return self._places[group.names]
