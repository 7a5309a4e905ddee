"""From the reference systems of surveys to metres north and east of a datum, and back.

The plane is the one in which vehicles move, `spatial.geodesy`: it touches the WGS 84 ellipsoid at
the datum, and a place on the sea lies in it where its vertical meets it. So a sounding is where a
waypoint of the same latitude and longitude is, and where a receiver of GNSS says. Distances from
the datum grow with it, by one part in 3 (R/d)²: 8 mm at 10 km, 1 m at 50 km, 8 m at 100 km.
Depths stay those below the sea's level, which is flat here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.bathymetry.sources import GEOGRAPHIC, LOCAL, System, Tangent
from seatrial.errors import Problem, SpecError
from seatrial.spatial.geodesy import SEMI_MAJOR_AXIS, to_geodetic, to_ned

Array = NDArray[np.float64]

ITERATIONS = 3
"""After which a height has settled to less than a micrometre, 100 km from the datum."""


@dataclass(frozen=True)
class Plane:
    """Metres north and east of a datum; without one only what is local already can be placed."""

    datum: tuple[float, float] | None

    def to_plane(self, x: Array, y: Array, crs: System) -> tuple[Array, Array]:
        """North and east of places in a reference system."""
        if self._counts(crs):
            return y, x
        longitude, latitude = geographic(x, y, crs)
        assert self.datum is not None
        height = np.zeros_like(latitude)
        straight = local = to_ned(latitude, longitude, height, self.datum)
        for _ in range(ITERATIONS):
            height += local[2]
            local = to_ned(latitude, longitude, height, self.datum)
        # A vertical behind the Earth meets the plane too, near the datum, as in a mirror: such
        # places are put as far off as they are.
        behind = straight[2] > SEMI_MAJOR_AXIS
        north = np.where(behind, np.linalg.norm(straight, axis=0), local[0])
        return north, local[1]

    def _counts(self, crs: System) -> bool:
        """Whether coordinates in a system are those in this plane."""
        return crs == LOCAL or (isinstance(crs, Tangent) and crs.datum == self.datum)

    def to_system(self, north: Array, east: Array, crs: System) -> tuple[Array, Array]:
        """Coordinates x and y in a reference system of places in the plane."""
        if self._counts(crs):
            return east, north
        assert self.datum is not None
        ned = np.stack([north, east, np.zeros_like(north)])
        latitude, longitude, _ = to_geodetic(ned, self.datum)
        if crs == GEOGRAPHIC:
            return longitude, latitude
        if isinstance(crs, Tangent):
            north, east = Plane(crs.datum).to_plane(longitude, latitude, GEOGRAPHIC)
            return east, north
        x, y = transformer(crs).transform(longitude, latitude, direction="INVERSE")
        return np.asarray(x), np.asarray(y)


def wrapped(longitude: ArrayLike, about: float) -> Array:
    """The same meridians, in degrees, written within 180° of another: −179.99 is 180.01 there."""
    return about + np.remainder(np.asarray(longitude) - about + 180.0, 360.0) - 180.0


def geographic(x: Array, y: Array, crs: System) -> tuple[Array, Array]:
    """Longitude and latitude on WGS 84, in degrees, of places in a reference system."""
    if crs == GEOGRAPHIC:
        return x, y
    if isinstance(crs, Tangent):
        latitude, longitude, _ = to_geodetic(np.stack([y, x, np.zeros_like(x)]), crs.datum)
        return longitude, latitude
    longitude, latitude = transformer(crs).transform(x, y)
    return np.asarray(longitude), np.asarray(latitude)


def transformer(crs: str) -> Any:
    """From a reference system to WGS 84; refuses what pyproj does not know."""
    import pyproj

    try:
        return pyproj.Transformer.from_crs(crs, GEOGRAPHIC, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise _unknown(crs, error) from None


def system(crs: str) -> Any:
    """What pyproj knows of a reference system; refuses what it does not know."""
    import pyproj

    try:
        return pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError as error:
        raise _unknown(crs, error) from None


def _unknown(crs: str, error: Exception) -> SpecError:
    return SpecError(
        Problem(
            f"no reference system is known by this name ({str(error).splitlines()[0]})",
            value=crs,
            expected="for example EPSG:32632, or `local` for metres from the datum",
        )
    )


def is_geographic(crs: System) -> bool:
    """Whether coordinates in a system are longitudes and latitudes, on whichever datum."""
    if crs == LOCAL or isinstance(crs, Tangent):
        return False
    return crs == GEOGRAPHIC or bool(system(crs).is_geographic)


def on_earth(crs: str) -> bool:
    """Whether a system has a place on Earth; drawings have coordinates without one."""
    return system(crs).geodetic_crs is not None


def plain(crs: str) -> str:
    """The same system, as GEOGRAPHIC where it is WGS 84 in degrees: PROJ has nothing to do then."""
    if crs == LOCAL or not is_geographic(crs):
        return crs
    same = system(crs).equals(system(GEOGRAPHIC), ignore_axis_order=True)
    return GEOGRAPHIC if same else crs


def name_of(crs: System) -> str:
    """What people call a system."""
    return str(system(crs).name) if isinstance(crs, str) and crs != LOCAL else "local metres"


def metres_per_unit(crs: System) -> float:
    """Of the coordinates of a system in metres or feet."""
    if crs == LOCAL or isinstance(crs, Tangent):
        return 1.0
    return float(system(crs).axis_info[0].unit_conversion_factor)


def shift_note(x: Array, y: Array, crs: System) -> str | None:
    """How PROJ brings places to WGS 84, and how exactly; None where that is no question."""
    if crs in (GEOGRAPHIC, LOCAL) or isinstance(crs, Tangent):
        return None
    import pyproj

    step = transformer(crs)
    step.transform(x, y)
    try:
        used = step.get_last_used_operation()
    except pyproj.exceptions.ProjError:  # it knows one way, and does not note that it went it
        used = step
    name = system(crs).geodetic_crs.name
    if "Ballpark" in used.description or used.accuracy < 0.0:
        return (
            f"PROJ knows no way to WGS 84 from `{name}`: its places are taken as they are, which "
            "may be hundreds of metres off"
        )
    if used.accuracy == 0.0:
        return None
    parts = [p for p in used.description.split(" + ") if " to WGS 84" in p or " to " in p]
    return f"from {name} to WGS 84 by PROJ ({', '.join(parts)}), within {used.accuracy:g} m"
