"""A picture of the stage, by a few rays for every pixel.

A ray from the camera meets the surface of the sea, a solid, or nothing. Of the sea it sees what the
surface reflects of the sky, the sun's glints, and what comes up through it; from below, the sky
within Snell's window and the mirrored deep around it. One more ray for a pixel looks for shadows,
and one for what is seen through the surface or in it.

What water, air and fog on the way do to light is in `between`.
"""

import math
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import Hits
from seatrial.render.live.between import Between, reach_from_above, reach_of_mirror
from seatrial.render.live.solids import DRY, Shader
from seatrial.render.live.surface import Surface, footprint, surface_at
from seatrial.render.optics import glint, mirrored, reflectance, refracted
from seatrial.render.picture import BOTTOM as FLOOR
from seatrial.render.picture import (
    FIRST_BODY,
    NOTHING,
    REACH,
    SURFACE,
    Passes,
    Shot,
    Stage,
    category_of_instance,
)
from seatrial.render.rotating import turn, turns
from seatrial.render.sky import SUN_RADIUS
from seatrial.render.water import INDEX

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Rows = NDArray[np.int64]

TOGETHER = 1 << 16
"""Pixels that are drawn together: long loops, and arrays that stay in the cache."""
GRAZING = 0.8
"""Reflectance of the surface above which nothing is looked for behind it."""
MIRRORED = 150.0
"""How far from it bodies are seen in the surface, m."""
TRUTHS = {"depth", "instance", "normals"}
"""Passes for which the surface is met where it is, not about there."""
BESIDE = 3
"""Neighbouring pixels that share what they see mirrored."""


