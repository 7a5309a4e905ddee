"""From soundings, rasters and surfaces to depths at the nodes of one grid.

Soundings: those nearest to one node become one point, at their mean place with their mean depth
(`grid`), or each stays a point of its own (`mesh`); the points are triangulated after Delaunay, and
a node has the depth of the triangle that it lies in. Rasters are interpolated bilinearly, after the
mean over what falls onto one node where they are finer than the grid. Of a mesh a node gets the
highest triangle over it.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.projection import Plane, is_geographic, name_of, wrapped
from seatrial.bathymetry.sources import Progress, Raster, refuse

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

GAP = 5.0
"""A node farther from all soundings than this times what usually lies between them, or than this
times the grid's spacing, is a hole."""
NARROWEST = 0.01
"""Least standard deviation of places across the line that fits them best, m."""
SLENDER = 5e-4
"""The same over that along the line."""
PAIRS = 4_000_000
"""Of triangles and nodes that are looked at together."""
EDGE = 1e-9
"""How far outside of a triangle a node may lie that is on its edge, as a share of its size."""
ROWS = 256
"""Of the grid that are interpolated at once."""


@dataclass(frozen=True)
class Nodes:
    """Where the nodes of a grid lie."""

    north: Array
    """(A,) m."""
    east: Array
    """(B,) m."""
    spacing: float

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.north), len(self.east)


class Layer(NamedTuple):
    """Depths at the nodes, as one source gives them."""

    depth: Array
    """(A, B) m; NaN where it says nothing."""
    hole: Bools
    """(A, B) where it says nothing, or only across a gap."""


class Points(NamedTuple):
    """Soundings in the plane."""

    north: Array
    east: Array
    depth: Array


def nodes_over(low: Array, high: Array, spacing: float) -> Nodes:
    """Nodes at multiples of the spacing within bounds, two at least along each side."""
    axes = []
    for least, greatest in zip(low, high, strict=True):
        first = math.ceil(least / spacing - 1e-9)
        last = max(math.floor(greatest / spacing + 1e-9), first + 1)
        axes.append(spacing * np.arange(first, last + 1))
    return Nodes(axes[0], axes[1], spacing)


def usual_spacing(low: Array, high: Array, count: int) -> float:
    """About one sounding for each node, in round metres: 1, 2 or 5 times a power of ten."""
    area = float(np.prod(np.maximum(high - low, 1e-3)))
    return round_up(0.75 * math.sqrt(area / max(count, 1)))


def round_up(spacing: float) -> float:
    """The next of 1, 2, 5, 10, 20, … and their tenths."""
    power = 10.0 ** math.floor(math.log10(max(spacing, 1e-3)))
    return float(next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= 0.999 * spacing))


def unique(points: Points) -> tuple[Points, int, int]:
    """Points at different places, how many were at one that was there, and how many of those
    places had more than one depth; such a place gets the mean."""
    order = np.lexsort((points.depth, points.east, points.north))
    north, east, depth = (a[order] for a in points)
    new = np.ones(len(north), bool)
    new[1:] = (np.diff(north) != 0.0) | (np.diff(east) != 0.0)
    firsts = np.flatnonzero(new)
    counts = np.diff([*firsts, len(north)])
    total = np.add.reduceat(depth, firsts)
    lasts = firsts + counts - 1
    conflicting = int(np.count_nonzero(depth[lasts] - depth[firsts] > 1e-6))
    repeated = len(north) - len(firsts)
    return Points(north[firsts], east[firsts], total / counts), repeated, conflicting


def block_means(points: Points, nodes: Nodes) -> Points:
    """One point for all that are nearest to the same node of the endless grid.

    The corners of the survey's convex hull stay points of their own, or it would shrink.
    """
    row = np.rint(points.north / nodes.spacing).astype(np.int64)
    column = np.rint(points.east / nodes.spacing).astype(np.int64)
    row, column = row - row.min(), column - column.min()
    block = row * (int(column.max()) + 1) + column
    _, which, counts = np.unique(block, return_inverse=True, return_counts=True)
    means = Points(*(np.bincount(which, a) / counts for a in points))
    corners = _hull(points)
    return Points(*(np.concatenate([m, a[corners]]) for m, a in zip(means, points, strict=True)))


def _hull(points: Points) -> NDArray[np.int64]:
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(ConvexHull(np.column_stack(points[:2])).vertices, np.int64)
    except (QhullError, ValueError):
        return np.zeros(0, np.int64)  # on one line, which is refused where it is triangulated


