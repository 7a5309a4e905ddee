"""A swarm on disk: one columnar Zarr store, which `xarray.open_zarr` opens.

Zarr keeps every variable in chunks of its own, here one per block of frames. How many frames there
are is written in one place that readers look at, the consolidated metadata; it is replaced, in one
move of the file system, when all chunks of a block are on disk. So a killed run leaves a store
that ends with its last whole block. Every sensor has a group of its own below `sensors`, whose
samples grow under the same rule. Zarr format 2, because the metadata of format 3 is not yet
consolidated by a settled standard, and opening it so warns.

Every chunk ends with a checksum of its numbers, so that any reader of Zarr notices a changed one;
the list of `checked` tells ours besides when whole files were changed or exchanged.

The store holds simulated time only: the same run gives the same bytes in every file.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seatrial.engine.frames import (
    Frames,
    GroupFrames,
    RunHeader,
    RunSummary,
    Scene,
    VehicleFrames,
    write_details,
)
from seatrial.errors import RecordingError
from seatrial.record.dataset import (
    Labelled,
    attributes,
    coordinates,
    label_time,
    labelled,
    optional_names,
)
from seatrial.record.infos import write_bottom, write_surroundings
from seatrial.record.lock import open_alone
from seatrial.record.swarm import description as described
from seatrial.record.swarm.columns import Columns
from seatrial.record.swarm.fittings import FOLDER, Fitting, list_fittings

if TYPE_CHECKING:
    from io import BufferedRandom

    import zarr

    from seatrial.record.swarm.checked import CheckedStore

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
_PAYLOAD_BYTES_PER_CHUNK = 4 << 20


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
        self._acts: list[list[Any]] = []
        self._bottoms: list[str] = []
        """Further parts of the map of the bottom so far."""
        self._columns: Columns
        self._root: zarr.Group
        self._store: CheckedStore
        self._lock: BufferedRandom
        self._arrays: dict[str, zarr.Array[Any]] = {}

    def open(self, header: RunHeader, scene: Scene | None = None) -> None:
        """Create the store with everything that is known before the first frame."""
        import zarr

        from seatrial.record.swarm.checked import LOCK, CheckedStore

        self._columns = Columns(header)
        self._stored = (*STORED, *optional_names(header, self._columns))
        self._fittings = list_fittings(header)
        about = attributes(header) | {
            "header": described.write_header(header),
            "coordinates": "kind channel_unit",  # where xarray looks for those without a dimension
            "checked": "a file `checksums` lists every chunk",
        }
        if scene is not None:
            about["scene"] = write_surroundings(scene)
        with self._writing():
            self.check_room()
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = open_alone(self.path / LOCK)
            self._clear()
            self._store = CheckedStore(self.path)
            self._root = zarr.create_group(self._store, zarr_format=2, attributes=about)
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
            if frames.acts:
                self._acts += [[a.time, a.who, a.what, write_details(a)] for a in frames.acts]
                self._root.attrs["acts"] = self._acts
            if frames.bottom:
                self._bottoms += [write_bottom(part) for part in frames.bottom]
                self._root.attrs["bottoms"] = self._bottoms
            self._commit()

    def _append_samples(self, fitting: Fitting, frames: Frames) -> int:
        """Append a sensor's samples of a block; returns how many they are."""
        samples = fitting.join(frames)
        count, most = len(samples.time), max(1, _SAMPLES_PER_CHUNK // len(fitting.vehicles))
        size = min(max(count, _LEAST_MEASUREMENTS_PER_CHUNK), most)
        for first in range(0, max(count, 1), size):
            for name, table in fitting.tables(samples.cut(slice(first, first + size))):
                if name not in self._arrays:
                    self._create(name, table, self._chunks(fitting, name, table, size))
                self._append(name, table, self._samples[fitting.place] + first)
        return count

    def _chunks(self, fitting: Fitting, name: str, table: Labelled, size: int) -> tuple[int, ...]:
        """Shape of the chunks of a sensor's table; few arrays lie together, of one vehicle."""
        row = table[1].shape[1:]
        if name != fitting.payload_place:
            return (size, *row)
        one = max(1, int(np.prod(row[1:])) * table[1].dtype.itemsize)
        return (min(size, max(1, _PAYLOAD_BYTES_PER_CHUNK // one)), 1, *row[1:])

    def close(self, summary: RunSummary) -> None:
        """Add what became of the vehicles, a number per vehicle, and of the whole."""
        with self._writing():
            self._drop_unfinished()
            for name, column in described.summary_columns(summary).items():
                self._put(name, column)
            self._root.attrs["summary"] = described.write_summary(summary)
            self._commit()
            self._store.close()
            self._lock.close()

    def _drop_unfinished(self) -> None:
        """Take back a block in the middle of which the run was interrupted."""
        lengths = dict.fromkeys((*self._stored, "time"), self._frames)
        for fitting in self._fittings:
            count = self._samples[fitting.place]
            lengths |= {f"{fitting.place}/{name}": count for name in fitting.growing}
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
        from numcodecs import CRC32, Blosc

        dims, values, attrs = content
        self._arrays[name] = self._root.create_array(
            name,
            shape=(0, *values.shape[1:]),
            chunks=tuple(max(1, n) for n in chunks),
            dtype=values.dtype,
            filters=[CRC32()],
            compressors=Blosc("zstd", clevel=1, shuffle=Blosc.SHUFFLE),
            fill_value=None,
            attributes={"_ARRAY_DIMENSIONS": list(dims), **attrs},
            config={"write_empty_chunks": True},  # so that a chunk that is not there was lost
        )
        return self._arrays[name]

    def _commit(self) -> None:
        """Let readers see everything written so far."""
        import zarr

        zarr.consolidate_metadata(self._store, zarr_format=2)

    def check_room(self) -> None:
        """Refuse a place that holds anything but an older recording, or that a run writes to."""
        from seatrial.record.swarm.checked import LOCK, strangers

        if not self.path.exists():
            return
        problem = "exists and is not a recording"
        if self.path.is_dir():
            about = self.path / ".zattrs"
            ours = about.is_file() and b'"scenario_yaml"' in about.read_bytes()
            inside = {file.name for file in self.path.iterdir()}
            begun = inside <= {LOCK, ".zgroup", "checksums"}  # and killed there
            others = strangers(self.path)
            if (ours or begun) and not others:
                if (self.path / LOCK).is_file():
                    open_alone(self.path / LOCK).close()
                return
            if ours:
                problem = f"is a recording, but holds other things too: {', '.join(others[:3])}"
        raise RecordingError(
            f"{self.path}: {problem}\n"
            "  expected: a new name, or a recording to replace and nothing besides\n"
            "  to mend:  choose another place with --out FOLDER.zarr"
        )

    def _clear(self) -> None:
        """Make room for a new recording."""
        from seatrial.record.swarm.checked import LOCK

        for file in self.path.iterdir():
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            elif file.name != LOCK:
                file.unlink()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        import zarr

        try:
            with zarr.config.set({"async.concurrency": 1}):  # lines of the list in one order
                yield
        except OSError as error:
            raise RecordingError(
                f"{self.path}: cannot write the recording ({error.strerror or error})\n"
                "  expected: a folder name in a folder that exists, is writable and has space\n"
                "  to mend:  choose another place with --out FOLDER.zarr"
            ) from error


def _cut(frames: Frames, part: slice) -> Frames:
    groups = (
        GroupFrames(g.names, VehicleFrames(**{f: a[part] for f, a in vars(g.frames).items()}))
        for g in frames.groups
    )
    return Frames(frames.time[part], tuple(groups))
