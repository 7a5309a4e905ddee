"""Strapdown mechanisation: inertial samples put together to position, velocity and attitude.

    q̇ = ½ q ⊗ [0, ω],   v̇ = R(q) f + g,   ṗ = v

over a flat Earth that does not turn. Samples are the specific force f and the angular rate ω at an
instant, in sensor axes; the result is the motion of the sensor's own origin and axes. To start, and
to get back to the vehicle's origin, use the lever arm: p_s = p + R r, v_s = R (v + ω × r).

The attitude advances by the rotation vector φ̇ = ω + ½ φ × ω + … (Bortz 1971), whose second term is
the coning that a plain integral of ω misses. With B₀ = ∫ω dt and B₁ = (1/T) ∫(t − T/2) ω dt,

    φ = B₀ + B₀ × B₁,   q ← q ⊗ exp(½ φ)

is of fourth order (the Magnus expansion; Blanes et al. 2009, section 5). Velocity and position are
integrated in the world frame, where neither rotation nor sculling is left to correct.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.spatial.rotations import from_rotation_vector, multiply, normalise, rotation
from seatrial.spatial.vectors import cross, vec3


class Navigated(NamedTuple):
    """Motion of a sensor; vehicles, where there are several, on the later axes."""

    position: jax.Array
    """(3, ...) NED, m."""
    velocity: jax.Array
    """(3, ...) NED, m/s."""
    attitude: jax.Array
    """(4, ...) unit quaternion, scalar first, sensor to world."""


def trapezoid(at: Navigated, first: jax.Array, last: jax.Array, dt: float) -> Navigated:
    """Motion one sample later, of second order; samples (6, ...) are f and ω at both ends.

    Exact for rate and world acceleration that change linearly, but for the Magnus terms above the
    fourth order.
    """
    total = 0.5 * dt * (first[3:] + last[3:])
    slant = (dt / 12.0) * (last[3:] - first[3:])
    attitude = turn(at.attitude, total, slant)
    a0, a1 = felt(at.attitude, first), felt(attitude, last)
    return Navigated(
        at.position + dt * at.velocity + (dt * dt / 6.0) * (2.0 * a0 + a1),
        at.velocity + 0.5 * dt * (a0 + a1),
        attitude,
    )


def simpson(
    at: Navigated, first: jax.Array, middle: jax.Array, last: jax.Array, dt: float
) -> tuple[Navigated, Navigated]:
    """Motion one and two samples later, the second of fourth order; samples are (6, ...).

    Rate and world acceleration are parabolas through the three samples.
    """
    w0, w1, w2 = first[3:], middle[3:], last[3:]
    halfway = turn(at.attitude, (dt / 12.0) * (5.0 * w0 + 8.0 * w1 - w2), (dt / 12.0) * (w1 - w0))
    attitude = turn(at.attitude, (dt / 3.0) * (w0 + 4.0 * w1 + w2), (dt / 6.0) * (w2 - w0))
    a0, a1, a2 = felt(at.attitude, first), felt(halfway, middle), felt(attitude, last)
    square = dt * dt
    return (
        Navigated(
            at.position + dt * at.velocity + (square / 24.0) * (7.0 * a0 + 6.0 * a1 - a2),
            at.velocity + (dt / 12.0) * (5.0 * a0 + 8.0 * a1 - a2),
            halfway,
        ),
        Navigated(
            at.position + 2.0 * dt * at.velocity + (2.0 * square / 3.0) * (a0 + 2.0 * a1),
            at.velocity + (dt / 3.0) * (a0 + 4.0 * a1 + a2),
            attitude,
        ),
    )


def integrate(start: Navigated, samples: jax.Array, dt: float, order: int = 4) -> Navigated:
    """Motion at every one of the samples (S, 6, ...), which lie `dt` apart; the first is `start`.

    `order` 2 is the trapezoid; 4 is Simpson's rule, which takes samples in pairs, so that S is odd.
    A force that bends (an order reaches an actuator with a lag) costs Simpson's rule nothing
    between two pairs, and its change of slope times dt²/6 of velocity within one.
    """

    def single(at: Navigated, ends: tuple[jax.Array, jax.Array]) -> tuple[Navigated, Navigated]:
        after = trapezoid(at, *ends, dt)
        return after, after

    def double(
        at: Navigated, three: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[Navigated, tuple[Navigated, Navigated]]:
        halfway, after = simpson(at, *three, dt)
        return after, (halfway, after)

    if order == 2:
        later = jax.lax.scan(single, start, (samples[:-1], samples[1:]))[1]
    elif order == 4 and samples.shape[0] % 2 == 1:
        three = (samples[:-2:2], samples[1:-1:2], samples[2::2])
        pairs = jax.lax.scan(double, start, three)[1]
        later = jax.tree.map(_interleave, *pairs)
    else:
        raise ValueError(
            f"order {order} with {samples.shape[0]} samples; use 2, or 4 with an odd number"
        )
    whole: Navigated = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), start, later)
    return whole


def turn(attitude: jax.Array, total: jax.Array, slant: jax.Array) -> jax.Array:
    """Attitude after the rotation with B₀ = `total` and B₁ = `slant`, both (3, ...), rad."""
    plain = vec3(total)
    bent = cross(plain, vec3(slant))
    angle = (plain[0] + bent[0], plain[1] + bent[1], plain[2] + bent[2])
    return normalise(multiply(attitude, from_rotation_vector(angle)))


def felt(attitude: jax.Array, sample: jax.Array) -> jax.Array:
    """Acceleration (3, ...) in the world of a sensor that feels `sample`: R f + g."""
    north, east, down = rotation(attitude).to_world(vec3(sample[:3]))
    return jnp.stack([jnp.asarray(north), jnp.asarray(east), down + GRAVITY])


def _interleave(even: jax.Array, odd: jax.Array) -> jax.Array:
    joined = jnp.stack([even, odd], axis=1)
    return joined.reshape(2 * even.shape[0], *even.shape[1:])
