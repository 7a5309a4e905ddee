"""A 15-state extended Kalman filter with sensors as direct measurements, for comparison.

The state of the simulator thesis (2025), section 3.1.1: position, Euler angles, linear velocity,
angular velocity and linear acceleration, as in the ROS package robot_localization (Moore and Stouch
2014). The motion is one of constant acceleration and rate in body axes,

    p ← p + R (v dt + ½ a dt²),   Θ ← Θ + T(Θ) ω dt,   v ← v + a dt

and everything that a sensor gives is taken for the state itself: the IMU for rate and acceleration
(less gravity at the believed attitude), GNSS and UWB for position, DVL for velocity. Biases and the
current are not estimated, delays are not made up for, and near a pitch of ±90° it breaks down: that
is what the error-state filter is better at.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import kalman
from seatrial.gnc.navigation.aiding import Aid, frame
from seatrial.gnc.navigation.aids.directions import Attitude, Field, Heading
from seatrial.gnc.navigation.aids.places import Depth, Fix, Ranges
from seatrial.gnc.navigation.aids.velocities import BodyVelocity
from seatrial.gnc.navigation.kalman import Component, Gate, Innovation, Row, Test
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import Rotation, from_euler, multiply, rotation, to_euler
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import Vec3, add, cross, scale, subtract, vec3

SIZE = 15
POSITION, EULER, LINEAR, ANGULAR, ACCELERATION = 0, 3, 6, 9, 12


@pytree
class Filter:
    """Everything that is known before the first sample; arms of aids count from the IMU."""

    arm: jax.Array
    """(3,) from the vehicle's origin to the IMU, body axes, m."""
    matrix: jax.Array
    """(9,) from the IMU's axes to the body's."""
    inertial: jax.Array
    """(6,) standard deviation of acceleration and rate of the IMU."""
    noise: jax.Array
    """(15,) density of the random walk of every state, per √Hz."""
    deviation: jax.Array
    """(15,) standard deviation of every state at the start."""
    inertial_test: Test
    """Of acceleration and of rate."""
    aids: tuple[Aid, ...]
    floats: bool = static(default=False)
    """Whether the last of the aids compares the depth of a surface craft with 0."""


class NavState(NamedTuple):
    """What the filter carries from sample to sample; vehicles on the last axis."""

    mean: jax.Array
    """(15, N) position, roll pitch yaw, velocity, rate, acceleration."""
    covariance: jax.Array
    """(15, 15, N)."""
    started: jax.Array
    """(N,) whether there has been an inertial sample."""
    inertial_gate: Gate
    gates: tuple[Gate, ...]
    """Of every aid."""


def begin(filter: Filter, start: Estimate, count: int) -> NavState:
    """A filter that believes `start` with the deviations of its description."""
    dtype = filter.deviation.dtype
    parts = [start.position, to_euler(start.attitude), start.velocity, jnp.zeros((3, count))]
    variance = filter.deviation[:, None] ** 2 + jnp.zeros((SIZE, count), dtype)
    return NavState(
        mean=jnp.concatenate([p.astype(dtype) for p in parts]),
        covariance=jnp.eye(SIZE, dtype=dtype)[:, :, None] * variance,
        started=jnp.zeros(count, bool),
        inertial_gate=kalman.closed_gate(2, 6, count),
        gates=tuple(
            kalman.closed_gate(len(aid.groups), sum(aid.groups), count) for aid in filter.aids
        ),
    )


def predict(
    filter: Filter, state: NavState, values: jax.Array, dt: float, usable: jax.Array
) -> NavState:
    """State at the next inertial sample, and corrected by it where it is usable."""
    step = jnp.where(state.started, dt, 0.0)
    mean, F = _linearised(state.mean, step)
    P = jnp.einsum("ijn,jkn->ikn", F, state.covariance)
    P = jnp.einsum("ijn,kjn->ikn", P, F)
    eye = jnp.eye(SIZE, dtype=P.dtype)[:, :, None]
    P = 0.5 * (P + P.swapaxes(0, 1)) + eye * (filter.noise[:, None] ** 2 * step)
    moved = state._replace(mean=mean, covariance=P, started=state.started | usable)
    groups = _inertial(filter, mean, values)
    taken = kalman.absorb(P, groups, state.inertial_gate, filter.inertial_test, usable)
    return _corrected(moved, taken)._replace(inertial_gate=taken.gate)


