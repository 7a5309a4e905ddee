"""Smooth paths through waypoints, on the host: cubic pieces, or legs joined by arcs."""

import numpy as np
from numpy.typing import ArrayLike

from seatrial.gnc.guidance.path import Row, arc, hermite, line


def smooth(waypoints: ArrayLike) -> list[Row]:
    """Cubic Hermite pieces through all waypoints (K, 3), with one tangent at each.

    The tangent by chord length is that of the parabola through a waypoint and its neighbours
    (Bessel's), which bends little where legs differ in length; at the ends it is the leg's.
    """
    points = np.asarray(waypoints, np.float64)
    legs = np.diff(points, axis=0)
    lengths = np.sqrt(np.sum(legs**2, axis=1))
    if np.any(lengths == 0.0):
        raise ValueError("two successive waypoints are the same")
    slopes = legs / lengths[:, None]
    tangents = np.concatenate([slopes[:1], slopes[-1:]])
    if len(points) > 2:
        h0, h1 = lengths[:-1, None], lengths[1:, None]
        inner = (h1 * slopes[:-1] + h0 * slopes[1:]) / (h0 + h1)
        tangents = np.concatenate([slopes[:1], inner, slopes[-1:]])
    return [
        hermite(points[k], h * tangents[k], points[k + 1], h * tangents[k + 1])
        for k, h in enumerate(lengths)
    ]


def fillet(waypoints: ArrayLike, radius: float) -> list[Row]:
    """Legs between waypoints (K, 3), their corners rounded with a turning radius.

    An arc that turns by α begins r tan(α/2) before the corner. Where a leg is too short for the
    arcs at its two ends the radius is made smaller there. A leg that turns straight back keeps its
    corner.
    """
    points = np.asarray(waypoints, np.float64)
    rows: list[Row] = []
    at = points[0]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        way_in, way_out = corner - before, after - corner
        size_in, size_out = (float(np.hypot(*way[:2])) for way in (way_in, way_out))
        if size_in == 0.0 or size_out == 0.0:
            raise ValueError("a leg has no horizontal length")
        heading = np.arctan2(way_in[1], way_in[0])
        turn = (np.arctan2(way_out[1], way_out[0]) - heading + np.pi) % (2.0 * np.pi) - np.pi
        tangent = np.tan(0.5 * abs(turn))
        cut = min(radius * tangent, 0.5 * size_in, 0.5 * size_out)
        if abs(turn) < 1e-9 or abs(turn) > np.pi - 1e-6:
            cut = 0.0
        first, second = corner - cut / size_in * way_in, corner + cut / size_out * way_out
        if np.hypot(*(first - at)[:2]) > 1e-12:
            rows.append(line(at, first))
        if cut > 0.0:
            side = np.sign(turn)
            r = cut / tangent
            normal = side * np.array([-np.sin(heading), np.cos(heading)])
            azimuth = np.arctan2(-normal[1], -normal[0])
            centre = first[:2] + r * normal
            rows.append(arc(centre, r, azimuth, turn, first[2], second[2] - first[2]))
        at = second
    if np.hypot(*(points[-1] - at)[:2]) > 1e-12:
        rows.append(line(at, points[-1]))
    return rows
