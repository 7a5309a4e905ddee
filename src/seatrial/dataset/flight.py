"""What was flown: the samples of every sensor beside the truth, and where every picture was taken.

Frames are seatrial's own: the world is NED, a vehicle's axes are forward, starboard, down, a camera
looks along x with its columns towards y and its rows towards z. Stamps are whole nanoseconds since
the start.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]

NANOSECONDS = 1_000_000_000


class Mounting(NamedTuple):
    """Where a sensor sits on its vehicle."""

    position: tuple[float, float, float]
    """Body frame, m."""
    orientation: tuple[float, float, float, float]
    """Quaternion, scalar first, from the sensor's axes to the body's."""


@dataclass(frozen=True)
class Motion:
    """The true motion of a vehicle at some instants."""

    stamp: Stamps
    """(S,) ns."""
    position: Array
    """(S, 3) NED, m."""
    attitude: Array
    """(S, 4) quaternion, scalar first, body to world."""
    velocity: Array
    """(S, 3) over ground, body axes, m/s."""
    rate: Array
    """(S, 3) angular, body axes, rad/s."""

    def part(self, rows: slice) -> "Motion":
        """Some of the instants."""
        return Motion(
            self.stamp[rows],
            self.position[rows],
            self.attitude[rows],
            self.velocity[rows],
            self.rate[rows],
        )

    def of(self, mounting: Mounting) -> "Motion":
        """The motion of a sensor's place, in its axes."""
        arm = np.asarray(mounting.position)
        turn = np.asarray(mounting.orientation)
        velocity = self.velocity + np.cross(self.rate, arm)
        return Motion(
            self.stamp,
            self.position + rotate(self.attitude, np.broadcast_to(arm, self.position.shape)),
            multiply(self.attitude, turn),
            rotate(conjugate(turn), velocity),
            rotate(conjugate(turn), self.rate),
        )

    def without(self, mounting: Mounting) -> "Motion":
        """The motion of the vehicle, where this is that of a sensor: undoes `of`."""
        arm = np.asarray(mounting.position)
        turn = np.asarray(mounting.orientation)
        attitude = multiply(self.attitude, conjugate(turn))
        rate = rotate(turn, self.rate)
        return Motion(
            self.stamp,
            self.position - rotate(attitude, np.broadcast_to(arm, self.position.shape)),
            attitude,
            rotate(turn, self.velocity) - np.cross(rate, arm),
            rate,
        )


@dataclass(frozen=True)
class Samples:
    """What a sensor measured, and what it would have without any error."""

    vehicle: int
    kind: str
    """`imu` or `depth`."""
    number: int
    """Among those of its kind on the vehicle."""
    name: str
    """In the scenario."""
    rate: float
    """Hz."""
    mounting: Mounting
    columns: tuple[str, ...]
    """Names of the numbers, with units, as in the head of a table."""
    noisy: Array
    """(S, D); NaN where it gave nothing."""
    exact: Array
    """(S, D)."""
    motion: Motion
    """Of the vehicle, at the same instants."""
    noise: dict[str, float]
    """Densities and other figures of its errors, by name."""


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product of quaternions (..., 4)."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(q: Array) -> Array:
    """The rotation back."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(q: Array, v: Array) -> Array:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    w, axis = q[..., :1], q[..., 1:]
    once = 2.0 * np.cross(axis, v)
    turned: Array = v + w * once + np.cross(axis, once)
    return turned
