"""Error-state Kalman filter for inertial navigation.

The nominal state is advanced by the strapdown equations; what is estimated is its small error
(Solà 2017, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508, chapters 5
to 7; Groves 2013, Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems).
The filter works at the IMU, in body axes; positions, velocities and attitudes go out for the
vehicle's origin. The attitude error is global (Solà section 7), R_true = exp([δθ]×) R:

    δṗ = δv,   δv̇ = −[R f]× δθ − R δb_a + noise,   δθ̇ = −R (δb_g + L δm) + noise,   δċ = noise

with biases and current c as random walks. L(ω) m is what turning adds to the gyroscopes by their
wrong scale and crooked axes (`aiding.leaked`), the largest of the errors that a MEMS unit makes of
motion; m is a constant of the unit. Over one period, with a = R f and R their means of both
ends,

    δp ← δp + δv dt + ½ dt² δa,   δv ← δv + dt δa,   δa = −a × δθ − R δb_a,
    δθ ← δθ − dt R (δb_g + L δm)

and the slow errors of the sensors by x ← e^(−dt/τ) x (`aiding.Slow`).

The terms left out are of second order in dt. After a correction the error is put into the nominal
state; that turns the attitude error by half the correction, which is left out too (Solà eq. 287).

An IMU that falls silent or repeats itself is bridged: the vehicle is then taken to keep its speed
through the water, which its own dynamics correct where they are known, and to turn as its compass
or AHRS says; the errors grow by the accelerations and rates that this cannot know. Its dynamics do
not tell how it turns: a wind that the helm holds it against would turn them round and round.
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import kalman
from seatrial.gnc.navigation.aiding import (
    ACCELEROMETER,
    ATTITUDE,
    AXES,
    CURRENT,
    GYROSCOPE,
    POSITION,
    SIZE,
    TURNING,
    VELOCITY,
    Aid,
    Attitude,
    Field,
    Fix,
    Heading,
    Motion,
    Own,
    Ranges,
    frame,
    leaked,
    leaking,
    read,
)
from seatrial.gnc.navigation.kalman import Gate
from seatrial.gnc.navigation.strapdown import Navigated, felt, trapezoid
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import Rotation, from_rotation_vector, multiply, normalise, rotation
from seatrial.spatial.vectors import Vec3, add, cross, scale, vec3


class Twin(Protocol):
    """The vehicle's own equations of motion in still water, driven by its orders: a pytree."""

    def begin(self, relative: jax.Array) -> jax.Array:
        """Memory (M, N) of a vehicle with velocity (6, N) relative to the water, body axes."""

    def advance(
        self, memory: jax.Array, estimate: Estimate, orders: jax.Array, dt: float
    ) -> jax.Array:
        """Memory after `dt` under `orders` (A, N)."""

    def velocity(self, memory: jax.Array) -> jax.Array:
        """Predicted u v w p q r (6, N) through the water at the origin, body axes."""


MOVED = 9
"""Rows of the error state that move by themselves: position, velocity and attitude."""

HOLDS = 5
"""Inertial samples in a row for which a missing one is taken to be like the last; then the loss is
bridged."""

JOLTS, SWINGS = 0.5, 0.1
"""Densities of the noise of acceleration and rate while the IMU is bridged, (m/s²)/√Hz and
(rad/s)/√Hz: those of a small craft in waves, 0.5 m/s² and 0.1 rad/s over half a second."""

FOLLOW = 0.2
"""Share of a correction of the attitude that counts as a wrong rate while the IMU is bridged: the
β of an α-β filter (Bar-Shalom, Li and Kirubarajan 2001, section 6.5), small because a compass is
noisier than what it stands for."""

SWING = 0.5
"""How long a motion in waves keeps its sign, s."""

