"""Who has to do what: COLREGs rules 13, 14, 15 and 17 for power-driven vessels in sight.

Aspects are taken from courses over ground, which a plot gives for either vessel, so that both come
to the same answer. A role is taken when a risk of collision arises and kept until the other is past
and clear: a later change of bearing makes no new situation (rule 13 d).
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.avoidance.geometry import closest_approach, course_of, dot, length
from seatrial.signals import RULES
from seatrial.spatial.trig import wrap_signed

NONE, HEAD_ON, GIVE_WAY, STAND_ON, OVERTAKING, OVERTAKEN = range(6)
ROLES = RULES

ABAFT = math.radians(112.5)
"""22.5° abaft the beam: who comes up from beyond it is overtaking (rule 13 b)."""
RECIPROCAL = math.radians(15.0)
"""How far courses may be from opposite to count as head-on; rule 14 says "nearly reciprocal"."""
AHEAD = math.radians(22.5)
"""Bearing within which a vessel is "ahead or nearly ahead" (rule 14 b)."""
STOPPED = 0.1
"""Slower than this a vessel has no course, m/s: whoever comes near keeps clear of it."""

CLEAR_ENOUGH = 0.5
"""Share of the clearance below which the other is not about to keep clear (rule 17 a ii)."""
PATIENCE = 3.5
"""For so long she may be in the midst of a turn that is seen at once, s."""
CLOSE = 2.0
"""Within this multiple of radii plus clearance slow approaches matter too, however long they take.
"""
FAR = 6.0
"""An encounter is over at this multiple of radii plus clearance, however it went."""


class Bearings(NamedTuple):
    """How two vessels see each other, (K, N)."""

    theirs: jax.Array
    """Of the other from one's own bow, rad, −π to π, starboard positive."""
    own: jax.Array
    """Of one's own vessel from the other's bow."""
    crossing: jax.Array
    """The other's course less one's own."""


def bearings(place: jax.Array, own_course: jax.Array, their_course: jax.Array) -> Bearings:
    """Relative bearings of vessels at `place` (2, K, N) from one's own."""
    there = course_of(place)
    return Bearings(
        wrap_signed(there - own_course),
        wrap_signed(there + math.pi - their_course),
        wrap_signed(their_course - own_course),
    )


def classify(seen: Bearings) -> jax.Array:
    """The role that these bearings give, once there is a risk of collision; codes of `ROLES`."""
    overtaking = jnp.abs(seen.own) > ABAFT
    overtaken = jnp.abs(seen.theirs) > ABAFT
    opposite = jnp.abs(wrap_signed(seen.crossing - math.pi)) <= RECIPROCAL
    ahead = (jnp.abs(seen.theirs) <= AHEAD) & (jnp.abs(seen.own) <= AHEAD)
    crossing = jnp.where(seen.theirs > 0.0, GIVE_WAY, STAND_ON)
    meeting = jnp.where(opposite & ahead, HEAD_ON, crossing)
    # In doubt a vessel is the overtaking one (rule 13 c).
    return jnp.where(overtaking, OVERTAKING, jnp.where(overtaken, OVERTAKEN, meeting))


class Situation(NamedTuple):
    """What a role is decided by; places and velocities are (2, K, N) or broadcast to it."""

    place: jax.Array
    """Of the others, from one's own vessel, m."""
    velocity: jax.Array
    """Theirs, m/s."""
    own: jax.Array
    """(2, 1, N) one's own velocity, m/s."""
    own_course: jax.Array
    """(N,) of one's own vessel; its heading when it is stopped, rad."""
    radii: jax.Array
    """(K, N) sum of both safety radii, m."""
    clearance: jax.Array
    """(N,) wanted beyond them, m."""


def update(
    role: jax.Array,
    doubt: jax.Array,
    now: Situation,
    horizon: jax.Array,
    reaction: jax.Array,
    patience: jax.Array,
    elapsed: float,
) -> tuple[jax.Array, jax.Array]:
    """Take roles where a risk has arisen, drop those that are past and clear.

    There is a risk when the closest approach is closer than radii plus clearance, and lies within
    the `horizon` (N,) or the other is close already. A vessel that stands on has `doubt` while the
    other is nearer than the critical range, radii + clearance + range rate × `reaction`, and is not
    about to keep clear; when it has lasted longer than her `patience` (s) she acts herself.
    `elapsed` is the time since the last update, s.
    """
    closing = now.own - now.velocity
    time, distance = closest_approach(now.place, closing)
    keep = now.radii + now.clearance
    approaching = dot(now.place, closing) > 0.0
    apart = length(now.place)
    risk = approaching & ((time < horizon) | (apart < CLOSE * keep)) & (distance < keep)

    stopped = length(now.velocity) < STOPPED
    seen = bearings(now.place, now.own_course, course_of(now.velocity))
    fresh = jnp.where(stopped, OVERTAKING, classify(seen)).astype(jnp.int32)

    over = ~approaching & (_past(role, seen) | (apart > FAR * keep))
    role = jnp.where(role == NONE, jnp.where(risk, fresh, NONE), jnp.where(over, NONE, role))
    # One that lies still does not give way, whatever she had to do while she was under way.
    role = jnp.where(stopped & (role != NONE), OVERTAKING, role)

    rate = dot(now.place, closing) / jnp.maximum(apart, 1e-6)
    critical = keep + jnp.maximum(rate, 0.0) * reaction
    passive = risk & (apart < critical) & (distance < now.radii + CLEAR_ENOUGH * now.clearance)
    standing = stands(role)
    # While one of them turns the closest approach comes and goes: doubt goes as slowly as it came.
    grown = jnp.where(passive | (doubt > patience), doubt + elapsed, doubt - elapsed)
    doubt = jnp.where(standing, jnp.maximum(grown, 0.0), 0.0)
    return role, doubt


def stands(role: jax.Array) -> jax.Array:
    """Whether a role is to keep course and speed."""
    return (role == STAND_ON) | (role == OVERTAKEN)


def in_extremis(now: Situation, turning: jax.Array) -> jax.Array:
    """Whether (K, N) the other, if she goes on, comes within the radii before one's own vessel has
    had the time to turn by a quarter, which takes her `turning` (N,) more than without, and to go
    that far: then she acts, whatever the other's duty (rule 17 b)."""
    closing = now.own - now.velocity
    time, distance = closest_approach(now.place, closing)
    approaching = dot(now.place, closing) > 0.0
    own = jnp.maximum(length(now.own), STOPPED)
    return approaching & (distance < now.radii) & (time < turning + now.radii / own)


def _past(role: jax.Array, seen: Bearings) -> jax.Array:
    """Whether the vessels of a crossing or head-on situation have passed each other.

    They have when the one that gives way no longer has the other on her starboard bow; both see
    the same. One that overtakes keeps clear until the other is far away.
    """
    crossed = ~((seen.theirs > 0.0) & (seen.theirs < ABAFT))
    let_cross = ~((seen.own > 0.0) & (seen.own < ABAFT))
    overtaking = (role == OVERTAKING) | (role == OVERTAKEN)
    return ~overtaking & jnp.where(role == STAND_ON, let_cross, crossed)
