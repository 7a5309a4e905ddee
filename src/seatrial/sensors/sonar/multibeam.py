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

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.bodies import rotation_matrix
from seatrial.geometry.grid import HeightGrid
from seatrial.geometry.rays import RayScene
from seatrial.ocean import Ocean
from seatrial.sensors.noise.streams import stream
from seatrial.sensors.ranging.bottom_echo import NEPERS
from seatrial.sensors.ranging.echo_sounder import QUIETEST
from seatrial.sensors.sonar.column import Column
from seatrial.sensors.sonar.targets import Targets
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo

Array = NDArray[np.float64]

FIELDS = ("x", "y", "z", "intensity", "range", "angle")
"""Of a sounding: its place in the sensor's axes (m), the level of its echo (dB re 1 µPa), the time
there times the sound speed at the sensor (m) and the angle at which its beam leaves (rad)."""

FLATTEST = math.cos(math.radians(89.0))
"""Cosine with the vertical of the flattest beam that is followed."""
DOWN = np.array([0.0, 0.0, 1.0]).reshape(3, 1, 1, 1)


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

    def _swaths(self, views: Views, deepest: Array, layers: int) -> Array:
        """(K, B, fields) soundings of pings, with sound followed through so many layers."""
        place, beams = views.position, len(self.angles)
        attitude = np.moveaxis(rotation_matrix(views.attitude.T), -1, 0)
        sine, cosine = np.sin(self.angles), np.cos(self.angles)
        # Down, and how far aside each beam goes; (K, B) each.
        y, z = attitude[:, :, 1, None], attitude[:, :, 2, None]
        north, east, down = np.moveaxis(y * sine + z * cosine, 1, 0)
        met = self._follow(views, north, east, down, deepest, layers)
        away = met.place - place.T[:, :, None]
        there = np.stack(
            [sum(m[:, None] * a for m, a in zip(row, away, strict=True)) for row in attitude.T]
        )
        ranges = met.time * self.column.speed_at(place[:, 2:])
        angles = np.broadcast_to(self.angles, ranges.shape)
        intensity = self._intensity(place[:, 2:], met, ranges)
        if not self.exact:
            draws, speckle = np.empty((2, *ranges.shape)), np.empty(ranges.shape)
            for k, number in enumerate(views.number.tolist()):
                random = stream(views.keys[k], number)
                draws[:, k] = random.standard_normal((2, beams))
                random.standard_exponential(out=speckle[k])
            intensity = (intensity + self.noise) * speckle
            if self.sound_speed is not None:
                straight = met.time * self.sound_speed
                there = np.stack([0.0 * straight, sine * straight, cosine * straight])
            # Both errors move a sounding: along its ray, and across it.
            farther, aside = self.range_noise * draws[0], self.angle_noise * draws[1]
            stretch = 1.0 + farther / np.maximum(np.sqrt(np.sum(there**2, axis=0)), 1e-9)
            x, y, z = there
            there = np.stack([stretch * x, stretch * y + aside * z, stretch * z - aside * y])
            ranges, angles = ranges + farther, angles + aside
            there[0, intensity < self.over_noise * self.noise] = np.nan
        level = 10.0 * np.log10(np.maximum(intensity, QUIETEST))
        clouds = np.stack([*there, level, ranges, angles], axis=-1)
        clouds[~np.isfinite(there[0])] = np.nan
        return clouds

    def _follow(
        self, views: Views, north: Array, east: Array, down: Array, deepest: Array, layers: int
    ) -> "Met":
        """Where beams (K, B) that leave along world directions meet something."""
        place, shape = views.position, down.shape
        level = np.sqrt(north**2 + east**2)
        followed = (down > FLATTEST) & (deepest > place[:, 2])[:, None]
        rays = self.column.trace(place[:, 2], deepest, layers, np.where(followed, level, 0.0))
        aside = rays.out / np.maximum(level, 1e-12)[:, None]
        corners = np.stack(
            [
                place[:, :1, None] + aside * north[:, None],
                place[:, 1:2, None] + aside * east[:, None],
                np.broadcast_to(rays.depth, aside.shape),
            ]
        )
        begin, way = corners[:, :, :-1], np.diff(corners, axis=2)
        length = np.sqrt(np.sum(way**2, axis=0))
        whole = followed[:, None] & np.isfinite(length) & (length > 0.0)
        begin = np.where(whole, begin, 0.0).reshape(3, -1)
        ways = np.where(whole, way / np.where(whole, length, 1.0), DOWN).reshape(3, -1)
        hits = self.scene.cast(
            begin.T,
            ways.T,
            views.number[:, None].astype(np.float64) * self.period,
            views.others,
            np.where(whole, length, 0.0).ravel(),
        )
        pings, beams = shape
        ping, rest = np.divmod(hits.ray, layers * beams)
        layer, beam = np.divmod(rest, beams)
        # Layers come in order, and a beam ends in the first in which it meets something.
        row = np.full(pings * beams, -1)
        row[(ping * beams + beam)[::-1]] = np.arange(len(hits.ray))[::-1]
        which = np.flatnonzero(row >= 0)
        chosen = row.take(which)
        at, k, m = (a.take(chosen) for a in (hits.ray, ping, layer))
        far = hits.distance.take(chosen)
        spot = [a.take(at) + far * b.take(at) for a, b in zip(begin, ways, strict=True)]
        speed = self.column.speed_at(place[:, 2])
        there = k * (layers + 1) + m
        time = rays.time.take(there * beams + which - k * beams)
        bent = level.take(which) / speed.take(k)
        time += self.column.time_into(rays.depth.take(there), spot[2], bent)
        spot[0][time * speed.take(k) > self.range] = np.nan
        met = Met(
            np.full((3, *shape), np.nan),
            np.full(shape, np.nan),
            np.ones(shape),
            np.zeros(shape, np.int32),
        )
        for whole, part in zip(met.place, spot, strict=True):
            whole.reshape(-1)[which] = part
        met.time.reshape(-1)[which] = time
        met.cosine.reshape(-1)[which] = hits.cosine.take(chosen)
        met.material.reshape(-1)[which] = hits.material.take(chosen)
        return met

    def _intensity(self, depth: Array, met: "Met", ranges: Array) -> Array:
        sine = np.sqrt(np.maximum(1.0 - met.cosine**2, 1e-12))
        wide = self.across / np.maximum(np.cos(self.angles) * met.cosine, 1e-3)
        pulse = 0.5 * self.column.speed_at(depth) * self.pulse
        area = self.along * np.minimum(wide, pulse / np.maximum(ranges * sine, 1e-9))
        # `strength` is S over cos γ, for a patch that a solid angle cuts out; A is the patch.
        echo = self.targets.strength(met.material, met.cosine) * met.cosine * area
        loss = np.exp(-NEPERS * self.column.absorption_at(depth) * ranges)
        return np.asarray(self.source * echo * loss / np.maximum(ranges, 1e-3) ** 2)


@dataclass(frozen=True)
class Met:
    """Where beams met something."""

    place: Array
    """(3, K, B) NED; north is NaN where nothing."""
    time: Array
    """(K, B) one way, s."""
    cosine: Array
    """(K, B) of the incidence."""
    material: NDArray[np.integer]
    """(K, B)."""
