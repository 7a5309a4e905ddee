"""Sun and sky, and the air between.

Light is counted so that a white surface square to the sun above the air has the radiance 1: the sun
gives an irradiance of π per band, which stands for 133 klx (a solar constant of 1361 W/m² at 98
lm/W); colours of the sun above the air are all alike.

Through the air sunlight fades by exp(−τ m), with the air mass m of Kasten and Young (1989, Applied
Optics 28) and the optical depth τ of molecules (0.008735 λ^−4.08, λ in µm) and haze (0.02 λ^−1.3,
Ångström's law of clean sea air). The sky is light scattered once in air of one kind (Chandrasekhar
1960, chapter IX): towards a place of air mass m' at the angle γ from the sun

    L = E/4π (P_m τ_m + P_h τ_h)/τ · m' (exp(−τ m) − exp(−τ m')) / (m' − m)

with Rayleigh's phase function P_m and Henyey and Greenstein's of 0.7 for haze. What is scattered
out of the way is mostly scattered back into it: on its way scattered light is taken to fade by less
than half of τ, which leaves horizons bright, and some of it to come evenly from all around. Clouds
are an even grey that takes most of the sun's beam. Good to the eye, not to a photometer. There is
no night: below the horizon the sun is taken to stand on it, fading over 6°.

Fog: contrast falls by Koschmieder, exp(−3.912 d / V), towards the colour of the horizon, the same
in all bands. Its light is that of the horizon.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seatrial.render.water import BANDS

Array = NDArray[np.float64]

SUN = math.pi
"""Irradiance above the air."""
ILLUMINANCE = 133_000.0
"""Of the sun above the air, lx."""
SUN_RADIUS = math.radians(0.2666)
"""Of the disc seen from Earth."""
KOSCHMIEDER = 3.912
CLEAR = 80_000.0
"""Visibility of clear air, m."""
HAZE_COSINE = 0.7
AGAIN = 0.5
"""Light of molecules that comes evenly, over what they scatter once; an assumption."""
_FADING = 0.45
"""Share of the optical depth by which scattered light fades; an assumption."""
_CLOUD_DEPTH = 3.0
"""Optical depth of a closed cover for the sun's beam; an assumption."""
_CLOUD_SHARE = 0.5
"""Of what a cover takes from the beam and the sky, that comes through it evenly."""


