"""Many runs of one scenario as one dataset, in memory or in a folder."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Frames, RunHeader, RunSummary, Scene
from seatrial.errors import Problem, RecordingError, SpecError
from seatrial.record.dataset import (
    NAMES,
    Labelled,
    attributes,
    coordinates,
    label_time,
    labelled,
    optional_names,
)
from seatrial.record.swarm.columns import Columns

if TYPE_CHECKING:
    import xarray
    import zarr

RUNS_PER_CHUNK, FRAMES_PER_CHUNK = 32, 200
"""Of a folder: what is held in memory until it is whole and written, for every variable."""


class RunsTable:
    """Every frame of many runs, and no measurements; a run that ended early has NaN after its end.

    Runs lie side by side in tables of some runs and some frames each. In memory one table holds
    them all. Of a folder, whose memory must not grow with runs nor with their length, each is a
    chunk that is written and let go of when its runs have passed its frames or have ended.
    """

    def __init__(self, runs: int, longest: float, path: Path | None = None) -> None:
        """`longest` is how long the longest is meant to last, s."""
        if path is not None:
            _check_place(path)
        self._runs, self._longest, self._path = runs, longest, path
        self._lock = threading.Lock()
        self._header: RunHeader | None = None
        self._columns: Columns
        self._frames = 0
        """Of the longest run, if it ends when it is meant to."""
        self._known = [0] * runs
        """Frames of each run beyond which nothing is open: all of them when it has ended."""
        self._size = (RUNS_PER_CHUNK, FRAMES_PER_CHUNK)
        self._tables: dict[tuple[int, int], dict[str, NDArray[np.float64]]] = {}
        """By their number among the runs and among the frames."""
        self._notes: dict[str, Labelled] = {}
        """Dimensions and attributes of every variable of a run; the values are not used."""
        self._stored: dict[str, zarr.Array[Any]] = {}

    def sink(self, run: int) -> "_RunSink":
        """What takes the frames of a run."""
        return _RunSink(self, run)

    def open(self, header: RunHeader) -> None:
        """Learn what runs are like; the first tells it for all of them."""
        with self._lock:
            if self._header is None:
                self._header, self._columns = header, Columns(header)
                self._frames = round(self._longest / header.frame_period) + 1
                if self._path is None:
                    self._size = (self._runs, self._frames)

    def take(self, run: int, frames: Frames) -> None:
        """The next frames of a run."""
        assert self._header is not None, "no run has started"
        names = (*NAMES, *optional_names(self._header, self._columns))
        values = {name: labelled(name, self._columns, frames) for name in names}
        with self._lock:
            if not self._notes:
                self._notes = values
                if self._path is not None:
                    self._create(self._path)
            first, long = self._known[run], self._size[1]
            self._known[run] = after = first + len(frames.time)
            for part in range(first // long, -(-after // long)):
                begin, end = max(first, part * long), min(after, (part + 1) * long)
                table = self._table(run // self._size[0], part)
                row, to = run % self._size[0], slice(begin - part * long, end - part * long)
                for name, (_, content, _) in values.items():
                    table[name][row, to] = content[begin - first : end - first]
            self._write(run)

    def end(self, run: int) -> None:
        """There are no more frames of a run."""
        with self._lock:
            self._known[run] = self._frames
            self._write(run)

    def dataset(
        self, summaries: Sequence[RunSummary], facts: Mapping[str, list[Any]]
    ) -> "xarray.Dataset":
        """All runs up to the end of the longest, with what is known of each: `facts`, and how its
        vehicles ended. From a folder they are read where they are looked at."""
        import xarray

        known = xarray.Dataset(
            _endings(summaries), {name: ("run", values) for name, values in facts.items()}
        )
        if self._path is None:
            (table,) = self._tables.values()
            found = {
                n: (("run", *self._notes[n][0]), a, self._notes[n][2]) for n, a in table.items()
            }
            whole = self._empty().assign(found).merge(known)
        else:
            known.to_zarr(self._path, mode="a", consolidated=False)
            whole = xarray.open_zarr(self._path, chunks=None, consolidated=False)
        last = max(summary.duration for summary in summaries)
        return whole.sel(time=slice(None, last + 1e-9))

    def _empty(self) -> "xarray.Dataset":
        """Coordinates and attributes; a seed is a run's own."""
        import xarray

        assert self._header is not None, "no run has started"
        time = self._header.frame_period * np.arange(self._frames, dtype=np.float64)
        about = {name: one for name, one in attributes(self._header).items() if name != "seed"}
        known = coordinates(self._header, self._columns) | {"time": label_time(time)}
        return xarray.Dataset(coords=known, attrs=about)

    def _create(self, path: Path) -> None:
        """The folder, with room for every variable."""
        import zarr
        from numcodecs import CRC32, Blosc

        try:
            self._empty().to_zarr(path, mode="w-", zarr_format=2, consolidated=False)
        except OSError as error:
            raise _unwritable(path, error) from error
        root = zarr.open_group(path, mode="a", zarr_format=2)
        for name, (dims, values, attrs) in self._notes.items():
            row = values.shape[1:]
            self._stored[name] = root.create_array(
                name,
                shape=(self._runs, self._frames, *row),
                chunks=(*self._size, *(max(1, n) for n in row)),
                dtype=np.float64,
                filters=[CRC32()],
                compressors=Blosc("zstd", clevel=1, shuffle=Blosc.SHUFFLE),
                fill_value=np.nan,
                attributes={"_ARRAY_DIMENSIONS": ["run", *dims], **attrs},
            )

    def _table(self, group: int, part: int) -> dict[str, NDArray[np.float64]]:
        if (group, part) not in self._tables:
            runs = min(self._size[0], self._runs - group * self._size[0])
            frames = min(self._size[1], self._frames - part * self._size[1])
            self._tables[group, part] = {
                name: np.full((runs, frames, *values.shape[1:]), np.nan)
                for name, (_, values, _) in self._notes.items()
            }
        return self._tables[group, part]

    def _write(self, run: int) -> None:
        """Hand over the tables of a run's neighbours that none of them will change any more."""
        if self._path is None:
            return
        group, (wide, long) = run // self._size[0], self._size
        runs = slice(group * wide, min((group + 1) * wide, self._runs))
        passed = min(self._known[runs])
        for part in sorted(part for other, part in self._tables if other == group):
            frames = slice(part * long, min((part + 1) * long, self._frames))
            if frames.stop > passed:
                return
            table = self._tables.pop((group, part))
            try:
                for name, values in table.items():
                    self._stored[name][runs, frames] = values
            except OSError as error:
                raise _unwritable(self._path, error) from error


@dataclass(frozen=True)
class _RunSink:
    """A Sink of one run."""

    table: RunsTable
    run: int

    def open(self, header: RunHeader, scene: Scene | None = None) -> None:
        """Start."""
        self.table.open(header)

    def write(self, frames: Frames) -> None:
        """Take a block."""
        self.table.take(self.run, frames)

    def close(self, summary: RunSummary) -> None:
        """Finish."""
        self.table.end(self.run)


def _check_place(path: Path) -> None:
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


def _unwritable(path: Path, error: OSError) -> RecordingError:
    return RecordingError(
        f"{path}: cannot write the runs ({error.strerror or error})\n"
        "  expected: a folder name in a folder that exists, is writable and has space\n"
        "  to mend:  choose another place"
    )


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
