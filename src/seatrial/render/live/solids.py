"""What bodies and bottoms send towards the eye: sun with shadows, sky, lamps.

Surfaces scatter by Lambert's law, L = ρ E / π. In the air the irradiance is the sun's times the
cosine, where nothing stands between, and the sky's and the sea's by the share of each that the
surface sees, (1 ± n_up) / 2. Under water daylight is E_d(z) = E_d(0) exp(−K_d z), of which the
share exp(−b z / μ) has kept its direction, that of the refracted sun, and the rest comes from
above, half as much from below.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body, rotation_matrix
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import BOTTOM, Hits, material_of
from seatrial.geometry.terrain import terrain_of
from seatrial.render.appearance import (
    BODY_CONTRAST,
    board_albedo,
    body_colour,
    bottom_colour,
    grain,
)
from seatrial.render.optics import reflectance
from seatrial.render.picture import Light, Shot, Stage
from seatrial.render.sky import ILLUMINANCE, SUN
from seatrial.render.water import INDEX

Array = NDArray[np.float64]
Single = NDArray[np.float32]

SEA_ALBEDO = 0.06
"""Share of daylight that comes back from the sea, onto what faces down."""
CLEARANCE = 2e-3
"""How far above a surface its shadow rays begin, m, and as a share of the distance."""
SHADOWS = 1.5
"""Optical depth of scattering down to which shadows are seen under water."""
SHADOW = 300.0
"""How far away something may stand that casts a shadow, m."""
DRY = 200.0
"""How far from below the water bodies above it are seen, m."""
PARTS = 2
"""Of a pixel along each side, in which the pattern of a board is averaged."""


@dataclass(frozen=True)
class Shader:
    """Light of a stage on what rays of a shot meet."""

    stage: Stage
    shot: Shot

    @cached_property
    def bodies(self) -> bool:
        """Whether there is any body to be seen: the camera's own vehicle is none."""
        others = self.shot.others
        seen = others is not None and bool(np.isfinite(others).any())
        return seen or any(body.shape != "vehicle" for body in self.stage.rays.bodies)

    def anything_within(self, reach: float) -> bool:
        """Whether there is anything under water that is near enough to the surface."""
        bottom = self.stage.rays.bottom
        if self.bodies or bottom is None:
            return self.bodies
        return not isinstance(bottom, float | int) or float(bottom) < reach

    @cached_property
    def anything_dry(self) -> bool:
        """Whether a body stands out of the water within what is seen from below it."""
        here = self.shot.position[:2]
        for body in self.stage.rays.bodies:
            if body.shape == "vehicle":
                if self.shot.others is not None:
                    return True
                continue
            middle, _ = body.pose(self.shot.time)
            size = body.radius + math.hypot(body.length, body.beam, body.height)
            if body.vertices is not None:  # around wherever its axes begin, and however it leans
                size = float(np.linalg.norm(body.vertices, axis=1).max())
            wide = 50.0 if body.outline is not None else size
            away = float(np.hypot(*(middle[:2] - here)))
            if middle[2] < max(size, 1.0) and away < DRY + wide:
                return True
        return False

    @cached_property
    def sunny(self) -> bool:
        """Whether the sun is bright enough for shadows."""
        return float(self.stage.sky.sun_irradiance.max()) >= 1e-4

    @cached_property
    def shadow_depth(self) -> float:
        """Down to which there are shadows under water, m."""
        return SHADOWS / float(self.stage.water.scattering.min())

    @cached_property
    def sun_in_water(self) -> Array:
        """(3,) towards the sun, as refracted by a level surface."""
        x, y, _ = self.stage.sky.sun_direction
        level = np.array([x, y]) / INDEX
        return np.array([*level, -math.sqrt(1.0 - float(level @ level))])

    @cached_property
    def daylight(self) -> tuple[Array, Array]:
        """(3,) irradiances below a level surface of the sun's beam and of the sky."""
        sky = self.stage.sky
        sine = -float(sky.sun_direction[2])
        through = 1.0 - float(reflectance(np.array([sine]), INDEX)[0])
        # A sky of even radiance loses 6.6 % at a level surface (Mobley 1994, section 4.2).
        return sky.sun_irradiance * sine * through, 0.934 * sky.sky_irradiance

    @cached_property
    def upwelling(self) -> Array:
        """(3,) irradiance from the sea onto what faces down."""
        sky = self.stage.sky
        down = sky.sky_irradiance - sky.sun_direction[2] * sky.sun_irradiance
        return np.asarray(SEA_ALBEDO * down)

    @cached_property
    def ambient(self) -> Array:
        """(3,) E_d(0)."""
        beam, even = self.daylight
        return np.asarray(beam + even)

    def albedo(self, hits: Hits, place: Single, footprint: Single) -> Single:
        """(3, P) of what is met at places (3, P), in pixels of a footprint, m."""
        normal = hits.normal.T
        colour = self.painted.take(hits.body, axis=1)
        floor = np.flatnonzero(hits.body == BOTTOM)
        if len(floor):
            part = slice(None) if len(floor) == len(hits.body) else floor
            material = int(hits.material[floor[0]])
            colour[:, part] = bottom_colour(
                material, normal[:, part], place[:, part], footprint[part]
            )
        if len(floor) == len(hits.body):
            return colour
        built = np.flatnonzero(hits.body >= 0)
        own, turned = place[:, built], normal[:, built].astype(np.float32)
        size = footprint[built]
        # What moves, or shows a pattern, is looked at in its own axes.
        for number in np.intersect1d(hits.body, self.apart):
            some = np.flatnonzero(hits.body[built] == number)
            own[:, some], here = self._in_body_axes(number, own[:, some], turned[:, some])
            turned[:, some] = here
        shade = BODY_CONTRAST * grain(*_on_face(own, turned), size)
        colour[:, built] *= 1.0 + shade
        for number in np.intersect1d(hits.body, self.boards):
            front = np.flatnonzero((hits.body[built] == number) & (turned[0] > 0.9))
            if len(front):
                body = self.stage.rays.bodies[number]
                colour[:, built[front]] = self._board(body, own[:, front])
        return colour

    @cached_property
    def painted(self) -> Single:
        """(3, bodies + 2) albedo of every body; the last two places are the bottom's."""
        bodies = self.stage.rays.bodies
        found = np.zeros((3, len(bodies) + 2), np.float32)
        for i, body in enumerate(bodies):
            found[:, i] = body_colour(body, material_of(body))
        return found

    @cached_property
    def boards(self) -> list[int]:
        """Places of bodies with a pattern."""
        return [i for i, b in enumerate(self.stage.rays.bodies) if b.pattern is not None]

    @cached_property
    def apart(self) -> list[int]:
        """Places of bodies that are looked at in their own axes."""
        bodies = enumerate(self.stage.rays.bodies)
        return [i for i, b in bodies if b.moves or b.shape == "vehicle" or b.pattern is not None]

    def _in_body_axes(
        self, number: int, place: Single, normal: NDArray[np.floating]
    ) -> tuple[Single, Single]:
        body = self.stage.rays.bodies[number]
        if body.shape == "vehicle":
            assert self.shot.others is not None
            row = self.shot.others[self.stage.rays.vehicles.index(number)]
            middle, matrix = row[:3], rotation_matrix(row[3:])
        else:
            middle, matrix = body.pose(self.shot.time)
        local = matrix.T @ (place - middle[:, None])
        return local.astype(np.float32), (matrix.T @ normal).astype(np.float32)

    def _board(self, body: Body, own: Single) -> Single:
        """(P,) albedo of the pattern at places in the body's axes, for all bands alike: the mean
        over a pixel, in parts, each of them a box as large as that part on the board.

        A part is found where its own ray meets the plane: through the lens as it is bent there, or
        corners would be seen some hundredths of a pixel off.
        """
        assert body.pattern is not None
        middle, matrix = body.pose(self.shot.time)
        eye = matrix.T @ (self.shot.position - middle)
        ahead, right, down = (matrix.T @ rotation_matrix(self.shot.attitude)).T[..., None]
        way = own - eye[:, None]
        axial = np.sum(ahead * way, axis=0)
        x, y = np.sum(right * way, axis=0) / axial, np.sum(down * way, axis=0) / axial
        aside, below = self.shot.lens.pixel_steps(x, y)

        def met(u: float, v: float) -> tuple[Array, Array]:
            """Where on the board it is seen so many pixels to the right and down."""
            at_x, at_y = x + u * aside[0] + v * below[0], y + u * aside[1] + v * below[1]
            along = ahead + at_x * right + at_y * down
            hit = eye[1:, None] + along[1:] * (way[0] / along[0])
            return 0.5 - hit[0] / body.beam, 0.5 + hit[1] / body.height

        steps = (np.arange(PARTS) + 0.5) / PARTS - 0.5
        here, beyond, under = met(0.0, 0.0), met(1.0 / PARTS, 0.0), met(0.0, 1.0 / PARTS)
        wide, high = (
            np.abs(b - a) + np.abs(c - a) for a, b, c in zip(here, beyond, under, strict=True)
        )
        total = sum(
            board_albedo(body.pattern, *met(u, v), wide, high) for u in steps for v in steps
        )
        return np.asarray(total / PARTS**2, np.float32)

    def in_air(self, hits: Hits, place: Single, albedo: Single) -> Single:
        """(3, P) radiance of what is met above the water."""
        sky = self.stage.sky
        normal = self._smooth(hits, place)
        sun = sky.sun_direction
        facing = np.maximum(sum(normal[c] * np.float32(sun[c]) for c in range(3)), 0.0)
        facing *= self._lit(hits, place, facing, sun)
        up = np.float32(0.5) - np.float32(0.5) * normal[2]
        below = self.upwelling
        found = np.empty_like(albedo)
        for band in range(3):
            light = np.float32(sky.sun_irradiance[band]) * facing
            light += np.float32(sky.sky_irradiance[band] - below[band]) * up
            light += np.float32(below[band])
            found[band] = light
        found += self.lamps(place, normal, wet=False)
        found *= albedo
        found *= np.float32(1.0 / math.pi)
        return found

    def in_water(self, hits: Hits, place: Single, albedo: Single, shadows: bool = True) -> Single:
        """(3, P) radiance of what is met below the surface."""
        water = self.stage.water
        normal = self._smooth(hits, place)
        depth = np.maximum(place[2], 0.0)
        sun = self.sun_in_water
        facing = np.maximum(sum(normal[c] * np.float32(sun[c]) for c in range(3)), 0.0)
        if shadows:
            # Deeper, so much of the beam has been scattered that there are no shadows.
            sharp = depth < self.shadow_depth
            facing *= self._lit(hits, place, facing * sharp, sun)
        up = np.float32(0.75) - np.float32(0.25) * normal[2]
        beam, even = self.daylight
        slant = -1.0 / sun[2]
        found = np.empty_like(albedo)
        for band in range(3):
            fades = np.exp(np.float32(-water.daylight[band]) * depth)
            straight = np.exp(np.float32(-water.scattering[band] * slant) * depth)
            straight *= np.float32(beam[band])
            light = straight * facing * np.float32(slant)
            light += (np.float32(beam[band] + even[band]) - straight) * up
            found[band] = light * fades
        found += self.lamps(place, normal, wet=True)
        found *= albedo
        found *= np.float32(1.0 / math.pi)
        return found

    def _lit(self, hits: Hits, place: Single, facing: Single, sun: Array) -> Single:
        """(P,) 1 where the sun is not hidden, 0 where it is."""
        lit = np.ones(len(facing), np.float32)
        if not self.bodies and not isinstance(self.stage.rays.bottom, HeightGrid):
            return lit
        towards = np.flatnonzero(facing > 0.0)
        if not len(towards) or not self.sunny:
            return lit
        away = CLEARANCE * (1.0 + hits.distance[towards])
        start = place[:, towards].T + away[:, None] * hits.normal[towards]
        along = np.broadcast_to(sun.astype(np.float32)[:, None], (3, len(towards)))
        met = self.stage.rays.cast(
            start, np.ascontiguousarray(along).T, self.shot.time, self.shot.others, SHADOW
        )
        lit[towards[met.ray]] = 0.0
        return lit

    def lamps(self, place: Single, normal: Single | None, wet: bool) -> Single:
        """(3, P) irradiance of the shot's lamps on surfaces with normals, or without regard to
        their direction."""
        found = np.zeros((3, place.shape[1]), np.float32)
        for light in self.shot.lights:
            towards = np.asarray(light.position[:, None], np.float32) - place
            square = np.sum(towards * towards, axis=0) + np.float32(1e-4)
            distance = np.sqrt(square)
            strength = beam_strength(light, towards, distance) / square
            if normal is not None:
                along = np.sum(towards * normal, axis=0) / distance
                strength *= np.maximum(along, 0.0)
            for band in range(3):
                part = strength * np.float32(light.colour[band])
                if wet:
                    part *= np.exp(np.float32(-self.stage.water.attenuation[band]) * distance)
                found[band] += part
        return found

    def _smooth(self, hits: Hits, place: Single) -> Single:
        """(3, P) normals for shading: of a mapped bottom between its nodes, not by facet."""
        normal = np.ascontiguousarray(hits.normal.T, np.float32)
        bottom = self.stage.rays.bottom
        if not isinstance(bottom, HeightGrid):
            return normal
        floor = np.flatnonzero(hits.body == BOTTOM)
        if len(floor):
            normal[:, floor] = slopes_of(bottom).normals(place[0, floor], place[1, floor])
        return normal