@dataclass(frozen=True)
class Sky:
    """Sun, sky and fog of an instant."""

    elevation: float
    """Of the sun, rad."""
    azimuth: float
    """Of the sun, from north through east, rad."""
    cloud: float = 0.0
    """Cover, from 0 to 1."""
    visibility: float = CLEAR
    """m."""

    @property
    def sun_direction(self) -> Array:
        """(3,) towards the sun, NED."""
        e = max(self.elevation, 0.0)
        level = math.cos(e)
        return np.array(
            [level * math.cos(self.azimuth), level * math.sin(self.azimuth), -math.sin(e)]
        )

    @property
    def extinction(self) -> float:
        """Of light in the air along a level path, 1/m."""
        return KOSCHMIEDER / self.visibility

    @cached_property
    def sun_irradiance(self) -> Array:
        """(3,) on a surface square to the sun, after the air and the clouds."""
        mass = float(air_mass(np.array(math.sin(max(self.elevation, 0.0)))))
        through = np.exp(-sum(_depths()) * mass)
        return np.asarray(SUN * through * self._daylight * math.exp(-_CLOUD_DEPTH * self.cloud))

    @cached_property
    def sky_irradiance(self) -> Array:
        """(3,) of the sky alone on a level surface."""
        up = (np.arange(24) + 0.5) / 24.0
        around = np.linspace(0.0, math.pi, 24)
        sine, angle = np.meshgrid(up, around, indexing="ij")
        level = np.sqrt(1.0 - sine**2)
        towards = np.stack(
            [
                level * np.cos(self.azimuth + angle),
                level * np.sin(self.azimuth + angle),
                -sine,
            ]
        )
        return np.asarray(2.0 * math.pi * np.mean(self.radiance(towards) * sine, axis=(1, 2)))

    @cached_property
    def horizon(self) -> Array:
        """(3,) radiance of the sky above the horizon, all around: the colour of fog."""
        around = np.linspace(0.0, 2.0 * math.pi, 16, endpoint=False)
        low = math.radians(2.0)
        towards = np.stack(
            [
                math.cos(low) * np.cos(around),
                math.cos(low) * np.sin(around),
                np.full(16, -math.sin(low)),
            ]
        )
        return np.asarray(self.radiance(towards).mean(axis=1))

    def radiance(self, towards: Array) -> Array:
        """(3, ...) of the sky without the sun's disc, towards unit vectors (3, ...), NED; below
        the horizon as on it."""
        sine = np.maximum(-towards[2], 0.0)
        x, y, z = self.sun_direction
        angle = x * towards[0] + y * towards[1] + z * -sine
        return self._scattered(sine, np.clip(angle, -1.0, 1.0))

    @cached_property
    def table(self) -> "SkyTable":
        """The same for many directions at once."""
        return SkyTable(self)

    @property
    def _daylight(self) -> float:
        return float(np.clip(1.0 + self.elevation / math.radians(6.0), 0.0, 1.0))

    def _scattered(self, sine: Array, cosine: Array) -> Array:
        """(3, ...) at the sine of an elevation and the cosine of the angle from the sun."""
        molecules, haze = (d.reshape(3, *(1,) * sine.ndim) for d in _depths())
        depth = molecules + haze
        rayleigh = 0.75 * (1.0 + cosine**2)
        g = HAZE_COSINE
        forward = (1.0 - g * g) / (1.0 + g * g - 2.0 * g * cosine) ** 1.5
        phase = (molecules * (rayleigh + AGAIN) + haze * forward) / depth
        fading = _FADING * depth
        here = air_mass(sine)
        sun = float(air_mass(np.array(math.sin(max(self.elevation, 0.0)))))
        apart = here - sun
        apart = np.where(np.abs(apart) < 1e-3, 1e-3, apart)
        path = here * (np.exp(-fading * sun) - np.exp(-fading * (sun + apart))) / (_FADING * apart)
        clear = SUN / (4.0 * math.pi) * phase * path * self._daylight
        return np.asarray((1.0 - self.cloud) * clear + self.cloud * self._covered(sine))

    def _covered(self, sine: Array) -> Array:
        """Radiance of a closed cover, three times as bright overhead as at its edge (Moon and
        Spencer 1942)."""
        grey = _CLOUD_SHARE * SUN * self._daylight * math.sin(max(self.elevation, 0.05)) / math.pi
        return np.asarray(grey * (3.0 / 7.0) * (1.0 + 2.0 * sine))


def sun_place(time: datetime, latitude: float, longitude: float) -> tuple[float, float]:
    """Elevation and azimuth of the sun, rad, at a time (UTC) and a place (degrees), by the low
    precision formulas of the Astronomical Almanac (Michalsky 1988, Solar Energy 40(3)): within
    0.01° until 2050, without refraction."""
    time = time.astimezone(UTC)
    days = (time - datetime(2000, 1, 1, 12, tzinfo=UTC)).total_seconds() / 86_400.0
    mean = math.radians(280.460 + 0.9856474 * days)
    anomaly = math.radians(357.528 + 0.9856003 * days)
    ecliptic = mean + math.radians(1.915 * math.sin(anomaly) + 0.020 * math.sin(2.0 * anomaly))
    tilt = math.radians(23.439 - 4e-7 * days)
    right = math.atan2(math.cos(tilt) * math.sin(ecliptic), math.cos(ecliptic))
    declination = math.asin(math.sin(tilt) * math.sin(ecliptic))
    hours = time.hour + time.minute / 60.0 + time.second / 3600.0
    sidereal = math.radians(15.0 * (6.697375 + 0.0657098242 * days + hours) + longitude)
    hour = sidereal - right
    phi = math.radians(latitude)
    sine = math.sin(declination) * math.sin(phi) + math.cos(declination) * math.cos(phi) * math.cos(
        hour
    )
    east = -math.cos(declination) * math.sin(hour)
    north = math.sin(declination) * math.cos(phi) - math.cos(declination) * math.sin(
        phi
    ) * math.cos(hour)
    return math.asin(sine), math.atan2(east, north) % (2.0 * math.pi)


