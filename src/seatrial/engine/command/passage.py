"""How to sail a leg: how fast, how to take a corner, how to come to a station and stay there."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.engine.command.pilot import Pilot
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.guidance import handover, waypoints
from seatrial.gnc.guidance.speed import braking_speed
from seatrial.gnc.guidance.terrain import Bottom
from seatrial.gnc.mission import DOCK, HOLD, SURFACE, TRACK, VELOCITY, Leg
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import vec3

SAME_COURSE = 0.9
"""Cosine of the change of course up to which two legs count as one track."""

SOFTNESS = 4
"""Degree of the polynomial that weights the next waypoint."""


def soft_aim(leg: Leg, believed: Estimate) -> jax.Array:
    """Between the waypoint and the next one, nearer to that the nearer the vehicle is to this."""
    following = jnp.where(leg.last, leg.end, leg.following)
    stretch = waypoints.Leg(leg.start, leg.end, following, leg.last)
    return handover.soft(stretch, believed.position, SOFTNESS)


def to_waypoint(along: Setpoint, aim: jax.Array, leg: Leg) -> Setpoint:
    """The aim itself, at no more than the speed of the leg."""
    return along._replace(position=aim, velocity=along.velocity.at[0].set(leg.speed))


class Pace(NamedTuple):
    """How fast to go on a leg, m/s over ground."""

    level: jax.Array
    sinking: jax.Array
    """Rate of the depth; NaN where none is asked for."""


def pace(pilot: Pilot, leg: Leg, believed: Estimate, bottom: Bottom | None) -> Pace:
    """Slower towards a station, on a slope, and before a corner that is turned on the spot."""
    away = leg.end - believed.position
    distance = _level_length(away)
    stops = (leg.last | (leg.kind == HOLD) | (leg.kind == DOCK)) & (leg.kind != SURFACE)
    if isinstance(pilot.autopilot.depth, Dive):
        stops = stops & (leg.kind != TRACK)  # its fins need way on to the very waypoint
    asked, final = leg.speed, jnp.where(stops, 0.0, leg.speed)
    along, level = leg.end - leg.start, _level_length(leg.end - leg.start)
    length = root(level * level + along[2] * along[2])
    whole = jnp.where(length > 0.0, length, 1.0)
    rise, run = along[2] / whole, jnp.where(length > 0.0, level / whole, 1.0)
    if bottom is not None:
        cosine = 1.0 / root(1.0 + bottom.slope * bottom.slope)
        rise = jnp.where(bottom.kept, bottom.slope * cosine, rise)
        run = jnp.where(bottom.kept, cosine, run)
    if pilot.fastest is not None:
        tilting = jnp.maximum(run * (1.0 + 2.0 * jnp.abs(rise)), 0.1)
        most = (
            pilot.fastest if pilot.sideways is None else jnp.maximum(pilot.fastest, pilot.sideways)
        )
        asked = jnp.minimum(asked, most / tilting)
    if pilot.holds_station:
        beyond = leg.following - leg.end
        both = level * _level_length(beyond)
        cosine = (along[0] * beyond[0] + along[1] * beyond[1]) / jnp.where(both > 0.0, both, 1.0)
        corner = jnp.where(both > 0.0, 0.5 * (1.0 + cosine), 1.0) * asked
        final = jnp.minimum(final, corner)
    asked = jnp.where(
        final < leg.speed, braking_speed(asked, distance, pilot.deceleration, final), asked
    )
    ahead = along[0] * (believed.position[0] - leg.start[0])
    ahead = ahead + along[1] * (believed.position[1] - leg.start[1])
    share = ahead / jnp.where(level > 0.0, level * level, 1.0)
    sloped = (share > 0.0) & (share < 1.0)
    if bottom is not None:
        sloped |= bottom.kept
    sloped &= (leg.kind == TRACK) & ~leg.done
    if pilot.climb is None:
        # A craft that dives by its pitch goes along the slope; one on the surface does not look.
        return Pace(asked, jnp.where(sloped, asked * rise, jnp.nan))
    asked = jnp.minimum(asked, pilot.climb / jnp.maximum(jnp.abs(rise), 1e-3))
    # Level with the leg before going on: a vehicle that is above or below it waits.
    off = believed.position[2] - (leg.start[2] + jnp.clip(share, 0.0, 1.0) * along[2])
    if bottom is not None:
        off = jnp.where(bottom.kept, believed.position[2] - bottom.depth, off)
    waits = 1.0 / (1.0 + (off / pilot.reach) ** 2)
    sinking = jnp.where((leg.kind == TRACK) & ~leg.done, asked * waits * rise, jnp.nan)
    return Pace(asked * waits * run, sinking)


def turned(before: Leg, now: Leg) -> jax.Array:
    """Whether the leg now in force leads another way than the one before it."""
    a, b = before.end - before.start, now.end - now.start
    along = a[0] * b[0] + a[1] * b[1]
    return along < SAME_COURSE * _level_length(a) * _level_length(b)


def _level_length(way: jax.Array) -> jax.Array:
    return root(way[0] * way[0] + way[1] * way[1])


def in_line(pilot: Pilot, setpoint: Setpoint, believed: Estimate) -> Setpoint:
    """Along its heading only, and only as far as that points where it is to go.

    For a craft that can move sideways: its sway is asked to be zero where nothing else is asked,
    because its heading loop was designed with the sway loop closed. Where the current makes the
    way through the water too fast for that, it points along that way, and turns its side to it if
    that is the faster one; what is too fast even so is done more slowly, on the same course.
    """
    _, _, heading = to_euler(believed.attitude)
    asked = jnp.where(jnp.isfinite(setpoint.heading), setpoint.heading, setpoint.course)
    surge, sway = setpoint.velocity[0], setpoint.velocity[1]
    free = jnp.isfinite(surge) & ~jnp.isfinite(sway) & ~jnp.isfinite(setpoint.position[0])
    steered = free & jnp.isfinite(asked)
    off = asked - heading
    ahead, aside = jnp.maximum(jnp.cos(off), 0.0), jnp.zeros_like(off)
    across = asked
    if pilot.fastest is not None:
        # Sinking or rising tilts it further, the more the faster it goes.
        sinking = jnp.where(jnp.isfinite(setpoint.velocity[2]), jnp.abs(setpoint.velocity[2]), 0.0)
        most = pilot.fastest / (1.0 + 2.0 * sinking / pilot.fastest)
        side = most if pilot.sideways is None else jnp.maximum(pilot.sideways, most)
        flow, c, s = believed.current, jnp.cos(asked), jnp.sin(asked)
        drift = flow[1] * c - flow[0] * s
        made = flow[0] * c + flow[1] * s + root(jnp.maximum(side * side - drift * drift, 0.0))
        surge = jnp.where(steered, jnp.clip(surge, 0.0, jnp.maximum(made, 0.0)), surge)
        north, east = surge * c - flow[0], surge * s - flow[1]
        through = root(north * north + east * east)
        needed = jnp.clip(5.0 * through / most - 4.0, 0.0, 1.0)
        # Through the water (u/most)² + (v/side)² = 1, within which neither tilts it too far.
        gained = (1.0 - (most / jnp.maximum(through, most)) ** 2) / (
            1.0 - (most / side) ** 2 + 1e-9
        )
        crab = jnp.arcsin(root(jnp.clip(gained, 0.0, 1.0)))
        # To the side on which the bow is already.
        against = bearing(east, north)
        crab = jnp.where(wrap_signed(heading - against) < 0.0, -crab, crab)
        across = asked + needed * wrap_signed(against + crab - asked)
        ahead = ahead + needed * (jnp.cos(off) - ahead)
        aside = needed * jnp.sin(off)
    velocity = setpoint.velocity.at[0].set(jnp.where(steered, surge * ahead, surge))
    velocity = velocity.at[1].set(jnp.where(free, jnp.where(steered, surge * aside, 0.0), sway))
    if pilot.fastest is not None and pilot.sideways is not None:
        water = rotation(believed.attitude).to_body(vec3(believed.current))
        for row, limit in enumerate((pilot.fastest, pilot.sideways)):
            within = jnp.clip(velocity[row], water[row] - limit, water[row] + limit)
            velocity = velocity.at[row].set(within)
    return setpoint._replace(
        velocity=velocity,
        heading=jnp.where(steered, across, setpoint.heading),
        course=jnp.where(steered, jnp.nan, setpoint.course),
    )


def drifting(setpoint: Setpoint, adrift: jax.Array) -> Setpoint:
    """Nothing asked for but the depth, where a vehicle lets itself drift."""
    left = Setpoint(*(jnp.where(adrift, jnp.nan, part) for part in setpoint))
    return left._replace(depth=setpoint.depth)


def at_station(pilot: Pilot, leg: Leg, believed: Estimate, along: Setpoint) -> Setpoint:
    """What is asked for where a leg is a station to hold, not a track to follow."""
    keeps = leg.kind == VELOCITY
    on_station = (leg.kind == HOLD) | (leg.kind == DOCK) | (leg.done & ~keeps)
    away = leg.end - believed.position
    nothing = jnp.full_like(away[0], jnp.nan)
    distance = _level_length(away)
    if pilot.holds_station:
        # Beside a station the surge is the speed at which it is approached.
        slow = jnp.where((leg.kind == DOCK) & ~leg.done, leg.speed, nothing)
        approach = jnp.stack([slow, nothing, nothing])
        velocity = jnp.where(on_station, approach, along.velocity)
        heading = jnp.where(on_station, leg.heading, along.heading)
        course = jnp.where(on_station, jnp.nan, along.course)
        position = jnp.where(on_station, leg.end, along.position)
        # Any heading will do, but none is left to itself.
        drifts = on_station & ~jnp.isfinite(leg.heading)
        along = along._replace(yaw_rate=jnp.where(drifts, 0.0, along.yaw_rate))
    else:
        # Turn towards the station and come back to it; near it, let the vehicle drift.
        near = distance < jnp.minimum(pilot.reach, 0.5 * leg.acceptance)
        back = bearing(away[1], away[0])
        surge = jnp.where(near, 0.0, along.velocity[0])
        velocity = along.velocity.at[0].set(jnp.where(on_station, surge, along.velocity[0]))
        heading = jnp.where(on_station, jnp.where(near, nothing, back), along.heading)
        course = jnp.where(on_station, nothing, along.course)
        position = along.position
    at_depth = on_station | keeps | (leg.kind == SURFACE)
    depth = jnp.where(at_depth, leg.end[2], along.depth)
    kept = jnp.where(leg.done, 0.0, leg.velocity)
    asked = jnp.stack([kept[0], kept[1], nothing])
    return along._replace(
        position=jnp.where(keeps, jnp.nan, position),
        velocity=jnp.where(keeps, asked, velocity),
        heading=jnp.where(keeps, jnp.nan, heading),
        course=jnp.where(keeps, jnp.nan, course),
        yaw_rate=jnp.where(keeps, kept[2], along.yaw_rate),
        depth=depth,
        pitch=jnp.where(keeps, jnp.nan, along.pitch),
    )


def over_bottom(setpoint: Setpoint, bottom: Bottom) -> Setpoint:
    """The depth of the bottom that is followed in place of the leg's."""
    return setpoint._replace(
        depth=jnp.where(bottom.kept, bottom.depth, setpoint.depth),
        pitch=jnp.where(bottom.kept, jnp.nan, setpoint.pitch),
    )
