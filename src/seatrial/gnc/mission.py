"""A list of legs, worked through one after the other: who is on which, and how each one ended.

A leg is a stretch of track to follow, a station to hold, or a velocity to keep. It ends when it is
reached, when its time is up, or when its condition holds; then the next one begins. A vehicle that
has no legs left keeps its last station.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.signals import OUTCOMES as OUTCOMES
from seatrial.spatial.gradients import root
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import vec3

WATCHED = ("depth", "time", "speed", "heading", "pitch", "roll")
"""What a condition may watch: m, s, m/s over ground, rad (the heading from 0 to 2π)."""

TRACK, HOLD, SURFACE, DOCK, VELOCITY = 0, 1, 2, 3, 4
KINDS = {TRACK: "track", HOLD: "hold", SURFACE: "surface", DOCK: "dock", VELOCITY: "velocity"}

FACING = math.radians(15.0)
"""How far from the heading that it asks for a station counts as held, rad."""

PENDING, REACHED, PASSED, TIMED_OUT, HELD, CONDITION = 0, 1, 2, 3, 4, 5
"""Codes of `signals.OUTCOMES`."""


@pytree
class Mission:
    """The legs; numbers are (K, N), places (K, 3, N)."""

    kind: jax.Array
    """Codes of `KINDS`."""
    start: jax.Array
    """Where the track begins, NED, m."""
    end: jax.Array
    """Where it ends; the station of a leg that holds one."""
    speed: jax.Array
    """Asked for over ground, m/s."""
    acceptance: jax.Array
    """Radius around the end within which it counts as reached, m."""
    heading: jax.Array
    """To be held on station, rad; NaN when it does not matter."""
    velocity: jax.Array
    """(K, 3, N) surge, sway and yaw rate of a leg that keeps a velocity, m/s and rad/s."""
    dwell: jax.Array
    """How long a station is held after it was reached, or a velocity kept, s."""
    timeout: jax.Array
    """After which a leg is given up, s; infinite for never."""
    watched: jax.Array
    """What the condition of a leg watches, a place in `WATCHED`; −1 without one."""
    threshold: jax.Array
    """Of the condition."""
    side: jax.Array
    """1 where the condition holds above its threshold, −1 below."""
    count: jax.Array
    """(N,) number of legs."""
    flat: bool = static()
    """Whether distances are horizontal: a surface craft cannot choose its depth."""
    altitude: jax.Array | None = None
    """Over the bottom, m; NaN for a leg that has a depth, None where all have."""
    pipe: jax.Array | None = None
    """How far a leg is to starboard of a pipeline that a sonar follows, m; NaN for one that follows
    none, None where none does."""


class Progress(NamedTuple):
    """Where the vehicles are in their missions."""

    leg: jax.Array
    """(N,) number of the leg; `count` when all are done."""
    began: jax.Array
    """(N,) when it began, s."""
    arrived: jax.Array
    """(N,) when its station was reached first, or again after a wait, s; infinite before."""
    stayed: jax.Array
    """(N,) how long the station was held, or the velocity kept, before it had to wait, s."""
    outcome: jax.Array
    """(K, N) codes of `OUTCOMES`."""


class Leg(NamedTuple):
    """The leg of each vehicle."""

    kind: jax.Array
    start: jax.Array
    end: jax.Array
    speed: jax.Array
    acceptance: jax.Array
    heading: jax.Array
    velocity: jax.Array
    following: jax.Array
    """(3, N) end of the leg after it, or of itself where it is the last."""
    last: jax.Array
    """(N,) whether no track follows it."""
    done: jax.Array
    """(N,) whether the mission is over."""
    altitude: jax.Array | None = None
    """(N,) over the bottom, m; NaN for one that has a depth, None where all have."""
    pipe: jax.Array | None = None
    """(N,) to starboard of a pipeline that a sonar follows, m; NaN or None without one."""


def begin(mission: Mission) -> Progress:
    """Before the first leg."""
    legs, vehicles = mission.kind.shape
    return Progress(
        leg=jnp.zeros(vehicles, jnp.int32),
        began=jnp.zeros(vehicles),
        arrived=jnp.full(vehicles, jnp.inf),
        stayed=jnp.zeros(vehicles),
        outcome=jnp.zeros((legs, vehicles), jnp.int32),
    )


def follow(
    mission: Mission, progress: Progress, estimate: Estimate, t: jax.Array
) -> tuple[Progress, Leg]:
    """End the leg of every vehicle that is through with it; returns the leg then in force."""
    now = leg_of(mission, progress.leg)
    done = progress.leg >= mission.count
    away = estimate.position - now.end
    along = now.end - now.start
    if mission.flat:
        away, along = away.at[2].set(0.0), along.at[2].set(0.0)
    if now.altitude is not None:
        # Who follows the bottom is where the leg ends at whatever depth that is.
        over = jnp.isfinite(now.altitude)
        away, along = (way.at[2].set(jnp.where(over, 0.0, way[2])) for way in (away, along))
    # Who is told to come up has done so wherever it comes up.
    away = jnp.stack([jnp.where(now.kind == SURFACE, 0.0, a) for a in away[:2]] + [away[2]])
    distance = root(jnp.sum(away * away, axis=0))
    euler = to_euler(estimate.attitude)
    astray = jnp.abs(wrap_signed(euler[2] - now.heading)) > FACING  # false where any will do
    inside = ((distance <= _pick(mission.acceptance, progress.leg)) & ~astray) | (
        now.kind == VELOCITY
    )
    arrived = jnp.where(inside, jnp.minimum(progress.arrived, t), progress.arrived)
    is_track = now.kind == TRACK
    reached = is_track & inside
    # A leg of no length has no end to come abeam of: it is passed where it begins.
    beyond = (jnp.sum(away * along, axis=0) > 0.0) | jnp.all(along == 0.0, axis=0)
    passed = is_track & ~inside & beyond
    stayed = progress.stayed + t - arrived
    held = ~is_track & ~astray & (stayed >= _pick(mission.dwell, progress.leg))
    late = t - progress.began >= _pick(mission.timeout, progress.leg)
    met = _condition_holds(mission, progress.leg, estimate, euler, t)
    outcome = jnp.select(
        [reached, held, met, late, passed], [REACHED, HELD, CONDITION, TIMED_OUT, PASSED], PENDING
    )
    ended = (outcome != PENDING) & ~done
    rows = jnp.arange(mission.kind.shape[0])[:, None]
    outcomes = jnp.where((rows == progress.leg) & ended, outcome, progress.outcome)
    after = Progress(
        leg=progress.leg + ended.astype(jnp.int32),
        began=jnp.where(ended, t, progress.began),
        arrived=jnp.where(ended, jnp.inf, arrived),
        stayed=jnp.where(ended, 0.0, progress.stayed),
        outcome=outcomes.astype(jnp.int32),
    )
    leg = leg_of(mission, after.leg)
    return after, leg._replace(done=after.leg >= mission.count)


def wait(progress: Progress, t: jax.Array, period: float) -> Progress:
    """Stand still for a control period that begins at `t`, and the clocks of the leg with it.

    Who was at its station may be led away meanwhile: its stay goes on when it is back there.
    """
    there = jnp.isfinite(progress.arrived)
    return progress._replace(
        began=progress.began + period,
        arrived=jnp.full_like(progress.arrived, jnp.inf),
        stayed=progress.stayed + jnp.where(there, t - progress.arrived, 0.0),
    )


def _condition_holds(
    mission: Mission, number: jax.Array, estimate: Estimate, euler: jax.Array, t: jax.Array
) -> jax.Array:
    """Whether the condition of each vehicle's leg holds."""
    roll, pitch, yaw = euler
    north, east, _ = rotation(estimate.attitude).to_world(vec3(estimate.velocity))
    seen = jnp.stack(
        [
            estimate.position[2],
            jnp.broadcast_to(t, yaw.shape).astype(yaw.dtype),
            root(north * north + east * east),
            jnp.mod(yaw, 2.0 * jnp.pi),
            pitch,
            roll,
        ]
    )
    watched = _pick(mission.watched, number)
    value = jnp.take_along_axis(seen, jnp.maximum(watched, 0)[None], axis=0)[0]
    beyond = _pick(mission.side, number) * (value - _pick(mission.threshold, number)) > 0.0
    return (watched >= 0) & beyond


