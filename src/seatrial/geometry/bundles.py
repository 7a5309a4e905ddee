"""Neighbouring rays taken together, to tell quickly which of many can reach something at all.

A bundle is some rays that follow each other, in a cone about the first of them: with the greatest
angle α between them, and beginning within s of where the first one does. It can reach a sphere of
radius ρ in the distance d, at the angle β from its axis, if

    β ≤ α + asin((ρ + s) / d)   or   d ≤ ρ + s
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

SIZE = 16
"""Rays of a bundle, or the greatest power of 2 below that divides those of a sample."""
ROUNDING = 1e-3
"""By which a cone is wider, rad: directions are kept in single precision, and an arc cosine loses
half of their digits."""


class Bundles(NamedTuple):
    """N bundles of each of K samples."""

    size: int
    """Rays of each."""
    origin: Array
    """(K, N, 3) where the first one begins."""
    spread: Array
    """(K, N) s, m."""
    axis: Array
    """(K, N, 3) direction of the first one."""
    angle: Array
    """(K, N) α, rad."""
    reach: Array
    """(K, N) how far the farthest goes, m."""

    def reaching(self, centre: Array, radius: Array) -> NDArray[np.bool_]:
        """(M, K, N) which of them can reach spheres about places (M, K, 3) of radii (M, K)."""
        away = centre[:, :, None] - self.origin
        far = np.sqrt(np.einsum("mknc,mknc->mkn", away, away))
        size = radius[:, :, None] + self.spread
        ahead = np.einsum("mknc,knc->mkn", away, self.axis) / np.maximum(far, 1e-9)
        beside = np.arccos(np.clip(ahead, -1.0, 1.0))
        wide = np.arcsin(np.minimum(size / np.maximum(far, 1e-9), 1.0)) + self.angle + ROUNDING
        found: NDArray[np.bool_] = ((beside <= wide) | (far <= size)) & (far - size <= self.reach)
        return found

    def rays(self, sample: int, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """All rays of some bundles (N,) of a sample, in their order."""
        first = (sample * len(chosen) + np.flatnonzero(chosen)) * self.size
        return (first[:, None] + np.arange(self.size)).ravel()


def bundled(origins: Array, directions: Floats, limit: Floats, samples: int) -> Bundles:
    """Bundles of rays that begin at `origins` (G, 3), from each of them R / G, along `directions`
    (R, 3), which end after `limit` (R,); of samples that follow each other."""
    count = len(directions)
    each, size = count // len(origins), math.gcd(count // samples, SIZE)
    shape = samples, count // samples // size
    steps = np.linalg.norm(np.diff(origins, axis=0), axis=1)
    way = np.concatenate([[0.0], np.cumsum(steps)])  # no two origins lie farther apart
    first = np.arange(0, count, size)
    begin, end = first // each, (first + size - 1) // each
    cosine = np.zeros((len(first), size), directions.dtype)
    for column in directions.T:
        rows = column.reshape(-1, size)
        cosine += rows * rows[:, :1]
    angle = np.arccos(np.clip(cosine.min(axis=1), -1.0, 1.0))
    return Bundles(
        size,
        origins[begin].reshape(*shape, 3),
        (way[end] - way[begin]).reshape(shape),
        directions[first].astype(np.float64).reshape(*shape, 3),
        angle.astype(np.float64).reshape(shape),
        limit.reshape(-1, size).max(axis=1).astype(np.float64).reshape(shape),
    )
