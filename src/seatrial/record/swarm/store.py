"""A swarm on disk: one columnar Zarr store, which `xarray.open_zarr` opens.

Zarr keeps every variable in chunks of its own, here one per block of frames. How many frames there
are is written in one place that readers look at, the consolidated metadata; it is replaced, in one
move of the file system, when all chunks of a block are on disk. So a killed run leaves a store
that ends with its last whole block. Every sensor has a group of its own below `sensors`, whose
samples grow under the same rule. Zarr format 2, because the metadata of format 3 is not yet
consolidated by a settled standard, and opening it so warns.

The store holds simulated time only: the same run gives the same bytes in every file.
"""

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.engine.frames import Frames, GroupFrames, RunHeader, RunSummary, VehicleFrames
from seatrial.errors import RecordingError
from seatrial.record.dataset import (
    Labelled,
    attributes,
    coordinates,
    label_time,
    labelled,
    optional_names,
)
from seatrial.record.swarm import description as described
from seatrial.record.swarm.columns import Columns
from seatrial.record.swarm.fittings import FOLDER, GROWING, Fitting, list_fittings
from seatrial.signals import Measurements

if TYPE_CHECKING:
    import xarray
    import zarr

STORED = (
    "position",
    "attitude",
    "velocity",
    "angular_velocity",
    "actuator",
    "wave_elevation",
    "wet_fraction",
)
"""What cannot be had without running again, or is small; the seed gives back the rest."""

_SAMPLES_PER_CHUNK = 200_000
"""Vehicles times frames in a chunk at most; bounds the memory when a whole run comes at once."""
_TIMES_PER_CHUNK = 4096
_LEAST_MEASUREMENTS_PER_CHUNK = 64
"""A slow sensor gives few samples in a block, or none."""
_METADATA = ".zmetadata"


