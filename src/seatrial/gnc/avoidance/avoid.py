"""Avoidance by velocity obstacles, with the COLREGs on the scales.

Of a fan of courses and speeds around the wished one the cheapest is chosen (Kuwata et al. 2014,
"Safe maritime autonomous navigation with COLREGS, using velocity obstacles"): cost counts the
departure from the wish, how close and how soon others would come, and breaches of the rules. A
vehicle cannot take a new course at once; until it holds, the present velocity is taken to go on.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.gnc.avoidance import roles
from seatrial.gnc.avoidance.contacts import Contacts, Targets, contacts, join
from seatrial.gnc.avoidance.geometry import (
    closest_approach,
    course_of,
    cross,
    dot,
    heading_vector,
    length,
)
from seatrial.gnc.avoidance.shapes import Circles, Polygons, Shapes, hazard
from seatrial.gnc.types import Estimate
from seatrial.pytree import batched, pytree, static
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import rotation
from seatrial.spatial.trig import wrap_signed

_ONE_SIDE = (*range(5, 61, 5), 70, 80, 90, 105, 120, 135, 150, 165)
# Turning about counts as to port: which way round it goes is not sure.
_COURSES = np.radians([0, *_ONE_SIDE, *(-c for c in (*_ONE_SIDE, 180))])
_SHARES = np.array([1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0])
# The first candidate is the wish itself, the second one the course that alterations count from.
_OFFSET = np.concatenate([[0.0], np.tile(_COURSES, len(_SHARES))])[:, None]
_SHARE = np.concatenate([[1.0], np.repeat(_SHARES, len(_COURSES))])[:, None]

# What costs what. The unit is an alteration of course by 90°.
_SPEED = 2.5
"""To stop; altering course is preferred to slowing down (rule 8 c)."""
_NEAR = 10.0
"""To come as close as the safety radii; less in proportion to the clearance that is left."""
_COLLISION = 100.0
"""To come within the safety radii, and as much again if that is now."""
_WRONG_SIDE = 30.0
"""To pass ahead of a vessel that one gives way to, or starboard to starboard head-on."""
_TO_PORT = 5.0
"""To alter to port in these situations (rules 14, 15), or for a vessel on one's own port side when
standing on no longer does (rule 17 c)."""
_TIMID = 0.3
"""To begin with an alteration of course that is not readily apparent to the other (rule 8 b)."""
_CHANGE = 0.3
"""To change the last decision by 90°, or by the whole speed."""
_FLIP = 2.0
"""To change it by more than 45° at once: who wavers between two ways out takes neither."""
_ADRIFT = 1000.0
"""To go too slowly to be steered."""
_APPARENT = math.radians(20.0)
_LOYALTY = 1.5
"""Clearance that ends an alteration, over the one that begins it."""
_SMALL = 1e-3
_NOWHERE = 1e7
"""Where a vessel is put that is not there, m: too far to matter to anybody."""


@pytree
class Avoidance:
    """What to keep clear of and how; numbers are (N,) or broadcast to it."""

    radius: jax.Array
    """Of the vehicle's own safety circle, m."""
    clearance: jax.Array
    """Wanted between safety circles, m."""
    horizon: jax.Array
    """How far ahead the closest approach to a vessel matters, s."""
    shape_horizon: jax.Array
    """How far ahead a shape matters, s."""
    reaction: jax.Array
    """Range over range rate beyond the clearance at which a vessel that stands on acts, s."""
    patience: jax.Array
    """For how long a vessel that should give way may seem not to: until her turn would show, s."""
    lag: jax.Array
    """Between a decision and its first effect, s."""
    turn_rate: jax.Array
    """At which the vehicle turns, rad/s."""
    targets: Targets | None = batched()
    """Vessels that follow a timetable."""
    circles: Circles | None = batched()
    """Round shapes."""
    polygons: Polygons | None = batched()
    """Convex shapes."""
    period: float = static()
    """Between decisions, s."""
    slowest: jax.Array | None = None
    """Speed below which the vehicle does not answer its helm, m/s; None where that is no matter."""


