"""What the error-state filter knows beforehand, and what it carries from sample to sample."""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.aiding import SIZE, Aid
from seatrial.gnc.navigation.kalman import Gate
from seatrial.gnc.navigation.waves import Waves
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static

HOLDS = 5
"""Inertial samples in a row for which a missing one is taken to be like the last; then the loss is
bridged."""


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
    gyroscope_pulled: jax.Array
    """Rate that a specific force pretends, (rad/s)/(m/s²)."""
    current_walk: jax.Array
    """(3,) density of the current's random walk, (m/s²)/√Hz."""
    deviation: jax.Array
    """(36,) standard deviation of every error at the start."""
    lull: jax.Array
    """Control periods after which what the vehicle knows without a sensor tells something new."""
    still: jax.Array
    """Identical inertial samples in a row after which the IMU counts as frozen."""
    stuck: jax.Array
    """(6,) the same of one axis alone."""
    aids: tuple[Aid, ...]
    """Those of sensors, then of what the vehicle knows without one (`known`)."""
    twin: Twin | None = None
    """The vehicle's own dynamics."""
    known: tuple[str, ...] = static(default=())
    """What the last of the aids are: `floating`, which compares the depth with 0; `level`, in
    place of a lost IMU; `dynamics`, the velocity that the twin predicts."""
    earth_rate: jax.Array | None = None
    """(3,) rotation Ω of the world's frame where the IMU feels it, NED, rad/s."""
    waves: Waves | None = None
    """What they do to the water about the vehicle; None in calm water."""

    @property
    def sensors(self) -> int:
        """How many of the aids are sensors."""
        return len(self.aids) - len(self.known)

    def slow(self, name: str) -> jax.Array:
        """A field of the slow errors of all aids."""
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
    """(9, N) how crooked the gyroscopes are (`aiding.leaked`)."""
    canted: jax.Array
    """(9, N) how crooked the accelerometers are."""
    slow: jax.Array
    """(K, N) slow errors of the sensors, then what waves do to the water."""
    covariance: jax.Array
    """(36 + K, 36 + K, N) of the error: position, velocity, attitude, biases, current, turning,
    canted, slow."""
    sample: jax.Array
    """(6, N) the last inertial sample in body axes, or what stands for one that is lost."""
    smooth: jax.Array
    """(3, N) fading mean of the next, without most of the noise and of what shafts shake."""
    smoothing: jax.Array
    """(3, N) fading mean of the specific force as it is read, NED, m/s²."""
    leaning: jax.Array
    """(3, N) fading mean of the specific force beyond that of rest, body axes, m/s²."""
    leant: jax.Array
    """(3, N) fading mean of that mean."""
    started: jax.Array
    """(N,) whether there has been a sample."""
    missing: jax.Array
    """(N,) inertial samples in a row that were lost or frozen."""
    repeats: jax.Array
    """(6, N) how often in a row each axis of the IMU said the same."""
    suspected: jax.Array
    """(N,) time since the gyroscopes were last found to drift otherwise than before, s."""
    imu: "Heard"
    heard: tuple["Heard", ...]
    """From the sensors among the aids."""
    gates: tuple[Gate, ...]
    """Of every aid."""
    memory: jax.Array
    """(M, N) of the twin."""
    periods: jax.Array
    """(N,) control periods so far."""


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
    idle: jax.Array
    """(N,) time since one was of use, s."""
