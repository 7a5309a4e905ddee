"""What surfaces look like: colour, roughness and emissivity, by material, and the bottom by slope.

Colours are linear shares of red, green and blue light. A bottom of sand, gravel or mud lies so on
flats and gives way to rock where it is steep, between 20° and 35° (sediment rests at about 30°).

Nothing is of one even colour: brightness varies over the ground by a fractal pattern that repeats
after `TILE` metres. It stands still in the world on the bottom, and on a body in the body's own
axes, so that whoever tracks features finds some. Where a pixel is larger than its grain, the
pattern fades to its mean.

A board shows its pattern on its forward face: the mean of the cells over the pixel's footprint
there, so that corners lie where they are to a few hundredths of a pixel.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import Body
from seatrial.geometry.materials import material_column, material_index

Array = NDArray[np.float64]
Single = NDArray[np.float32]

FLAT, STEEP = math.radians(20.0), math.radians(35.0)
"""Slopes between which sediment gives way to rock, rad."""
TILE = 12.0
"""After which the pattern repeats, m."""
NODES = 512
"""Of the pattern along each side."""
CONTRAST = 0.22
"""Standard deviation of the brightness over its mean; an assumption."""
BODY_CONTRAST = 0.06
"""The same of what is built; an assumption."""
BLACK, WHITE = 0.03, 0.85
"""Albedos of the cells of a board: matt print."""


@cache
def colours() -> Single:
    """(3, M) albedo of the materials."""
    return np.ascontiguousarray(material_column("colour").T, np.float32)


def steepness(normal: NDArray[np.floating]) -> Single:
    """Share of rock on a bottom with unit normals (3, P): 0 on flats, 1 on steeps."""
    low, high = math.cos(STEEP), math.cos(FLAT)
    share = np.clip((high - np.abs(normal[2])) / (high - low), 0.0, 1.0).astype(np.float32)
    return np.asarray(share * share * (3.0 - 2.0 * share), np.float32)


def bottom_colour(
    material: int, normal: NDArray[np.floating], place: NDArray[np.floating], footprint: Single
) -> Single:
    """(3, P) albedo of the bottom at places (3, P) NED that are seen in pixels of a footprint,
    m."""
    rock = steepness(normal)
    table = colours()
    even = table[:, material, None]
    stone = table[:, material_index("rock"), None]
    colour = even + rock * (stone - even)
    # On a cliff the level pattern would be drawn out: there height counts too.
    along = place[0] + np.float32(0.7) * place[2]
    across = place[1] - np.float32(0.7) * place[2]
    return np.asarray(colour * (1.0 + CONTRAST * grain(along, across, footprint)), np.float32)


def body_colour(body: Body, material: int) -> Single:
    """(3,) albedo of a body: its own, or of what it is made of."""
    if body.colour is not None:
        return np.asarray(body.colour, np.float32)
    return colours()[:, material]


def grain(x: NDArray[np.floating], y: NDArray[np.floating], footprint: Single) -> Single:
    """(P,) brightness about 0 with the standard deviation 1, at places on a surface, m."""
    step = TILE / NODES
    fine, coarse = patterns()
    a, b = np.asarray(x / step, np.float32), np.asarray(y / step, np.float32)
    # Grain that is finer than a pixel is lost by the same share as by a box of its size.
    kept = np.float32(1.0) / (np.float32(1.0) + np.square(footprint / np.float32(4.0 * step)))
    stays = np.float32(1.0) / (np.float32(1.0) + np.square(footprint / np.float32(0.1 * TILE)))
    return np.asarray(kept * _sampled(fine, a, b) + stays * _sampled(coarse, a / 16.0, b / 16.0))


def _sampled(pattern: Single, a: Single, b: Single) -> Single:
    """Between the nodes of a pattern that repeats."""
    i, j = np.floor(a), np.floor(b)
    s, t = a - i, b - j
    side = pattern.shape[0]
    row, column = i.astype(np.int32) & (side - 1), j.astype(np.int32) & (side - 1)
    below, right = (row + 1) & (side - 1), (column + 1) & (side - 1)
    flat = pattern.ravel()
    first, second = row * side, below * side
    upper = flat.take(first + column)
    upper += t * (flat.take(first + right) - upper)
    lower = flat.take(second + column)
    lower += t * (flat.take(second + right) - lower)
    return np.asarray(upper + s * (lower - upper))


@cache
def patterns() -> tuple[Single, Single]:
    """Fine and coarse half of the pattern: noise with amplitudes that fall with the wavenumber."""
    random = np.random.Generator(np.random.Philox(key=20160))
    found = []
    for side, first, variance in ((NODES, 16.0, 0.6), (128, 1.0, 0.4)):
        k = np.hypot(*np.meshgrid(*(np.fft.fftfreq(side, 1.0 / side),) * 2))
        amplitude = np.where(k >= first, 1.0 / np.maximum(k, 1.0) ** 1.2, 0.0)
        noise = np.fft.fft2(random.standard_normal((side, side)))
        made = np.fft.ifft2(amplitude * noise).real
        found.append((math.sqrt(variance) * made / made.std()).astype(np.float32))
    return found[0], found[1]


def summed(pattern: NDArray[np.floating]) -> Array:
    """(rows + 1, columns + 1) sums of all cells before a row and a column."""
    whole = np.zeros((pattern.shape[0] + 1, pattern.shape[1] + 1))
    whole[1:, 1:] = np.cumsum(np.cumsum(pattern, axis=0), axis=1)
    return whole


def board_albedo(
    pattern: NDArray[np.floating], u: Array, v: Array, wide: Array, high: Array
) -> Array:
    """(P,) albedo of a board (rows, columns) of cells, at places u to the right and v down, from 0
    to 1 over its face, seen in pixels that are as wide and as high as stated there."""
    rows, columns = pattern.shape
    whole = summed(pattern)

    def up_to(x: Array, y: Array) -> Array:
        """Sum of the cells left of and above a place; exact, since within a cell it is bilinear."""
        a = np.clip(x * columns, 0.0, columns)
        b = np.clip(y * rows, 0.0, rows)
        j, i = np.minimum(a.astype(np.int64), columns - 1), np.minimum(b.astype(np.int64), rows - 1)
        s, t = a - j, b - i
        low = whole[i, j] + s * (whole[i, j + 1] - whole[i, j])
        high_ = whole[i + 1, j] + s * (whole[i + 1, j + 1] - whole[i + 1, j])
        return np.asarray(low + t * (high_ - low))

    left, right = np.clip(u - 0.5 * wide, 0, 1), np.clip(u + 0.5 * wide, 0, 1)
    top, bottom = np.clip(v - 0.5 * high, 0, 1), np.clip(v + 0.5 * high, 0, 1)
    inside = up_to(right, bottom) - up_to(left, bottom) - up_to(right, top) + up_to(left, top)
    area = np.maximum((right - left) * (bottom - top) * rows * columns, 1e-9)
    return np.asarray(BLACK + (WHITE - BLACK) * np.clip(inside / area, 0.0, 1.0))
