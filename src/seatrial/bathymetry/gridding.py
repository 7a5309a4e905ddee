"""From soundings, rasters and surfaces to depths at the nodes of one grid.

Soundings: those nearest to one node become one point, at their mean place with their mean depth
(`grid`), or each stays a point of its own (`mesh`); the points are triangulated after Delaunay, and
a node has the depth of the triangle that it lies in. Rasters are interpolated bilinearly, after the
mean over what falls onto one node where they are finer than the grid. Of a mesh a node gets the
highest triangle over it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry.projection import Plane
from seatrial.bathymetry.sources import GEOGRAPHIC, Progress, Raster, Soundings, refuse

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

GAP = 5.0
"""A node farther from all soundings than this times what usually lies between them, or than this
times the grid's spacing, is a hole."""
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
    return round_up(math.sqrt(area / max(count, 1)))


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
    """One point for all that are nearest to the same node of the endless grid."""
    row = np.rint(points.north / nodes.spacing).astype(np.int64)
    column = np.rint(points.east / nodes.spacing).astype(np.int64)
    row, column = row - row.min(), column - column.min()
    block = row * (int(column.max()) + 1) + column
    _, which, counts = np.unique(block, return_inverse=True, return_counts=True)
    return Points(*(np.bincount(which, a) / counts for a in points))


def interpolate(points: Points, nodes: Nodes, file: Soundings, progress: Progress) -> Layer:
    """Linear over the Delaunay triangles of the points."""
    from scipy.interpolate import LinearNDInterpolator
    from scipy.spatial import Delaunay, QhullError, cKDTree

    middle = np.array([points.north.mean(), points.east.mean()])
    places = np.column_stack([points.north, points.east]) - middle
    try:
        triangles = Delaunay(places)
    except (QhullError, ValueError):
        refuse(
            file.file,
            f"{len(places)} different places that span no area",
            expected="at least three soundings that are not on one line",
        )
    progress(0.5)
    linear = LinearNDInterpolator(triangles, points.depth)
    tree = cKDTree(places)
    beside = tree.query(places[:: max(1, len(places) // 10_000)], k=2)[0][:, 1]
    gap = GAP * max(float(np.median(beside)), nodes.spacing)
    depth, hole = np.empty(nodes.shape), np.empty(nodes.shape, bool)
    for first in range(0, nodes.shape[0], ROWS):
        rows = slice(first, first + ROWS)
        some = np.stack(np.meshgrid(nodes.north[rows], nodes.east, indexing="ij"), -1) - middle
        depth[rows] = linear(some)
        far = tree.query(some, distance_upper_bound=gap)[0]
        hole[rows] = np.isinf(far) | np.isnan(depth[rows])
        progress(0.5 + 0.5 * min(1.0, (first + ROWS) / nodes.shape[0]))
    return Layer(depth, hole)


def sample_raster(raster: Raster, z: Array, nodes: Nodes, plane: Plane) -> Layer:
    """Bilinear in the raster's own system; `z` are its depths."""
    x, y, z = _thinned(raster, z, nodes.spacing, plane)
    depth = np.empty(nodes.shape)
    for first in range(0, nodes.shape[0], ROWS):
        rows = slice(first, first + ROWS)
        north, east = np.meshgrid(nodes.north[rows], nodes.east, indexing="ij")
        along, across = plane.to_system(north, east, raster.crs)
        if raster.crs == GEOGRAPHIC:  # which may count its longitudes to 360°
            middle = 0.5 * (x[0] + x[-1])
            along = middle + np.remainder(along - middle + 180.0, 360.0) - 180.0
        depth[rows] = _bilinear(x, y, z, along, across)
    return Layer(depth, np.isnan(depth))


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


def filled(depth: Array) -> Array:
    """Depths with those of the nearest node that has one where there is none."""
    from scipy.ndimage import distance_transform_edt

    unknown = np.isnan(depth)
    if not unknown.any():
        return depth
    i, j = distance_transform_edt(unknown, return_distances=False, return_indices=True)
    nearest: Array = depth[i, j]
    return nearest
