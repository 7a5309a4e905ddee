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

The antenna turns while the vessel goes on: with her velocity v and her rate of turn ω at the end of
a revolution, an azimuth that it looked along τ earlier was seen from p − v τ with the attitude
q ⊗ exp(−ω τ), and whatever moves where it then was. Azimuths count from the bow as it then was. The
first azimuth of a revolution has the last as its neighbour, as if both were of one time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial import programs
from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.rotating import turns
from seatrial.sensors.noise.streams import coarse, stream
from seatrial.sensors.radar.clutter import SeaSurface, reflectivity, sea_state, surface_around
from seatrial.sensors.sonar.bins import (
    DECIBELS,
    Hearing,
    Picture,
    levels_of,
    power_of,
    pulse_weights,
)
from seatrial.sensors.sonar.fan import SIDE_LOBES, line_pattern
from seatrial.sensors.sonar.mixing import Mixing
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

LIGHT = 299_792_458.0
"""m/s."""
WARMTH = 1.380649e-23 * 290.0
"""k T of a receiver at its standard temperature, W/Hz."""
QUIETEST = 1e-20
"""Least power that is told, W: levels begin at −170 dBm."""
MILLIWATTS = 1e3
"""In a watt."""
CELLS = 1 << 16
"""Cells of a picture that are summed up at once: what is done to them stays in the cache."""
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
    late: Array | None
    """(A,) when the antenna looks along each azimuth, from the end of the revolution on, s; None
    for a picture of one instant."""
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
        for i in np.flatnonzero(valid).tolist():
            random = None if self.exact else stream(views.keys[i], int(views.number[i]))
            offset = 0.5 if random is None else random.random()
            revolution = self._revolution(views, i, offset)
            heard = self._blurred(self._echoes(revolution, ocean))
            drawn = None if random is None else coarse([random], heard.size)
            chance = None if drawn is None else drawn.levels.reshape(heard.shape)
            pictures[i] = programs.call_often(levels_of, heard, self._hearing, chance)
            if drawn is not None:
                pictures[i].reshape(-1)[drawn.places] += DECIBELS * np.log(drawn.factors)
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
        """(azimuths, bins) mean power without noise, W, of an instant."""
        azimuth = bow + self._azimuths
        revolution = Revolution(place[None], azimuth, np.array([t]), others, offset)
        heard = self._blurred(self._echoes(revolution, ocean))
        power: Picture = np.asarray(programs.call_often(power_of, heard, self._hearing))
        return power / np.float32(MILLIWATTS)

    def _revolution(self, views: Views, i: int, offset: float) -> "Revolution":
        t = float(views.number[i]) * self.period
        others = None if views.others is None else views.others[i]
        turned, place = rotation_matrix(views.attitude[i]), views.position[i]
        if self.late is None or views.velocity is None or views.turn is None:
            bow = math.atan2(turned[1, 0], turned[0, 0])
            return Revolution(place[None], bow + self._azimuths, np.array([t]), others, offset)
        ahead = (turned @ turns(views.turn[i], self.late))[:, :, 0]
        azimuth = np.arctan2(ahead[:, 1], ahead[:, 0]) + self._azimuths
        places = place + np.outer(self.late, views.velocity[i])
        return Revolution(places, azimuth, t + self.late, others, offset)

    @property
    def _azimuths(self) -> Array:
        """(A,) from the bow, rad."""
        return np.linspace(0.0, 2.0 * math.pi, self.azimuths, endpoint=False)

    @cached_property
    def _hearing(self) -> Hearing:
        cell, middle = self.range / self.bins, self._middle
        loss = MILLIWATTS * self.constant / middle**2
        loss[middle < self.least_range] = 0.0
        return Hearing(
            weights=pulse_weights(np.array([self.pulse / cell]), self.pulse / cell).astype(
                np.float32
            ),
            loss=loss.astype(np.float32)[None],
            noise=np.float32(MILLIWATTS * self.noise),
            quietest=np.float32(MILLIWATTS * QUIETEST),
        )

    @cached_property
    def _middle(self) -> Array:
        """(B,) of the bins, m."""
        return np.asarray(self.range / self.bins * (np.arange(self.bins) + 0.5), np.float64)

    def _echoes(self, revolution: "Revolution", ocean: Ocean) -> Picture:
        """(A, B) echo areas over the square of the range, per rad of azimuth."""
        sea = surface_around(
            ocean.waves, revolution.place, revolution.azimuth, self._middle, revolution.t
        )
        # Tangent of the angle at which a wave is seen; a calm looks alike all round.
        height = revolution.place[:, 2:] if len(sea.elevation) > 1 else revolution.place[-1:, 2:]
        above = sea.elevation + height
        sight = np.asarray(above / self._middle, np.float32)
        standing = self._standing(revolution)
        bright = self._sea(sea, sight, ocean)
        bright *= np.float32(self.range / self.bins)
        echo = np.empty((self.azimuths, self.bins), np.float32)
        for rows in _portions(*echo.shape):
            part = echo[rows]
            low, light = (whole if len(whole) == 1 else whole[rows] for whole in (sight, bright))
            some = standing.between(rows.start, rows.start + len(part))
            hidden = _horizon(low, some, part.shape)
            # What is hidden sends nothing.
            seen = some.tangent >= hidden.reshape(-1).take(some.at(self.bins))
            some._replace(area=some.area * seen).fill(part)
            part += light * (low >= hidden)
        return echo

    def _standing(self, revolution: "Revolution") -> "Standing":
        """What stands out of the water."""
        fine = self.azimuths * FINER
        share = ((np.arange(FINER) + revolution.offset) / FINER - 0.5) / self.azimuths
        angle = (revolution.azimuth[:, None] + 2.0 * math.pi * share).reshape(-1)
        level, down = np.cos(self.elevation), -np.sin(self.elevation)
        ahead = np.stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
        rays = np.empty((3, fine, len(level)), np.float32)
        np.multiply(ahead[:, :, None], level.astype(np.float32), out=rays[:2])
        rays[2] = down
        # What lies under the water is not seen: rays end where they reach its level.
        height = -revolution.place[:, 2:]
        falls = np.maximum(down, np.finfo(np.float32).tiny)
        reach = np.minimum(height / falls, self.range).astype(np.float32)
        hits = self.scene.cast(
            revolution.place,
            rays.reshape(3, -1).T,
            revolution.t,
            revolution.others,
            np.repeat(reach, fine // len(reach), axis=0).reshape(-1),
        )
        row = hits.ray // len(level)
        column = hits.ray - len(level) * row
        # Rays stand for a share of the azimuth of the picture; the sea for the whole of it.
        solid = np.gradient(self.elevation) * level / FINER
        solid *= 4.0 * line_pattern(np.sin(self.elevation), self.height) ** 2
        area = self.reflects.astype(np.float32).take(hits.material)
        area *= hits.cosine
        area *= solid.astype(np.float32).take(column)
        place = (level * self.bins / self.range).astype(np.float32).take(column)
        place *= hits.distance
        tangent = np.tan(self.elevation).astype(np.float32).take(column)
        return Standing(row // FINER, place, area, tangent)

    def _sea(self, sea: SeaSurface, sight: Picture, ocean: Ocean) -> Picture:
        """Echo area over the square of the range, per rad of azimuth and metre of range, of a sea
        that nothing hides."""
        wind = 0.0 if ocean.wind is None else float(ocean.wind.speed)
        cosine = 1.0 / np.sqrt(1.0 + sight * sight)
        sine = (sea.steepness - sight) * cosine / np.sqrt(1.0 + sea.steepness * sea.steepness)
        area = reflectivity(sine, sea_state(wind), self.frequency)
        area *= np.square(line_pattern(-sight * cosine, self.height))
        area /= self._middle.astype(np.float32)
        return np.asarray(area, np.float32)

    @cached_property
    def _mixing(self) -> Mixing:
        """What neighbouring azimuths send to each, by the two-way pattern of the antenna, times the
        angle between them, rad."""
        step = 2.0 * math.pi / self.azimuths
        far = min(SIDE_LOBES * self.width, 0.5 * math.pi) / step
        half = min(math.ceil(far), (self.azimuths - 1) // 2)
        pattern = line_pattern(np.sin(step * np.arange(-half, half + 1)), self.width) ** 2
        return Mixing((step * pattern).astype(np.float32), 1, self.azimuths)

    def _blurred(self, echo: Picture) -> Picture:
        """Azimuths mixed, which go round."""
        mixing, (azimuths, bins) = self._mixing, echo.shape
        half = len(mixing.pattern) // 2
        around = np.zeros((mixing.needed, bins), np.float32)
        around[:half], around[half : half + azimuths] = echo[azimuths - half :], echo
        around[half + azimuths :][:half] = echo[:half]
        return mixing.of(around)


class Revolution(NamedTuple):
    """From where and when a picture is taken."""

    place: Array
    """(A, 3) of the antenna as it looks along each azimuth, NED; (1, 3) where it is one place."""
    azimuth: Array
    """(A,) directions in the world, rad."""
    t: Array
    """(A,) or (1,) when, s."""
    others: Array | None
    """Poses of other vehicles, as `RayScene.cast` takes them."""
    offset: float
    """Where in its cell each ray looks, from 0 to 1: what is narrower than the rays lie apart is so
    met in its share of the revolutions."""


class Standing(NamedTuple):
    """What rays met above the water, P of them."""

    azimuth: NDArray[np.int64]
    """Row of the picture."""
    place: Picture
    """Over ground, in bins."""
    area: Picture
    """Echo area over the square of the range, per rad of azimuth."""
    tangent: Picture
    """Of the elevation at which it is seen."""

    def at(self, bins: int) -> NDArray[np.int64]:
        """Cells of the picture."""
        return self.azimuth * bins + np.minimum(self.place, np.float32(bins - 1)).astype(np.int64)

    def between(self, first: int, end: int) -> "Standing":
        """What is at some azimuths, of which the first is then 0."""
        some = slice(*np.searchsorted(self.azimuth, (first, end)))
        return Standing(self.azimuth[some] - first, *(part[some] for part in self[1:]))

    def fill(self, picture: Picture) -> None:
        """Fill a picture with the sums of the areas, each evenly spread over a bin's length about
        its place."""
        rows, bins = picture.shape
        wide = bins + 1  # half of what is nearest lies before the first bin
        begin = self.place + np.float32(0.5)
        first = np.floor(begin)
        behind = (begin - first) * self.area
        at = self.azimuth * wide + first.astype(np.int64)
        near, far = (
            np.bincount(at, part, rows * wide).reshape(rows, wide)
            for part in (self.area - behind, behind)
        )
        picture[...] = near[:, 1:] + far[:, :-1]


def _portions(azimuths: int, bins: int) -> Iterator[slice]:
    """Rows of a picture that are finished at once, as `CELLS` says why."""
    together = max(CELLS // bins, 1)
    for first in range(0, azimuths, together):
        yield slice(first, first + together)


def _horizon(sight: Picture, standing: Standing, shape: tuple[int, int]) -> Picture:
    """(A, B) tangent of the elevation below which something nearer hides everything."""
    rows, bins = shape
    behind = np.empty(rows * bins + 1, np.float32)
    hidden = behind[:-1].reshape(shape)
    hidden[:, 1:] = sight[:, :-1]
    np.maximum.at(behind, standing.at(bins) + 1, standing.tangent)
    hidden[:, 0] = -np.inf  # what stands in the last bin hides nothing
    # There is nothing that is not a number, of which `maximum` would take care.
    return np.fmax.accumulate(hidden, axis=1, out=hidden)


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
