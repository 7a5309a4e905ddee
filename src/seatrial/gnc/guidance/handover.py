"""From one waypoint to the next, hard or soft, for poses of any size.

After P. G. O. Zwilgmeyer, *Creating a Synthetic Underwater Dataset for Egomotion Estimation and 3D
Reconstruction* (2021), section 2.5. Hard: the reference is the waypoint r itself until the pose is
within a threshold of it (eqs. 2.18 and 2.19). Soft: the reference moves on to the waypoint after
it while r is approached, so that the vehicle does not slow down there (eqs. 2.20 to 2.22). Either
way a waypoint also counts as passed when the pose comes nearer to the next than r is (eq. 2.23).

Two of these equations need a reading:

- Eq. 2.22 as printed gives the next waypoint the weight x^n, with x the distance to r as a share
  of the leg: all of it where the leg begins and none at r. The text wants the opposite: the weight
  of the next waypoint grows as r is approached and is nearly one there. Both agree if the
  polynomial is taken of the share of the leg that lies behind, 1 − x, and so it is here. (To leave
  x and exchange the weights would turn it round too, but 1 − x^n is large early in the leg: with
  n = 4 it is a half after a sixth of the way.)
- Eq. 2.23 as printed holds from the start of any leg whose next waypoint is farther from r than
  from the vehicle, as on the way back to where it came from, and r would be skipped. The text says
  that the pose "passes into" the sphere around the next waypoint, so it has to have been outside.
"""

import jax
import jax.numpy as jnp

from seatrial.gnc.guidance.waypoints import Leg, Waypoints, leg, threshold
from seatrial.spatial.gradients import root


def begin(waypoints: Waypoints) -> jax.Array:
    """Memory (2, N): the number of the waypoint ahead, and whether the next was ever far."""
    vehicles = waypoints.count.shape[0]
    dtype = waypoints.points.dtype
    return jnp.stack([jnp.ones(vehicles, dtype), jnp.zeros(vehicles, dtype)])


def advance(waypoints: Waypoints, memory: jax.Array, pose: jax.Array) -> tuple[jax.Array, Leg]:
    """Hand over where the pose (D, N) is close enough to the waypoint, or has come past it."""
    number, was_outside = memory[0], memory[1] > 0.0
    now = leg(waypoints, number)
    within = _distance(now.following, pose) <= _distance(now.following, now.current)
    close = _distance(now.current, pose) <= threshold(waypoints, number)
    moves = (close | (was_outside & within)) & ~now.last
    moved = jnp.where(moves, number + 1.0, number)
    after = leg(waypoints, moved)
    outside = _distance(after.following, pose) > _distance(after.following, after.current)
    outside = outside | (was_outside & ~moves)
    return jnp.stack([moved, outside.astype(memory.dtype)]), after


def hard(now: Leg, pose: jax.Array) -> jax.Array:
    """The waypoint itself, whatever the pose."""
    return now.current


def soft(now: Leg, pose: jax.Array, degree: int) -> jax.Array:
    """Weighted mean (D, N) of the waypoint and the next: (1 − w) η_r + w η_{r+1}, w = (1 − x)^n."""
    w = weight(share_left(now, pose), degree)
    return (1.0 - w) * now.current + w * now.following


def share_left(now: Leg, pose: jax.Array) -> jax.Array:
    """Distance to the waypoint over the length of the leg, within 0 … 1 (eq. 2.21)."""
    length = _distance(now.current, now.previous)
    none = length == 0.0
    share = _distance(now.current, pose) / jnp.where(none, 1.0, length)
    return jnp.where(none, 1.0, jnp.minimum(share, 1.0))


def weight(left: jax.Array, degree: int) -> jax.Array:
    """Of the next waypoint, when this share of the leg is left."""
    return (1.0 - left) ** degree


def _distance(a: jax.Array, b: jax.Array) -> jax.Array:
    return root(jnp.sum((a - b) ** 2, axis=0))
