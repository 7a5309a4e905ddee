"""What the messages of several sensors share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.topics import (
    JOINT_STATE,
    QUATERNION,
    VECTOR,
    WORLD_FRAME,
    Topic,
    named_numbers,
)
from seatrial.signals import Measurements, SensorInfo

Samples = Topic[Measurements]
"""A topic of a sensor."""
Change = Callable[[Array], Array]

UNMEASURED = 1e6
"""Variance of what a message has room for but its sensor does not see, m² or rad²."""
TWIST = "geometry_msgs/msg/TwistWithCovarianceStamped"
POSE = "geometry_msgs/msg/PoseWithCovarianceStamped"
_PRESSURE = "sensor_msgs/msg/FluidPressure"


@dataclass(frozen=True)
class SensorTopic:
    """A sensor and its names in ROS."""

    info: SensorInfo
    topic: str
    frame: str
    datum: tuple[float, float]
    """Latitude and longitude of the world's origin, degrees."""

    def publish(
        self,
        suffix: str,
        typename: str,
        names: Sequence[str],
        build: Callable[[MessageFactory], Message],
        there: Change = lambda values: values,
        back: Change | None = None,
        slots: int | None = None,
    ) -> Samples:
        """A topic of the components `names`, which `there` turns into the numbers of the message
        and `back` turns back; a change of axes is its own way back."""
        columns = self.columns(names)
        return Topic(
            self.topic + suffix,
            typename,
            len(names) if slots is None else slots,
            build,
            lambda samples: there(np.asarray(samples.values[:, columns], np.float64)),
            lambda numbers: dict(zip(names, (back or there)(numbers).T, strict=True)),
        )

    def publish_numbers(self, suffix: str, names: Sequence[str]) -> Samples:
        """A topic of named numbers as they are."""
        return self.publish(
            suffix, JOINT_STATE, names, lambda f: named_numbers(f, self.frame, list(names))
        )

    def columns(self, names: Sequence[str]) -> list[int]:
        """Places of components in a measurement."""
        return [self.info.components.index(name) for name in names]

    def variances(self, *names: str) -> list[float]:
        """Variances of the random errors of components."""
        return [self.info.deviation[i] ** 2 for i in self.columns(names)]

    def numbered(self, prefix: str) -> list[str]:
        """Components such as `range_1`, `range_2` …"""
        return [name for name in self.info.components if name.startswith(f"{prefix}_")]


def diagonal(*variances: float) -> Array:
    """A covariance matrix without correlations, row by row."""
    return np.diag(np.array(variances, dtype=np.float64)).ravel()


def xyz(name: str) -> list[str]:
    """The three components of a vector."""
    return [f"{name}_{axis}" for axis in "xyz"]


def no_vector(f: MessageFactory) -> Message:
    """A vector that says nothing."""
    return f.make(VECTOR, 0.0, 0.0, 0.0)


def no_turn(f: MessageFactory) -> Message:
    """A quaternion that says nothing."""
    return f.make(QUATERNION, 0.0, 0.0, 0.0, 1.0)


def twist(sensor: SensorTopic, frame: str, *names: str) -> Callable[[MessageFactory], Message]:
    """A twist of the linear velocities `names`, in ROS's order; the rest is unmeasured."""
    variances = [*sensor.variances(*names), *[UNMEASURED] * (6 - len(names))]

    def build(f: MessageFactory) -> Message:
        linear = [f.slot() if i < len(names) else 0.0 for i in range(3)]
        mean = f.make("geometry_msgs/msg/Twist", f.make(VECTOR, *linear), no_vector(f))
        spread = f.make("geometry_msgs/msg/TwistWithCovariance", mean, diagonal(*variances))
        return f.make(TWIST, f.header(frame), spread)

    return build


def pose(f: MessageFactory, point: Message, *variances: float) -> Message:
    """A position in the world with variances east, north, up; no attitude."""
    mean = f.make("geometry_msgs/msg/Pose", point, no_turn(f))
    covariance = diagonal(*variances, *[UNMEASURED] * 3)
    spread = f.make("geometry_msgs/msg/PoseWithCovariance", mean, covariance)
    return f.make(POSE, f.header(WORLD_FRAME), spread)


def fluid_pressure(sensor: SensorTopic, suffix: str) -> Samples:
    """The component `pressure`, in Pa and absolute as in ROS."""
    (variance,) = sensor.variances("pressure")

    def build(f: MessageFactory) -> Message:
        return f.make(_PRESSURE, f.header(sensor.frame), f.slot(), variance)

    return sensor.publish(suffix, _PRESSURE, ["pressure"], build)
