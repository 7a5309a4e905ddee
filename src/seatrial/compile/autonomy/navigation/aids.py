"""Sensors to aids of a navigation filter: what a data sheet says as the deviations of a filter."""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.navigation.belief import Belief
from seatrial.compile.autonomy.navigation.deviations import (
    MEMORY,
    Error,
    as_states,
    at_least,
    lasting,
    rounded,
)
from seatrial.compile.autonomy.navigation.knowledge import HEAVING
from seatrial.compile.autonomy.navigation.sea import Sea
from seatrial.compile.sensors.position import gnss_errors
from seatrial.conventions import GRAVITY, SEAWATER_DENSITY
from seatrial.gnc.navigation import aiding
from seatrial.gnc.navigation.aids import directions, places, velocities
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

WAVY = 0.5
"""Largest standard deviation of a depth by waves, m."""

LEVELS, COLUMN = (0.001, 1800.0), 20.0
"""What tide and weather do to a depth by pressure within a run, m, and for how long, s; and the
depth at which it is asked what a wrong density does to it, m."""


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
        self._belief = Belief(described)
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

    def _gnss(self, sensor: Any, info: SensorInfo, factor: float) -> places.Fix:
        errors = gnss_errors(sensor)
        drifts = [
            Error(0.0, factor * d, t) for d, t in zip(errors.drift, errors.drift_time, strict=True)
        ]
        white, slow = self._split(np.array(errors.noise), drifts, info)
        speed = np.hypot(at_least(errors.velocity_noise, "velocity"), self._turning(info))
        return places.Fix(
            arm=self._arm(info),
            deviation=constant(factor * at_least(white, "position")),
            velocity_deviation=constant(factor * speed),
            test=self._belief.sensor(
                sensor, info, (3, 3), 0.0 if sensor.fidelity == "ideal" else math.inf
            ),
            slow=slow,
            antenna=self._antenna(sensor, info, sensor.reacquisition),
        )

    def _uwb(self, sensor: Any, info: SensorInfo, factor: float) -> places.Fix | places.Ranges:
        anchors = np.array([info.facts[k] for k in info.facts if k.startswith("anchor_")]).T
        noisy = _noisy(sensor)
        if self._direct:
            return places.Fix(
                arm=self._arm(info),
                deviation=constant(factor * at_least(info.deviation[:3], "position")),
                velocity_deviation=None,
                test=self._belief.sensor(sensor, info, (3,), noisy),
                slow=as_states([]),
            )
        return places.Ranges(
            arm=self._arm(info),
            anchors=constant(anchors),
            deviation=constant(factor * at_least(info.deviation[3:], "position")),
            test=self._belief.sensor(sensor, info, (1,) * anchors.shape[1], noisy),
            slow=as_states([]),
            antenna=self._antenna(sensor, info, 0.0),
            first=3,
        )

    def _usbl(self, sensor: Any, info: SensorInfo, factor: float) -> places.Beacon:
        distance = at_least(info.deviation[0], "position")
        angle = at_least(info.deviation[1], "angle")
        return places.Beacon(
            arm=self._arm(info),
            matrix=constant(matrix_of(info).ravel()),
            deviation=constant(factor * np.array([distance, angle, info.deviation[3]])),
            test=self._belief.sensor(
                sensor, info, (3,), 0.0 if sensor.fidelity == "ideal" else math.inf
            ),
            slow=as_states([]),
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
        white, slow = self._split(rounded(*noise), [error], info)
        return places.Depth(
            arm=self._arm(info),
            zero=constant(zero),
            per_unit=constant(per_unit),
            deviation=constant(factor * at_least(white, "depth")),
            test=self._belief.sensor(
                sensor, info, (1,), *noise, unstated=0.0 if self._direct else WAVY
            ),
            slow=slow,
            waves=self._waves(1.0 / info.rate),
            component=info.components.index(component),
        )

    def _waves(self, period: float) -> places.Above | None:
        """What waves above do to a depth by pressure, as noise of samples `period` apart."""
        if self._sea is None or not self._direct or not self._dives:
            return None
        sigma = lasting(0.0, math.sqrt(self._sea.variance), HEAVING, period)
        return places.Above(self._sea.wavenumbers, constant(sigma**2))

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
            deviation=constant(factor * np.hypot(at_least(ground, "velocity"), turning)),
            water_deviation=constant(factor * np.hypot(at_least(water, "velocity"), turning)),
            test=self._belief.sensor(sensor, info, (len(axes),), float(ground[0]), step),
            slow=as_states([] if self._direct else errors),
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
            deviation=constant(factor * at_least(white, "angle")),
            test=self._belief.sensor(sensor, info, (1,), info.deviation[0], step),
            slow=as_states(errors),
        )

    def _ahrs(self, sensor: Any, info: SensorInfo, factor: float) -> directions.Attitude:
        sigmas = factor * np.array(info.facts["attitude_deviation"])
        times = (sensor.tilt_time, sensor.tilt_time, sensor.heading_time)
        bias = factor * abs(sensor.heading_bias) if sensor.fidelity == "full" else 0.0
        errors = [Error(b, s, t) for b, s, t in zip((0.0, 0.0, bias), sigmas, times, strict=True)]
        white, slow = self._split(np.zeros(3), errors, info)
        return directions.Attitude(
            mounting=constant(info.orientation),
            deviation=constant(at_least(white, "angle")),
            test=self._belief.sensor(sensor, info, (3,), math.inf if sigmas.any() else 0.0),
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
            deviation=constant(factor * at_least(info.deviation, "field")),
            test=self._belief.sensor(sensor, info, (3,), info.deviation[0], step),
            slow=as_states(errors),
        )

    def _split(self, white: Any, errors: list[Error], info: SensorInfo) -> tuple[Any, aiding.Slow]:
        """White noise, and the slow errors as states; or, for the filter that has no states for
        them, as more noise."""
        if not self._direct:
            drawn = any(e.fixed or e.drift for e in errors)
            return white, as_states(errors if drawn else [])
        period = 1.0 / info.rate
        more = [lasting(0.0, math.hypot(e.fixed, e.drift), e.time, period) for e in errors]
        return np.hypot(white, np.reshape(more, np.shape(white))), as_states([])

    def _arm(self, info: SensorInfo) -> jax.Array:
        return constant(np.array(info.position) - self._imu)

    def _turning(self, info: SensorInfo) -> float:
        """Error of ω × r from the noise of one sample of the gyroscopes, m/s."""
        return float(np.linalg.norm(np.array(info.position) - self._imu)) * self._rate


def _noisy(sensor: Any) -> float:
    """Noise of a sensor of which no two samples are alike, unless it has none."""
    return 0.0 if sensor.fidelity == "ideal" else math.inf


def matrix_of(info: SensorInfo) -> Array:
    """Rotation (3, 3) from the sensor's axes to the body's."""
    turned = rotation(constant(info.orientation))
    return np.array([float(c) for c in turned]).reshape(3, 3)
