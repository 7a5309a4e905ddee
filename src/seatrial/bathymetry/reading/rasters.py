"""Rasters of depths: ESRI ASCII grids, GeoTIFF and BAG.

What a file declares is checked before anything is allocated: a header of a few bytes may promise a
terabyte.
"""

import re
import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.projection import is_geographic, on_earth, plain, wrapped
from seatrial.bathymetry.reading.units import depth_unit
from seatrial.bathymetry.sources import (
    GEOGRAPHIC,
    GREATEST_DEPTH,
    NO_DATA,
    Raster,
    check_count,
    refuse,
    rising,
)

Array = NDArray[np.float64]

LARGEST_HEADER = 4096
LARGEST_METADATA = 4_000_000
"""Of a BAG, bytes."""
BAG_NOTHING = 1e6
"""What a BAG says where there is no depth (Open Navigation Surface, format specification)."""
CORNERS = (("xllcorner", "xllcenter"), ("yllcorner", "yllcenter"))
HEADER = "ncols, nrows, xllcorner, yllcorner, cellsize and nodata_value"
OVERRULED = "it names its own reference system: --crs is for files that name none"


def cleaned(z: Any, nothing: tuple[float, ...] = (), scale: float = 1.0, add: float = 0.0) -> Array:
    """Depths in metres, scale · z + add, with NaN for what is no depth: the numbers that say so,
    and what is deeper than any sea."""
    raw = np.asarray(z, np.float64)
    clean = scale * raw + add
    clean[np.isin(raw, nothing) | ~(np.abs(clean) <= GREATEST_DEPTH)] = np.nan
    return clean


