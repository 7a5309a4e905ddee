"""Error-state Kalman filter for inertial navigation.

The nominal state is advanced by the strapdown equations; what is estimated is its small error
(Solà 2017, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508, chapters 5
to 7; Groves 2013, Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems).
The filter works at the IMU, in body axes; positions, velocities and attitudes go out for the
vehicle's origin. The attitude error is global (Solà section 7), R_true = exp([δθ]×) R:

    δṗ = δv,   δv̇ = −[R f]× δθ − R δb_a + noise,   δθ̇ = −R δb_g + noise,   δċ = noise

with biases and current c as random walks. Over one period, with a = R f and R their means of both
ends,

    δp ← δp + δv dt + ½ dt² δa,   δv ← δv + dt δa,   δa = −a × δθ − R δb_a,   δθ ← δθ − dt R δb_g

The terms left out are of second order in dt. After a correction the error is put into the nominal
state; that turns the attitude error by half the correction, which is left out too (Solà eq. 287).
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import kalman
from seatrial.gnc.navigation.aiding import (
    ACCELEROMETER,
    ATTITUDE,
    CURRENT,
    GYROSCOPE,
    POSITION,
    SIZE,
    VELOCITY,
    Aid,
    Motion,
    frame,
)
from seatrial.gnc.navigation.kalman import Gate
from seatrial.gnc.navigation.strapdown import Navigated, felt, trapezoid
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import Rotation, from_rotation_vector, multiply, normalise, rotation
from seatrial.spatial.vectors import Vec3, cross, scale, vec3


class Twin(Protocol):
    """The vehicle's own equations of motion in still water, driven by its orders: a pytree."""

    def begin(self, relative: jax.Array) -> jax.Array:
        """Memory (M, N) of a vehicle with velocity (6, N) relative to the water, body axes."""

    def advance(
        self, memory: jax.Array, estimate: Estimate, orders: jax.Array, dt: float
    ) -> jax.Array:
        """Memory after `dt` under `orders` (A, N)."""

    def velocity(self, memory: jax.Array) -> jax.Array:
        """Predicted u v w (3, N) through the water at the origin, body axes."""


@pytree
class Filter:
    """Everything that is known before the first sample."""

    arm: jax.Array
    """(3,) from the vehicle's origin to the IMU, body axes, m."""
    matrix: jax.Array
    """(9,) from the IMU's axes to the body's."""
    accelerometer_noise: jax.Array
    """Density, (m/s²)/√Hz."""
    gyroscope_noise: jax.Array
    """Density, (rad/s)/√Hz."""
    accelerometer_walk: jax.Array
    """Density of the bias's random walk, (m/s³)/√Hz."""
    gyroscope_walk: jax.Array
    """The same, (rad/s²)/√Hz."""
    current_walk: jax.Array
    """(3,) density of the current's random walk, (m/s²)/√Hz."""
    deviation: jax.Array
    """(18,) standard deviation of every error at the start."""
    aids: tuple[Aid, ...]
    twin: Twin | None = None
    """The vehicle's own dynamics as a velocity aid: the last of the aids."""
    floats: bool = static(default=False)
    """Whether the vehicle knows that it floats: the last of the aids before the twin's compares
    its depth with 0."""
    earth_rate: jax.Array | None = None
    """(3,) rotation Ω of the world's frame where the IMU feels it, NED, rad/s."""


class NavState(NamedTuple):
    """What a filter carries from sample to sample; vehicles on the last axis of everything."""

    position: jax.Array
    """(3, N) of the IMU, NED, m."""
    velocity: jax.Array
    """(3, N) of the IMU, NED, m/s."""
    attitude: jax.Array
    """(4, N) body to world."""
    accelerometer_bias: jax.Array
    """(3, N) body axes, m/s²."""
    gyroscope_bias: jax.Array
    """(3, N) body axes, rad/s."""
    current: jax.Array
    """(3, N) NED, m/s."""
    covariance: jax.Array
    """(18, 18, N) of the error: position, velocity, attitude, biases, current."""
    sample: jax.Array
    """(6, N) the last inertial sample in body axes."""
    started: jax.Array
    """(N,) whether there has been a sample."""
    gates: tuple[Gate, ...]
    """Of every aid."""
    memory: jax.Array
    """(M, N) of the twin."""


