"""Between local north, east, down and WGS 84 latitude, longitude and height, on the host.

The local frame is the plane that touches the ellipsoid at the datum, so points go through
Earth-centred, Earth-fixed (ECEF) coordinates and nothing is lost with distance: 10 km from the
datum a point at z = 0 is already 7.8 m above the curved sea. The mean water level at the datum is
taken as the ellipsoid. Angles are degrees here, as in datums, missions and messages.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SEMI_MAJOR_AXIS = 6378137.0
"""Of the WGS 84 ellipsoid, m (NGA.STND.0036)."""
FLATTENING = 1.0 / 298.257223563
"""Of the WGS 84 ellipsoid (NGA.STND.0036)."""

_SEMI_MINOR_AXIS = SEMI_MAJOR_AXIS * (1.0 - FLATTENING)
_ECCENTRICITY2 = FLATTENING * (2.0 - FLATTENING)
_SECOND_ECCENTRICITY2 = _ECCENTRICITY2 / (1.0 - _ECCENTRICITY2)
_ITERATIONS = 4
"""One leaves less than a micrometre below 10 km of height, four nothing in double precision."""

Array = NDArray[np.float64]


def to_ecef(latitude_deg: ArrayLike, longitude_deg: ArrayLike, height: ArrayLike) -> Array:
    """ECEF coordinates (3, ...) in m of latitudes φ, longitudes λ and heights h.

    (N + h) cos φ cos λ, (N + h) cos φ sin λ and (N (1 − e²) + h) sin φ, with the radius of
    curvature across the meridian N = a / √(1 − e² sin² φ).
    """
    latitude, longitude, h = np.broadcast_arrays(
        np.radians(latitude_deg), np.radians(longitude_deg), np.asarray(height, np.float64)
    )
    sine, cosine = np.sin(latitude), np.cos(latitude)
    radius = SEMI_MAJOR_AXIS / np.sqrt(1.0 - _ECCENTRICITY2 * sine**2)
    return np.stack(
        [
            (radius + h) * cosine * np.cos(longitude),
            (radius + h) * cosine * np.sin(longitude),
            (radius * (1.0 - _ECCENTRICITY2) + h) * sine,
        ]
    )


def from_ecef(position: ArrayLike) -> tuple[Array, Array, Array]:
    """Latitude and longitude in degrees and height in m of ECEF points (3, ...).

    Bowring (1976), iterated: with β the reduced latitude, tan β = (1 − f) tan φ,

        tan φ = (z + e'² b sin³ β) / (p − e² a cos³ β),   p = √(x² + y²)
        h = p cos φ + z sin φ − a √(1 − e² sin² φ)

    where this form of h keeps its digits at the poles too. Not for points near the Earth's centre.
    """
    x, y, z = np.asarray(position, np.float64)
    p = np.hypot(x, y)
    latitude = np.arctan2(z, (1.0 - _ECCENTRICITY2) * p)
    for _ in range(_ITERATIONS):
        reduced = np.arctan2((1.0 - FLATTENING) * np.sin(latitude), np.cos(latitude))
        latitude = np.arctan2(
            z + _SECOND_ECCENTRICITY2 * _SEMI_MINOR_AXIS * np.sin(reduced) ** 3,
            p - _ECCENTRICITY2 * SEMI_MAJOR_AXIS * np.cos(reduced) ** 3,
        )
    sine = np.sin(latitude)
    height = (
        p * np.cos(latitude) + z * sine - SEMI_MAJOR_AXIS * np.sqrt(1.0 - _ECCENTRICITY2 * sine**2)
    )
    return np.degrees(latitude), np.degrees(np.arctan2(y, x)), height


def to_geodetic(ned: ArrayLike, datum: tuple[float, float]) -> tuple[Array, Array, Array]:
    """Latitude and longitude in degrees and height in m of local points (3, ...).

    `datum` is the latitude and longitude of the local origin, degrees.
    """
    ned = np.asarray(ned, np.float64)
    world = np.tensordot(_axes(datum), ned, axes=1)
    return from_ecef(world + _column(to_ecef(*datum, 0.0), ned.ndim))


def to_ned(
    latitude_deg: ArrayLike,
    longitude_deg: ArrayLike,
    height: ArrayLike,
    datum: tuple[float, float],
) -> Array:
    """Local points (3, ...) in m of latitudes and longitudes in degrees and heights in m."""
    world = to_ecef(latitude_deg, longitude_deg, height)
    away = world - _column(to_ecef(*datum, 0.0), world.ndim)
    local: Array = np.tensordot(_axes(datum).T, away, axes=1)
    return local


def _axes(datum: tuple[float, float]) -> Array:
    """North, east and down at the datum as columns, ECEF."""
    latitude, longitude = np.radians(datum)
    sin_lat, cos_lat = np.sin(latitude), np.cos(latitude)
    sin_lon, cos_lon = np.sin(longitude), np.cos(longitude)
    return np.array(
        [
            [-sin_lat * cos_lon, -sin_lon, -cos_lat * cos_lon],
            [-sin_lat * sin_lon, cos_lon, -cos_lat * sin_lon],
            [cos_lat, 0.0, -sin_lat],
        ]
    )


def _column(vector: Array, dimensions: int) -> Array:
    return vector.reshape(-1, *(1,) * (dimensions - 1))