def named(own: str | None, asked: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The reference system of a file that may name its own, and a note where another was asked."""
    if own is None or not on_earth(own):
        return (None if asked is None else plain(asked)), ()
    if asked is None or asked == own:
        return plain(own), ()
    return plain(own), (OVERRULED,)


def read_ascii(path: Path, crs: str | None) -> Raster:
    """An ESRI ASCII grid: six lines of header, then rows from north to south."""
    header: dict[str, float] = {}
    lines: dict[str, int] = {}
    with path.open("rb") as file:
        number = 0
        while True:
            start = file.tell()
            line = file.readline(LARGEST_HEADER).decode("latin-1")
            number += 1
            found = re.fullmatch(r"\s*([A-Za-z_]+)\s+(\S+)\s*", line)
            if found is None:
                file.seek(start)
                break
            try:
                header[found[1].lower()] = float(found[2])
                lines[found[1].lower()] = number
            except ValueError:
                refuse(path, "a header without a number", value=line.strip(), line=number)
        _check_header(path, header, lines, number)
        rows, columns, step = int(header["nrows"]), int(header["ncols"]), header["cellsize"]
        check_count(path, rows * columns, "nodes")
        try:
            z = np.loadtxt(file, max_rows=rows + 1, ndmin=2)  # one more, to notice it
        except ValueError:
            file.seek(start)
            where, text = _bad_row(file, number, columns)
            refuse(
                path,
                f"a row that is not {columns} numbers",
                value=text[:80],
                expected=f"{rows} rows of {columns} numbers, as the header says",
                line=where,
            )
    if z.shape != (rows, columns):
        refuse(
            path,
            f"{'more' if z.shape[0] > rows else z.shape[0]} rows of {z.shape[1]} numbers",
            expected=f"{rows} rows of {columns}, as the header says",
            mend="correct `nrows` and `ncols`, or bring the missing rows",
            line=number,
        )
    middle = 0.5 * step
    west = header["xllcenter"] if "xllcenter" in header else header["xllcorner"] + middle
    south = header["yllcenter"] if "yllcenter" in header else header["yllcorner"] + middle
    x = west + np.linspace(0.0, step * (columns - 1), columns)
    y = south + np.linspace(step * (rows - 1), 0.0, rows)
    beside = path.with_suffix(".prj")
    own = beside.read_text("latin-1") if beside.is_file() else None
    place, notes = named(own, crs)
    depths = cleaned(z, (header.get("nodata_value", NO_DATA),))
    return Raster(path, *rising(x, y, depths), place or guessed(path, x, y), notes=notes)


def _check_header(path: Path, header: dict[str, float], lines: dict[str, int], number: int) -> None:
    """Refuse one that lacks something, or counts what cannot be counted."""
    for names in (("ncols",), ("nrows",), ("cellsize",), *CORNERS):
        if not any(name in header for name in names):
            refuse(path, f"the header has no `{names[0]}`", expected=HEADER, line=number)
    for name in ("ncols", "nrows", "cellsize"):
        if not header[name] > 0.0:
            refuse(
                path,
                f"`{name}` is not above 0",
                value=header[name],
                expected="how many there are" if name != "cellsize" else "their size",
                mend="correct the header",
                line=lines[name],
            )
        if name != "cellsize" and not header[name].is_integer():
            refuse(
                path,
                f"`{name}` is no whole number",
                value=header[name],
                expected="how many there are",
                mend="count them and correct the header",
                line=lines[name],
            )


def _bad_row(file: IO[bytes], first: int, columns: int) -> tuple[int, str]:
    """The first row that holds something else than so many numbers: its line, and what it says."""
    for number, line in enumerate(file, first):
        fields = line.split()
        try:
            whole = len([float(field) for field in fields]) in (0, columns)
        except ValueError:
            whole = False
        if not whole:
            return number, line.decode("latin-1").strip()
    return first, ""


def guessed(path: Path, x: Array, y: Array) -> str:
    """Degrees where the numbers can be; a projected grid has to be named."""
    if np.abs(x).max() <= 360.0 and np.abs(y).max() <= 90.0:
        return GEOGRAPHIC
    return refuse(
        path,
        "coordinates in metres of an unnamed grid",
        value=(float(x[0]), float(y[0])),
        expected="degrees, or the grid's name",
        mend="name it: --crs EPSG:32632; or --crs local for metres from the datum",
    )


def read_geotiff(path: Path, crs: str | None) -> Raster:
    """The first band of a GeoTIFF, or of another raster that GDAL reads: its numbers times the
    band's scale plus its offset are depths in the band's unit."""
    import rasterio
    from rasterio.errors import NotGeoreferencedWarning, RasterioError, RasterioIOError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            opened = rasterio.open(path)
        with opened as file:
            check_count(path, file.width * file.height, "nodes")
            place = file.transform
            if place.is_identity:
                refuse(
                    path,
                    "it does not say where on Earth it lies",
                    expected="a GeoTIFF with its place and reference system",
                    mend="export it again with them, or as soundings (XYZ)",
                )
            if place.b or place.d:
                refuse(path, "its rows do not run from west to east", mend="warp it north up")
            band = np.ma.asarray(file.read(1, masked=True), np.float64).filled(np.nan)
            scale, offset = float(file.scales[0]), float(file.offsets[0])
            x = place.c + place.a * (np.arange(file.width) + 0.5)
            y = place.f + place.e * (np.arange(file.height) + 0.5)
            own = file.crs.to_wkt() if file.crs else None
            stated, bands = file.units[0] or "", file.count  # or that of its vertical system
            untagged = file.nodata is None and scale == 1.0
    except (RasterioError, RasterioIOError, MemoryError) as error:
        refuse(path, f"no raster can be read ({error})", expected="a GeoTIFF")
    unit = depth_unit(path, stated)
    nothing = (NO_DATA,) if untagged else ()  # as in an ASCII grid that says nothing
    z = cleaned(band, nothing, unit.metres * scale, unit.metres * offset)
    place_named, notes = named(own, crs)
    if bands > 1:
        notes += (f"band 1 of {bands} is read, and no other: export the one with depths alone",)
    if (scale, offset) != (1.0, 0.0):
        notes += (f"numbers times {scale:g} plus {offset:g}, as the file says",)
    notes += unit.note()
    return Raster(path, *rising(x, y, z), place_named or guessed(path, x, y), notes=notes)


def read_bag(path: Path, crs: str | None) -> Raster:
    """A bathymetric attributed grid: HDF 5 with the elevation and an XML that says where it is."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            root = file["BAG_root"]
            elevation = root["elevation"]
            if elevation.ndim != 2:
                refuse(path, f"its elevation has {elevation.ndim} dimensions", expected="two")
            check_count(path, elevation.shape[0] * elevation.shape[1], "nodes")
            metadata = root["metadata"]
            if metadata.size * metadata.dtype.itemsize > LARGEST_METADATA:
                refuse(path, "its metadata are too large to be believed")
            xml = b"".join(np.ravel(metadata[()]).tolist()).decode("utf-8", "replace")
            z = cleaned(elevation[()], (BAG_NOTHING,))
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        refuse(path, f"no BAG can be read ({error})", expected="HDF 5 with BAG_root/elevation")
    place, notes = named(_bag_system(path, xml, crs), crs)
    assert place is not None  # refused before
    (west, south), (east, north) = _corners(path, xml, is_geographic(place))
    rows, columns = z.shape
    x, y = np.linspace(west, east, columns), np.linspace(south, north, rows)
    return Raster(path, *rising(x, y, z), place, "up", notes)


def _corners(
    path: Path, xml: str, degrees: bool
) -> tuple[tuple[float, float], tuple[float, float]]:
    """South-west and north-east node, by the corner points of the metadata."""
    number = r"([-+0-9.eE]+)"
    found = re.search(
        rf"<gml:coordinates[^>]*>\s*{number}\s*,\s*{number}\s+{number}\s*,\s*{number}\s*<", xml
    )
    try:
        if found is None:
            raise ValueError("there are none")
        a, b, c, d = (float(n) for n in found.groups())
    except ValueError as error:
        refuse(path, f"its metadata hold no corner points ({error})", expected="gml:coordinates")
    if degrees and c < a:
        c = float(wrapped(c, a))  # over the date line
    if not (c > a and d > b):
        refuse(path, "its corner points are no rectangle", value=(a, b, c, d))
    return (a, b), (c, d)


def _bag_system(path: Path, xml: str, asked: str | None) -> str | None:
    """The horizontal reference system: the first WKT of the metadata."""
    import html

    found = re.search(
        r"((?:PROJCS|PROJCRS|GEOGCS|GEOGCRS)\s*\[.*?\])\s*<", html.unescape(xml), re.S
    )
    if found is None and asked is None:
        refuse(
            path,
            "its metadata name no reference system",
            mend="name it: --crs EPSG:26910",
        )
    return found[1] if found else None
