"""Rays cast against everything in the world: what a laser, a camera, a sonar or a radar meets.

What stands still, with the bottom, is one acceleration structure. What moves (vessels, vehicles)
keeps one each, in its own axes, and is hit by moving the rays into them: nothing is ever built
again. A flat bottom needs no triangles.

    scene = RayScene(bodies, bottom=20.0)
    hits = scene.cast(origins, directions, t)
"""

from collections.abc import Sequence
from copy import copy
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.materials import material_index
from seatrial.geometry.tiles import Tiles, extended
from seatrial.geometry.triangles import Met, Triangles

Array = NDArray[np.float64]
Whole = NDArray[np.int32]
Floats = NDArray[np.floating[Any]]

NOTHING = -1
BOTTOM = -2
"""In place of the index of a body."""

USUAL_MATERIAL = {"vessel": "steel", "vehicle": "aluminium"}
"""Of bodies that do not say theirs; concrete for all others."""
MOST_FACES = 1_000_000
"""Of a bottom that is one structure with the bodies; a larger one is cut into tiles."""


class Hits(NamedTuple):
    """What rays meet first."""

    distance: Array
    """(R,) along the ray, m; infinite where there is nothing."""
    cosine: Array
    """(R,) of the incidence, between ray and normal, from 0 to 1."""
    normal: Array
    """(R, 3) of the surface there, towards the side that the ray comes from; unit, NED. Empty,
    (0, 3), where nobody asked for it."""
    body: Whole
    """(R,) index of the body, `BOTTOM` or `NOTHING`."""
    material: Whole
    """(R,) index into `materials.MATERIAL_NAMES`; 0 where there is nothing."""


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
        self._floor = material_index(bottom_material)
        self._material = np.array([_material(body) for body in self.bodies] + [0], np.int32)
        self._built = False
        self._still: _Still | None = None
        self._moving: list[_Moving] = []
        self._tiles: Tiles | None = None
        self._lock = Lock()

    def following(self, bodies: Sequence[Body]) -> "RayScene":
        """The same world with its floating bodies on other waves; nothing is built again."""
        rides = {body.name: body for body in bodies if body.ride is not None}
        if not rides:
            return self
        self._build()
        other = copy(self)
        other.bodies = tuple(rides.get(body.name, body) for body in self.bodies)
        other._moving = [m._replace(body=other.bodies[m.place]) for m in self._moving]
        return other

    def cast(
        self,
        origins: Array,
        directions: Floats,
        t: float | Array = 0.0,
        others: Array | None = None,
        reach: float | Array = np.inf,
        normals: bool = True,
    ) -> Hits:
        """What rays from `origins` (R, 3), NED, along unit vectors (R, 3) meet within `reach`,
        which is one distance for all, or (R,).

        `t` is when, s: for all, or (R,) for each, so that what passes during a sweep is seen where
        it then was. `others` (V, 7) are the poses of the vehicles among the bodies, in their order,
        position and quaternion; a row of NaN, or no `others`, is a vehicle that is not seen. Rays
        that all begin at one place are best given as a broadcast array, directions as the
        transpose of (3, R) in single precision. Without `normals` it is faster.
        """
        self._build()
        still = self._still
        if still is None:
            found = _nothing(len(origins), normals)
        else:
            met = still.triangles.meet(origins, directions, reach)
            found = Hits(
                met.distance,
                np.abs(met.along),
                still.triangles.normals(met) if normals else np.empty((0, 3)),
                still.owner.take(met.face, mode="wrap"),
                still.material.take(met.face, mode="wrap"),
            )
        if self._tiles is not None:
            for tile, rays in self._tiles.reached(origins, directions, reach):
                limit = np.minimum(found.distance[rays], _some(reach, rays))
                met = tile.meet(origins[rays], directions[rays], limit)
                nearer = _keep(found, rays, met, BOTTOM, self._floor)
                if normals:
                    found.normal[rays[nearer]] = tile.normals(met)[nearer]
        if isinstance(self.bottom, float | int):
            self._flat(found, float(self.bottom), origins, directions, reach)
        self._moved(found, origins, directions, t, others, reach)
        return found

    def _build(self) -> None:
        """The acceleration structures, when the first ray is cast."""
        with self._lock:
            if self._built:
                return
            standing, owners, materials = [], [], []
            for i, body in enumerate(self.bodies):
                shape = body.mesh()
                if body.moves or body.shape == "vehicle":
                    self._moving.append(_Moving(i, body, Triangles(shape)))
                else:
                    shape = shape.moved(*body.pose(0.0))
                    standing.append(shape)
                    owners.append(np.full(len(shape.faces), i, np.int32))
                    materials.append(np.full(len(shape.faces), self._material[i], np.int32))
            if isinstance(self.bottom, HeightGrid):
                nodes = extended(self.bottom)
                if 2 * nodes[2].size <= MOST_FACES:
                    shape = meshes.surface(*nodes)
                    standing.append(shape)
                    owners.append(np.full(len(shape.faces), BOTTOM, np.int32))
                    materials.append(np.full(len(shape.faces), self._floor, np.int32))
                else:
                    self._tiles = Tiles(*nodes)
            if standing:
                # The last row is that of rays that meet nothing.
                owner = np.concatenate([*owners, np.array([NOTHING], np.int32)])
                material = np.concatenate([*materials, np.array([0], np.int32)])
                self._still = _Still(Triangles(meshes.merged(standing)), owner, material)
            self._built = True

    def _flat(
        self, found: Hits, depth: float, origins: Array, directions: Floats, reach: float | Array
    ) -> None:
        """A level bottom; a ray that begins below it meets it at once."""
        down = directions[:, 2]
        height = np.maximum(depth - origins[:, 2], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = height / down
        rays = np.flatnonzero((down > 0.0) & (distance < np.minimum(found.distance, reach)))
        found.distance[rays] = distance[rays]
        found.cosine[rays] = down[rays]
        if len(found.normal):
            found.normal[rays] = (0.0, 0.0, -1.0)
        found.body[rays] = BOTTOM
        found.material[rays] = self._floor

    def _moved(
        self,
        found: Hits,
        origins: Array,
        directions: Floats,
        t: float | Array,
        others: Array | None,
        reach: float | Array,
    ) -> None:
        """What moves: only rays that can reach the sphere around a body are moved into its axes."""
        if not self._moving or not len(origins):
            return
        low, high = (np.array([f(origins[:, c]) for c in range(3)]) for f in (np.min, np.max))
        farthest = float(np.max(reach))
        middle, spread = 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))
        for moving in self._moving:
            pose = moving.pose(t, others, self.vehicles)
            if pose is None:
                continue
            positions, matrix = pose
            low, high = (np.array([f(positions[:, c]) for c in range(3)]) for f in (np.min, np.max))
            away = 0.5 * (low + high) + matrix @ moving.triangles.centre - middle
            drift = 0.5 * float(np.linalg.norm(high - low))
            size = moving.triangles.radius + spread + drift
            far = float(np.linalg.norm(away))
            if far - size > farthest:
                continue
            rays = np.arange(len(origins))
            if far > size:
                # The cone that touches the sphere, a little wider for the sake of rounding.
                edge = np.sqrt(far**2 - size**2) - 1e-4 * far
                # Column by column: a product of matrices would wait for threads of its own.
                x, y, z = (float(a) * directions[:, c] for c, a in enumerate(away))
                rays = np.flatnonzero(x + y + z > edge)
            if not len(rays):
                continue
            then = positions if len(positions) == 1 else positions[rays]
            start = (origins[rays] - then) @ matrix
            along = directions[rays] @ matrix
            limit = np.minimum(found.distance[rays], _some(reach, rays))
            met = moving.triangles.meet(start, along, limit)
            nearer = _keep(found, rays, met, moving.place, int(self._material[moving.place]))
            if len(found.normal):
                normal = moving.triangles.normals(met)[nearer]
                found.normal[rays[nearer]] = normal @ matrix.T


