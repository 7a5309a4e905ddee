"""Functions that have no derivative at a point, with a finite one there.

A root at zero or the angle of a zero vector has a value but no slope; JAX gives infinity or NaN,
which one vehicle at rest would spread over the gradient of a whole run, even where nothing depends
on it (0 · ∞). Values are those of `jnp`, to the bit; only the derivative at that point is chosen:
zero, as for the length of a vector, whose slopes to all sides cancel.
"""

import jax
import jax.numpy as jnp


@jax.custom_jvp
def root(x: jax.Array) -> jax.Array:
    """√x; its derivative at zero is zero."""
    return jnp.sqrt(x)


@root.defjvp
def _root_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    value = root(primals[0])
    return value, tangents[0] * (0.5 / jnp.where(value > 0.0, value, jnp.inf))


@jax.custom_jvp
def bearing(east: jax.Array, north: jax.Array) -> jax.Array:
    """atan2(east, north); of a zero vector the derivative is zero."""
    return jnp.arctan2(east, north)


@bearing.defjvp
def _bearing_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    east, north = primals
    square = north * north + east * east
    inverse = 1.0 / jnp.where(square > 0.0, square, jnp.inf)
    slope = north * inverse * tangents[0] - east * inverse * tangents[1]
    return bearing(east, north), slope


@jax.custom_jvp
def arcsine(x: jax.Array) -> jax.Array:
    """Inverse sine of a number within ±1; at both ends its derivative is zero."""
    return jnp.arcsin(jnp.clip(x, -1.0, 1.0))


@arcsine.defjvp
def _arcsine_jvp(
    primals: tuple[jax.Array], tangents: tuple[jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (x,) = primals
    square = 1.0 - x * x
    slope = jnp.where(square > 0.0, 1.0 / jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)
    return arcsine(x), slope * tangents[0]
