"""A run kept in memory, read like a recording."""

from pathlib import Path

import numpy as np

from seatrial.engine.frames import Frames, GroupFrames, RunHeader, RunSummary, VehicleFrames
from seatrial.record.dataset import build_dataset
from seatrial.record.reader import Recording
from seatrial.signals import join


class MemoryRecorder:
    """A Sink that keeps every frame."""

    def __init__(self) -> None:
        self._header: RunHeader | None = None
        self._summary: RunSummary | None = None
        self._blocks: list[Frames] = []

    def open(self, header: RunHeader) -> None:
        """Start."""
        self._header = header

    def write(self, frames: Frames) -> None:
        """Keep a block."""
        self._blocks.append(frames)

    def close(self, summary: RunSummary) -> None:
        """Finish."""
        self._summary = summary

    def recording(self) -> Recording:
        """Everything so far, joined."""
        assert self._header is not None, "the run has not started"
        groups = tuple(
            _joined(parts) for parts in zip(*(b.groups for b in self._blocks), strict=True)
        )
        frames = Frames(np.concatenate([b.time for b in self._blocks]), groups)
        return Recording(
            Path("(in memory)"),
            self._header,
            self._summary,
            build_dataset(self._header, frames),
            lambda vehicle, sensor: frames.measurements[vehicle][sensor],
        )


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