def update(
    filter: Filter,
    state: NavState,
    index: int,
    values: jax.Array,
    usable: jax.Array,
    age: jax.Array | float | None = None,
) -> NavState:
    """State after a measurement of the aid at `index`; its age is not made up for, but one that
    comes too late is not used."""
    aid = filter.aids[index]
    if age is not None:
        usable = usable & (age <= aid.test.stale)
    groups = _direct(filter, aid, state.mean, values.astype(state.mean.dtype))
    if not groups:
        return state
    taken = kalman.absorb(state.covariance, groups, state.gates[index], aid.test, usable)
    after = _corrected(state, taken)
    gates = tuple(taken.gate if i == index else gate for i, gate in enumerate(state.gates))
    return after._replace(gates=gates)


def aid_by_knowledge(filter: Filter, state: NavState, usable: jax.Array) -> NavState:
    """State after taking in that a surface craft floats."""
    if not filter.floats:
        return state
    level = jnp.zeros((1, usable.shape[0]), state.mean.dtype)
    return update(filter, state, len(filter.aids) - 1, level, usable)


def estimate(filter: Filter, state: NavState, ahead: jax.Array | None = None) -> Estimate:
    """What guidance and control are told, `ahead` (N,) of the last inertial sample, s; the current
    is not estimated."""
    del filter
    mean = state.mean if ahead is None else advance(state.mean, ahead)
    return Estimate(
        position=mean[POSITION:EULER],
        attitude=from_euler(mean[EULER], mean[EULER + 1], mean[EULER + 2]),
        velocity=mean[LINEAR:ACCELERATION],
        current=jnp.zeros_like(mean[:3]),
    )


def advance(mean: jax.Array, dt: jax.Array) -> jax.Array:
    """State (15, N) after `dt` of constant acceleration and rate."""
    roll, pitch, yaw = vec3(mean[EULER:LINEAR])
    p, q, r = vec3(mean[ANGULAR:ACCELERATION])
    linear, acceleration = mean[LINEAR:ANGULAR], mean[ACCELERATION:]
    turned = rotation(from_euler(roll, pitch, yaw))
    north, east, down = turned.to_world(vec3(linear * dt + 0.5 * acceleration * dt * dt))
    sr, cr, tp, cp = jnp.sin(roll), jnp.cos(roll), jnp.tan(pitch), jnp.cos(pitch)
    swing = q * sr + r * cr
    rates = jnp.stack([p + swing * tp, q * cr - r * sr, swing / cp])
    return jnp.concatenate(
        [
            mean[POSITION:EULER] + jnp.stack([jnp.asarray(c) for c in (north, east, down)]),
            mean[EULER:LINEAR] + rates * dt,
            linear + acceleration * dt,
            mean[ANGULAR:ACCELERATION],
            acceleration,
        ]
    )


def _linearised(mean: jax.Array, dt: jax.Array) -> tuple[jax.Array, jax.Array]:
    """State after `dt`, and its derivative (15, 15, N) by the state before."""
    after, push = jax.linearize(lambda x: advance(x, dt), mean)
    unit = jnp.broadcast_to(
        jnp.eye(SIZE, dtype=mean.dtype)[:, :, None], (SIZE, SIZE, mean.shape[-1])
    )
    columns = jax.vmap(push)(unit)
    return after, columns.swapaxes(0, 1)


def _corrected(state: NavState, taken: kalman.Absorbed) -> NavState:
    mean = state.mean + taken.correction
    return state._replace(
        mean=mean.at[EULER + 2].set(wrap_signed(mean[EULER + 2])), covariance=taken.covariance
    )


def _inertial(filter: Filter, mean: jax.Array, values: jax.Array) -> list[Innovation]:
    mounting = frame(filter.matrix)
    turned = _rotation(mean)
    force = add(mounting.to_world(vec3(values[:3])), scale(GRAVITY, turned.down))
    rate = mounting.to_world(vec3(values[3:6]))
    # What turning does at the end of the lever arm is no acceleration of the origin.
    force = subtract(force, cross(rate, cross(rate, vec3(filter.arm))))
    return [
        _group(mean, ACCELERATION, force, filter.inertial[:3]),
        _group(mean, ANGULAR, rate, filter.inertial[3:]),
    ]


