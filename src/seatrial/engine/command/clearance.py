"""How a pilot keeps clear: of vessels that it hears of, of shapes on its chart, of what it sees."""

from functools import partial

import jax
import jax.numpy as jnp

from seatrial.engine.command import sample_queue
from seatrial.engine.command.pilot import Pilot, PilotState
from seatrial.gnc import avoidance as avoiding
from seatrial.gnc.avoidance import Contacts, Seen, Sight, Told, Watch, echoes, tracking
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.spatial.gradients import root


def keep_clear(
    pilot: Pilot,
    memory: PilotState,
    believed: Estimate,
    wish: Setpoint,
    bound: jax.Array,
    told: tuple[Told, ...],
    t: jax.Array,
) -> tuple[PilotState, Setpoint]:
    """Another course and speed where something is in the way to where the vehicle is `bound`,
    (2, N) north and east, NaN where that is no place."""
    assert pilot.avoidance is not None
    live = seen = None
    if pilot.watch is not None:
        memory, live = _look_out(pilot.watch, memory, believed, t)
    if pilot.sight is not None:
        memory, seen = _look_around(pilot.sight, memory, believed, bound, told, t)
    steered = jnp.where(jnp.isfinite(wish.course), wish.course, wish.heading)
    moving = jnp.isfinite(steered) & jnp.isfinite(wish.velocity[0])
    course = jnp.where(moving, steered, 0.0)
    speed = jnp.where(moving, wish.velocity[0], 0.0)
    decided, course, speed, info = avoiding.avoid(
        pilot.avoidance, memory.avoidance, believed, course, speed, t, live, seen
    )
    altered = info.altered & moving
    return memory._replace(avoidance=decided), wish._replace(
        course=jnp.where(altered, course, wish.course),
        heading=jnp.where(altered, jnp.nan, wish.heading),
        velocity=wish.velocity.at[0].set(jnp.where(altered, speed, wish.velocity[0])),
    )


def _look_out(
    watch: Watch, memory: PilotState, believed: Estimate, t: jax.Array
) -> tuple[PilotState, Contacts]:
    """Take in the reports that have arrived, and say where the others are."""
    tracks, reports = memory.tracks, list(memory.reports)
    assert tracks is not None
    tracks = tracking.forget(watch, tracks, t)
    for k, ear in enumerate(watch.ears):
        reports[k], arrival = sample_queue.collect(reports[k], t)
        age = (t - arrival.stamp).astype(arrival.values.dtype)
        heard = tracking.read(ear, arrival.values, believed, age)
        tracks = tracking.update(tracks, heard, arrival.stamp, arrival.arrived)
    return memory._replace(reports=tuple(reports), tracks=tracks), tracking.plot(tracks, t)


def _look_around(
    sight: Sight,
    memory: PilotState,
    believed: Estimate,
    bound: jax.Array,
    told: tuple[Told, ...],
    t: jax.Array,
) -> tuple[PilotState, Seen]:
    """Take in what ranging sensors have seen, and say what of it is in the way."""
    known, glances = memory.echoes, list(memory.glances)
    assert known is not None
    late: jax.Array | None
    compiled, outside = iter(range(len(glances))), iter(told)
    for number, eye in enumerate(sight.eyes):
        if eye.beams is None:
            given = next(outside)
            found, stamp, late = given.places, given.stamp, given.late
            fresh = stamp > known.heard[number]
        else:
            k = next(compiled)
            glances[k], arrival = sample_queue.catch_up(glances[k], t)
            found, stamp, fresh = echoes.places(eye, arrival.values), arrival.stamp, arrival.arrived
            late = None
        known = jax.lax.cond(
            jnp.any(fresh),
            partial(echoes.take_in, sight, number, believed, t),
            lambda before, *_: before,
            known,
            found,
            stamp,
            fresh,
            late,
        )
    there = jnp.isfinite(bound[0])
    way = jnp.where(there, bound - believed.position[:2], 0.0)
    remaining = jnp.where(there, root(way[0] * way[0] + way[1] * way[1]), jnp.inf)
    memory = memory._replace(glances=tuple(glances), echoes=known)
    return memory, Seen(echoes.in_the_way(sight, known, t), sight.margin, remaining)
