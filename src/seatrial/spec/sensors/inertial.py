"""Descriptions of an IMU, and of the errors of a make of IMU as a file of its own."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import (
    MetresPerSecond,
    Number,
    Plain,
    Radians,
    RadiansPerSecond,
    Seconds,
    Spec,
    Unit,
)
from seatrial.spec.sensors.base import Hertz, SensorSpec

SIZE = Field(ge=0, le=1000)
"""Limits of a number that says how large an error is."""

MetresPerSecondSquared = Annotated[Number, Unit("m/s^2")]


class TriadErrors(Spec):
    """Errors of three axes that are made alike; what is drawn is drawn for each axis anew."""

    bias_time_constant: Annotated[Seconds, Field(ge=0.1, le=1e6)] | None = None
    """Of the Gauss–Markov process that stands for `bias_instability`, s. The Allan deviation has
    its hump at 1.89 of these."""
    scale: Annotated[Plain, Field(ge=0, le=0.5)] = 0.0
    """Standard deviation of the scale error, drawn once for a unit; 0.01 is one per cent."""
    misalignment: Annotated[Radians, Field(ge=0, le=0.3)] = 0.0
    """Standard deviation of the six small angles between the axes and right angles, drawn once for
    a unit, rad."""
    frame: Annotated[Radians, Field(ge=0, le=0.3)] = 0.0
    """Standard deviation of the three small angles by which all axes together are turned against
    the case, drawn once for a unit, rad."""
    bandwidth: Annotated[Hertz, Field(gt=0, le=1e5)] | None = None
    """At which a signal has fallen by 3 dB: one pole, Hz. Unlimited when left out."""
    reference_temperature: Annotated[Number, Field(ge=-60, le=150), Unit("°C")] = 25.0
    """At which the unit was calibrated, °C."""


class AccelerometerErrors(TriadErrors):
    """Errors of three accelerometers."""

    noise_density: Annotated[Number, SIZE, Unit("(m/s^2)/sqrt(Hz)")] = 0.0
    """White noise N, (m/s²)/√Hz; velocity random walk in (m/s)/√s is the same number."""
    bias_instability: Annotated[MetresPerSecondSquared, SIZE] = 0.0
    """Coefficient B of IEEE Std 952, m/s²: the floor of the Allan deviation is 0.664 B. Divide by
    0.664 where a data sheet gives the lowest point of the curve."""
    random_walk: Annotated[Number, SIZE, Unit("(m/s^3)/sqrt(Hz)")] = 0.0
    """Acceleration random walk K, (m/s³)/√Hz."""
    turn_on_bias: Annotated[MetresPerSecondSquared, SIZE] = 0.0
    """Standard deviation of the bias that is there when the unit is switched on, m/s²."""
    temperature_coefficient: Annotated[Number, SIZE, Unit("(m/s^2)/K")] = 0.0
    """Standard deviation of the change of bias with temperature, drawn once for a unit, (m/s²)/K.
    The unit is as warm as the water at its depth."""
    range: Annotated[MetresPerSecondSquared, Field(gt=0, le=1e6)] | None = None
    """Largest reading, m/s²; unlimited when left out."""
    resolution: Annotated[MetresPerSecondSquared, Field(gt=0, le=1000)] | None = None
    """Step from one reading to the next, m/s²; continuous when left out."""

    @model_validator(mode="after")
    def _instability_has_a_time(self) -> Self:
        _check_time_constant(self.bias_instability, self.bias_time_constant)
        return self


class GyroscopeErrors(TriadErrors):
    """Errors of three gyroscopes."""

    noise_density: Annotated[Number, SIZE, Unit("(rad/s)/sqrt(Hz)")] = 0.0
    """White noise N, (rad/s)/√Hz; angle random walk in rad/√s is the same number."""
    bias_instability: Annotated[RadiansPerSecond, SIZE] = 0.0
    """Coefficient B of IEEE Std 952, rad/s: the floor of the Allan deviation is 0.664 B. Divide by
    0.664 where a data sheet gives the lowest point of the curve."""
    random_walk: Annotated[Number, SIZE, Unit("(rad/s^2)/sqrt(Hz)")] = 0.0
    """Rate random walk K, (rad/s²)/√Hz."""
    turn_on_bias: Annotated[RadiansPerSecond, SIZE] = 0.0
    """Standard deviation of the bias that is there when the unit is switched on, rad/s."""
    temperature_coefficient: Annotated[Number, SIZE, Unit("(rad/s)/K")] = 0.0
    """Standard deviation of the change of bias with temperature, drawn once for a unit, (rad/s)/K.
    The unit is as warm as the water at its depth."""
    g_sensitivity: Annotated[Number, SIZE, Unit("(rad/s)/(m/s^2)")] = 0.0
    """Standard deviation of the rate that an acceleration along any axis pretends, drawn once for
    a unit, (rad/s)/(m/s²)."""
    range: Annotated[RadiansPerSecond, Field(gt=0, le=1e6)] | None = None
    """Largest reading, rad/s; unlimited when left out."""
    resolution: Annotated[RadiansPerSecond, Field(gt=0, le=1000)] | None = None
    """Step from one reading to the next, rad/s; continuous when left out."""

    @model_validator(mode="after")
    def _instability_has_a_time(self) -> Self:
        _check_time_constant(self.bias_instability, self.bias_time_constant)
        return self


class ImuErrors(Spec):
    """What is wrong with a make of IMU, as its data sheet and those who measured it say."""

    kind: Literal["imu"] = "imu"
    """Says that this file describes the errors of an IMU."""
    name: Annotated[str, Field(min_length=1, max_length=80)]
    """Short name."""
    description: str = ""
    """One or two sentences for people."""
    source: str = ""
    """Where the numbers come from."""
    accelerometer: AccelerometerErrors
    """Errors of the specific force."""
    gyroscope: GyroscopeErrors
    """Errors of the angular rate."""


class Imu(SensorSpec):
    """Inertial measurement unit: specific force and angular rate at the place where it sits."""

    type: Literal["imu"]
    """Selects this kind of sensor."""
    errors: ImuErrors | None = None
    """Name of a make in the library (`adis16448`, `lsm6dsr`, `stim300`), a file, or the errors in
    place. Only `fidelity: ideal` does without."""
    earth_rate: bool = False
    """Whether the rotation of the Earth at the world's datum is felt."""
    vibration: Annotated[MetresPerSecond, Field(ge=0, le=1)] = 1.1e-3
    """Root mean square velocity along each axis with which a shaft at 25 rev/s shakes it, m/s;
    it grows with the speed of the shaft, the acceleration with its square. 1.1 mm/s is the middle
    of zone B of ISO 10816-1 for small machines (0.71 to 1.8 mm/s), an estimate: no measurement on
    a marine vehicle was at hand. Only shafts whose speed is simulated (rev/s) shake; only in
    `fidelity: full`."""


class GroundTruth(SensorSpec):
    """The truth about the motion of the place where it sits, as a dataset tells it beside what the
    other sensors measured: no device has it, and navigation does not use it.

    `fidelity` makes no difference to it.
    """

    type: Literal["ground_truth"]
    """Selects this kind of sensor."""
    earth_rate: bool = False
    """Whether the rotation of the Earth at the world's datum is in its specific force and rate."""


def _check_time_constant(instability: float, time_constant: float | None) -> None:
    if instability and time_constant is None:
        raise ValueError(
            "`bias_instability` needs the time over which the bias wanders: add for example "
            "`bias_time_constant: 100`"
        )
