"""A list of waypoints, and which of them each vehicle is heading for."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.guidance.track import track_errors
from seatrial.pytree import pytree, static


@pytree
class Waypoints:
    """Places, or poses of any size D; the first is where a list begins."""

    points: jax.Array
    """(K, D) for all vehicles, or (K, D, N)."""
    threshold: jax.Array
    """(K,) or (K, N): distance at which a waypoint counts as reached."""
    count: jax.Array
    """(N,) how many of the K waypoints a vehicle has; at least two."""
    switching: str = static(default="either")
    """`circle`: within the threshold; `along`: less than the threshold left along the leg, however
    far to the side; `either`: within the circle, or past the end."""
    flat: bool = static(default=True)
    """Whether distances of `switch` are horizontal."""


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


def begin(waypoints: Waypoints) -> jax.Array:
    """Memory (1, N): the number of the waypoint ahead, which is 1 at the start."""
    return jnp.ones((1, waypoints.count.shape[0]), waypoints.points.dtype)


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


def switch(
    waypoints: Waypoints, memory: jax.Array, position: jax.Array
) -> tuple[jax.Array, Leg, jax.Array]:
    """Go on to the next waypoint where the present one is reached.

    Returns the memory, the leg then in force, and whether the last waypoint has been reached.
    """
    number = memory[0]
    now = leg(waypoints, number)
    errors = track_errors(position, now.previous, now.current, waypoints.flat)
    away = position - now.current
    if waypoints.flat:
        away = away.at[2].set(0.0)
    near = threshold(waypoints, number)
    inside = jnp.sqrt(jnp.sum(away * away, axis=0)) <= near
    if waypoints.switching == "circle":
        reached = inside
    elif waypoints.switching == "along":
        reached = errors.remaining <= near
    else:
        reached = inside | (errors.remaining <= 0.0)
    moved = jnp.where(reached & ~now.last, number + 1.0, number)
    return moved[None], leg(waypoints, moved), reached & now.last


def _pick(table: jax.Array, number: jax.Array) -> jax.Array:
    """Entry `number` (N,) of a (K, D) table, or of a (K, D, N) one for each vehicle its own."""
    if table.ndim == 2:
        return table[number].T
    row = jnp.broadcast_to(number, (1, *table.shape[1:]))
    return jnp.take_along_axis(table, row, axis=0)[0]
