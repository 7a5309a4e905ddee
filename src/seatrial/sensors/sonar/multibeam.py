"""Multibeam echo sounder: a swath of soundings across the track, each with the level of its echo.

Beam i leaves at the angle βᵢ from the sensor's z axis towards starboard, in its y-z plane. Sound
bends on its way as the water's table of sound speed has it (`column`); its way is cut into chords,
and the first that meets something gives the sounding. The echo of what the beam lights up there is

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
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.sensors.noise.streams import exponentials_of, normals_of, stream
from seatrial.sensors.ranging.bottom_echo import NEPERS
from seatrial.sensors.ranging.echo_sounder import QUIETEST
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
"""Cosine with the vertical of the flattest beam that is followed."""
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
        """How many beams gave a sounding; soundings."""
        clouds = np.empty((len(views.number), *self.payload.shape), np.float32)
        start = views.position[:, 2]
        deepest = np.maximum(self._deepest(start, ocean), start)
        layers = self.column.layers(start, deepest)
        for count in np.unique(layers):  # pings that are alike are expanded at once
            some = np.flatnonzero(layers == count)
            clouds[some] = self._swaths(views.part(some), deepest[some], int(count))
        found = np.isfinite(clouds[:, :, 0]).sum(axis=1)
        return Expanded(found[:, None].astype(np.float64), found > 0, clouds)

    def _deepest(self, start: Array, ocean: Ocean) -> Array:
        """(K,) depth down to which sound is followed, m."""
        end = start + self.range
        bottom = None if ocean.seabed is None else ocean.seabed.depth
        if isinstance(bottom, HeightGrid):
            return np.minimum(end, float(np.max(np.asarray(bottom.depth))) + 1.0)
        return end if bottom is None else np.minimum(end, float(bottom) + 1.0)

    def _swaths(self, views: Views, deepest: Array, layers: int) -> Single:
        """(K, B, fields) soundings of pings, with sound followed through so many layers."""
        place = views.position
        attitude = np.moveaxis(rotation_matrix(views.attitude.T), -1, 0)
        fan = np.stack([np.sin(self.angles), np.cos(self.angles)])
        met = self._follow(views, attitude[:, :, 1:] @ fan, deepest, layers)
        there = attitude.transpose(0, 2, 1) @ (met.place - place[:, :, None])
        ranges = met.time * self.column.speed_at(place[:, 2:])
        intensity = self._intensity(place[:, 2:], met, ranges)
        clouds = np.empty((len(place), len(self.angles), len(FIELDS)), np.float32)
        clouds[..., 5] = self.angles
        if not self.exact:
            shape = ranges.shape
            streams = [stream(*of) for of in zip(views.keys, views.number.tolist(), strict=True)]
            noise = normals_of(streams, 2 * shape[1]).reshape(len(place), 2, shape[1])
            intensity += np.float32(self.noise)
            intensity *= exponentials_of(streams, shape[1])
            if self.sound_speed is not None:
                straight = met.time * self.sound_speed
                there = np.stack([0.0 * straight, *(part * straight for part in fan)], axis=1)
            # Both errors move a sounding: along its ray, and across it.
            farther, aside = self.range_noise * noise[:, 0], self.angle_noise * noise[:, 1]
            x, y, z = (there[:, c] for c in range(3))
            stretch = 1.0 + farther / np.maximum(np.sqrt(x * x + y * y + z * z), 1e-9)
            y, z = stretch * y + aside * z, stretch * z - aside * y
            there = np.stack([stretch * x, y, z], axis=1)
            ranges += farther
            clouds[..., 5] += aside
            there[:, 0][intensity < self.over_noise * self.noise] = np.nan
        clouds[..., :3] = there.transpose(0, 2, 1)
        clouds[..., 3] = 10.0 * np.log10(np.maximum(intensity, np.float32(QUIETEST)))
        clouds[..., 4] = ranges
        clouds[~np.isfinite(there[:, 0])] = np.nan
        return clouds

    def _follow(self, views: Views, along: Array, deepest: Array, layers: int) -> "Met":
        """Where beams that leave along world directions (K, 3, B) meet something."""
        place, (pings, _, beams) = views.position, along.shape
        north, east, down = (along[:, c] for c in range(3))
        level = np.sqrt(north * north + east * east)
        followed = (down > FLATTEST) & (deepest > place[:, 2])[:, None]
        rays = self.column.trace(place[:, 2], deepest, layers, np.where(followed, level, 0.0))
        # Chords, of which each begins where the one above ends; (3, K, M, B).
        side = np.stack([north, east]) / np.maximum(level, 1e-12)
        out, fall = np.diff(rays.out, axis=1), np.diff(rays.depth, axis=1)
        length = np.sqrt(out * out + fall * fall)
        begin, ways = (np.empty((3, *length.shape), kind) for kind in (np.float64, np.float32))
        for c in range(2):
            np.multiply(rays.out[:, :-1], side[c, :, None], out=begin[c])
            begin[c] += place[:, c, None, None]
            ways[c] = side[c, :, None] * out / length
        begin[2] = rays.depth[:, :-1]
        ways[2] = fall / length
        begin, ways = begin.reshape(3, -1), ways.reshape(3, -1)
        reach = length.astype(np.float32).reshape(-1)
        # What turned, or goes up, is not followed.
        lost = np.flatnonzero(~(followed[:, None] & (length > 0.0)))
        begin[:, lost], ways[:, lost], reach[lost] = 0.0, DOWN, 0.0
        when = views.number[:, None].astype(np.float64) * self.period
        hits = self.scene.cast(begin.T, ways.T, when, views.others, reach)
        if not len(hits.ray):
            return Met.nothing(pings, beams)
        # A beam ends in the first layer in which it meets something.
        rows = np.full((pings, layers, beams), -1)
        rows.reshape(-1)[hits.ray] = np.arange(len(hits.ray))
        row, layer = np.full((pings, beams), -1), np.zeros((pings, beams), np.intp)
        for m in reversed(range(layers)):
            there = rows[:, m] >= 0
            np.copyto(row, rows[:, m], where=there)
            np.copyto(layer, m, where=there)
        nothing = np.flatnonzero(row < 0)
        ray, far = (part.take(row, mode="clip") for part in (hits.ray, hits.distance))
        spot = np.empty((pings, 3, beams))
        for c in range(3):
            np.multiply(far, ways[c].take(ray), out=spot[:, c])
            spot[:, c] += begin[c].take(ray)
        speed = self.column.speed_at(place[:, 2:])
        step = np.arange(pings)[:, None]
        time = rays.time.take(ray + step * beams)
        above = rays.speed.take(layer + step * (layers + 1))
        time += self.column.time_into(begin[2].take(ray), above, spot[:, 2], level / speed)
        time.reshape(-1)[nothing] = np.nan
        spot[:, 0][~(time * speed <= self.range)] = np.nan
        return Met(
            spot, time, hits.cosine.take(row, mode="clip"), hits.material.take(row, mode="clip")
        )

    def _intensity(self, depth: Array, met: "Met", ranges: Array) -> Single:
        """(K, B) mean of the echoes, µPa²; their levels need no more than single precision."""
        cosine, far = met.cosine.astype(np.float32), ranges.astype(np.float32)
        sine = np.sqrt(np.maximum(1.0 - cosine * cosine, np.float32(1e-12)))
        slant = np.cos(self.angles).astype(np.float32) * cosine
        wide = np.float32(self.across) / np.maximum(slant, np.float32(1e-3))
        pulse = (0.5 * self.column.speed_at(depth) * self.pulse).astype(np.float32)
        area = np.minimum(wide, pulse / np.maximum(far * sine, np.float32(1e-9)))
        # `strength` is S over cos γ, for a patch that a solid angle cuts out; A is the patch.
        echo = self.targets.strength(met.material, cosine)
        echo *= cosine
        echo *= area
        echo *= np.exp(-(NEPERS * self.column.absorption_at(depth)).astype(np.float32) * far)
        echo /= np.square(np.maximum(far, np.float32(1e-3)))
        echo *= np.float32(self.source * self.along)
        return np.asarray(echo, np.float32)


class Met(NamedTuple):
    """Where beams met something."""

    place: Array
    """(K, 3, B) NED; north is NaN where nothing."""
    time: Array
    """(K, B) one way, s; NaN where nothing."""
    cosine: Array
    """(K, B) of the incidence."""
    material: NDArray[np.integer]
    """(K, B)."""

    @classmethod
    def nothing(cls, pings: int, beams: int) -> "Met":
        """Of beams that met nothing at all."""
        none = np.full((pings, beams), np.nan)
        place = np.full((pings, 3, beams), np.nan)
        return cls(place, none, np.ones_like(none), np.zeros(none.shape, np.int32))