class AvoidanceState(NamedTuple):
    """What is kept from one decision to the next."""

    identity: jax.Array
    """(K, N) of each vessel; 0 for none."""
    role: jax.Array
    """(K, N) towards each vessel, codes of `roles.ROLES`."""
    doubt: jax.Array
    """(K, N) for how long a vessel that should give way has not, s (rule 17)."""
    altered: jax.Array
    """(N,) whether the last decision was another than the wish."""
    reference: jax.Array
    """(N,) course that was wished when an alteration for vessels began, rad; NaN without one."""
    course: jax.Array
    """(N,) decided, rad."""
    speed: jax.Array
    """(N,) decided, m/s."""
    closest: jax.Array
    """(K, N) distance at the closest approach that was predicted with it, m."""
    due: jax.Array
    """(N,) time of the next decision, s."""


class Seen(NamedTuple):
    """Solids that ranging sensors see."""

    points: jax.Array
    """(2, S, N) where their beams end, north and east, m."""
    margin: jax.Array
    """Wanted between them and the vehicle's own circle, m."""
    remaining: jax.Array
    """(N,) to where the vehicle is bound, m: what lies beyond is no matter yet."""


class Info(NamedTuple):
    """What is worth recording."""

    roles: jax.Array
    """(K, N) codes of `roles.ROLES`."""
    closest: jax.Array
    """(K, N) distance to each vessel at the closest approach predicted, m."""
    altered: jax.Array
    """(N,) whether the vehicle departs from its wish."""


def begin(avoidance: Avoidance, vehicles: int, live: int = 0) -> AvoidanceState:
    """Before the first decision; `live` vessels will be told of beside those with a timetable."""
    known = 0 if avoidance.targets is None else avoidance.targets.radius.shape[0]
    shape = (known + live, vehicles)
    zero = jnp.zeros(vehicles, avoidance.radius.dtype)
    return AvoidanceState(
        identity=jnp.zeros(shape, jnp.int32),
        role=jnp.zeros(shape, jnp.int32),
        doubt=jnp.zeros(shape, avoidance.radius.dtype),
        altered=jnp.zeros(vehicles, bool),
        reference=zero + jnp.nan,
        course=zero,
        speed=zero,
        closest=jnp.full(shape, jnp.inf, avoidance.radius.dtype),
        due=jnp.full(vehicles, -jnp.inf),
    )


def avoid(
    avoidance: Avoidance,
    memory: AvoidanceState,
    estimate: Estimate,
    desired_course: jax.Array,
    desired_speed: jax.Array,
    t: jax.Array,
    live: Contacts | None = None,
    seen: Seen | None = None,
) -> tuple[AvoidanceState, jax.Array, jax.Array, Info]:
    """Course and speed over ground to steer instead of the desired ones (N,).

    A vehicle that nothing threatens gets back what it desired. `live` are vessels whose plot comes
    from outside: other vehicles of the run; `seen` is what ranging sensors tell of.
    """
    due = t >= memory.due

    def decide(before: AvoidanceState) -> AvoidanceState:
        after = _decide(avoidance, before, estimate, desired_course, desired_speed, t, live, seen)
        return AvoidanceState(*(jnp.where(due, a, b) for a, b in zip(after, before, strict=True)))

    memory = jax.lax.cond(jnp.any(due), decide, lambda before: before, memory)
    course = jnp.where(memory.altered, memory.course, desired_course)
    speed = jnp.where(memory.altered, memory.speed, desired_speed)
    return memory, course, speed, Info(memory.role, memory.closest, memory.altered)


