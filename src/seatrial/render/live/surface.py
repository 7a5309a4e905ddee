"""The surface of the sea of an instant, for pictures: near waves fine, far ones coarse, ripples.

The components of the sea are laid on two level grids around the camera, of which the coarser one
leaves out the waves that it cannot hold. What the wind makes on top of them (to the mean square
slope of Cox and Munk) is a tile of ripples that repeats: short waves with random phases, the same
in every run, that run with the wind by their dispersion relation with surface tension,

    ω² = g k + 7.3e-5 m³/s² · k³

and whose slopes fall with 1/k in each direction, so that every octave has the same part of the
variance. They tilt the surface and do not lift it. What is smaller than a pixel is not drawn; its
variance is told, so that glints and reflections are spread by it.

A ray is followed in steps of its height above the surface over its rate of descent, with a face of
the waves of twice their mean slope coming towards it, so that hardly a crest is jumped over.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.conventions import GRAVITY
from seatrial.ocean import Ocean
from seatrial.render.optics import cox_munk

Array = NDArray[np.float64]
Single = NDArray[np.float32]

NODES = 257
HALVES = (30.0, 300.0)
"""Half sides of the grids, m."""
SHORTEST = 2.5
"""Steps of a grid in the shortest wave that it holds."""
ROWS = 6
"""Of a grid that are made together."""
STEPS = 8
"""In which rays are followed to the surface."""
PAUSE = 2
"""Step after which those that are there are left, and after every fourth from there."""
CLOSE = 3e-3
"""Height above the surface at which a ray is there, m: its last step brings it nearer still."""
MOST_STEPS = 200
"""The same where every ray is followed until it is there."""
LEVEL = 1e-6
"""Descent per metre of rays that count as level."""
TILE = 5.0
"""Side of the tile of ripples, m."""
RIPPLES = 256
"""Its nodes along a side."""
TENSION = 7.3e-5
"""Surface tension over density, m³/s²."""
SMOOTH = 2e-4
"""Least variance of slopes, that of the sun's disc and of a calm day."""


class Facing(NamedTuple):
    """The surface where rays meet it."""

    normal: Single
    """(3, P) up, unit."""
    variance: Single
    """(P,) of slopes that are too small to be drawn, both directions together."""


