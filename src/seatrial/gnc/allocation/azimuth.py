"""Azimuth thrusters: from two components of force to an angle and a thrust.

The angle goes to whichever way of making the force is nearest: thrust ahead, or astern with the
thruster turned half round. A tiny force has no direction worth turning to, so the angle stays.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.allocation.effectors import Azimuths
from seatrial.spatial.gradients import bearing, root

TINY = 1e-3
"""Share of the largest thrust below which the angle stays as it is."""

NOT_WORTH = 0.01
"""The same where turning takes more than a period: a thruster does not hunt for noise."""


class Steered(NamedTuple):
    """Angles that are ordered next, (q, N), and what goes with them."""

    angle: jax.Array
    thrust: jax.Array
    """Negative astern."""
    settled: jax.Array
    """Whether the force that was asked for is had at this angle."""
    barred: jax.Array
    """Whether the thruster is on its way through a forbidden zone, where it must not push."""


def steer(
    azimuths: Azimuths,
    fx: jax.Array,
    fy: jax.Array,
    last: jax.Array,
    low: jax.Array,
    high: jax.Array,
    period: float,
) -> Steered:
    """Turn towards the force (fx, fy) as far as one period allows; everything is (q, N)."""
    size = root(fx * fx + fy * fy)
    ahead = bearing(fy, fx)
    turns = jnp.asarray([0.0, -math.tau, math.tau, -math.pi, math.pi]).reshape(-1, 1, 1)
    angles = ahead + turns
    fits = _allowed(azimuths, angles)
    astern = jnp.arange(5).reshape(-1, 1, 1) >= 3
    fits = fits & (~astern | (size <= -low * (1.0 + 1e-9)))
    way = jnp.where(fits, jnp.abs(angles - last), jnp.inf)
    best = jnp.argmin(way, axis=0)
    aim = jnp.take_along_axis(angles, best[None], axis=0)[0]
    thrust = jnp.where(best >= 3, -size, size)
    largest = jnp.maximum(high, -low)
    turn = azimuths.rate * period
    least = jnp.where(turn < 0.5 * math.pi, NOT_WORTH, TINY) * largest
    rest = (size <= least) | ~jnp.any(fits, axis=0)
    aim = jnp.where(rest, last, jnp.clip(aim, -azimuths.limit, azimuths.limit))
    angle = last + jnp.clip(aim - last, -turn, turn)
    barred = ~_allowed(azimuths, angle[None])[0]
    c, s = jnp.cos(angle), jnp.sin(angle)
    # On the way, and at rest, what counts is the part of the force along the present angle.
    part = jnp.where(barred, 0.0, jnp.clip(fx * c + fy * s, low, high))
    missed = jnp.where(rest, jnp.abs(fy * c - fx * s), 0.0)
    settled = (jnp.abs(aim - angle) <= 1e-12) & (missed <= 1e-9 * largest)
    thrust = jnp.where(rest | ~settled, part, thrust)
    return Steered(angle, thrust, settled, barred)


def _allowed(azimuths: Azimuths, angles: jax.Array) -> jax.Array:
    """Whether angles (..., q, N) lie in an allowed interval."""
    slop = 1e-6  # the programme keeps to the edge of a sector but for rounding
    begin, end = azimuths.allowed[:, 0], azimuths.allowed[:, 1]
    within = (angles[:, None] >= begin - slop) & (angles[:, None] <= end + slop)
    return jnp.any(within, axis=1)
