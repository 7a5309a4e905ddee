"""Sonars that light up a fan and listen over time: imaging, mechanical scanning and side-scan.

Rays fill the fan. A ray that meets a surface at the range r and the incidence γ stands for all of
it within its solid angle dΩ, of which it brings back, by the sonar equation without decibels
(Urick 1983, chapter 2),

    dI = 10^(SL/10) · b_t b_r · S(γ) / cos γ · dΩ / r² · 10^(−2αr/10)

with the patterns b of sending and hearing (`fan`), the scattering S of the material (`targets`) and
the water's absorption α at the sensor's depth. The surface in the ray's solid angle reaches over
some range: on its tangential plane, a ray that is inclined by δ more meets it at

    r(δ) = r / (cos δ + q sin δ),   q = (e·n) / (d·n)

e the direction in which the elevation grows. The echo is spread evenly between r(±Δe/2), so that a
bottom at grazing incidence fills all bins with few rays. What lies behind something brings back
nothing, because no ray reaches it: a shadow.

A pulse that lasts τ hears the sum over cτ/2 of range at a time. Sounds of many scatterers add up
to a complex Gaussian noise, so the intensity of a cell is exponentially distributed around its mean
(Rayleigh amplitudes): speckle, one draw per cell. Sound goes straight, at the speed at the sensor.

By choice there is one reflection more, off the surface or a bottom that is level at the depth below
the sonar: sound that goes to the target directly and comes back that way, or the other way round,
as if one of the two were heard by the mirror image of the sonar. It arrives at half the sum of both
ranges. That the detour may be blocked is not looked at.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean, seabed
from seatrial.sensors.noise.streams import exponentials, stream
from seatrial.sensors.ranging.bottom_echo import NEPERS
from seatrial.sensors.ranging.echo_sounder import QUIETEST
from seatrial.sensors.sonar.bins import Picture, lengthened, spread
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.fan import Fan, turned
from seatrial.sensors.sonar.scene import Echoes, met_under_water
from seatrial.sensors.sonar.targets import Targets
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

FARTHEST_FACTOR = 2.0
"""How much farther or nearer than its ray a patch may reach: a plane met at grazing incidence has
no end."""


@dataclass(frozen=True)
class Sweep:
    """How the head of a mechanical sonar turns: a step per ping, to and fro or round and round."""

    first: float
    """Bearing of the first ping, rad."""
    step: float
    """rad."""
    pings: int
    """From one end to the other."""
    round: bool
    """Whether it goes on round instead of turning back."""

    def bearing(self, number: int) -> float:
        """Of a sample, rad from the sensor's x axis towards starboard."""
        if self.round:
            return self.first + self.step * (number % self.pings)
        place = number % (2 * (self.pings - 1))
        return self.first + self.step * min(place, 2 * (self.pings - 1) - place)


