"""Sensors to aids of a navigation filter: what a data sheet says as the deviations of a filter."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.twin import DynamicsTwin
from seatrial.compile.sensors.fitting import lateness
from seatrial.compile.sensors.position import gnss_errors
from seatrial.conventions import GRAVITY, SEAWATER_DENSITY
from seatrial.gnc.navigation import aiding
from seatrial.gnc.navigation.aids import directions, places, velocities
from seatrial.gnc.navigation.consistency import threshold
from seatrial.gnc.navigation.kalman import Test
from seatrial.ocean import Water
from seatrial.ocean.water import density as density_at
from seatrial.pytree import constant
from seatrial.sensors.water.medium import ATMOSPHERE
from seatrial.signals import SensorInfo
from seatrial.spatial.rotations import rotation
from seatrial.spec import navigation as spec

Array = NDArray[np.float64]

KNOWN = (
    "gnss", "uwb", "lbl", "usbl", "pressure", "ctd", "dvl", "speed_log", "compass", "ahrs",
    "magnetometer",
)  # fmt: skip
"""Types of sensors that can aid."""

MEMORY = 10.0
"""Time over which the direct filter averages the fixes of a sensor, s: it has no states for slow
errors. One that stays for so long is not averaged away: it counts with the white noise that would
leave as much after this time."""

HEAVE, HEAVING = 0.25, 2.0
"""Heave of a surface craft where no waves are described, m, and its correlation time, s."""

BOBBING = 0.1
"""Share of the motion of the water that a craft in waves does not follow."""

PACE = 1.0
"""Speed below which wrong coefficients make the dynamics of a craft under water err in proportion
to it, m/s. One that floats drifts with the wind at any speed."""

SURGING, ORBITS = 0.3, 0.05
"""Velocity that waves give to a craft and its own dynamics know nothing of, m/s: to one that floats
where no waves are described, and to others. Where they are known, a craft under water does not
follow the share `BOBBING` of them."""

DAMPED = 0.25
"""Damping a/ω of the oscillator that stands for waves, over the width ν of their spectrum. Its
correlation would last as long as the sea's with 0.8, but it has more of high and of no frequency
than a sea. With a quarter depths of `bluerov2_heavy` and `otter` err by as much as is stated."""

MEAN = 0.5
"""Of the frequency of waves: below this share of it they displace nothing."""

LULL = 1.0
"""How long what a craft knows without a sensor errs to the same side, s: its dynamics and its
height above the water err with the waves. So often it is taken in; an IMU whose biases jumped is
found out too late where it is taken in half as often."""

WAVY = 0.5
"""Largest standard deviation of a depth by waves, m."""

UPRIGHT = 0.15
"""Roll and pitch of a craft of which nothing else is known, rad."""

LEVELS, COLUMN = (0.001, 1800.0), 20.0
"""What tide and weather do to a depth by pressure within a run, m, and for how long, s; and the
depth at which it is asked what a wrong density does to it, m."""

FADING, CERTAIN = 10.0, 1.0 - 1e-10
"""Time over which a sensor is judged by the mean of its innovations, s, and how sure the judgement
is: innovations of neighbouring samples are not quite independent, so surer than it looks."""

HASTE = 10.0
"""How long a sensor that never fitted may be found wrong, s."""

SILENCE = (2.0, 3.0)
"""A sensor is silent when it was not heard for so many seconds and so many of its periods."""

HOURS = 10.0
"""Within which a sensor that is well is not to be found frozen but once in a thousand cases."""

NEVER = 2**30
"""Samples."""

_LEAST = {"position": 0.005, "depth": 0.001, "velocity": 0.003, "angle": 1e-4, "field": 1e-7}
"""Deviations below which no sensor is believed: an IMU errs in ways that a filter has no state for,
and a sensor without errors would be rejected for them. m, m/s, rad, T."""


class Error(NamedTuple):
    """A slow error of a sensor: what stays, and what drifts with a correlation time (s)."""

    fixed: float
    drift: float = 0.0
    time: float = math.inf


class Sea(NamedTuple):
    """What a filter is told of the waves."""

    variance: float
    """Of the elevation, m²."""
    fading: float
    """κ of e^(−κz), 1/m."""
    frequency: float
    """rad/s."""
    width: float
    """ν of the spectrum, √(m₀ m₂/m₁² − 1) (Longuet-Higgins 1975)."""


class Makers:
    """Aids from sensors; every deviation is what the description says, and the filter's own."""

    def __init__(
        self,
        described: spec.Navigation,
        imu: SensorInfo,
        rate_noise: float,
        dives: bool,
        sea: Sea | None,
        water: Water,
    ) -> None:
        """`sea` is None in calm water."""
        self._water = water
        self._described = described
        self._sea = sea
        self._dives = dives
        self._direct = described.filter == "direct"
        self._imu = np.array(imu.position)
        self._rate = rate_noise * math.sqrt(imu.rate)

    def make(self, sensor: Any, info: SensorInfo, factor: float) -> aiding.Aid | None:
        """An aid; None of a sensor that cannot aid."""
        table: dict[str, Callable[[Any, SensorInfo, float], aiding.Aid]] = {
            "gnss": self._gnss,
            "uwb": self._uwb,
            "lbl": self._uwb,
            "usbl": self._usbl,
            "pressure": self._pressure,
            "ctd": self._ctd,
            "dvl": self._dvl,
            "speed_log": self._speed_log,
            "compass": self._compass,
            "ahrs": self._ahrs,
            "magnetometer": self._magnetometer,
        }
        if info.type not in table or (self._direct and info.type in ("magnetometer", "usbl")):
            return None
        if info.type == "usbl" and not self._dives:
            return None  # a ship looks for her vehicles, not for herself
        return table[info.type](sensor, info, factor)

    def dynamics(
        self, described: spec.Dynamics, twin: DynamicsTwin, period: float
    ) -> velocities.BodyVelocity:
        """The vehicle's own dynamics at its origin."""
        unknown = SURGING if twin.surface and self._sea is None else ORBITS
        if self._sea is not None and not twin.surface:
            unknown = BOBBING * math.sqrt(self._sea.variance) * self._sea.frequency
        period = max(LULL, period)
        sigma = lasting(0.0, unknown, LULL, period)
        error = Error(0.0, described.deviation, described.correlation_time)
        return velocities.BodyVelocity(
            arm=constant(-self._imu),
            matrix=constant(np.eye(3).ravel()),
            deviation=constant(np.full(3, sigma)),
            water_deviation=constant(np.full(3, sigma)),
            test=self._knowledge(period, len(twin.axes)),
            slow=_slow([error] * len(twin.axes)),
            axes=twin.axes,
            lock=None,
            pace=None if twin.surface else constant(PACE),
        )

    def floating(self, period: float) -> places.Depth:
        """That the vehicle's origin stays near the surface."""
        heave, time = self._heave(), HEAVING
        if not self._direct:
            period = max(LULL, period)
            if self._sea is not None:
                heave, time = BOBBING * heave, LULL
        sigma = lasting(0.0, heave, time, period)
        return places.Depth(
            arm=constant(-self._imu),
            zero=constant(0.0),
            per_unit=constant(1.0),
            deviation=constant(sigma),
            test=self._knowledge(period, 1),
            slow=_slow([]),
            component=0,
        )

    def waves(self, sea: Sea) -> aiding.Waves:
        """What waves do to the water: as much to either side as up and down, shared by north and
        east since nobody says where they come from."""
        high = math.sqrt(sea.variance)
        up = high if self._dives else self._heave()
        mean = MEAN * sea.frequency
        up *= math.hypot(1.0, MEAN)  # what is left of it without its mean
        sigma = np.array([high * math.sqrt(0.5), high * math.sqrt(0.5), up])
        damping = DAMPED * sea.width
        decay = damping * sea.frequency
        walk = sigma * math.sqrt(4.0 * decay * (1.0 + damping**2))
        across = sigma * math.sqrt(1.0 + 2.0 * damping**2)
        return aiding.Waves(
            slow=aiding.Slow(
                deviation=constant([*sigma, *across, MEAN * up]),
                decay=constant([*[decay] * 6, mean]),
                walk=constant([*np.zeros(3), *walk, 0.0]),
            ),
            frequency=constant(sea.frequency),
            fading=constant(sea.fading if self._dives else 0.0),
        )

    def _heave(self) -> float:
        """How far a surface craft goes up and down, m."""
        if self._described.heave is not None:
            return self._described.heave
        return HEAVE if self._sea is None else math.sqrt(self._sea.variance)

    def level(self, period: float) -> directions.Level:
        """That the vehicle is upright."""
        sigma = lasting(0.0, UPRIGHT, 1.0, period)
        return directions.Level(constant(sigma), self._knowledge(period, 2), _slow([]))

    def _gnss(self, sensor: Any, info: SensorInfo, factor: float) -> places.Fix:
        errors = gnss_errors(sensor)
        drifts = [
            Error(0.0, factor * d, t) for d, t in zip(errors.drift, errors.drift_time, strict=True)
        ]
        white, slow = self._split(np.array(errors.noise), drifts, info)
        speed = np.hypot(errors.velocity_noise, self._turning(info))
        return places.Fix(
            arm=self._arm(info),
            deviation=factor * _at_least(white, "position"),
            velocity_deviation=factor * _at_least(speed, "velocity"),
            test=self._test(sensor, info, (3, 3), 0.0 if sensor.fidelity == "ideal" else math.inf),
            slow=slow,
            antenna=self._antenna(sensor, info, sensor.reacquisition),
        )

    def _uwb(self, sensor: Any, info: SensorInfo, factor: float) -> places.Fix | places.Ranges:
        anchors = np.array([info.facts[k] for k in info.facts if k.startswith("anchor_")]).T
        noisy = 0.0 if sensor.fidelity == "ideal" else math.inf
        if self._direct:
            return places.Fix(
                arm=self._arm(info),
                deviation=factor * _at_least(np.array(info.deviation[:3]), "position"),
                velocity_deviation=None,
                test=self._test(sensor, info, (3,), noisy),
                slow=_slow([]),
            )
        return places.Ranges(
            arm=self._arm(info),
            anchors=constant(anchors),
            deviation=factor * _at_least(np.array(info.deviation[3:]), "position"),
            test=self._test(sensor, info, (1,) * anchors.shape[1], noisy),
            slow=_slow([]),
            antenna=self._antenna(sensor, info, 0.0),
            first=3,
        )

    def _usbl(self, sensor: Any, info: SensorInfo, factor: float) -> places.Beacon:
        distance, angle, place = (info.deviation[i] for i in (0, 1, 3))
        least = [_LEAST["position"], _LEAST["angle"], 0.0]
        return places.Beacon(
            arm=self._arm(info),
            matrix=constant(matrix_of(info).ravel()),
            deviation=constant(factor * np.maximum([distance, angle, place], least)),
            test=self._test(sensor, info, (3,), 0.0 if sensor.fidelity == "ideal" else math.inf),
            slow=_slow([]),
        )

    def _antenna(self, sensor: Any, info: SensorInfo, delay: float) -> places.Antenna | None:
        if not self._dives or self._direct or info.type == "lbl":
            return None
        return places.Antenna(constant(sensor.margin), constant(max(delay, 1.0 / info.rate)))

    def _pressure(self, sensor: Any, info: SensorInfo, factor: float) -> places.Depth:
        full = sensor.fidelity == "full"
        per_metre = sensor.density * GRAVITY
        white = 0.0 if sensor.fidelity == "ideal" else sensor.noise
        step = sensor.resolution if full else 0.0
        error = self._level(sensor.density)
        if full:
            offset = 0.0 if sensor.zeroed else sensor.offset / per_metre
            error = Error(offset, math.hypot(sensor.drift / per_metre, error.drift), error.time)
        return self._depth(
            sensor, info, factor, "depth", 0.0, 1.0, (white / per_metre, step / per_metre), error
        )

    def _ctd(self, sensor: Any, info: SensorInfo, factor: float) -> places.Depth:
        per_metre = SEAWATER_DENSITY * GRAVITY
        white = 0.0 if sensor.fidelity == "ideal" else sensor.pressure_noise / per_metre
        step = sensor.pressure_resolution / per_metre if sensor.fidelity == "full" else 0.0
        return self._depth(
            sensor, info, factor, "pressure", ATMOSPHERE / per_metre, 1.0 / per_metre,
            (white, step), self._level(SEAWATER_DENSITY),
        )  # fmt: skip

    def _level(self, density: float) -> Error:
        """What is wrong with a depth that is made with one density for the whole column."""
        depth = np.linspace(0.0, COLUMN, 41)
        true = np.broadcast_to(
            np.asarray(density_at(self._water, constant(depth)), np.float64), depth.shape
        )
        wrong = float(np.trapezoid(true / density - 1.0, depth))
        return Error(0.0, math.hypot(LEVELS[0], wrong), LEVELS[1])

    def _depth(
        self,
        sensor: Any,
        info: SensorInfo,
        factor: float,
        component: str,
        zero: float,
        per_unit: float,
        noise: tuple[float, float],
        error: Error,
    ) -> places.Depth:
        """Of white noise and a step of rounding, m."""
        error = error._replace(fixed=factor * error.fixed, drift=factor * error.drift)
        white, slow = self._split(_rounded(*noise), [error], info)
        return places.Depth(
            arm=self._arm(info),
            zero=constant(zero),
            per_unit=constant(per_unit),
            deviation=factor * _at_least(white, "depth"),
            test=self._test(sensor, info, (1,), *noise, unstated=0.0 if self._direct else WAVY),
            slow=slow,
            waves=self._waves(1.0 / info.rate),
            component=info.components.index(component),
        )

    def _waves(self, period: float) -> jax.Array | None:
        """What waves above do to a depth by pressure, as noise of samples `period` apart."""
        if self._sea is None or not self._direct or not self._dives:
            return None
        sigma = lasting(0.0, math.sqrt(self._sea.variance), HEAVING, period)
        return constant([sigma**2, self._sea.fading])

    def _dvl(self, sensor: Any, info: SensorInfo, factor: float) -> velocities.BodyVelocity:
        ground = np.array(info.deviation[:3])
        water = np.array(info.facts.get("water_deviation", info.deviation[:3]))
        errors: list[Error] = []
        if sensor.fidelity == "full":
            sigmas = (sensor.scale, *(sensor.misalignment,) * 3, *(sensor.bias,) * 3)
            errors = [Error(factor * sigma) for sigma in sigmas]
        lock = info.components.index("lock")
        return self._log(sensor, info, factor, ground, water, lock, errors)

    def _speed_log(self, sensor: Any, info: SensorInfo, factor: float) -> velocities.BodyVelocity:
        white = np.array([*info.deviation[:2], 0.0])
        errors = [Error(factor * sensor.scale)] if sensor.fidelity == "full" else []
        return self._log(sensor, info, factor, white, white, None, errors)

    def _log(
        self,
        sensor: Any,
        info: SensorInfo,
        factor: float,
        ground: Array,
        water: Array,
        lock: int | None,
        errors: list[Error],
    ) -> velocities.BodyVelocity:
        turning = self._turning(info)
        axes = (0, 1, 2) if lock is not None else (0, 1)
        step = getattr(sensor, "resolution", 0.0) if sensor.fidelity == "full" else 0.0
        return velocities.BodyVelocity(
            arm=self._arm(info),
            matrix=constant(matrix_of(info).ravel()),
            deviation=factor * _at_least(np.hypot(ground, turning), "velocity"),
            water_deviation=factor * _at_least(np.hypot(water, turning), "velocity"),
            test=self._test(sensor, info, (len(axes),), float(ground[0]), step),
            slow=_slow([] if self._direct else errors),
            axes=axes,
            lock=lock,
        )

    def _compass(self, sensor: Any, info: SensorInfo, factor: float) -> directions.Heading:
        full = sensor.fidelity == "full"
        errors: list[Error] = []
        if full and (sensor.residual or any(sensor.deviation)):
            own = sensor.residual / math.sqrt(3.0)
            errors = [Error(factor * math.hypot(own, given)) for given in sensor.deviation]
        white = info.deviation[0]
        if self._direct:
            lumped = math.sqrt(0.6) * math.hypot(*(e.fixed for e in errors), 0.0)
            white, errors = lasting(white, lumped, MEMORY, 1.0 / info.rate), []
        step = sensor.resolution if full else 0.0
        return directions.Heading(
            matrix=constant(matrix_of(info).ravel()),
            offset=constant(0.0 if sensor.corrected else sensor.declination),
            declination=constant(sensor.declination),
            deviation=factor * _at_least(white, "angle"),
            test=self._test(sensor, info, (1,), info.deviation[0], step),
            slow=_slow(errors),
        )

    def _ahrs(self, sensor: Any, info: SensorInfo, factor: float) -> directions.Attitude:
        sigmas = factor * np.array(info.facts["attitude_deviation"])
        times = (sensor.tilt_time, sensor.tilt_time, sensor.heading_time)
        bias = factor * abs(sensor.heading_bias) if sensor.fidelity == "full" else 0.0
        errors = [Error(b, s, t) for b, s, t in zip((0.0, 0.0, bias), sigmas, times, strict=True)]
        white, slow = self._split(np.zeros(3), errors, info)
        return directions.Attitude(
            mounting=constant(info.orientation),
            deviation=_at_least(white, "angle"),
            test=self._test(sensor, info, (3,), math.inf if sigmas.any() else 0.0),
            slow=slow,
        )

    def _magnetometer(self, sensor: Any, info: SensorInfo, factor: float) -> directions.Field:
        field = np.array(info.facts["field"])
        errors: list[Error] = []
        if sensor.fidelity == "full":
            bent = np.linalg.norm(np.array(sensor.soft_iron) - np.eye(3)) * np.linalg.norm(field)
            iron = float(np.hypot(np.linalg.norm(sensor.hard_iron), bent))
            errors = [Error(factor * iron)] * 3 if iron else []
        step = sensor.resolution if sensor.fidelity == "full" else 0.0
        return directions.Field(
            matrix=constant(matrix_of(info).ravel()),
            field=constant(field),
            deviation=factor * _at_least(np.array(info.deviation), "field"),
            test=self._test(sensor, info, (3,), info.deviation[0], step),
            slow=_slow(errors),
        )

    def _split(self, white: Any, errors: list[Error], info: SensorInfo) -> tuple[Any, aiding.Slow]:
        """White noise, and the slow errors as states; or, for the filter that has no states for
        them, as more noise."""
        if not self._direct:
            drawn = any(e.fixed or e.drift for e in errors)
            return white, _slow(errors if drawn else [])
        period = 1.0 / info.rate
        more = [lasting(0.0, math.hypot(e.fixed, e.drift), e.time, period) for e in errors]
        return np.hypot(white, np.reshape(more, np.shape(white))), _slow([])

    def _test(
        self,
        sensor: Any,
        info: SensorInfo,
        groups: tuple[int, ...],
        noise: float,
        step: float = 0.0,
        unstated: float = 0.0,
    ) -> Test:
        """When a sensor is believed; noise is infinite where no two samples can be alike."""
        late = lateness(sensor)
        return Test(
            **self._judgement(groups, info.rate),
            still=constant(longest_repeat(noise, step, sum(groups), info.rate), np.int32),
            unstated=constant(unstated),
            stale=constant(late + 1.0 / info.rate),
            silence=constant(max(SILENCE[0], SILENCE[1] / info.rate) + late),
        )

    def _knowledge(self, period: float, size: int) -> Test:
        """When it is believed what is known without a sensor."""
        never = {
            "still": constant(NEVER, np.int32),
            "stale": constant(math.inf),
            "unstated": constant(0.0),
        }
        return Test(**self._judgement((size,), 1.0 / period), **never, silence=constant(math.inf))

    def _judgement(self, groups: tuple[int, ...], rate: float) -> dict[str, jax.Array]:
        gate, patience = self._described.gate, self._described.patience
        judged = gate < 1.0 and not self._direct
        samples = max(10.0, FADING * rate)
        return {
            "threshold": constant([threshold(n, gate) for n in groups]),
            "lasting": constant([threshold(n, CERTAIN) if judged else math.inf for n in groups]),
            "fading": constant(1.0 - 1.0 / samples),
            "back": constant(math.ceil(max(5.0, 2.0 * rate)), np.int32),
            "patience": constant(math.ceil(patience * rate), np.int32),
            "haste": constant(math.ceil(min(HASTE, patience) * rate), np.int32),
        }

    def _arm(self, info: SensorInfo) -> jax.Array:
        return constant(np.array(info.position) - self._imu)

    def _turning(self, info: SensorInfo) -> float:
        """Error of ω × r from the noise of one sample of the gyroscopes, m/s."""
        return float(np.linalg.norm(np.array(info.position) - self._imu)) * self._rate


