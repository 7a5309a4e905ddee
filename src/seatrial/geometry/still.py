"""What stands still: bodies and a bottom by its map, in acceleration structures as rays need them.

Bodies and the map are one structure. The bottom beyond the edges of the map, which goes on for
twenty kilometres, is another: in one with things of a few metres it would cost every ray a quarter
of its time. Samples of which no ray gets down to the bottom, as those above the water, meet a third
one, of the bodies alone, in half the time. Each is built when the first ray needs it.

All of them count from the same place, so that a ray meets a triangle alike in each.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry import mesh as meshes
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.hits import BOTTOM, Hits
from seatrial.geometry.mesh import Mesh
from seatrial.geometry.tiles import BEYOND, extended
from seatrial.geometry.triangles import Triangles

Array = NDArray[np.float64]
Whole = NDArray[np.int32]
Rows = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

MARGIN = 0.01
"""Above the shallowest place of a bottom and around a body, m: a ray that ends before misses it."""
LEAST_LEFT_OUT = 0.25
"""Share of rays that meet nothing from which on it is worth while to leave them out."""


class Solid(NamedTuple):
    """Something that stands still."""

    shape: Mesh
    """In the world."""
    place: int
    """Among the bodies, or `BOTTOM`."""
    material: int


class _Surfaces(NamedTuple):
    """Some of it as one structure."""

    triangles: Triangles
    owner: Whole
    """(F,) body of each face."""
    material: Whole
    """(F,)."""

    @classmethod
    def of(cls, solids: Sequence[Solid], centre: Array | None) -> "_Surfaces":
        counts = [len(solid.shape.faces) for solid in solids]
        owner, material = (
            np.repeat(np.array(each, np.int32), counts)
            for each in ([s.place for s in solids], [s.material for s in solids])
        )
        whole = meshes.merged([solid.shape for solid in solids])
        return cls(Triangles(whole, centre), owner, material)

    def hits(
        self, origins: Array, directions: Floats, reach: float | Floats, some: Rows | None = None
    ) -> Hits:
        met = self.triangles.meet(origins, directions, reach, some)
        return Hits(*met[:4], met.of_face(self.owner), met.of_face(self.material))


class Still:
    """Everything that stands still."""

    def __init__(self, bodies: Sequence[Solid], grid: HeightGrid | None, floor: int) -> None:
        """`floor` is the material of the bottom."""
        self._bodies = list(bodies)
        self._floor = floor
        self._nodes = None if grid is None else extended(grid)
        self._shallowest = np.inf if self._nodes is None else self._nodes[2].min() - MARGIN
        corners = [solid.shape.vertices for solid in bodies]
        self._low, self._high = (
            np.array([f(some, axis=0) for some in corners]).reshape(-1, 3) for f in (np.min, np.max)
        )
        self._centre: Array | None = None
        self._structures: dict[str, _Surfaces | None] = {}
        self._lock = Lock()

    def hits(
        self, samples: int, origins: Array, directions: Floats, reach: float | Floats
    ) -> Iterator[Hits]:
        """What rays of some samples meet, as `RayScene.cast` takes them.

        Whether rays get down is asked of a whole sample, so that it sees the same with others and
        alone.
        """
        down = self._gets_down(samples, origins, directions, reach)
        if down.all() or not down.any():
            yield from self._alike(bool(down[0]), origins, directions, reach)
            return
        for some in (down, ~down):
            places, rays = (
                np.flatnonzero(np.repeat(some, count // samples))
                for count in (len(origins), len(directions))
            )
            limit = reach if isinstance(reach, float | int) else reach[rays]
            for found in self._alike(some is down, origins[places], directions[rays], limit):
                yield found._replace(ray=rays[found.ray])

    def _alike(
        self, down: bool, origins: Array, directions: Floats, reach: float | Floats
    ) -> Iterator[Hits]:
        """The same of samples that all get down to the bottom, or none of them."""
        surfaces = self._structure("all" if down else "bodies")
        if surfaces is None:
            return
        some = self._reaching(down, origins, directions, reach)
        met = surfaces.hits(origins, directions, reach, some)
        yield met
        rays = self._leaving(origins, directions, reach) if down else met.ray[:0]
        beyond = self._structure("beyond") if len(rays) else None
        if beyond is not None:
            limit = np.array(np.broadcast_to(reach, len(directions)), np.float32)
            limit[met.ray] = met.distance
            starts = origins[rays // (len(directions) // len(origins))]
            more = beyond.hits(starts, directions[rays], limit[rays])
            yield more._replace(ray=rays[more.ray])

    def _gets_down(
        self, samples: int, origins: Array, directions: Floats, reach: float | Floats
    ) -> NDArray[np.bool_]:
        """(samples,) whether a ray may get down to the bottom."""
        if self._nodes is None:
            return np.zeros(samples, np.bool_)
        lowest = origins[:, 2].reshape(samples, -1).max(axis=1)
        fall = directions[:, 2].reshape(samples, -1)
        if isinstance(reach, float | int):
            fall = min(reach, 2.0 * BEYOND) * fall.max(axis=1)
        else:
            with np.errstate(invalid="ignore"):  # level, without end: not a number, which may
                fall = (fall * reach.reshape(samples, -1)).max(axis=1)
        return np.asarray(~(lowest + np.maximum(fall, 0.0) < self._shallowest))

    def _reaching(
        self, down: bool, origins: Array, directions: Floats, reach: float | Floats
    ) -> Rows | None:
        """Which rays may meet something; None where that is most of them.

        A ray that ends above the bottom, and nearer than the nearest body is, meets nothing: what a
        sonar near the surface sends up, and what a lidar sends down into the water.
        """
        low, high = origins.min(axis=0), origins.max(axis=0)
        room = np.float32(self._shallowest - high[2] if down else np.inf)
        if isinstance(reach, float | int) or room <= 0.0:
            return None
        apart = np.maximum(self._low - high, low - self._high)
        clear = np.linalg.norm(np.maximum(apart, 0.0), axis=1).min(initial=np.inf) - MARGIN
        nothing = reach < np.float32(clear)
        if down:
            with np.errstate(invalid="ignore"):  # level, without end: not a number, which may
                nothing &= directions[:, 2] * reach < room
        if np.count_nonzero(nothing) < LEAST_LEFT_OUT * len(nothing):
            return None
        return np.flatnonzero(~nothing)

    def _leaving(self, origins: Array, directions: Floats, reach: float | Floats) -> Rows:
        """Which rays begin or end beyond the edges of the map, and may get down to the bottom."""
        assert self._nodes is not None
        farthest = float(np.max(reach))
        edges = np.array([(nodes[1], nodes[-2]) for nodes in self._nodes[:2]])
        low, high = origins[:, :2].min(axis=0), origins[:, :2].max(axis=0)
        if np.all(edges[:, 0] + farthest <= low) and np.all(high <= edges[:, 1] - farthest):
            return np.empty(0, np.int64)
        limit = np.minimum(
            np.reshape(reach, (-1, 1) if np.ndim(reach) == 0 else (len(origins), -1)), 2.0 * BEYOND
        )
        *level, fall = (side.reshape(len(origins), -1) * limit for side in directions.T)
        leaving = np.zeros(fall.shape, np.bool_)
        for start, way, (low, high) in zip(origins.T[:2, :, None], level, edges, strict=True):
            way += start
            leaving |= (np.minimum(way, start) < low) | (np.maximum(way, start) > high)
        leaving &= origins[:, 2:] + np.maximum(fall, 0.0) >= self._shallowest
        return np.flatnonzero(leaving)

    def _structure(self, kind: str) -> _Surfaces | None:
        """Of the `bodies`, of `all` within the edges of the map, or of the bottom `beyond` them;
        None where there is nothing."""
        with self._lock:
            if kind not in self._structures:
                solids = self._solids(kind)
                if self._centre is None and solids:
                    near = solids if kind == "all" else self._solids("all")
                    corners = np.concatenate([solid.shape.vertices for solid in near])
                    self._centre = np.asarray(np.median(corners, axis=0))
                self._structures[kind] = _Surfaces.of(solids, self._centre) if solids else None
            return self._structures[kind]

    def _solids(self, kind: str) -> list[Solid]:
        if kind == "bodies" or self._nodes is None:
            return self._bodies
        north, east, depth = self._nodes
        inner = slice(1, -1)
        if kind == "all":
            parts = [(inner, inner)]
        else:
            # With the cells along the edges, so that no ray slips through between.
            parts = [(slice(3), slice(None)), (slice(-3, None), slice(None))]
            parts += [(columns, rows) for rows, columns in parts]
        bottom = [meshes.surface(north[a], east[b], depth[a, b]) for a, b in parts]
        solids = [Solid(shape, BOTTOM, self._floor) for shape in bottom]
        return [*self._bodies, *solids] if kind == "all" else solids