def _direct(filter: Filter, aid: Aid, mean: jax.Array, values: jax.Array) -> list[Innovation]:
    """Rows of an aid that measures a part of the state; none for one that does not."""
    turned = _rotation(mean)
    if isinstance(aid, Fix | Depth):
        there = turned.to_world(add(vec3(filter.arm), vec3(aid.arm)))
        if isinstance(aid, Depth):
            residual = values[aid.component] * aid.per_unit - aid.zero - there[2] - mean[2]
            part = Component(residual, {POSITION + 2: 1.0}, aid.deviation**2)
            return [Innovation([part], True, POSITION)]
        found = [_group(mean, POSITION, subtract(vec3(values[:3]), there), aid.deviation)]
        if aid.velocity_deviation is not None:
            body = turned.to_body(vec3(values[3:6]))
            arm = add(vec3(filter.arm), vec3(aid.arm))
            body = subtract(body, cross(vec3(mean[ANGULAR:ACCELERATION]), arm))
            found.append(_group(mean, LINEAR, body, aid.velocity_deviation))
        return found
    if isinstance(aid, BodyVelocity):
        return [_velocity(filter, aid, mean, values)]
    if isinstance(aid, Heading):
        north, east, _ = turned.to_world(frame(aid.matrix).to_world((1.0, 0.0, 0.0)))
        residual = wrap_signed(values[0] + aid.offset - bearing(east, north))
        row: Row = {EULER + 2: 1.0}
        return [Innovation([Component(residual, row, aid.deviation**2)], True, EULER)]
    if isinstance(aid, Attitude):
        inverse = aid.mounting * jnp.array([1.0, -1.0, -1.0, -1.0])
        euler = to_euler(multiply(values[:4], inverse[:, None]))
        parts = [
            Component(
                wrap_signed(euler[i] - mean[EULER + i]), {EULER + i: 1.0}, aid.deviation[i] ** 2
            )
            for i in range(3)
        ]
        return [Innovation(parts, True, EULER)]
    assert isinstance(aid, Ranges | Field)  # refused when the filter was compiled
    return []


def _velocity(filter: Filter, aid: BodyVelocity, mean: jax.Array, values: jax.Array) -> Innovation:
    """Speed along each axis of the sensor; a lock on the water is taken for one on the ground."""
    mounting = frame(aid.matrix)
    arm = add(vec3(filter.arm), vec3(aid.arm))
    around = cross(vec3(mean[ANGULAR:ACCELERATION]), arm)
    believed = add(vec3(mean[LINEAR:ANGULAR]), around)
    parts = []
    for place, i in enumerate(aid.axes):
        axis = mounting.to_world(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[i])
        speed = axis[0] * believed[0] + axis[1] * believed[1] + axis[2] * believed[2]
        row = {LINEAR + j: axis[j] for j in range(3)}
        parts.append(Component(values[place] - speed, row, aid.deviation[i] ** 2))
    return Innovation(parts, True if aid.lock is None else values[aid.lock] > 0.5, LINEAR)


def _group(mean: jax.Array, first: int, values: Vec3, deviation: jax.Array) -> Innovation:
    return Innovation(
        [
            Component(values[i] - mean[first + i], {first + i: 1.0}, deviation[i] ** 2)
            for i in range(3)
        ],
        True,
        first,
    )


def _rotation(mean: jax.Array) -> Rotation:
    return rotation(from_euler(mean[EULER], mean[EULER + 1], mean[EULER + 2]))


def deviations(state: NavState) -> jax.Array:
    """(12, N) standard deviations of position, attitude and velocity."""
    order = (*range(POSITION, EULER + 3), *range(LINEAR, ANGULAR + 3))
    return jnp.sqrt(jnp.stack([state.covariance[i, i] for i in order]))


def spread(state: NavState) -> jax.Array:
    """(N,) standard deviation of the horizontal position, along the worse of north and east."""
    P = state.covariance
    return jnp.sqrt(jnp.maximum(P[POSITION, POSITION], P[POSITION + 1, POSITION + 1]))


def health(filter: Filter, state: NavState) -> jax.Array:
    """(1 + sensors, N) 2 where a sensor is rejected, else 1; this filter looks for nothing else."""
    sensors = len(filter.aids) - int(filter.floats)
    wrong = [jnp.any(gate.isolated, axis=0) for gate in state.gates[:sensors]]
    return jnp.stack([jnp.ones(state.started.shape, jnp.int32), *(1 + w for w in wrong)])
