"""Where a vehicle is relative to a straight leg. Fossen (2021), chapter 12."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.spatial.gradients import bearing, root

SHORT = 1e-6
"""A leg below this length, m, has no direction of its own."""


class TrackErrors(NamedTuple):
    """Position in the axes of the path: ahead along it, to starboard, and square to both down."""

    along: jax.Array
    """(N,) m from the start of the leg."""
    cross: jax.Array
    """(N,) m, positive when the vehicle is to starboard of the path."""
    vertical: jax.Array
    """(N,) m, positive when the vehicle is below the path."""
    remaining: jax.Array
    """(N,) m along the path to its end, negative past it."""
    course: jax.Array
    """(N,) rad, azimuth of the path."""
    slope: jax.Array
    """(N,) rad, elevation of the path, positive when it climbs."""


def track_errors(position: jax.Array, start: jax.Array, end: jax.Array, flat: bool) -> TrackErrors:
    """Errors of positions (3, N) from legs (3, N); a flat leg has the same depth as the vehicle.

    With azimuth χ and elevation υ of the leg and e = p − start,

        along    =  cos υ (cos χ e_n + sin χ e_e) − sin υ e_d
        cross    = −sin χ e_n + cos χ e_e
        vertical =  sin υ (cos χ e_n + sin χ e_e) + cos υ e_d

    A leg without length leads from the vehicle to its end, so that it can still be followed.
    """
    away = position - start
    leg = end - start
    if flat:
        away, leg = away.at[2].set(0.0), leg.at[2].set(0.0)
    length = root(jnp.sum(leg * leg, axis=0))
    short = length < SHORT
    leg = jnp.where(short, -away, leg)
    length = jnp.where(short, root(jnp.sum(leg * leg, axis=0)), length)
    away = jnp.where(short, 0.0, away)
    level = root(leg[0] * leg[0] + leg[1] * leg[1])
    # A vertical leg has no azimuth: north serves, since cross-track is then any horizontal way.
    upright = level < SHORT
    cos_c = jnp.where(upright, 1.0, leg[0] / jnp.where(upright, 1.0, level))
    sin_c = jnp.where(upright, 0.0, leg[1] / jnp.where(upright, 1.0, level))
    whole = jnp.where(length < SHORT, 1.0, length)
    cos_s = jnp.where(length < SHORT, 1.0, level / whole)
    sin_s = jnp.where(length < SHORT, 0.0, -leg[2] / whole)
    ahead = cos_c * away[0] + sin_c * away[1]
    along = cos_s * ahead - sin_s * away[2]
    return TrackErrors(
        along=along,
        cross=cos_c * away[1] - sin_c * away[0],
        vertical=sin_s * ahead + cos_s * away[2],
        remaining=length - along,
        course=bearing(sin_c, cos_c),
        slope=bearing(sin_s, cos_s),
    )
