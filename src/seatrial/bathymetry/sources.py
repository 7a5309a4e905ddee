"""What survey files hold, whatever their format: soundings, rasters or surfaces."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import Problem, SpecError

Array = NDArray[np.float64]

MOST_SOUNDINGS = 30_000_000
"""Soundings or nodes of one file: 720 MB as numbers."""
GREATEST_DEPTH = 12_000.0
"""No ocean is deeper, and no land that matters here higher, m."""

NO_DATA = -9999.0
"""What surveys write where they know nothing."""

GEOGRAPHIC = "EPSG:4326"
LOCAL = "local"
"""Metres north and east of the datum."""


@dataclass(frozen=True)
class Tangent:
    """Metres in the plane that touches WGS 84 at a datum of the file's own: x east, y north."""

    datum: tuple[float, float]
    """Latitude and longitude, degrees."""


System = str | Tangent
"""A reference system: GEOGRAPHIC, LOCAL, what pyproj knows, or the plane of a map."""

Progress = Callable[[float], None]
"""Is told which share is done, 0 to 1."""


@dataclass(frozen=True)
class Soundings:
    """Depths at scattered points."""

    file: Path
    x: Array
    """(N,) longitude in degrees, or easting in m."""
    y: Array
    """(N,) latitude in degrees, or northing in m."""
    z: Array
    """(N,) m."""
    crs: str
    """GEOGRAPHIC, LOCAL, or what pyproj knows."""
    positive: str | None = None
    """`up` or `down` where the file says it."""
    lines: NDArray[np.int64] | None = None
    """(N,) where each stands in the file."""
    notes: tuple[str, ...] = ()
    """What was mended or assumed."""


@dataclass(frozen=True)
class Raster:
    """Depths at the nodes of a grid along the axes of its reference system."""

    file: Path
    x: Array
    """(B,) of the columns, rising evenly."""
    y: Array
    """(A,) of the rows, rising evenly."""
    z: Array
    """(A, B) m; NaN where there is none."""
    crs: System
    positive: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Surface:
    """A mesh in local metres: x east, y north, z up or down."""

    file: Path
    vertices: Array
    """(V, 3) m."""
    faces: NDArray[np.int64]
    """(F, 3) rows of `vertices`."""
    positive: str | None = "up"
    notes: tuple[str, ...] = field(default=())


Source = Soundings | Raster | Surface


EXPORT_AGAIN = "export it again from the program that made it, or leave this file out"
"""What mends a file that is broken."""


def refuse(
    file: Path,
    message: str,
    expected: str = "",
    mend: str = EXPORT_AGAIN,
    line: int = 0,
    value: object = None,
) -> NoReturn:
    """Say what is wrong with a file, and in which line."""
    raise SpecError(
        Problem(message, file=str(file), line=line, value=value, expected=expected, mend=mend)
    )


def check_count(file: Path, count: int, what: str) -> None:
    """Refuse more than can be held, by what a file declares and before anything is allocated."""
    if count > MOST_SOUNDINGS:
        refuse(
            file,
            f"it declares {count:,} {what}",
            expected=f"at most {MOST_SOUNDINGS:,} in one file",
            mend="cut out the area that is needed, or thin it out",
        )
    if count <= 0:
        refuse(file, f"it holds no {what}", expected="at least three soundings")


def rising(x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
    """A raster with both of its axes turned so that they rise."""
    if len(y) > 1 and y[0] > y[-1]:
        y, z = y[::-1], z[::-1]
    if len(x) > 1 and x[0] > x[-1]:
        x, z = x[::-1], z[:, ::-1]
    return x, y, np.ascontiguousarray(z)
