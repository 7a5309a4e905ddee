"""Rays cast against everything in the world: what a laser, a camera, a sonar or a radar meets.

What stands still, with the bottom, is one acceleration structure. What moves (vessels, vehicles)
keeps one each, in its own axes, and is hit by moving the rays into them: nothing is ever built
again. A flat bottom needs no triangles.

    scene = RayScene(bodies, bottom=20.0)
    hits = scene.cast(origins, directions, t)
"""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.hits import BOTTOM, Hits, nearest, of_one, shrunk
from seatrial.geometry.materials import MATERIAL_NAMES, material_index
from seatrial.geometry.moving import Moving, Present, Within, met_of
from seatrial.geometry.still import Solid, Still
from seatrial.geometry.tiles import Tiles, extended
from seatrial.geometry.triangles import Triangles

__all__ = ["BOTTOM", "Hits", "RayScene", "material_of"]

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

USUAL_MATERIAL = {"vessel": "steel", "vehicle": "aluminium"}
"""Of bodies that do not say theirs; concrete for all others."""
MOST_KEPT = 16
"""Instants of which it is kept where everything is."""
MOST_FACES = 1_000_000
"""Of a bottom that is one structure with the bodies; a larger one is cut into tiles."""


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
        self._still: Still | None = None
        self._moving: list[Moving] = []
        self._tiles: Tiles | None = None
        self._lock = Lock()
        self._known: dict[tuple[Any, ...], dict[int, Present]] = {}

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

    def over(self, bottom: HeightGrid) -> "RayScene":
        """The same world over another part of its map."""
        return RayScene(self.bodies, bottom, MATERIAL_NAMES[self.floor])

    @cached_property
    def deepest(self) -> float:
        """Depth of the bottom where it is deepest; without end where there is none."""
        if isinstance(self.bottom, HeightGrid):
            return float(np.max(np.asarray(self.bottom.depth)))
        return np.inf if self.bottom is None else float(self.bottom)

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
        quaternion; a row of NaN, or no `others`, is a vehicle that is not seen. With the velocities
        over ground behind them, (V, 10), the poses are those at the last `t`. Rays of K samples
        that follow each other have `t` (K, G / K), and `others` (K, V, …). Directions are best
        given as the transpose of (3, R) in single precision.
        """
        still = self._build()
        times = np.asarray(t, np.float64)
        times = times if times.ndim == 2 else times.reshape(1, -1)
        found = list(still.hits(len(times), origins, directions, reach))
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
            present = self._present(times, others, within)
            found += met_of(present, within, origins, directions, reach)
        return nearest(found)

    def _build(self) -> Still:
        """What stands still, what moves and tiles, when the first ray is cast."""
        with self._lock:
            if self._still is not None:
                return self._still
            solids = []
            for i, body in enumerate(self.bodies):
                shape, material = body.mesh(), material_of(body)
                if body.moves or body.shape == "vehicle":
                    self._moving.append(Moving(i, body, material, Triangles(shape)).being(body))
                else:
                    solids.append(Solid(shape.moved(*body.pose(0.0)), i, material))
            grid = self.bottom if isinstance(self.bottom, HeightGrid) else None
            if grid is not None and 2 * (nodes := extended(grid))[2].size > MOST_FACES:
                self._tiles, grid = Tiles(*nodes), None
            self._still = Still(solids, grid, self.floor)
            return self._still

    def _on_tiles(
        self, tiles: Tiles, origins: Array, directions: Floats, limit: Floats
    ) -> Iterator[Hits]:
        """A large bottom; `limit` shrinks to what is met."""
        starts = np.repeat(origins, len(directions) // len(origins), axis=0)
        for tile, rays in tiles.reached(starts, directions, limit):
            met = tile.meet(starts[rays], directions[rays], limit[rays])
            yield shrunk(limit, of_one(rays, met, BOTTOM, self.floor))

    def _on_plane(self, origins: Array, directions: Floats, limit: Floats) -> Hits:
        """A level bottom; a ray that begins below it meets it at once."""
        assert isinstance(self.bottom, float | int)
        down = directions[:, 2]
        height = np.maximum(float(self.bottom) - origins[:, 2], 0.0).astype(down.dtype)
        with np.errstate(invalid="ignore"):  # level, without end
            fall = (down * limit).reshape(len(origins), -1)
        rays = np.flatnonzero(fall > height[:, None])
        cosine = down.take(rays)
        distance = height.take(rays // fall.shape[1]) / cosine
        normal = np.zeros((3, len(rays)), down.dtype)
        normal[2] = -1.0
        material = np.full(len(rays), self.floor, np.int32)
        body = np.full(len(rays), BOTTOM, np.int32)
        return shrunk(limit, Hits(rays, distance, cosine, normal.T, body, material))

    def _present(self, times: Array, others: Array | None, within: Within) -> list[Present]:
        """What moves and may be there at times (K, T), with where it is; kept for a while, since
        one picture asks often."""
        asked = times.shape, times.tobytes(), None if others is None else others.tobytes()
        if asked not in self._known and len(self._known) >= MOST_KEPT:
            self._known.clear()
        known = self._known.setdefault(asked, {})
        poses = None
        if others is not None:
            poses = others.reshape(len(times), len(self.vehicles), others.shape[-1])
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
                known[place] = moving.at(times) if rows is None else moving.posed(rows, times)
            found.append(known[place])
        return found


def material_of(body: Body) -> int:
    """Place in `materials.MATERIAL_NAMES` of what a body is made of."""
    return material_index(body.material or USUAL_MATERIAL.get(body.shape, "concrete"))