def air_mass(sine: Array) -> Array:
    """How much more air than overhead lies towards the sine of an elevation (Kasten and Young
    1989)."""
    degrees = np.degrees(np.arcsin(np.clip(sine, 0.0, 1.0)))
    return np.asarray(1.0 / (sine + 0.50572 * (degrees + 6.07995) ** -1.6364))


def _depths() -> tuple[Array, Array]:
    """(3,) optical depths of molecules and haze, overhead."""
    micron = 1e-3 * BANDS
    return 0.008735 * micron**-4.08, 0.02 * micron**-1.3


class SkyTable:
    """The same sky, looked up in single precision: what depends on the elevation and what depends
    on the angle from the sun is tabulated apart."""

    STEPS = 2047

    def __init__(self, sky: Sky) -> None:
        self._sun = sky.sun_direction.astype(np.float32)
        # Square roots of sines: the sky changes fastest above the horizon.
        sine = np.square(np.arange(self.STEPS + 1) / self.STEPS)
        square = np.broadcast_to(0.0, sine.shape)
        molecules, haze = _depths()
        # Across the sun Rayleigh's phase function is 0.75 and the haze's is known: two values of it
        # tell the path from the cover.
        across = sky._scattered(sine, square)
        clouds = sky.cloud * sky._covered(sine)
        depth = (molecules + haze)[:, None]
        g = HAZE_COSINE
        aside = (1.0 - g * g) / (1.0 + g * g) ** 1.5
        phase = (molecules[:, None] * (0.75 + AGAIN) + haze[:, None] * aside) / depth
        path = (across - clouds) / phase
        share = molecules[:, None] / depth
        self.path, self.clouds = path, clouds
        """Light scattered on the way to the top of the air, (3, N), for a phase function of 1, and
        light of the clouds, (N,), at the square roots of sines."""
        self.molecular = share[:, 0]
        """(3,) share of it that molecules scatter, and not haze."""
        self.even = (path * share * (0.75 + AGAIN) + clouds).astype(np.float32)
        self.curved = (path * share * 0.75).astype(np.float32)
        self.hazy = (path * (1.0 - share)).astype(np.float32)
        cosine = np.linspace(-1.0, 1.0, self.STEPS + 1)
        self.forward = ((1.0 - g * g) / (1.0 + g * g - 2.0 * g * cosine) ** 1.5).astype(np.float32)

    def radiance(self, towards: NDArray[np.float32]) -> NDArray[np.float32]:
        """(3, P) towards unit vectors (3, P), NED; below the horizon as above it."""
        sine = np.abs(towards[2])
        row = (np.sqrt(sine) * np.float32(self.STEPS)).astype(np.int32)
        np.minimum(row, self.STEPS, out=row)
        x, y, z = self._sun
        cosine = x * towards[0] + y * towards[1] - z * sine
        place = ((cosine + np.float32(1.0)) * np.float32(0.5 * self.STEPS)).astype(np.int32)
        np.clip(place, 0, self.STEPS, out=place)
        forward = self.forward.take(place)
        cosine *= cosine
        found = np.empty((3, len(sine)), np.float32)
        for band in range(3):
            found[band] = self.even[band].take(row)
            found[band] += self.curved[band].take(row) * cosine
            found[band] += self.hazy[band].take(row) * forward
        return found