def beam_strength(light: Light, towards: Single, distance: Single) -> Single:
    """(P,) intensity towards places whose vectors to the lamp are given, in units of irradiance
    times square metre."""
    axis = light.direction
    cosine = -sum(towards[c] * np.float32(axis[c]) for c in range(3)) / distance
    shape = np.power(np.maximum(cosine, 0.0), np.float32(light.exponent))
    return np.asarray(np.float32(strength_on_axis(light)) * shape, np.float32)


def strength_on_axis(light: Light) -> float:
    """In units of irradiance times square metre."""
    return light.intensity * SUN / ILLUMINANCE


@dataclass(frozen=True)
class Slopes:
    """How a mapped bottom falls, between its nodes."""

    origin: Array
    spacing: Array
    north: Single
    east: Single

    def normals(self, x: Single, y: Single) -> Single:
        """(3, P) unit normals up at level places."""
        rows, columns = self.north.shape
        a = np.clip((x - self.origin[0]) / self.spacing[0], 0.0, rows - 1.001)
        b = np.clip((y - self.origin[1]) / self.spacing[1], 0.0, columns - 1.001)
        i, j = a.astype(np.int32), b.astype(np.int32)
        s, t = (a - i).astype(np.float32), (b - j).astype(np.float32)
        first = i * columns + j
        slopes = []
        for values in (self.north.ravel(), self.east.ravel()):
            upper = values.take(first)
            upper += t * (values.take(first + 1) - upper)
            lower = values.take(first + columns)
            lower += t * (values.take(first + columns + 1) - lower)
            slopes.append(upper + s * (lower - upper))
        north, east = slopes
        length = 1.0 / np.sqrt(1.0 + north * north + east * east)
        return np.stack([north * length, east * length, -length])


_KNOWN: dict[int, tuple[HeightGrid, Slopes]] = {}


def slopes_of(bottom: HeightGrid) -> Slopes:
    """Of a bottom; kept for the one that was asked for last."""
    known = _KNOWN.get(id(bottom))
    if known is not None and known[0] is bottom:
        return known[1]
    plain = terrain_of(bottom)
    north, east = (np.asarray(g, np.float32) for g in np.gradient(plain.depth, *plain.spacing))
    found = Slopes(plain.origin, plain.spacing, north, east)
    _KNOWN.clear()
    _KNOWN[id(bottom)] = (bottom, found)
    return found


def _on_face(own: Single, normal: Single) -> tuple[Single, Single]:
    """Two coordinates on the face that a place of a body lies on."""
    ahead, beside, under = np.abs(normal)
    front = (ahead >= beside) & (ahead >= under)
    side = ~front & (beside >= under)
    across = np.where(front, own[1], own[0])
    along = np.where(front | side, own[2], own[1])
    return across, along
