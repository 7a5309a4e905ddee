"""Survey files before they are put together: which way their numbers count, which soundings lie
astray, and where the datum of them all is."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.choices import Choices
from seatrial.bathymetry.projection import geographic, shift_note, wrapped
from seatrial.bathymetry.sources import (
    LOCAL,
    Raster,
    Soundings,
    Source,
    Surface,
    Tangent,
    refuse,
)

Array = NDArray[np.float64]

STRAY = 300_000.0
"""From the middle of a survey, m; a sounding beyond it has a wrong sign or a wrong digit."""
MOST_STRAYS = 0.01
"""Share of soundings that may be left out as strays."""
POLAR = 85.0
"""Latitude beyond which the middle of a survey is that on a sphere, degrees: around a pole the
longitudes have none."""
EARTH_RADIUS = 6_371_000.0
REPORTED = 5


def signed(source: Source, choices: Choices, notes: list[str]) -> Source:
    """The same source with its numbers as depths, positive down, below the mean level."""
    z = source.vertices[:, 2] if isinstance(source, Surface) else source.z
    known = z[~np.isnan(z)]
    if not known.size:
        refuse(source.file, "not one depth is a number", expected="depths in metres")
    below = float(np.median(known)) < 0.0
    positive = choices.positive or source.positive or ("up" if below else "down")
    why = "as asked" if choices.positive else "as the file says"
    if choices.positive is None and (
        source.positive is None or (source.positive == "down" and below)
    ):
        positive = "up" if below else "down"
        why = f"most numbers are {'negative' if below else 'positive'}"
    notes.append(f"{source.file.name}: numbers count {positive}wards, {why}")
    sign = 1.0 if positive == "down" else -1.0
    if isinstance(source, Surface):
        vertices = source.vertices * [1.0, 1.0, sign] + [0.0, 0.0, choices.offset]
        return replace(source, vertices=vertices, positive="down")
    depth = sign * source.z + choices.offset
    if isinstance(source, Soundings) and (dry := np.flatnonzero(depth < 0.0)).size:
        line = int(dry[0]) + 1 if source.lines is None else int(source.lines[dry[0]])
        notes.append(
            f"{source.file.name}: {dry.size:,} of {depth.size:,} soundings lie above the water "
            f"(land, or another sign?), the first in line {line}"
        )
    return replace(source, z=depth, positive="down")


def without_strays(sources: list[Source], notes: list[str]) -> list[Source]:
    """Leave out soundings on the other side of the world; refuse when they are many."""
    surveys = [s for s in sources if isinstance(s, Soundings) and s.crs != LOCAL]
    if not surveys:
        return sources
    places = [geographic(s.x, s.y, s.crs) for s in surveys]
    middle = _middle(*(np.concatenate(column) for column in zip(*places, strict=True)))
    kept: dict[int, Source] = {}
    for survey, (longitude, latitude) in zip(surveys, places, strict=True):
        away = _distance(longitude, latitude, *middle)
        stray = ~(away <= STRAY)
        count = int(stray.sum())
        if not count:
            continue
        i = int(np.argmax(stray))
        line = 0 if survey.lines is None else int(survey.lines[i])
        place = (float(latitude[i]), float(longitude[i]))
        if count > max(1, MOST_STRAYS * len(stray)):
            refuse(
                survey.file,
                f"{count} of {len(stray)} soundings lie more than {STRAY / 1000:g} km from the "
                f"others, the first {away[i] / 1000.0:,.0f} km",
                value=place,
                expected=f"a survey around {middle[1]:.4g}, {middle[0]:.4g}",
                mend=_sign_mend(place, middle) or "import the areas one by one",
                line=line,
            )
        rows = np.flatnonzero(stray)[:REPORTED]
        named = ", ".join(str(int(r if survey.lines is None else survey.lines[r])) for r in rows)
        notes.append(
            f"{survey.file.name}: {count} soundings thousands of kilometres away left out "
            f"(wrong hemisphere?): line {named}{', …' if count > REPORTED else ''}"
        )
        keep = ~stray
        kept[id(survey)] = replace(
            survey,
            x=survey.x[keep],
            y=survey.y[keep],
            z=survey.z[keep],
            lines=None if survey.lines is None else survey.lines[keep],
        )
    return [kept.get(id(s), s) for s in sources]


def _middle(longitude: Array, latitude: Array) -> tuple[float, float]:
    """Longitude and latitude of where most places are: those of the medians of their x, y and z on
    a sphere, which know neither a date line nor a pole."""
    placed = np.isfinite(longitude) & np.isfinite(latitude)  # PROJ finds no place for some numbers
    if not placed.any():
        return math.nan, math.nan
    x, y, z = (float(np.median(a)) for a in _on_sphere(longitude[placed], latitude[placed]))
    return _below(x, y, z)


def _below(x: float, y: float, z: float) -> tuple[float, float]:
    """Longitude and latitude of a place in space, on the sphere."""
    return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))


def _on_sphere(longitude: Array, latitude: Array) -> Iterator[Array]:
    """x, y and z of places on a sphere of radius 1, one after the other."""
    across = np.cos(np.radians(latitude))
    yield across * np.cos(np.radians(longitude))
    yield across * np.sin(np.radians(longitude))
    yield np.sin(np.radians(latitude))


def _sign_mend(place: tuple[float, float], middle: tuple[float, float]) -> str:
    latitude, longitude = place
    for name, other in (
        ("longitude", (latitude, -longitude)),
        ("latitude", (-latitude, longitude)),
    ):
        if _distance(np.array(other[1]), np.array(other[0]), *middle) < STRAY:
            return f"with the other sign of its {name} it would be near: mend the signs"
    return ""


def _distance(longitude: Array, latitude: Array, to_longitude: float, to_latitude: float) -> Array:
    """On a sphere, m (haversine); not a number to what PROJ finds no place for."""
    lat, to_lat = np.radians(latitude), math.radians(to_latitude)
    half = np.radians(np.asarray(longitude) - to_longitude) / 2.0
    with np.errstate(invalid="ignore"):
        a = np.sin((lat - to_lat) / 2.0) ** 2 + np.cos(lat) * math.cos(to_lat) * np.sin(half) ** 2
    return np.asarray(2.0 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(a, 0.0, 1.0))))


def place_note(source: Source) -> str | None:
    """What a report says of how the places of a file came to WGS 84."""
    if isinstance(source, Surface):
        return None
    if isinstance(source.crs, Tangent):
        latitude, longitude = source.crs.datum
        return f"counts from a datum of its own, {latitude:.6f}, {longitude:.6f}"
    i, j = len(source.x) // 2, len(source.y) // 2  # of a raster about its middle
    return shift_note(source.x[i : i + 1], source.y[j : j + 1], source.crs)


def datum_of(
    sources: list[Source], choices: Choices, notes: list[str]
) -> tuple[float, float] | None:
    """Latitude and longitude of the origin: as asked, or that of the first map which has one, or
    the middle of all files that have a place on Earth; None where none has."""
    placed = [s for s in sources if not isinstance(s, Surface) and s.crs != LOCAL]
    if choices.datum is not None or not placed:
        return choices.datum
    local = len(placed) < len(sources)
    for source in placed:
        if isinstance(source.crs, Tangent):
            if local:
                notes.append(f"local files are taken to count from the datum of {source.file.name}")
            return source.crs.datum
    longitudes, latitudes = _outline(placed, 2)
    if np.abs(latitudes).max() > POLAR:
        longitude, latitude = _below(*map(_mid, _on_sphere(*_outline(placed, 5))))
    else:
        longitude, latitude = _mid(wrapped(longitudes, longitudes[0])), _mid(latitudes)
    datum = round(latitude, 6), round(float(wrapped(longitude, 0.0)), 6)
    if local:
        notes.append("local files are taken to be about the middle of the others: give --datum")
    notes.append(f"datum in the middle of the survey: {datum[0]:.6f}, {datum[1]:.6f}")
    return datum


def _outline(placed: list[Soundings | Raster], count: int) -> tuple[Array, Array]:
    """Longitudes and latitudes of all soundings, and of so many nodes along each side of rasters,
    the outermost among them."""
    found = []
    for source in placed:
        x, y = source.x, source.y
        if isinstance(source, Raster):
            some = (a[np.linspace(0, len(a) - 1, count).astype(np.int64)] for a in (x, y))
            x, y = (a.ravel() for a in np.meshgrid(*some))
        found.append(geographic(x, y, source.crs))
    longitudes, latitudes = (np.concatenate(column) for column in zip(*found, strict=True))
    return longitudes, latitudes


def _mid(values: Array) -> float:
    """Half way between the least and the greatest."""
    return 0.5 * float(values.min() + values.max())
