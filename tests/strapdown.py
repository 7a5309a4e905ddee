"""Inertial samples put back together by Simpson's rule, to prove that they are right.

The filters take one sample at a time (`gnc.navigation.strapdown.trapezoid`); two at a time give
fourth order, which leaves no doubt whose error it is.
"""

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.strapdown import Navigated, felt, trapezoid, turn


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


def _interleave(even: jax.Array, odd: jax.Array) -> jax.Array:
    joined = jnp.stack([even, odd], axis=1)
    return joined.reshape(2 * even.shape[0], *even.shape[1:])