def begin(filter: Filter, start: Estimate, count: int) -> NavState:
    """A filter that believes `start` with the deviations of its description."""
    dtype = filter.deviation.dtype
    attitude = normalise(start.attitude.astype(dtype))
    turned = rotation(attitude)
    arm, angular = vec3(filter.arm), vec3(start.velocity[3:].astype(dtype))
    velocity = start.velocity.astype(dtype)
    around = cross(angular, arm)
    moving = (velocity[0] + around[0], velocity[1] + around[1], velocity[2] + around[2])
    still = (0.0, 0.0, -GRAVITY)
    memory = jnp.zeros((0, count), dtype)
    if filter.twin is not None:
        drift = jnp.stack([*turned.to_body(vec3(start.current.astype(dtype)))])
        memory = filter.twin.begin(velocity.at[:3].add(-drift))
    zero = jnp.zeros((3, count), dtype)
    variance = (filter.deviation**2).reshape(SIZE, -1)
    return NavState(
        position=start.position.astype(dtype) + _stack(turned.to_world(arm), zero),
        velocity=_stack(turned.to_world(moving), zero),
        attitude=attitude,
        accelerometer_bias=zero,
        gyroscope_bias=zero,
        current=start.current.astype(dtype) + zero,
        covariance=jnp.eye(SIZE, dtype=dtype)[:, :, None] * (variance + jnp.zeros((SIZE, count))),
        sample=jnp.concatenate([_stack(turned.to_body(still), zero), velocity[3:]]),
        started=jnp.zeros(count, bool),
        gates=tuple(kalman.closed_gate(aid.groups, count) for aid in filter.aids),
        memory=memory,
    )


def predict(
    filter: Filter, state: NavState, values: jax.Array, dt: float, usable: jax.Array | None = None
) -> NavState:
    """State at the next inertial sample: (6, N) specific force and rate in the IMU's axes.

    `dt` is the period of the samples. The first sample only begins: the state at its time is the
    one that the filter was begun with. Where a sample is missing the last one is held.
    """
    return propagate(filter, state, values, dt, usable)[0]


def propagate(
    filter: Filter, state: NavState, values: jax.Array, dt: float, usable: jax.Array | None = None
) -> tuple[NavState, "Transition"]:
    """`predict`, and how the error moved with it."""
    mounting = frame(filter.matrix)
    forces, rates = mounting.to_world(vec3(values[:3])), mounting.to_world(vec3(values[3:6]))
    sample = _stack((*forces, *rates), state.sample)
    if usable is not None:
        sample = jnp.where(usable, sample, state.sample)
    # Before the first sample no time passes; dt of 0 makes every step below the identity.
    step: Any = jnp.where(state.started, dt, 0.0)
    bias = jnp.concatenate([state.accelerometer_bias, state.gyroscope_bias])
    if filter.earth_rate is not None:
        bias = bias + _turning_world(filter.earth_rate, state)
    first, last = state.sample - bias, sample - bias
    before = Navigated(state.position, state.velocity, state.attitude)
    after = trapezoid(before, first, last, step)
    move = _transition(state.attitude, after.attitude, first, last, step)
    covariance = move.apply(move.apply(state.covariance).swapaxes(0, 1))
    covariance = 0.5 * (covariance + covariance.swapaxes(0, 1))
    noise = _noise(filter, step)
    covariance = covariance + jnp.eye(SIZE, dtype=covariance.dtype)[:, :, None] * noise
    return (
        state._replace(
            position=after.position,
            velocity=after.velocity,
            attitude=after.attitude,
            covariance=covariance,
            sample=sample,
            started=state.started | (True if usable is None else usable),
        ),
        move,
    )