def interpolate(points: Points, nodes: Nodes, file: Path, places: int, progress: Progress) -> Layer:
    """Linear over the Delaunay triangles of the points; `places` had soundings."""
    from scipy.ndimage import distance_transform_edt
    from scipy.spatial import Delaunay, QhullError

    middle = np.array([points.north.mean(), points.east.mean()])
    plan = np.column_stack([points.north, points.east]) - middle
    try:
        if len(plan) < 3:
            raise ValueError
        # Rounding leaves a little width to points on one line, and the Earth bends long ones.
        along, across = np.sqrt(np.linalg.svd(np.cov(plan.T), compute_uv=False))
        if across < max(NARROWEST, SLENDER * along):
            raise ValueError
        faces = Delaunay(plan).simplices.astype(np.int64)
    except (QhullError, ValueError):
        refuse(
            file,
            f"{places} different place{'s' if places > 1 else ''} that span no area",
            expected="at least three soundings that are not on one line",
            mend="add soundings to its side; a single line is no survey of an area",
        )
    progress(0.5)
    corners = np.column_stack([points.east, points.north, points.depth])[faces]
    depth = over_triangles(corners, nodes.north, nodes.east)
    progress(0.9)
    usual = float(np.median(np.linalg.norm(corners[:, 1, :2] - corners[:, 0, :2], axis=1)))
    away = distance_transform_edt(~_occupied(points, nodes)) * nodes.spacing
    return Layer(depth, np.isnan(depth) | (away > GAP * max(usual, nodes.spacing)))


def _occupied(points: Points, nodes: Nodes) -> Bools:
    """(A, B) nodes that are the nearest to a point."""
    found = np.zeros(nodes.shape, bool)
    row, column = (
        np.clip(np.rint((places - axis[0]) / nodes.spacing).astype(np.int64), 0, len(axis) - 1)
        for places, axis in ((points.north, nodes.north), (points.east, nodes.east))
    )
    found[row, column] = True
    return found


def over_triangles(corners: Array, north: Array, east: Array) -> Array:
    """(A, B) greatest value of triangles (F, 3, 3), east, north, value, over each node; NaN
    where there is none.

    Every triangle is looked at for the nodes of the rectangle around it, by its barycentric
    coordinates, many at once.
    """
    found = np.full((len(north), len(east)), -np.inf)
    first_row = np.searchsorted(north, corners[:, :, 1].min(axis=1) - EDGE)
    rows = np.searchsorted(north, corners[:, :, 1].max(axis=1) + EDGE, side="right") - first_row
    first_column = np.searchsorted(east, corners[:, :, 0].min(axis=1) - EDGE)
    columns = (
        np.searchsorted(east, corners[:, :, 0].max(axis=1) + EDGE, side="right") - first_column
    )
    pairs = rows * columns
    touched = np.flatnonzero(pairs)
    ends = np.cumsum(pairs[touched])
    begin = 0
    while begin < len(touched):
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + PAIRS)))
        some = touched[begin:end]
        triangle = np.repeat(some, pairs[some])
        firsts = np.concatenate([[0], np.cumsum(pairs[some])[:-1]])
        within = np.arange(len(triangle)) - np.repeat(firsts, pairs[some])
        i = first_row[triangle] + within // columns[triangle]
        j = first_column[triangle] + within % columns[triangle]
        a, b, c = (corners[triangle, k] for k in range(3))
        u, v, inside = _barycentric(a, b, c, np.stack([east[j], north[i]], axis=1))
        here = a[:, 2] + u * (b[:, 2] - a[:, 2]) + v * (c[:, 2] - a[:, 2])
        np.maximum.at(found, (i[inside], j[inside]), here[inside])
        begin = end
    found[np.isinf(found)] = np.nan
    return found


def _barycentric(a: Array, b: Array, c: Array, p: Array) -> tuple[Array, Array, Bools]:
    """Shares of the second and third corner at places (N, 2), and whether those are inside."""
    area = _cross(b - a, c - a)
    wide = np.where(area == 0.0, 1.0, area)
    u, v = _cross(p - a[:, :2], c - a) / wide, _cross(b - a, p - a[:, :2]) / wide
    return u, v, (area != 0.0) & (u >= -EDGE) & (v >= -EDGE) & (u + v <= 1.0 + EDGE)


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def sample_raster(raster: Raster, z: Array, nodes: Nodes, plane: Plane) -> Layer:
    """Bilinear in the raster's own system; `z` are its depths."""
    _check_edge(raster, plane)
    x, y, z = _thinned(raster, z, nodes.spacing, plane)
    degrees = is_geographic(raster.crs)
    depth = np.empty(nodes.shape)
    for first in range(0, nodes.shape[0], ROWS):
        rows = slice(first, first + ROWS)
        north, east = np.meshgrid(nodes.north[rows], nodes.east, indexing="ij")
        along, across = plane.to_system(north, east, raster.crs)
        if degrees:  # which may count its longitudes to 360°
            along = wrapped(along, 0.5 * (x[0] + x[-1]))
        depth[rows] = _bilinear(x, y, z, along, across)
    return Layer(depth, np.isnan(depth))