def _decide(
    avoidance: Avoidance,
    memory: AvoidanceState,
    estimate: Estimate,
    desired_course: jax.Array,
    desired_speed: jax.Array,
    t: jax.Array,
    live: Contacts | None,
    seen: Seen | None,
) -> AvoidanceState:
    attitude = rotation(estimate.attitude)
    u, v, w = estimate.velocity[0], estimate.velocity[1], estimate.velocity[2]
    north, east, _ = attitude.to_world((u, v, w))
    own = jnp.stack([jnp.asarray(north), jnp.asarray(east)])
    heading = bearing(attitude.r10, attitude.r00)
    own_course = jnp.where(length(own) < roles.STOPPED, heading, course_of(own))

    offset = jnp.asarray(_OFFSET, own.dtype)
    share = jnp.asarray(_SHARE, own.dtype)
    # Alterations for vessels count from the course wished when they began: a track that is left
    # calls back ever more strongly, and the way back may lead into them again.
    reference = jnp.where(jnp.isnan(memory.reference), desired_course, memory.reference)
    course = (reference + offset).at[0].set(desired_course)
    speed = desired_speed * share
    velocity = speed * heading_vector(course)
    # While it turns at a constant rate a vehicle gets about as far as if it had kept its old
    # velocity for half of the turn.
    turn = jnp.abs(wrap_signed(course - own_course))
    delay = avoidance.lag + turn / (2.0 * avoidance.turn_rate)

    others = join(None if avoidance.targets is None else contacts(avoidance.targets, t), live)
    hazards = jnp.zeros_like(speed)
    breaches = jnp.zeros_like(speed)
    identity, closest = memory.identity, memory.closest
    role, doubt = memory.role, memory.doubt
    if others is not None:
        # What was decided about one vessel is not to be held against another in her place.
        known = (others.identity == identity) & (identity != 0)
        role, doubt = jnp.where(known, role, roles.NONE), jnp.where(known, doubt, 0.0)
        identity = others.identity
        there = identity != 0
        now = roles.Situation(
            place=jnp.where(there, others.position - estimate.position[:2, None], _NOWHERE),
            velocity=others.velocity,
            own=own[:, None],
            own_course=own_course,
            radii=others.radius + avoidance.radius,
            clearance=avoidance.clearance,
        )
        role, doubt = roles.update(
            role,
            doubt,
            now,
            avoidance.horizon,
            avoidance.reaction,
            avoidance.patience,
            avoidance.period,
        )
        quarter = avoidance.lag + 0.25 * math.pi / avoidance.turn_rate
        compelled = (doubt > avoidance.patience) | roles.in_extremis(now, quarter)
        passing = _passing(now, velocity, delay)
        near = partial(_nearness, passing, now.radii)
        roomy, wanted = (
            near(share * avoidance.clearance, avoidance.horizon, role, compelled)
            for share in (_LOYALTY, _wanted(memory.altered))
        )
        # Where the course that alterations count from is clear, none of them is to lead nearer.
        kept = (wanted[1] > _SMALL) | (np.arange(len(_OFFSET))[:, None] < 2)
        hazards = jnp.where(kept, wanted, roomy)
        wrong, breaches = _breaches(passing, role, compelled, memory.altered)
        hazards = hazards + wrong
        closest = jnp.where(there, passing.distance, jnp.inf)
    for_vessels = _threatened(hazards)
    # The turn itself lies between a late corner and one here and now: both must be clear.
    corners = [
        (estimate.position[:2, None] + own[:, None] * lag, lag)
        for lag in (delay, jnp.zeros_like(delay))
    ]
    for shapes in (avoidance.circles, avoidance.polygons):
        if shapes is not None:
            turned = [_shapes(avoidance, shapes, start, velocity, lag) for start, lag in corners]
            hazards = hazards + jnp.maximum(*turned)
    if seen is not None:
        turned = [_echoes(avoidance, seen, start, velocity, lag) for start, lag in corners]
        hazards = hazards + jnp.maximum(*turned)

    # Then the way back is as near to the wish as the others allow: who sails abreast of another
    # would else never come back to its track.
    away = jnp.where(hazards[1] > _SMALL, offset, wrap_signed(course - desired_course))
    departure = jnp.abs(away) / (0.5 * math.pi) + _SPEED * (1.0 - share) ** 2
    turn = jnp.abs(wrap_signed(course - memory.course))
    faster = jnp.abs(speed - memory.speed) / jnp.maximum(desired_speed, _SMALL)
    change = _CHANGE * (turn / (0.5 * math.pi) + faster)
    flip = jnp.where(turn > 0.25 * math.pi + _SMALL, _FLIP, 0.0)
    if seen is not None:
        # Who has stopped before a wall wavers between no two ways: it has to find one.
        flip = jnp.where(memory.speed > _SMALL, flip, 0.0)
    stay = jnp.where(memory.altered, change + flip, 0.0)
    cost = departure + hazards + breaches + stay
    if avoidance.slowest is not None:
        cost = cost + jnp.where(speed < avoidance.slowest, _ADRIFT, 0.0)
    best = jnp.where(_threatened(hazards), 1 + jnp.argmin(cost[1:], axis=0), 0)
    return AvoidanceState(
        identity=identity,
        role=role,
        doubt=doubt,
        altered=best > 0,
        reference=jnp.where(for_vessels, reference, jnp.nan),
        course=_pick(course, best),
        speed=_pick(speed, best),
        closest=_pick(closest, best) if others is not None else closest,
        due=jnp.where(t >= memory.due, t + avoidance.period, memory.due),
    )


