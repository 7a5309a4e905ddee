"""Bottoms that are made up: depths (A, B) at places `x` north and `y` east, which broadcast.

Every function takes the depth of the level bottom, in metres, positive down, and gives what it
becomes. Angles are clockwise from north.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALLEST_SHARE = 1.0 / 3.0
"""Of the height and radius of the largest mound in those of the smallest."""


def along_across(x: Array, y: Array, towards: float) -> tuple[Array, Array]:
    """Coordinates along a direction, and to starboard of it."""
    c, s = math.cos(towards), math.sin(towards)
    return c * x + s * y, c * y - s * x


def sloped(depth: float, x: Array, y: Array, gradient: float, towards: float) -> Array:
    """A plane that has `depth` at the origin."""
    along, _ = along_across(x, y, towards)
    return depth + gradient * along


def rippled(
    depth: float, x: Array, y: Array, height: float, length: float, towards: float
) -> Array:
    """Sines with a crest through the origin."""
    along, _ = along_across(x, y, towards)
    return np.asarray(depth - 0.5 * height * np.cos(2.0 * math.pi * along / length))


def fractal(
    shape: tuple[int, int],
    spacing: float,
    relief: float,
    largest: float,
    hurst: float,
    random: np.random.Generator,
) -> Array:
    """Depths (A, B) about zero: a Gaussian field with the spectrum of real bottoms.

    Its power over the wavenumber k is proportional to (1 + (k/k₀)²)^−(H+1), with k₀ = 2π/largest
    (Goff and Jordan 1988, J. Geophys. Res. 93, 13589, isotropic): a fractal of dimension 3 − H
    below the largest hills, without trend above them. `relief` is the standard deviation of the
    ensemble. The field is drawn on twice the grid, so that opposite edges have nothing in common.
    """
    rows, columns = (2 * count for count in shape)
    k_north = 2.0 * math.pi * np.fft.fftfreq(rows, spacing)
    k_east = 2.0 * math.pi * np.fft.rfftfreq(columns, spacing)
    k0 = 2.0 * math.pi / largest
    power = (1.0 + (k_north[:, None] ** 2 + k_east[None] ** 2) / k0**2) ** -(hurst + 1.0)
    power[0, 0] = 0.0
    # A real field has the columns 1 … C/2 − 1 of its transform twice.
    twice = np.full(len(k_east), 2.0)
    twice[[0, -1]] = 1.0
    mean_power = float(np.sum(power * twice)) / (rows * columns)
    noise = np.fft.rfft2(random.standard_normal((rows, columns)))
    field = np.fft.irfft2(noise * np.sqrt(power / mean_power), s=(rows, columns))
    drawn: Array = relief * field[: shape[0], : shape[1]]
    return drawn


def canyon(
    depth: float,
    x: Array,
    y: Array,
    relief: float,
    width: float,
    towards: float,
    meander: float,
    meander_length: float,
    random: np.random.Generator,
) -> Array:
    """A valley of Gaussian section around a sine through the plain."""
    along, across = along_across(x, y, towards)
    phase = random.uniform(0.0, 2.0 * math.pi)
    axis = meander * np.sin(2.0 * math.pi * along / meander_length + phase)
    away = (across - axis) / (0.5 * width)
    return np.asarray(depth + relief * np.exp(-math.log(2.0) * away**2))


def mounds(x: Array, y: Array, places: Array, heights: Array, radii: Array) -> Array:
    """(A, B) how much mounds rise over a grid with rows `x` (A,) and columns `y` (B,).

    A mound of radius R and height h has h (1 − (r/R)²)², which ends without an edge; where mounds
    overlap the higher one stands.
    """
    rise = np.zeros((len(x), len(y)))
    for (north, east), height, radius in zip(places, heights, radii, strict=True):
        i = slice(*np.searchsorted(x, [north - radius, north + radius]))
        j = slice(*np.searchsorted(y, [east - radius, east + radius]))
        r2 = ((x[i, None] - north) ** 2 + (y[None, j] - east) ** 2) / radius**2
        rise[i, j] = np.maximum(rise[i, j], height * np.clip(1.0 - r2, 0.0, None) ** 2)
    return rise


def scattered(
    count: int,
    low: tuple[float, float],
    high: tuple[float, float],
    height: float,
    radius: float,
    random: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """Places, heights and radii of mounds within a rectangle; large ones are both high and wide."""
    places = random.uniform(low, high, (count, 2))
    size = random.uniform(SMALLEST_SHARE, 1.0, count)
    return places, height * size, radius * size


def wreck(
    x: Array, y: Array, length: float, beam: float, height: float, heading: float, scour: float
) -> Array:
    """How much the bottom rises by a wreck at the origin: a rounded hull in a trench."""
    along, across = along_across(x, y, heading)
    a, b = np.abs(along) / (0.5 * length), np.abs(across) / (0.5 * beam)
    hull = height * np.clip(1.0 - a**4, 0.0, None) * np.clip(1.0 - b**2, 0.0, None)
    edge = np.hypot(along / (0.5 * length + 0.5 * beam), across / beam)
    trench = scour * np.exp(-(((edge - 1.0) / 0.4) ** 2))
    return np.asarray(np.where(hull > 0.0, hull, -trench))


def harbour(
    x: Array,
    y: Array,
    depth: float,
    approach: float,
    basin: tuple[float, float],
    towards: float,
    entrance: float,
    wall: float,
    height: float,
) -> Array:
    """A basin around the origin, behind a wall with an opening."""
    along, across = along_across(x, y, towards)
    half_along, half_across = 0.5 * basin[0], 0.5 * basin[1]
    inside = (np.abs(along) <= half_along) & (np.abs(across) <= half_across)
    within = (np.abs(along) <= half_along + wall) & (np.abs(across) <= half_across + wall)
    opening = (along > 0.0) & (np.abs(across) <= 0.5 * entrance)
    water = np.where(within, depth, approach)
    return np.where(within & ~inside & ~opening, -height, water)


def with_coast(
    depth: Array, x: Array, y: Array, towards: float, distance: float, slope: float, height: float
) -> Array:
    """A bottom that rises to land on one side: the shallower of itself and of a beach."""
    along, _ = along_across(x, y, towards)
    beach = np.maximum((distance - along) * slope, -height)
    return np.minimum(depth, beach)
