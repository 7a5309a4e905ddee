"""Paths of straight lines, circular arcs and cubic pieces, on the host.

A path is a list of rows of thirteen numbers, one per segment. A segment runs over u = 0 … 1:

    0, c0 (3), c1 (3), c2 (3), c3 (3)                          p = c0 + c1 u + c2 u² + c3 u³
    1, centre north and east, radius, azimuth, sweep, depth, change of depth, and five zeros
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Row = NDArray[np.float64]

_QUADRATURE = np.polynomial.legendre.leggauss(16)


def line(start: ArrayLike, end: ArrayLike) -> Row:
    """Straight segment between two points (3,)."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    return np.concatenate([[0.0], a, b - a, np.zeros(6)])


def arc(
    centre: ArrayLike, radius: float, azimuth: float, sweep: float, depth: float, sinks: float = 0.0
) -> Row:
    """Arc from the azimuth at which it begins, seen from its centre; clockwise sweeps count up."""
    north, east = np.asarray(centre, np.float64)[:2]
    return np.array([1.0, north, east, radius, azimuth, sweep, depth, sinks, 0, 0, 0, 0, 0])


def hermite(start: ArrayLike, leave: ArrayLike, end: ArrayLike, arrive: ArrayLike) -> Row:
    """Cubic from a point to another with these derivatives dp/du at its ends, each (3,)."""
    a, va, b, vb = (np.asarray(v, np.float64) for v in (start, leave, end, arrive))
    return np.concatenate([[0.0], a, va, 3 * (b - a) - 2 * va - vb, 2 * (a - b) + va + vb])


class Place(NamedTuple):
    """A point of a path and the derivatives by u there, (3, ...) each."""

    point: Any
    first: Any
    second: Any


def evaluate(row: Row, u: Any) -> Place:
    """Segments (13, ...) at u (...)."""
    c0, c1, c2, c3 = row[1:4], row[4:7], row[7:10], row[10:13]
    cubic = Place(
        c0 + u * (c1 + u * (c2 + u * c3)),
        c1 + u * (2.0 * c2 + 3.0 * u * c3),
        2.0 * c2 + 6.0 * u * c3,
    )
    north, east, radius, azimuth, sweep, depth, sinks = (row[i] for i in range(1, 8))
    angle = azimuth + sweep * u
    c, s = radius * np.cos(angle), radius * np.sin(angle)
    level = np.zeros_like(angle)
    round_ = Place(
        np.stack([north + c, east + s, depth + sinks * u]),
        np.stack([-sweep * s, sweep * c, sinks + level]),
        np.stack([-(sweep**2) * c, -(sweep**2) * s, level]),
    )
    return Place(*(np.where(row[0] > 0.5, a, b) for a, b in zip(round_, cubic, strict=True)))


def segment_length(row: Row) -> float:
    """Arc length, m, by Gauss and Legendre's rule with sixteen points."""
    nodes, weights = _QUADRATURE
    at = 0.5 * (nodes + 1.0)
    first = evaluate(np.broadcast_to(row[:, None], (13, at.size)), at).first
    return float(0.5 * np.sum(weights * np.sqrt(np.sum(first**2, axis=0))))


def sample(rows: list[Row], spacing: float) -> Row:
    """Points (K, 3) of a path, at most about `spacing` apart, ends of segments included."""
    points = []
    for row in rows:
        steps = max(1, int(np.ceil(segment_length(row) / spacing)))
        u = np.arange(steps) / steps
        points.append(evaluate(np.broadcast_to(row[:, None], (13, steps)), u).point.T)
    points.append(evaluate(rows[-1], np.float64(1.0)).point[None])
    return np.concatenate(points)
