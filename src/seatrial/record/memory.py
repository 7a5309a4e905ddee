"""A run kept in memory, read like a recording."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import (
    Act,
    Frames,
    GroupFrames,
    RunHeader,
    RunSummary,
    Scene,
    VehicleFrames,
)
from seatrial.record.dataset import build_dataset
from seatrial.record.infos import with_bottom
from seatrial.record.lazy import LazyArray
from seatrial.record.reader import Recording
from seatrial.record.source import Span, cut_into
from seatrial.signals import Measurements, join

if TYPE_CHECKING:
    import xarray

_ROWS_AT_ONCE = 10_000


class MemoryRecorder:
    """A Sink that keeps every frame."""

    def __init__(self) -> None:
        self._header: RunHeader | None = None
        self._scene: Scene | None = None
        self._summary: RunSummary | None = None
        self._blocks: list[Frames] = []

    def open(self, header: RunHeader, scene: Scene | None = None) -> None:
        """Start."""
        self._header, self._scene = header, scene

    def write(self, frames: Frames) -> None:
        """Keep a block."""
        self._blocks.append(frames)

    def close(self, summary: RunSummary) -> None:
        """Finish."""
        self._summary = summary

    @property
    def header(self) -> RunHeader:
        """Of the run."""
        assert self._header is not None, "the run has not started"
        return self._header

    @property
    def times(self) -> NDArray[np.float64]:
        """Of the frames so far, s."""
        return np.concatenate([b.time for b in self._blocks])

    def recording(self) -> Recording:
        """Everything so far, joined."""
        groups = tuple(
            _joined(parts) for parts in zip(*(b.groups for b in self._blocks), strict=True)
        )
        acts = tuple(act for block in self._blocks for act in block.acts)
        bottom = tuple(part for block in self._blocks for part in block.bottom)
        frames = Frames(self.times, groups, acts, bottom)
        return Recording(
            Path("(in memory)"),
            self.header,
            self._summary,
            with_bottom(self._scene, frames.bottom),
            self._summary is not None,
            MemorySource(self.header, frames),
        )


@dataclass(frozen=True)
class MemorySource:
    """Frames, samples and arrays in memory."""

    header: RunHeader
    frames: Frames

    def dataset(self) -> "xarray.Dataset":
        """All frames."""
        return build_dataset(self.header, self.frames)

    def parts(self) -> Iterator[slice]:
        """The frames, some thousands at a time."""
        return cut_into(len(self.frames.time), _ROWS_AT_ONCE)

    def acts(self) -> tuple[Act, ...]:
        """What people did."""
        return self.frames.acts

    def samples(self, vehicle: str, sensor: str, span: Span) -> Iterator[Measurements]:
        """All samples at once."""
        yield replace(self.frames.measurements[vehicle][sensor], payload=None)

    def counts(self) -> dict[tuple[str, str], int]:
        """Of valid samples."""
        taken = self.frames.measurements
        return {(v, s): int(m.valid.sum()) for v in taken for s, m in taken[v].items()}

    def payload(self, vehicle: str, sensor: str) -> LazyArray:
        """The arrays of the valid samples."""
        samples = self.frames.measurements[vehicle][sensor]
        assert samples.payload is not None, "the run gave no arrays"
        arrays = samples.payload[samples.valid]
        return LazyArray([len(arrays)], arrays.shape[1:], arrays.dtype, lambda block: arrays)


def _joined(blocks: tuple[GroupFrames, ...]) -> GroupFrames:
    """Consecutive blocks of one group as one."""
    fields = VehicleFrames.__dataclass_fields__
    frames = {f: np.concatenate([getattr(b.frames, f) for b in blocks]) for f in fields}
    sensors = blocks[0].measurements
    return GroupFrames(
        blocks[0].names,
        VehicleFrames(**frames),
        {sensor: join([b.measurements[sensor] for b in blocks]) for sensor in sensors},
    )
