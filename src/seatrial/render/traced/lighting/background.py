"""What lies behind everything: the sky, or the surface of the sea from below; and the sea itself.

Only what reaches the camera without a meeting on the way is drawn here, exactly, with the waves and
ripples of the instant; paths of light that meet something see a smooth sky (`light`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh
from seatrial.ocean import Ocean
from seatrial.render.picture import Stage
from seatrial.render.sea import sea_at
from seatrial.render.sky import SUN_RADIUS, Sky
from seatrial.render.traced.lighting.light import below_surface, sun_through
from seatrial.render.traced.lighting.ripples import Ripples
from seatrial.render.traced.truth import Truth
from seatrial.render.traced.view import View

Array = NDArray[np.float64]

REACH = 200.0
"""How far waves are seen as such from below, m."""
SUB = 2
"""Rays per pixel and side, since ripples are fine."""
RINGS, SPOKES = 320, 512
"""Of the sea's mesh around the camera."""
NEAR, FAR = 0.5, 20_000.0
"""First and last ring, m."""


def background(stage: Stage, view: View, ripples: Ripples | None) -> NDArray[np.float32]:
    """(H, W, 3) radiance behind everything, before the water or air takes of it."""
    height, width = view.height, view.width
    corners, total = view.corners, np.zeros((height * width, 3))
    for i in range(SUB):
        for j in range(SUB):
            s, t = (i + 0.5) / SUB, (j + 0.5) / SUB
            upper = corners[:-1, :-1] * (1 - s) + corners[:-1, 1:] * s
            lower = corners[1:, :-1] * (1 - s) + corners[1:, 1:] * s
            tangent = (upper * (1 - t) + lower * t).reshape(-1, 2)
            rays = np.column_stack([np.ones(len(tangent)), tangent]) @ view.axes.T
            rays /= np.linalg.norm(rays, axis=1, keepdims=True)
            total += _seen(stage, view, rays, ripples)
    return (total / SUB**2).astype(np.float32).reshape(height, width, 3)


def _seen(stage: Stage, view: View, rays: Array, ripples: Ripples | None) -> Array:
    """(P, 3) radiance towards unit vectors."""
    sky = stage.sky
    if not view.under_water:
        return _sky(rays, sky)
    found = np.zeros_like(rays)
    sea = sea_at(stage.ocean, view.position[:2], view.shot.time, REACH)
    met = sea.crossing(view.position[None], rays, np.inf)
    if not len(met.ray):
        return found
    towards, normal = rays[met.ray], met.normal
    if ripples is not None:
        at = view.position + met.distance[:, None] * towards
        north, east = ripples.at(at[:, 0], at[:, 1])
        steep = normal + np.column_stack([-north, -east, np.zeros(len(north))])
        normal = steep / np.linalg.norm(steep, axis=1, keepdims=True)
    seen = below_surface(towards.T, sky, stage.water, normal.T)
    found[met.ray] = (seen + np.minimum(sun_through(towards.T, sky, normal.T), 50.0)).T
    return found


def _sky(rays: Array, sky: Sky) -> Array:
    """(P, 3) sky with the sun's disc, and its horizon below."""
    seen = sky.radiance(rays.T).T
    low = rays[:, 2] > 0.0
    seen[low] = sky.horizon
    disc = rays @ sky.sun_direction > math.cos(SUN_RADIUS)
    seen[disc & ~low] += sky.sun_irradiance / (math.pi * math.sin(SUN_RADIUS) ** 2)
    return np.asarray(seen)


def fogged(colour: NDArray[np.float32], truth: Truth, sky: Sky) -> NDArray[np.float32]:
    """A picture in the air with haze or fog before what is seen, by Koschmieder."""
    far = truth.distance.reshape(colour.shape[:2])[..., None]
    clear = np.exp(-sky.extinction * np.where(np.isfinite(far), far, 0.0))
    mixed = colour * clear + sky.horizon * (1.0 - clear)
    nothing = ~np.isfinite(far)
    if sky.visibility < 20_000.0:  # no sky through fog
        mixed = np.where(nothing, sky.horizon, mixed)
    return np.asarray(mixed, np.float32)


def sea_mesh(ocean: Ocean, view: View) -> tuple[Mesh, Array]:
    """The waves of an instant, around a camera, with their normals."""
    place = view.position[:2]
    ring = NEAR * (FAR / NEAR) ** (np.arange(RINGS) / (RINGS - 1))
    angle = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    x = place[0] + np.outer(ring, np.cos(angle)).ravel()
    y = place[1] + np.outer(ring, np.sin(angle)).ravel()
    height, north, east = _waves(ocean, x, y, view.shot.time)
    # Where a ring is wider than a wave, its slopes belong to the roughness.
    apart = np.repeat(ring * (math.log(FAR / NEAR) / (RINGS - 1)), SPOKES)
    fade = np.clip(2.0 - apart / 4.0, 0.0, 1.0)
    vertices = np.stack([x, y, -height * fade], axis=1)
    normals = np.stack([-north * fade, -east * fade, -np.ones_like(x)], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    vertices = np.concatenate([vertices, [[*place, -height[:SPOKES].mean()]]])
    normals = np.concatenate([normals, [[0.0, 0.0, -1.0]]])
    i = np.arange(SPOKES)
    j = (i + 1) % SPOKES
    middle = len(vertices) - 1
    faces = [np.stack([np.full_like(i, middle), j, i], axis=1)]
    base = SPOKES * np.arange(RINGS - 1)[:, None]
    a, b, c, d = base + i, base + j, base + SPOKES + i, base + SPOKES + j
    faces += [np.stack([p.ravel() for p in t], axis=1) for t in ((a, b, c), (b, d, c))]
    return Mesh(vertices, np.concatenate(faces)), normals


def _waves(ocean: Ocean, x: Array, y: Array, t: float) -> tuple[Array, Array, Array]:
    """Height and slopes towards north and east at places."""
    if ocean.waves is None:
        return np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    waves = ocean.waves
    parts = (waves.amplitude, waves.wavenumber, waves.direction, waves.phase, waves.observed)
    amplitude, wavenumber, direction, phase, observed = (np.asarray(p, np.float64) for p in parts)
    kx, ky = wavenumber * np.cos(direction), wavenumber * np.sin(direction)
    height, north, east = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for a, p, q, e, w in zip(amplitude, kx, ky, phase, observed, strict=True):
        angle = w * t + e - p * x - q * y
        s, c = a * np.sin(angle), a * np.cos(angle)
        height += c
        north += p * s
        east += q * s
    return height, north, east
