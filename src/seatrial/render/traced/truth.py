"""What is known exactly of every pixel: distance, normal, owner, shadow and motion.

Rays of the same scene that contact and LiDAR use go through the middles of pixels, without lens
opening or noise. `picture` says what the passes are; beside them

    shadow     (H, W) float32, share of the light of lamps and sun that reaches what is met, of
               what would without anything in between; 0 where none would
    flow       (H, W, 2) float32, columns and rows by which what is met moves until another shot;
               NaN where nothing is met, or what then is behind the camera or farther off its axis
               than its lens shows
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.render.live.surface import Surface, footprint, surface_at
from seatrial.render.picture import (
    BOTTOM,
    FIRST_BODY,
    NOTHING,
    REACH,
    SURFACE,
    Passes,
    Shot,
    Stage,
    category_of_instance,
)
from seatrial.render.traced.lighting.light import beams, refracted
from seatrial.render.traced.view import View

Array = NDArray[np.float64]

OFF = 1e-3
"""By which a ray of light starts off a surface, m."""


@dataclass(frozen=True)
class Truth:
    """Everything that is met by the rays of one shot."""

    stage: Stage
    shot: Shot

    @cached_property
    def view(self) -> View:
        """The camera."""
        return View(self.shot)

    @cached_property
    def _met(self) -> tuple[Array, Array, NDArray[np.uint16]]:
        """Distance (P,), normal (P, 3) and instance (P,) of every pixel."""
        view, rays = self.view, self.view.rays
        count = len(rays)
        distance, normal = np.full(count, np.inf), np.zeros((count, 3))
        instance = np.full(count, NOTHING, np.uint16)
        origin = view.position[None]
        hits = self.stage.rays.cast(
            origin,
            np.ascontiguousarray(rays.T.astype(np.float32)).T,
            self.shot.time,
            self.shot.others,
            REACH,
        )
        distance[hits.ray], normal[hits.ray] = hits.distance, hits.normal
        instance[hits.ray] = np.where(hits.body >= 0, hits.body + FIRST_BODY, BOTTOM)
        surface = surface_at(self.stage.ocean, view.position[:2], self.shot.time)
        columns = np.ascontiguousarray(rays.T, np.float32)
        met = surface.distance(origin.T.astype(np.float32), columns, REACH, exact=True)
        wet = np.flatnonzero(met < distance)
        distance[wet], instance[wet] = met[wet], SURFACE
        normal[wet] = self._facing(surface, wet, distance[wet])
        return distance, normal, instance

    def _facing(self, surface: Surface, pixels: NDArray[np.int64], far: Array) -> Array:
        """(P, 3) normals of the sea where pixels see it, towards the camera."""
        rays = self.view.rays[pixels]
        at = (self.view.position + far[:, None] * rays).astype(np.float32)
        size = footprint(far, rays[:, 2], self.shot.lens.focal_length)
        up = surface.facing(at[:, 0], at[:, 1], size).normal.T
        return np.asarray(-up if surface.covers(self.view.position) else up, np.float64)

    @cached_property
    def distance(self) -> Array:
        """(P,) along the rays, m."""
        return self._met[0]

    @cached_property
    def surface_normal(self) -> Array:
        """(P, 3) of what is met, towards the camera."""
        return self._met[1]

    @cached_property
    def instance(self) -> NDArray[np.uint16]:
        """(P,) of what is met."""
        return self._met[2]

    @cached_property
    def points(self) -> Array:
        """(P, 3) where the rays end, NED; NaN for nothing."""
        far = np.where(np.isfinite(self.distance), self.distance, np.nan)
        return np.asarray(self.view.position + far[:, None] * self.view.rays)

    def passes(self) -> Passes:
        """Depth, normals, instance and category."""
        shape = (self.view.height, self.view.width)
        along = self.distance * self.shot.lens.rays[:, 0]
        category = category_of_instance(self.stage.rays)[self.instance]
        return {
            "depth": along.astype(np.float32).reshape(shape),
            "normals": self.surface_normal.astype(np.float32).reshape(*shape, 3),
            "instance": self.instance.reshape(shape),
            "category": category.reshape(shape),
        }

    def shadow(self) -> NDArray[np.float32]:
        """(H, W) share of the light of lamps and sun that arrives."""
        solid = np.flatnonzero(self.instance >= BOTTOM)
        at = self.points[solid] + OFF * self.surface_normal[solid]
        normal = self.surface_normal[solid]
        whole, arrives = np.zeros(len(solid)), np.zeros(len(solid))
        water = self.stage.water.attenuation if self.view.under_water else np.zeros(3)
        lamps = beams(self.shot.lights)
        for position, direction, intensity, exponent in zip(*lamps, strict=True):
            off = position - at
            far = np.linalg.norm(off, axis=1)
            towards = off / np.maximum(far, 1e-9)[:, None]
            beam = np.maximum(-towards @ direction, 0.0) ** exponent
            strength = np.mean(intensity * np.exp(-np.outer(far, water)), axis=1)
            strength *= beam * np.maximum(np.sum(towards * normal, axis=1), 0.0) / far**2
            free = self.free(at, towards, far)
            whole += strength
            arrives += strength * free
        sky = self.stage.sky
        if np.any(sky.sun_irradiance > 0.0):
            sun = sky.sun_direction
            if self.view.under_water:
                sun = refracted(sun[:, None])[:, 0]
            depth = np.maximum(at[:, 2], 0.0) / max(-sun[2], 0.05)
            strength = np.mean(sky.sun_irradiance * np.exp(-np.outer(depth, water)), axis=1)
            strength *= np.maximum(normal @ sun, 0.0)
            free = self.free(at, np.broadcast_to(sun, at.shape), np.full(len(at), REACH))
            whole += strength
            arrives += strength * free
        share = np.zeros(len(self.instance), np.float32)
        dark = whole <= 1e-9
        share[solid] = np.where(dark, 0.0, arrives / np.where(dark, 1.0, whole))
        return share.reshape(self.view.height, self.view.width)

    def free(self, at: Array, towards: Array, far: Array) -> NDArray[np.bool_]:
        """(P,) whether nothing lies within distances from places."""
        if not len(at):
            return np.zeros(0, np.bool_)
        others = self.shot.others
        hits = self.stage.rays.cast(
            at,
            np.ascontiguousarray(towards.T.astype(np.float32)).T,
            self.shot.time,
            others,
            (far - 2.0 * OFF).astype(np.float32),
        )
        free = np.ones(len(at), np.bool_)
        free[hits.ray] = False
        return free

    def flow(self, following: Shot) -> NDArray[np.float32]:
        """(H, W, 2) columns and rows by which what is met moves until another shot."""
        moved = self.points.copy()
        vehicles = self.stage.rays.vehicles
        for index in np.unique(self.instance[self.instance >= FIRST_BODY]) - FIRST_BODY:
            body = self.stage.rays.bodies[index]
            if not body.moves and body.shape != "vehicle":
                continue
            here = self.instance == index + FIRST_BODY
            then, now = (_pose(body, index, vehicles, shot) for shot in (following, self.shot))
            moved[here] = (moved[here] - now[0]) @ now[1] @ then[1].T + then[0]
        view = View(following)
        x, y, z = ((moved - view.position) @ view.axes).T
        ahead = x > 1e-6
        lens = following.lens
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = lens.distortion.apply(y / x, z / x)
            ahead &= np.hypot(y, z) < lens.distortion.reach() * x
        columns = lens.focal_length * seen[0] + 0.5 * (lens.width - 1)
        rows = lens.focal_length * seen[1] + 0.5 * (lens.height - 1)
        row, column = np.divmod(np.arange(len(moved)), self.view.width)
        off = np.stack([columns - column, rows - row], axis=1)
        off[~ahead | (self.instance == SURFACE)] = np.nan
        return off.astype(np.float32).reshape(self.view.height, self.view.width, 2)


def _pose(body: Body, index: int, vehicles: list[int], shot: Shot) -> tuple[Array, Array]:
    """Position and rotation matrix of a body in a shot; NaN for a vehicle that is not there."""
    if body.shape != "vehicle":
        return body.pose(shot.time)
    if shot.others is None:
        return np.full(3, np.nan), np.eye(3)
    row = np.asarray(shot.others, np.float64)[vehicles.index(index)]
    return row[:3], rotation_matrix(row[3:])
