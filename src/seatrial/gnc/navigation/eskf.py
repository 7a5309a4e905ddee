"""Error-state Kalman filter for inertial navigation.

The nominal state is advanced by the strapdown equations; what is estimated is its small error
(Solà 2017, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508, chapters 5
to 7; Groves 2013, Principles of GNSS, Inertial, and Multisensor Integrated Navigation Systems).
The filter works at the IMU, in body axes; positions, velocities and attitudes go out for the
vehicle's origin. The attitude error is global (Solà section 7), R_true = exp([δθ]×) R:

    δṗ = δv,   δv̇ = −[R f]× δθ − R (δb_a + L(f) δk) + noise,
    δθ̇ = −R (δb_g + L(ω) δm) + noise,   δċ = noise

with biases and current c as random walks. L(ω) m is what turning adds to the gyroscopes by their
wrong scale and crooked axes (`aiding.leaked`), the largest of the errors that a MEMS unit makes of
motion, and L(f) k what the accelerometers add to a specific force. In heave, surge and turns that
feels like a tilt: were it only a bias, the heave would seem to tell that bias from a tilt; as noise
it would be averaged away over many waves. k and m are constants of the unit. For f and ω in L stand
the samples as they are read: what is wrong with a sample y is then b + L(y) k, linear in both. Were
the bias taken off first, its error times that of k would be left, and at rest, where only
b + L(y) k is felt, the two would seem to be told apart. For the scales and the shear in k, L(f) is
that of a mean over `HUM`: noise in y is also in what it is compared with, and where it shakes and
the velocity does not the scale would seem to be wrong by all of it (errors in variables). For the
angles in k it is that of the samples themselves. An IMU that sits in the vehicle at another angle
ε, accelerometers and gyroscopes alike, makes the attitude wrong by ε and tells nothing of it:
a × R ε and R L(f) k with k = ε cancel, as long as a = R f and all of them are of one instant. With
a mean for the one and samples for the other a little was left that comes back with every wave, and
from that the filter believed to know ε: the tilt of `wamv_azimuth`, whose receiver is good to 1 cm,
seemed better known with every minute. Over one period, with a = R f and R their means of both
ends and δθ that of the middle,

    δp ← δp + δv dt + ½ dt² δa,   δv ← δv + dt δa,   δa = −a × δθ − R (δb_a + L(f) δk),
    δθ ← δθ − dt R (δb_g + L(ω) δm)

and the slow errors of the sensors by x ← e^(−dt/τ) x (`aiding.Slow`).

The terms left out are of second order in dt. After a correction the error is put into the nominal
state; that turns the attitude error by half the correction, which is left out too (Solà eq. 287).

An IMU that falls silent or repeats itself is bridged: the vehicle is then taken to keep its speed
through the water, which its own dynamics correct where they are known, and to turn as its compass
or AHRS says; the errors grow by the accelerations and rates that this cannot know. Its dynamics do
not tell how it turns: a wind that the helm holds it against would turn them round and round.
"""

from typing import Any

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.gnc.navigation import kalman
from seatrial.gnc.navigation.aiding import (
    ACCELEROMETER,
    ATTITUDE,
    AXES,
    CANTED,
    CURRENT,
    GYROSCOPE,
    POSITION,
    SIZE,
    TURNING,
    VELOCITY,
    Motion,
    Own,
    frame,
    leaked,
)
from seatrial.gnc.navigation.aids.directions import Attitude, Field, Heading
from seatrial.gnc.navigation.aids.places import Beacon, Fix, Ranges, read
from seatrial.gnc.navigation.propagation import (
    LEAN,
    MOVED,
    Transition,
    aged,
    arrays,
    mean_rotation,
    noise_of,
    slow_decay,
    stack,
)
from seatrial.gnc.navigation.state import HOLDS, Filter, NavState
from seatrial.gnc.navigation.strapdown import Navigated, felt, trapezoid
from seatrial.gnc.navigation.watching import (
    doubted,
    hear,
    outvoted,
    quiet_for,
    unheard,
    unsteered,
)
from seatrial.gnc.navigation.waves import SWAY
from seatrial.gnc.types import Estimate
from seatrial.spatial.rotations import Rotation, from_rotation_vector, multiply, normalise, rotation
from seatrial.spatial.vectors import Vec3, add, cross, scale, vec3

FOLLOW = 0.2
"""Share of a correction of the attitude that counts as a wrong rate while the IMU is bridged: the
β of an α-β filter (Bar-Shalom, Li and Kirubarajan 2001, section 6.5), small because a compass is
noisier than what it stands for."""

