"""Reference models: from a step that is asked for to a motion that the vehicle can follow.

A second-order low-pass filter with limits on rate and acceleration (Fossen 2021, section 12.1).
Far from the target the rate falls as √(2 a distance), so that braking stays within the limit;
near it the filter is linear and critically damped.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree


@pytree
class Reference:
    """Limits of the motion that is asked of a loop."""

    bandwidth: jax.Array
    """ω of the critically damped filter, rad/s."""
    rate_limit: jax.Array
    acceleration_limit: jax.Array


class Planned(NamedTuple):
    """Value, rate and acceleration to follow."""

    value: jax.Array
    rate: jax.Array
    acceleration: jax.Array


def plan(
    limits: Reference,
    value: jax.Array,
    rate: jax.Array,
    distance: jax.Array,
    target_rate: jax.Array | float,
    period: float,
) -> Planned:
    """One period towards a target that is `distance` away and moves at `target_rate`."""
    gain = 0.5 * limits.bandwidth
    braking = 0.5 * limits.acceleration_limit
    # Where the linear law and the braking curve meet, with the same slope.
    near = braking / (gain * gain)
    far = jnp.sqrt(2.0 * braking * jnp.maximum(jnp.abs(distance) - 0.5 * near, 0.5 * near))
    closing = jnp.where(jnp.abs(distance) < near, gain * jnp.abs(distance), far)
    closing = jnp.minimum(closing, limits.rate_limit)
    most = limits.rate_limit
    wanted = jnp.clip(jnp.sign(distance) * closing + target_rate, -most, most)
    stiffness = jnp.minimum(2.0 * limits.bandwidth, 0.5 / period)
    limit = limits.acceleration_limit
    acceleration = jnp.clip(stiffness * (wanted - rate), -limit, limit)
    new = rate + period * acceleration
    return Planned(value + period * new, new, acceleration)
