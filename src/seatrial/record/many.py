"""Many runs of one scenario as one dataset."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.engine.frames import Frames, GroupFrames, RunHeader, RunSummary, Scene
from seatrial.record.memory import MemoryRecorder

if TYPE_CHECKING:
    import xarray


class FramesKeeper:
    """A Sink that keeps every frame, and no measurements."""

    def __init__(self) -> None:
        self._memory = MemoryRecorder()

    def open(self, header: RunHeader, scene: Scene | None = None) -> None:
        """Start."""
        self._memory.open(header, scene)

    def write(self, frames: Frames) -> None:
        """Keep a block."""
        groups = tuple(GroupFrames(group.names, group.frames) for group in frames.groups)
        self._memory.write(Frames(frames.time, groups))

    def close(self, summary: RunSummary) -> None:
        """Finish."""
        self._memory.close(summary)

    def dataset(self) -> "xarray.Dataset":
        """All frames; they are let go of."""
        taken, self._memory = self._memory.recording().dataset, MemoryRecorder()
        return taken


def joined_runs(
    kept: Sequence[FramesKeeper], summaries: Sequence[RunSummary], facts: Mapping[str, list[Any]]
) -> "xarray.Dataset":
    """All runs with what is known of each: `facts`, and how its vehicles ended.

    The longest run gives the times; a shorter one has NaN after its end. Runs are taken over one
    after the other, so that there is never a second copy of them all.
    """
    import xarray

    longest = int(np.argmax([summary.duration for summary in summaries]))
    pattern = kept[longest].dataset()
    runs = len(kept)
    columns = {
        name: np.full((runs, *one.shape), np.nan) if "time" in one.dims else one.values
        for name, one in pattern.data_vars.items()
    }
    for run, frames in enumerate(kept):
        one = pattern if run == longest else frames.dataset()
        rows = one.sizes["time"]
        for name, column in columns.items():
            if "time" in pattern[name].dims:
                column[run, :rows] = one[name].values
    found = {
        name: (("run", *one.dims) if "time" in one.dims else one.dims, columns[name], one.attrs)
        for name, one in pattern.data_vars.items()
    }
    told = xarray.Dataset(found, pattern.coords, pattern.attrs)
    for name, values in facts.items():
        told = told.assign_coords({name: ("run", values)})
    return told.assign(_endings(summaries))


def _endings(summaries: Sequence[RunSummary]) -> dict[str, Any]:
    """How the vehicles of every run ended, (run, vehicle)."""
    rows = [list(summary.vehicles.values()) for summary in summaries]
    dims = ("run", "vehicle")
    found: dict[str, Any] = {"status": (dims, [[end.status for end in row] for row in rows])}
    for name in ("ended_at", "distance"):
        found[name] = (dims, [[getattr(end, name) for end in row] for row in rows])
    for name in sorted({name for row in rows for end in row for name in end.indices}):
        found[name] = (dims, [[end.indices.get(name, np.nan) for end in row] for row in rows])
    return found