def _threatened(hazards: jax.Array) -> jax.Array:
    """Whether the wish, or the course that alterations count from, leads into danger."""
    return (hazards[0] > _SMALL) | (hazards[1] > _SMALL)


def _yielding(role: jax.Array) -> jax.Array:
    return (role == roles.HEAD_ON) | (role == roles.GIVE_WAY)


class _Passing(NamedTuple):
    """How the others would be passed, (G, K, N) for G candidates."""

    time: jax.Array
    """Until the closest approach, s."""
    distance: jax.Array
    """At it, m."""
    ahead: jax.Array
    """Whether it is still to come."""
    to_starboard: jax.Array
    """Whether the candidate itself leads past with the other on the starboard side."""
    apart: jax.Array
    """(K, N) distance now, m."""


def _passing(now: roles.Situation, velocity: jax.Array, delay: jax.Array) -> _Passing:
    """How candidates (2, G, N) that hold after `delay` (G, N) would pass the others."""
    before = (now.own - now.velocity)[:, None]
    delay = delay[:, None]
    here = now.place[:, None]
    there = here - before * delay
    closing = velocity[:, :, None] - now.velocity[:, None]
    time, distance = closest_approach(there, closing)
    # They may pass while the candidate is still to come.
    early_time, _ = closest_approach(here, before)
    early_time = jnp.minimum(early_time, delay)
    early = length(here - before * early_time)
    first = early < distance
    to_come = dot(closing, there) > 0.0
    return _Passing(
        time=jnp.where(first, early_time, delay + time),
        distance=jnp.where(first, early, distance),
        ahead=to_come | (first & (dot(before, here) > 0.0)),
        to_starboard=to_come & (cross(closing, there) > 0.0),
        apart=length(now.place),
    )


def _wanted(altered: jax.Array) -> jax.Array:
    """Share of the clearance (G, 1, N) that candidates have to keep: more to end an alteration."""
    back = jnp.where(altered, _LOYALTY, 1.0)
    return jnp.where(np.arange(len(_OFFSET))[:, None, None] < 2, back, 1.0)


