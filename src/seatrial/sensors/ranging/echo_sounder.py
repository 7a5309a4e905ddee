"""Single-beam echo sounder: the level of the echo over range, and the bottom found in it.

The sonar equation, resolved in time (Urick 1983, chapters 2 and 8). For a source level SL the mean
intensity at the transducer, in µPa², is the sum of

    the bottom          10^(SL/10) · mean echo            see `bottom_echo`
    its second echo     from bottom, surface and bottom: the echo of a bottom at the height h + D
                        under the mirrored surface, D the depth of the water, times the share R of
                        the intensity that the bottom reflects. Right in time, and to a few dB in
                        level, for a beam near the vertical
    the water           10^(SL/10) · s_V Ψ L / r² · 10^(−2αr/10), as far as the beam has not met the
                        bottom
    the noise           (10^(N_th/10) / D_I + 10^(N_s/10)) / τ, N_th = −15 + 20 log f[kHz] from the
                        heat of the water (Mellen 1952), reduced by the directivity, N_s the
                        device's own, both dB re 1 µPa²/Hz, in the bandwidth 1/τ of the pulse

L = cτ/2, Ψ the two-way beam angle. Over a map the bottom is the plane of the facet that the axis of
the beam meets, at its own distance and inclination, and so is a solid before it. No echo of the
surface itself, no bending of rays: sound goes straight, at the harmonic mean speed of the water
between sensor and bottom, with the mean absorption there. Inside the near field π a²/λ the water's
echo does not rise further.

All of these are sums of many small echoes, so the sound pressure is a complex Gaussian noise of the
mean intensity and the intensity of one look is exponentially distributed (Rayleigh amplitudes).
A bin longer than the pulse averages n = Δt/τ looks: a gamma distribution of shape n. In bins
shorter than the pulse neighbours hear the same scatterers: the noise is smoothed over the pulse.

The payload is the level 10 log₁₀ of the intensity, dB re 1 µPa, as received: no time-varied gain.
Add 20 log r + 2αr to compare echoes of water, 40 log r + 2αr for echoes of single targets.
"""

import math
from dataclasses import dataclass, replace

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.ocean import Ocean, seabed
from seatrial.sensors.noise.streams import stream
from seatrial.sensors.ranging.bottom_echo import NEPERS, BottomTables, Geometry
from seatrial.sensors.ranging.bottom_rays import Met, Reach
from seatrial.sensors.ranging.detection import Detector
from seatrial.sensors.ranging.solid_rays import meet_first
from seatrial.sensors.tap import Expanded, Views
from seatrial.signals import PayloadInfo
from seatrial.spatial.vectors import vec3

Array = NDArray[np.float64]


@jax.jit
def _meet(
    ocean: Ocean,
    reach: Reach | None,
    sight: jax.Array | None,
    start: jax.Array,
    along: jax.Array,
    t: jax.Array,
) -> Met:
    """What the axes of some samples (3, K) at the times (K,) meet."""

    def one(at: jax.Array, way: jax.Array, time: jax.Array) -> Met:
        met = meet_first(ocean, reach, vec3(at), vec3(way[:, None]), sight, time)
        assert met is not None
        return Met(*(part[0] for part in met))

    return jax.vmap(one, in_axes=(1, 1, 0))(start, along, t)


THINNEST = 0.1
"""Water of which means are taken, m: a beam may be level."""

QUIETEST = 1.0
"""Least intensity that is told, µPa²: levels begin at 0 dB."""


@dataclass(frozen=True)
class Medium:
    """Water over depth, summed up from the surface: a mean is a difference over a thickness."""

    depth: Array
    """(Z,) rising, m."""
    travel: Array
    """(Z,) time of sound from the surface, s."""
    loss: Array
    """(Z,) absorption from the surface, dB."""

    def means(self, top: Array, bottom: Array) -> tuple[Array, Array]:
        """Sound speed (harmonic mean, m/s) and absorption (dB/m) between two depths."""
        thickness = bottom - top

        def added(sums: Array) -> Array:
            low, high = (np.interp(z, self.depth, sums) for z in (top, bottom))
            return np.asarray(high - low)

        return thickness / added(self.travel), added(self.loss) / thickness


