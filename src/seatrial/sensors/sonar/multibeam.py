"""Multibeam echo sounder: a swath of soundings across the track, each with the level of its echo.

Beam i leaves at the angle βᵢ from the sensor's z axis towards starboard, in its y-z plane. Sound
bends on its way as the water's table of sound speed has it (`column`); its way is cut into chords,
and the first that meets something gives the sounding. Beams flatter than 89° from the vertical, and
those that go up, are followed straight, at the sound speed at the sonar, up to the level of still
water. The echo of what the beam lights up there is

    I = 10^(SL/10) · S(γ) · A / r⁴ · 10^(−2αr/10)
    A = r² θ_a · min(θ_c / cos γ, cτ / (2 r sin γ))

with the width θ_a of the beam along and θ_c across the track: the pulse is longer than the beam's
footprint near the vertical and shorter beside (Lurton 2010, section 3.6). θ_c grows with 1 / cos β,
as a line of elements looks shorter from the side. Where the echo does not stand out of the noise
there is no sounding.

The device measures the time and knows the angle. `exact` gives the place itself. Otherwise range
and angle have white noise, the level speckle, and a device that is told one sound speed for all the
water looks for the bottom along a straight line at that speed: its swath bends at the ends.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.sensors.noise.streams import exponentials_of, normals_of, stream
from seatrial.sensors.ranging.bottom_echo import NEPERS
from seatrial.sensors.ranging.echo_sounder import QUIETEST
from seatrial.sensors.sonar.bins import told
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.targets import Targets
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]
Single = NDArray[np.float32]

FIELDS = ("x", "y", "z", "intensity", "range", "angle")
"""Of a sounding: its place in the sensor's axes (m), the level of its echo (dB re 1 µPa), the time
there times the sound speed at the sensor (m) and the angle at which its beam leaves (rad)."""

FLATTEST = math.cos(math.radians(89.0))
"""Cosine with the vertical of the flattest beam that is followed as it bends."""
DOWN = np.array([[0.0], [0.0], [1.0]])


@dataclass(frozen=True)
class Multibeam:
    """A multibeam sounder looking along its z axis."""

    scene: RayScene
    angles: Array
    """(B,) β, rad."""
    along: float
    """θ_a, rad."""
    across: float
    """θ_c of the beam along z, rad."""
    targets: Targets
    column: Column
    source: float
    """10^(SL/10)."""
    noise: float
    """Mean intensity, µPa²."""
    over_noise: float
    """Least ratio of an echo to the noise that gives a sounding."""
    pulse: float
    """τ, s."""
    range: float
    """m."""
    range_noise: float
    """m."""
    angle_noise: float
    """rad."""
    sound_speed: float | None
    """That the device takes for that of all the water; None where it knows the profile."""
    period: float
    """s."""
    exact: bool

    @property
    def payload(self) -> PayloadInfo:
        """A cloud; a beam without a sounding is NaN."""
        return PayloadInfo("cloud", (len(self.angles), len(FIELDS)), "float32", "1", FIELDS)

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """How many beams gave a sounding, and the sound speed at the sonar (m/s); soundings."""
        clouds = np.empty((len(views.number), *self.payload.shape), np.float32)
        start = views.position[:, 2]
        deepest = np.maximum(self._deepest(start), start)
        layers = self.column.layers(start, deepest)
        for count in np.unique(layers):  # pings that are alike are expanded at once
            some = np.flatnonzero(layers == count)
            clouds[some] = self._swaths(views.part(some), deepest[some], int(count))
        found = np.isfinite(clouds[:, :, 0]).sum(axis=1)
        values = np.column_stack([found, self.column.speed_at(start)])
        return Expanded(values, found > 0, clouds)

    def _deepest(self, start: Array) -> Array:
        """(K,) depth down to which sound is followed, m."""
        return np.minimum(start + self.range, self.scene.deepest + 1.0)

    def _swaths(self, views: Views, deepest: Array, layers: int) -> Single:
        """(K, B, fields) soundings of pings, with sound followed through so many layers."""
        place = views.position
        attitude = np.moveaxis(rotation_matrix(views.attitude.T), -1, 0)
        fan = np.stack([np.sin(self.angles), np.cos(self.angles)])
        met = self._follow(views, attitude[:, :, 1:] @ fan, deepest, layers)
        x, y, z = np.moveaxis(attitude.transpose(0, 2, 1).astype(np.float32) @ met.away, 1, 0)
        ranges = (met.time * self.column.speed_at(place[:, 2:])).astype(np.float32)
        intensity = self._intensity(place[:, 2:], met, ranges)
        known = ranges <= self.range
        angles = self.angles.astype(np.float32)
        if not self.exact:
            pings, beams = ranges.shape
            streams = [stream(*of) for of in zip(views.keys, views.number.tolist(), strict=True)]
            noise = normals_of(streams, 2 * beams).reshape(pings, 2, beams)
            intensity += np.float32(self.noise)
            intensity *= exponentials_of(streams, beams)
            known &= intensity >= np.float32(self.over_noise * self.noise)
            if self.sound_speed is not None:
                straight = (met.time * self.sound_speed).astype(np.float32)
                x, y, z = 0.0 * straight, *(part.astype(np.float32) * straight for part in fan)
            # Both errors move a sounding: along its ray, and across it.
            farther = np.float32(self.range_noise) * noise[:, 0]
            aside = np.float32(self.angle_noise) * noise[:, 1]
            far = np.sqrt(x * x + y * y + z * z)
            stretch = 1.0 + farther / np.maximum(far, np.float32(1e-9))
            x, y, z = stretch * x, stretch * y + aside * z, stretch * z - aside * y
            ranges += farther
            angles = angles + aside
        clouds = np.empty((*ranges.shape, len(FIELDS)), np.float32)
        for c, part in enumerate((x, y, z)):
            clouds[..., c] = part
        told(intensity, QUIETEST, clouds[..., 3])
        clouds[..., 4], clouds[..., 5] = ranges, angles
        clouds[~known] = np.nan
        return clouds

    def _follow(self, views: Views, along: Array, deepest: Array, layers: int) -> "Met":
        """Where beams that leave along world directions (K, 3, B) meet something."""
        place, (pings, _, beams) = views.position, along.shape
        north, east, down = (along[:, c] for c in range(3))
        level = np.sqrt(north * north + east * east)
        bending = (down > FLATTEST) & (deepest > place[:, 2])[:, None]
        rays = self.column.trace(place[:, 2], deepest, layers, np.where(bending, level, 0.0))
        # Chords, of which each begins where the one above ends; (3, K, M, B).
        np.maximum(level, 1e-12, out=level)
        sides = [(side / level)[:, None] for side in (north, east)]
        out = np.diff(rays.out, axis=1).astype(np.float32)
        fall = np.diff(rays.depth, axis=1).astype(np.float32)
        reach = np.sqrt(out * out + fall * fall)
        ways = np.empty((3, *reach.shape), np.float32)
        np.divide(fall, reach, out=ways[2])
        out /= reach
        for c, side in enumerate(sides):
            np.multiply(side.astype(np.float32), out, out=ways[c])
        # Beams that turned are not followed beyond, and straight ones have one chord.
        straight = ~bending
        unsent = ~(reach > 0.0) | straight[:, None]
        if straight.any():
            unsent[:, 0] = False
            ways[:, :, 0] = np.where(straight, along.transpose(1, 0, 2), ways[:, :, 0])
            top = np.maximum(place[:, 2:], 0.0) / np.maximum(-down, 1e-12)
            reach[:, 0] = np.where(straight, np.minimum(self.range, top), reach[:, 0])
        lost = np.flatnonzero(unsent)
        ways, reach = ways.reshape(3, -1), reach.reshape(-1)
        ways[:, lost], reach[lost] = DOWN, 0.0
        origins = place
        if layers > 1:
            begin = np.empty((3, pings, layers, beams))
            for c, side in enumerate(sides):
                np.multiply(rays.out[:, :-1], side, out=begin[c])
                begin[c] += place[:, c, None, None]
            begin[2] = rays.depth[:, :-1]
            origins = begin.reshape(3, -1).T
            origins[lost] = place[lost // (layers * beams)]
        when = views.number[:, None].astype(np.float64) * self.period
        hits = self.scene.cast(origins, ways.T, when, views.others, reach)
        if not len(hits.ray):
            return Met.nothing(pings, beams)
        # A beam ends in the first layer in which it meets something: that is written last.
        chord = hits.ray // beams
        ping = chord // layers
        row = np.full(pings * beams, -1)
        row[(hits.ray - beams * (chord - ping))[::-1]] = np.arange(len(chord))[::-1]
        row = row.reshape(pings, beams)
        ray, chord = (part.take(row, mode="clip") for part in (hits.ray, chord))
        far = hits.distance.take(row, mode="clip")
        # Above it there are as many depths as layers, and one more for each ping before.
        before = np.arange(pings)[:, None]
        above = rays.depth.take(chord + before)
        node = ray + beams * before
        away = np.empty((pings, 3, beams), np.float32)
        fall = far * ways[2].take(ray)
        away[:, 2] = above - place[:, 2:] + fall
        out = rays.out.take(node)
        for c, side in enumerate(sides):
            away[:, c] = out * side[:, 0] + far * ways[c].take(ray)
        begun, ended = rays.time.take(node), rays.time.take(node + beams)
        time = np.where(
            straight,
            far / self.column.speed_at(place[:, 2:]),
            begun + far / np.maximum(reach.take(ray), np.float32(1e-9)) * (ended - begun),
        )
        time[row < 0] = np.nan
        return Met(
            away, time, hits.cosine.take(row, mode="clip"), hits.material.take(row, mode="clip")
        )

    def _intensity(self, depth: Array, met: "Met", ranges: Single) -> Single:
        """(K, B) mean of the echoes, µPa²; their levels need no more than single precision."""
        cosine = met.cosine
        sine = np.sqrt(np.maximum(1.0 - cosine * cosine, np.float32(1e-12)))
        slant = np.cos(self.angles).astype(np.float32) * cosine
        wide = np.float32(self.across) / np.maximum(slant, np.float32(1e-3))
        pulse = (0.5 * self.column.speed_at(depth) * self.pulse).astype(np.float32)
        area = np.minimum(wide, pulse / np.maximum(ranges * sine, np.float32(1e-9)))
        # `strength` is S over cos γ, for a patch that a solid angle cuts out; A is the patch.
        echo = self.targets.strength(met.material, cosine)
        echo *= cosine
        echo *= area
        nepers = (NEPERS * self.column.absorption_at(depth)).astype(np.float32)
        echo *= np.exp(-nepers * ranges)
        echo /= np.square(np.maximum(ranges, np.float32(1e-3)))
        echo *= np.float32(self.source * self.along)
        return np.asarray(echo)


class Met(NamedTuple):
    """Where beams met something."""

    away: Single
    """(K, 3, B) from the sonar, NED, m."""
    time: Array
    """(K, B) one way, s; NaN where nothing."""
    cosine: Single
    """(K, B) of the incidence."""
    material: NDArray[np.integer]
    """(K, B)."""

    @classmethod
    def nothing(cls, pings: int, beams: int) -> "Met":
        """Of beams that met nothing at all."""
        shape = pings, beams
        away, none = np.zeros((pings, 3, beams), np.float32), np.full(shape, np.nan)
        return cls(away, none, np.ones(shape, np.float32), np.zeros(shape, np.int32))
