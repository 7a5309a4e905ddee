"""What the sensors beside the IMU tell an inertial filter: residuals and measurement rows.

The error state of the filter is δx = [δp δv δθ δb_a δb_g δc δm δk], with the attitude error in the
world, R_true = exp([δθ]×) R. A direction e that is fixed to the body then errs by δθ × e, so a
number d · (R w) has the row w_world × d in the attitude. Angular rates are those of the gyroscopes
less their bias and less L(ω) m, what a wrong scale and crooked axes make of them (`leaked`), and
err by −δb_g − L(ω) δm. Specific forces f are those of the accelerometers less their bias and
less L(f) k, what they are crooked by. ω and f in L are as they are read.

Behind these 36 come the slow errors of the sensors themselves, each a first-order Gauss–Markov
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

from seatrial.gnc.navigation.kalman import Innovation, Row, Test
from seatrial.gnc.navigation.waves import Swell
from seatrial.pytree import pytree
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import Rotation, multiply
from seatrial.spatial.vectors import Scalar, Vec3

POSITION, VELOCITY, ATTITUDE, ACCELEROMETER, GYROSCOPE, CURRENT = 0, 3, 6, 9, 12, 15
TURNING, CANTED = 18, 27
"""First rows of the parts of the error state."""
SIZE = 36
"""Of the error state without the slow errors of the sensors."""

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
    read: Vec3
    """What the gyroscopes say of it, body axes."""
    current: Vec3
    """NED."""
    swell: Swell | None = None
    """None where no waves are reckoned with."""


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


def spread(first: int, v: Vec3) -> Row:
    """Row of v · the three errors that begin at `first`."""
    return {first + i: v[i] for i in range(3)}


def leaked(m: Any, rate: Any) -> tuple[Any, Any, Any]:
    """What crooked gyroscopes add to the rates ω = (p, q, r): a × ω + d ∘ ω + S ω, m = (a, d, s);
    and accelerometers to a specific force.

    The unit sits at an angle a, its scales are off by d, and its axes are not square, S having the
    elements s beside its diagonal (s_x between y and z). A vehicle that rolls and pitches in waves
    turns what its gyroscopes leak into a drift of the tilt that comes back with every wave: noise
    can stand for its size, not for that. Of accelerometers the heave and the sway of waves would
    seem to tell a tilt from what crooked axes leak, a little more with every wave.
    """
    (ax, ay, az), (dx, dy, dz), (sx, sy, sz) = ((m[i], m[i + 1], m[i + 2]) for i in (0, 3, 6))
    p, q, r = rate[0], rate[1], rate[2]
    return (
        dx * p + (sz - az) * q + (sy + ay) * r,
        (sz + az) * p + dy * q + (sx - ax) * r,
        (sy - ay) * p + (sx + ax) * q + dz * r,
    )


def leaking(d: Any, rate: Any) -> tuple[Any, ...]:
    """The transpose: how d · `leaked` changes with m."""
    (x, y, z), (p, q, r) = (d[0], d[1], d[2]), (rate[0], rate[1], rate[2])
    turned = (z * q - y * r, x * r - z * p, y * p - x * q)
    return (*turned, x * p, y * q, z * r, y * r + z * q, x * r + z * p, x * q + y * p)


def rates(lever: Vec3, motion: Motion) -> Row:
    """Row of −d · ω with d = `lever`: of the biases of the gyroscopes, and of what turning adds."""
    leaks = leaking(lever, motion.read)
    return spread(GYROSCOPE, lever) | {TURNING + i: leak for i, leak in enumerate(leaks)}


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
