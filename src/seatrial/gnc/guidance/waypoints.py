"""A list of waypoints, and which of them each vehicle is heading for."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree


@pytree
class Waypoints:
    """Places, or poses of any size D; the first is where a list begins."""

    points: jax.Array
    """(K, D) for all vehicles, or (K, D, N)."""
    threshold: jax.Array
    """(K,) or (K, N): distance at which a waypoint counts as reached."""
    count: jax.Array
    """(N,) how many of the K waypoints a vehicle has; at least two."""


class Leg(NamedTuple):
    """The three waypoints that matter."""

    previous: jax.Array
    """(D, N)."""
    current: jax.Array
    """(D, N)."""
    following: jax.Array
    """(D, N); the current one itself where it is the last."""
    last: jax.Array
    """(N,) whether it is."""


def leg(waypoints: Waypoints, number: jax.Array) -> Leg:
    """Waypoints around number `number` (N,)."""
    final = waypoints.count - 1
    ahead = jnp.clip(number.astype(jnp.int32), 1, final)
    return Leg(
        previous=_pick(waypoints.points, ahead - 1),
        current=_pick(waypoints.points, ahead),
        following=_pick(waypoints.points, jnp.minimum(ahead + 1, final)),
        last=ahead == final,
    )


def threshold(waypoints: Waypoints, number: jax.Array) -> jax.Array:
    """Of waypoint `number` (N,)."""
    row = jnp.clip(number.astype(jnp.int32), 1, waypoints.count - 1)
    if waypoints.threshold.ndim == 1:
        return waypoints.threshold[row]
    return jnp.take_along_axis(waypoints.threshold, row[None], axis=0)[0]


def _pick(table: jax.Array, number: jax.Array) -> jax.Array:
    """Entry `number` (N,) of a (K, D) table, or of a (K, D, N) one for each vehicle its own."""
    if table.ndim == 2:
        return table[number].T
    row = jnp.broadcast_to(number, (1, *table.shape[1:]))
    return jnp.take_along_axis(table, row, axis=0)[0]
