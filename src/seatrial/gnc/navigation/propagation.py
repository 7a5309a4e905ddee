"""How the errors of the filter move and grow from one inertial sample to the next."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.aiding import (
    ACCELEROMETER,
    CANTED,
    CURRENT,
    GYROSCOPE,
    SIZE,
    TURNING,
    leaked,
    leaking,
)
from seatrial.gnc.navigation.state import Filter, NavState
from seatrial.gnc.navigation.waves import SWAY, Water, swung
from seatrial.spatial.rotations import Rotation, rotation
from seatrial.spatial.vectors import Vec3, add, cross, vec3

MOVED = 9
"""Rows of the error state that move by themselves: position, velocity and attitude."""

JOLTS, SWINGS, TURNS = 0.5, 0.1, 0.3
"""Densities of the noise of acceleration and rate while the IMU is bridged, (m/s²)/√Hz and
(rad/s)/√Hz: those of a small craft in waves, 0.5 m/s² and 0.1 rad/s over half a second; and of one
that turns, which no sensor of its heading tells."""

SWING, LEAN = 0.5, 10.0
"""How long a motion in waves keeps its sign, and over which time a turn or a list is told from
it, s."""


class Transition(NamedTuple):
    """How the error moves over one period: x ← Φ x, with Φ kept as its few different parts."""

    rotation: Rotation
    force: Vec3
    """Specific force without what is wrong with it, NED."""
    sample: jax.Array
    """(6, N) specific force and rate as the IMU says them, body axes."""
    smooth: jax.Array
    """(3, N) specific force without what shafts shake, body axes."""
    step: jax.Array
    decay: jax.Array
    """(K, N) share of the slow errors that is left."""
    turn: tuple[jax.Array, ...] | None = None
    """How the last eight of them, those of the waves, turn (`waves.Water.turn`)."""

    def turned(self, rows: jax.Array) -> jax.Array:
        """Rows (..., N) of which the last eight are those of the waves, turned."""
        if self.turn is None:
            return rows
        return jnp.concatenate([rows[:-SWAY], swung(self.turn, rows[-SWAY:])])

    def apply(self, columns: jax.Array) -> jax.Array:
        """Φ times a matrix (36 + K, M, N)."""
        rest = self.turned(self.decay[:, None] * columns[SIZE:])
        return jnp.concatenate([self._moved(columns), columns[MOVED:SIZE], rest])

    def carry(self, P: jax.Array, noise: jax.Array) -> jax.Array:
        """Φ P Φᵀ with `noise` (36 + K, N) on the diagonal: position, velocity and attitude move,
        the slow errors decay, and those of the waves turn. What belongs to the constants between
        them stays where it is: a part is written into P in place, which is cheaper than a new P."""
        rows = self._moved(P)
        corner = self._moved(rows.swapaxes(0, 1))
        corner = 0.5 * (corner + corner.swapaxes(0, 1))
        faded = self.decay[:, None]
        moved = self.turned(faded * rows[:, SIZE:].swapaxes(0, 1))
        still = self.turned(faded * P[SIZE:, MOVED:SIZE])
        slow = self.turned(self.turned(faded * self.decay[None] * P[SIZE:, SIZE:]).swapaxes(0, 1))
        upper = [corner, rows[:, MOVED:SIZE], moved.swapaxes(0, 1)]
        diagonal = jnp.arange(P.shape[0])
        P = P.at[:MOVED].set(jnp.concatenate(upper, axis=1))
        P = P.at[MOVED:SIZE, :MOVED].set(rows[:, MOVED:SIZE].swapaxes(0, 1))
        P = P.at[MOVED:SIZE, SIZE:].set(still.swapaxes(0, 1))
        P = P.at[SIZE:].set(jnp.concatenate([moved, still, slow], axis=1))
        return P.at[diagonal, diagonal].add(noise)

    def _moved(self, columns: jax.Array) -> jax.Array:
        """The first nine rows of Φ times a matrix."""
        p, v, theta, force, rate = (columns[i : i + 3] for i in range(0, CURRENT, 3))
        m, k = columns[TURNING:CANTED], columns[CANTED:SIZE]
        dt = self.step
        wrong = add(vec3(rate), leaked(m, self.sample[3:]))
        turn = jnp.stack(arrays(self.rotation.to_world(wrong)))
        # The tilt of the middle of the period, as the rotation is: a lag of half a period behind
        # the rolling would be told by every wave.
        tilt = jnp.stack(arrays(cross(vec3(theta - 0.5 * dt * turn), self.force)))
        # Angles of the accelerometers feel what the tilt feels; scales and shear a mean of it.
        turned, rest = (
            cross(vec3(k), vec3(self.sample)),
            leaked([0.0, 0.0, 0.0, *k[3:]], self.smooth),
        )
        wrong = add(vec3(force), add(turned, rest))
        pull = tilt - jnp.stack(arrays(self.rotation.to_world(wrong)))
        return jnp.concatenate(
            [p + dt * v + (0.5 * dt * dt) * pull, v + dt * pull, theta - dt * turn]
        )


def mean_rotation(first: Rotation, last: Rotation) -> Rotation:
    """Halfway between two that are close together."""
    return Rotation(*(0.5 * (a + b) for a, b in zip(first, last, strict=True)))


def slow_decay(filter: Filter, water: Water | None) -> jax.Array:
    """Rates (K, 1) or (K, N) at which the slow errors decay, and the waves, 1/s."""
    decay = filter.slow("decay")[:, None]
    if water is None:
        return decay
    size, count = decay.shape[0], water.damping.shape[0]
    swaying = jnp.broadcast_to(water.damping, (SWAY, count))
    return jnp.concatenate([jnp.broadcast_to(decay, (size, count)), swaying])


def noise_of(
    filter: Filter,
    step: jax.Array,
    swing: jax.Array,
    shift: jax.Array,
    bridged: jax.Array,
    doubted: jax.Array,
    unsteered: jax.Array,
    water: Water | None,
) -> jax.Array:
    """Variance that one period adds to every error, (36 + K, N).

    A specific force that swings about its mean by `swing` (3, N) pretends a rate that is gone with
    it after half a wave: as white noise of the same weight, σ² 2τ with τ = `SWING`. What a list
    makes of gravity pretends a bias, which changes with the list. Of a force that changes by Δ the
    mean over τ = `LEAN` is ahead of the mean of that mean by `shift` = Δ t/τ e^(−t/τ), and
    ∫ 4 shift²/τ dt = Δ²: so fast the biases of the gyroscopes walk. While the filter is `doubted`
    the biases of its IMU, and how crooked it is, may be anything: they walk as far in a second as
    they may have been off at the start.
    """
    like = jnp.zeros((3, *step.shape), filter.deviation.dtype)
    pulled, tugged = (
        filter.gyroscope_pulled**2 * weight * jnp.sum(part**2, axis=0)
        for weight, part in ((2.0 * SWING, swing), (4.0 / LEAN, shift))
    )
    force = jnp.where(bridged, JOLTS**2, filter.accelerometer_noise**2)
    rate = jnp.where(bridged, SWINGS**2, filter.gyroscope_noise**2 + pulled) + like
    rate = rate.at[2].add(jnp.where(bridged & unsteered, TURNS**2, 0.0))
    return jnp.concatenate(
        [
            like,
            force * step + like,
            rate * step,
            _anew(filter, ACCELEROMETER, GYROSCOPE, filter.accelerometer_walk, doubted) * step,
            (_anew(filter, GYROSCOPE, CURRENT, filter.gyroscope_walk, doubted) + tugged) * step,
            filter.current_walk[:, None] ** 2 * step + like,
            _anew(filter, TURNING, SIZE, 0.0, doubted) * step,
            filter.slow("walk")[:, None] ** 2 * step,
            *([] if water is None else [water.walk(step)]),
        ]
    )


def _anew(
    filter: Filter, first: int, last: int, walk: jax.Array | float, doubted: jax.Array
) -> jax.Array:
    """Variance (.., N) by which what is wrong with the IMU walks in a second."""
    start = filter.deviation[first:last, None] ** 2
    return walk**2 + jnp.where(doubted, start, 0.0)


def aged(rows: jax.Array, state: NavState, age: jax.Array | float) -> jax.Array:
    """Rows (D, 36 + K, N) for the error of now, which was Φ(−age) of itself at the measurement."""
    turned = rotation(state.attitude)
    read = stack(turned.to_body(vec3(state.smooth)), state.smooth)
    felt_here = read - state.accelerometer_bias - stack(leaked(state.canted, read), read)
    force = turned.to_world(vec3(felt_here))
    columns = rows.swapaxes(0, 1)
    p, v, theta, b, g, current = (columns[i : i + 3] for i in range(0, TURNING, 3))
    m, k = columns[TURNING:CANTED], columns[CANTED:SIZE]
    pull = (0.5 * age * age) * p - age * v
    back = jnp.stack(arrays(turned.to_body(vec3(pull))))
    turn = jnp.stack(arrays(turned.to_body(vec3(theta))))
    tilt = jnp.stack(arrays(cross(force, vec3(pull))))
    moved = [p, v - age * p, theta + tilt, b - back, g + age * turn, current]
    canted = jnp.stack(leaking(back, read))
    moved += [m + age * jnp.stack(leaking(turn, state.sample[3:])), k - canted, columns[SIZE:]]
    return jnp.concatenate(moved).swapaxes(0, 1)


def arrays(v: Vec3) -> list[jax.Array]:
    """Components of a vector."""
    return [jnp.asarray(c) for c in v]


def stack(parts: tuple[jax.Array | float, ...], like: jax.Array) -> jax.Array:
    """Components (D, N) with the vehicles and the precision of `like`."""
    shape = like.shape[1:]
    return jnp.stack([jnp.broadcast_to(c, shape).astype(like.dtype) for c in parts])