@dataclass(frozen=True)
class Surface:
    """The sea around a camera at an instant."""

    middle: Array
    """(2,) north and east, m."""
    grids: NDArray[np.complex64] | None
    """(3, 2 NODES²) height and slopes towards north and east, on the fine grid and then the coarse
    one, each with the difference to the node east of it as its imaginary part, so that one look
    brings both; None for a flat sea."""
    top: float
    """Highest of it, m."""
    steep: float
    """Slope that its faces hardly pass."""
    lost: tuple[float, float]
    """Variance of the slopes that each grid leaves out."""
    ripples: NDArray[np.complex64] | None
    """(RIPPLES²,) slopes towards north and, imaginary, east."""
    ripple_variance: float

    def _place(self, x: Single, y: Single) -> tuple[NDArray[np.int32], Single, Single]:
        """First of the four nodes around places relative to the middle, and how far beyond it."""
        near = np.maximum(np.abs(x), np.abs(y)) < HALVES[0]
        finer, coarser = (np.float32(0.5 * (NODES - 1) / half) for half in HALVES)
        scale = np.where(near, finer, coarser)
        first = np.where(near, np.int32(0), np.int32(NODES * NODES))
        beyond = []
        for side, nodes in ((x, NODES), (y, 1)):
            a = side * scale
            a += np.float32(0.5 * (NODES - 1))
            np.clip(a, 0.0, np.float32(NODES - 1.001), out=a)
            node = a.astype(np.int32)
            # In single precision throughout: a difference of both types would be in double.
            a -= node.astype(np.float32)
            node *= np.int32(nodes)
            first += node
            beyond.append(a)
        return first, beyond[0], beyond[1]

    def height(self, x: Single, y: Single) -> Single:
        """Above the mean level, at places relative to the middle; level far away."""
        assert self.grids is not None
        return _between(self.grids[0], *self._place(x, y))

    def covers(self, position: Array) -> bool:
        """Whether a place (3,) amid the grids is under water."""
        if self.grids is None:
            return float(position[2]) > 0.0
        x, y = (np.full(1, position[c] - self.middle[c], np.float32) for c in range(2))
        return float(position[2]) + float(self.height(x, y)[0]) > 0.0

    def distance(
        self, origin: Single, direction: Single, reach: float, exact: bool = False
    ) -> Single:
        """(P,) along unit vectors (3, P) from places (3, 1) or (3, P), to the surface; infinite for
        those that do not meet it within reach. Where it need not be exact, rays that graze the
        waves are met some tenths of their distance off."""
        down, depth = direction[2], origin[2]
        if self.grids is None:
            # Who is at the very level of it is above it, as where there are waves.
            met = np.where(depth > 0.0, down < 0.0, down > 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                level = np.where(met, np.maximum(-depth / down, 1e-3), np.inf)
            return np.asarray(np.where(level <= reach, level, np.inf), np.float32)
        x, y = origin[0] - np.float32(self.middle[0]), origin[1] - np.float32(self.middle[1])
        # On which side of the surface the camera is; all of a picture's rays begin together.
        wet = float(self.height(x[:1], y[:1])[0] + depth[0]) > 0.0
        side = np.float32(-1.0 if wet else 1.0)
        towards = side * down
        within = float(np.abs(depth).min()) < self.top
        # From among the waves, level rays and those that lead away meet some of them too.
        least = -max(0.2, self.steep) if within else LEVEL
        slowly = np.flatnonzero((towards > least) & (exact | (towards <= LEVEL)))
        quickly = np.flatnonzero(towards > (np.inf if exact else LEVEL))
        found = np.full(down.shape[0], np.inf, np.float32)
        for rays, follow in ((slowly, self._followed), (quickly, self._estimated)):
            if len(rays):
                start = (x, y, depth) if len(x) == 1 else (x[rays], y[rays], depth[rays])
                whole = follow(*start, direction[:, rays], side)
                found[rays] = np.where(whole > reach, np.inf, np.maximum(whole, 1e-3))
        return found

    def _begun(self, depth: Single, falls: Single, side: np.float32) -> tuple[Single, Single]:
        """Where rays enter the band of the waves, and how far they may go for each metre above the
        surface."""
        top = np.float32(self.top)
        at = np.maximum((-side * depth - top) / np.maximum(falls, LEVEL), 0.0)
        at = np.where(np.abs(depth) < top, np.float32(0.0), at)
        steep = np.float32(max(self.steep, 0.01))
        return at, 1.0 / (steep * np.sqrt(1.0 - falls * falls) + np.maximum(falls, 0.0))

    def _estimated(
        self, x: Single, y: Single, depth: Single, direction: Single, side: np.float32
    ) -> Single:
        """(P,) to the surface by a few steps, of rays that fall towards it."""
        dx, dy, dz = direction
        at, rate = self._begun(depth, side * dz, side)
        whole, going = at, np.arange(len(at))
        for step in range(STEPS):
            above = -side * (depth + at * dz + self.height(x + at * dx, y + at * dy))
            if step < STEPS - 1:
                at = at + np.maximum(above, 0.0) * rate
            else:
                # The last step is the tangent's: what is left is close to it, or grazes it.
                at = at + np.clip(above / np.maximum(side * dz, 0.02), -1.0, 8.0)
            if step == PAUSE:
                # Steep rays are there after a few steps.
                going = np.flatnonzero(above > CLOSE)
                whole = at
                at, dx, dy, dz, rate = (row[going] for row in (at, dx, dy, dz, rate))
                if len(x) > 1:
                    x, y, depth = x[going], y[going], depth[going]
        whole[going] = at
        return whole

    def _followed(
        self, x: Single, y: Single, depth: Single, direction: Single, side: np.float32
    ) -> Single:
        """(P,) to the surface, step by step until they are there; infinite for rays that pass over
        the highest wave."""
        dx, dy, dz = direction
        at, rate = self._begun(depth, side * dz, side)
        found, going = np.full(at.shape, np.inf, np.float32), np.arange(len(at))
        for step in range(MOST_STEPS):
            clear = -side * (depth + at * dz)
            above = clear - side * self.height(x + at * dx, y + at * dy)
            at = at + np.maximum(above, 0.0) * rate
            if step % 4 != PAUSE:
                continue
            # Those that are there, or over the highest wave for good, are left.
            on = above > CLOSE
            found[going[~on]] = at[~on]
            on &= (side * dz > 0.0) | (clear < self.top)
            rest = np.flatnonzero(on)
            if not len(rest):
                return found
            going = going.take(rest)
            dx, dy, dz, rate, at = (row.take(rest) for row in (dx, dy, dz, rate, at))
            if len(x) > 1:
                x, y, depth = (row.take(rest) for row in (x, y, depth))
        found[going[side * dz > 0.0]] = at[side * dz > 0.0]
        return found

    def facing(self, x: Single, y: Single, footprint: Single) -> Facing:
        """The surface at places, in pixels of a footprint, m."""
        north, east = np.zeros_like(x), np.zeros_like(x)
        variance = np.full(x.shape, SMOOTH, np.float32)
        if self.grids is not None:
            a, b = x - np.float32(self.middle[0]), y - np.float32(self.middle[1])
            first, s, t = self._place(a, b)
            away = np.maximum(np.abs(a), np.abs(b))
            # Where the grid ends the waves have long been smaller than a pixel is high.
            inside = np.clip((HALVES[1] - away) / np.float32(0.25 * HALVES[1]), 0.0, 1.0)
            north = inside * _between(self.grids[1], first, s, t)
            east = inside * _between(self.grids[2], first, s, t)
            fine = away < HALVES[0]
            variance += np.where(fine, np.float32(self.lost[0]), np.float32(self.lost[1]))
        if self.ripples is not None:
            kept = 1.0 / (1.0 + np.square(footprint * np.float32(1.0 / 0.12)))
            step = np.float32(RIPPLES / TILE)
            slopes = _repeated(self.ripples, x * step, y * step) * kept
            north, east = north + slopes.real, east + slopes.imag
            variance += np.float32(self.ripple_variance) * (1.0 - kept * kept)
        length = 1.0 / np.sqrt(1.0 + north * north + east * east)
        return Facing(np.stack([-north * length, -east * length, -length]), variance)


def footprint(distance: Array | Single, descent: Array | Single, focal_length: float) -> Single:
    """Size of pixels on the sea that they see, as wide as high: the mean of both ways, m."""
    down = np.maximum(np.abs(descent), 0.02)
    return np.asarray(distance / (focal_length * np.sqrt(down)), np.float32)


def surface_at(ocean: Ocean, place: Array, t: float) -> Surface:
    """The sea around a place (2,) at a time."""
    waves, wind = ocean.waves, ocean.wind
    place = np.asarray(place, np.float64)
    speed = 0.0 if wind is None else float(wind.speed)
    towards = 0.0 if wind is None else float(wind.towards)
    wanted = cox_munk(speed) if speed > 0.0 else 0.0
    if waves is None:
        variance = wanted
        grids: NDArray[np.complex64] | None = None
        top, steep, lost = 0.0, 0.0, (0.0, 0.0)
    else:
        columns = (waves.amplitude, waves.wavenumber, waves.direction, waves.phase, waves.observed)
        a, k, mu, phase, omega = (np.asarray(part, np.float64) for part in columns)
        resolved = 0.5 * np.square(a * k)
        variance = max(wanted - float(resolved.sum()), 0.0)
        angle = omega * t + phase
        halves = []
        missing = []
        for half in HALVES:
            step = 2.0 * half / (NODES - 1)
            held = k * SHORTEST * step < 2.0 * math.pi
            missing.append(float(resolved[~held].sum()))
            halves.append(_grid(place, step, a[held], k[held], mu[held], angle[held]))
        nodes = np.concatenate([part.reshape(3, -1) for part in halves], axis=1)
        grids = nodes + np.complex64(1j) * np.diff(nodes, axis=1, append=np.float32(0.0))
        top = 1.05 * float(np.abs(nodes[0]).max()) + 1e-3
        steep = 2.0 * math.sqrt(float(resolved.sum()))
        lost = (missing[0], missing[1])
    ripples = None if variance < 1e-5 else _ripples(variance, towards, t)
    return Surface(place, grids, top, steep, lost, ripples, variance)


def _grid(place: Array, step: float, a: Array, k: Array, mu: Array, angle: Array) -> Single:
    """(3, NODES, NODES) height and slopes: products of what depends on north and on east."""
    nodes = step * (np.arange(NODES) - 0.5 * (NODES - 1))
    kx, ky = k * np.cos(mu), k * np.sin(mu)
    along = np.exp(1j * (angle - np.outer(place[0] + nodes, kx)))
    across = np.exp(-1j * np.outer(ky, place[1] + nodes))

    def total(weight: NDArray[np.complexfloating]) -> Single:
        left = (along * weight).astype(np.complex64)
        right = across.astype(np.complex64)
        both = np.concatenate([left.real, -left.imag], axis=1)
        other = np.concatenate([right.real, right.imag])
        # By a few rows: longer products wait for threads of their own, which other pictures need.
        parts = [both[i : i + ROWS] @ other for i in range(0, NODES, ROWS)]
        return np.concatenate(parts)

    # Slopes of a cos(ωt − k·x): k a sin, the real part of −i k a exp(i …) with its sign turned.
    return np.stack([total(a + 0j), total(-1j * a * kx), total(-1j * a * ky)])


class _Tile(NamedTuple):
    """Ripples before they run."""

    k: Array
    north: Array
    east: Array
    omega: Array
    noise: NDArray[np.complex128]


@cache
def _tile() -> _Tile:
    number = np.fft.fftfreq(RIPPLES, 1.0 / RIPPLES) * (2.0 * math.pi / TILE)
    north, east = np.meshgrid(number, number, indexing="ij")
    k = np.maximum(np.hypot(north, east), 1e-9)
    random = np.random.Generator(np.random.Philox(key=1954))
    noise = random.standard_normal((2, RIPPLES, RIPPLES))
    omega = np.sqrt(GRAVITY * k + TENSION * k**3)
    return _Tile(k, north, east, omega, noise[0] + 1j * noise[1])


def _ripples(variance: float, towards: float, t: float) -> NDArray[np.complex64]:
    """(RIPPLES²,) slopes of the tile at a time, of a variance."""
    tile = _tile()
    long, short = 2.0 * math.pi / TILE, 2.0 * math.pi / 0.06
    along = (tile.north * math.cos(towards) + tile.east * math.sin(towards)) / tile.k
    # Each octave has the same slope variance: heights fall with k², and most run with the wind.
    spread = np.maximum(along, 0.0) + 0.15
    height = np.where((tile.k > 1.5 * long) & (tile.k < short), spread / tile.k**2, 0.0)
    modes = height * tile.noise * np.exp(-1j * tile.omega * t)
    # Both slopes by one transform: each of them is the real part of its own sum.
    north, east = (np.fft.fft2(1j * part * modes).real for part in (tile.north, tile.east))
    scale = math.sqrt(variance / float(np.mean(north**2 + east**2)))
    return (scale * (north + 1j * east)).astype(np.complex64).ravel()


def _between(
    values: NDArray[np.complex64], first: NDArray[np.int32], s: Single, t: Single
) -> Single:
    """Between the four nodes around places."""
    upper, lower = values.take(first), values.take(first + np.int32(NODES))
    found = upper.imag * t
    found += upper.real
    more = lower.imag * t
    more += lower.real
    more -= found
    more *= s
    found += more
    return found


def _repeated(tile: NDArray[np.complex64], a: Single, b: Single) -> NDArray[np.complex64]:
    """Between the nodes of a tile that repeats."""
    i, j = np.floor(a), np.floor(b)
    s, t = a - i, b - j
    mask = np.int32(RIPPLES - 1)
    row, column = i.astype(np.int32) & mask, j.astype(np.int32) & mask
    below, right = (row + 1) & mask, (column + 1) & mask
    first, second = row * np.int32(RIPPLES), below * np.int32(RIPPLES)
    upper = tile.take(first + column)
    upper += t * (tile.take(first + right) - upper)
    lower = tile.take(second + column)
    lower += t * (tile.take(second + right) - lower)
    return np.asarray(upper + s * (lower - upper))