def longest_repeat(noise: float, step: float, numbers: int, rate: float) -> int:
    """Identical samples in a row that a sensor gives by chance less than once in a thousand times
    `HOURS`; noise and step are those of each of its numbers.

    Two numbers with noise σ are rounded to the same step q with probability q / (2 √π σ).
    """
    if not noise:
        return NEVER
    alike = min(1.0, step / (2.0 * math.sqrt(math.pi) * noise)) ** numbers
    if alike > 0.99:
        return NEVER
    most = math.log(1e-3 / (3600.0 * HOURS * rate))
    return max(3, math.ceil(most / math.log(alike))) if alike else 3


def _slow(errors: list[Error]) -> aiding.Slow:
    """Errors as states. What stays and drifts at once walks as fast as the drift does."""
    decay = [0.0 if e.fixed else 1.0 / e.time for e in errors]
    walk = [e.drift * math.sqrt(2.0 / e.time) for e in errors]
    deviation = [max(math.hypot(e.fixed, e.drift), 1e-9) for e in errors]
    return aiding.Slow(*(constant(part, np.float64) for part in (deviation, decay, walk)))


def _rounded(noise: float, step: float) -> float:
    return math.hypot(noise, step / math.sqrt(12.0))


def _at_least(deviation: Any, what: str) -> jax.Array:
    return constant(np.maximum(deviation, _LEAST[what]))


def matrix_of(info: SensorInfo) -> Array:
    """Rotation (3, 3) from the sensor's axes to the body's."""
    turned = rotation(constant(info.orientation))
    return np.array([float(c) for c in turned]).reshape(3, 3)


def lasting(white: Any, slow: Any, time: float, period: float) -> Any:
    """White noise of samples `period` apart that stands for white noise and a slow error.

    An average over T of an error of standard deviation σ and correlation time τ keeps the variance
    σ² min(1, 2τ/T), which white noise of σ² min(2τ, T)/Δt keeps as well; T is `MEMORY`.
    """
    longer = max(1.0, min(2.0 * time, MEMORY) / period)
    return np.sqrt(np.asarray(white) ** 2 + np.asarray(slow) ** 2 * longer)