def update(
    filter: Filter,
    state: NavState,
    index: int,
    values: jax.Array,
    usable: jax.Array,
    age: jax.Array | float | None = None,
) -> NavState:
    """State after a measurement (D, N) of the aid at `index`; unchanged where it is not `usable`.

    `age` is the time by which the measurement is older than the last inertial sample, s: it is
    compared with the motion so long ago, as a constant acceleration and rate give it.
    """
    aid = filter.aids[index]
    motion = _motion(filter, state, age)
    groups = aid.compare(motion, values.astype(state.covariance.dtype))
    taken = kalman.absorb(
        state.covariance, groups, state.gates[index], aid.threshold, aid.patience, usable,
        None if age is None else lambda rows: aged(rows, state, age),
    )  # fmt: skip
    corrected = inject(state, taken.correction)._replace(covariance=taken.covariance)
    kept: NavState = jax.tree.map(
        lambda new, old: jnp.where(usable, new, old),
        corrected._replace(gates=()),
        state._replace(gates=()),
    )
    gates = tuple(taken.gate if i == index else gate for i, gate in enumerate(state.gates))
    return kept._replace(gates=gates)


def aid_by_knowledge(
    filter: Filter, state: NavState, orders: jax.Array | None, dt: float, usable: jax.Array
) -> NavState:
    """Take in what the vehicle knows without a sensor, once every control period `dt`.

    A surface craft floats. The twin runs under the vehicle's orders (A, N), and its velocity is
    taken in; orders are not needed without a twin.
    """
    last = len(filter.aids) - 1
    if filter.twin is not None:
        assert orders is not None
        memory = filter.twin.advance(state.memory, estimate(filter, state), orders, dt)
        state = state._replace(memory=jnp.where(usable, memory, state.memory))
        state = update(filter, state, last, filter.twin.velocity(state.memory), usable)
        last -= 1
    if filter.floats:
        level = jnp.zeros((1, usable.shape[0]), state.covariance.dtype)
        state = update(filter, state, last, level, usable)
    return state


def estimate(filter: Filter, state: NavState) -> Estimate:
    """Position, attitude and velocity of the vehicle's origin, and the current."""
    turned = rotation(state.attitude)
    arm = vec3(filter.arm)
    angular = _angular(filter, state)
    around = cross(vec3(angular), arm)
    linear = turned.to_body(vec3(state.velocity))
    velocity = _stack(
        (linear[0] - around[0], linear[1] - around[1], linear[2] - around[2]), state.position
    )
    return Estimate(
        position=state.position - _stack(turned.to_world(arm), state.position),
        attitude=state.attitude,
        velocity=jnp.concatenate([velocity, angular]),
        current=state.current,
    )


def inject(state: NavState, correction: jax.Array) -> NavState:
    """Nominal state with an error (18, N) put into it; its covariance stays."""
    turn = from_rotation_vector(vec3(correction[ATTITUDE : ATTITUDE + 3]))
    return state._replace(
        position=state.position + correction[POSITION : POSITION + 3],
        velocity=state.velocity + correction[VELOCITY : VELOCITY + 3],
        attitude=normalise(multiply(turn, state.attitude)),
        accelerometer_bias=state.accelerometer_bias + correction[ACCELEROMETER : ACCELEROMETER + 3],
        gyroscope_bias=state.gyroscope_bias + correction[GYROSCOPE : GYROSCOPE + 3],
        current=state.current + correction[CURRENT : CURRENT + 3],
    )


class Transition(NamedTuple):
    """How the error moves over one period: x ← Φ x, with Φ kept as its few different parts."""

    rotation: Rotation
    force: Vec3
    """Specific force, NED."""
    step: jax.Array

    def apply(self, columns: jax.Array) -> jax.Array:
        """Φ times a matrix (18, K, N)."""
        p, v, theta, force, rate, current = (columns[i : i + 3] for i in range(0, SIZE, 3))
        dt = self.step
        tilt = jnp.stack(_arrays(cross(vec3(theta), self.force)))
        pull = tilt - jnp.stack(_arrays(self.rotation.to_world(vec3(force))))
        turn = jnp.stack(_arrays(self.rotation.to_world(vec3(rate))))
        return jnp.concatenate(
            [
                p + dt * v + (0.5 * dt * dt) * pull,
                v + dt * pull,
                theta - dt * turn,
                force,
                rate,
                current,
            ]
        )


