"""A map in a file: plain CF NetCDF, depth over metres north and east of a datum.

It opens in xarray, QGIS and whatever reads NetCDF 4. The depths are stored in tiles, so that a run
reads those around its vehicles and no others. After HDF5's own end the file has a line with a
checksum of all before it: HDF5 hangs over some damaged files, so that it is given none.
"""

import mmap
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.terrain import Terrain, part_of
from seatrial.geometry.window import Chart, Window

Array = NDArray[np.float64]

TILE = 256
"""Nodes along the side of a tile."""
LONGEST_AXIS = 1_000_000
"""Nodes along a side, before a file is not believed."""
SEAL = b"\nseatrial map, CRC-32 "
"""Before the checksum at the end of a file."""
RANGE = "actual_range"
"""Attribute with the least and the greatest depth, as CF names it."""
UNEVEN = 1e-3
"""Largest difference between steps of an axis, as a share of a step."""


@dataclass(frozen=True)
class MapInfo:
    """What a map says of itself."""

    origin: Array
    """(2,) north and east of its first node, m."""
    spacing: Array
    """(2,) m."""
    shape: tuple[int, int]
    datum: tuple[float, float] | None
    """Latitude and longitude of its origin, degrees; None for local metres."""
    notes: dict[str, str] = field(default_factory=dict)
    """Other attributes: `history`, `vertical_datum`, `gridding`."""

    @property
    def chart(self) -> Chart:
        """Where its nodes lie."""
        return Chart(self.origin, self.spacing, self.shape)


class MapFile:
    """An open map."""

    def __init__(self, info: MapInfo, depth: Any) -> None:
        self.info = info
        self._depth = depth

    def read(self, rows: slice, columns: slice) -> Terrain:
        """A part of it; only the tiles that it touches are read."""
        info, first = self.info, (rows.start, columns.start)
        with _in_one_word():
            depth = np.asarray(self._depth[rows, columns], np.float32).astype(np.float64)
        return part_of(info.origin, info.spacing, first, depth)

    @property
    def deepest(self) -> float:
        """Greatest depth, m, of a map that has any; files of other programs are read for it."""
        with _in_one_word():
            if RANGE in self._depth.attrs:
                return float(np.ravel(self._depth.attrs[RANGE])[1])
            bands = range(0, self.info.shape[0], TILE)
            return float(max(_greatest(self._depth[i : i + TILE]) for i in bands))


def _greatest(depth: NDArray[np.float32]) -> float:
    return float(np.max(depth, initial=-np.inf, where=~np.isnan(depth)))


class Map:
    """A map that a run reads from again and again, without looking for damage every time."""

    def __init__(self, path: Path, info: MapInfo, deepest: float) -> None:
        self._path, self._info, self.deepest = path, info, deepest
        """Path, what it says of itself, and its greatest depth, m."""
        self._as_it_was = _stamp(path)

    @property
    def chart(self) -> Chart:
        """Where its nodes lie."""
        return self._info.chart

    def read(self, window: Window) -> Terrain:
        """A part of it; raises OSError or ValueError where that is not possible any more."""
        if _stamp(self._path) != self._as_it_was:
            raise ValueError(f"`{self._path.name}` was changed after the start of the run")
        with _in_one_word(), _file(self._path) as file:
            return MapFile(self._info, file["depth"]).read(*window)


def _stamp(path: Path) -> tuple[int, int]:
    told = path.stat()
    return told.st_size, told.st_mtime_ns


def _file(path: Path) -> Any:
    import h5py  # where h5netcdf cannot open a file, it complains again when it is deleted

    return h5py.File(path, "r")


@contextmanager
def open_map(path: Path) -> Iterator[MapFile]:
    """Open a map; raises OSError or ValueError for what is none, and so does reading from it."""
    _check_seal(path)
    with ExitStack() as stack:
        with _in_one_word():
            found = _opened(stack.enter_context(_file(path)))
        yield found


