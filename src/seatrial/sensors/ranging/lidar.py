"""LiDAR: ranges and intensities of a sweep of beams.

A surface of reflectance ρ that scatters by Lambert's law, met at the incidence θ in the distance r,
sends back

    S = ρ cos θ exp(−2 α r) / r²

of what a white surface square to the beam would at 1 m (Wagner et al. 2006, ISPRS J. 60(2)), with
the extinction α of fog and rain. It is seen if S exceeds what a surface of the reference
reflectance sends from the reference range; near that threshold by chance, evenly, with a standard
deviation of a tenth of it (an assumption).

Water reflects as facets of the waves do in the limit of short waves: with θ the incidence on the
wave that the ray meets, R = 0.02 of light at normal incidence and s² the mean square slope of the
ripples on it,

    ρ cos θ = R exp(−tan²θ / s²) / (4 s² cos⁵θ)

(σ⁰ of Bufton, Hoge and Swift 1983, Applied Optics 22(17), as reflectance). s² = 0.003 + 0.00512 U
(Cox and Munk 1954) at the wind speed U, all of it although the longest of these waves are those
that the ray meets already.

Drops send light back too: a pulse of length L lights up β L with β = α / 20 sr, which looks like a
surface of ρ = π β L. The receiver begins to see the beam within the first metres, which makes up
for 1/r² there: the strongest drops lie anywhere in them, as strong as at their end, times an
exponentially distributed number. They are told in place of the surface where they are the stronger
of both. All of this about drops is a rounded assumption; it gives false returns in fog of some
hundred metres, and hardly any in haze.

A beam of divergence δ (1/e²) is a Gaussian of standard deviation δ/4 across; a pulse comes back
from one place in it, drawn for every beam, evenly from a square of the same standard deviation. So
edges fray and ranges on slanted surfaces spread as they do, at the cost of one ray.

During a sweep the sensor moves on: with its velocity v and its rate of turn ω at the end, a ray
that left τ earlier began at p − v τ with the attitude q ⊗ exp(−ω τ). The cloud is in the sensor's
axes as they were when each ray left.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.render.air import LIDAR_RATIO
from seatrial.render.rotating import turn, turns
from seatrial.render.sea import sea_at
from seatrial.sensors.noise.streams import exponentials, normals, stream, uniforms
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

FIELDS = ("x", "y", "z", "intensity", "ring", "time")
THRESHOLD_SPREAD = 0.1
"""Standard deviation of the signal over the threshold."""
PULSE = 0.75
"""Length L that a pulse of 5 ns lights up, m; an assumption."""
OVERLAP = 10.0
"""Range from which on the receiver sees the whole beam, m; an assumption."""
FRESNEL = 0.02
"""R of water at normal incidence."""
FADED = 20.0
"""tan²θ / s² beyond which water returns nothing: 2e-9 of what it returns straight below."""


@dataclass(frozen=True)
class Errors:
    """What is not ideal about a LiDAR."""

    noise: float
    """Standard deviation of a range, m."""
    intensity_noise: float
    """Standard deviation of an intensity over itself."""
    dropout: float
    """Share of returns that are lost."""
    faintest: float
    """Least S that is seen, 1/m²."""
    extinction: float
    """α, 1/m."""
    ripples: float
    """s²."""
    divergence: float
    """δ, rad."""
    resolution: float
    """m; 0 for none."""


@dataclass(frozen=True)
class Lidar:
    """A LiDAR: the half that lives outside the compiled loop."""

    rays: RayScene
    reflectance: Array
    """(M,) of the materials."""
    directions: NDArray[np.float32]
    """(3, C, B) of the columns and their beams, sensor's axes, unit."""
    azimuth: Array
    """(C,) rad."""
    elevation: Array
    """(B,) rad."""
    late: Array | None
    """(C,) when each column leaves, from the end of the sweep on, s; None for a snapshot."""
    period: float
    """From sample to sample, s."""
    minimum_range: float
    range: float
    errors: Errors | None

    @property
    def payload(self) -> PayloadInfo:
        """A cloud, or of one beam a scan."""
        _, columns, beams = self.directions.shape
        if beams == 1:
            return PayloadInfo("scan", (2, columns), "float32", "m", ("range", "intensity"))
        return PayloadInfo("cloud", (columns * beams, len(FIELDS)), "float32", "m", FIELDS)

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Sweeps."""
        count = len(views.number)
        payload = np.empty((count, *self.payload.shape), np.float32)
        values = np.empty((count, 2))
        for i in range(count):
            random = stream(views.keys[i], int(views.number[i]))
            told = self._heard(self._lit(views, i, ocean, random), random)
            nearest = np.min(told.distance, initial=self.range)
            values[i] = nearest, len(told.ray) / self.directions[0].size
            self._fill(payload[i], told)
        return Expanded(values, np.ones(count, np.bool_), payload)

    def _lit(self, views: Views, i: int, ocean: Ocean, random: np.random.Generator) -> "Returns":
        """What the beams of a sweep meet, and how much of their light that scatters back."""
        t = float(views.number[i]) * self.period
        local = self.directions
        if self.errors is not None and self.errors.divergence > 0.0:
            local = self._spread(self.errors.divergence, random)
        origins, directions = self._rays(views, i, local)
        when = t if self.late is None else t + self.late
        others = None if views.others is None else views.others[i]
        # What lies under the water is not seen: rays are followed no farther than to the surface.
        reach = np.full(len(directions), self.range, np.float32)
        sea = sea_at(ocean, views.position[i, :2], t, self.range)
        water = sea.crossing(origins, directions, self.range)
        reach[water.ray] = water.distance
        hits = self.rays.cast(origins, directions, when, others, reach)
        distance = np.full(len(directions), np.inf, np.float32)
        signal = np.zeros(len(directions), np.float32)
        if self.errors is not None:
            distance[water.ray] = water.distance
            signal[water.ray] = glint(water.cosine, self.errors.ripples)
        distance[hits.ray] = hits.distance
        signal[hits.ray] = hits.cosine * self.reflectance.take(hits.material)
        foggy = self.errors is not None and self.errors.extinction > 0.0
        ray = np.arange(len(distance)) if foggy else np.flatnonzero(signal > 0.0)
        return Returns(ray, distance[ray], signal[ray])

    def _spread(self, divergence: float, random: np.random.Generator) -> NDArray[np.float32]:
        """Where in its beam each pulse comes back from; an angle of a milliradian changes the
        length of a unit vector by 1e-6."""
        shape = self.directions.shape
        off = uniforms(random, 2 * shape[1] * shape[2]).reshape(2, *shape[1:])
        off -= np.float32(0.5)
        off *= np.float32(math.sqrt(12.0) * 0.25 * divergence)
        aside, upwards = off
        cos_a, sin_a = (f(self.azimuth).astype(np.float32)[:, None] for f in (np.cos, np.sin))
        cos_e, sin_e = (f(self.elevation).astype(np.float32) for f in (np.cos, np.sin))
        along = cos_e - sin_e * upwards
        found = np.empty(shape, np.float32)
        np.subtract(along * cos_a, sin_a * aside, out=found[0])
        np.add(along * sin_a, cos_a * aside, out=found[1])
        np.subtract(-sin_e, cos_e * upwards, out=found[2])
        return found

    def _rays(
        self, views: Views, i: int, local: NDArray[np.float32]
    ) -> tuple[Array, NDArray[np.float32]]:
        """Origins, one for all or (C, 3), and directions (C B, 3) in the world."""
        turned = rotation_matrix(views.attitude[i])
        place = views.position[i]
        if self.late is None or views.velocity is None or views.turn is None:
            directions = turn(turned.astype(np.float32), local)
            return place[None], directions.reshape(3, -1).T
        matrices = np.moveaxis(turned @ turns(views.turn[i], self.late), 0, -1)
        directions = turn(matrices[..., None].astype(np.float32), local)
        return place + np.outer(self.late, views.velocity[i]), directions.reshape(3, -1).T

    def _heard(self, lit: "Returns", random: np.random.Generator) -> "Returns":
        """What of it is told, with noise."""
        errors = self.errors
        if errors is None:
            return lit.where(lit.distance >= self.minimum_range)
        normal = normals(random, 2 * len(lit.ray)).reshape(2, -1)
        chance = uniforms(random, len(lit.ray))
        if errors.extinction > 0.0:
            lit = self._in_fog(errors, random, lit)
        distance, intensity = lit.distance, lit.intensity
        # One number decides about both: who is lost for no reason is not asked how strong he is.
        faintest = errors.faintest * (1.0 + THRESHOLD_SPREAD * math.sqrt(12.0) * (0.5 - chance))
        seen = (intensity >= faintest * np.square(distance)) & (chance >= errors.dropout)
        distance = distance + np.float32(errors.noise) * normal[0]
        if errors.resolution > 0.0:
            distance = np.float32(errors.resolution) * np.rint(distance / errors.resolution)
        seen &= (distance >= self.minimum_range) & (distance <= self.range)
        intensity = intensity * (1.0 + np.float32(errors.intensity_noise) * normal[1])
        return Returns(lit.ray, distance, np.maximum(intensity, 0.0)).where(seen)

    def _in_fog(self, errors: Errors, random: np.random.Generator, lit: "Returns") -> "Returns":
        """The same, fainter, with drops in the place of surfaces that are weaker than they."""
        count, alpha = len(lit.ray), errors.extinction
        there = np.minimum(lit.distance, 2.0 * self.range)
        intensity = lit.intensity * np.exp(-2.0 * alpha * there)
        at = self.minimum_range + OVERLAP * uniforms(random, count)
        drops = np.pi * alpha / LIDAR_RATIO * PULSE * exponentials(random, count)
        drops *= np.exp(-2.0 * alpha * at)
        instead = (drops / OVERLAP**2 > intensity / np.square(there)) & (at < there)
        # Drops are as strong as at the end of the overlap, wherever they are.
        looks = drops * np.square(at / OVERLAP)
        return Returns(
            lit.ray,
            np.where(instead, at, lit.distance),
            np.where(instead, looks, intensity),
        )

    @cached_property
    def _nothing_met(self) -> NDArray[np.float32]:
        """(C B, fields) cloud without a return."""
        _, columns, beams = self.directions.shape
        grid = np.zeros((columns, beams, len(FIELDS)), np.float32)
        grid[..., :3] = np.nan
        grid[..., 4] = np.arange(beams)
        if self.late is not None:
            grid[..., 5] = self.late[:, None]
        return grid.reshape(-1, len(FIELDS))

    def _fill(self, payload: NDArray[np.float32], told: "Returns") -> None:
        """The array of one sample."""
        if self.directions.shape[2] == 1:
            payload[0], payload[1] = np.inf, 0.0
            payload[0, told.ray], payload[1, told.ray] = told.distance, told.intensity
            return
        payload[...] = self._nothing_met
        first = told.ray * len(FIELDS)
        for c, along in enumerate(self.directions.reshape(3, -1)):
            payload.reshape(-1)[first + c] = along[told.ray] * told.distance
        payload.reshape(-1)[first + 3] = told.intensity


class Returns(NamedTuple):
    """What comes back of some beams."""

    ray: NDArray[np.int64]
    """(P,) which of them."""
    distance: NDArray[np.float32]
    """(P,) m."""
    intensity: NDArray[np.float32]
    """(P,) ρ cos θ exp(−2 α r)."""

    def where(self, chosen: NDArray[np.bool_]) -> "Returns":
        """Some of them."""
        return Returns(self.ray[chosen], self.distance[chosen], self.intensity[chosen])


def glint(cosine: Floats, ripples: float) -> Floats:
    """ρ cos θ of water with ripples of a mean square slope, met at a cosine of the incidence."""
    found = np.zeros_like(cosine)
    near = np.flatnonzero(cosine > 1.0 / math.sqrt(1.0 + FADED * ripples))
    square = np.square(cosine[near])
    spread = np.exp((1.0 - 1.0 / square) / ripples)
    found[near] = FRESNEL * spread / (4.0 * ripples * square * square * cosine[near])
    return found
