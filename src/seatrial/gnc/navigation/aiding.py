"""What the sensors beside the IMU tell an inertial filter: residuals and measurement rows.

The error state of the filter is δx = [δp δv δθ δb_a δb_g δc δm], with the attitude error in the
world, R_true = exp([δθ]×) R. A direction e that is fixed to the body then errs by δθ × e, so a
number d · (R w) has the row w_world × d in the attitude. Angular rates are those of the gyroscopes
less their bias and less L(ω) m, what a wrong scale and crooked axes make of them (`leaked`), and
err by −δb_g − L(ω) δm.

Behind these 21 come the slow errors of the sensors themselves, each a first-order Gauss–Markov
process ẋ = −x/τ + noise: the drift of a satellite receiver, the deviation of a compass, scale,
mounting and bias of a log. An error that stays is one with τ → ∞. As white noise they would have to
be so large that nothing could be told from them; as states they are known for what they are
(Groves 2013, section 14.2).

All places are counted from the IMU, which is where the filter works: an arm is the vector from the
IMU to the sensor in body axes.
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.kalman import Component, Innovation, Row, Test
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import Rotation, multiply
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import (
    Scalar,
    Vec3,
    across,
    add,
    cross,
    dot,
    safe_norm,
    scale,
    subtract,
    vec3,
)

POSITION, VELOCITY, ATTITUDE, ACCELEROMETER, GYROSCOPE, CURRENT, TURNING = 0, 3, 6, 9, 12, 15, 18
"""First rows of the parts of the error state."""
SIZE = 21
"""Of the error state without the slow errors of the sensors."""

SCALE_MOUNTING_BIAS = 7
"""Slow errors of a log that has all of them."""

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


@pytree
class Slow:
    """Slow errors of a sensor, which are states of the filter."""

    deviation: jax.Array
    """(K,) at the start."""
    decay: jax.Array
    """(K,) 1/τ, 1/s; 0 for an error that stays."""
    walk: jax.Array
    """(K,) density of the noise that drives it, per √s: σ √(2/τ) keeps the deviation σ."""

    @property
    def size(self) -> int:
        """How many."""
        return int(self.deviation.shape[0])


class Own(NamedTuple):
    """What the filter believes of the slow errors of the sensor that is compared."""

    first: int
    """Where they begin in the error state."""
    values: jax.Array
    """(K, N)."""

    def added(self, residual: Scalar, row: Row, k: int) -> tuple[Scalar, Row]:
        """Residual and row of a number to which error `k`, if there are any, is simply added."""
        if not self.values.shape[0]:
            return residual, row
        return residual - self.values[k], row | {self.first + k: 1.0}


class Aid(Protocol):
    """A sensor that corrects the filter: a pytree."""

    @property
    def test(self) -> Test:
        """When it is believed."""

    @property
    def slow(self) -> Slow:
        """Its slow errors."""

    @property
    def groups(self) -> tuple[int, ...]:
        """Number of components of every group in a measurement."""

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Residuals and rows of a measurement (D, N), components as the sensor gives them."""


def frame(matrix: jax.Array) -> Rotation:
    """Rotation from the sensor's axes to the body's of a (9,) array."""
    return Rotation(*(matrix[i] for i in range(9)))


def _spread(first: int, v: Vec3) -> Row:
    return {first + i: v[i] for i in range(3)}


def leaked(m: Any, rate: Any) -> tuple[Any, Any, Any]:
    """What crooked gyroscopes add to the rates p q r: (m_x r, m_y r, m_z r − m_x p − m_y q).

    A unit that sits at an angle feels rolling and pitching as yawing, as much as yawing as rolling
    and pitching. Without that the filter would take the heading's swaying in waves for a tilt.
    """
    p, q, r = rate[0], rate[1], rate[2]
    return m[0] * r, m[1] * r, m[2] * r - m[0] * p - m[1] * q


def leaking(d: Any, rate: Any) -> tuple[Any, Any, Any]:
    """The transpose: how d · `leaked` changes with m."""
    p, q, r = rate[0], rate[1], rate[2]
    return d[0] * r - d[2] * p, d[1] * r - d[2] * q, d[2] * r


def _rates(lever: Vec3, motion: Motion) -> Row:
    """Row of −d · ω with d = `lever`: of the biases of the gyroscopes, and of what turning adds."""
    return _spread(GYROSCOPE, lever) | _spread(TURNING, leaking(lever, motion.angular))