def _check_seal(path: Path) -> None:
    """Refuse a file that is not as it was written; maps of other programs have no seal."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(SEAL)
        if at >= 0 and data[at:] != _seal(zlib.crc32(memoryview(data)[:at])):
            raise ValueError("it is not as it was written: its checksum differs")


def _seal(checksum: int) -> bytes:
    return SEAL + b"%08x\n" % checksum


@contextmanager
def _in_one_word() -> Iterator[None]:
    """HDF5 raises whatever it likes when a file is damaged."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise ValueError(str(error)) from error


def _opened(file: Any) -> MapFile:
    for name in ("north", "east", "depth"):
        if name not in file:
            raise ValueError(f"it has no variable `{name}`")
    depth = file["depth"]
    over = [str(scale[0].name).strip("/") if scale else "nothing" for scale in depth.dims]
    if over != ["north", "east"]:
        raise ValueError(f"its depth is over {', '.join(over)}")
    axes = [_axis(file[name], name) for name in ("north", "east")]
    shape = len(axes[0]), len(axes[1])
    if depth.shape != shape:
        raise ValueError(f"its depth has shape {depth.shape} over axes of {shape}")
    origin = np.array([a[0] for a in axes])
    spacing = np.array([(a[-1] - a[0]) / (len(a) - 1) for a in axes])
    attributes = {str(k): v for k, v in file.attrs.items() if not k.startswith("_")}
    datum = None
    if "datum_latitude_deg" in attributes:
        datum = (
            float(np.ravel(attributes.pop("datum_latitude_deg"))[0]),
            float(np.ravel(attributes.pop("datum_longitude_deg"))[0]),
        )
    notes = {k: str(v) for k, v in attributes.items()}
    return MapFile(MapInfo(origin, spacing, shape, datum, notes), depth)


def _axis(variable: Any, name: str) -> Array:
    if len(variable.shape) != 1 or not 2 <= variable.shape[0] <= LONGEST_AXIS:
        raise ValueError(f"its axis `{name}` has shape {variable.shape}")
    axis = np.asarray(variable[:], np.float64)
    steps = np.diff(axis)
    if not np.isfinite(axis).all() or steps.min() <= 0.0:
        raise ValueError(f"its axis `{name}` does not rise")
    if np.ptp(steps) > UNEVEN * steps.mean():
        raise ValueError(f"its axis `{name}` has uneven steps")
    return axis


def write_map(
    path: Path, found: Terrain, datum: tuple[float, float] | None, notes: dict[str, str]
) -> None:
    """Write a map; it appears whole or not at all."""
    import h5netcdf

    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with h5netcdf.File(part, "w") as file:
            _fill(file, found, datum, notes)
        with part.open("ab") as sealed:
            sealed.write(_seal(zlib.crc32(part.read_bytes())))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _fill(
    file: Any, found: Terrain, datum: tuple[float, float] | None, notes: dict[str, str]
) -> None:
    rows, columns = found.depth.shape
    file.dimensions = {"north": rows, "east": columns}
    file.attrs["Conventions"] = "CF-1.10"
    file.attrs["title"] = "Depth of the seabed"
    for name, text in notes.items():
        file.attrs[name] = text
    for name, axis, standard, letter in (
        ("north", found.north, "projection_y_coordinate", "Y"),
        ("east", found.east, "projection_x_coordinate", "X"),
    ):
        variable = file.create_variable(name, (name,), np.float64, data=axis)
        variable.attrs["standard_name"] = standard
        variable.attrs["long_name"] = f"distance {name} of the datum"
        variable.attrs["units"] = "m"
        variable.attrs["axis"] = letter
    depth = file.create_variable(
        "depth",
        ("north", "east"),
        np.float32,
        data=found.depth.astype(np.float32),
        fillvalue=np.float32(np.nan),
        chunks=(min(rows, TILE), min(columns, TILE)),
        compression="gzip",
        compression_opts=4,
        shuffle=True,
    )
    depth.attrs["standard_name"] = "sea_floor_depth_below_mean_sea_level"
    depth.attrs["long_name"] = "depth of the seabed, negative on land"
    depth.attrs["units"] = "m"
    depth.attrs["positive"] = "down"
    depth.attrs[RANGE] = np.array([np.nanmin(found.depth), np.nanmax(found.depth)], np.float32)
    if datum is None:
        return
    file.attrs["datum_latitude_deg"], file.attrs["datum_longitude_deg"] = datum
