"""Fans of rays, and the beams that a line of elements forms of what they bring back.

A fan looks along its own x axis. Its rays are cells of a raster in azimuth a (towards y) and
elevation e (towards −z), along d = cos e h − sin e z with h = (cos a, sin a, 0), each of the solid
angle cos e Δa Δe. A line of elements whose drive falls off towards its ends as a cosine has the
pattern

    b(ψ) = (cos πu / (1 − 4u²))²,  u = u₁ sin ψ / sin(w/2)                    (Harris 1978, table 1)

with half of its power at w/2, where u = u₁; its side lobes lie 23 dB and more below.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.float32]
Floats = NDArray[np.floating[Any]]

HALF_POWER = 0.5944823904664724
"""u₁."""


SIDE_LOBES = 12.0
"""Widths of a beam up to which its side lobes hear; beyond they are 57 dB down."""
TOGETHER = 8
"""Beams that are formed at a time."""
ALL = slice(None)
ONE_THREAD = 1 << 18
"""Multiplications of a matrix product up to which OpenBLAS does without threads. Sensors are
expanded on all cores already: with threads of its own it spends thirty times the time waiting."""


def line_pattern(sine: Floats, width: float) -> Floats:
    """b at the sine of the angle from the axis, for the half-power width, rad; in the precision of
    the sine."""
    u = sine * (HALF_POWER / math.sin(0.5 * width))
    gap = 1.0 - 4.0 * u * u
    # Both are 0 together at u = 1/2, where cos πu / (1 − 4u²) is π/4.
    near = np.abs(gap) < 8.0 * np.finfo(u.dtype).eps
    u *= math.pi
    ratio = np.cos(u, out=u)
    ratio /= np.where(near, 1.0, gap)
    ratio[near] = 0.25 * math.pi
    return np.asarray(np.square(ratio, out=ratio))


class Cells(NamedTuple):
    """What is known beforehand of the rays of a row, which end up in the same bins."""

    lit: Picture
    """Solid angle of each, rad², times the pattern that it is sent with; of a single beam, times
    those over azimuth."""
    heard: Picture
    """The same, times the pattern over elevation that it is heard with when it comes back that way.
    """
    turn: Picture
    """sin(Δe/2) / cos e."""
    tilt: Picture
    """sin(Δe/2) tan e."""


def mix(part: Picture, rows: Picture, out: Picture) -> None:
    """The product of two matrices, of so few bins at a time that it stays in one thread."""
    bins = out.shape[1]
    pieces = -(-part.size * bins // ONE_THREAD)
    width = bins // pieces
    even = pieces * width
    cut, mixed = (
        whole[:, :even].reshape(-1, pieces, width).transpose(1, 0, 2) for whole in (rows, out)
    )
    np.matmul(part, cut, out=mixed)
    if even < bins:
        np.matmul(part, rows[:, even:], out=out[:, even:])


@dataclass(frozen=True)
class Fan:
    """Rays of one transducer, in its own axes."""

    shape: tuple[int, int]
    """A azimuths and E elevations; rays are numbered azimuth by azimuth."""
    ahead: Array
    """(3, A) h."""
    cosine: Picture
    """(E,) cos e."""
    sine: Picture
    """(E,) sin e."""
    sent: Picture
    """(E,) one-way pattern over elevation."""
    cell: Picture
    """(E,) cos e Δe, rad."""
    half_step: float
    """Half of Δe, rad."""
    height: float
    """Half-power width of the pattern over elevation, rad."""
    receive: Picture
    """(beams, A) of the power that each azimuth sends to each beam, times Δa, rad."""

    @property
    def single(self) -> bool:
        """Whether it has one beam, in which all rays end up in the same bins."""
        return len(self.receive) == 1

    @cached_property
    def cells(self) -> Cells:
        """Of the rays of a row: an azimuth, or of a single beam all of them."""
        lit = self.cell * self.sent
        turn = (math.sin(self.half_step) / self.cosine).astype(np.float32)
        row = [part[None] for part in (lit, lit * self.sent, turn, turn * self.sine)]
        if self.single:
            over = self.receive[0][:, None]
            row = [
                over * row[0],
                over * row[1],
                *(np.tile(part, (len(over), 1)) for part in row[2:]),
            ]
        return Cells(*(part.reshape(-1) for part in row))

    def directions(self, rotation: Array, azimuths: slice = ALL) -> Picture:
        """(3, K, A, E) of its rays in the world, at all or some azimuths, for rotations (K, 3, 3)
        from its axes."""
        ahead = (rotation @ self.ahead[:, azimuths]).astype(np.float32)
        down = rotation[:, :, 2].astype(np.float32)
        found = np.empty((3, *ahead[:, 0].shape, len(self.cosine)), np.float32)
        for c, side in enumerate(found):
            np.multiply(ahead[:, c, :, None], self.cosine, out=side)
            side -= (down[:, c, None] * self.sine)[:, None]
        return found

    @cached_property
    def _parts(self) -> list[tuple[slice, Picture]]:
        """Of `TOGETHER` neighbouring beams each: the azimuths that they hear, and how well."""
        found = []
        for first in range(0, len(self.receive), TOGETHER):
            part = self.receive[first : first + TOGETHER]
            heard = np.flatnonzero(part.any(axis=0))
            some = slice(int(heard[0]), int(heard[-1]) + 1)
            found.append((some, np.ascontiguousarray(part[:, some])))
        return found

    def heard_by(self, first: int, count: int) -> int:
        """How many azimuths have to be there to form beams up to `first` + `count`."""
        some, _ = self._parts[(min(first + count, len(self.receive)) - 1) // TOGETHER]
        return int(some.stop)

    def beams(self, azimuths: Picture, first: int, count: int) -> Picture:
        """(≤ count, bins) beams of what comes from the azimuths (A, bins); both are multiples of
        `TOGETHER`.

        A beam hears little of the whole fan, so that some neighbouring beams are formed at a time.
        """
        found = np.empty((min(count, len(self.receive) - first), azimuths.shape[1]), np.float32)
        parts = self._parts[first // TOGETHER : (first + count) // TOGETHER]
        for (some, part), rows in zip(parts, range(0, len(found), TOGETHER), strict=True):
            mix(part, azimuths[some], found[rows : rows + TOGETHER])
        return found

    def heard(self, sine: Picture) -> Floats:
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
    away = azimuth - bearings[:, None]
    narrow = line_pattern(np.sin(away), width)
    narrow[np.abs(away) > min(SIDE_LOBES * width, 0.5 * math.pi)] = 0.0
    return Fan(
        shape=(count, elevations),
        ahead=np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(count)]),
        cosine=np.cos(elevation).astype(np.float32),
        sine=np.sin(elevation).astype(np.float32),
        sent=line_pattern(np.sin(elevation), height).astype(np.float32),
        cell=(np.cos(elevation) * rise).astype(np.float32),
        half_step=0.5 * rise,
        height=height,
        receive=(step * (narrow**2 if two_way else narrow)).astype(np.float32),
    )