@pytree
class Antenna:
    """What a receiver needs on a vehicle that dives."""

    margin: jax.Array
    """Least height above the water, m."""
    delay: jax.Array
    """From coming up to being heard, s."""

    def awash(self, depth: jax.Array, deviation: jax.Array) -> jax.Array:
        """(N,) whether it may be under water at this depth, which is known to `deviation`."""
        return -depth < self.margin + 2.0 * deviation


@pytree
class Fix:
    """A position of a point of the body, and its velocity where the receiver gives one: GNSS, UWB.

    p + R r + d and v + R (ω × r), NED; the drift d is a slow error, of all three axes or of none.
    """

    arm: jax.Array
    """(3,)."""
    deviation: jax.Array
    """(3,) m."""
    velocity_deviation: jax.Array | None
    """(3,) m/s."""
    test: Test
    slow: Slow
    antenna: Antenna | None = None
    """Where the vehicle dives."""

    @property
    def groups(self) -> tuple[int, ...]:
        """Position, and velocity."""
        return (3,) if self.velocity_deviation is None else (3, 3)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """The first three numbers are the position, the next three the velocity."""
        arm = vec3(self.arm)
        there = motion.rotation.to_world(arm)
        place = add(motion.position, there)
        parts = []
        for i in range(3):
            row: Row = _spread(ATTITUDE, cross(there, AXES[i])) | {POSITION + i: 1.0}
            residual = values[i] - place[i]
            parts.append(Component(*own.added(residual, row, i), self.deviation[i] ** 2))
        found = [Innovation(parts, True, POSITION)]
        if self.velocity_deviation is not None:
            around = motion.rotation.to_world(cross(motion.angular, arm))
            speed = add(motion.velocity, around)
            parts = []
            for i in range(3):
                row = _spread(ATTITUDE, cross(around, AXES[i])) | {VELOCITY + i: 1.0}
                lever = cross(motion.rotation.to_body(AXES[i]), arm)
                row |= _rates(lever, motion)
                variance = self.velocity_deviation[i] ** 2
                parts.append(Component(values[3 + i] - speed[i], row, variance))
            found.append(Innovation(parts, True, VELOCITY))
        return found


