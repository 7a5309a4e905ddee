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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.sensors.noise.streams import exponentials, stream
from seatrial.sensors.radar.clutter import SeaSurface, reflectivity, sea_state, surface_around
from seatrial.sensors.sonar.bins import Picture, lengthened, spread
from seatrial.sensors.sonar.fan import line_pattern
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

LIGHT = 299_792_458.0
"""m/s."""
WARMTH = 1.380649e-23 * 290.0
"""k T of a receiver at its standard temperature, W/Hz."""
QUIETEST = 1e-20
"""Least power that is told, W: levels begin at −170 dBm."""
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
            if random is not None:
                power += np.float32(self.noise)
                power *= exponentials(random, power.size).reshape(power.shape)
            pictures[i] = 30.0 + 10.0 * np.log10(np.maximum(power, np.float32(QUIETEST)))
        peak = pictures.reshape(count, -1).max(axis=1).astype(np.float64)
        return Expanded(np.where(valid, peak, 0.0)[:, None], valid, pictures)

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
        above = -float(place[2])
        sight = (sea.elevation - above) / middle  # tangent of the angle at which a wave is seen
        standing = self._standing(place, bow, t, others, offset)
        hidden = _horizon(sight, standing, self.bins, cell)
        echo = self._sea(sea, sight, middle, hidden, above, ocean) * np.float32(cell)
        seen = standing.tangent >= hidden[standing.azimuth, standing.bin(self.bins, cell)]
        # Rays stand for a share of the azimuth of the picture; the sea for the whole of it.
        echo += spread(
            standing.azimuth[seen],
            standing.distance[seen] / cell - 0.5,
            standing.distance[seen] / cell + 0.5,
            standing.area[seen],
            (self.azimuths, self.bins),
        )
        power = lengthened(self._blurred(echo) * np.float32(step), self.pulse / cell)
        loss = self.constant / middle**2
        loss[middle < self.least_range] = 0.0
        return np.asarray(power * loss.astype(np.float32))

    def _standing(
        self, place: Array, bow: float, t: float, others: Array | None, offset: float
    ) -> "Standing":
        """What stands out of the water."""
        fine = self.azimuths * FINER
        angle = bow + 2.0 * math.pi * ((np.arange(fine) + offset) / fine - 0.5 / self.azimuths)
        a, e = np.meshgrid(angle, self.elevation, indexing="ij")
        rays = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), -np.sin(e)])
        rays = rays.reshape(3, -1).astype(np.float32)
        hits = self.scene.cast(place[None], rays.T, t, others, self.range)
        dry = np.flatnonzero(place[2] + hits.distance * rays[2, hits.ray] < 0.0)
        row, column = np.divmod(hits.ray[dry], len(self.elevation))
        solid = np.gradient(self.elevation) * np.cos(self.elevation)
        solid = solid * line_pattern(np.sin(self.elevation), self.height) ** 2 / FINER
        reflected = self.reflects[hits.material[dry]]
        flat = hits.distance[dry] * np.cos(self.elevation)[column]
        area = 4.0 * reflected * hits.cosine[dry] * solid[column]
        return Standing(row // FINER, flat, area, np.tan(self.elevation)[column])

    def _sea(
        self,
        sea: SeaSurface,
        sight: Array,
        middle: Array,
        hidden: Array,
        above: float,
        ocean: Ocean,
    ) -> Picture:
        """Echo area over the square of the range, per rad of azimuth and metre of range."""
        wind = 0.0 if ocean.wind is None else float(ocean.wind.speed)
        depression = np.hypot(middle, above - sea.elevation)
        cosine = middle / depression
        sine = (sea.steepness - sight) * cosine / np.sqrt(1.0 + sea.steepness**2)
        area = reflectivity(sine, sea_state(wind), self.frequency)
        area *= line_pattern(-sight * cosine, self.height) ** 2
        area[sight < hidden] = 0.0
        return np.asarray(area / middle, np.float32)

    def _blurred(self, echo: Picture) -> Picture:
        """Azimuths mixed by the two-way pattern of the antenna, which goes round."""
        angle = 2.0 * math.pi * np.arange(self.azimuths) / self.azimuths
        facing = np.cos(angle) > 0.0
        pattern = np.where(facing, line_pattern(np.sin(angle), self.width) ** 2, 0.0)
        mixed = np.fft.irfft(
            np.fft.rfft(pattern)[:, None] * np.fft.rfft(echo, axis=0), self.azimuths, axis=0
        )
        return np.maximum(mixed, 0.0).astype(np.float32)


@dataclass(frozen=True)
class Standing:
    """What rays met above the water, P of them."""

    azimuth: NDArray[np.int64]
    """Row of the picture."""
    distance: Array
    """Over ground, m."""
    area: Array
    """Echo area over the square of the range, per rad of azimuth."""
    tangent: Array
    """Of the elevation at which it is seen."""

    def bin(self, bins: int, cell: float) -> NDArray[np.int64]:
        """Column of the picture."""
        return np.minimum((self.distance / cell).astype(np.int64), bins - 1)


def _horizon(sight: Array, standing: Standing, bins: int, cell: float) -> Array:
    """(A, B) tangent of the elevation below which something nearer hides everything."""
    highest = sight.copy()
    np.maximum.at(highest, (standing.azimuth, standing.bin(bins, cell)), standing.tangent)
    np.maximum.accumulate(highest, axis=1, out=highest)
    nearer = np.full_like(highest, -np.inf)
    nearer[:, 1:] = highest[:, :-1]
    return nearer


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