UNHEARD, USED, REJECTED, FROZEN, STALE, SILENT = range(6)
"""How the filter finds a sensor (`signals.HEALTH`)."""


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
    rate_noise: jax.Array
    """Standard deviation of one sample of a gyroscope, rad/s."""
    accelerometer_walk: jax.Array
    """Density of the bias's random walk, (m/s³)/√Hz."""
    gyroscope_walk: jax.Array
    """The same, (rad/s²)/√Hz."""
    accelerometer_crooked: jax.Array
    """Wrong scale and crooked axes, as a share: what of a specific force other than that of rest is
    felt on the wrong axis or in the wrong size."""
    gyroscope_crooked: jax.Array
    """The same for rates of roll and pitch; those of yaw have states of their own."""
    current_walk: jax.Array
    """(3,) density of the current's random walk, (m/s²)/√Hz."""
    deviation: jax.Array
    """(21,) standard deviation of every error at the start."""
    still: jax.Array
    """Identical inertial samples in a row after which the IMU counts as frozen."""
    aids: tuple[Aid, ...]
    """Those of sensors, then of what the vehicle knows without one (`known`)."""
    twin: Twin | None = None
    """The vehicle's own dynamics."""
    known: tuple[str, ...] = static(default=())
    """What the last of the aids are: `floating`, which compares the depth with 0; `level`, in
    place of a lost IMU; `dynamics`, the velocity that the twin predicts."""
    earth_rate: jax.Array | None = None
    """(3,) rotation Ω of the world's frame where the IMU feels it, NED, rad/s."""

    @property
    def sensors(self) -> int:
        """How many of the aids are sensors."""
        return len(self.aids) - len(self.known)

    def slow(self, name: str) -> jax.Array:
        """A field of the slow errors of all aids, (K,)."""
        parts = [getattr(aid.slow, name) for aid in self.aids]
        return jnp.concatenate([jnp.zeros(0, self.deviation.dtype), *parts])

    def places(self, index: int) -> tuple[int, int]:
        """First and last (exclusive) row of the slow errors of an aid in the error state."""
        first = SIZE + sum(aid.slow.size for aid in self.aids[:index])
        return first, first + self.aids[index].slow.size


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
    turning: jax.Array
    """(3, N) rate that the gyroscopes add for each rad/s of yaw rate (`aiding.leaked`)."""
    slow: jax.Array
    """(K, N) slow errors of the sensors."""
    covariance: jax.Array
    """(21 + K, 21 + K, N) of the error: position, velocity, attitude, biases, current, turning,
    slow."""
    sample: jax.Array
    """(6, N) the last inertial sample in body axes, or what stands for one that is lost."""
    started: jax.Array
    """(N,) whether there has been a sample."""
    missing: jax.Array
    """(N,) inertial samples in a row that were lost or frozen."""
    imu: "Heard"
    heard: tuple["Heard", ...]
    """From the sensors among the aids."""
    gates: tuple[Gate, ...]
    """Of every aid."""
    memory: jax.Array
    """(M, N) of the twin."""


