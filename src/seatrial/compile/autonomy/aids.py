"""Sensors to aids of a navigation filter: what a data sheet says as the deviations of a filter."""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from seatrial.compile.autonomy.twin import DynamicsTwin
from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import aiding
from seatrial.gnc.navigation.consistency import threshold
from seatrial.pytree import constant
from seatrial.signals import SensorInfo
from seatrial.spatial.rotations import rotation
from seatrial.spec import navigation as spec

Array = NDArray[np.float64]

KNOWN = ("gnss", "uwb", "pressure", "dvl", "speed_log", "compass", "ahrs", "magnetometer")
"""Types of sensors that can aid."""

MEMORY = 10.0
"""Time over which a filter averages the fixes of a sensor, s. An error that stays for so long is
not averaged away: it counts with the white noise that would leave as much after this time."""

SPEED = 2.0
"""Speed at which a scale error of a log counts, m/s."""

HEAVING = 2.0
"""Correlation time of the heave in waves, s."""

_LEAST = {"position": 0.02, "velocity": 0.005, "angle": 1e-3, "field": 1e-7}
"""Deviations below which no sensor is believed: an IMU errs in ways that a filter has no state for,
and a sensor without errors would be rejected for them. m, m/s, rad, T."""

Made = tuple[aiding.Aid, tuple[int, ...]]


