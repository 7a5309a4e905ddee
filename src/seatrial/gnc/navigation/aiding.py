"""What the sensors beside the IMU tell an inertial filter: residuals and measurement rows.

The error state of the filter is δx = [δp δv δθ δb_a δb_g δc], with the attitude error in the world,
R_true = exp([δθ]×) R. A direction e that is fixed to the body then errs by δθ × e, so a number
d · (R w) has the row w_world × d in the attitude. Angular rates are those of the gyroscopes less
their bias, and err by −δb_g.

All places are counted from the IMU, which is where the filter works: an arm is the vector from the
IMU to the sensor in body axes.
"""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.kalman import Component, Group, Row
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import Rotation, multiply
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import (
    Scalar,
    Vec3,
    add,
    cross,
    dot,
    safe_norm,
    scale,
    subtract,
    vec3,
)

POSITION, VELOCITY, ATTITUDE, ACCELEROMETER, GYROSCOPE, CURRENT = 0, 3, 6, 9, 12, 15
"""First rows of the parts of the error state."""
SIZE = 18

AXES: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Motion(NamedTuple):
    """What the filter believes at the instant of a measurement."""

    position: Vec3
    """Of the IMU, NED."""
    velocity: Vec3
    """Of the IMU, NED."""
    attitude: jax.Array
    """(4, N) body to world."""
    rotation: Rotation
    angular: Vec3
    """Body axes."""
    current: Vec3
    """NED."""


class Aid(Protocol):
    """A sensor that corrects the filter: a pytree."""

    @property
    def threshold(self) -> jax.Array:
        """(G,) largest NIS of each group."""

    @property
    def patience(self) -> jax.Array:
        """Rejections in a row after which the filter doubts itself."""

    @property
    def groups(self) -> int:
        """Number of groups in a measurement."""

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """Residuals and rows of a measurement (D, N), components as the sensor gives them."""


def frame(matrix: jax.Array) -> Rotation:
    """Rotation from the sensor's axes to the body's of a (9,) array."""
    return Rotation(*(matrix[i] for i in range(9)))


def _spread(first: int, v: Vec3) -> Row:
    return {first + i: v[i] for i in range(3)}


@pytree
class Fix:
    """A position of a point of the body, and its velocity where the receiver gives one: GNSS, UWB.

    p + R r and v + R (ω × r), NED.
    """

    arm: jax.Array
    """(3,)."""
    deviation: jax.Array
    """(3,) m."""
    velocity_deviation: jax.Array | None
    """(3,) m/s."""
    threshold: jax.Array
    patience: jax.Array

    @property
    def groups(self) -> int:
        """Position, and velocity."""
        return 1 if self.velocity_deviation is None else 2

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """The first three numbers are the position, the next three the velocity."""
        arm = vec3(self.arm)
        there = motion.rotation.to_world(arm)
        place = add(motion.position, there)
        found = [
            Group(
                [
                    Component(
                        values[i] - place[i],
                        _spread(ATTITUDE, cross(there, AXES[i])) | {POSITION + i: 1.0},
                        self.deviation[i] ** 2,
                    )
                    for i in range(3)
                ],
                True,
            )
        ]
        if self.velocity_deviation is not None:
            around = motion.rotation.to_world(cross(motion.angular, arm))
            speed = add(motion.velocity, around)
            parts = []
            for i in range(3):
                row = _spread(ATTITUDE, cross(around, AXES[i])) | {VELOCITY + i: 1.0}
                lever = cross(motion.rotation.to_body(AXES[i]), arm)
                row |= _spread(GYROSCOPE, lever)
                variance = self.velocity_deviation[i] ** 2
                parts.append(Component(values[3 + i] - speed[i], row, variance))
            found.append(Group(parts, True))
        return found


@pytree
class Depth:
    """Depth of a point of the body: the third component of p + R r."""

    arm: jax.Array
    deviation: jax.Array
    threshold: jax.Array
    patience: jax.Array
    component: int = static()
    """Which number of the measurement it is."""

    @property
    def groups(self) -> int:
        """One."""
        return 1

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """One number."""
        there = motion.rotation.to_world(vec3(self.arm))
        residual = values[self.component] - motion.position[2] - there[2]
        row: Row = {POSITION + 2: 1.0, ATTITUDE: there[1], ATTITUDE + 1: -there[0]}
        return [Group([Component(residual, row, self.deviation**2)], True)]


@pytree
class Ranges:
    """Distances from a point of the body to known places, each with a gate of its own: UWB."""

    arm: jax.Array
    anchors: jax.Array
    """(3, A) NED, m."""
    deviation: jax.Array
    """(A,) m."""
    threshold: jax.Array
    patience: jax.Array
    first: int = static()
    """Which number of the measurement is the first distance."""

    @property
    def groups(self) -> int:
        """One for every anchor."""
        return int(self.anchors.shape[1])

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """A distance that is not positive was not measured."""
        there = motion.rotation.to_world(vec3(self.arm))
        place = add(motion.position, there)
        found = []
        for a in range(self.groups):
            apart = subtract(place, vec3(self.anchors[:, a]))
            distance = safe_norm(apart)
            towards = scale(1.0 / distance, apart)
            row = _spread(POSITION, towards) | _spread(ATTITUDE, cross(there, towards))
            measured = values[self.first + a]
            part = Component(measured - distance, row, self.deviation[a] ** 2)
            found.append(Group([part], measured > 0.0))
        return found


