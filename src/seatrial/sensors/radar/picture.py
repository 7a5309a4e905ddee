"""A marine radar's picture of one revolution.

The radar equation (Skolnik 2008, section 1.2): an echo area σ at the range r returns the power

    P = P_t G² λ² σ b⁴ / ((4π)³ r⁴),   G = 4π / (θ_h θ_v)

with the antenna's half-power widths θ and its one-way pattern b. Echo areas are

    what stands out of the water   4 ρ cos²γ per m², met at the incidence γ: hulls, piers, buoys and
                                   coasts are rough and full of corners at this wavelength, so they
                                   scatter by Lambert's law; ρ is the share of the power that their
                                   material reflects. A sphere so has 8/3 ρ of its cross-section
    the sea                        σ⁰ by `clutter`, per m², of the waves that are there

Rays find what stands out of the water. Along each azimuth the sea is followed outwards: what lies
lower than something nearer is in its shadow, be it crest, hull or quay (the Earth is flat). A pulse
covers cτ/2 of range, the two-way pattern of the antenna blurs azimuths. The receiver's noise is
k T F / τ, and the power of each cell, echo and noise, is exponentially distributed around its mean.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.sensors.noise.streams import exponentials, stream
from seatrial.sensors.radar.clutter import SeaSurface, reflectivity, sea_state, surface_around
from seatrial.sensors.sonar.bins import Picture, lengthened, pulse_weights
from seatrial.sensors.sonar.fan import ONE_THREAD, SIDE_LOBES, TOGETHER, line_pattern
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

LIGHT = 299_792_458.0
"""m/s."""
WARMTH = 1.380649e-23 * 290.0
"""k T of a receiver at its standard temperature, W/Hz."""
QUIETEST = 1e-20
"""Least power that is told, W: levels begin at −170 dBm."""
CELLS = 1 << 15
"""Cells of a picture that are finished at once: all that is done to them stays in the cache."""
FINER = 4
"""Rays for each azimuth of the picture."""
FINEST = 2e-4
"""Between rays about the horizon, rad: a mast of a metre is met at 5 km."""


@dataclass(frozen=True)
class RadarPicture:
    """A rotating radar; its x axis is azimuth 0."""

    scene: RayScene
    reflects: Array
    """(M,) ρ by the index of the material."""
    frequency: float
    """Hz."""
    constant: float
    """P_t G² λ² / (4π)³, W m²."""
    noise: float
    """W."""
    pulse: float
    """Length of the pulse in range, cτ/2, m."""
    width: float
    """θ_h, rad."""
    height: float
    """θ_v, rad."""
    range: float
    least_range: float
    """m."""
    azimuths: int
    bins: int
    elevation: Array
    """(E,) of the rays, rad, rising."""
    period: float
    """s."""
    exact: bool

    @property
    def payload(self) -> PayloadInfo:
        """Azimuths by range."""
        return PayloadInfo("image", (self.azimuths, self.bins), "float32", "dBm")

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """The strongest echo, dBm; pictures. Nothing from an antenna in the water."""
        count = len(views.number)
        pictures = np.zeros((count, *self.payload.shape), np.float32)
        valid = views.position[:, 2] < 0.0
        for i in np.flatnonzero(valid):
            number = int(views.number[i])
            random = None if self.exact else stream(views.keys[i], number)
            ahead = rotation_matrix(views.attitude[i])[:, 0]
            bow = math.atan2(ahead[1], ahead[0])
            offset = 0.5 if random is None else random.random()
            others = None if views.others is None else views.others[i]
            power = self.mean(views.position[i], bow, number * self.period, ocean, others, offset)
            for rows in _portions(self.azimuths, self.bins):
                self._told(power[rows], random, pictures[i, rows])
        peak = pictures.reshape(count, -1).max(axis=1).astype(np.float64)
        return Expanded(np.where(valid, peak, 0.0)[:, None], valid, pictures)

    def _told(self, power: Picture, random: np.random.Generator | None, levels: Picture) -> None:
        """Fill levels, dBm, of some azimuths with a mean power, which is overwritten."""
        if random is not None:
            power += np.float32(self.noise)
            power *= exponentials(random, power.size).reshape(power.shape)
        np.maximum(power, np.full(self.bins, QUIETEST, np.float32), out=power)
        np.log10(power, out=power)
        power += np.float32(3.0)
        np.multiply(power, np.float32(10.0), out=levels)

    def mean(
        self,
        place: Array,
        bow: float,
        t: float,
        ocean: Ocean,
        others: Array | None = None,
        offset: float = 0.5,
    ) -> Picture:
        """(azimuths, bins) mean power without noise, W.

        `offset` (0 to 1) is where in its cell each ray looks: what is narrower than the rays lie
        apart is so met in its share of the sweeps.
        """
        step = 2.0 * math.pi / self.azimuths
        azimuth: Array = bow + step * np.arange(self.azimuths, dtype=np.float64)
        cell = self.range / self.bins
        middle: Array = cell * (np.arange(self.bins, dtype=np.float64) + 0.5)
        sea = surface_around(ocean.waves, place, azimuth, middle, t)
        # Tangent of the angle at which a wave is seen.
        sight = np.asarray((sea.elevation + place[2]) / middle, np.float32)
        standing = self._standing(place, bow, t, others, offset)
        hidden = _horizon(sight, standing, (self.azimuths, self.bins), cell)
        echo = self._sea(sea, sight, middle.astype(np.float32), ocean) * (sight >= hidden)
        echo *= np.float32(cell)
        seen = standing.tangent >= hidden[standing.azimuth, standing.bin(self.bins, cell)]
        # Rays stand for a share of the azimuth of the picture; the sea for the whole of it.
        standing = standing._replace(area=standing.area * seen)
        echo += standing.echoes((self.azimuths, self.bins), cell)
        blurred = self._blurred(echo)
        weights = pulse_weights(np.array([self.pulse / cell]))
        loss = self.constant / middle**2
        loss[middle < self.least_range] = 0.0
        single = loss.astype(np.float32)
        for rows in _portions(self.azimuths, self.bins):
            np.multiply(lengthened(blurred[None, rows], weights)[0], single, out=blurred[rows])
        return blurred

    def _standing(
        self, place: Array, bow: float, t: float, others: Array | None, offset: float
    ) -> "Standing":
        """What stands out of the water."""
        fine = self.azimuths * FINER
        angle = bow + 2.0 * math.pi * ((np.arange(fine) + offset) / fine - 0.5 / self.azimuths)
        level, down = np.cos(self.elevation), -np.sin(self.elevation)
        ahead = np.stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
        rays = np.empty((3, fine, len(level)), np.float32)
        np.multiply(ahead[:, :, None], level.astype(np.float32), out=rays[:2])
        rays[2] = down
        # What lies under the water is not seen: rays end where they reach its level.
        reach = np.full(len(level), self.range, np.float32)
        dips = down * self.range > -place[2]
        reach[dips] = -place[2] / down[dips]
        hits = self.scene.cast(place[None], rays.reshape(3, -1).T, t, others, np.tile(reach, fine))
        row, column = np.divmod(hits.ray, len(level))
        solid = np.gradient(self.elevation) * level
        solid = solid * line_pattern(np.sin(self.elevation), self.height) ** 2 / FINER
        area = (4.0 * self.reflects).take(hits.material)
        area *= hits.cosine
        area *= solid.take(column)
        tangent = np.tan(self.elevation).astype(np.float32).take(column)
        return Standing(row // FINER, hits.distance * level.take(column), area, tangent)

    def _sea(self, sea: SeaSurface, sight: Picture, middle: Picture, ocean: Ocean) -> Picture:
        """Echo area over the square of the range, per rad of azimuth and metre of range, of a sea
        that nothing hides."""
        wind = 0.0 if ocean.wind is None else float(ocean.wind.speed)
        cosine = 1.0 / np.sqrt(1.0 + sight * sight)
        sine = (sea.steepness - sight) * cosine / np.sqrt(1.0 + sea.steepness * sea.steepness)
        area = reflectivity(sine, sea_state(wind), self.frequency)
        area *= np.square(line_pattern(-sight * cosine, self.height))
        area /= middle
        return np.asarray(area, np.float32)

    @cached_property
    def _mixing(self) -> Picture:
        """(some, azimuths) of what neighbouring azimuths send to some of them, by the two-way
        pattern of the antenna, times the angle between them, rad."""
        step = 2.0 * math.pi / self.azimuths
        far = min(SIDE_LOBES * self.width, 0.5 * math.pi) / step
        half = min(math.ceil(far), (self.azimuths - 1) // 2)
        pattern = line_pattern(np.sin(step * np.arange(-half, half + 1)), self.width) ** 2
        found = np.zeros((TOGETHER, TOGETHER + 2 * half), np.float32)
        for i, row in enumerate(found):
            row[i : i + len(pattern)] = step * pattern
        return found

    def _blurred(self, echo: Picture) -> Picture:
        """Azimuths mixed, which go round; some at a time, as `Fan.beams` says why."""
        mixing, (azimuths, bins) = self._mixing, echo.shape
        half = (mixing.shape[1] - TOGETHER) // 2
        around = np.concatenate([echo[azimuths - half :], echo, echo[:half]])
        found = np.empty_like(echo)
        width = ONE_THREAD // mixing.size
        for first in range(0, azimuths, TOGETHER):
            some = min(TOGETHER, azimuths - first)
            for start in range(0, bins, width):
                columns = slice(start, start + width)
                np.matmul(
                    mixing[:some, : some + 2 * half],
                    around[first : first + some + 2 * half, columns],
                    out=found[first : first + some, columns],
                )
        return found


class Standing(NamedTuple):
    """What rays met above the water, P of them."""

    azimuth: NDArray[np.int64]
    """Row of the picture."""
    distance: Array
    """Over ground, m."""
    area: Array
    """Echo area over the square of the range, per rad of azimuth."""
    tangent: Picture
    """Of the elevation at which it is seen."""

    def bin(self, bins: int, cell: float) -> NDArray[np.int64]:
        """Column of the picture."""
        return np.minimum((self.distance / cell).astype(np.int64), bins - 1)

    def echoes(self, shape: tuple[int, int], cell: float) -> Picture:
        """(A, B) sums of the areas, each evenly spread over a bin's length about its place."""
        rows, bins = shape
        begin = self.distance / cell + 0.5  # a bin beyond: half of what is nearest lies before 0
        first = begin.astype(np.int64)
        behind = (begin - first) * self.area
        at = self.azimuth * (bins + 2) + first
        places = np.concatenate([at, at + 1])
        shares = np.concatenate([self.area - behind, behind])
        summed = np.bincount(places, shares, minlength=rows * (bins + 2))
        return np.asarray(summed.reshape(rows, -1)[:, 1:-1], np.float32)