class _Still(NamedTuple):
    """Everything that stands still."""

    triangles: Triangles
    owner: Whole
    """(F + 1,) body of each face."""
    material: Whole
    """(F + 1,)."""


class _Moving(NamedTuple):
    """A body that moves."""

    place: int
    """Among the bodies."""
    body: Body
    triangles: Triangles

    def pose(
        self, t: float | Array, others: Array | None, vehicles: list[int]
    ) -> tuple[Array, Array] | None:
        """Place, (1, 3) or (R, 3), and rotation from its axes to the world's; None if not there."""
        body = self.body
        if body.shape != "vehicle":
            place, matrix = body.pose(float(np.mean(t)))
            if body.motion is None:
                return place[None], matrix
            track, _ = body.motion.at(np.atleast_1d(t))
            return np.column_stack([track, np.full(len(track), place[2])]), matrix
        if others is None:
            return None
        row = others[vehicles.index(self.place)]
        return (row[None, :3], rotation_matrix(row[3:7])) if np.all(np.isfinite(row)) else None


def _nothing(count: int, normals: bool) -> Hits:
    return Hits(
        np.full(count, np.inf),
        np.zeros(count),
        np.zeros((count if normals else 0, 3)),
        np.full(count, NOTHING, np.int32),
        np.zeros(count, np.int32),
    )


def _some(reach: float | Array, rays: NDArray[np.int64]) -> float | Array:
    return reach if isinstance(reach, float) else reach[rays]


def _keep(
    found: Hits, rays: NDArray[np.int64], met: Met, body: int, material: int
) -> NDArray[np.int64]:
    """Note what some rays met where it is nearer than what they had met; tells where that was."""
    nearer = np.flatnonzero(met.distance < found.distance[rays])
    rays = rays[nearer]
    found.distance[rays] = met.distance[nearer]
    found.cosine[rays] = np.abs(met.along[nearer])
    found.body[rays] = body
    found.material[rays] = material
    return nearer


def _material(body: Body) -> int:
    return material_index(body.material or USUAL_MATERIAL.get(body.shape, "concrete"))
