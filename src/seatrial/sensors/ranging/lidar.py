"""LiDAR: ranges and intensities of a sweep of beams.

A surface of reflectance ρ that scatters by Lambert's law, met at the incidence θ in the distance r,
sends back

    S = ρ cos θ exp(−2 α r) / r²

of what a white surface square to the beam would at 1 m (Wagner et al. 2006, ISPRS J. 60(2)), with
the extinction α of fog and rain. It is seen if S exceeds what a surface of the reference
reflectance sends from the reference range; near that threshold by chance, with a standard deviation
of a tenth of it (an assumption).

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
from one place in it, drawn for every beam. So edges fray and ranges on slanted surfaces spread as
they do, at the cost of one ray.

During a sweep the sensor moves on: with its velocity v and its rate of turn ω at the end, a ray
that left τ earlier began at p − v τ with the attitude q ⊗ exp(−ω τ). The cloud is in the sensor's
axes as they were when each ray left.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.materials import material_column
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.sensors.noise.streams import stream
from seatrial.sensors.tap import Expanded, Views
from seatrial.sensors.vision.air import LIDAR_RATIO
from seatrial.sensors.vision.sea import sea_at
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

FIELDS = ("x", "y", "z", "intensity", "ring", "time")
THRESHOLD_SPREAD = 0.1
"""Standard deviation of the signal over the threshold."""
PULSE = 0.75
"""Length L that a pulse of 5 ns lights up, m; an assumption."""
OVERLAP = 10.0
"""Range from which on the receiver sees the whole beam, m; an assumption."""
FRESNEL = 0.02
"""R of water at normal incidence."""


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
    directions: Array
    """(C, B, 3) of the columns and their beams, sensor's axes, unit."""
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
        columns, beams, _ = self.directions.shape
        if beams == 1:
            return PayloadInfo("scan", (2, columns), "float32", "m", ("range", "intensity"))
        return PayloadInfo("cloud", (columns * beams, len(FIELDS)), "float32", "m", FIELDS)

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Sweeps."""
        count = len(views.number)
        payload = np.empty((count, *self.payload.shape), np.float32)
        values = np.empty((count, 2))
        for i in range(count):
            reach, intensity = self._sweep(views, i, ocean)
            seen = np.isfinite(reach)
            values[i] = np.min(reach, initial=self.range), np.mean(seen)
            self._fill(payload[i], reach, intensity)
        return Expanded(values, np.ones(count, np.bool_), payload)

    def _sweep(self, views: Views, i: int, ocean: Ocean) -> tuple[Array, Array]:
        """Ranges (C B,), infinite where nothing is told, and intensities."""
        errors, random = self.errors, stream(views.keys[i], int(views.number[i]))
        t = float(views.number[i]) * self.period
        local = self.directions
        if errors is not None and errors.divergence > 0.0:
            local = self._spread(errors.divergence, random)
        origins, directions = self._rays(views, i, local)
        when: float | Array = t
        if self.late is not None:
            when = t + np.repeat(self.late, local.shape[1])
        others = None if views.others is None else views.others[i]
        hits = self.rays.cast(origins, directions, when, others, self.range)
        distance = hits.distance
        cosine = np.abs(np.einsum("rc,rc->r", hits.normal, directions))
        signal = material_column("reflectance").take(hits.material) * cosine
        falling = np.flatnonzero(directions[:, 2] > 0.0)
        sea = sea_at(ocean, views.position[i, :2], t, self.range)
        limit = np.minimum(distance[falling], self.range)
        wet = sea.crossing(origins[falling], directions[falling], limit)
        crossed = np.flatnonzero(np.isfinite(wet.distance))
        under = falling[crossed]
        if errors is None:
            distance[under] = np.inf
            distance[distance < self.minimum_range] = np.inf
            signal[under] = 0.0
            return distance, signal
        distance[under] = wet.distance[crossed]
        tilt = np.einsum("rc,rc->r", wet.normal[crossed], directions[under])
        signal[under] = glint(np.abs(tilt), errors.ripples)
        return self._heard(errors, random, distance, signal)

    def _spread(self, divergence: float, random: np.random.Generator) -> Array:
        """Where in its beam each pulse comes back from."""
        columns, beams, _ = self.directions.shape
        off = random.standard_normal((2, columns, beams), np.float32) * (0.25 * divergence)
        cos_a, sin_a = np.cos(self.azimuth)[:, None], np.sin(self.azimuth)[:, None]
        cos_e, sin_e = np.cos(self.elevation), np.sin(self.elevation)
        found = np.empty_like(self.directions)
        # Towards growing azimuth (−sin a, cos a, 0), towards growing elevation (−sin e cos a,
        # −sin e sin a, −cos e); of an angle of a milliradian the length changes by 1e-6.
        along = cos_e - sin_e * off[1]
        found[..., 0] = along * cos_a - sin_a * off[0]
        found[..., 1] = along * sin_a + cos_a * off[0]
        found[..., 2] = -sin_e - cos_e * off[1]
        return found

    def _rays(self, views: Views, i: int, local: Array) -> tuple[Array, Array]:
        """Origins and directions (C B, 3) in the world."""
        columns, beams, _ = local.shape
        turned = rotation_matrix(views.attitude[i])
        place = views.position[i]
        if self.late is None or views.velocity is None or views.turn is None:
            origins = np.broadcast_to(place, (columns * beams, 3))
            return origins, local.reshape(-1, 3) @ turned.T
        turns = turned @ _turns(views.turn[i], self.late)
        origins = np.repeat(place + np.outer(self.late, views.velocity[i]), beams, axis=0)
        return origins, (local @ turns.transpose(0, 2, 1)).reshape(-1, 3)

    def _heard(
        self, errors: Errors, random: np.random.Generator, distance: Array, signal: Array
    ) -> tuple[Array, Array]:
        """Ranges and intensities as they are told, with noise."""
        count = len(distance)
        normal = random.standard_normal((3, count), np.float32)
        intensity = signal
        if errors.extinction > 0.0:
            intensity = signal * np.exp(-2.0 * errors.extinction * np.minimum(distance, self.range))
        strength = intensity / np.square(np.maximum(distance, 1e-3))
        if errors.extinction > 0.0:
            distance, intensity, strength = self._drops(
                errors, random, distance, intensity, strength
            )
        lost = strength < errors.faintest * (1.0 + THRESHOLD_SPREAD * normal[2])
        if errors.dropout > 0.0:
            lost |= random.random(count, np.float32) < errors.dropout
        told = distance + errors.noise * normal[0]
        if errors.resolution > 0.0:
            told = errors.resolution * np.rint(told / errors.resolution)
        lost |= (told < self.minimum_range) | (told > self.range)
        told[lost] = np.inf
        intensity = np.maximum(intensity * (1.0 + errors.intensity_noise * normal[1]), 0.0)
        intensity[lost] = 0.0
        return told, intensity

    def _drops(
        self,
        errors: Errors,
        random: np.random.Generator,
        distance: Array,
        intensity: Array,
        strength: Array,
    ) -> tuple[Array, Array, Array]:
        """The same, with drops in the place of surfaces that are weaker."""
        at = self.minimum_range + OVERLAP * random.random(len(distance))
        scattered = np.pi * errors.extinction / LIDAR_RATIO * PULSE
        looks = scattered * random.standard_exponential(len(distance))
        looks = looks * np.exp(-2.0 * errors.extinction * at)
        drop = looks / OVERLAP**2
        instead = (drop > strength) & (at < distance)
        return (
            np.where(instead, at, distance),
            np.where(instead, looks, intensity),
            np.where(instead, drop, strength),
        )

    def _fill(self, payload: NDArray[np.float32], reach: Array, intensity: Array) -> None:
        """The array of one sample."""
        columns, beams, _ = self.directions.shape
        if beams == 1:
            payload[0], payload[1] = reach, intensity
            return
        reach = np.where(np.isfinite(reach), reach, np.nan)
        np.multiply(self.directions.reshape(-1, 3), reach[:, None], out=payload[:, :3])
        payload[:, 3] = intensity
        grid = payload.reshape(columns, beams, len(FIELDS))
        grid[..., 4] = np.arange(beams)
        grid[..., 5] = 0.0 if self.late is None else self.late[:, None]


def glint(cosine: Array, ripples: float) -> Array:
    """ρ cos θ of water with ripples of a mean square slope, met at a cosine of the incidence."""
    cosine = np.maximum(cosine, 0.1)
    tangent = 1.0 / cosine**2 - 1.0
    return np.asarray(FRESNEL * np.exp(-tangent / ripples) / (4.0 * ripples * cosine**5))


def _turns(rate: Array, times: Array) -> Array:
    """(C, 3, 3) rotations exp([ω] τ), by Rodrigues."""
    speed = float(np.linalg.norm(rate))
    if speed < 1e-12:
        return np.broadcast_to(np.eye(3), (len(times), 3, 3))
    x, y, z = rate / speed
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = (speed * times)[:, None, None]
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross))
