"""Rays cast against everything in the world: what a laser, a camera, a sonar or a radar meets.

What stands still, with the bottom, is one acceleration structure. What moves (vessels, vehicles)
keeps one each, in its own axes, and is hit by moving the rays into them: nothing is ever built
again. A flat bottom needs no triangles.

    scene = RayScene(bodies, bottom=20.0)
    hits = scene.cast(origins, directions, t)
"""

import math
from collections.abc import Iterator, Sequence
from copy import copy
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.materials import MATERIAL_NAMES, material_index
from seatrial.geometry.tiles import Tiles, extended
from seatrial.geometry.triangles import Met, Triangles

Array = NDArray[np.float64]
Whole = NDArray[np.int32]
Rows = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

BOTTOM = -2
"""In place of the index of a body."""

USUAL_MATERIAL = {"vessel": "steel", "vehicle": "aluminium"}
"""Of bodies that do not say theirs; concrete for all others."""
ROUNDING = 1e-6
"""Of a distance, by which a ray may miss a sphere: single precision and some more."""
MOST_KEPT = 16
"""Instants of which it is kept where everything is."""
MOST_FACES = 1_000_000
"""Of a bottom that is one structure with the bodies; a larger one is cut into tiles."""


class Hits(NamedTuple):
    """What rays meet first: P of them that meet something, in their order."""

    ray: Rows
    """(P,) which of them."""
    distance: Array
    """(P,) along the ray, m."""
    cosine: Array
    """(P,) of the incidence, between ray and normal, from 0 to 1."""
    normal: Array
    """(P, 3) of the surface there, towards the side that the ray comes from; unit, NED."""
    body: Whole
    """(P,) index of the body, or `BOTTOM`."""
    material: Whole
    """(P,) index into `materials.MATERIAL_NAMES`."""

    def at(self, rows: NDArray[np.integer]) -> "Hits":
        """Some of them."""
        return Hits(*(part[rows] for part in self))