@dataclass(frozen=True)
class EchoSounder:
    """An echo sounder looking along its z axis."""

    tables: BottomTables
    two_way: float
    """Ψ, sr."""
    near_field: float
    """m."""
    medium: Medium
    reflection: float
    """Of the bottom, share of the intensity."""
    source: float
    """10^(SL/10)."""
    volume: float
    """s_V, 1/m."""
    noise: float
    """Mean intensity, µPa²."""
    pulse: float
    """τ, s."""
    range: float
    """End of the last bin, m."""
    bins: int
    sound_speed: float | None
    """That the device assumes; None where it knows the mean of the water."""
    detector: Detector
    exact: bool
    """No noise and no speckle, and the range along the axis instead of a detection."""
    ceiling: float | None
    """Intensity at which the receiver saturates."""
    step: float | None
    """Of the levels, dB."""
    reach: Reach | None = None
    """Over a map."""
    sight: jax.Array | None = None
    """As far as solids are looked for, m; None in a world that has none."""
    period: float = 1.0
    """From sample to sample, s."""

    @property
    def payload(self) -> PayloadInfo:
        """One beam."""
        return PayloadInfo("echogram", (1, self.bins), "float32", "dB re 1 uPa")

    def expand(self, views: Views, ocean: Ocean) -> Expanded:
        """Range of the bottom (m), its echo over the noise (dB); echograms."""
        place = views.position
        w, x, y, v = views.attitude.T
        axis = np.stack([2.0 * (x * v + w * y), 2.0 * (y * v - w * x), 1.0 - 2.0 * (x * x + y * y)])
        tilt = np.arccos(np.clip(axis[2], -1.0, 1.0))
        z = place[:, 2]
        depth = np.full_like(z, math.inf)
        height = depth
        if self.reach is not None or self.sight is not None:
            with jax.enable_x64(True):  # of this thread, whichever expands the taps
                height, tilt, depth = self._plane(
                    ocean, place, axis, self.period * views.number.astype(np.float64)
                )
        elif ocean.seabed is not None:
            depth[:] = seabed.under(ocean.seabed, place[:, 0], place[:, 1])
            height = depth - z
        over = np.isfinite(height) & (height > 0.0)
        speed, absorption = self.medium.means(z, np.where(over, depth, z + 1.0))
        told = speed if self.sound_speed is None else np.full_like(z, self.sound_speed)
        edges = np.linspace(0.0, self.range, self.bins + 1)
        true = (speed / told)[:, None] * edges

        mean = np.zeros((len(z), self.bins))
        pulse = 0.5 * speed * self.pulse
        for share, far in ((1.0, height), (self.reflection, height + depth)):
            heard = over & (far < true[:, -1])
            if heard.any():
                some = Geometry(self.tables, far[heard], tilt[heard])
                echo = self.tables.mean_echo(some, true[heard], pulse[heard], absorption[heard])
                mean[heard] += share * echo
        mean += self._water(true, pulse, absorption, over, height, tilt)
        mean *= self.source
        if self.exact:
            intensity = mean
        else:
            intensity = (mean + self.noise) * self._speckle(views, 2.0 * self.range / told)
        if self.ceiling is not None:
            intensity = np.minimum(intensity, self.ceiling)

        found = self.detector.find(
            intensity, edges, absorption, 0.5 * told * self.pulse, self.noise
        )
        values, valid = np.stack([found.range, found.excess], axis=1), found.valid & over
        if self.exact:
            cosine = np.cos(tilt)
            valid = over & (cosine > 1e-6)
            values[:, 0] = height / np.where(valid, cosine, 1.0)
        levels = 10.0 * np.log10(np.maximum(intensity, QUIETEST))
        if self.step is not None:
            levels = self.step * np.rint(levels / self.step)
        values = np.where(valid[:, None], values, 0.0)
        return Expanded(values, valid, levels.astype(np.float32)[:, None, :])

    def _plane(
        self, ocean: Ocean, place: Array, axis: Array, time: Array
    ) -> tuple[Array, Array, Array]:
        """The facet that the axis meets as a plane: its distance (m), how much its normal is
        inclined to the axis (rad), and the depth of the place (m); infinite where it meets none."""
        count = len(place)
        # One program for many numbers of samples.
        room = 1 << max(count - 1, 1).bit_length()
        rows = np.concatenate([place.T, axis, time[None]])
        padded = np.pad(rows, ((0, 0), (0, room - count)), mode="edge")
        around = replace(ocean, waves=None, current=None, wind=None, turbulence=None)
        met = _meet(around, self.reach, self.sight, padded[:3], padded[3:6], padded[6])
        length, cosine = (np.asarray(part, np.float64)[:count] for part in met)
        there = (length > 0.0) & (cosine > 0.0)
        height = np.where(there, length * cosine, math.inf)
        tilt = np.arccos(np.clip(cosine, 0.0, 1.0))
        thickness = np.maximum(length * axis[2], THINNEST)
        return height, tilt, np.where(there, place[:, 2] + thickness, math.inf)

    def _water(
        self,
        edges: Array,
        pulse: Array,
        absorption: Array,
        over: NDArray[np.bool_],
        height: Array,
        tilt: Array,
    ) -> Array:
        """(K, B) echo of the water, source level 0 dB."""
        middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
        loss = np.exp(-NEPERS * absorption[:, None] * middle)
        echo = (self.volume * self.two_way * pulse)[:, None] * loss
        echo /= np.maximum(middle, self.near_field) ** 2
        if over.any():
            some = Geometry(self.tables, height[over], tilt[over])
            echo[over] *= self.tables.clear_share(some, middle[over])
        return np.asarray(echo)

    def _speckle(self, views: Views, listening: Array) -> Array:
        """(K, B) intensity over its mean; `listening` (K,) is the time of all bins, s."""
        looks = listening / (self.bins * self.pulse)
        found = np.empty((len(looks), self.bins))
        for i, (n, key, number) in enumerate(zip(looks, views.keys, views.number, strict=True)):
            random = stream(key, int(number))
            shared = round(1.0 / n)
            if shared <= 1:
                shape = max(n, 1.0)
                random.standard_gamma(shape, out=found[i])
                found[i] /= shape
                continue
            drawn = random.standard_normal((2, self.bins + shared))
            drawn[:, 0] = 0.0
            sums = np.cumsum(drawn, axis=1)
            field = sums[:, shared:] - sums[:, :-shared]
            found[i] = (field[0] ** 2 + field[1] ** 2) / (2.0 * shared)
        return found