def leg_of(mission: Mission, number: jax.Array) -> Leg:
    """The leg in force; the last one where all are done."""
    final = mission.count - 1
    number = jnp.minimum(number, final)
    following = jnp.minimum(number + 1, final)
    no_track = (number == final) | (_pick(mission.kind, following) != TRACK)
    return Leg(
        kind=_pick(mission.kind, number),
        start=_place(mission.start, number),
        end=_place(mission.end, number),
        speed=_pick(mission.speed, number),
        acceptance=_pick(mission.acceptance, number),
        heading=_pick(mission.heading, number),
        velocity=_place(mission.velocity, number),
        following=_place(mission.end, following),
        last=no_track,
        done=jnp.zeros(number.shape, bool),
        altitude=None if mission.altitude is None else _pick(mission.altitude, number),
        pipe=None if mission.pipe is None else _pick(mission.pipe, number),
    )


def _pick(table: jax.Array, number: jax.Array) -> jax.Array:
    """Row `number` (N,) of a (K, N) table for each vehicle."""
    row = jnp.minimum(number, table.shape[0] - 1)
    return jnp.take_along_axis(table, row[None].astype(jnp.int32), axis=0)[0]


def _place(table: jax.Array, number: jax.Array) -> jax.Array:
    row = jnp.minimum(number, table.shape[0] - 1)[None, None].astype(jnp.int32)
    row = jnp.broadcast_to(row, (1, *table.shape[1:]))
    return jnp.take_along_axis(table, row, axis=0)[0]
