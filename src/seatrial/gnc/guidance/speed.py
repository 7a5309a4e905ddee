"""How fast to go: slower where there is little way left to brake."""

import jax
import jax.numpy as jnp

from seatrial.spatial.gradients import root


def braking_speed(
    speed: jax.Array, remaining: jax.Array, deceleration: jax.Array, final: jax.Array
) -> jax.Array:
    """Speed from which `final` can still be reached at the end of the way.

    min(U, √(U_f² + 2 a s)) for a way s and a deceleration a; U_f once the end is passed.
    """
    way = jnp.maximum(remaining, 0.0)
    return jnp.minimum(speed, root(final * final + 2.0 * deceleration * way))