@pytree
class BodyVelocity:
    """Velocity of a point of the body along axes of the sensor: DVL, speed log, own dynamics.

    R_bsᵀ (Rᵀ (v − λ c) + ω × r), with λ = 0 over ground and λ = 1 through the water.
    """

    arm: jax.Array
    matrix: jax.Array
    """(9,) from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) m/s, over ground."""
    water_deviation: jax.Array
    """(3,) m/s, through the water."""
    threshold: jax.Array
    patience: jax.Array
    axes: tuple[int, ...] = static()
    """Which axes of the sensor are measured: the first numbers of the measurement."""
    lock: int | None = static()
    """Which number says 0 for nothing, 1 for ground and 2 for water; None where it is water."""

    @property
    def groups(self) -> int:
        """One."""
        return 1

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """All axes together."""
        arm, mounting = vec3(self.arm), frame(self.matrix)
        around = cross(motion.angular, arm)
        water: Scalar = 1.0
        present: Scalar = True
        if self.lock is not None:
            present = values[self.lock] > 0.5
            water = jnp.where(values[self.lock] > 1.5, 1.0, 0.0)
        relative = subtract(motion.velocity, scale(water, motion.current))
        parts = []
        for place, i in enumerate(self.axes):
            axis = mounting.to_world(AXES[i])
            e = motion.rotation.to_world(axis)
            row = _spread(VELOCITY, e) | _spread(ATTITUDE, cross(e, relative))
            row |= _spread(GYROSCOPE, cross(axis, arm)) | _spread(CURRENT, scale(-water, e))
            ground, through = self.deviation[i] ** 2, self.water_deviation[i] ** 2
            residual = values[place] - dot(e, relative) - dot(axis, around)
            parts.append(Component(residual, row, ground + water * (through - ground)))
        return [Group(parts, present)]


@pytree
class Heading:
    """Heading of the sensor's x axis: a compass. e = R R_bs e_x, ψ = atan2(e_E, e_N)."""

    matrix: jax.Array
    offset: jax.Array
    """Added to the reading to get the heading from true north: the declination, rad."""
    deviation: jax.Array
    """rad."""
    threshold: jax.Array
    patience: jax.Array

    @property
    def groups(self) -> int:
        """One."""
        return 1

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """One number; of no use while the axis is near the vertical."""
        north, east, down = motion.rotation.to_world(frame(self.matrix).to_world(AXES[0]))
        level = jnp.asarray(north * north + east * east)
        safe = jnp.maximum(level, 1e-3)
        residual = wrap_signed(values[0] + self.offset - bearing(east, north))
        row: Row = {
            ATTITUDE: -north * down / safe,
            ATTITUDE + 1: -east * down / safe,
            ATTITUDE + 2: 1.0,
        }
        return [Group([Component(residual, row, self.deviation**2)], level > 0.03)]


@pytree
class Attitude:
    """Orientation of the sensor in the world: an AHRS. δθ = 2 vec(q_measured ⊗ q_predicted⁻¹)."""

    mounting: jax.Array
    """(4,) quaternion from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) about north, east and down, rad."""
    threshold: jax.Array
    patience: jax.Array

    @property
    def groups(self) -> int:
        """One."""
        return 1

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """The first four numbers are the quaternion, scalar first."""
        error = attitude_error(values[:4], multiply(motion.attitude, self.mounting[:, None]))
        parts = [Component(error[i], {ATTITUDE + i: 1.0}, self.deviation[i] ** 2) for i in range(3)]
        return [Group(parts, True)]


@pytree
class Field:
    """The Earth's magnetic field in the sensor's axes: R_bsᵀ Rᵀ m."""

    matrix: jax.Array
    field: jax.Array
    """(3,) NED, T."""
    deviation: jax.Array
    """(3,) T."""
    threshold: jax.Array
    patience: jax.Array

    @property
    def groups(self) -> int:
        """One."""
        return 1

    def compare(self, motion: Motion, values: jax.Array) -> list[Group]:
        """Three numbers."""
        mounting, field = frame(self.matrix), vec3(self.field)
        parts = []
        for i in range(3):
            e = motion.rotation.to_world(mounting.to_world(AXES[i]))
            row = _spread(ATTITUDE, cross(e, field))
            parts.append(Component(values[i] - dot(e, field), row, self.deviation[i] ** 2))
        return [Group(parts, True)]


def attitude_error(true: jax.Array, believed: jax.Array) -> jax.Array:
    """Rotation vector δθ (3, ...) in the world with true = exp(δθ) ⊗ believed."""
    inverse = jnp.concatenate([believed[:1], -believed[1:4]])
    difference = multiply(true, inverse)
    # The quaternion and its negative are one attitude: take the shorter way.
    difference = difference * jnp.where(difference[0] < 0.0, -1.0, 1.0)
    length = root(jnp.sum(difference[1:4] ** 2, axis=0))
    half = bearing(length, difference[0])
    small = length < 1e-9
    ratio = jnp.where(small, 2.0, 2.0 * half / jnp.where(small, 1.0, length))
    return ratio * difference[1:4]
