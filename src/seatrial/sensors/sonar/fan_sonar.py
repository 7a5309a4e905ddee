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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean, seabed
from seatrial.sensors.noise.streams import exponentials_of, stream
from seatrial.sensors.ranging.bottom_echo import NEPERS
from seatrial.sensors.ranging.echo_sounder import QUIETEST
from seatrial.sensors.sonar.bins import (
    Patches,
    Picture,
    heard_whole,
    lengthened,
    pulse_weights,
    spread,
    told,
)
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.fan import TOGETHER, Fan
from seatrial.sensors.sonar.scene import Echoes, met_under_water
from seatrial.sensors.sonar.targets import Targets
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

RAYS = 1 << 17
"""Rays that are cast at once, of as many pings as that makes: long loops for NumPy, short enough
for the cache."""
PORTION = 1 << 16
"""Cells that echoes are spread over at once: what is made of them stays in the cache."""
CELLS = 1 << 15
"""Cells of a picture that are finished at once: all that is done to them stays in the cache."""
FARTHEST_FACTOR = 2.0
"""How much farther or nearer than its ray a patch may reach: a plane met at grazing incidence has
no end."""
TWO_SENSES = 2.0
"""In which the way of a bounce can be gone: target first, or mirror first."""


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
        bearing = np.zeros(count)
        if self.sweep is not None:
            bearing[:] = [self.sweep.bearing(number) for number in views.number.tolist()]
        attitude = np.moveaxis(rotation_matrix(views.attitude.T), -1, 0) @ _about_z(bearing)
        pictures = np.empty((count, *self.payload.shape), np.float32)
        together = max(RAYS // max(math.prod(fan.shape) for fan in self.fans), 1)
        for first in range(0, count, together):
            some = slice(first, first + together)
            self._ping(pictures[some], views.part(some), attitude[some], ocean)
        values = np.column_stack([self.column.speed_at(views.position[:, 2]), bearing])
        if self.sweep is None:
            values = values[:, :1]
        return Expanded(values, np.ones(count, np.bool_), pictures)

    def _ping(self, levels: Picture, views: Views, attitude: Array, ocean: Ocean) -> None:
        """Levels (K, beams, bins) of pings, with attitudes (K, 3, 3) of the head."""
        depth = views.position[:, 2]
        width = self.range / self.bins
        length = 0.5 * self.pulse / width  # of a pulse, over the speed of sound, in bins
        weights = pulse_weights(length * self.column.speed_at(depth))
        whole = heard_whole(length * float(self.column.speed.min()))
        middle = width * (np.arange(self.bins) + 0.5)
        loss = np.exp(-NEPERS * self.column.absorption_at(depth)[:, None] * middle)
        loss *= self.source / np.maximum(middle, width) ** 2
        loss[:, middle < self.least_range] = 0.0
        single = loss.astype(np.float32)[:, None]
        streams = [stream(*of) for of in zip(views.keys, views.number.tolist(), strict=True)]
        first = 0
        for fan, mounted in zip(self.fans, self.mounted, strict=True):
            rows = 1 if fan.single else fan.shape[0]
            filled = np.empty((len(depth), rows, self.bins), np.float32)
            known = self._fill(filled, fan, attitude @ mounted, views, ocean)
            for k, beam, heard in _formed(fan, filled, known):
                power = lengthened(heard, weights[k], whole)
                power *= single[k]
                if not self.exact:
                    power += np.float32(self.noise)
                    power *= exponentials_of(streams[k], power[0].size).reshape(power.shape)
                beams = slice(first + beam, first + beam + power.shape[1])
                told(power, QUIETEST, levels[k, beams])
            first += len(fan.receive)

    def _fill(
        self, filled: Picture, fan: Fan, rotation: Array, views: Views, ocean: Ocean
    ) -> Iterator[int]:
        """Fill (K, A, bins) with what the azimuths of a fan with rotations (K, 3, 3) bring back,
        when spreading and the length of the pulse are left to the bins; (K, 1, bins) of a single
        beam, which needs no more. Tells how many azimuths are there, of a large fan some at a
        time."""
        mirrors = self._mirrors(views.position, ocean) if self.multipath else []
        strongest = TWO_SENSES * self.targets.strongest * float(fan.cells.lit.max())
        pings, (azimuths, elevations) = len(rotation), fan.shape
        blocks = 1 if fan.single else -(-pings * azimuths * elevations // RAYS)
        for block in range(blocks):
            some = slice(block * azimuths // blocks, (block + 1) * azimuths // blocks)
            directions = fan.directions(rotation, some).reshape(3, pings, -1)
            met = met_under_water(
                self.scene,
                views.position,
                directions,
                rotation[:, :, 2],
                views.number.astype(np.float64) * self.period,
                views.others,
                self.range,
            )
            ways = []
            for echoes in met:
                detours = [
                    _detour(mirror, fan, rotation, views.position, directions, echoes)
                    for mirror in mirrors
                ]
                ways.append(self._patches(fan, echoes, detours))
            straight, *bounced = zip(*ways, strict=True)
            rows = filled[:, some].reshape(-1, self.bins)
            together = max(PORTION // self.bins, 1)
            for first in range(0, len(rows), together):
                part = rows[first : first + together]
                spread(straight, first, part, strongest)
                for late in bounced:
                    more = np.empty_like(part)
                    spread(late, first, more, strongest)
                    part += more
            yield some.stop

    def _patches(
        self, fan: Fan, echoes: Echoes, detours: list[tuple[Picture, Picture]]
    ) -> list[Patches]:
        """What echoes send back straight on, and as much later and as well as they are heard by
        detours; spreading and absorption are left to the bins."""
        cells, width = fan.cells, np.float32(self.bins / self.range)
        whole = echoes.ray // len(cells.heard)
        cell, row = echoes.ray - len(cells.heard) * whole, whole.astype(np.float32)
        near, far = _extent(fan, echoes, cell, width)
        # S / cos γ; the rest of b_t b_r dΩ lies in the cells of the fan.
        strength = self.targets.strength(echoes.material, echoes.cosine)
        found = [Patches(row, near, far, strength * cells.heard.take(cell))]
        for later, heard in detours:
            later *= width
            heard *= strength
            heard *= cells.lit.take(cell)
            found.append(Patches(row, near + later, far + later, heard))
        return found

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


def _formed(
    fan: Fan, filled: Picture, known: Iterator[int]
) -> Iterator[tuple[slice, int, Picture]]:
    """Pings, the first of some beams, and what these hear (k, beams, bins) of what comes back, as
    soon as so many azimuths are `known` as they hear."""
    pings, _, bins = filled.shape
    there = next(known)
    if fan.single:
        together = max(CELLS // bins, 1)
        for first in range(0, pings, together):
            k = slice(first, first + together)
            yield k, 0, filled[k]
        return
    together = TOGETHER * max(CELLS // (TOGETHER * bins), 1)
    for first in range(0, len(fan.receive), together):
        while there < fan.heard_by(first, together):
            there = next(known)
        for ping, azimuths in enumerate(filled):
            yield slice(ping, ping + 1), first, fan.beams(azimuths, first, together)[None]


def _extent(
    fan: Fan, echoes: Echoes, cell: NDArray[np.int64], width: np.float32
) -> tuple[Picture, Picture]:
    """Nearest and farthest range of the patch in the solid angle of each ray, which is one of the
    cells of its row, in bins, of which there are so many in a metre."""
    cos = np.float32(math.cos(fan.half_step))
    lean = np.maximum(echoes.cosine, np.float32(1e-6))
    np.divide(echoes.rise, lean, out=lean)
    lean *= fan.cells.turn.take(cell)
    lean -= fan.cells.tilt.take(cell)
    np.abs(lean, out=lean)
    middle = width * echoes.distance
    nearest = cos + lean
    np.minimum(nearest, np.float32(FARTHEST_FACTOR), out=nearest)
    np.divide(middle, nearest, out=nearest)
    farthest = np.subtract(cos, lean, out=lean)
    np.maximum(farthest, np.float32(1.0 / FARTHEST_FACTOR), out=farthest)
    np.divide(middle, farthest, out=farthest)
    return nearest, farthest


def _detour(
    mirror: Mirror, fan: Fan, rotation: Array, place: Array, directions: Picture, echoes: Echoes
) -> tuple[Picture, Picture]:
    """How much farther a target looks by way of a mirror, m, and how well it is heard that way.

    The pressure of the detour spreads over its own length, and the way can be gone in two senses.
    """
    # Seen from the sonar the detour comes from the mirrored direction.
    pings = np.stack([2.0 * (mirror.depth - place[:, 2]), *rotation[:, :, 2].T])
    below, *axis = pings.astype(np.float32).take(echoes.ray // directions[0, 0].size, axis=1)
    away = [side.take(echoes.ray) * echoes.distance for side in directions.reshape(3, -1)]
    np.subtract(below, away[2], out=away[2])
    length = np.sqrt(sum(side * side for side in away))
    np.maximum(length, np.float32(1e-9), out=length)
    sine = -sum(side * along for side, along in zip(away, axis, strict=True)) / length
    told = 0.5 * (echoes.distance + length)
    heard = np.square(told / length)
    heard *= np.float32(TWO_SENSES * mirror.share) * fan.heard(sine)
    return told - echoes.distance, heard


def _about_z(angle: Array) -> Array:
    """(K, 3, 3) rotations by angles (K,)."""
    cos, sin, zero, one = np.cos(angle), np.sin(angle), 0.0 * angle, 0.0 * angle + 1.0
    return np.moveaxis(np.array([[cos, -sin, zero], [sin, cos, zero], [zero, zero, one]]), -1, 0)
