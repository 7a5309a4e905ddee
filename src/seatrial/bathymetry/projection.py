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
from numpy.typing import NDArray

from seatrial.bathymetry.sources import GEOGRAPHIC, LOCAL
from seatrial.errors import Problem, SpecError
from seatrial.spatial.geodesy import to_geodetic, to_ned

Array = NDArray[np.float64]

ITERATIONS = 3
"""After which a height has settled to less than a micrometre, 100 km from the datum."""


@dataclass(frozen=True)
class Plane:
    """Metres north and east of a datum; without one only what is local already can be placed."""

    datum: tuple[float, float] | None

    def to_plane(self, x: Array, y: Array, crs: str) -> tuple[Array, Array]:
        """North and east of places in a reference system."""
        if crs == LOCAL:
            return y, x
        longitude, latitude = geographic(x, y, crs)
        assert self.datum is not None
        height = np.zeros_like(latitude)
        for _ in range(ITERATIONS):
            local = to_ned(latitude, longitude, height, self.datum)
            height += local[2]
        north, east, _ = to_ned(latitude, longitude, height, self.datum)
        return north, east

    def to_system(self, north: Array, east: Array, crs: str) -> tuple[Array, Array]:
        """Coordinates x and y in a reference system of places in the plane."""
        if crs == LOCAL:
            return east, north
        assert self.datum is not None
        ned = np.stack([north, east, np.zeros_like(north)])
        latitude, longitude, _ = to_geodetic(ned, self.datum)
        if crs == GEOGRAPHIC:
            return longitude, latitude
        x, y = transformer(crs).transform(longitude, latitude, direction="INVERSE")
        return np.asarray(x), np.asarray(y)


def geographic(x: Array, y: Array, crs: str) -> tuple[Array, Array]:
    """Longitude and latitude in degrees of places in a reference system."""
    if crs == GEOGRAPHIC:
        return x, y
    longitude, latitude = transformer(crs).transform(x, y)
    return np.asarray(longitude), np.asarray(latitude)


def transformer(crs: str) -> Any:
    """From a reference system to WGS 84; refuses what pyproj does not know."""
    import pyproj

    try:
        return pyproj.Transformer.from_crs(crs, GEOGRAPHIC, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise SpecError(
            Problem(
                f"no reference system is known by this name ({str(error).splitlines()[0]})",
                value=crs,
                expected="for example EPSG:32632, or `local` for metres from the datum",
            )
        ) from None