@pytree
class Depth:
    """Depth of a point of the body: the third component of p + R r, and an offset where it has one.

    The reading times `per_unit`, less `zero`, is the depth. Waves above press on it: their share of
    the variance is σ² e^(−2κz) at the depth z, as white noise that stands for their slow swaying.
    """

    arm: jax.Array
    zero: jax.Array
    """m."""
    per_unit: jax.Array
    """m per unit of the reading."""
    deviation: jax.Array
    """m."""
    test: Test
    slow: Slow
    waves: jax.Array | None = None
    """(2,) σ² at the surface, m², and κ, 1/m; None in calm water."""
    component: int = static(default=0)
    """Which number of the measurement it is."""

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (1,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """One number."""
        variance = self.deviation**2
        if self.waves is not None:
            depth = jnp.maximum(motion.position[2], 0.0)
            variance = variance + self.waves[0] * jnp.exp(-2.0 * self.waves[1] * depth)
        there = motion.rotation.to_world(vec3(self.arm))
        read = values[self.component] * self.per_unit - self.zero
        residual = read - motion.position[2] - there[2]
        row: Row = {POSITION + 2: 1.0, ATTITUDE: there[1], ATTITUDE + 1: -there[0]}
        part = Component(*own.added(residual, row, 0), variance)
        return [Innovation([part], True, POSITION)]


@pytree
class Ranges:
    """Distances from a point of the body to known places, each with a gate of its own: UWB."""

    arm: jax.Array
    anchors: jax.Array
    """(3, A) NED, m."""
    deviation: jax.Array
    """(A,) m."""
    test: Test
    slow: Slow
    first: int = static()
    """Which number of the measurement is the first distance."""
    antenna: Antenna | None = None
    """Where the vehicle dives."""

    @property
    def groups(self) -> tuple[int, ...]:
        """One for every anchor."""
        return (1,) * int(self.anchors.shape[1])

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """A distance that is not positive was not measured."""
        there = motion.rotation.to_world(vec3(self.arm))
        place = add(motion.position, there)
        found = []
        for a in range(len(self.groups)):
            apart = subtract(place, vec3(self.anchors[:, a]))
            distance = safe_norm(apart)
            towards = scale(1.0 / distance, apart)
            row = _spread(POSITION, towards) | _spread(ATTITUDE, cross(there, towards))
            measured = values[self.first + a]
            part = Component(measured - distance, row, self.deviation[a] ** 2)
            found.append(Innovation([part], measured > 0.0, POSITION))
        return found


@pytree
class Beacon:
    """Distance and direction of a transponder whose place is told with them: USBL.

    From the sensor it lies at s = R_bsᵀ (Rᵀ (b − p) − r), b its place. The measured vector m is
    compared with s along s, where it errs by the distance, and along two axes e across it, where it
    errs by |s| times the angle; the place errs in all of them. With d = b − p and w = R R_bs e the
    rows are −w in the position and w × d in the attitude.
    """

    arm: jax.Array
    matrix: jax.Array
    """(9,) from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) of the distance (m), of the direction (rad), of the place (m)."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """All three numbers."""
        return (3,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Distance, bearing, elevation, and the place of the transponder."""
        del own
        mounting, arm = frame(self.matrix), vec3(self.arm)
        away = subtract(vec3(values[3:6]), motion.position)
        seen = mounting.to_body(subtract(motion.rotation.to_body(away), arm))
        length, level = values[0], values[0] * jnp.cos(values[2])
        measured = (
            level * jnp.cos(values[1]),
            level * jnp.sin(values[1]),
            length * jnp.sin(values[2]),
        )
        far = safe_norm(seen)
        ahead = scale(1.0 / far, seen)
        first, second = across(ahead)
        parts = []
        for e, deviation in (
            (ahead, self.deviation[0]),
            (first, self.deviation[1] * far),
            (second, self.deviation[1] * far),
        ):
            w = motion.rotation.to_world(mounting.to_world(e))
            row = _spread(POSITION, scale(-1.0, w)) | _spread(ATTITUDE, cross(w, away))
            residual = dot(e, subtract(measured, seen))
            parts.append(Component(residual, row, deviation**2 + self.deviation[2] ** 2))
        return [Innovation(parts, length > 0.0, POSITION)]


@pytree
class BodyVelocity:
    """Velocity of a point of the body along axes of the sensor: DVL, speed log, own dynamics.

    u = R_bsᵀ (Rᵀ (v − λ c) + ω × r), with λ = 0 over ground and λ = 1 through the water, is read as
    (1 + s) u − ε × u + b. Of the slow errors there are all seven (scale s, mounting ε, bias b), the
    scale alone, one bias for each axis measured, or none.
    """

    arm: jax.Array
    matrix: jax.Array
    """(9,) from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) m/s, over ground."""
    water_deviation: jax.Array
    """(3,) m/s, through the water."""
    test: Test
    slow: Slow
    axes: tuple[int, ...] = static()
    """Which axes of the sensor are measured: the first numbers of the measurement."""
    lock: int | None = static()
    """Which number says 0 for nothing, 1 for ground and 2 for water; None where it is water."""

    @property
    def groups(self) -> tuple[int, ...]:
        """All axes."""
        return (len(self.axes),)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """All axes together."""
        arm, mounting = vec3(self.arm), frame(self.matrix)
        around = cross(motion.angular, arm)
        water: Scalar = 1.0
        present: Scalar = True
        if self.lock is not None:
            present = values[self.lock] > 0.5
            water = jnp.where(values[self.lock] > 1.5, 1.0, 0.0)
        relative = subtract(motion.velocity, scale(water, motion.current))
        still = add(motion.rotation.to_body(relative), around)
        seen = mounting.to_body(still)
        wrong, rows = self._errors(seen, own)
        parts = []
        for place, i in enumerate(self.axes):
            axis = mounting.to_world(AXES[i])
            e = motion.rotation.to_world(axis)
            row = _spread(VELOCITY, e) | _spread(ATTITUDE, cross(e, relative))
            row |= _rates(cross(axis, arm), motion) | _spread(CURRENT, scale(-water, e))
            ground, through = self.deviation[i] ** 2, self.water_deviation[i] ** 2
            residual = values[place] - seen[i] - wrong[place]
            variance = ground + water * (through - ground)
            parts.append(Component(residual, row | rows[place], variance))
        return [Innovation(parts, present, VELOCITY)]

    def _errors(self, seen: Vec3, own: Own) -> tuple[list[Scalar], list[Row]]:
        """What the slow errors add to each axis measured of a velocity in sensor axes, and rows."""
        wrong: list[Scalar] = [0.0] * len(self.axes)
        rows: list[Row] = [{} for _ in self.axes]
        kinds = self.slow.size
        if kinds == len(self.axes) and kinds > 1:
            rows = [{own.first + k: 1.0} for k in range(kinds)]
            wrong = [own.values[k] for k in range(kinds)]
        elif kinds:
            rows = [{own.first: seen[i]} for i in self.axes]
            wrong = [own.values[0] * seen[i] for i in self.axes]
        if kinds == SCALE_MOUNTING_BIAS:
            for k, i in enumerate(self.axes):
                rows[k] |= _spread(own.first + 1, cross(AXES[i], seen)) | {own.first + 4 + i: 1.0}
                turned = dot(cross(AXES[i], seen), vec3(own.values[1:4]))
                wrong[k] = wrong[k] + turned + own.values[4 + i]
        return wrong, rows


@pytree
class Heading:
    """Heading of the sensor's x axis: a compass. e = R R_bs e_x, ψ = atan2(e_E, e_N).

    It reads ψ less its deviation A + B sin μ + C cos μ + D sin 2μ + E cos 2μ, with μ the magnetic
    heading; the coefficients are slow errors.
    """

    matrix: jax.Array
    offset: jax.Array
    """Added to the reading to get the heading from true north: the declination, rad."""
    declination: jax.Array
    """rad."""
    deviation: jax.Array
    """rad."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (1,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
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
        if self.slow.size:
            once = bearing(east, north) - self.declination
            twice = 2.0 * once
            parts = (
                jnp.ones_like(once),
                jnp.sin(once),
                jnp.cos(once),
                jnp.sin(twice),
                jnp.cos(twice),
            )
            for k, part in enumerate(parts):
                row[own.first + k] = -part
                residual = residual + part * own.values[k]
        return [Innovation([Component(residual, row, self.deviation**2)], level > 0.03, ATTITUDE)]


@pytree
class Attitude:
    """Orientation of the sensor in the world: an AHRS. δθ = 2 vec(q_measured ⊗ q_predicted⁻¹).

    Its slow errors are rotations about north, east and down.
    """

    mounting: jax.Array
    """(4,) quaternion from the sensor's axes to the body's."""
    deviation: jax.Array
    """(3,) about north, east and down, rad."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (3,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """The first four numbers are the quaternion, scalar first."""
        error = attitude_error(values[:4], multiply(motion.attitude, self.mounting[:, None]))
        parts = []
        for i in range(3):
            found = own.added(error[i], {ATTITUDE + i: 1.0}, i)
            parts.append(Component(*found, self.deviation[i] ** 2))
        return [Innovation(parts, True, ATTITUDE)]


@pytree
class Field:
    """The Earth's magnetic field in the sensor's axes: R_bsᵀ Rᵀ m + h, h of iron a slow error."""

    matrix: jax.Array
    field: jax.Array
    """(3,) NED, T."""
    deviation: jax.Array
    """(3,) T."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """One."""
        return (3,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Three numbers."""
        mounting, field = frame(self.matrix), vec3(self.field)
        parts = []
        for i in range(3):
            e = motion.rotation.to_world(mounting.to_world(AXES[i]))
            found = own.added(values[i] - dot(e, field), _spread(ATTITUDE, cross(e, field)), i)
            parts.append(Component(*found, self.deviation[i] ** 2))
        return [Innovation(parts, True, ATTITUDE)]


@pytree
class Level:
    """That a craft floats upright: its z axis down, for want of anything better."""

    deviation: jax.Array
    """Of roll and pitch, rad."""
    test: Test
    slow: Slow

    @property
    def groups(self) -> tuple[int, ...]:
        """Both tilts."""
        return (2,)

    def compare(self, motion: Motion, values: jax.Array, own: Own) -> list[Innovation]:
        """Nothing is measured: the tilt that would bring z to down is z × down."""
        del values, own
        z = motion.rotation.to_world(AXES[2])
        parts = [
            Component(error, {ATTITUDE + i: 1.0}, self.deviation**2)
            for i, error in enumerate((z[1], -jnp.asarray(z[0])))
        ]
        return [Innovation(parts, True, ATTITUDE)]


def read(aid: Aid, values: jax.Array) -> jax.Array:
    """The numbers of a measurement that an aid compares."""
    first = 0
    if isinstance(aid, Depth):
        first = aid.component
    elif isinstance(aid, Ranges):
        first = aid.first
    return values[first : first + sum(aid.groups)]


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