class RayScene:
    """Bodies and a bottom that rays are cast against; from many threads, if need be."""

    def __init__(
        self,
        bodies: Sequence[Body],
        bottom: float | HeightGrid | None = None,
        bottom_material: str = "sand",
    ) -> None:
        """`bottom` is the depth of a flat one, m, or a map."""
        self.bodies = tuple(bodies)
        self.vehicles = [i for i, body in enumerate(self.bodies) if body.shape == "vehicle"]
        """Places of the bodies that move as `cast` is told."""
        self.bottom = bottom
        self.floor = material_index(bottom_material)
        """Index of the material of the bottom."""
        self._built = False
        self._still: _Still | None = None
        self._moving: list[_Moving] = []
        self._tiles: Tiles | None = None
        self._lock = Lock()
        self._known: dict[tuple[Any, ...], dict[int, _Present]] = {}

    def __reduce__(self) -> tuple[type["RayScene"], tuple[Any, ...]]:
        """Another process builds its own structures."""
        return RayScene, (self.bodies, self.bottom, MATERIAL_NAMES[self.floor])

    def following(self, bodies: Sequence[Body]) -> "RayScene":
        """The same world with its floating bodies on other waves; nothing is built again."""
        rides = {body.name: body for body in bodies if body.ride is not None}
        if not rides:
            return self
        self._build()
        other = copy(self)
        other.bodies = tuple(rides.get(body.name, body) for body in self.bodies)
        other._moving = [m.being(other.bodies[m.place]) for m in self._moving]
        other._known = {}
        return other

    def cast(
        self,
        origins: Array,
        directions: Floats,
        t: float | Array = 0.0,
        others: Array | None = None,
        reach: float | Floats = np.inf,
    ) -> Hits:
        """What rays along unit vectors (R, 3) meet within `reach`, one distance for all or (R,).

        They begin at `origins` (G, 3), NED, from each of them R / G that follow each other. `t` is
        when, s: for all, or (G,), so that what passes during a sweep is seen where it then was.
        `others` (V, 7) are the poses of the vehicles among the bodies, in their order, position and
        quaternion; a row of NaN, or no `others`, is a vehicle that is not seen. Rays of K samples
        that follow each other have `t` (K, G / K), and `others` (K, V, 7). Directions are best
        given as the transpose of (3, R) in single precision.
        """
        self._build()
        found = [] if self._still is None else [self._still.hits(origins, directions, reach)]
        times = np.asarray(t, np.float64)
        times = times if times.ndim == 2 else times.reshape(1, -1)
        flat = isinstance(self.bottom, float | int)
        if flat or self._tiles is not None:
            limit = np.array(np.broadcast_to(reach, len(directions)), np.float32)
            for hits in found:
                limit[hits.ray] = hits.distance
            if self._tiles is not None:
                found += self._on_tiles(self._tiles, origins, directions, limit)
            if flat:
                found.append(self._on_plane(origins, directions, limit))
        if self._moving:
            within = origins.min(axis=0), origins.max(axis=0), float(np.max(reach))
            found += self._on_moving(
                self._present(times, others, within), within, origins, directions, reach
            )
        return _nearest(found)

    def _build(self) -> None:
        """The acceleration structures, when the first ray is cast."""
        with self._lock:
            if self._built:
                return
            standing, owners, materials = [], [], []
            for i, body in enumerate(self.bodies):
                shape, material = body.mesh(), material_of(body)
                if body.moves or body.shape == "vehicle":
                    self._moving.append(_Moving(i, body, material, Triangles(shape)).being(body))
                else:
                    shape = shape.moved(*body.pose(0.0))
                    standing.append(shape)
                    owners.append(np.full(len(shape.faces), i, np.int32))
                    materials.append(np.full(len(shape.faces), material, np.int32))
            if isinstance(self.bottom, HeightGrid):
                nodes = extended(self.bottom)
                if 2 * nodes[2].size <= MOST_FACES:
                    shape = meshes.surface(*nodes)
                    standing.append(shape)
                    owners.append(np.full(len(shape.faces), BOTTOM, np.int32))
                    materials.append(np.full(len(shape.faces), self.floor, np.int32))
                else:
                    self._tiles = Tiles(*nodes)
            if standing:
                whole = Triangles(meshes.merged(standing))
                self._still = _Still(whole, np.concatenate(owners), np.concatenate(materials))
            self._built = True

    def _on_tiles(
        self, tiles: Tiles, origins: Array, directions: Floats, limit: Floats
    ) -> Iterator[Hits]:
        """A large bottom; `limit` shrinks to what is met."""
        starts = np.repeat(origins, len(directions) // len(origins), axis=0)
        for tile, rays in tiles.reached(starts, directions, limit):
            met = tile.meet(starts[rays], directions[rays], limit[rays])
            yield _shrunk(limit, _of_one(rays, met, BOTTOM, self.floor))

    def _on_plane(self, origins: Array, directions: Floats, limit: Floats) -> Hits:
        """A level bottom; a ray that begins below it meets it at once."""
        assert isinstance(self.bottom, float | int)
        down = directions[:, 2].astype(np.float64)
        height = np.maximum(float(self.bottom) - origins[:, 2], 0.0)
        height = np.repeat(height, len(down) // len(origins))
        with np.errstate(invalid="ignore"):  # level, without end
            rays = np.flatnonzero((down > 0.0) & (height < limit * down))
        cosine = down[rays]
        normal = np.tile([0.0, 0.0, -1.0], (len(rays), 1))
        met = Met(np.arange(len(rays)), height[rays] / cosine, cosine, normal, rays)
        return _shrunk(limit, _of_one(rays, met, BOTTOM, self.floor))

    def _present(self, times: Array, others: Array | None, within: "Within") -> list["_Present"]:
        """What moves and may be there at times (K, T), with where it is; kept for a while, since
        one picture asks often."""
        asked = times.shape, times.tobytes(), None if others is None else others.tobytes()
        if asked not in self._known and len(self._known) >= MOST_KEPT:
            self._known.clear()
        known = self._known.setdefault(asked, {})
        poses = None if others is None else others.reshape(len(times), len(self.vehicles), 7)
        low, high, reach = within[0].tolist(), within[1].tolist(), within[2]
        found = []
        for moving in self._moving:
            place, rows = moving.place, None
            if moving.body.shape == "vehicle":
                rows = None if poses is None else poses[:, self.vehicles.index(place)]
                if rows is None or not np.isfinite(rows).any():
                    continue
            elif not moving.comes_near(low, high, reach):
                continue
            if place not in known:
                known[place] = moving.at(times) if rows is None else moving.posed(rows)
            found.append(known[place])
        return found

    def _on_moving(
        self,
        moving: list["_Present"],
        within: "Within",
        origins: Array,
        directions: Floats,
        reach: float | Floats,
    ) -> Iterator[Hits]:
        """What moves: only rays that can reach the sphere around a body are moved into its axes."""
        if not moving:
            return
        low, high, farthest = within
        each = len(directions) // len(origins)
        sides = [side.reshape(len(origins), each) for side in directions.T]
        spheres = [present.sphere() for present in moving]
        middles, sizes = (np.stack(parts) for parts in zip(*spheres, strict=True))
        away = np.linalg.norm(middles - np.clip(middles, low, high), axis=2)
        for i in np.flatnonzero(np.any(away - sizes <= farthest, axis=1)):
            present, middle, radius = moving[i], middles[i], sizes[i]
            if len(middle) > 1:
                every = _reaching(origins, sides, reach, middle, radius)
            elif each == 1:
                every = _passing(origins, sides, middle[0], float(radius[0]))
            else:
                every = _towards(low, high, sides, middle[0], float(radius[0]))
            stretch = len(directions) // len(middle)
            edges = np.searchsorted(every, stretch * np.arange(len(middle) + 1))
            for k in np.flatnonzero(np.diff(edges)):
                rays, matrix = every[edges[k] : edges[k + 1]], present.matrix[k]
                instant = (rays - k * stretch) * present.position.shape[1] // stretch
                start = origins[rays // each] - present.position[k, instant]
                limit = reach if isinstance(reach, float | int) else reach[rays]
                met = present.moving.triangles.meet(
                    start @ matrix, directions[rays] @ matrix, limit
                )
                met = met._replace(normal=met.normal @ matrix.T)
                yield _of_one(rays, met, present.moving.place, present.moving.material)


class _Still(NamedTuple):
    """Everything that stands still."""

    triangles: Triangles
    owner: Whole
    """(F,) body of each face."""
    material: Whole
    """(F,)."""

    def hits(self, origins: Array, directions: Floats, reach: float | Floats) -> Hits:
        met = self.triangles.meet(origins, directions, reach)
        return Hits(*met[:4], self.owner.take(met.face), self.material.take(met.face))


Within = tuple[Array, Array, float]
"""Least and greatest coordinates (3,) of where rays begin, and how far the farthest goes."""


class _Moving(NamedTuple):
    """A body that moves."""

    place: int
    """Among the bodies."""
    body: Body
    material: int
    triangles: Triangles
    haunt: tuple[float, ...] = ()
    """Middle and radius of a sphere that it never leaves; nothing where none is known."""

    def being(self, body: Body) -> "_Moving":
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

    def at(self, times: Array) -> "_Present":
        """Where one is that nobody steers, at times (K, T)."""
        position, matrix = self.body.pose(times.mean(axis=1))
        position = position[:, None]
        if self.body.motion is not None:
            level, _ = self.body.motion.at(times)
            down = np.broadcast_to(position[..., 2:], (*times.shape, 1))
            position = np.concatenate([level, down], axis=2)
        return _Present(self, position, matrix)

    def posed(self, rows: Array) -> "_Present":
        """Where a vehicle is, by its poses (K, 7)."""
        matrix = np.moveaxis(rotation_matrix(rows[:, 3:].T), -1, 0)
        return _Present(self, rows[:, None, :3], matrix)


class _Present(NamedTuple):
    """A body that moves, in K samples."""

    moving: _Moving
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
    nearest = far - size - ROUNDING * far
    x, y, z, least, nearest = np.stack([*away.T, least, nearest]).astype(np.float32)[..., None]
    ahead = x * sides[0]
    ahead += y * sides[1]
    ahead += z * sides[2]
    reaching = ahead >= least
    reaching &= np.reshape(reach, (len(origins), -1) if np.ndim(reach) else (1, 1)) >= nearest
    return np.flatnonzero(reaching)


def _towards(low: Array, high: Array, sides: list[Floats], middle: Array, radius: float) -> Rows:
    """Which rays of one sample point towards a sphere, as if all began amid their origins, which
    lie between two corners, and the sphere were larger by how far these lie apart: a few too many.
    """
    away, size = middle - 0.5 * (low + high), radius + 0.5 * float(np.linalg.norm(high - low))
    far = float(np.linalg.norm(away))
    if far <= size:
        return np.arange(sides[0].size)
    least = np.float32(math.sqrt(far**2 - size**2) - ROUNDING * far)
    x, y, z = (np.float32(a) * side.reshape(-1) for a, side in zip(away, sides, strict=True))
    x += y
    x += z
    return np.flatnonzero(x >= least)


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


def _of_one(rays: Rows, met: Met, body: int, material: int) -> Hits:
    """What some of the rays met of one body."""
    count = len(met.ray)
    owner, made_of = np.full(count, body, np.int32), np.full(count, material, np.int32)
    return Hits(rays[met.ray], *met[1:4], owner, made_of)


def _shrunk(limit: Floats, hits: Hits) -> Hits:
    """The same; rays then go no farther than to what they met."""
    limit[hits.ray] = hits.distance
    return hits


def _nearest(found: list[Hits]) -> Hits:
    """The nearest of all of it, ray by ray."""
    found = [hits for hits in found if len(hits.ray)]
    if not found:
        none, whole = np.empty(0), np.empty(0, np.int32)
        return Hits(np.empty(0, np.int64), none, none, np.empty((0, 3)), whole, whole)
    first, *more = found
    if not more:
        return first
    # Little comes after what stands still: it is put in where it belongs.
    later = Hits(*(np.concatenate(parts) for parts in zip(*more, strict=True)))
    order = np.lexsort((later.distance, later.ray))
    later = later.at(order[np.diff(later.ray[order], prepend=-1) > 0])
    place = np.searchsorted(first.ray, later.ray)
    known = first.ray.take(place, mode="clip") == later.ray
    nearer = known & (later.distance < first.distance.take(place, mode="clip"))
    pairs: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(first, later, strict=True))
    for old, new in pairs[1:]:
        old[place[nearer]] = new[nearer]
    if known.all():
        return first
    fresh = np.flatnonzero(~known)
    count = len(first.ray)
    order = np.insert(np.arange(count), place[fresh], count + np.arange(len(fresh)))
    # Normals lie component by component.
    joined = (np.concatenate([old.T, new[fresh].T], axis=-1) for old, new in pairs)
    return Hits(*(part.take(order, axis=-1).T for part in joined))


def material_of(body: Body) -> int:
    """Place in `materials.MATERIAL_NAMES` of what a body is made of."""
    return material_index(body.material or USUAL_MATERIAL.get(body.shape, "concrete"))
