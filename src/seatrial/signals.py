"""What passes between the rooms of a control loop: what a sensor is, and what it measured.

Guidance, navigation and control see these types and nothing behind them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

OUTCOMES = {
    0: "pending",
    1: "reached",
    2: "passed",
    3: "timed out",
    4: "held",
    5: "ended by its condition",
}
"""How a leg of a mission ended. Passed: the vehicle went by its end outside the circle of
acceptance."""


HEALTH = {
    0: "unheard",
    1: "used",
    2: "rejected",
    3: "frozen",
    4: "stale",
    5: "silent",
}
"""How a navigation filter finds a sensor. Frozen: it repeats itself. Stale: its samples come too
late."""


RULES = {
    0: "none",
    1: "head-on",
    2: "give way",
    3: "stand on",
    4: "overtaking",
    5: "being overtaken",
}
"""What the COLREGs make of a vessel towards another one."""


FAILSAFES = (
    "position",
    "fence",
    "link",
    "battery",
    "ingress",
    "depth",
    "altitude",
    "actuator",
    "capsize",
    "progress",
)
"""What a vehicle on a mission watches, in the order of the bits of a recording."""


ACTIONS = {
    0: "none",
    1: "warn",
    2: "slow",
    3: "hold",
    4: "return",
    5: "surface",
    6: "abort",
}
"""What a failsafe does, the graver the later: of several the last one is done."""


@dataclass(frozen=True)
class PayloadInfo:
    """What one sample of a dense sensor is beside its few numbers: an array of stated shape."""

    kind: str
    """`echogram` and `sonar_image` (beams, range bins), `image` (rows, columns, channels), `cloud`
    (points, fields) or `scan` (ranges and intensities, beams): decides the message in which it is
    recorded."""
    shape: tuple[int, ...]
    dtype: str
    """Of the numbers, as NumPy names it: `float32`, `uint8`."""
    unit: str
    """As in CF conventions; `1` for a pure number."""
    fields: tuple[str, ...] = ()
    """Names along the last axis, for example `x y z intensity` of a cloud; of a picture of classes
    the name of each."""
    encoding: str = ""
    """How a picture is compressed in messages: `png`, `jpeg:90`; not at all when empty."""


@dataclass(frozen=True)
class SensorInfo:
    """A sensor of a vehicle, as its data sheet and its mounting tell it."""

    name: str
    type: str
    """imu, gnss, dvl, …"""
    components: tuple[str, ...]
    """Name of every number in a measurement, for example `acceleration_x`."""
    units: tuple[str, ...]
    """Unit of every number, as in CF conventions: `m s-2`."""
    deviation: tuple[float, ...]
    """Standard deviation of the random error of every number; 0 where it is exact or unknown."""
    rate: float
    """Samples per second."""
    position: tuple[float, float, float]
    """Of the sensor in the body frame, m."""
    orientation: tuple[float, float, float, float]
    """Quaternion, scalar first, from the sensor's axes to the body's."""
    facts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Other numbers that a reader needs, such as the places of anchors."""
    payload: PayloadInfo | None = None
    """Of a dense sensor; None where `components` is all."""


@dataclass(frozen=True)
class Setpoint:
    """What an autopilot is asked for from outside, in place of its mission.

    Give `heading`, `course`, `yaw_rate` or `waypoint`, one of them, with a `surge`; a `depth` that
    is left out stays the mission's.

    >>> st.Command(setpoint=st.Setpoint(surge=1.5, heading=0.5)).setpoint.surge
    1.5
    """

    surge: float
    """Speed ahead, m/s."""
    heading: float | None = None
    """Clockwise from north, rad."""
    course: float | None = None
    """Direction of the track over ground, rad."""
    yaw_rate: float | None = None
    """rad/s."""
    waypoint: tuple[float, float] | None = None
    """Place to go to: north and east of the datum, m."""
    depth: float | None = None
    """m."""


@dataclass(frozen=True)
class Command:
    """What somebody outside tells a vehicle; it stands until it is replaced or released.

    First what is released is given back to the vehicle's own timetable, manoeuvre or pilot, then
    the new orders are taken.

    >>> simulation = st.Simulation("otter-turning-circle")
    >>> state = simulation.step(st.Command(channels={"left_rpm": 900}))
    >>> state = simulation.step(st.Command(release=["left"]))
    """

    channels: Mapping[str, float] = field(default_factory=dict)
    """Orders by channel; `left_rpm` gives a channel in another unit than SI."""
    setpoint: Setpoint | None = None
    """For the vehicle's autopilot."""
    release: Collection[str] | Literal["all"] = ()
    """Channels to give back, and `setpoint`; or all of them at once."""


RELEASE = Command(release="all")
"""Gives a whole vehicle back.

>>> simulation = st.Simulation("otter-turning-circle")
>>> state = simulation.step({"left_rpm": 900})
>>> state = simulation.step(st.RELEASE)
"""


@dataclass(frozen=True)
class FaultInfo:
    """A fault that a run may show."""

    name: str
    """Unique within the vehicle, for example `imu: freeze`."""
    target: str
    """The sensor or actuator that it strikes, or `comms`."""
    kind: str


@dataclass(frozen=True)
class Measurements:
    """Consecutive samples of one sensor; vehicles, where there are several, on the second axis."""

    time: NDArray[np.float64]
    """(S,) when they were taken, s."""
    arrival: NDArray[np.float64]
    """(S, ...) when they were there to be used: later by latency and jitter, s."""
    values: NDArray[Any]
    """(S, ..., D) in the order of `SensorInfo.components`, SI units, sensor axes."""
    valid: NDArray[np.bool_]
    """(S, ...) False where the sensor gave nothing; the values then mean nothing."""
    fault: NDArray[np.int32]
    """(S, ...) bit i is set while fault i of the vehicle distorts the sample."""

    payload: NDArray[Any] | None = None
    """(S, ..., *shape) as `SensorInfo.payload` says; None for a sensor without one."""

    def pick(self, vehicle: int) -> "Measurements":
        """One vehicle of several."""
        return self._each(lambda name, array: array if name == "time" else array[:, vehicle])

    def cut(self, part: slice | NDArray[Any]) -> "Measurements":
        """Some of the samples."""
        return self._each(lambda _, array: array[part])

    def _each(self, change: Callable[[str, NDArray[Any]], NDArray[Any]]) -> "Measurements":
        there = {k: v for k, v in vars(self).items() if v is not None}
        return Measurements(**{name: change(name, array) for name, array in there.items()})


def join(parts: list[Measurements]) -> Measurements:
    """Consecutive samples as one."""
    names = [name for name, array in vars(parts[0]).items() if array is not None]
    return Measurements(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in names})
