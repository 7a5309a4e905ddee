"""Bodies that move: each has an acceleration structure in its own axes, and is hit by moving the
rays into them, so that nothing is ever built again. Only rays that can reach the sphere around a
body are moved."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.hits import Hits, of_one
from seatrial.geometry.triangles import Triangles

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

ROUNDING = 1e-6
"""Of a distance, by which a ray may miss a sphere: single precision and some more."""
PRODUCTS = 1 << 18
"""Of rays with places at once: they stay in the cache, and OpenBLAS in one thread."""

POSE = 7
"""Numbers of a place and a quaternion."""

Within = tuple[Array, Array, float]
"""Least and greatest coordinates (3,) of where rays begin, and how far the farthest goes."""


class Moving(NamedTuple):
    """A body that moves."""

    place: int
    """Among the bodies."""
    body: Body
    material: int
    triangles: Triangles
    haunt: tuple[float, ...] = ()
    """Middle and radius of a sphere that it never leaves; nothing where none is known."""

    def being(self, body: Body) -> "Moving":
        """The same shape as a body that moves in its own way."""
        if body.ride is None or body.position is None:
            return self._replace(body=body, haunt=())
        middle = body.position + rotation_matrix(body.attitude) @ self.triangles.centre
        sway = math.hypot(body.ride.radius, float(np.sum(np.abs(body.ride.amplitude))))
        return self._replace(body=body, haunt=(*middle.tolist(), self.triangles.radius + sway))

    def comes_near(self, low: list[float], high: list[float], reach: float) -> bool:
        """Whether it may be within reach of a box; most of what is moored never is."""
        if not self.haunt:
            return True
        *middle, radius = self.haunt
        apart = (max(a - m, m - b, 0.0) for m, a, b in zip(middle, low, high, strict=True))
        return math.hypot(*apart) <= reach + radius

    def at(self, times: Array) -> "Present":
        """Where one is that nobody steers, at times (K, T)."""
        position, matrix = self.body.pose(times.mean(axis=1))
        position = position[:, None]
        if self.body.motion is not None:
            level, _ = self.body.motion.at(times)
            down = np.broadcast_to(position[..., 2:], (*times.shape, 1))
            position = np.concatenate([level, down], axis=2)
        return Present(self, position, matrix)

    def posed(self, rows: Array, times: Array) -> "Present":
        """Where a vehicle is at times (K, T), by its poses (K, 7) at the last of them; (K, 10) with
        the velocity over ground at which it came there."""
        position, matrix = rows[:, None, :3], np.moveaxis(rotation_matrix(rows[:, 3:7].T), -1, 0)
        if rows.shape[1] > POSE and times.shape[1] > 1:
            before = times - times[:, -1:]
            position = position + before[:, :, None] * rows[:, None, POSE:]
        return Present(self, position, matrix)


class Present(NamedTuple):
    """A body that moves, in K samples."""

    moving: Moving
    position: Array
    """(K, T, 3) at T instants of each sample; NaN where it is not there."""
    matrix: Array
    """(K, 3, 3) from its axes to the world's."""

    def sphere(self) -> tuple[Array, Array]:
        """Middle (K, 3) and radius (K,) of a sphere around all of it."""
        triangles = self.moving.triangles
        if self.position.shape[1] == 1:
            size = np.full(len(self.position), triangles.radius)
            return self.position[:, 0] + self.matrix @ triangles.centre, size
        low, high = self.position.min(axis=1), self.position.max(axis=1)
        middle = 0.5 * (low + high) + self.matrix @ triangles.centre
        return middle, triangles.radius + 0.5 * np.linalg.norm(high - low, axis=1)