def _nearness(
    passing: _Passing,
    radii: jax.Array,
    clearance: jax.Array,
    horizon: jax.Array,
    role: jax.Array,
    compelled: jax.Array,
) -> jax.Array:
    """Cost (G, N) of coming close; who stands on leaves it to the other until compelled."""
    keep = radii + clearance
    lack = jnp.maximum((keep - passing.distance) / clearance, 0.0)
    soon = jnp.maximum(1.0 - passing.time / horizon, 0.0)
    close = jnp.clip(roles.CLOSE - passing.apart / keep, 0.0, 1.0)
    weight = jnp.maximum(jnp.minimum(4.0 * soon, 1.0), close)
    # Where every way leads within the radii, the one that leads least far in is the best.
    deep = jnp.maximum(1.0 - passing.distance / radii, 0.0)
    collision = jnp.where(deep > 0.0, _COLLISION * (1.0 + soon + deep), 0.0)
    standing = roles.stands(role) & ~compelled
    cost = weight * (_NEAR * lack + collision)
    return jnp.sum(jnp.where(passing.ahead & ~standing, cost, 0.0), axis=1)


def _breaches(
    passing: _Passing, role: jax.Array, compelled: jax.Array, altered: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Costs (G, N) of passing on the wrong side, and of altering in a wrong way."""
    yielding = _yielding(role)
    amiss = yielding & passing.to_starboard
    wrong = jnp.sum(jnp.where(amiss, _WRONG_SIDE, jnp.zeros_like(passing.distance)), axis=1)
    last_moment = (role == roles.STAND_ON) & compelled
    not_to_port = jnp.any(yielding | last_moment, axis=0)
    to_be_seen = jnp.any(yielding | (role == roles.OVERTAKING), axis=0) & ~altered
    port = not_to_port & (_OFFSET < -_SMALL)
    # A change of speed alone is no small alteration of course.
    timid = to_be_seen & (np.abs(_OFFSET) > _SMALL) & (np.abs(_OFFSET) < _APPARENT - _SMALL)
    return wrong, jnp.where(port, _TO_PORT, 0.0) + jnp.where(timid, _TIMID, 0.0)


def _shapes(
    avoidance: Avoidance, shapes: Shapes, start: jax.Array, velocity: jax.Array, delay: jax.Array
) -> jax.Array:
    """Cost (G, N) of running into shapes: near them, and into them."""
    ray = (start[:, :, None], velocity[:, :, None])
    when = (delay[:, None], avoidance.shape_horizon)
    near = hazard(shapes, *ray, avoidance.radius + shapes.margin, *when)
    into = hazard(shapes, *ray, jnp.broadcast_to(avoidance.radius, shapes.margin.shape), *when)
    return _NEAR * near + _COLLISION * into


def _echoes(
    avoidance: Avoidance, seen: Seen, start: jax.Array, velocity: jax.Array, delay: jax.Array
) -> jax.Array:
    """Cost (G, N) of running into what is seen. A wall is as bad as its worst point, however many
    of them are seen; how near it is passed counts, however far it still is."""
    away = seen.points[:, None] - start[:, :, None]
    closing = velocity[:, :, None]
    time, distance = closest_approach(away, closing)
    ahead = (dot(away, closing) > 0.0) & (
        time * length(closing) <= seen.remaining + avoidance.radius
    )
    soon = jnp.maximum(1.0 - (delay[:, None] + time) / avoidance.shape_horizon, 0.0)
    lack = jnp.clip((avoidance.radius + seen.margin - distance) / seen.margin, 0.0, 1.0)
    into = jnp.where(distance < avoidance.radius, _COLLISION * (1.0 + soon), 0.0)
    cost = jnp.minimum(4.0 * soon, 1.0) * (_NEAR * lack + into)
    return jnp.max(jnp.where(ahead, cost, 0.0), axis=1)


def _pick(table: jax.Array, row: jax.Array) -> jax.Array:
    """Row `row` (N,) of a (G, N) or (G, K, N) table for each vehicle."""
    index = row.reshape((1,) * (table.ndim - 1) + row.shape)
    index = jnp.broadcast_to(index, (1, *table.shape[1:]))
    return jnp.take_along_axis(table, index, axis=0)[0]
