"""How fast to go: slower where there is little way left to brake, and in turns."""

import jax
import jax.numpy as jnp


def braking_speed(
    speed: jax.Array, remaining: jax.Array, deceleration: jax.Array, final: jax.Array
) -> jax.Array:
    """Speed from which `final` can still be reached at the end of the way.

    min(U, √(U_f² + 2 a s)) for a way s and a deceleration a; U_f once the end is passed.
    """
    way = jnp.maximum(remaining, 0.0)
    return jnp.minimum(speed, jnp.sqrt(final * final + 2.0 * deceleration * way))


def braking_distance(speed: jax.Array, deceleration: jax.Array, final: jax.Array) -> jax.Array:
    """Way that it takes to come down from one speed to another, m: (U² − U_f²) / 2a."""
    return jnp.maximum(speed * speed - final * final, 0.0) / (2.0 * deceleration)


def turning_speed(
    speed: jax.Array,
    leg: jax.Array,
    following: jax.Array,
    acceptance: jax.Array,
    yaw_rate: jax.Array,
) -> jax.Array:
    """Speed at which the corner between two legs can be rounded.

    A vehicle that leaves its leg a distance R before the corner and turns by α onto the next runs
    on a circle of radius R / tan(α/2); at the largest yaw rate r that is r R / tan(α/2). `leg` and
    `following` are the two ways (3, N), of which the horizontal parts count.
    """
    along = leg[0] * following[0] + leg[1] * following[1]
    across = leg[0] * following[1] - leg[1] * following[0]
    # tan(α/2) = |sin α| / (1 + cos α), which is 0 straight ahead and infinite for a turn about.
    size = jnp.sqrt(along * along + across * across)
    open_ = jnp.maximum(size + along, 0.0)
    limit = yaw_rate * acceptance * open_ / jnp.where(across == 0.0, 1.0, jnp.abs(across))
    about = (across == 0.0) & (along < 0.0)
    ahead = (across == 0.0) & (along >= 0.0)
    return jnp.minimum(speed, jnp.where(about, 0.0, jnp.where(ahead, jnp.inf, limit)))