def _check_edge(raster: Raster, plane: Plane) -> None:
    """Refuse a projected raster that goes on where its projection ends, as Mercator's do at a
    meridian: the places there have their coordinates on the other side of the map."""
    if is_geographic(raster.crs):
        return
    x, y = raster.x[[0, -1]], raster.y[[0, -1]]
    back, _ = plane.to_system(*plane.to_plane(x, y, raster.crs), raster.crs)
    if np.abs(back - x).max() > np.ptp(x):
        refuse(
            raster.file,
            f"it goes on beyond the edge of its projection, {name_of(raster.crs)}",
            value=(float(x[0]), float(x[1])),
            expected="a raster in a projection that has no edge there",
            mend="warp it, for 180° to the zone of UTM beside it: gdalwarp -t_srs EPSG:32660, or "
            "EPSG:32760 south of the equator",
        )


def _thinned(raster: Raster, z: Array, spacing: float, plane: Plane) -> tuple[Array, Array, Array]:
    """A raster that is finer than the grid as means over whole numbers of its nodes."""
    x, y = raster.x, raster.y
    for axis, step in enumerate(resolution(raster, plane)):
        factor = int(spacing / step + 1e-6)
        if factor < 2:
            continue
        along = y if axis == 0 else x
        count = len(along) // factor
        if count < 2:
            continue
        along = along[: count * factor].reshape(count, factor).mean(axis=1)
        if axis == 0:
            z, y = _mean(z[: count * factor].reshape(count, factor, -1), 1), along
        else:
            z, x = _mean(z[:, : count * factor].reshape(len(z), count, factor), 2), along
    return x, y, z


def _mean(z: Array, axis: int) -> Array:
    known = ~np.isnan(z)
    total = np.where(known, z, 0.0).sum(axis=axis)
    counts = known.sum(axis=axis)
    return np.asarray(np.where(counts > 0, total / np.maximum(counts, 1), np.nan))


def resolution(raster: Raster, plane: Plane) -> tuple[float, float]:
    """Metres between its rows and between its columns, in the middle."""
    x, y = raster.x, raster.y
    i, j = len(y) // 2, len(x) // 2
    i, j = min(i, len(y) - 2), min(j, len(x) - 2)
    north, east = plane.to_plane(
        np.array([x[j], x[j + 1], x[j]]), np.array([y[i], y[i], y[i + 1]]), raster.crs
    )
    return (
        math.hypot(north[2] - north[0], east[2] - east[0]),
        math.hypot(north[1] - north[0], east[1] - east[0]),
    )


def _bilinear(x: Array, y: Array, z: Array, at_x: Array, at_y: Array) -> Array:
    a = (at_y - y[0]) / (y[-1] - y[0]) * (len(y) - 1)
    b = (at_x - x[0]) / (x[-1] - x[0]) * (len(x) - 1)
    # Half a cell beyond the outermost nodes belongs to them still.
    inside = (a >= -0.5) & (a <= len(y) - 0.5) & (b >= -0.5) & (b <= len(x) - 0.5)
    a, b = np.clip(a, 0.0, len(y) - 1.0), np.clip(b, 0.0, len(x) - 1.0)
    i = np.minimum(a.astype(np.int64), len(y) - 2)
    j = np.minimum(b.astype(np.int64), len(x) - 2)
    s, t = a - i, b - j
    low = z[i, j] * (1.0 - t) + z[i, j + 1] * t
    high = z[i + 1, j] * (1.0 - t) + z[i + 1, j + 1] * t
    return np.where(inside, low * (1.0 - s) + high * s, np.nan)


def merged(layers: list[Layer]) -> Layer:
    """The first layer that knows a node says its depth; across gaps only where no other does."""
    depth, hole = layers[0].depth.copy(), layers[0].hole.copy()
    for layer in layers[1:]:
        better = hole & ~layer.hole | np.isnan(depth) & ~np.isnan(layer.depth)
        depth[better] = layer.depth[better]
        hole &= layer.hole
    return Layer(depth, hole)


def filled(depth: Array) -> tuple[Array, int]:
    """Depths without holes, and how many nodes were filled from all around.

    A hole that known nodes enclose is filled linearly over the Delaunay triangles of its rim; one
    that reaches to the edge of the grid has nothing on its other side, and takes the nearest.
    """
    from scipy.interpolate import LinearNDInterpolator
    from scipy.ndimage import binary_dilation, distance_transform_edt, label

    unknown = np.isnan(depth)
    if not unknown.any():
        return depth, 0
    i, j = distance_transform_edt(unknown, return_distances=False, return_indices=True)
    found: Array = depth[i, j]
    around = np.ones((3, 3), bool)
    parts, _ = label(unknown, around)
    edges = np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]])
    within = unknown & ~np.isin(parts, edges)
    if within.any():
        rim = binary_dilation(within, around) & ~unknown
        places = np.argwhere(rim).astype(np.float64)
        found[within] = LinearNDInterpolator(places, depth[rim])(np.argwhere(within))
    return found, int(within.sum())
