"""Rasters of depths: ESRI ASCII grids, GeoTIFF, NetCDF (GEBCO's form) and BAG.

What a file declares is checked before anything is allocated: a header of a few bytes may promise a
terabyte.
"""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.sources import (
    GEOGRAPHIC,
    GREATEST_DEPTH,
    LOCAL,
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
UNEVEN = 1e-3
"""Largest difference between steps of an axis, as a share of a step."""


def cleaned(z: Any, nothing: float | None = None) -> Array:
    """Depths with NaN for what is no depth."""
    clean = np.array(z, np.float64)
    if nothing is not None:
        clean[clean == nothing] = np.nan
    clean[~(np.abs(clean) <= GREATEST_DEPTH)] = np.nan
    return clean


def read_ascii(path: Path, crs: str | None) -> Raster:
    """An ESRI ASCII grid: six lines of header, then rows from north to south."""
    header: dict[str, float] = {}
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
            except ValueError:
                refuse(path, "a header without a number", value=line.strip(), line=number)
        for name in ("ncols", "nrows", "cellsize"):
            if not header.get(name, 0.0) > 0.0:
                refuse(
                    path,
                    f"the header has no `{name}`",
                    expected="ncols, nrows, xllcorner, yllcorner, cellsize and nodata_value",
                    line=number,
                )
            if name != "cellsize" and header[name] != int(header[name]):
                refuse(
                    path,
                    f"`{name}` is no whole number",
                    value=header[name],
                    expected="how many there are",
                    mend="count them and correct the header",
                    line=number,
                )
        rows, columns, step = int(header["nrows"]), int(header["ncols"]), header["cellsize"]
        check_count(path, rows * columns, "nodes")
        try:
            z = np.loadtxt(file, max_rows=rows + 1, ndmin=2)  # one more, to notice it
        except ValueError as error:
            refuse(path, f"a row that holds no numbers ({error})", line=number)
    if z.shape != (rows, columns):
        refuse(
            path,
            f"{'more' if z.shape[0] > rows else z.shape[0]} rows of {z.shape[1]} numbers",
            expected=f"{rows} rows of {columns}, as the header says",
            mend="correct `nrows` and `ncols`, or bring the missing rows",
            line=number,
        )
    middle = 0.5 * step
    west = header["xllcenter"] if "xllcenter" in header else header.get("xllcorner", 0.0) + middle
    south = header["yllcenter"] if "yllcenter" in header else header.get("yllcorner", 0.0) + middle
    x = west + np.linspace(0.0, step * (columns - 1), columns)
    y = south + np.linspace(step * (rows - 1), 0.0, rows)
    place = crs or _guessed(path, x, y)
    return Raster(path, *rising(x, y, cleaned(z, header.get("nodata_value", -9999.0))), place)


def _guessed(path: Path, x: Array, y: Array) -> str:
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
    """The first band of a GeoTIFF, or of another raster that GDAL reads."""
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
            z = cleaned(file.read(1), file.nodata)
            x = place.c + place.a * (np.arange(file.width) + 0.5)
            y = place.f + place.e * (np.arange(file.height) + 0.5)
            named = crs or (file.crs.to_wkt() if file.crs else None)
    except (RasterioError, RasterioIOError, MemoryError) as error:
        refuse(path, f"no raster can be read ({error})", expected="a GeoTIFF")
    if named is not None and _is_geographic(named):
        named = GEOGRAPHIC
    return Raster(path, *rising(x, y, z), named or _guessed(path, x, y))


def _is_geographic(crs: str) -> bool:
    if crs == LOCAL:
        return False
    import pyproj

    try:
        return bool(pyproj.CRS.from_user_input(crs).is_geographic)
    except pyproj.exceptions.CRSError:
        return False


def read_netcdf(path: Path, crs: str | None) -> Raster:
    """A NetCDF with a depth or an elevation over latitude and longitude, or over metres."""
    import h5netcdf

    try:
        with h5netcdf.File(path, "r") as file:
            return _from_netcdf(path, file, crs)
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        refuse(path, f"no NetCDF 4 can be read ({error})", expected="a file as GEBCO gives it")


_X = ("lon", "longitude", "x", "east", "easting")
_Y = ("lat", "latitude", "y", "north", "northing")
_Z = {
    "elevation": "up",
    "altitude": "up",
    "height": "up",
    "topo": "up",
    "depth": "down",
    "z": None,
    "band1": None,
}


def _from_netcdf(path: Path, file: Any, crs: str | None) -> Raster:
    by_name = {name.lower(): v for name, v in file.variables.items()}
    names = [next((n for n in some if n in by_name), None) for some in (_X, _Y, tuple(_Z))]
    if None in names:
        refuse(
            path,
            f"it holds the variables {', '.join(file.variables)[:80] or 'none'}",
            expected="lat, lon and elevation, as GEBCO gives them, or north, east and depth",
        )
    x_name, y_name, z_name = (str(n) for n in names)
    x_axis, y_axis, z = by_name[x_name], by_name[y_name], by_name[z_name]
    if len(z.shape) != 2 or len(x_axis.shape) != 1 or len(y_axis.shape) != 1:
        refuse(path, f"`{z_name}` has {len(z.shape)} dimensions", expected="two, over two axes")
    check_count(path, z.shape[0] * z.shape[1], "nodes")
    x, y = (np.asarray(a[:], np.float64) for a in (x_axis, y_axis))
    turned = z.shape != (len(y), len(x)) or z.dimensions[0].lower() == x_name
    if (z.shape[::-1] if turned else z.shape) != (len(y), len(x)):
        refuse(path, f"`{z_name}` has shape {z.shape} over axes of {len(y)} and {len(x)}")
    _check_even(path, x, x_name)
    _check_even(path, y, y_name)
    attributes = {k: z.attrs[k] for k in z.attrs}
    nothing = attributes.get("_FillValue", attributes.get("missing_value"))
    depths = cleaned(z[:], None if nothing is None else float(np.ravel(nothing)[0]))
    scale, offset = (
        float(attributes.get(k, d)) for k, d in (("scale_factor", 1), ("add_offset", 0))
    )
    positive = str(attributes.get("positive", "")) or _Z[z_name]
    place = crs or (LOCAL if x_name == "east" else GEOGRAPHIC if x_name[:3] == "lon" else None)
    return Raster(
        path,
        *rising(x, y, scale * (depths.T if turned else depths) + offset),
        place or _guessed(path, x, y),
        positive if positive in ("up", "down") else None,
    )


def _check_even(path: Path, axis: Array, name: str) -> None:
    steps = np.diff(axis)
    if len(axis) < 2 or not np.isfinite(axis).all() or not (steps > 0).all() | (steps < 0).all():
        refuse(path, f"the axis `{name}` neither rises nor falls")
    if np.ptp(steps) > UNEVEN * abs(steps.mean()):
        refuse(path, f"the axis `{name}` has uneven steps", mend="export it as soundings (XYZ)")


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
            z = cleaned(elevation[()], BAG_NOTHING)
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        refuse(path, f"no BAG can be read ({error})", expected="HDF 5 with BAG_root/elevation")
    (west, south), (east, north) = _corners(path, xml)
    rows, columns = z.shape
    x, y = np.linspace(west, east, columns), np.linspace(south, north, rows)
    named = crs or _bag_system(path, xml)
    if _is_geographic(named):
        named = GEOGRAPHIC
    return Raster(path, *rising(x, y, z), named, "up")


def _corners(path: Path, xml: str) -> tuple[tuple[float, float], tuple[float, float]]:
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
    if not (c > a and d > b):
        refuse(path, "its corner points are no rectangle", value=(a, b, c, d))
    return (a, b), (c, d)


def _bag_system(path: Path, xml: str) -> str:
    """The horizontal reference system: the first WKT of the metadata."""
    import html

    found = re.search(
        r"((?:PROJCS|PROJCRS|GEOGCS|GEOGCRS)\s*\[.*?\])\s*<", html.unescape(xml), re.S
    )
    if found is None:
        refuse(
            path,
            "its metadata name no reference system",
            mend="name it: --crs EPSG:26910",
        )
    return found[1]