class Makers:
    """Aids from sensors; every deviation is what the description says, and the filter's own."""

    def __init__(self, described: spec.Navigation, imu: SensorInfo, rate_noise: float) -> None:
        self._described = described
        self._imu = np.array(imu.position)
        self._rate = rate_noise * math.sqrt(imu.rate)

    def make(self, sensor: Any, info: SensorInfo, factor: float) -> Made | None:
        """An aid and the sizes of its groups; None of a sensor that cannot aid."""
        table: dict[str, Callable[[Any, SensorInfo, float], Made]] = {
            "gnss": self._gnss,
            "uwb": self._uwb,
            "pressure": self._pressure,
            "dvl": self._dvl,
            "speed_log": self._speed_log,
            "compass": self._compass,
            "ahrs": self._ahrs,
            "magnetometer": self._magnetometer,
        }
        direct = self._described.filter == "direct"
        if info.type not in table or (direct and info.type == "magnetometer"):
            return None
        return table[info.type](sensor, info, factor)

    def dynamics(
        self, described: spec.Dynamics, twin: DynamicsTwin, period: float
    ) -> aiding.BodyVelocity:
        """The vehicle's own dynamics at its origin."""
        sigma = lasting(0.0, described.deviation, described.correlation_time, period)
        return aiding.BodyVelocity(
            arm=constant(-self._imu),
            matrix=constant(np.eye(3).ravel()),
            deviation=constant(np.full(3, sigma)),
            water_deviation=constant(np.full(3, sigma)),
            threshold=self._gates(len(twin.axes)),
            patience=self._patience(1.0 / period),
            axes=twin.axes,
            lock=None,
        )

    def floating(self, period: float) -> aiding.Depth:
        """That the vehicle's origin stays near the surface."""
        sigma = lasting(0.0, self._described.heave, HEAVING, period)
        return aiding.Depth(
            arm=constant(-self._imu),
            deviation=constant(sigma),
            threshold=self._gates(1),
            patience=self._patience(1.0 / period),
            component=0,
        )

    def _gnss(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        # The information gives noise and drift as one number, nearly all of it drift.
        drift = np.array(info.deviation[:3])
        sigma = lasting(0.0, drift, MEMORY, 1.0 / info.rate)
        speed = np.hypot(info.deviation[3:6], self._turning(info))
        fix = aiding.Fix(
            arm=self._arm(info),
            deviation=factor * _at_least(sigma, "position"),
            velocity_deviation=factor * _at_least(speed, "velocity"),
            threshold=self._gates(3, 3),
            patience=self._patience(info.rate),
        )
        return fix, (3, 3)

    def _uwb(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        anchors = np.array([info.facts[k] for k in info.facts if k.startswith("anchor_")]).T
        if self._described.filter == "direct":
            fix = aiding.Fix(
                arm=self._arm(info),
                deviation=factor * _at_least(np.array(info.deviation[:3]), "position"),
                velocity_deviation=None,
                threshold=self._gates(3),
                patience=self._patience(info.rate),
            )
            return fix, (3,)
        count = anchors.shape[1]
        ranges = aiding.Ranges(
            arm=self._arm(info),
            anchors=constant(anchors),
            deviation=factor * _at_least(np.array(info.deviation[3:]), "position"),
            threshold=self._gates(*(1,) * count),
            patience=self._patience(info.rate),
            first=3,
        )
        return ranges, (1,) * count

    def _pressure(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        slow = 0.0
        white = info.deviation[1]
        if sensor.fidelity == "full":
            per_metre = sensor.density * GRAVITY
            slow = math.hypot(sensor.offset, sensor.drift) / per_metre
            white = sensor.noise / per_metre
        sigma = lasting(white, slow, MEMORY, 1.0 / info.rate)
        depth = aiding.Depth(
            arm=self._arm(info),
            deviation=factor * _at_least(sigma, "position"),
            threshold=self._gates(1),
            patience=self._patience(info.rate),
            component=info.components.index("depth"),
        )
        return depth, (1,)

    def _dvl(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        ground = np.array(info.deviation[:3])
        ratio = sensor.water_noise / sensor.noise if sensor.noise else 1.0
        return self._log(
            sensor, info, factor, ground, ratio * ground, info.components.index("lock")
        )

    def _speed_log(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        white = np.array([*info.deviation[:2], 0.0])
        return self._log(sensor, info, factor, white, white, None)

    def _log(
        self,
        sensor: Any,
        info: SensorInfo,
        factor: float,
        ground: Array,
        water: Array,
        lock: int | None,
    ) -> Made:
        slow = SPEED * sensor.scale if sensor.fidelity == "full" else 0.0
        turning = self._turning(info)

        def sigma(white: Array) -> jax.Array:
            total = lasting(np.hypot(white, turning), slow, MEMORY, 1.0 / info.rate)
            return factor * _at_least(total, "velocity")

        axes = (0, 1, 2) if lock is not None else (0, 1)
        log = aiding.BodyVelocity(
            arm=self._arm(info),
            matrix=constant(matrix_of(info).ravel()),
            deviation=sigma(ground),
            water_deviation=sigma(water),
            threshold=self._gates(len(axes)),
            patience=self._patience(info.rate),
            axes=axes,
            lock=lock,
        )
        return log, (len(axes),)

    def _compass(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        slow = np.sqrt(0.5) * np.linalg.norm(sensor.deviation) if sensor.fidelity == "full" else 0.0
        sigma = lasting(info.deviation[0], slow, MEMORY, 1.0 / info.rate)
        heading = aiding.Heading(
            matrix=constant(matrix_of(info).ravel()),
            offset=constant(0.0 if sensor.corrected else sensor.declination),
            deviation=factor * _at_least(sigma, "angle"),
            threshold=self._gates(1),
            patience=self._patience(info.rate),
        )
        return heading, (1,)

    def _ahrs(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        slow = np.array(info.facts["attitude_deviation"])
        if sensor.fidelity == "full":
            slow[2] = math.hypot(slow[2], sensor.heading_bias)
        times = (sensor.tilt_time, sensor.tilt_time, sensor.heading_time)
        sigma = np.array(
            [lasting(0.0, s, t, 1.0 / info.rate) for s, t in zip(slow, times, strict=True)]
        )
        attitude = aiding.Attitude(
            mounting=constant(info.orientation),
            deviation=factor * _at_least(sigma, "angle"),
            threshold=self._gates(3),
            patience=self._patience(info.rate),
        )
        return attitude, (3,)

    def _magnetometer(self, sensor: Any, info: SensorInfo, factor: float) -> Made:
        field = np.array(info.facts["field"])
        slow = 0.0
        if sensor.fidelity == "full":
            bent = np.linalg.norm(np.array(sensor.soft_iron) - np.eye(3)) * np.linalg.norm(field)
            slow = float(np.hypot(np.linalg.norm(sensor.hard_iron), bent))
        sigma = lasting(np.array(info.deviation), slow, MEMORY, 1.0 / info.rate)
        made = aiding.Field(
            matrix=constant(matrix_of(info).ravel()),
            field=constant(field),
            deviation=factor * _at_least(sigma, "field"),
            threshold=self._gates(3),
            patience=self._patience(info.rate),
        )
        return made, (3,)

    def _arm(self, info: SensorInfo) -> jax.Array:
        return constant(np.array(info.position) - self._imu)

    def _turning(self, info: SensorInfo) -> float:
        """Error of ω × r from the noise of one sample of the gyroscopes, m/s."""
        return float(np.linalg.norm(np.array(info.position) - self._imu)) * self._rate

    def _gates(self, *freedom: int) -> jax.Array:
        return constant([threshold(n, self._described.gate) for n in freedom])

    def _patience(self, rate: float) -> jax.Array:
        return constant(math.ceil(self._described.patience * rate), np.int32)


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