def _transition(
    before: jax.Array, after: jax.Array, first: jax.Array, last: jax.Array, step: jax.Array
) -> Transition:
    mean = Rotation(
        *(0.5 * (a + b) for a, b in zip(rotation(before), rotation(after), strict=True))
    )
    north, east, down = vec3(0.5 * (felt(before, first) + felt(after, last)))
    return Transition(mean, (north, east, down - GRAVITY), step)


def _turning_world(earth_rate: jax.Array, state: NavState) -> jax.Array:
    """What the rotation Ω of the world adds to a sample: 2 Ω × v, and Ω itself; body axes."""
    turned, omega = rotation(state.attitude), vec3(earth_rate)
    coriolis = scale(2.0, cross(omega, vec3(state.velocity)))
    return _stack((*turned.to_body(coriolis), *turned.to_body(omega)), state.sample)


def _noise(filter: Filter, step: jax.Array) -> jax.Array:
    """Variance that one period adds to every error, (18, N)."""
    like = jnp.zeros((3, *step.shape), filter.deviation.dtype)
    current = (filter.current_walk**2).reshape(3, -1) * step + like
    return jnp.concatenate(
        [
            like,
            filter.accelerometer_noise**2 * step + like,
            filter.gyroscope_noise**2 * step + like,
            filter.accelerometer_walk**2 * step + like,
            filter.gyroscope_walk**2 * step + like,
            current,
        ]
    )


def _angular(filter: Filter, state: NavState) -> jax.Array:
    """Rate of the body against the world (3, N), body axes."""
    angular = state.sample[3:] - state.gyroscope_bias
    if filter.earth_rate is None:
        return angular
    return angular - _turning_world(filter.earth_rate, state)[3:]


def _motion(filter: Filter, state: NavState, age: jax.Array | float | None) -> Motion:
    angular = _angular(filter, state)
    position, velocity, attitude = state.position, state.velocity, state.attitude
    if age is not None:
        force = jnp.concatenate([state.sample[:3] - state.accelerometer_bias, angular])
        acceleration = felt(attitude, force)
        position = position - age * velocity + 0.5 * age * age * acceleration
        velocity = velocity - age * acceleration
        attitude = multiply(attitude, from_rotation_vector(scale(-1.0, vec3(age * angular))))
    return Motion(
        position=vec3(position),
        velocity=vec3(velocity),
        attitude=attitude,
        rotation=rotation(attitude),
        angular=vec3(angular),
        current=vec3(state.current),
    )


def aged(rows: jax.Array, state: NavState, age: jax.Array | float) -> jax.Array:
    """Rows (D, 18, N) for the error of now, which was Φ(−age) of itself at the measurement."""
    turned = rotation(state.attitude)
    force = turned.to_world(vec3(state.sample[:3] - state.accelerometer_bias))
    columns = rows.swapaxes(0, 1)
    p, v, theta, b, g, current = (columns[i : i + 3] for i in range(0, SIZE, 3))
    pull = (0.5 * age * age) * p - age * v
    back = jnp.stack(_arrays(turned.to_body(vec3(pull))))
    turn = jnp.stack(_arrays(turned.to_body(vec3(theta))))
    tilt = jnp.stack(_arrays(cross(force, vec3(pull))))
    moved = [p, v - age * p, theta + tilt, b - back, g + age * turn, current]
    return jnp.concatenate(moved).swapaxes(0, 1)


def _arrays(v: Vec3) -> list[jax.Array]:
    return [jnp.asarray(c) for c in v]


def _stack(parts: tuple[jax.Array | float, ...], like: jax.Array) -> jax.Array:
    shape = like.shape[1:]
    return jnp.stack([jnp.broadcast_to(c, shape).astype(like.dtype) for c in parts])
