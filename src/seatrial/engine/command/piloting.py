"""A vehicle that finds its own way: navigation, mission, guidance, control and allocation.

Once per control period the pilot is asked for orders, like any commander. In between it hears what
its sensors deliver (`hearing`). It sees the truth only where the scenario says `feedback: truth`.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command import clearance, passage, sample_queue
from seatrial.engine.command.belief import believed_by, through_water
from seatrial.engine.command.hearing import take_profiles, take_soundings
from seatrial.engine.command.pilot import Pilot, PilotState, Way, Wishes
from seatrial.engine.command.watchkeeping import guard
from seatrial.engine.compiled.suite import Fitted
from seatrial.gnc import avoidance as avoiding
from seatrial.gnc import failsafe_actions
from seatrial.gnc import failsafes as guarding
from seatrial.gnc import mission as legs
from seatrial.gnc.allocation import allocate, wrench
from seatrial.gnc.avoidance import Told, echoes, tracking
from seatrial.gnc.control import autopilot as steering
from seatrial.gnc.control import regulator
from seatrial.gnc.guidance import pipeline
from seatrial.gnc.guidance import terrain as following
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.ocean import Ocean, current
from seatrial.spatial.gradients import bearing
from seatrial.spatial.vectors import vec3


def begin(pilot: Pilot, suite: tuple[Fitted, ...], initial: State, channels: int) -> PilotState:
    """Before the first instant."""
    count = initial.position.shape[-1]
    dtype = initial.velocity.dtype
    navigator, watch, terrain = pilot.navigator, pilot.watch, pilot.terrain
    sight, tracker = pilot.sight, pilot.tracker
    return PilotState(
        filter=None
        if navigator is None
        else navigation.begin(navigator.filter, navigator.start, count),
        boxes=()
        if navigator is None
        else tuple(
            sample_queue.begin(length, suite[i].size, count, dtype)
            for i, length in zip(navigator.aids, navigator.boxes, strict=True)
        ),
        progress=legs.begin(pilot.mission),
        law=pilot.law.begin(count).astype(dtype),
        autopilot=steering.begin(pilot.autopilot, count, dtype)
        if pilot.regulator is None
        else regulator.begin(count, dtype),
        avoidance=None
        if pilot.avoidance is None
        else avoiding.begin(pilot.avoidance, count, 0 if watch is None else watch.tracks),
        reports=()
        if watch is None
        else tuple(
            sample_queue.begin(e.box, suite[e.place].size, count, dtype) for e in watch.ears
        ),
        tracks=None if watch is None else tracking.begin(watch, count, dtype),
        glances=()
        if sight is None
        else tuple(
            sample_queue.begin(e.box, suite[e.place].size, count, dtype)
            for e in sight.eyes
            if e.beams is not None
        ),
        echoes=None if sight is None else echoes.begin(sight, count, dtype),
        orders=jnp.zeros((channels, count), dtype),
        achieved=jnp.zeros((6, count), dtype),
        asked=jnp.zeros((8, count), dtype),
        failsafes=guarding.begin(
            pilot.failsafes,
            initial.position,
            initial.actuators,
            len(pilot.effectors.names),
            dtype,
        ),
        stream=jnp.zeros_like(initial.position),
        soundings=()
        if terrain is None
        else tuple(
            sample_queue.begin(s.box, suite[s.place].size, count, dtype) for s in terrain.heard
        ),
        plane=None if terrain is None else following.begin(terrain, count, dtype),
        profiles=None
        if tracker is None
        else sample_queue.begin(tracker.box, suite[tracker.place].size, count, dtype),
        line=None if tracker is None else pipeline.begin(count, dtype),
    )


def guide(
    pilot: Pilot,
    memory: PilotState,
    state: State,
    t: jax.Array,
    ocean: Ocean,
    wishes: Wishes | None = None,
    since: jax.Array | None = None,
    driven: jax.Array | bool = False,
    told: tuple[Told, ...] = (),
) -> tuple[PilotState, Way]:
    """Where to go in the next control period.

    `wishes` stand above the mission; faults set in at `since` (F, N), infinite while away; a
    vehicle that is `driven` (N,) takes orders by channel from elsewhere. What dense sensors see is
    `told` from outside the loop.
    """
    navigator = pilot.navigator
    dtype = state.velocity.dtype
    if navigator is not None:
        everywhere = jnp.ones(state.velocity.shape[1:], bool)
        filter = navigation.aid_by_knowledge(
            navigator.filter, memory.filter, memory.orders, pilot.period, everywhere
        )
        memory = memory._replace(filter=filter)
    elif ocean.current is not None:
        flow = current.sample(ocean.current, vec3(state.position), t)
        stream = jnp.stack([jnp.broadcast_to(part, state.position[0].shape) for part in flow])
        memory = memory._replace(stream=stream.astype(state.position.dtype))
    believed = believed_by(pilot, memory, state, dtype)
    charted, before = believed, legs.leg_of(pilot.mission, memory.progress.leg)
    if pilot.tracker is not None:
        # Where it would be if the pipeline lay as it is charted.
        memory, shift = take_profiles(pilot, pilot.tracker, memory, believed, before, t)
        charted = believed._replace(position=believed.position - shift)
    progress, leg = legs.follow(pilot.mission, memory.progress, charted, t)
    steered = jnp.zeros(believed.position.shape[1:], bool) if wishes is None else wishes.steered
    busy = steered | driven
    failsafes, health = guard(pilot, memory, progress, leg, believed, since, busy, t)
    # A mission that has to wait goes on where it was left.
    waits = guarding.off_mission(failsafes)
    stands = legs.wait(memory.progress, t, pilot.period)
    progress = jax.tree.map(partial(jnp.where, waits), stands, progress)
    top = pilot.holds_station | (believed.position[2] < pilot.reach)
    leg = failsafe_actions.obey(pilot.failsafes, failsafes, pilot.mission, leg, believed, top)
    aim = passage.soft_aim(leg, charted) if pilot.soft else leg.end
    bottom = None
    if pilot.terrain is not None:
        memory, bottom = take_soundings(pilot, pilot.terrain, memory, believed, leg, ocean, t)
    pace = passage.pace(pilot, leg, charted, bottom)
    # What a law has learnt of the drift belongs to the course on which it learnt it.
    learnt = jnp.where(passage.turned(before, leg), 0.0, memory.law)
    law, setpoint, _ = pilot.law.guide(learnt, charted, leg.start, aim, pace.level, pilot.period)
    setpoint = setpoint._replace(velocity=setpoint.velocity.at[2].set(pace.sinking))
    if pilot.regulator is not None:
        setpoint = passage.to_waypoint(setpoint, aim, leg)
    setpoint = passage.at_station(pilot, leg, believed, setpoint)
    if bottom is not None:
        setpoint = passage.over_bottom(setpoint, bottom)
    setpoint = passage.drifting(setpoint, failsafe_actions.adrift(failsafes))
    if wishes is not None:
        setpoint = _as_wished(wishes, believed, setpoint)
    if pilot.avoidance is not None:
        bound = jnp.where(steered | (leg.kind == legs.VELOCITY), jnp.nan, leg.end[:2])
        memory, setpoint = clearance.keep_clear(pilot, memory, believed, setpoint, bound, told, t)
    if pilot.holds_station:
        setpoint = passage.in_line(pilot, setpoint, believed)
    memory = memory._replace(
        progress=progress,
        law=law.astype(dtype),
        asked=_asked(setpoint).astype(dtype),
        failsafes=failsafes,
    )
    stopped = (failsafes.action == guarding.CODE["abort"]) & ~steered
    return memory, Way(believed, leg, setpoint, health, stopped)


def _as_wished(wishes: Wishes, believed: Estimate, own: Setpoint) -> Setpoint:
    """What is asked from outside where something is, else what the mission asks.

    A depth that nobody asks for stays the mission's.
    """
    there = jnp.isfinite(wishes.waypoint[0])
    away = jnp.where(there, wishes.waypoint, 0.0) - believed.position[:2]
    nothing = jnp.full_like(wishes.surge, jnp.nan)
    asked = Setpoint(
        position=jnp.stack([nothing, nothing, nothing]),
        heading=wishes.heading,
        course=jnp.where(there, bearing(away[1], away[0]), wishes.course),
        velocity=jnp.stack([wishes.surge, nothing, nothing]),
        yaw_rate=wishes.yaw_rate,
        depth=jnp.where(jnp.isfinite(wishes.depth), wishes.depth, own.depth),
        pitch=own.pitch,
    )
    chosen = [jnp.where(wishes.steered, a, b) for a, b in zip(asked, own, strict=True)]
    return Setpoint(*chosen)


def _asked(setpoint: Setpoint) -> jax.Array:
    """(8, N) as the last numbers of `frames.GUIDANCE` tell it."""
    s = setpoint
    # Beside a heading or a course the rate of turn is fed forward, and beside a position no sway is
    # heeded.
    steered = jnp.isfinite(s.heading) | jnp.isfinite(s.course)
    yaw_rate = jnp.where(steered, jnp.nan, s.yaw_rate)
    sway = jnp.where(jnp.isfinite(s.position[0]), jnp.nan, s.velocity[1])
    rows = [s.heading, s.course, s.velocity[0], s.depth, sway, yaw_rate, *s.position[:2]]
    given = [jnp.isfinite(row) for row in rows]
    heading, course, *others = (
        jnp.where(there, row, 0.0) for there, row in zip(given, rows, strict=True)
    )
    # North and east are asked for together.
    which = sum((1 << i) * there for i, there in enumerate(given[:-1]))
    return jnp.stack([jnp.asarray(which), jnp.where(given[0], heading, course), *others])


def steer(pilot: Pilot, memory: PilotState, way: Way) -> tuple[PilotState, jax.Array]:
    """Orders for the next control period."""
    held: Any
    if pilot.regulator is None:
        held, demand = steering.control(
            pilot.autopilot,
            memory.autopilot,
            way.setpoint,
            way.believed,
            memory.achieved,
            pilot.period,
        )
    else:
        held, demand = regulator.regulate(
            pilot.regulator, memory.autopilot, way.setpoint, way.believed, pilot.period
        )
    through = through_water(way.believed)
    given = allocate(pilot.effectors, demand, through, memory.orders, pilot.period, way.health)
    dtype = memory.orders.dtype
    memory = memory._replace(
        autopilot=held,
        orders=jnp.where(way.stopped, 0.0, given.orders).astype(dtype),
        achieved=jnp.where(way.stopped, 0.0, given.wrench).astype(dtype),
    )
    return memory, memory.orders


def overrule(
    pilot: Pilot, memory: PilotState, state: State, orders: jax.Array, taken: jax.Array
) -> PilotState:
    """Memory of a pilot that knows which orders are in force, its own or, where `taken`, others.

    The next allocation starts from them, the filter's model of the vehicle obeys them, and the
    autopilot's integrals see the wrench that they make.
    """

    def achieved() -> jax.Array:
        through = through_water(believed_by(pilot, memory, state, orders.dtype))
        made = wrench(pilot.effectors, through, orders).astype(orders.dtype)
        return jnp.where(jnp.any(taken, axis=0), made, memory.achieved)

    made = jax.lax.cond(jnp.any(taken), achieved, lambda: memory.achieved)
    return memory._replace(orders=orders, achieved=made)