class Heard(NamedTuple):
    """What a sensor said last."""

    values: jax.Array
    """(D, N); NaN before the first, and unequal to anything."""
    same: jax.Array
    """(N,) how many samples in a row were identical to it."""
    quiet: jax.Array
    """(N,) time since then, s; infinite before the first. Negative while its antenna is under
    water, and until it can be expected again."""
    stale: jax.Array
    """(N,) whether it was too old to be of use."""


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
    deviation = jnp.concatenate([filter.deviation, filter.slow("deviation")])
    size = deviation.shape[0]
    variance = jnp.broadcast_to(deviation[:, None] ** 2, (size, count))
    return NavState(
        position=start.position.astype(dtype) + _stack(turned.to_world(arm), zero),
        velocity=_stack(turned.to_world(moving), zero),
        attitude=attitude,
        accelerometer_bias=zero,
        gyroscope_bias=zero,
        current=start.current.astype(dtype) + zero,
        turning=zero,
        slow=jnp.zeros((size - SIZE, count), dtype),
        covariance=jnp.eye(size, dtype=dtype)[:, :, None] * variance,
        sample=jnp.concatenate([_stack(turned.to_body(still), zero), velocity[3:]]),
        started=jnp.zeros(count, bool),
        missing=jnp.zeros(count, jnp.int32),
        imu=_unheard(6, count, dtype),
        heard=tuple(_unheard(sum(a.groups), count, dtype) for a in filter.aids[: filter.sensors]),
        gates=tuple(
            kalman.closed_gate(len(aid.groups), sum(aid.groups), count, aid.test)
            for aid in filter.aids
        ),
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
    felt_now = _stack((*forces, *rates), state.sample)
    there = jnp.ones(values.shape[1:], bool) if usable is None else usable
    imu = _hear(state.imu, values[:6].astype(felt_now.dtype), there, jnp.zeros(()), dt)
    lost = ~there | (imu.same >= filter.still)
    missing = jnp.where(lost & state.started, state.missing + 1, 0)
    # At the instant at which the loss begins to be bridged no rate is known.
    rate = jnp.where(missing == HOLDS + 1, 0.0, state.sample[3:] - state.gyroscope_bias)
    known = jnp.where(missing > HOLDS, _coasting(state, rate), state.sample)
    sample = jnp.where(lost, known, felt_now)
    first_sample = jnp.where(missing > HOLDS, sample, state.sample)
    heard = tuple(
        h._replace(quiet=_quiet(state, aid, h.quiet + dt))
        for aid, h in zip(filter.aids, state.heard, strict=False)
    )
    # Before the first sample no time passes; dt of 0 makes every step below the identity.
    step: Any = jnp.where(state.started, dt, 0.0)
    bias = jnp.concatenate([state.accelerometer_bias, state.gyroscope_bias])
    if filter.earth_rate is not None:
        bias = bias + _turning_world(filter.earth_rate, state)
    first, last = (_straight(state, part - bias) for part in (first_sample, sample))
    before = Navigated(state.position, state.velocity, state.attitude)
    after = trapezoid(before, first, last, step)
    decay = filter.slow("decay")[:, None]
    bridged = missing > HOLDS
    move = _transition(state.attitude, after.attitude, first, last, step, decay)
    # What stands for a lost sample is made of the estimate: its errors do not pull or turn it.
    move = move._replace(
        rotation=Rotation(*(jnp.where(bridged, 0.0, c) for c in move.rotation)),
        force=vec3(jnp.where(bridged, 0.0, jnp.stack(_arrays(move.force)))),
    )
    noise = _noise(filter, step, last, bridged, _doubted(filter, state))
    covariance = move.carry(state.covariance, noise)
    return (
        state._replace(
            position=after.position,
            velocity=after.velocity,
            attitude=after.attitude,
            slow=move.decay * state.slow,
            covariance=covariance,
            sample=sample,
            started=state.started | there,
            missing=missing,
            imu=imu,
            heard=heard,
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
    compared with the motion so long ago, as a constant acceleration and rate give it. A sensor that
    repeats itself, or whose samples come too late, is not listened to.
    """
    aid = filter.aids[index]
    values = values.astype(state.covariance.dtype)
    heard, good = state.heard, usable
    if index < filter.sensors:
        now = _hear(heard[index], read(aid, values), usable, aid.test.stale, 0.0, age)
        good = usable & (now.same < aid.test.still) & ~now.stale
        heard = tuple(now if i == index else h for i, h in enumerate(heard))
    first, last = filter.places(index)
    own = Own(first, state.slow[first - SIZE : last - SIZE])
    motion = _motion(filter, state, age)
    groups = aid.compare(motion, values, own)
    taken = kalman.absorb(
        state.covariance, groups, state.gates[index], aid.test, good, _doubted(filter, state),
        None if age is None else lambda rows: aged(rows, state, age),
    )  # fmt: skip
    corrected = inject(state, taken.correction)._replace(covariance=taken.covariance)
    if isinstance(aid, Attitude | Field | Heading):
        since = jnp.where(state.missing > HOLDS, state.heard[index].quiet, jnp.inf)
        turn = rotation(state.attitude).to_body(vec3(taken.correction[ATTITUDE : ATTITUDE + 3]))
        # A heading says nothing of rolling and pitching.
        turn = turn if isinstance(aid, Attitude) else (0.0, 0.0, turn[2])
        followed = state.sample[3:] + _stack(scale(FOLLOW, turn), state.sample) / since
        corrected = corrected._replace(sample=jnp.concatenate([state.sample[:3], followed]))
    kept: NavState = jax.tree.map(
        lambda new, old: jnp.where(good, new, old),
        corrected._replace(gates=(), heard=()),
        state._replace(gates=(), heard=()),
    )
    gates = tuple(taken.gate if i == index else gate for i, gate in enumerate(state.gates))
    return kept._replace(gates=gates, heard=heard)


def _hear(
    before: Heard,
    values: jax.Array,
    there: jax.Array,
    limit: jax.Array,
    waited: float,
    age: jax.Array | float | None = None,
) -> Heard:
    """Memory of a sensor after a sample where one is `there`, else after `waited` seconds more."""
    same = jnp.where(jnp.all(values == before.values, axis=0), before.same + 1, 0)
    old = (
        jnp.zeros(there.shape, bool) if age is None else jnp.broadcast_to(age, there.shape) > limit
    )
    return Heard(
        values=jnp.where(there, values, before.values),
        same=jnp.where(there, same, before.same),
        quiet=jnp.where(there, 0.0, before.quiet + waited),
        stale=jnp.where(there, old, before.stale),
    )


def _quiet(state: NavState, aid: Aid, quiet: jax.Array) -> jax.Array:
    """Time since a sensor was heard, which does not count while its antenna is wet."""
    if not isinstance(aid, Fix | Ranges) or aid.antenna is None:
        return quiet
    depth = state.position[2] + rotation(state.attitude).to_world(vec3(aid.arm))[2]
    deviation = jnp.sqrt(state.covariance[POSITION + 2, POSITION + 2])
    return jnp.where(aid.antenna.awash(depth, deviation), -aid.antenna.delay, quiet)


def _unheard(size: int, count: int, dtype: Any) -> Heard:
    return Heard(
        jnp.full((size, count), jnp.nan, dtype),
        jnp.zeros(count, jnp.int32),
        jnp.full(count, jnp.inf, dtype),
        jnp.zeros(count, bool),
    )


def _doubted(filter: Filter, state: NavState) -> jax.Array:
    """(N,) whether at least two sensors, and half of those that are heard, are isolated: then the
    filter itself, or its IMU, is more likely to be wrong than each of them."""
    none = jnp.zeros(state.started.shape, jnp.int32)
    wrong = sum((jnp.any(gate.isolated, axis=0) for gate in state.gates[: filter.sensors]), none)
    heard = sum((jnp.isfinite(h.quiet) for h in state.heard), none)
    return (wrong >= 2) & (2 * wrong >= heard)


def health(filter: Filter, state: NavState) -> jax.Array:
    """(1 + sensors, N) how the IMU and every sensor among the aids are found, `signals.HEALTH`."""
    silent = jnp.asarray(SILENT)
    found = [jnp.where(state.missing == 0, USED, jnp.where(state.imu.quiet > 0.0, silent, FROZEN))]
    for aid, heard, gate in zip(filter.aids, state.heard, state.gates, strict=False):
        code = jnp.where(jnp.any(gate.isolated, axis=0), REJECTED, USED)
        code = jnp.where(heard.stale, STALE, code)
        code = jnp.where(heard.same >= aid.test.still, FROZEN, code)
        code = jnp.where(heard.quiet > aid.test.silence, SILENT, code)
        wet = heard.quiet < 0.0
        found.append(jnp.where(wet | jnp.isinf(heard.quiet), UNHEARD, code))
    return jnp.stack(found)


def aid_by_knowledge(
    filter: Filter, state: NavState, orders: jax.Array | None, dt: float, usable: jax.Array
) -> NavState:
    """Take in what the vehicle knows without a sensor, once every control period `dt`.

    A surface craft floats. The twin runs under the vehicle's orders (A, N), and its velocity is
    taken in; orders are not needed without a twin. While the IMU is lost the vehicle is taken to be
    upright.
    """
    bridged = state.missing > HOLDS
    for index, name in enumerate(filter.known, start=filter.sensors):
        if name == "dynamics":
            assert filter.twin is not None
            assert orders is not None
            memory = filter.twin.advance(state.memory, estimate(filter, state), orders, dt)
            state = state._replace(memory=jnp.where(usable, memory, state.memory))
            state = update(filter, state, index, filter.twin.velocity(state.memory), usable)
        elif name == "level":
            none = jnp.zeros((2, usable.shape[0]), state.covariance.dtype)
            state = jax.lax.cond(
                jnp.any(bridged),
                lambda s, i=index, v=none: update(filter, s, i, v, usable & bridged),
                lambda s: s,
                state,
            )
        else:
            level = jnp.zeros((1, usable.shape[0]), state.covariance.dtype)
            state = update(filter, state, index, level, usable)
    return state


def _coasting(state: NavState, rate: jax.Array) -> jax.Array:
    """The sample (6, N) of a vehicle that keeps its speed through the water and turns at `rate`."""
    turned = rotation(state.attitude)
    through = turned.to_body(vec3(state.velocity - state.current))
    up = turned.to_body((0.0, 0.0, -GRAVITY))
    force = add(up, cross(vec3(rate), through))
    return jnp.concatenate(
        [_stack(force, state.sample) + state.accelerometer_bias, rate + state.gyroscope_bias]
    )


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


def deviations(filter: Filter, state: NavState) -> jax.Array:
    """(12, N) standard deviations: position (NED), attitude (about north, east and down) and
    velocity over ground (u v w p q r, body axes) of the estimate."""
    P = state.covariance
    plain = [P[i, i] for i in (*range(POSITION, POSITION + 3), *range(ATTITUDE, ATTITUDE + 3))]
    turned, velocity = rotation(state.attitude), vec3(state.velocity)
    moving = P[VELOCITY : ATTITUDE + 3, VELOCITY : ATTITUDE + 3]
    linear = []
    for axis in AXES:
        e = turned.to_world(axis)
        row = _stack((*e, *cross(e, velocity)), state.position)
        linear.append(jnp.einsum("in,ijn,jn->n", row, moving, row))
    rates = [P[i, i] + filter.rate_noise**2 for i in range(GYROSCOPE, GYROSCOPE + 3)]
    return jnp.sqrt(jnp.stack([*plain, *linear, *rates]))


def spread(state: NavState) -> jax.Array:
    """(N,) standard deviation of the horizontal position, along the worse of north and east."""
    P = state.covariance
    return jnp.sqrt(jnp.maximum(P[POSITION, POSITION], P[POSITION + 1, POSITION + 1]))


def inject(state: NavState, correction: jax.Array) -> NavState:
    """Nominal state with an error (21 + K, N) put into it; its covariance stays."""
    turn = from_rotation_vector(vec3(correction[ATTITUDE : ATTITUDE + 3]))
    return state._replace(
        position=state.position + correction[POSITION : POSITION + 3],
        velocity=state.velocity + correction[VELOCITY : VELOCITY + 3],
        attitude=normalise(multiply(turn, state.attitude)),
        accelerometer_bias=state.accelerometer_bias + correction[ACCELEROMETER : ACCELEROMETER + 3],
        gyroscope_bias=state.gyroscope_bias + correction[GYROSCOPE : GYROSCOPE + 3],
        current=state.current + correction[CURRENT : CURRENT + 3],
        turning=state.turning + correction[TURNING : TURNING + 3],
        slow=state.slow + correction[SIZE:],
    )


class Transition(NamedTuple):
    """How the error moves over one period: x ← Φ x, with Φ kept as its few different parts."""

    rotation: Rotation
    force: Vec3
    """Specific force, NED."""
    rate: jax.Array
    """(3, N) body axes."""
    step: jax.Array
    decay: jax.Array
    """(K, N) share of the slow errors that is left."""

    def apply(self, columns: jax.Array) -> jax.Array:
        """Φ times a matrix (21 + K, M, N)."""
        rest = self.decay[:, None] * columns[SIZE:]
        return jnp.concatenate([self._moved(columns), columns[MOVED:SIZE], rest])

    def carry(self, P: jax.Array, noise: jax.Array) -> jax.Array:
        """Φ P Φᵀ with `noise` (21 + K, N) on the diagonal: only position, velocity and attitude
        move, so that of the rest nothing is computed but the decay of the slow errors."""
        left = jnp.concatenate([jnp.ones((SIZE - MOVED, *self.decay.shape[1:])), self.decay])
        rows = self._moved(P)
        corner = self._moved(rows.swapaxes(0, 1))
        corner = 0.5 * (corner + corner.swapaxes(0, 1))
        side = rows[:, MOVED:] * left[None]
        rest = P[MOVED:, MOVED:] * (left[:, None] * left[None])
        upper = jnp.concatenate([corner, side], axis=1)
        lower = jnp.concatenate([side.swapaxes(0, 1), rest], axis=1)
        eye = jnp.eye(P.shape[0], dtype=P.dtype)[:, :, None]
        return jnp.concatenate([upper, lower]) + eye * noise

    def _moved(self, columns: jax.Array) -> jax.Array:
        """The first nine rows of Φ times a matrix."""
        p, v, theta, force, rate, _, m = (columns[i : i + 3] for i in range(0, SIZE, 3))
        dt = self.step
        tilt = jnp.stack(_arrays(cross(vec3(theta), self.force)))
        pull = tilt - jnp.stack(_arrays(self.rotation.to_world(vec3(force))))
        turn = jnp.stack(_arrays(self.rotation.to_world(add(vec3(rate), leaked(m, self.rate)))))
        return jnp.concatenate(
            [p + dt * v + (0.5 * dt * dt) * pull, v + dt * pull, theta - dt * turn]
        )


def _transition(
    before: jax.Array,
    after: jax.Array,
    first: jax.Array,
    last: jax.Array,
    step: jax.Array,
    decay: jax.Array,
) -> Transition:
    mean = Rotation(
        *(0.5 * (a + b) for a, b in zip(rotation(before), rotation(after), strict=True))
    )
    north, east, down = vec3(0.5 * (felt(before, first) + felt(after, last)))
    rate = 0.5 * (first[3:] + last[3:])
    return Transition(mean, (north, east, down - GRAVITY), rate, step, jnp.exp(-decay * step))


def _turning_world(earth_rate: jax.Array, state: NavState) -> jax.Array:
    """What the rotation Ω of the world adds to a sample: 2 Ω × v, and Ω itself; body axes."""
    turned, omega = rotation(state.attitude), vec3(earth_rate)
    coriolis = scale(2.0, cross(omega, vec3(state.velocity)))
    return _stack((*turned.to_body(coriolis), *turned.to_body(omega)), state.sample)


def _noise(
    filter: Filter, step: jax.Array, sample: jax.Array, bridged: jax.Array, doubted: jax.Array
) -> jax.Array:
    """Variance that one period adds to every error, (21 + K, N).

    Errors in proportion to the motion are gone with it after half a wave: as white noise of the
    same weight, σ² 2τ with τ = `SWING`. While the filter is `doubted` the biases of its IMU may be
    anything: they walk as far in a second as they may have been off at the start.
    """
    like = jnp.zeros((3, *step.shape), filter.deviation.dtype)
    pulled = sample[0] ** 2 + sample[1] ** 2 + (sample[2] + GRAVITY) ** 2
    turned = sample[3] ** 2 + sample[4] ** 2
    force = jnp.sqrt(
        filter.accelerometer_noise**2 + 2.0 * SWING * filter.accelerometer_crooked**2 * pulled
    )
    rate = jnp.sqrt(filter.gyroscope_noise**2 + 2.0 * SWING * filter.gyroscope_crooked**2 * turned)
    force, rate = jnp.where(bridged, JOLTS, force), jnp.where(bridged, SWINGS, rate)
    return jnp.concatenate(
        [
            like,
            force**2 * step + like,
            rate**2 * step + like,
            _anew(filter, ACCELEROMETER, filter.accelerometer_walk, doubted) * step + like,
            _anew(filter, GYROSCOPE, filter.gyroscope_walk, doubted) * step + like,
            filter.current_walk[:, None] ** 2 * step + like,
            like,
            filter.slow("walk")[:, None] ** 2 * step,
        ]
    )


def _anew(filter: Filter, first: int, walk: jax.Array, doubted: jax.Array) -> jax.Array:
    """Variance (3, N) by which biases walk in a second."""
    start = filter.deviation[first : first + 3, None] ** 2
    return walk**2 + jnp.where(doubted, start, 0.0)


def _angular(filter: Filter, state: NavState) -> jax.Array:
    """Rate of the body against the world (3, N), body axes."""
    angular = state.sample[3:] - state.gyroscope_bias
    if filter.earth_rate is not None:
        angular = angular - _turning_world(filter.earth_rate, state)[3:]
    return angular - _stack(leaked(state.turning, angular), angular)


def _straight(state: NavState, sample: jax.Array) -> jax.Array:
    """A sample (6, N) without what turning adds to the gyroscopes."""
    added = _stack(leaked(state.turning, sample[3:]), sample)
    return jnp.concatenate([sample[:3], sample[3:] - added])


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
    """Rows (D, 21 + K, N) for the error of now, which was Φ(−age) of itself at the measurement."""
    turned = rotation(state.attitude)
    force = turned.to_world(vec3(state.sample[:3] - state.accelerometer_bias))
    columns = rows.swapaxes(0, 1)
    p, v, theta, b, g, current, m = (columns[i : i + 3] for i in range(0, SIZE, 3))
    pull = (0.5 * age * age) * p - age * v
    back = jnp.stack(_arrays(turned.to_body(vec3(pull))))
    turn = jnp.stack(_arrays(turned.to_body(vec3(theta))))
    tilt = jnp.stack(_arrays(cross(force, vec3(pull))))
    rate = state.sample[3:] - state.gyroscope_bias
    moved = [p, v - age * p, theta + tilt, b - back, g + age * turn, current]
    moved += [m + age * jnp.stack(leaking(turn, rate)), columns[SIZE:]]
    return jnp.concatenate(moved).swapaxes(0, 1)


def _arrays(v: Vec3) -> list[jax.Array]:
    return [jnp.asarray(c) for c in v]


def _stack(parts: tuple[jax.Array | float, ...], like: jax.Array) -> jax.Array:
    shape = like.shape[1:]
    return jnp.stack([jnp.broadcast_to(c, shape).astype(like.dtype) for c in parts])