def met_of(
    present: list[Present],
    within: Within,
    origins: Array,
    directions: Floats,
    reach: float | Floats,
) -> Iterator[Hits]:
    """What rays meet of each of some bodies, as `RayScene.cast` takes them."""
    if not present:
        return
    low, high, farthest = within
    each = len(directions) // len(origins)
    sides = [side.reshape(len(origins), each) for side in directions.T]
    spheres = [body.sphere() for body in present]
    middles, sizes = (np.stack(parts) for parts in zip(*spheres, strict=True))
    away = np.linalg.norm(middles - np.clip(middles, low, high), axis=2)
    near = np.flatnonzero(np.any(away - sizes <= farthest, axis=1))
    if not len(near):
        return
    middles, sizes = middles[near], sizes[near]
    if middles.shape[1] > 1:
        found = [
            _reaching(origins, sides, reach, *sphere) for sphere in zip(middles, sizes, strict=True)
        ]
    elif each == 1:
        found = [
            _passing(origins, sides, m, float(r))
            for m, r in zip(middles[:, 0], sizes[:, 0], strict=True)
        ]
    else:
        found = _towards(low, high, directions, middles[:, 0], sizes[:, 0])
    for i, every in zip(near, found, strict=True):
        moving, position, matrices = present[i]
        stretch = len(directions) // len(position)
        edges = np.searchsorted(every, stretch * np.arange(len(position) + 1))
        for k in np.flatnonzero(np.diff(edges)):
            rays, matrix = every[edges[k] : edges[k + 1]], matrices[k]
            instant = (rays - k * stretch) * position.shape[1] // stretch
            start = origins[rays // each] - position[k, instant]
            limit = reach if isinstance(reach, float | int) else reach[rays]
            turn = matrix.astype(directions.dtype)
            met = moving.triangles.meet(start @ matrix, directions[rays] @ turn, limit)
            met = met._replace(normal=met.normal @ turn.T)
            yield of_one(rays, met, moving.place, moving.material)


def _reaching(
    origins: Array, sides: list[Floats], reach: float | Floats, middle: Array, radius: Array
) -> Rows:
    """Which rays can reach a sphere, which is about `middle` (K, 3) with `radius` (K,) in each of
    the samples that follow each other.

    With a from where a ray begins to the middle of the sphere, d its direction and ρ the radius,
    d·a ≥ √(a² − ρ²), unless it begins inside.
    """
    each = len(origins) // len(middle)
    away = np.repeat(middle, each, axis=0) - origins
    square, size = np.sum(away**2, axis=1), np.repeat(radius, each)
    far = np.sqrt(square)
    least = np.sqrt(np.maximum(square - size**2, 0.0)) - ROUNDING * far
    least[far <= size] = -np.inf
    x, y, z = away.T.astype(np.float32)[..., None]
    ahead = x * sides[0]
    ahead += y * sides[1]
    ahead += z * sides[2]
    rays = np.flatnonzero(ahead >= least.astype(np.float32)[:, None])
    nearest = (far - size - ROUNDING * far).astype(np.float32).take(rays // sides[0].shape[1])
    limit = reach if isinstance(reach, float | int) else reach[rays]
    return np.asarray(rays[limit >= nearest])


def _towards(
    low: Array, high: Array, directions: Floats, middles: Array, radii: Array
) -> list[Rows]:
    """Which rays of one sample point towards each of some spheres (B, 3), as if all began amid
    their origins, which lie between two corners, and the spheres were larger by how far these lie
    apart: a few too many."""
    away = middles - 0.5 * (low + high)
    size = radii + 0.5 * float(np.linalg.norm(high - low))
    far = np.linalg.norm(away, axis=1)
    least = np.sqrt(np.maximum(far**2 - size**2, 0.0)) - ROUNDING * far
    least[far <= size] = -np.inf
    single, least = away.astype(np.float32), least.astype(np.float32)[:, None]
    found: list[list[Rows]] = [[] for _ in middles]
    step = max(PRODUCTS // single.size, 1)
    for first in range(0, len(directions), step):
        towards = single @ directions[first : first + step].T >= least
        for rays, some in zip(found, towards, strict=True):
            rays.append(first + np.flatnonzero(some))
    return [np.concatenate(rays) for rays in found]


def _passing(origins: Array, sides: list[Floats], middle: Array, radius: float) -> Rows:
    """Which rays of one sample, each from a place of its own, pass through a sphere: those that
    begin inside or, with a to its middle, have d·a ≥ 0 and (d·a)² ≥ a² − ρ²."""
    ahead, square = (np.zeros(len(origins), np.float32) for _ in range(2))
    for c, side in enumerate(sides):
        away = (middle[c] - origins[:, c]).astype(np.float32)
        ahead += away * side.reshape(-1)
        away *= away
        square += away
    beside = square * np.float32(1.0 - 4.0 * ROUNDING) - np.float32(radius**2)
    return np.flatnonzero((beside <= 0.0) | ((ahead >= 0.0) & (ahead * ahead >= beside)))
