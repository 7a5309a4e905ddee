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

from seatrial.sensors.sonar.mixing import Mixing, Picture

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

HALF_POWER = 0.5944823904664724
"""u₁."""


ROUNDING = 1e-9
"""Of a ratio that may be a whole number."""
SIDE_LOBES = 12.0
"""Widths of a beam up to which its side lobes hear; beyond they are 57 dB down."""


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
    hearing: Mixing
    """How well beams hear azimuths, times Δa, rad."""
    first: int
    """Azimuth that is the first that the first beam hears; there may be none so far out."""

    @property
    def beams(self) -> int:
        """How many it forms."""
        return self.hearing.rows

    @property
    def single(self) -> bool:
        """Whether it has one beam, in which all rays end up in the same bins."""
        return self.beams == 1

    @cached_property
    def cells(self) -> Cells:
        """Of the rays of a row: an azimuth, or of a single beam all of them."""
        lit = self.cell * self.sent
        turn = (math.sin(self.half_step) / self.cosine).astype(np.float32)
        row = [part[None] for part in (lit, lit * self.sent, turn, turn * self.sine)]
        if self.single:
            heard = np.arange(self.shape[0]) - self.first
            over = self.hearing.pattern.take(heard, mode="clip")[:, None]
            over[(heard < 0) | (heard >= len(self.hearing.pattern))] = 0.0
            row = [
                over * row[0],
                over * row[1],
                *(np.tile(part, (len(over), 1)) for part in row[2:]),
            ]
        return Cells(*(part.reshape(-1) for part in row))

    def directions(self, rotation: Array) -> Picture:
        """(3, K, A, E) of its rays in the world, for rotations (K, 3, 3) from its axes."""
        ahead = (rotation @ self.ahead).astype(np.float32)
        down = rotation[:, :, 2].astype(np.float32)
        found = np.empty((3, *ahead[:, 0].shape, len(self.cosine)), np.float32)
        for c, side in enumerate(found):
            np.multiply(ahead[:, c, :, None], self.cosine, out=side)
            side -= (down[:, c, None] * self.sine)[:, None]
        return found

    def formed(self, azimuths: NDArray[np.int64]) -> Picture:
        """(beams, bins) of what azimuths (A, bins) bring back."""
        before, after = max(-self.first, 0), max(self.first, 0)
        count, bins = azimuths.shape
        end = before + count
        around = np.empty((max(end, after + self.hearing.needed), bins), np.float32)
        around[:before] = 0.0
        around[before:end] = azimuths
        around[end:] = 0.0
        return self.hearing.of(around[after:])

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
    azimuths are lit alike. Between two beams there are so many azimuths that a beam's width has at
    least three.
    """
    beams = len(bearings)
    spacing = (bearings[-1] - bearings[0]) / (beams - 1) if beams > 1 else width
    stride = math.ceil(3.0 * spacing / width - ROUNDING)
    step = spacing / stride
    reach = 0.5 * (bearings[-1] - bearings[0]) + 1.5 * width
    count = 2 * math.ceil(reach / step) + 1
    middle = 0.5 * (bearings[-1] + bearings[0])
    azimuth = middle + step * (np.arange(count) - 0.5 * (count - 1))
    top = min(height, math.radians(89.0))
    rise = 2.0 * top / elevations
    elevation = -top + rise * (np.arange(elevations) + 0.5)
    # Azimuths that a beam hears, counted from the one or the gap that it looks at.
    far = min(SIDE_LOBES * width, 0.5 * math.pi) / step
    centre = 0.5 * (count - 1) - 0.5 * stride * (beams - 1)
    heard = np.arange(math.ceil(centre - far), math.floor(centre + far) + 1)
    narrow = line_pattern(np.sin(step * (heard - centre)), width)
    heard_as = (step * (narrow**2 if two_way else narrow)).astype(np.float32)
    return Fan(
        shape=(count, elevations),
        ahead=np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(count)]),
        cosine=np.cos(elevation).astype(np.float32),
        sine=np.sin(elevation).astype(np.float32),
        sent=line_pattern(np.sin(elevation), height).astype(np.float32),
        cell=(np.cos(elevation) * rise).astype(np.float32),
        half_step=0.5 * rise,
        height=height,
        hearing=Mixing(heard_as, stride, beams),
        first=int(heard[0]),
    )
