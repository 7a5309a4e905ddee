"""How waves gather the sun's rays and spread them, below the surface."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from seatrial.render.picture import Stage
from seatrial.render.sea import sea_at
from seatrial.render.sky import SUN_RADIUS
from seatrial.render.traced.lighting.ripples import Ripples
from seatrial.render.water import INDEX

Array = NDArray[np.float64]

SIDE = 32.0
"""Of the square of caustics around the camera, m."""
CELLS = 320
"""Along it."""
DEPTHS = 0.25 * 2.0 ** np.arange(8)
"""Below the surface at which caustics are known, m; between them they go with the logarithm."""
_RAYS = 2
"""Per cell and side."""


class Caustics(NamedTuple):
    """How much brighter the sun is below waves than below a level sea."""

    gain: NDArray[np.float32]
    """(depths, CELLS, CELLS) over depth, east and north."""
    middle: Array
    """(2,) of the square, north and east, at the surface, m."""

    def place(self, at: Any, towards: Any) -> tuple[Any, Any, Any]:
        """Coordinates in the texture of places, each from 0 to 1: north, east and depth of where
        their sunlight enters."""
        import drjit as dr

        along = at.z / dr.maximum(-towards.z, 0.05)
        north = (at.x + along * towards.x - float(self.middle[0])) / SIDE + 0.5
        east = (at.y + along * towards.y - float(self.middle[1])) / SIDE + 0.5
        octave = dr.log2(dr.maximum(at.z, float(DEPTHS[0])) / float(DEPTHS[0]))
        count = len(DEPTHS)
        depth = (dr.minimum(octave, count - 1.0) + 0.5) / count
        return north, east, depth

    def gain_at(self, at: Array, towards: Array) -> Array:
        """(P,) how much brighter the sun is at places (P, 3), linear between cells."""
        along = at[:, 2] / max(-towards[2], 0.05)
        level = at[:, :2] + along[:, None] * towards[:2] - self.middle
        north, east = (level / SIDE + 0.5).T * CELLS - 0.5
        octave = np.log2(np.maximum(at[:, 2], DEPTHS[0]) / DEPTHS[0])
        depth = np.minimum(octave, len(DEPTHS) - 1.0)
        found = map_coordinates(self.gain, [depth, east, north], order=1, mode="reflect")
        return np.asarray(found, np.float64)


def caustics(
    stage: Stage, place: Array, t: float, ripples: Ripples | None, towards: Array
) -> Caustics:
    """Rays of the sun through the very waves of the instant, counted where they arrive.

    Each starts on a fine grid of the level surface and is refracted by the slope there. How many
    arrive in a cell, over how many would on a calm day, is the gain; the disc of the sun blurs it.
    """
    sea = sea_at(stage.ocean, place, t, SIDE)
    fine = SIDE / (CELLS * _RAYS)
    along = fine * (np.arange(CELLS * _RAYS) + 0.5) - 0.5 * SIDE
    x, y = (g.ravel() for g in np.meshgrid(along, along, indexing="ij"))
    _, north, east = sea.at(x, y)
    if ripples is not None:
        more = ripples.at(x + place[0], y + place[1])
        north, east = north + more[0], east + more[1]
    sun = stage.sky.sun_direction
    normal = np.stack([-north, -east, -np.ones_like(x)])
    normal /= np.linalg.norm(normal, axis=0)
    cosine = np.clip(np.einsum("i...,i->...", normal, sun), 0.02, 1.0)
    bend = np.sqrt(1.0 - (1.0 - cosine**2) / INDEX**2) - cosine / INDEX
    into = -(sun[:, None] / INDEX + bend * normal)
    mean = -towards
    step = SIDE / CELLS
    layers = []
    for depth in DEPTHS:
        way = depth * (into[:2] / into[2] - (mean[:2] / mean[2])[:, None])
        a, b = ((c + 0.5 * SIDE) / step - 0.5 for c in (x + way[0], y + way[1]))
        layers.append(_counted(a, b) / _RAYS**2)
    blur = [max(depth * SUN_RADIUS / INDEX / step, 0.5) for depth in DEPTHS]
    gain = [
        gaussian_filter(layer, sigma, mode="mirror")
        for layer, sigma in zip(layers, blur, strict=True)
    ]
    return Caustics(np.stack([g.T for g in gain]).astype(np.float32), np.asarray(place[:2]))


def _counted(a: Array, b: Array) -> Array:
    """(CELLS, CELLS) rays that arrive near the middles of cells, each shared among four; those that
    leave the square are mirrored into it."""
    i, j = np.floor(a).astype(np.int64), np.floor(b).astype(np.int64)
    s, t = a - i, b - j
    total = np.zeros(CELLS * CELLS)
    for di, ws in ((0, 1 - s), (1, s)):
        for dj, wt in ((0, 1 - t), (1, t)):
            row, column = _mirrored(i + di), _mirrored(j + dj)
            total += np.bincount(row * CELLS + column, ws * wt, CELLS * CELLS)
    return total.reshape(CELLS, CELLS)


def _mirrored(index: NDArray[np.int64]) -> NDArray[np.int64]:
    inside = np.mod(index, 2 * CELLS)
    return np.asarray(np.where(inside < CELLS, inside, 2 * CELLS - 1 - inside))