class ZarrRecorder:
    """A sink that writes a Zarr store."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._frames = 0
        self._frames_per_chunk = 0
        self._stored: tuple[str, ...] = STORED
        self._fittings: list[Fitting] = []
        self._samples: dict[str, int] = {}
        """Samples in the store by a fitting's place."""
        self._columns: Columns
        self._root: zarr.Group
        self._arrays: dict[str, zarr.Array[Any]] = {}

    def open(self, header: RunHeader) -> None:
        """Create the store with everything that is known before the first frame."""
        import zarr

        self._columns = Columns(header)
        self._stored = (*STORED, *optional_names(header, self._columns))
        self._fittings = list_fittings(header)
        about = attributes(header) | {
            "header": described.write_header(header),
            "coordinates": "kind channel_unit",  # where xarray looks for those without a dimension
        }
        with self._writing():
            self._make_room()
            self._root = zarr.create_group(self.path, zarr_format=2, attributes=about)
            for name, coordinate in coordinates(header, self._columns).items():
                if name != "angle":
                    self._put(name, coordinate)
            self._create("time", label_time(np.empty(0)), (_TIMES_PER_CHUNK,))
            if self._fittings:
                self._root.create_group(FOLDER)
            for fitting in self._fittings:
                self._samples[fitting.place] = 0
                self._root.create_group(fitting.place, attributes={"coordinates": "time unit"})
                for name, label in fitting.labels():
                    self._put(name, label)
            self._commit()

    def write(self, frames: Frames) -> None:
        """Append a block of frames; it survives a kill from here on."""
        with self._writing():
            if self._frames_per_chunk == 0:
                most = _SAMPLES_PER_CHUNK // self._columns.vehicles
                self._frames_per_chunk = max(1, min(len(frames.time), most))
            for first in range(0, len(frames.time), self._frames_per_chunk):
                part = _cut(frames, slice(first, first + self._frames_per_chunk))
                for name in self._stored:
                    self._append(name, labelled(name, self._columns, part), self._frames + first)
            self._append("time", label_time(frames.time), self._frames)
            taken = {
                fitting.place: self._append_samples(fitting, frames) for fitting in self._fittings
            }
            self._frames += len(frames.time)
            for place, count in taken.items():
                self._samples[place] += count
            self._commit()

    def _append_samples(self, fitting: Fitting, frames: Frames) -> int:
        """Append a sensor's samples of a block; returns how many they are."""
        samples = fitting.join(frames)
        count, most = len(samples.time), max(1, _SAMPLES_PER_CHUNK // len(fitting.vehicles))
        size = min(max(count, _LEAST_MEASUREMENTS_PER_CHUNK), most)
        for first in range(0, max(count, 1), size):
            for name, table in fitting.tables(samples.cut(slice(first, first + size))):
                if name not in self._arrays:
                    self._create(name, table, (size, *table[1].shape[1:]))
                self._append(name, table, self._samples[fitting.place] + first)
        return count

    def close(self, summary: RunSummary) -> None:
        """Add what became of the vehicles, a number per vehicle, and of the whole."""
        with self._writing():
            self._drop_unfinished()
            for name, column in described.summary_columns(summary).items():
                self._put(name, column)
            self._root.attrs["summary"] = described.write_summary(summary)
            self._commit()

    def _drop_unfinished(self) -> None:
        """Take back a block in the middle of which the run was interrupted."""
        lengths = dict.fromkeys((*self._stored, "time"), self._frames)
        for place, count in self._samples.items():
            lengths |= {f"{place}/{name}": count for name in GROWING}
        for name, length in lengths.items():
            array = self._arrays.get(name)
            if array is not None and array.shape[0] > length:
                array.resize((length, *array.shape[1:]))

    def _append(self, name: str, block: Labelled, first: int) -> None:
        values = block[1]
        if name not in self._arrays:
            self._create(name, block, values.shape)
        array = self._arrays[name]
        array.resize((first + len(values), *values.shape[1:]))
        if values.size:
            array[first:] = values

    def _put(self, name: str, content: Labelled) -> None:
        """A variable that does not grow."""
        values = content[1]
        array = self._create(name, content, values.shape)
        array.resize(values.shape)
        if values.size:
            array[:] = values

    def _create(self, name: str, content: Labelled, chunks: tuple[int, ...]) -> "zarr.Array[Any]":
        """An array without any entries yet."""
        from numcodecs import Blosc

        dims, values, attrs = content
        self._arrays[name] = self._root.create_array(
            name,
            shape=(0, *values.shape[1:]),
            chunks=tuple(max(1, n) for n in chunks),
            dtype=values.dtype,
            compressors=Blosc("zstd", clevel=1, shuffle=Blosc.SHUFFLE),
            fill_value=None,
            attributes={"_ARRAY_DIMENSIONS": list(dims), **attrs},
            config={"write_empty_chunks": True},  # so that a chunk that is not there was lost
        )
        return self._arrays[name]

    def _commit(self) -> None:
        """Let readers see everything written so far."""
        import zarr

        zarr.consolidate_metadata(self._root.store, zarr_format=2)

    def _make_room(self) -> None:
        """Replace an older recording, but nothing else."""
        if not self.path.exists():
            return
        about = self.path / ".zattrs"
        ours = about.is_file() and b'"scenario_yaml"' in about.read_bytes()
        if not ours and not (self.path.is_dir() and not any(self.path.iterdir())):
            raise RecordingError(
                f"{self.path}: exists and is not a recording\n"
                "  expected: a new name, or a recording to replace\n"
                "  to mend:  choose another place with --out FOLDER.zarr"
            )
        shutil.rmtree(self.path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordingError(
                f"{self.path}: cannot write the recording ({error.strerror or error})\n"
                "  expected: a folder name in a folder that exists, is writable and has space\n"
                "  to mend:  choose another place with --out FOLDER.zarr"
            ) from error


Contents = tuple[RunHeader, RunSummary | None, "xarray.Dataset", Callable[[str, str], Measurements]]


def read_store(path: Path) -> Contents:
    """Header, summary (None when the run was killed), frames and samples by vehicle and sensor.

    Frames and samples are loaded when they are used.
    """
    import xarray

    if not (path / _METADATA).is_file():
        found = "nothing" if not path.exists() else "a folder" if path.is_dir() else "a file"
        raise _unusable(path, "is not a Zarr store", found)
    try:
        data = xarray.open_zarr(path, chunks=None, consolidated=True)
        names = data["vehicle"].values.tolist()
        header = described.read_header(data.attrs["header"], data.attrs["scenario_yaml"], names)
        closed = "summary" in data.attrs
        summary = described.read_summary(data.attrs["summary"], data) if closed else None
    except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        found = f"{type(error).__name__}: {error}"
        raise _unusable(path, "was not written by this version of seatrial", found) from error
    _check_chunks(path)
    return (
        header,
        summary,
        data,
        lambda vehicle, sensor: _read_samples(path, header, vehicle, sensor),
    )


def _read_samples(path: Path, header: RunHeader, vehicle: str, sensor: str) -> Measurements:
    import zarr

    fitting = next(
        f for f in list_fittings(header) if f.info.name == sensor and vehicle in f.vehicles
    )
    # Through the root: only its metadata is replaced when a block is whole.
    root = zarr.open_group(path, mode="r", use_consolidated=True)
    if f"{fitting.place}/time" not in root:  # killed before the first block
        nothing = np.empty((0, len(fitting.info.components)))
        none = np.empty(0)
        return Measurements(none, none, nothing, none.astype(bool), none.astype(np.int32))
    column = fitting.vehicles.index(vehicle)

    def table(name: str) -> Any:
        array = root[f"{fitting.place}/{name}"]
        assert isinstance(array, zarr.Array)
        return array[:] if name == "time" else array[:, column]

    return Measurements(*(table(name) for name in GROWING))


def _check_chunks(path: Path) -> None:
    """Refuse a store with lost or cut files: Zarr would read a missing chunk as numbers."""
    import zarr

    root = zarr.open_group(path, mode="r", use_consolidated=True)
    for name, array in root.members(max_depth=None):
        if not isinstance(array, zarr.Array):
            continue
        counts = (-(-n // c) for n, c in zip(array.shape, array.chunks, strict=True))
        for place in itertools.product(*(range(n) for n in counts)):
            file = path / name / ".".join(str(i) for i in place)
            if not _is_whole(file):
                raise _unusable(path, "is damaged", f"{name}/{file.name} is missing or cut")


def _is_whole(file: Path) -> bool:
    """Whether a chunk has the length that Blosc wrote into bytes 12 to 15 of it."""
    try:
        with file.open("rb") as chunk:
            size = int.from_bytes(chunk.read(16)[12:], "little")
            return size > 0 and size == os.fstat(chunk.fileno()).st_size
    except OSError:
        return False


def _unusable(path: Path, what: str, found: str) -> RecordingError:
    return RecordingError(
        f"{path}: {what}\n"
        f"  found:    {found}\n"
        "  expected: a folder that `seatrial run SCENARIO --out FOLDER.zarr` wrote\n"
        "  to mend:  record the run again; the same seed gives the same numbers"
    )


def _cut(frames: Frames, part: slice) -> Frames:
    groups = (
        GroupFrames(g.names, VehicleFrames(**{f: a[part] for f, a in vars(g.frames).items()}))
        for g in frames.groups
    )
    return Frames(frames.time[part], tuple(groups))