LONG = 10.0
"""Time without a place that was of use after which the next are believed as the first are, s: where
dead reckoning led meanwhile has less right to be believed."""

SOON, WARY = 20.0, 300.0
"""A heading or an attitude that creeps away from the gyroscopes accuses them: a bias that changes
is a thing of every day for a MEMS unit, and a compass that turns is not. Their biases are then
taken to be anything, but not again within `SOON`: what creeps on is the sensor's own. For `WARY`
after it the filter doubts itself before it doubts such a sensor, s."""

HUM = 0.05
"""Time over which specific forces are averaged, twice, before they are multiplied by scales and
shear, s. That leaves a thirtieth of what a shaft shakes at 20 Hz, and lags by a tenth of a second
behind the accelerations of waves. Averaged along the world's axes, gravity does not lag while the
vehicle rolls. Means along its own axes, of rates too, made what scale and angles leak swing late:
with the rolling that is a drift of the tilt that is not there, and the tilts of a model boat of 1 m
erred by 1.6 times as much as was stated."""


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
    place = start.position.astype(dtype) + stack(turned.to_world(arm), zero)
    deviation = jnp.concatenate([filter.deviation, filter.slow("deviation")])
    known, swaying = deviation.shape[0], 0 if filter.waves is None else SWAY
    size = known + swaying
    diagonal = jnp.arange(known)
    covariance = jnp.zeros((size, size, count), dtype)
    covariance = covariance.at[diagonal, diagonal].set(deviation[:, None] ** 2 + zero[:1])
    if filter.waves is not None:
        covariance = covariance.at[known:, known:].set(filter.waves.at(place[2]).settled())
    return NavState(
        position=place,
        velocity=stack(turned.to_world(moving), zero),
        attitude=attitude,
        accelerometer_bias=zero,
        gyroscope_bias=zero,
        current=start.current.astype(dtype) + zero,
        turning=jnp.zeros((CANTED - TURNING, count), dtype),
        canted=jnp.zeros((SIZE - CANTED, count), dtype),
        slow=jnp.zeros((size - SIZE, count), dtype),
        covariance=covariance,
        sample=jnp.concatenate([stack(turned.to_body(still), zero), velocity[3:]]),
        smooth=stack(still, zero),
        smoothing=stack(still, zero),
        leaning=zero,
        leant=zero,
        started=jnp.zeros(count, bool),
        missing=jnp.zeros(count, jnp.int32),
        repeats=jnp.zeros((6, count), jnp.int32),
        suspected=jnp.full(count, jnp.inf, dtype),
        imu=unheard(6, count, dtype),
        heard=tuple(unheard(sum(a.groups), count, dtype) for a in filter.aids[: filter.sensors]),
        gates=tuple(
            kalman.closed_gate(len(aid.groups), sum(aid.groups), count) for aid in filter.aids
        ),
        memory=memory,
        periods=jnp.zeros(count, jnp.int32),
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
) -> tuple[NavState, Transition]:
    """`predict`, and how the error moved with it."""
    mounting = frame(filter.matrix)
    forces, rates = mounting.to_world(vec3(values[:3])), mounting.to_world(vec3(values[3:6]))
    felt_now = stack((*forces, *rates), state.sample)
    there = jnp.ones(values.shape[1:], bool) if usable is None else usable
    imu = hear(state.imu, values[:6].astype(felt_now.dtype), there, jnp.zeros(()), dt)
    same = jnp.where(imu.values == state.imu.values, state.repeats + there, 0)
    repeats = jnp.where(there, same, state.repeats)
    stuck = jnp.any(repeats >= filter.stuck[:, None], axis=0)
    lost = ~there | (imu.same >= filter.still) | stuck
    missing = jnp.where(lost & state.started, state.missing + 1, 0)
    # At the instant at which the loss begins to be bridged no rate is known.
    rate = jnp.where(missing == HOLDS + 1, 0.0, state.sample[3:] - state.gyroscope_bias)
    known = jnp.where(missing > HOLDS, _coasting(state, rate), state.sample)
    sample = jnp.where(lost, known, felt_now)
    first_sample = jnp.where(missing > HOLDS, sample, state.sample)
    heard = tuple(
        h._replace(quiet=quiet_for(state, aid, h.quiet + dt), idle=h.idle + dt)
        for aid, h in zip(filter.aids, state.heard, strict=False)
    )
    # Before the first sample no time passes; dt of 0 makes every step below the identity.
    step: Any = jnp.where(state.started, dt, 0.0)
    first, last = (_mended(filter, state, part) for part in (first_sample, sample))
    before = Navigated(state.position, state.velocity, state.attitude)
    after = trapezoid(before, first, last, step)
    water = None if filter.waves is None else filter.waves.at(state.position[2])
    decay = slow_decay(filter, water)
    bridged = missing > HOLDS
    share = jnp.where(state.started, dt / (dt + HUM), 1.0)
    pull = stack(rotation(after.attitude).to_world(vec3(sample[:3])), sample)
    smoothing = state.smoothing + share * (pull - state.smoothing)
    smooth = state.smooth + share * (smoothing - state.smooth)
    ends = rotation(state.attitude), rotation(after.attitude)

    def midway(*samples: jax.Array) -> jax.Array:
        pulls = zip(ends, samples, strict=True)
        start, end = (stack(turned.to_world(vec3(one)), sample) for turned, one in pulls)
        return 0.5 * (start + end)

    halfway = mean_rotation(*ends)
    said, calm = (
        stack(halfway.to_body(vec3(part)), sample)
        for part in (midway(first_sample, sample), smooth)
    )
    read = jnp.concatenate([said, 0.5 * (first_sample[3:] + sample[3:])])
    force = vec3(midway(first, last))
    move = Transition(halfway, force, read, calm, step, jnp.exp(-decay * step))
    if water is not None:
        move = move._replace(turn=water.turn(step))
    # What stands for a lost sample is made of the estimate: its errors do not pull or turn it.
    move = move._replace(
        rotation=Rotation(*(jnp.where(bridged, 0.0, c) for c in move.rotation)),
        force=vec3(jnp.where(bridged, 0.0, jnp.stack(arrays(move.force)))),
    )
    beyond = last[:3].at[2].add(GRAVITY)
    swing, shift = beyond - state.leaning, state.leaning - state.leant
    noise = noise_of(
        filter, step, swing, shift, bridged, doubted(filter, state),
        unsteered(filter, state), water,
    )  # fmt: skip
    covariance = move.carry(state.covariance, noise)
    return (
        state._replace(
            position=after.position,
            velocity=after.velocity,
            attitude=after.attitude,
            slow=move.turned(move.decay * state.slow),
            covariance=covariance,
            sample=sample,
            smooth=smooth,
            smoothing=smoothing,
            leaning=state.leaning + (step / LEAN) * swing,
            leant=state.leant + (step / LEAN) * shift,
            started=state.started | there,
            missing=missing,
            repeats=repeats,
            suspected=state.suspected + step,
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
    values = jnp.where(usable, values.astype(state.covariance.dtype), 0.0)
    heard, good, gate = state.heard, usable, state.gates[index]
    turns = isinstance(aid, Attitude | Field | Heading)
    wary = turns & (state.suspected < WARY)
    if index < filter.sensors:
        now = hear(heard[index], read(aid, values), usable, aid.test.stale, 0.0, age)
        good = usable & (now.same < aid.test.still) & ~now.stale
        if isinstance(aid, Beacon | Fix | Ranges):
            gate = gate._replace(trusted=gate.trusted & ~(good & (now.idle > LONG)))
        now = now._replace(idle=jnp.where(good, 0.0, now.idle))
        heard = tuple(now if i == index else h for i, h in enumerate(heard))
    first, last = filter.places(index)
    own = Own(first, state.slow[first - SIZE : last - SIZE])
    motion = motion_of(filter, state, age)
    groups = aid.compare(motion, values, own)
    taken = kalman.absorb(
        state.covariance, groups, gate, aid.test, good,
        doubted(filter, state) | outvoted(filter, state, index) | wary,
        None if age is None else lambda rows: aged(rows, state, age),
        turns & (state.suspected > SOON) & (state.missing == 0),
    )  # fmt: skip
    variance = jnp.where(taken.crept, filter.deviation[GYROSCOPE:CURRENT, None] ** 2, 0.0)
    diagonal = jnp.arange(GYROSCOPE, CURRENT)
    covariance = taken.covariance.at[diagonal, diagonal].add(variance)
    if motion.swell is not None:
        # With the depth it is corrected how much is left of the waves. Two readings of which each
        # reckons with another share of them would seem to tell waves and depth apart.
        shifted = motion.swell.blur * taken.correction[POSITION + 2]
        covariance = covariance.at[POSITION + 2, POSITION + 2].add(shifted**2)
    corrected = inject(state, taken.correction)._replace(
        covariance=covariance, suspected=jnp.where(taken.crept, 0.0, state.suspected)
    )
    if turns:
        since = jnp.where(state.missing > HOLDS, state.heard[index].quiet, jnp.inf)
        turn = rotation(state.attitude).to_body(vec3(taken.correction[ATTITUDE : ATTITUDE + 3]))
        # A heading says nothing of rolling and pitching.
        turn = turn if isinstance(aid, Attitude) else (0.0, 0.0, turn[2])
        followed = state.sample[3:] + stack(scale(FOLLOW, turn), state.sample) / since
        corrected = corrected._replace(sample=jnp.concatenate([state.sample[:3], followed]))
    # What is not usable is finite and takes nothing from the covariance, which is large: `good`
    # stands in its place.
    kept: NavState = jax.tree.map(
        lambda new, old: jnp.where(good, new, old),
        corrected._replace(gates=(), heard=(), covariance=good),
        state._replace(gates=(), heard=(), covariance=good),
    )
    gates = tuple(taken.gate if i == index else gate for i, gate in enumerate(state.gates))
    return kept._replace(gates=gates, heard=heard, covariance=covariance)


def aid_by_knowledge(
    filter: Filter, state: NavState, orders: jax.Array | None, dt: float, usable: jax.Array
) -> NavState:
    """Take in what the vehicle knows without a sensor; to be called every control period `dt`.

    A surface craft floats. The twin runs under the vehicle's orders (A, N), and its velocity is
    taken in; orders are not needed without a twin. Both err with the waves, so that what they say
    is new only every `filter.lull` periods. While the IMU is lost the vehicle is taken to be
    upright.
    """
    bridged = state.missing > HOLDS
    due = usable & (state.periods % filter.lull == 0)
    state = state._replace(periods=state.periods + usable)

    def taken(state: NavState, index: int, values: jax.Array) -> NavState:
        after: NavState = jax.lax.cond(
            jnp.any(due), lambda s: update(filter, s, index, values, due), lambda s: s, state
        )
        return after

    for index, name in enumerate(filter.known, start=filter.sensors):
        if name == "dynamics":
            assert filter.twin is not None
            assert orders is not None
            memory = filter.twin.advance(state.memory, estimate(filter, state), orders, dt)
            state = state._replace(memory=jnp.where(usable, memory, state.memory))
            state = taken(state, index, filter.twin.velocity(state.memory))
        elif name == "level":
            none = jnp.zeros((2, usable.shape[0]), state.covariance.dtype)
            state = jax.lax.cond(
                jnp.any(bridged),
                lambda s, i=index, v=none: update(filter, s, i, v, usable & bridged),
                lambda s: s,
                state,
            )
        else:
            state = taken(state, index, jnp.zeros((1, usable.shape[0]), state.covariance.dtype))
    return state


def _coasting(state: NavState, rate: jax.Array) -> jax.Array:
    """The sample (6, N) of a vehicle that keeps its speed through the water and turns at `rate`."""
    turned = rotation(state.attitude)
    through = turned.to_body(vec3(state.velocity - state.current))
    up = turned.to_body((0.0, 0.0, -GRAVITY))
    force = add(up, cross(vec3(rate), through))
    read = stack(force, state.sample) + state.accelerometer_bias
    read = read + stack(leaked(state.canted, read), read)
    return jnp.concatenate([read, rate + state.gyroscope_bias])


def estimate(filter: Filter, state: NavState, ahead: jax.Array | None = None) -> Estimate:
    """Position, attitude and velocity of the vehicle's origin, and the current; `ahead` (N,) of the
    last inertial sample, s, as a constant acceleration and rate lead there."""
    motion = motion_of(filter, state, None if ahead is None else -ahead)
    arm = vec3(filter.arm)
    around = cross(motion.angular, arm)
    linear = motion.rotation.to_body(motion.velocity)
    own = tuple(a - b for a, b in zip(linear, around, strict=True))
    place = zip(motion.position, motion.rotation.to_world(arm), strict=True)
    return Estimate(
        position=stack(tuple(a - b for a, b in place), state.position),
        attitude=normalise(motion.attitude),
        velocity=stack((*own, *motion.angular), state.position),
        current=state.current,
    )


def deviations(filter: Filter, state: NavState) -> jax.Array:
    """(12, N) standard deviations: position (NED), attitude (about north, east and down) and
    velocity over ground (u v w p q r, body axes) of the estimate."""
    P = state.covariance
    turned, velocity = rotation(state.attitude), vec3(state.velocity)
    arm = turned.to_world(vec3(filter.arm))

    moving = P[:MOVED, :MOVED]
    none = (0.0, 0.0, 0.0)

    def variance(position: Vec3, velocity: Vec3, attitude: Vec3) -> jax.Array:
        """Of the sum of the errors with these weights."""
        row = stack((*position, *velocity, *attitude), state.position)
        return jnp.einsum("in,ijn,jn->n", row, moving, row)

    # The origin lies at p − R a: where it is said to be turns with the attitude.
    place = [variance(e, none, cross(e, arm)) for e in AXES]
    turning = [P[i, i] for i in range(ATTITUDE, ATTITUDE + 3)]
    own = [turned.to_world(axis) for axis in AXES]
    linear = [variance(none, e, cross(e, velocity)) for e in own]
    rates = [P[i, i] + filter.rate_noise**2 for i in range(GYROSCOPE, GYROSCOPE + 3)]
    return jnp.sqrt(jnp.stack([*place, *turning, *linear, *rates]))


def spread(state: NavState) -> jax.Array:
    """(N,) standard deviation of the horizontal position, along the worse of north and east."""
    P = state.covariance
    return jnp.sqrt(jnp.maximum(P[POSITION, POSITION], P[POSITION + 1, POSITION + 1]))


def inject(state: NavState, correction: jax.Array) -> NavState:
    """Nominal state with an error (36 + K, N) put into it; its covariance stays."""
    turn = from_rotation_vector(vec3(correction[ATTITUDE : ATTITUDE + 3]))
    return state._replace(
        position=state.position + correction[POSITION : POSITION + 3],
        velocity=state.velocity + correction[VELOCITY : VELOCITY + 3],
        attitude=normalise(multiply(turn, state.attitude)),
        accelerometer_bias=state.accelerometer_bias + correction[ACCELEROMETER : ACCELEROMETER + 3],
        gyroscope_bias=state.gyroscope_bias + correction[GYROSCOPE : GYROSCOPE + 3],
        current=state.current + correction[CURRENT : CURRENT + 3],
        turning=state.turning + correction[TURNING:CANTED],
        canted=state.canted + correction[CANTED:SIZE],
        slow=state.slow + correction[SIZE:],
    )


def _turning_world(earth_rate: jax.Array, state: NavState) -> jax.Array:
    """What the rotation Ω of the world adds to a sample: 2 Ω × v, and Ω itself; body axes."""
    turned, omega = rotation(state.attitude), vec3(earth_rate)
    coriolis = scale(2.0, cross(omega, vec3(state.velocity)))
    return stack((*turned.to_body(coriolis), *turned.to_body(omega)), state.sample)


def _mended(filter: Filter, state: NavState, sample: jax.Array) -> jax.Array:
    """Specific force and rate against the world (6, N) of a sample: without its biases, what
    crooked axes add to it, and the rotation of the world."""
    bias = jnp.concatenate([state.accelerometer_bias, state.gyroscope_bias])
    if filter.earth_rate is not None:
        bias = bias + _turning_world(filter.earth_rate, state)
    added = (*leaked(state.canted, sample[:3]), *leaked(state.turning, sample[3:]))
    return sample - bias - stack(added, sample)


def motion_of(filter: Filter, state: NavState, age: jax.Array | float | None) -> Motion:
    """What is believed of the motion `age` ago."""
    mended = _mended(filter, state, state.sample)
    angular = mended[3:]
    position, velocity, attitude = state.position, state.velocity, state.attitude
    if age is not None:
        acceleration = felt(attitude, mended)
        position = position - age * velocity + 0.5 * age * age * acceleration
        velocity = velocity - age * acceleration
        attitude = multiply(attitude, from_rotation_vector(scale(-1.0, vec3(age * angular))))
    swell = None
    if filter.waves is not None:
        first = state.covariance.shape[0] - SWAY
        swell = filter.waves.sway(first, state.slow[-SWAY:], position[2])
    return Motion(
        position=vec3(position),
        velocity=vec3(velocity),
        attitude=attitude,
        rotation=rotation(attitude),
        angular=vec3(angular),
        read=vec3(state.sample[3:]),
        current=vec3(state.current),
        swell=swell,
    )
