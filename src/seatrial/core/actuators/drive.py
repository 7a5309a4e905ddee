"""The motor behind an actuator: dead band, saturation, lag and rate limit."""

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree
from seatrial.spatial.vectors import Scalar


@pytree
class Drive:
    """A first-order lag x' = (target − x)/T with limits; parts that are None are absent."""

    low: jax.Array
    high: jax.Array
    time_constant: jax.Array | None
    rate_limit: jax.Array | None
    dead_band: jax.Array | None


def follow(drive: Drive, value: Scalar, command: Scalar, dt: float) -> Scalar:
    """Value after `dt` under a constant command: the exact solution where no limit acts."""
    target = command
    if drive.dead_band is not None:
        target = jnp.where(jnp.abs(target) < drive.dead_band, 0.0, target)
    target = jnp.clip(target, drive.low, drive.high)
    change = target - value
    if drive.time_constant is not None:
        change = change * -jnp.expm1(-dt / drive.time_constant)
    if drive.rate_limit is not None:
        change = jnp.clip(change, -drive.rate_limit * dt, drive.rate_limit * dt)
    return value + change
