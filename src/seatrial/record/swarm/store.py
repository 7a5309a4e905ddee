"""A swarm on disk: one columnar Zarr store, which `xarray.open_zarr` opens.

Zarr keeps every variable in chunks of its own, here one per block of frames. How many frames there
are is written in one place that readers look at, the consolidated metadata; it is replaced, in one
move of the file system, when all chunks of a block are on disk. So a killed run leaves a store
that ends with its last whole block. Zarr format 2, because the metadata of format 3 is not yet
consolidated by a settled standard, and opening it so warns.

The store holds simulated time only: the same run gives the same bytes in every file.
"""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.errors import RecordingError
from seatrial.record.dataset import (
    Labelled,
    attributes,
    coordinates,
    label_time,
    labelled,
)
from seatrial.record.swarm import description as described
from seatrial.record.swarm.columns import Columns
from seatrial.scenario.frames import Frames, GroupFrames, RunHeader, RunSummary, VehicleFrames

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
_METADATA = ".zmetadata"


class ZarrRecorder:
    """A sink that writes a Zarr store."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._frames = 0
        self._frames_per_chunk = 0
        self._columns: Columns
        self._root: zarr.Group
        self._arrays: dict[str, zarr.Array[Any]] = {}

    def open(self, header: RunHeader) -> None:
        """Create the store with everything that is known before the first frame."""
        import zarr

        self._columns = Columns(header)
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
            self._commit()

    def write(self, frames: Frames) -> None:
        """Append a block of frames; it survives a kill from here on."""
        with self._writing():
            if self._frames_per_chunk == 0:
                most = _SAMPLES_PER_CHUNK // self._columns.vehicles
                self._frames_per_chunk = max(1, min(len(frames.time), most))
            for first in range(0, len(frames.time), self._frames_per_chunk):
                part = _cut(frames, slice(first, first + self._frames_per_chunk))
                for name in STORED:
                    self._append(name, labelled(name, self._columns, part), self._frames + first)
            self._append("time", label_time(frames.time), self._frames)
            self._frames += len(frames.time)
            self._commit()

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
        for name in (*STORED, "time"):
            array = self._arrays.get(name)
            if array is not None and array.shape[0] > self._frames:
                array.resize((self._frames, *array.shape[1:]))

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


def read_store(path: Path) -> tuple[RunHeader, RunSummary | None, "xarray.Dataset"]:
    """Header, summary (None when the run was killed) and frames, which are loaded when used."""
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
    return header, summary, data


def _check_chunks(path: Path) -> None:
    """Refuse a store with lost or cut files: Zarr would read a missing chunk as numbers."""
    import zarr

    for name, array in zarr.open_group(path, mode="r", use_consolidated=True).arrays():
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
