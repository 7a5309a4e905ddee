"""A Zarr store read back: header and summary at once, the rest when it is used."""

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.engine.frames import Act, RunHeader, RunSummary, Scene, read_act
from seatrial.record.infos import read_bottom, read_surroundings, with_bottom
from seatrial.record.lazy import Cache, LazyArray
from seatrial.record.source import Source, Span, cut_into
from seatrial.record.swarm import description as described
from seatrial.record.swarm.fittings import GROWING, Fitting, list_fittings
from seatrial.signals import Measurements

if TYPE_CHECKING:
    import xarray
    import zarr

    from seatrial.record.swarm.checked import CheckedStore

Contents = tuple[RunHeader, RunSummary | None, Scene | None, bool, Source]

_NUMBERS_AT_ONCE = 1 << 22
"""Of a variable, when a store is read part by part."""


def read_store(path: Path) -> Contents:
    """Header, summary (None when the run was killed), scene, whether it is complete, the rest."""
    import xarray

    from seatrial.record.swarm.checked import METADATA, CheckedStore, unusable

    if not (path / METADATA).is_file():
        found = "nothing" if not path.exists() else "a folder" if path.is_dir() else "a file"
        raise unusable(path, "is not a Zarr store", found)
    try:
        store = CheckedStore(path, read_only=True)
        data = xarray.open_zarr(store, chunks=None, consolidated=True)
        names = data["vehicle"].values.tolist()
        # Of the whole store's metadata, which are replaced when everything else is there.
        about = json.loads((path / METADATA).read_bytes())["metadata"][".zattrs"]
        if "checked" in about and not store.checked:
            raise unusable(path, "is damaged", "the list of its checksums is missing")
        header = described.read_header(about["header"], about["scenario_yaml"], names)
        closed = "summary" in about
        summary = described.read_summary(about["summary"], data) if closed else None
        scene = about.get("scene")
        around = None if scene is None else read_surroundings(scene, header.vehicles)
        around = with_bottom(around, [read_bottom(text) for text in about.get("bottoms", ())])
        acts = tuple(read_act(*act) for act in about.get("acts", ()))
    except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        found = f"{type(error).__name__}: {error}"
        raise unusable(path, "was not written by this version of seatrial", found) from error
    _check_chunks(store)
    return header, summary, around, closed, ZarrSource(store, header, data, acts)


@dataclass(frozen=True)
class ZarrSource:
    """Frames, samples and arrays in a Zarr store."""

    store: "CheckedStore"
    header: RunHeader
    data: "xarray.Dataset"
    done: tuple[Act, ...]
    """What people did."""

    def dataset(self) -> "xarray.Dataset":
        """All frames that are stored."""
        return self.data

    def parts(self) -> Iterator[slice]:
        """As many frames as fit."""
        widest = max(self.data["position"].shape[1] * 4, 1)
        return cut_into(self.data.sizes["time"], max(1, _NUMBERS_AT_ONCE // widest))

    def acts(self) -> tuple[Act, ...]:
        """What people did."""
        return self.done

    def samples(self, vehicle: str, sensor: str, span: Span) -> Iterator[Measurements]:
        """As many samples as fit at a time."""
        fitting, column = self._fitting(vehicle, sensor)
        tables = self._tables(fitting, GROWING)
        if tables is None:
            return
        time: NDArray[np.float64] = np.asarray(tables["time"][:])
        inside = np.flatnonzero((time >= span[0]) & (time <= span[1]))
        if not len(inside):
            return
        first, count = int(inside[0]), int(inside[-1]) - int(inside[0]) + 1
        widest = max(len(fitting.vehicles) * len(fitting.info.components), 1)
        for part in cut_into(count, max(1, _NUMBERS_AT_ONCE // widest)):
            rows = slice(first + part.start, first + part.stop)
            own: dict[str, Any] = {name: tables[name][rows, column] for name in GROWING[1:]}
            yield Measurements(time=time[rows], **own)

    def counts(self) -> dict[tuple[str, str], int]:
        """Of rows in the tables, with those that were not valid."""
        found: dict[tuple[str, str], int] = {}
        for fitting in list_fittings(self.header):
            tables = self._tables(fitting, ("time",))
            rows = 0 if tables is None else int(tables["time"].shape[0])
            found |= {(vehicle, fitting.info.name): rows for vehicle in fitting.vehicles}
        return found

    def payload(self, vehicle: str, sensor: str) -> LazyArray:
        """A row per valid sample; the rows of a chunk are read together."""
        fitting, column = self._fitting(vehicle, sensor)
        info = fitting.info.payload
        assert info is not None
        tables = self._tables(fitting, fitting.growing)
        if tables is None:
            return LazyArray([], info.shape, info.dtype, lambda block: np.empty(0))
        arrays, valid = tables["payload"], np.asarray(tables["valid"][:, column])
        parts = list(cut_into(len(valid), int(arrays.chunks[0])))

        def load(block: int) -> tuple[NDArray[Any], int]:
            rows = np.asarray(arrays[parts[block], column])[valid[parts[block]]]
            return rows, rows.nbytes

        counts = [int(valid[part].sum()) for part in parts]
        return LazyArray(counts, info.shape, info.dtype, Cache(load, 8 << 20))

    def _fitting(self, vehicle: str, sensor: str) -> tuple[Fitting, int]:
        fitting = next(
            f for f in list_fittings(self.header) if f.info.name == sensor and vehicle in f.vehicles
        )
        return fitting, fitting.vehicles.index(vehicle)

    def _tables(
        self, fitting: Fitting, names: tuple[str, ...]
    ) -> "dict[str, zarr.Array[Any]] | None":
        """Tables of a sensor by name; None when the run was killed before the first block."""
        import zarr

        # Through the root: only its metadata is replaced when a block is whole.
        root = zarr.open_group(self.store, mode="r", use_consolidated=True)
        if f"{fitting.place}/time" not in root:
            return None
        found: dict[str, Any] = {name: root[f"{fitting.place}/{name}"] for name in names}
        return found


def _check_chunks(store: "CheckedStore") -> None:
    """Refuse a store with lost or cut files: Zarr would read a missing chunk as numbers."""
    import zarr

    from seatrial.record.swarm.checked import unusable

    root = zarr.open_group(store, mode="r", use_consolidated=True)
    for name, array in root.members(max_depth=None):
        if not isinstance(array, zarr.Array):
            continue
        counts = (-(-n // c) for n, c in zip(array.shape, array.chunks, strict=True))
        for place in itertools.product(*(range(n) for n in counts)):
            file = store.root / name / ".".join(str(i) for i in place)
            if not _is_whole(file):
                found = f"{name}/{file.name} is missing or cut"
                raise unusable(store.root, "is damaged", found)


def _is_whole(file: Path) -> bool:
    """Whether a chunk has the length that Blosc wrote into bytes 12 to 15 of it."""
    try:
        with file.open("rb") as chunk:
            size = int.from_bytes(chunk.read(16)[12:], "little")
            return size > 0 and size == os.fstat(chunk.fileno()).st_size
    except OSError:
        return False