def draw(
    stage: Stage,
    shot: Shot,
    wanted: tuple[str, ...] = ("colour",),
    surface: Surface | None = None,
) -> Passes:
    """The passes of a shot, by name, as `render.picture` states them; `surface` is that of the sea
    where somebody has it already."""
    lens = shot.lens
    height, width = lens.height, lens.width
    view = _View(stage, shot, surface or surface_at(stage.ocean, shot.position[:2], shot.time))
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        "colour": ((3,), np.float32),
        "depth": ((), np.float32),
        "normals": ((3,), np.float32),
        "instance": ((), np.uint16),
        "albedo": ((3,), np.float32),
    }
    asked = {"instance" if name == "category" else name for name in wanted}
    passes: Passes = {
        name: np.zeros((height * width, *shapes[name][0]), shapes[name][1]) for name in asked
    }
    rows = max(1, TOGETHER // width)

    def fill(first: int) -> None:
        last = min(first + rows, height)
        part = slice(first * width, last * width)
        for name, values in view.rows(first, last, asked).items():
            passes[name][part] = values.T if values.ndim == 2 else values

    starts = range(0, height, rows)
    if len(starts) > 1:
        list(_workers().map(fill, starts))
    else:
        fill(0)
    if "category" in wanted:
        passes["category"] = category_of_instance(stage.rays)[passes["instance"]]
    return {name: passes[name].reshape(height, width, *passes[name].shape[1:]) for name in wanted}


@cache
def _workers() -> Executor:
    """Of all pictures: one alone is drawn on all cores, and nobody there waits for another."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="rows")


def some_of(columns: Single, rays: Rows) -> Single:
    """Columns (3, P) of some rays that rise: a view where they follow each other."""
    if len(rays) and int(rays[-1] - rays[0]) + 1 == len(rays):
        return columns[:, rays[0] : rays[-1] + 1]
    return columns.take(rays, axis=1)


@dataclass(frozen=True)
class _Seen:
    """What rays meet first."""

    origin: Single
    """(3, 1) or (3, P)."""
    direction: Single
    """(3, P)."""
    distance: Single
    """(P,) m; infinite for nothing."""
    water: Rows
    """Those that meet the surface."""
    sky: Rows
    """Those that meet nothing."""
    hits: Hits

    def places(self, rays: Rows) -> Single:
        """(3, len(rays)) where some of them end."""
        origin = self.origin if self.origin.shape[1] == 1 else some_of(self.origin, rays)
        return origin + some_of(self.direction, rays) * self.distance[rays]


@dataclass(frozen=True)
class _View:
    """A shot that is being drawn."""

    stage: Stage
    shot: Shot
    surface: Surface

    @cached_property
    def shader(self) -> Shader:
        return Shader(self.stage, self.shot)

    @cached_property
    def between(self) -> Between:
        return Between(self.stage, self.shader)

    @cached_property
    def wet(self) -> bool:
        """Whether the camera is under water."""
        return self.surface.covers(self.shot.position)

    def rows(self, first: int, last: int, wanted: set[str]) -> Passes:
        """Passes (..., P) of some rows."""
        seen = self._cast(*self._rays(first, last), bool(wanted & TRUTHS))
        found: Passes = {}
        floor = seen.hits
        if "depth" in wanted:
            width = self.shot.lens.width
            axial = self.shot.lens.columns[0, first * width : last * width]
            found["depth"] = seen.distance * axial
        if "instance" in wanted:
            instance = np.full(len(seen.distance), NOTHING, np.uint16)
            instance[seen.water] = SURFACE
            instance[floor.ray] = np.where(floor.body < 0, FLOOR, floor.body + FIRST_BODY)
            found["instance"] = instance
        if "normals" in wanted:
            normals = np.zeros((3, len(seen.distance)), np.float32)
            normals[:, floor.ray] = floor.normal.T
            place = seen.places(seen.water)
            up = self.surface.facing(place[0], place[1], self._footprint(seen)).normal
            normals[:, seen.water] = -up if self.wet else up
            found["normals"] = normals
        if "albedo" in wanted:
            albedo = np.zeros((3, len(seen.distance)), np.float32)
            albedo[:, floor.ray] = self._albedo(seen)
            found["albedo"] = albedo
        if "colour" in wanted:
            found["colour"] = self._below(seen) if self.wet else self._above(seen)
        return found

    def _rays(self, first: int, last: int) -> tuple[Array, Single, float | Array]:
        """Origins (G, 3), directions (3, P) and times of the rays of some rows."""
        shot, width = self.shot, self.shot.lens.width
        local = shot.lens.columns[:, first * width : last * width]
        matrix = rotation_matrix(shot.attitude)
        if shot.motion is None:
            return shot.position[None], turn(matrix.astype(np.float32), local), shot.time
        late = shot.motion.late[first:last]
        matrices = np.moveaxis(matrix @ turns(shot.motion.turn, late), 0, -1)
        directions = turn(
            matrices[..., None].astype(np.float32), local.reshape(3, len(late), width)
        )
        origins = shot.position + np.outer(late, shot.motion.velocity)
        return origins, directions.reshape(3, -1), shot.time + late

    def _cast(self, origins: Array, direction: Single, time: float | Array, exact: bool) -> _Seen:
        each = direction.shape[1] // len(origins)
        origin = origins.T.astype(np.float32)
        if len(origins) > 1:
            origin = np.repeat(origin, each, axis=1)
        distance = self.surface.distance(origin, direction, REACH, exact)
        hits = self.stage.rays.cast(
            origins, direction.T, time, self.shot.others, np.minimum(distance, REACH)
        )
        distance[hits.ray] = hits.distance
        kind = np.isfinite(distance)
        sky = np.flatnonzero(~kind)
        kind[hits.ray] = False
        return _Seen(origin, direction, distance, np.flatnonzero(kind), sky, hits)

    def _footprint(self, seen: _Seen) -> Single:
        rays, focal_length = seen.water, self.shot.lens.focal_length
        return footprint(seen.distance[rays], seen.direction[2, rays], focal_length)

    def _albedo(self, seen: _Seen) -> Single:
        size = seen.distance[seen.hits.ray] * np.float32(1.0 / self.shot.lens.focal_length)
        return self.shader.albedo(seen.hits, seen.places(seen.hits.ray), size)

    # In the air.

    def _above(self, seen: _Seen) -> Single:
        colour = np.empty((3, len(seen.distance)), np.float32)
        colour[:, seen.sky] = self.between.sky(some_of(seen.direction, seen.sky))
        if len(seen.water):
            colour[:, seen.water] = self.between.hazed(self._sea(seen), seen.distance[seen.water])
        rays = seen.hits.ray
        if len(rays):
            solid = self.shader.in_air(seen.hits, seen.places(rays), self._albedo(seen))
            colour[:, rays] = self.between.hazed(solid, seen.distance[rays])
        return colour

    def _sea(self, seen: _Seen) -> Single:
        """(3, W) radiance of the surface of the sea from above."""
        rays = seen.water
        direction, place = some_of(seen.direction, rays), seen.places(rays)
        facing = self.surface.facing(place[0], place[1], self._footprint(seen))
        normal, variance = facing
        straight = -sum(direction[c] * normal[c] for c in range(3))
        straight = np.maximum(straight, 0.01)
        # Of small facets those that look towards the eye are seen more: on a grazing way the sea
        # mirrors less, and higher parts of the sky, than a mirror would.
        cosine = np.sqrt(straight * straight + np.float32(0.35) * variance)
        share = reflectance(np.minimum(cosine, 1.0), INDEX)
        mirror = mirrored(direction, normal, straight)
        mirror[2] = -np.sqrt(mirror[2] * mirror[2] + np.float32(0.5) * variance)
        colour = self._mirrored(place, mirror)
        colour *= share
        sky = self.stage.sky
        shine = glint(-direction, sky.sun_direction, normal, variance, INDEX)
        up = self._rising(seen, rays, normal, straight, share)
        passes = (1.0 - share) * np.float32(1.0 / INDEX**2)
        for band in range(3):
            colour[band] += np.float32(sky.sun_irradiance[band]) * shine
            colour[band] += up[band] * passes
        return colour

    def _mirrored(self, place: Single, direction: Single) -> Single:
        """What is seen in the surface: the sky, and bodies before it."""
        colour = self.stage.sky.table.radiance(direction)
        if not self.shader.bodies:
            return colour
        # Ripples break what is mirrored: a ray tells for itself and those beside it.
        some = np.arange(0, place.shape[1], BESIDE)
        way = direction[:, some]
        way = way / np.sqrt(np.sum(way * way, axis=0))
        start = place[:, some] + np.float32(0.02) * way
        hits = self.stage.rays.cast(
            start.T.astype(np.float64), way.T, self.shot.time, self.shot.others, MIRRORED
        )
        if len(hits.ray):
            there = start[:, hits.ray] + way[:, hits.ray] * hits.distance.astype(np.float32)
            size = np.full(len(hits.ray), 0.1, np.float32)
            albedo = self.shader.albedo(hits, there, size)
            solid = self.shader.in_air(hits, there, albedo)
            for k in range(BESIDE):
                colour[:, np.minimum(some[hits.ray] + k, place.shape[1] - 1)] = solid
        return colour

    def _rising(
        self, seen: _Seen, rays: Rows, normal: Single, straight: Single, share: Single
    ) -> Single:
        """(3, W) what comes up to the surface from below it, towards the eye."""
        direction = refracted(some_of(seen.direction, rays), normal, straight, INDEX)
        deep = self.between.veil(np.zeros(1, np.float32), np.ones(1, np.float32), None)
        found = np.broadcast_to(deep, (3, len(rays))).copy()
        reach = reach_from_above(self.stage.water)
        clear = np.flatnonzero(share < GRAZING)
        if not len(clear) or not self.shader.anything_within(reach):
            return found
        place, way = seen.places(rays)[:, clear], direction[:, clear]
        found[:, clear] = self._through_water(place, way, reach)
        return found

    # In the water.

    def _through_water(self, place: Single, way: Single, reach: float) -> Single:
        """(3, P) what ways through the water from places (3, P) show, without their lamps' veil."""
        start = place + np.float32(2e-3) * way
        hits = self.stage.rays.cast(
            start.T.astype(np.float64), way.T, self.shot.time, self.shot.others, reach
        )
        depth = np.maximum(place[2], 0.0)
        found = self.between.veil(depth, way[2], None)
        if len(hits.ray):
            rays = hits.ray
            distance = hits.distance.astype(np.float32)
            there = start[:, rays] + way[:, rays] * distance
            # What stands half out of the water is met below it only.
            size = np.float32(1.0 / self.shot.lens.focal_length) * (distance + 5.0)
            albedo = self.shader.albedo(hits, there, size)
            solid = self.shader.in_water(hits, there, albedo, shadows=False)
            found[:, rays] = self.between.faded(solid, depth[rays], way[2, rays], distance)
        return found

    def _below(self, seen: _Seen) -> Single:
        colour = np.empty((3, len(seen.distance)), np.float32)
        depth = np.broadcast_to(np.maximum(seen.origin[2], 0.0), seen.distance.shape)
        descent = seen.direction[2]
        if len(seen.sky):
            colour[:, seen.sky] = self.between.veil(depth[seen.sky], descent[seen.sky], None)
        for rays, light in (
            (seen.water, self._surface_from_below),
            (seen.hits.ray, self._solids_from_below),
        ):
            if len(rays):
                colour[:, rays] = self.between.faded(
                    light(seen), depth[rays], descent[rays], seen.distance[rays]
                )
        if self.shot.lights:
            colour += self.between.lamp_veil(seen.origin, seen.direction, seen.distance)
        return colour

    def _solids_from_below(self, seen: _Seen) -> Single:
        return self.shader.in_water(seen.hits, seen.places(seen.hits.ray), self._albedo(seen))

    def _surface_from_below(self, seen: _Seen) -> Single:
        """(3, W) the sky within Snell's window, and the deep mirrored around it."""
        rays = seen.water
        direction, place = some_of(seen.direction, rays), seen.places(rays)
        facing = self.surface.facing(place[0], place[1], self._footprint(seen))
        down = -facing.normal
        cosine = np.maximum(-sum(direction[c] * down[c] for c in range(3)), 0.01)
        share = reflectance(cosine, 1.0 / INDEX)
        reach = reach_of_mirror(self.stage.water)
        colour = np.zeros((3, len(rays)), np.float32)
        window = np.flatnonzero(share < 0.999)
        if len(window):
            out = refracted(direction[:, window], down[:, window], cosine[window], 1.0 / INDEX)
            passes = (1.0 - share[window]) * np.float32(INDEX**2)
            colour[:, window] = passes * self._sky_from_below(
                place[:, window], out, facing.variance[window]
            )
        mirror = np.flatnonzero(share > 0.02)
        if len(mirror):
            way = mirrored(direction[:, mirror], down[:, mirror], cosine[mirror])
            way[2] = np.abs(way[2])
            deep = self.between.veil(np.zeros(1, np.float32), way[2], None)
            # Only what is mirrored wholly, and near by, is looked for.
            near = np.flatnonzero((share[mirror] > 0.5) & (seen.distance[rays[mirror]] < reach))
            if len(near) and self.shader.anything_within(reach):
                deep[:, near] = self._through_water(place[:, mirror[near]], way[:, near], reach)
            colour[:, mirror] += share[mirror] * deep
        return colour

    def _sky_from_below(self, place: Single, direction: Single, variance: Single) -> Single:
        """The sky, the sun spread by ripples, and bodies above the water."""
        sky = self.stage.sky
        colour = self.stage.sky.table.radiance(direction)
        sun = sky.sun_direction
        apart = sum(np.square(direction[c] - np.float32(sun[c])) for c in range(3))
        # A facet that is tilted by α turns a ray that leaves the water by (n − 1) α, and more at a
        # slant; the disc itself is wider than that on a calm day.
        wide = np.float32((INDEX - 1.0) ** 2) * variance + np.float32(SUN_RADIUS**2)
        shine = np.exp(-apart / wide) / (np.float32(math.pi) * wide)
        for band in range(3):
            colour[band] += np.float32(sky.sun_irradiance[band]) * shine
        if self.shader.anything_dry:
            start = place + np.float32(5e-3) * direction
            hits = self.stage.rays.cast(
                start.T.astype(np.float64), direction.T, self.shot.time, self.shot.others, DRY
            )
            if len(hits.ray):
                there = start[:, hits.ray] + direction[:, hits.ray] * hits.distance.astype(
                    np.float32
                )
                size = np.full(len(hits.ray), 0.02, np.float32)
                albedo = self.shader.albedo(hits, there, size)
                colour[:, hits.ray] = self.shader.in_air(hits, there, albedo)
        return colour
