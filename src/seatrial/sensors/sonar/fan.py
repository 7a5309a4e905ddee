"""Fans of rays, and the beams that a line of elements forms of what they bring back.

A fan looks along its own x axis. Its rays are cells of a raster in azimuth a (towards y) and
elevation e (towards −z), along d = (cos e cos a, cos e sin a, −sin e), each of the solid angle
cos e Δa Δe. A line of elements whose drive falls off towards its ends as a cosine has the pattern

    b(ψ) = (cos πu / (1 − 4u²))²,  u = u₁ sin ψ / sin(w/2)                    (Harris 1978, table 1)

with half of its power at w/2, where u = u₁; its side lobes lie 23 dB and more below.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.float32]

HALF_POWER = 0.5944823904664724
"""u₁."""


SIDE_LOBES = 12.0
"""Widths of a beam up to which its side lobes hear; beyond they are 57 dB down."""
TOGETHER = 16
"""Beams that are formed at a time."""
ONE_THREAD = 1 << 18
"""Multiplications of a matrix product up to which OpenBLAS does without threads. Sensors are
expanded on all cores already: with threads of its own it spends thirty times the time waiting."""


def turned(vectors: Picture, rotation: Array) -> Picture:
    """(3, R) vectors after a rotation (3, 3), without threads, as `ONE_THREAD` says why."""
    x, y, z = vectors
    return np.stack([a * x + b * y + c * z for a, b, c in rotation.astype(np.float32)])


def line_pattern(sine: Array, width: float) -> Array:
    """b at the sine of the angle from the axis, for the half-power width, rad."""
    u = HALF_POWER / math.sin(0.5 * width) * sine
    gap = 1.0 - 4.0 * u**2
    near = np.abs(gap) < 1e-9
    ratio = np.where(near, 0.25 * math.pi, np.cos(math.pi * u) / np.where(near, 1.0, gap))
    return np.asarray(ratio**2)


@dataclass(frozen=True)
class Fan:
    """Rays of one transducer, in its own axes."""

    shape: tuple[int, int]
    """A azimuths and E elevations; rays are numbered azimuth by azimuth."""
    directions: Picture
    """(3, A E) unit vectors."""
    upwards: Picture
    """(3, A E) unit vectors in which a direction moves as its elevation grows."""
    sent: Array
    """(E,) one-way pattern over elevation."""
    cell: Array
    """(E,) cos e Δe, rad."""
    half_step: float
    """Half of Δe, rad."""
    height: float
    """Half-power width of the pattern over elevation, rad."""
    receive: Picture
    """(beams, A) of the power that each azimuth sends to each beam, times Δa, rad."""

    def beams(self, azimuths: Picture) -> Picture:
        """(beams, bins) of what comes from the azimuths (A, bins).

        A beam hears little of the whole fan, so that some neighbouring beams are formed at a time,
        and so few bins that the product stays in one thread.
        """
        bins = azimuths.shape[1]
        found = np.empty((len(self.receive), bins), np.float32)
        for first in range(0, len(found), TOGETHER):
            part = self.receive[first : first + TOGETHER]
            heard = np.flatnonzero(part.any(axis=0))
            some = slice(heard[0], heard[-1] + 1)
            part = np.ascontiguousarray(part[:, some])
            width = max(ONE_THREAD // part.size, 1)
            for start in range(0, bins, width):
                columns = slice(start, start + width)
                found[first : first + TOGETHER, columns] = part @ azimuths[some, columns]
        return found

    def heard(self, sine: Array) -> Array:
        """One-way pattern at the sine of the elevation."""
        return line_pattern(sine, self.height)


def fan(
    bearings: Array,
    width: float,
    height: float,
    elevations: int,
    two_way: bool,
) -> Fan:
    """A fan with beams at some bearings (beams,), of half-power `width` and `height`, rad.

    Rays reach as far as the pattern over elevation is worth: to the full width on either side,
    30 dB down there and back. `two_way` says that the narrow pattern is sent with as well; else all
    azimuths are lit alike.
    """
    beams = len(bearings)
    spacing = (bearings[-1] - bearings[0]) / (beams - 1) if beams > 1 else width
    step = min(spacing, width / 3.0)
    reach = 0.5 * (bearings[-1] - bearings[0]) + 1.5 * width
    count = 2 * math.ceil(reach / step) + 1
    middle = 0.5 * (bearings[-1] + bearings[0])
    azimuth = middle + step * (np.arange(count) - 0.5 * (count - 1))
    top = min(height, math.radians(89.0))
    rise = 2.0 * top / elevations
    elevation = -top + rise * (np.arange(elevations) + 0.5)
    a, e = (angle.ravel() for angle in np.meshgrid(azimuth, elevation, indexing="ij"))
    directions = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), -np.sin(e)])
    upwards = np.stack([-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), -np.cos(e)])
    away = azimuth - bearings[:, None]
    narrow = line_pattern(np.sin(away), width)
    narrow[np.abs(away) > min(SIDE_LOBES * width, 0.5 * math.pi)] = 0.0
    return Fan(
        shape=(count, elevations),
        directions=directions.astype(np.float32),
        upwards=upwards.astype(np.float32),
        sent=line_pattern(np.sin(elevation), height),
        cell=np.cos(elevation) * rise,
        half_step=0.5 * rise,
        height=height,
        receive=(step * (narrow**2 if two_way else narrow)).astype(np.float32),
    )
