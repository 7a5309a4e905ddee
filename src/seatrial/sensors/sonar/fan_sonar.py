"""Sonars that light up a fan and listen over time: imaging, mechanical scanning and side-scan.

Rays fill the fan. A ray that meets a surface at the range r and the incidence γ stands for all of
it within its solid angle dΩ, of which it brings back, by the sonar equation without decibels
(Urick 1983, chapter 2),

    dI = 10^(SL/10) · b_t b_r · S(γ) / cos γ · dΩ / r² · 10^(−2αr/10)

with the patterns b of sending and hearing (`fan`), the scattering S of the material (`targets`) and
the water's absorption α at the sensor's depth. The surface in the ray's solid angle reaches over
some range: on its tangential plane, a ray that is inclined by δ more meets it at

    r(δ) = r / (cos δ + q sin δ),   q = (u·n) / (d·n) = −tan e + (z·n) / (cos e cos γ)

with the normal n, the elevation e of the ray, the direction u in which it grows and the axis z of
the fan. The echo is spread evenly between r(±Δe/2), so that a
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
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial import programs
from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean, seabed
from seatrial.sensors.noise.streams import coarse, stream
from seatrial.sensors.ranging.bottom_echo import NEPERS
from seatrial.sensors.ranging.echo_sounder import QUIETEST
from seatrial.sensors.sonar.bins import DECIBELS, Hearing, Picture, levels_of, pulse_weights
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.fan import Fan
from seatrial.sensors.sonar.patches import (
    Detour,
    Law,
    in_blocks,
    law_of,
    steps_of,
    steps_of_azimuths,
)
from seatrial.sensors.sonar.scene import Echoes, met_under_water
from seatrial.sensors.sonar.targets import Targets
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

RAYS = 1 << 17
"""Rays that are cast at once, of as many pings as that makes: long loops for NumPy, short enough
for the cache."""
MOST_PINGS = 32
"""That are cast at once."""
TWO_SENSES = 2.0
"""In which the way of a bounce can be gone: target first, or mirror first."""
MIRRORS = 2
"""At most: surface and bottom."""


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
        beams = sum(fan.beams for fan in self.fans)
        return PayloadInfo(self.kind, (beams, self.bins), "float32", "dB re 1 uPa")

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Sound speed at the sonar (m/s), and of one that turns its bearing (rad); pictures."""
        count = len(views.number)
        bearing = np.zeros(count)
        if self.sweep is not None:
            bearing[:] = [self.sweep.bearing(number) for number in views.number.tolist()]
        attitude = np.moveaxis(rotation_matrix(views.attitude.T), -1, 0) @ _about_z(bearing)
        pictures = np.empty((count, *self.payload.shape), np.float32)
        for first in range(0, count, self._together):
            some = slice(first, first + self._together)
            self._ping(pictures[some], views.part(some), attitude[some], ocean)
        values = np.column_stack([self.column.speed_at(views.position[:, 2]), bearing])
        if self.sweep is None:
            values = values[:, :1]
        return Expanded(values, np.ones(count, np.bool_), pictures)

    def _ping(self, levels: Picture, views: Views, attitude: Array, ocean: Ocean) -> None:
        """Levels (K, beams, bins) of pings, with attitudes (K, 3, 3) of the head."""
        streams = [stream(*of) for of in zip(views.keys, views.number.tolist(), strict=True)]
        hearing = self._hearing(views.position[:, 2])
        first = 0
        for fan, mounted, law in zip(self.fans, self.mounted, self._laws, strict=True):
            rows = levels[:, first : first + fan.beams]
            met = self._met(fan, attitude @ mounted, views, ocean)
            drawn = None if self.exact else coarse(streams, rows[0].size)
            chance = None if drawn is None else drawn.levels.reshape(rows.shape)
            rows[...] = _heard(fan, law, *met, hearing, chance, self._together)
            if drawn is not None:
                rows[np.unravel_index(drawn.places, rows.shape)] += _decibels(drawn.factors)
            first += fan.beams

    @property
    def _together(self) -> int:
        """Pings that are cast at once."""
        most = max(math.prod(fan.shape) for fan in self.fans)
        return min(max(RAYS // most, 1), MOST_PINGS)

    @cached_property
    def _laws(self) -> list[Law]:
        """Of each fan."""
        ways = 1.0 + (TWO_SENSES * MIRRORS if self.multipath else 0.0)
        return [law_of(fan, self.targets, self.bins / self.range, ways) for fan in self.fans]

    def _hearing(self, depth: Array) -> Hearing:
        """At depths (K,); the loss is not yet that of a fan's units."""
        width = self.range / self.bins
        length = 0.5 * self.pulse / width  # of a pulse, over the speed of sound, in bins
        longest = length * float(self.column.speed.max())
        weights = pulse_weights(length * self.column.speed_at(depth), longest)
        middle = width * (np.arange(self.bins) + 0.5)
        loss = np.exp(-NEPERS * self.column.absorption_at(depth)[:, None] * middle)
        loss *= self.source / np.maximum(middle, width) ** 2
        loss[:, middle < self.least_range] = 0.0
        return Hearing(
            weights.astype(np.float32),
            loss.astype(np.float32),
            np.float32(self.noise),
            np.float32(QUIETEST),
        )

    def _met(
        self, fan: Fan, rotation: Array, views: Views, ocean: Ocean
    ) -> tuple[Echoes, list[Detour]]:
        """What rays of a fan with rotations (K, 3, 3) met, and how it is heard by detours."""
        pings = len(rotation)
        directions = fan.directions(rotation).reshape(3, pings, -1)
        echoes = met_under_water(
            self.scene,
            views.position,
            directions,
            rotation[:, :, 2],
            views.number.astype(np.float64) * self.period,
            views.others,
            self.range,
        )
        mirrors = self._mirrors(views.position, ocean) if self.multipath else []
        below, up = views.position[:, 2], rotation[:, :, 2]
        detours = [_detour(m, fan, below, up, directions, echoes.distance) for m in mirrors]
        return echoes, detours

    def _mirrors(self, place: Array, ocean: Ocean) -> list["Mirror"]:
        found = [Mirror(np.zeros(len(place)), 1.0)]
        if ocean.seabed is not None:
            below = seabed.under(ocean.seabed, *place.T[:2])
            found.append(Mirror(below, self.bottom_reflection))
        return found


class Mirror(NamedTuple):
    """A level plane that sound bounces off."""

    depth: Array
    """(K,) in each ping, m."""
    share: float
    """Of the intensity that it reflects."""


def _heard(
    fan: Fan,
    law: Law,
    echoes: Echoes,
    detours: list[Detour],
    hearing: Hearing,
    chance: NDArray[np.uint16] | None,
    most: int,
) -> Picture:
    """(K, beams, bins) levels of pings, without chance of their means; K is `most` at most."""
    pings = len(hearing.loss)
    given = echoes, detours, hearing, chance
    with jax.enable_x64(True):  # of this thread, whichever expands the taps
        if fan.single:
            filled = jax.tree.map(partial(_filled_up, count=most), given)
            found = programs.call_often(_single, *filled, law, np.int32(pings))
            return np.asarray(found)[:pings, None]
        pictures = [
            _picture(fan, law, *jax.tree.map(partial(_one, k=k), given)) for k in range(pings)
        ]
        return pictures[0][None] if pings == 1 else np.stack(pictures)


def _picture(
    fan: Fan,
    law: Law,
    echoes: Echoes,
    detours: list[Detour],
    hearing: Hearing,
    chance: NDArray[np.uint16] | None,
) -> Picture:
    """(beams, bins) levels of a ping, all of whose parts have one row."""
    bins = hearing.loss.shape[1]
    steps = np.asarray(programs.call_often(steps_of_azimuths, echoes, detours, law, bins))
    # NumPy sums whole numbers up five times faster than XLA does.
    beams = fan.formed(np.cumsum(steps, axis=1)[:, :bins])
    drawn = None if chance is None else chance[0]
    return np.asarray(programs.call_often(levels_of, beams, _of(hearing, law), drawn))


@jax.jit
def _single(
    echoes: Echoes,
    detours: list[Detour],
    hearing: Hearing,
    chance: jax.Array | None,
    law: Law,
    count: jax.Array,
) -> jax.Array:
    """(most, bins) levels of the only beam; of so many pings, whatever follows them."""
    most, bins = hearing.loss.shape

    def levels(
        echoes: Echoes, detours: list[Detour], hearing: Hearing, chance: jax.Array | None
    ) -> jax.Array:
        sums = jnp.cumsum(steps_of(echoes, detours, law, bins), axis=1)[:, :bins]
        drawn = None if chance is None else chance[:, 0]
        return jnp.asarray(levels_of(sums.astype(jnp.float32), hearing, drawn))

    given = echoes, detours, _of(hearing, law), chance
    return in_blocks(levels, given, jnp.zeros((most, bins), jnp.float32), count, law)


def _of(hearing: Hearing, law: Law) -> Hearing:
    """With the loss of a picture in the units of a law, which are a power of two."""
    return hearing._replace(loss=hearing.loss / law.units.astype(np.float32))


def _filled_up(part: NDArray[Any], count: int) -> NDArray[Any]:
    """As many pings, of which those that there are not are zeros."""
    if part.ndim == 0 or len(part) == count:
        return part
    found = np.zeros((count, *part.shape[1:]), part.dtype)
    found[: len(part)] = part
    return found


def _one(part: NDArray[Any], k: int) -> NDArray[Any]:
    """One ping."""
    return part if part.ndim == 0 else part[k : k + 1]


def _decibels(factor: Picture) -> Picture:
    return np.asarray(np.float32(DECIBELS) * np.log(factor))


def _detour(
    mirror: Mirror, fan: Fan, place: Array, axis: Array, directions: Picture, distance: Picture
) -> Detour:
    """Of a fan with its z axis (K, 3) at depths (K,), by way of a mirror.

    The pressure of the detour spreads over its own length, and the way can be gone in two senses.
    """
    # Seen from the sonar the detour comes from the mirrored direction.
    away = [side * distance for side in directions.reshape(3, *distance.shape)]
    np.subtract((2.0 * (mirror.depth - place)).astype(np.float32)[:, None], away[2], out=away[2])
    length = np.sqrt(sum(side * side for side in away))
    np.maximum(length, np.float32(1e-9), out=length)
    sides = axis.T.astype(np.float32)[..., None]
    sine = -sum(side * along for side, along in zip(away, sides, strict=True)) / length
    told = 0.5 * (distance + length)
    heard = np.square(told / length)
    heard *= np.float32(TWO_SENSES * mirror.share) * fan.heard(sine)
    return Detour(told - distance, heard)


def _about_z(angle: Array) -> Array:
    """(K, 3, 3) rotations by angles (K,)."""
    cos, sin, zero, one = np.cos(angle), np.sin(angle), 0.0 * angle, 0.0 * angle + 1.0
    return np.moveaxis(np.array([[cos, -sin, zero], [sin, cos, zero], [zero, zero, one]]), -1, 0)
