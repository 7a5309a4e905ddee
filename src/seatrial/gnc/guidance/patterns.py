"""Patterns of waypoints (K, 3), made on the host: survey, search, loiter, dock.

Headings are rad clockwise from north, places north and east, depths positive down, m.
"""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.spatial.geodesy import to_ned

Array = NDArray[np.float64]


def from_latitude_longitude(places: ArrayLike, datum: tuple[float, float]) -> Array:
    """Waypoints (K, 3) of latitudes, longitudes (degrees) and depths below the local level (m).

    The height is chosen such that the point has the depth in the local frame, whose level is a
    plane and not the curved sea.
    """
    latitude, longitude, depth = np.asarray(places, np.float64).T
    height = -depth
    for _ in range(3):
        local = to_ned(latitude, longitude, height, datum)
        height = height + local[2] - depth
    return local.T


def survey(area: ArrayLike, spacing: float, heading: float, depth: float = 0.0) -> Array:
    """Lines to and fro over a polygon (P, 2), the first along the heading.

    The lines share the width evenly, so they are `spacing` apart or a little less, and each covers
    a strip. A line runs as far as the area reaches anywhere in its strip: with a swath of `spacing`
    every place of the area is seen, and at slanting sides the line ends outside. Where a notch
    divides a strip, its parts are run one after the other.
    """
    polygon = np.asarray(area, np.float64)
    if spacing <= 0.0 or len(polygon) < 3:
        raise ValueError("a survey needs an area with three corners and a spacing above zero")
    ahead, starboard = _axes(heading)
    x, y = polygon @ ahead, polygon @ starboard
    width = float(np.ptp(y))
    lines = max(1, int(np.ceil(width / spacing - 1e-9)))
    strip = width / lines
    points: list[Array] = []
    for i in range(lines):
        low = float(y.min()) + i * strip
        stretches = _stretches(x, y, low, low + strip)
        back = i % 2 == 1
        for left, right in reversed(stretches) if back else stretches:
            ends = (right, left) if back else (left, right)
            points += [end * ahead + (low + 0.5 * strip) * starboard for end in ends]
    return _at_depth(np.array(points), depth)


def _stretches(x: Array, y: Array, low: float, high: float) -> list[tuple[float, float]]:
    """What a polygon covers of the first axis in a strip of the second.

    Between two successive corners the ends of a section move linearly, so that the sections just
    within those tell the extent.
    """
    levels = np.unique(np.concatenate([[low, high], y[(y > low) & (y < high)]]))
    found: list[tuple[float, float]] = []
    for a, b in itertools.pairwise(levels):
        inset = 1e-9 * (b - a)
        lower, upper = _sections(x, y, a + inset), _sections(x, y, b - inset)
        found += [(min(p, r), max(q, s)) for (p, q), (r, s) in zip(lower, upper, strict=False)]
    merged: list[tuple[float, float]] = []
    for left, right in sorted(found):
        if merged and left <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def _sections(x: Array, y: Array, level: float) -> list[tuple[float, float]]:
    """Intervals of the first axis inside a polygon at one level of the second."""
    x1, y1 = np.roll(x, -1), np.roll(y, -1)
    cut = (y > level) != (y1 > level)
    crossings = np.sort(x[cut] + (level - y[cut]) / (y1[cut] - y[cut]) * (x1[cut] - x[cut]))
    return [(float(a), float(b)) for a, b in crossings.reshape(-1, 2)]


def expanding_square(
    centre: ArrayLike, spacing: float, legs: int, heading: float = 0.0, depth: float = 0.0
) -> Array:
    """Search outwards from a last known place: legs of d, d, 2d, 2d, 3d …, turning to starboard.

    IAMSAR manual, volume III: expanding square search.
    """
    ahead, starboard = _axes(heading)
    ways = (ahead, starboard, -ahead, -starboard)
    points = [np.asarray(centre, np.float64)[:2]]
    for leg in range(legs):
        points.append(points[-1] + (leg // 2 + 1) * spacing * ways[leg % 4])
    return _at_depth(np.array(points), depth)


def loiter(
    centre: ArrayLike,
    radius: float,
    turns: float = 1.0,
    azimuth: float = 0.0,
    clockwise: bool = True,
    depth: float = 0.0,
    points_per_turn: int = 24,
) -> Array:
    """Circle around a place, from this azimuth of it."""
    count = max(1, int(np.ceil(turns * points_per_turn)))
    sweep = (2.0 if clockwise else -2.0) * np.pi * turns
    angles = azimuth + np.linspace(0.0, sweep, count + 1)
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return _at_depth(np.asarray(centre, np.float64)[:2] + circle, depth)


class Approach(NamedTuple):
    """Waypoints and the speeds at which the ways to them are run."""

    points: Array
    """(K, 3)."""
    speeds: Array
    """(K,) m/s."""


def dock(
    place: ArrayLike,
    heading: float,
    line_up: float,
    final: float,
    speed: float,
    final_speed: float,
    depth: float = 0.0,
) -> Approach:
    """Into a berth along its heading: to a line-up point, to the gate, then slowly in.

    The line-up point lies `line_up` before the berth and the gate `final` before it; up to the gate
    the way is run at `speed`, from there at `final_speed`.
    """
    if not line_up > final > 0.0:
        raise ValueError("the line-up point lies before the gate, and the gate before the berth")
    ahead, _ = _axes(heading)
    berth = np.asarray(place, np.float64)[:2]
    points = np.array([berth - line_up * ahead, berth - final * ahead, berth])
    return Approach(_at_depth(points, depth), np.array([speed, speed, final_speed]))


def _axes(heading: float) -> tuple[Array, Array]:
    """Unit vectors ahead and to starboard, north and east."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([c, s]), np.array([-s, c])


def _at_depth(points: Array, depth: float) -> Array:
    return np.concatenate([points, np.full((len(points), 1), depth)], axis=1)


def beside(line: Array, offset: float) -> Array:
    """A line of corners (K, 2) moved by `offset` to starboard of its way; at a corner along the
    middle of both sides, as far as keeps the distance to either (at most three times it)."""
    ways = np.diff(line, axis=0)
    ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    starboard = np.column_stack([-ways[:, 1], ways[:, 0]])
    before, after = np.vstack([starboard[:1], starboard]), np.vstack([starboard, starboard[-1:]])
    middle = before + after
    size = np.sum(middle * middle, axis=1, keepdims=True)
    # |middle| = 2 cos(half the turn); the corner lies offset / cos(half the turn) along it.
    stretch = 2.0 / np.maximum(size, 4.0 / 9.0)
    moved: Array = line + offset * stretch * middle
    return moved
