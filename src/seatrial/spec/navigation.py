"""Description of how a vehicle finds out where it is."""

import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from seatrial.spec.base import Metres, MetresPerSecond, Number, Plain, Radians, Seconds, Spec, Unit
from seatrial.spec.sensors.base import SensorName


class Aid(Spec):
    """A sensor that corrects the inertial navigation."""

    sensor: SensorName
    """Name of the sensor on the vehicle."""
    factor: Annotated[Plain, Field(gt=0, le=1e4)] = 1.0
    """The errors of its description are taken to be so many times as large: more than 1 for a
    sensor that is worse here than its data sheet says, such as a depth sensor in waves."""


class Dynamics(Spec):
    """The vehicle's own equations of motion, driven by its orders, as a log of the speed through
    the water."""

    deviation: Annotated[MetresPerSecond, Field(gt=0, le=100)] = 0.1
    """Standard deviation of what is wrong with the velocity that they predict, along each axis:
    wrong coefficients, wind, growth on the hull. Of a craft under water, below 1 m/s, it is in
    proportion to the speed. The filter estimates it as it goes."""
    correlation_time: Annotated[Seconds, Field(gt=0, le=1e5)] = 30.0
    """How long such an error lasts."""


class StartErrors(Spec):
    """How well the vehicle knows where it begins: standard deviations of what it is told."""

    position: Annotated[Metres, Field(ge=0, le=1e5)] = 1.0
    """Along each axis."""
    velocity: Annotated[MetresPerSecond, Field(ge=0, le=100)] = 0.1
    """Along each axis."""
    tilt: Annotated[Radians, Field(ge=0, le=1)] = math.radians(0.5)
    """Of roll and pitch."""
    heading: Annotated[Radians, Field(ge=0, le=math.pi)] = math.radians(2.0)
    """Of the heading."""


class Navigation(Spec):
    """A navigation filter: an IMU, and sensors that keep it from drifting."""

    filter: Literal["error_state", "direct"] = "error_state"
    """`error_state`: inertial navigation whose errors, biases of the IMU and current are
    estimated. `direct`: 15 states, each sensor taken for the state itself, among them an `ahrs`;
    for comparison."""
    imu: SensorName | None = None
    """Name of the IMU; may be left out where there is only one."""
    aids: Annotated[tuple[Aid, ...], Field(strict=False, max_length=20)] | None = None
    """Sensors that correct it; all that can when left out."""
    dynamics: Dynamics | None = Dynamics()
    """The vehicle's own dynamics as a velocity aid, which also stand in for an IMU that is lost;
    `null` does without. Only the filter `error_state` can; `direct` does without."""
    heave: Annotated[Metres, Field(gt=0, le=20)] | None = None
    """Standard deviation of the height of a surface craft's origin about the mean water level.
    Left out: that of the waves, a quarter of their significant height, and 0.25 m where there are
    none. The filter knows that such a craft floats."""
    gate: Annotated[Plain, Field(gt=0.5, le=1)] = 0.999
    """Share of good measurements that are let in; those that fit the estimate worse are left out
    as outliers. 1 lets in everything."""
    patience: Annotated[Seconds, Field(gt=0, le=1e5)] = 300.0
    """How long a sensor that was right before may be found wrong until the filter doubts itself
    instead and believes it; three seconds at most for one that never was right, or while most
    sensors disagree."""
    start: StartErrors = StartErrors()
    """Errors at the start."""
    current: Annotated[MetresPerSecond, Field(ge=0, le=10)] = 0.5
    """Standard deviation of the current before anything is known about it."""
    current_walk: Annotated[Number, Field(ge=0, le=1), Unit("(m/s^2)/sqrt(Hz)")] = 1e-3
    """How fast the current changes, as a random walk, (m/s²)/√Hz; after an hour at 0.001 it has
    changed by 0.06 m/s."""

    @model_validator(mode="before")
    @classmethod
    def _direct_does_without_dynamics(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("filter") == "direct":
            return {"dynamics": None} | data
        return data
