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
        for i, number in enumerate(views.number):
            random = None if self.exact else stream(views.keys[i], int(number))
            clouds[i] = self._swath(
                views.position[i],
                rotation_matrix(views.attitude[i]),
                float(number) * self.period,
                ocean,
                None if views.others is None else views.others[i],
                random,
            )
        found = np.isfinite(clouds[:, :, 0]).sum(axis=1)
        return Expanded(found[:, None].astype(np.float64), found > 0, clouds)

    def _swath(
        self,
        place: Array,
        attitude: Array,
        t: float,
        ocean: Ocean,
        others: Array | None,
        random: np.random.Generator | None,
    ) -> Array:
        """(B, fields) soundings of one ping."""
        own = np.stack([np.zeros_like(self.angles), np.sin(self.angles), np.cos(self.angles)], 1)
        met = self._follow(place, own @ attitude.T, t, others, self._deepest(place, ocean))
        there = (met.place - place) @ attitude
        speed = self.column.speed_at(place[2])
        ranges, angles = met.time * speed, self.angles
        intensity = self._intensity(place, met, ranges)
        if random is not None:
            draws = random.standard_normal((2, len(angles)))
            intensity = (intensity + self.noise) * random.standard_exponential(len(angles))
            if self.sound_speed is not None:
                there = own * (met.time * self.sound_speed)[:, None]
            # Both errors move a sounding: along its ray, and across it.
            farther, aside = self.range_noise * draws[0], self.angle_noise * draws[1]
            length = np.linalg.norm(there, axis=1)
            ahead = there / np.maximum(length, 1e-9)[:, None]
            starboard = np.stack([np.zeros_like(length), ahead[:, 2], -ahead[:, 1]], axis=1)
            there = there + farther[:, None] * ahead + (length * aside)[:, None] * starboard
            ranges, angles = ranges + farther, angles + aside
            there[intensity < self.over_noise * self.noise] = np.nan
        level = 10.0 * np.log10(np.maximum(intensity, QUIETEST))
        cloud = np.column_stack([there, level, ranges, angles])
        cloud[~np.isfinite(there[:, 0])] = np.nan
        return cloud

    def _deepest(self, place: Array, ocean: Ocean) -> float:
        """Depth down to which sound is followed, m."""
        end = float(place[2]) + self.range
        bottom = None if ocean.seabed is None else ocean.seabed.depth
        if isinstance(bottom, HeightGrid):
            return min(end, float(np.max(np.asarray(bottom.depth))) + 1.0)
        return end if bottom is None else min(end, float(bottom) + 1.0)

    def _follow(
        self, place: Array, directions: Array, t: float, others: Array | None, deepest: float
    ) -> "Met":
        """Where beams that leave along world directions (B, 3) meet something."""
        count = len(directions)
        met = Met(
            np.full((count, 3), np.nan),
            np.full(count, np.nan),
            np.ones(count),
            np.zeros(count, int),
        )
        start = float(place[2])
        down = np.flatnonzero(directions[:, 2] > FLATTEST)
        if deepest <= start or not len(down):
            return met
        leaving = directions[down]
        rays = self.column.trace(start, deepest, np.arccos(np.minimum(leaving[:, 2], 1.0)))
        level = np.linalg.norm(leaving[:, :2], axis=1)
        heading = leaving[:, :2] / np.maximum(level, 1e-12)[:, None]
        corners = np.empty((*rays.out.shape, 3))
        corners[..., :2] = place[:2] + rays.out[..., None] * heading[:, None, :]
        corners[..., 2] = rays.depth
        begin, way = corners[:, :-1], np.diff(corners, axis=1)
        length = np.linalg.norm(way, axis=2)
        whole = np.isfinite(length)
        beam, layer = np.nonzero(whole)
        ways = way[beam, layer] / length[beam, layer, None]
        hits = self.scene.cast(begin[beam, layer], ways, t, others)
        reached = hits.distance <= length[beam, layer] * (1.0 + 1e-9)
        first = np.flatnonzero(reached)
        _, chosen = np.unique(beam[first], return_index=True)  # layers come in order
        at = first[chosen]
        b, m = beam[at], layer[at]
        spot = begin[b, m] + hits.distance[at, None] * ways[at]
        parameter = level[b] / self.column.speed_at(start)
        time = rays.time[b, m] + self.column.time_into(rays.depth[m], spot[:, 2], parameter)
        cosine = np.abs(np.einsum("ij,ij->i", hits.normal[at], ways[at]))
        met.place[down[b]], met.time[down[b]] = spot, time
        met.cosine[down[b]], met.material[down[b]] = cosine, hits.material[at]
        met.place[met.time * self.column.speed_at(start) > self.range] = np.nan
        return met

    def _intensity(self, place: Array, met: "Met", ranges: Array) -> Array:
        sine = np.sqrt(np.maximum(1.0 - met.cosine**2, 1e-12))
        wide = self.across / np.maximum(np.cos(self.angles) * met.cosine, 1e-3)
        pulse = 0.5 * self.column.speed_at(place[2]) * self.pulse
        area = self.along * np.minimum(wide, pulse / np.maximum(ranges * sine, 1e-9))
        # `strength` is S over cos γ, for a patch that a solid angle cuts out; A is the patch.
        echo = self.targets.strength(met.material, met.cosine) * met.cosine * area
        loss = np.exp(-NEPERS * self.column.absorption_at(place[2]) * ranges)
        return np.asarray(self.source * echo * loss / np.maximum(ranges, 1e-3) ** 2)


@dataclass(frozen=True)
class Met:
    """Where beams met something."""

    place: Array
    """(B, 3) NED; NaN where nothing."""
    time: Array
    """(B,) one way, s."""
    cosine: Array
    """(B,) of the incidence."""
    material: NDArray[np.integer]
    """(B,)."""
