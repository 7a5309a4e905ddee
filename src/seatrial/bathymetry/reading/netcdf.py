"""NetCDF: depths over latitude and longitude as GEBCO gives them, over metres, or a map of ours."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.projection import is_geographic, metres_per_unit
from seatrial.bathymetry.reading.rasters import OVERRULED, cleaned, guessed, named
from seatrial.bathymetry.reading.units import depth_unit, length_unit
from seatrial.bathymetry.sources import (
    GEOGRAPHIC,
    LOCAL,
    Raster,
    System,
    Tangent,
    check_count,
    refuse,
    rising,
)

Array = NDArray[np.float64]
Notes = tuple[str, ...]

UNEVEN = 1e-3
"""Largest difference between steps of an axis, as a share of a step."""


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
    place, notes = _system(path, file, z, x_name, crs)
    place = place or guessed(path, x, y)
    if is_geographic(place):  # 179.9, 180, −179.9 goes on over the date line, 359.9, 0 over 0°
        x = np.unwrap(x, period=360.0)
    _check_even(path, x, x_name)
    _check_even(path, y, y_name)
    nothing = tuple(
        float(value)
        for name in ("_FillValue", "missing_value")
        for value in np.ravel(z.attrs.get(name, ()))
    )
    scale, offset = (
        float(np.ravel(z.attrs.get(k, d))[0]) for k, d in (("scale_factor", 1), ("add_offset", 0))
    )
    unit = depth_unit(path, _text(z, "units"))
    depths = cleaned(z[:], nothing, unit.metres * scale, unit.metres * offset)
    x, y = (
        _in_system(path, values, _text(axis, "units"), place)
        for values, axis in ((x, x_axis), (y, y_axis))
    )
    rivals = [f"`{n}`" for n in _Z if n in by_name and n != z_name and by_name[n].shape == z.shape]
    if rivals:
        others = ", nor ".join(rivals)
        notes += (f"`{z_name}` is read, and not {others}: export the one that is meant alone",)
    positive = _text(z, "positive") or _Z[z_name]
    return Raster(
        path,
        *rising(x, y, depths.T if turned else depths),
        place,
        positive if positive in ("up", "down") else None,
        notes + unit.note(),
    )


def _text(variable: Any, name: str) -> str:
    """An attribute in words; empty where there is none."""
    return str(_plain(variable.attrs.get(name, "")))


def _system(
    path: Path, file: Any, z: Any, x_name: str, asked: str | None
) -> tuple[System | None, Notes]:
    """Where the axes count from: a map's own datum, a grid mapping (CF 5.6), or their names."""
    if x_name == "east" and "datum_latitude_deg" in file.attrs:
        latitude, longitude = (
            float(np.ravel(file.attrs[f"datum_{name}_deg"])[0])
            for name in ("latitude", "longitude")
        )
        if not (abs(latitude) <= 90.0 and abs(longitude) <= 180.0):
            refuse(path, "its datum is no place on Earth", value=(latitude, longitude))
        own: System = Tangent((latitude, longitude))
        return own, () if asked is None else (OVERRULED,)
    degrees = x_name[:3] == "lon"
    if degrees and asked is not None and not is_geographic(asked):
        asked = None  # which is for other files, in metres
    place, notes = named(_mapping(file, z), asked)
    if place is not None:
        return place, notes
    if x_name == "east":
        return LOCAL, ("it names no datum: its metres are taken to count from that of the map",)
    return (GEOGRAPHIC if degrees else None), ()


def _mapping(file: Any, z: Any) -> str | None:
    """The reference system that a variable's grid mapping describes, in WKT."""
    variable = file.variables.get(_text(z, "grid_mapping").partition(":")[0].strip())
    if variable is None:
        return None
    wkt = _text(variable, "crs_wkt") or _text(variable, "spatial_ref")
    if wkt or not _text(variable, "grid_mapping_name"):
        return wkt or None
    import pyproj

    try:
        described = pyproj.CRS.from_cf({k: _plain(variable.attrs[k]) for k in variable.attrs})
    except (pyproj.exceptions.CRSError, KeyError, ValueError):
        return None
    # An ellipsoid alone names no datum: GEBCO's grids have that of WGS 84, and mean it.
    nameless = getattr(described.datum, "name", "unknown") in ("undefined", "unknown")
    return None if nameless and described.is_geographic else str(described.to_wkt())


def _plain(value: Any) -> Any:
    """An attribute as Python has it."""
    value = np.asarray(value).tolist()
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return value.decode() if isinstance(value, bytes) else value


def _in_system(path: Path, axis: Array, units: str, place: System) -> Array:
    """An axis in the unit of its reference system, from that which it states."""
    if is_geographic(place):
        if units and "deg" not in units.lower() and "°" not in units:
            refuse(
                path, "its degrees have a unit that is not known", value=units, expected="degrees"
            )
        return axis
    unit = length_unit(units)
    if unit is None:
        if units:
            refuse(path, "its axes have a unit that is not known", value=units, expected="metres")
        return axis
    return axis * (unit.metres / metres_per_unit(place))


def _check_even(path: Path, axis: Array, name: str) -> None:
    steps = np.diff(axis)
    if len(axis) < 2 or not np.isfinite(axis).all() or not (steps > 0).all() | (steps < 0).all():
        refuse(path, f"the axis `{name}` neither rises nor falls")
    if np.ptp(steps) > UNEVEN * abs(steps.mean()):
        refuse(path, f"the axis `{name}` has uneven steps", mend="export it as soundings (XYZ)")