def _portions(azimuths: int, bins: int) -> Iterator[slice]:
    """Rows of a picture that are finished at once, as `CELLS` says why."""
    together = max(CELLS // bins, 1)
    for first in range(0, azimuths, together):
        yield slice(first, first + together)


def _horizon(sight: Picture, standing: Standing, shape: tuple[int, int], cell: float) -> Picture:
    """(A, B) tangent of the elevation below which something nearer hides everything."""
    rows, bins = shape
    nearer = np.full((rows, bins + 1), -np.inf, np.float32)
    nearer[:, 1:] = sight
    at = standing.azimuth * (bins + 1) + standing.bin(bins, cell) + 1
    np.maximum.at(nearer.reshape(-1), at, standing.tangent)
    np.maximum.accumulate(nearer, axis=1, out=nearer)
    return nearer[:, :-1]


def elevations(height: float, count: int = 64) -> Array:
    """(E,) angles of rays over the vertical beam: close about the horizon, wide apart beside it."""
    reach = min(height, math.radians(60.0))
    most = math.asinh(reach / (FINEST * count / 2.0)) if reach > FINEST * count / 2.0 else 1.0
    # e = c sinh(k u), with the step FINEST at u = 0 and `reach` at u = 1.
    k = most
    for _ in range(50):  # the fixed point of c k (2/count) = FINEST with c = reach / sinh k
        k = math.asinh(reach * k * 2.0 / (count * FINEST))
    u = np.linspace(-1.0, 1.0, count)
    return np.asarray(reach / math.sinh(k) * np.sinh(k * u))
