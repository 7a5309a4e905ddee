"""Other vessels: where they are and how they move, as a plot of radar or AIS would give it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree


class Contacts(NamedTuple):
    """K other vessels as each of N vehicles sees them."""

    position: jax.Array
    """(2, K, N) north and east, m."""
    velocity: jax.Array
    """(2, K, N) over ground, m/s."""
    radius: jax.Array
    """(K, N) within which nobody is to come, m."""
    identity: jax.Array
    """(K, N) who it is: the same number as long as it is the same vessel, 0 for nobody."""


@pytree
class Targets:
    """Vessels that follow a timetable: stretches of constant velocity, the last without end."""

    since: jax.Array
    """(P, K, N) when a stretch begins, rising along P; infinite where there is none, s."""
    position: jax.Array
    """(P, 2, K, N) where it begins, north and east, m."""
    velocity: jax.Array
    """(P, 2, K, N) over ground along it, m/s."""
    radius: jax.Array
    """(K, N) within which nobody is to come, m."""


def contacts(targets: Targets, t: jax.Array) -> Contacts:
    """Where the vessels are at time `t`; before its first stretch a vessel moves as along it."""
    position, velocity = (
        targets.position[0] + targets.velocity[0] * (t - targets.since[0]),
        targets.velocity[0],
    )
    for p in range(1, targets.since.shape[0]):
        begun = t >= targets.since[p]
        # A stretch that never begins has an infinite `since`, which must not enter the sum.
        along = targets.velocity[p] * jnp.where(begun, t - targets.since[p], 0.0)
        position = jnp.where(begun, targets.position[p] + along, position)
        velocity = jnp.where(begun, targets.velocity[p], velocity)
    dtype = targets.radius.dtype
    # Negative, so that no vessel that is heard of has the same.
    number = -1 - jnp.arange(targets.radius.shape[0], dtype=jnp.int32)
    identity = jnp.broadcast_to(number[:, None], targets.radius.shape)
    return Contacts(position.astype(dtype), velocity.astype(dtype), targets.radius, identity)


def join(first: Contacts | None, second: Contacts | None) -> Contacts | None:
    """Both lists as one, the first one's vessels first."""
    if first is None or second is None:
        return second if first is None else first
    return Contacts(
        jnp.concatenate([first.position, second.position], axis=1),
        jnp.concatenate([first.velocity, second.velocity], axis=1),
        jnp.concatenate([first.radius, second.radius], axis=0),
        jnp.concatenate([first.identity, second.identity], axis=0),
    )