@dataclass(frozen=True)
class FanSonar:
    """One or two transducers, each with a fan of its own."""

    scene: RayScene
    fans: tuple[Fan, ...]
    mounted: tuple[Array, ...]
    """For each fan, the matrix (3, 3) from its axes to the sensor's."""
    sweep: Sweep | None
    """None where the head does not turn."""
    targets: Targets
    column: Column
    source: float
    """10^(SL/10)."""
    noise: float
    """Mean intensity, µPa²."""
    pulse: float
    """τ, s."""
    range: float
    """End of the last bin, m."""
    bins: int
    least_range: float
    """Nearer than this nothing is heard, m."""
    period: float
    """From sample to sample, s."""
    multipath: bool
    bottom_reflection: float
    """Share of the intensity that the bottom reflects, for the paths that bounce off it."""
    exact: bool
    """The mean, without noise and speckle."""
    kind: str
    """Of the payload."""

    @property
    def payload(self) -> PayloadInfo:
        """Levels of all beams over range."""
        beams = sum(len(fan.receive) for fan in self.fans)
        return PayloadInfo(self.kind, (beams, self.bins), "float32", "dB re 1 uPa")

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Sound speed at the sonar (m/s), and of one that turns its bearing (rad); pictures."""
        count = len(views.number)
        pictures = np.empty((count, *self.payload.shape), np.float32)
        values = np.empty((count, 1 if self.sweep is None else 2))
        for i in range(count):
            place, number = views.position[i], int(views.number[i])
            bearing = 0.0 if self.sweep is None else self.sweep.bearing(number)
            attitude = rotation_matrix(views.attitude[i]) @ _about_z(bearing)
            intensity = self.mean(
                place,
                attitude,
                number * self.period,
                ocean,
                None if views.others is None else views.others[i],
            )
            if not self.exact:
                intensity += np.float32(self.noise)
                speckle = exponentials(stream(views.keys[i], number), intensity.size)
                intensity *= speckle.reshape(intensity.shape)
            np.maximum(intensity, np.float32(QUIETEST), out=intensity)
            np.multiply(np.log10(intensity, out=intensity), np.float32(10.0), out=pictures[i])
            values[i] = [self.column.speed_at(place[2]), bearing][: values.shape[1]]
        return Expanded(values, np.ones(count, np.bool_), pictures)

    def mean(
        self, place: Array, attitude: Array, t: float, ocean: Ocean, others: Array | None = None
    ) -> Picture:
        """(beams, bins) mean intensity without noise, from a place (3,) and an attitude (3, 3)."""
        width = self.range / self.bins
        pulse = 0.5 * self.column.speed_at(place[2]) * self.pulse
        middle = width * (np.arange(self.bins) + 0.5)
        loss = np.exp(-NEPERS * self.column.absorption_at(place[2]) * middle)
        loss *= self.source / np.maximum(middle, width) ** 2
        loss[middle < self.least_range] = 0.0
        mirrors = self._mirrors(place, ocean) if self.multipath else []
        pictures = []
        for fan, mounted in zip(self.fans, self.mounted, strict=True):
            rotation = attitude @ mounted
            azimuths, elevations = fan.shape
            directions = turned(fan.directions, rotation)
            echoes = met_under_water(self.scene, place, directions, t, others, self.range)
            row, column = np.divmod(echoes.ray, elevations)
            # What a patch sends back, of sound that was sent towards it as on the axis and is
            # heard as on the axis, when spreading is left to the bins.
            strength = self.targets.strength(echoes.material, echoes.cosine)
            strength *= fan.cell[column] * fan.sent[column]
            near, far = _extent(fan, rotation, echoes)
            shape = azimuths, self.bins
            filled = spread(row, near / width, far / width, strength * fan.sent[column], shape)
            for mirror in mirrors:
                later, heard = _detour(mirror, fan, rotation, place, directions, echoes)
                filled += spread(
                    row, (near + later) / width, (far + later) / width, strength * heard, shape
                )
            pictures.append(lengthened(fan.beams(filled), pulse / width))
        together = np.concatenate(pictures)
        together *= loss.astype(np.float32)
        return together

    def _mirrors(self, place: Array, ocean: Ocean) -> list["Mirror"]:
        found = [Mirror(0.0, 1.0)]
        if ocean.seabed is not None:
            below = seabed.under(ocean.seabed, place[0], place[1])
            found.append(Mirror(float(below), self.bottom_reflection))
        return found


class Mirror(NamedTuple):
    """A level plane that sound bounces off."""

    depth: float
    """m."""
    share: float
    """Of the intensity that it reflects."""


def _extent(fan: Fan, rotation: Array, echoes: Echoes) -> tuple[Array, Array]:
    """Nearest and farthest range of the patch in the solid angle of each ray that met something."""
    upwards = turned(fan.upwards[:, echoes.ray], rotation)
    across = sum(e * n for e, n in zip(upwards, echoes.normal, strict=True))
    lean = np.abs(across) / np.maximum(echoes.cosine, 1e-6)
    cos, sin = math.cos(fan.half_step), math.sin(fan.half_step)
    nearest = echoes.distance / (cos + lean * sin)
    farthest = echoes.distance / np.maximum(cos - lean * sin, 1.0 / FARTHEST_FACTOR)
    return np.maximum(nearest, echoes.distance / FARTHEST_FACTOR), farthest


def _detour(
    mirror: Mirror, fan: Fan, rotation: Array, place: Array, directions: Picture, echoes: Echoes
) -> tuple[Array, Array]:
    """How much farther a target looks by way of a mirror, m, and how well it is heard that way.

    The pressure of the detour spreads over its own length, and the way can be gone in two senses.
    """
    image = np.array([place[0], place[1], 2.0 * mirror.depth - place[2]])
    target = place + echoes.distance[:, None] * directions[:, echoes.ray].T
    back = target - image
    length = np.linalg.norm(back, axis=1)
    # Seen from the sonar the detour comes from the mirrored direction.
    back[:, 2] *= -1.0
    sine = -(back @ rotation[:, 2]) / np.maximum(length, 1e-9)
    told = 0.5 * (echoes.distance + length)
    heard = 2.0 * mirror.share * fan.heard(sine) * (told / np.maximum(length, 1e-9)) ** 2
    return told - echoes.distance, heard


def _about_z(angle: float) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
