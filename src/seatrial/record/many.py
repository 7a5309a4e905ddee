"""Many runs of one scenario as one dataset, in memory or in a folder."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Frames, GroupFrames, RunHeader, RunSummary, Scene
from seatrial.errors import Problem, SpecError
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

    @property
    def header(self) -> RunHeader:
        """Of the run."""
        return self._memory.header

    @property
    def times(self) -> NDArray[np.float64]:
        """Of the frames so far, s."""
        return self._memory.times

    def dataset(self) -> "xarray.Dataset":
        """All frames; they are let go of."""
        taken, self._memory = self._memory.recording().dataset, MemoryRecorder()
        return taken


def joined_runs(
    kept: Sequence[FramesKeeper], summaries: Sequence[RunSummary], facts: Mapping[str, list[Any]]
) -> "xarray.Dataset":
    """All runs with what is known of each: `facts`, and how its vehicles ended.

    The longest run gives the times; a shorter one has NaN after its end.
    """
    joined = _side_by_side(kept, max((one.times for one in kept), key=len))
    return joined.assign(_endings(summaries)).assign_coords(_told(facts))


class RunsStore:
    """A folder that takes runs over as they end, so that memory holds only those that go on."""

    def __init__(self, path: Path) -> None:
        if path.suffix != ".zarr":
            raise SpecError(
                Problem(
                    "many runs are written into a Zarr folder",
                    value=str(path),
                    expected="a name that ends in `.zarr`",
                )
            )
        if path.exists():
            raise SpecError(
                Problem(
                    "there is something already where the runs are to be written",
                    value=str(path),
                    expected="a name that nothing has yet",
                    mend="delete it, or name another one",
                )
            )
        self.path = path

    def add(self, kept: Sequence[FramesKeeper]) -> None:
        """Append runs that have ended; one that ended early has NaN after its end."""
        header = kept[0].header
        frames = round(header.duration / header.frame_period) + 1
        joined = _side_by_side(kept, header.frame_period * np.arange(frames, dtype=np.float64))
        if self.path.exists():
            lasting = [name for name in joined.variables if "run" not in joined[name].dims]
            joined.drop_vars(lasting).to_zarr(self.path, append_dim="run", consolidated=False)
            return
        chunks = {name: {"chunks": one.shape} for name, one in joined.data_vars.items()}
        joined.to_zarr(self.path, mode="w-", encoding=chunks, zarr_format=2, consolidated=False)

    def finish(
        self, summaries: Sequence[RunSummary], facts: Mapping[str, list[Any]]
    ) -> "xarray.Dataset":
        """What is known of every run beside its frames; all of it, read from the folder as it is
        looked at, up to the end of the longest run."""
        import xarray

        known = xarray.Dataset(_endings(summaries), _told(facts))
        known.to_zarr(self.path, mode="a", consolidated=False)
        whole: xarray.Dataset = xarray.open_zarr(self.path, chunks=None, consolidated=False)
        last = max(summary.duration for summary in summaries)
        return whole.sel(time=slice(None, last + 1e-9))


def _side_by_side(kept: Sequence[FramesKeeper], time: NDArray[np.float64]) -> "xarray.Dataset":
    """Runs on a first dimension, all over the same times.

    They are taken over one after the other, so that there is never a second copy of them all.
    """
    import xarray

    columns: dict[Hashable, NDArray[Any]] = {}
    for run, frames in enumerate(kept):
        one = frames.dataset()
        for name, values in one.data_vars.items():
            if "time" not in values.dims:
                columns[name] = values.values
                continue
            if not run:
                columns[name] = np.full((len(kept), len(time), *values.shape[1:]), np.nan)
            columns[name][run, : values.shape[0]] = values.values
    found = {
        name: (("run", *one.dims) if "time" in one.dims else one.dims, columns[name], one.attrs)
        for name, one in one.data_vars.items()
    }
    coordinates = {**one.coords, "time": ("time", time, one.time.attrs)}
    return xarray.Dataset(found, coordinates, one.attrs)


def _told(facts: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: ("run", values) for name, values in facts.items()}


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
