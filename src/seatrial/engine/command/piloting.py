"""A vehicle that finds its own way: navigation, mission, guidance, control and allocation.

Once per control period the pilot is asked for orders, like any commander. In between it hears what
its sensors deliver. It sees the truth only where the scenario says `feedback: truth`.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command import clearance, passage, sample_queue
from seatrial.engine.command.pilot import (
    Belief,
    LegInForce,
    Navigator,
    Outlook,
    Pilot,
    PilotState,
    Way,
    Wishes,
)
from seatrial.engine.compiled.suite import MOST_JITTER, Fitted, Sample, Sensing
from seatrial.gnc import avoidance as avoiding
from seatrial.gnc import failsafes as guarding
from seatrial.gnc import mission as legs
from seatrial.gnc.allocation import allocate, wrench
from seatrial.gnc.avoidance import Told, echoes, tracking
from seatrial.gnc.control import autopilot as steering
from seatrial.gnc.failsafes import FailsafeState
from seatrial.gnc.guidance import terrain as following
from seatrial.gnc.guidance.terrain import Bottom, Terrain
from seatrial.gnc.guidance.track import track_errors
from seatrial.gnc.mission import TRACK
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.navigation.watching import SILENT, USED
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.ocean import Ocean, current, seabed
from seatrial.signals import FAILSAFES
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.vectors import vec3


def begin(pilot: Pilot, suite: tuple[Fitted, ...], initial: State, channels: int) -> PilotState:
    """Before the first instant."""
    count = initial.position.shape[-1]
    dtype = initial.velocity.dtype
    navigator, watch, terrain = pilot.navigator, pilot.watch, pilot.terrain
    sight = pilot.sight
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
        autopilot=steering.begin(pilot.autopilot, count, dtype),
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
        asked=jnp.zeros((4, count), dtype),
        failsafes=guarding.begin(pilot.failsafes, initial.position, dtype),
        stream=jnp.zeros_like(initial.position),
        soundings=()
        if terrain is None
        else tuple(
            sample_queue.begin(s.box, suite[s.place].size, count, dtype) for s in terrain.heard
        ),
        plane=None if terrain is None else following.begin(terrain, count, dtype),
    )


def hear(
    pilot: Pilot,
    memory: PilotState,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    which: list[int],
    index: jax.Array,
    t: jax.Array,
) -> PilotState:
    """Take in what some sensors deliver at this instant, but not the inertial ones."""
    heard = memory.failsafes.heard
    for row, (place, part) in enumerate(pilot.failsafes.ears):
        if place in which:
            sample = sensing[place].last
            value, due = sample.values[part], index % suite[place].period == 0
            # A distance of zero is no echo.
            told = due & sample.valid & ((row != pilot.failsafes.altimeter) | (value > 0.0))
            heard = heard.at[row].set(jnp.where(told, value, heard[row]))
    memory = memory._replace(failsafes=memory.failsafes._replace(heard=heard))
    if pilot.watch is not None:
        reports = list(memory.reports)
        for k, ear in enumerate(pilot.watch.ears):
            if ear.place in which:
                due = index % suite[ear.place].period == 0
                reports[k] = sample_queue.post(reports[k], sensing[ear.place].last, due, t)
        memory = memory._replace(reports=tuple(reports))
    if pilot.sight is not None:
        glances = list(memory.glances)
        for k, eye in enumerate(e for e in pilot.sight.eyes if e.beams is not None):
            if eye.place in which:
                due = index % suite[eye.place].period == 0
                glances[k] = sample_queue.post(glances[k], sensing[eye.place].last, due, t)
        memory = memory._replace(glances=tuple(glances))
    if pilot.terrain is not None:
        soundings = list(memory.soundings)
        for k, sounder in enumerate(pilot.terrain.heard):
            if sounder.place in which:
                due = index % suite[sounder.place].period == 0
                sample = sensing[sounder.place].last
                soundings[k] = sample_queue.post(soundings[k], sample, due, t)
        memory = memory._replace(soundings=tuple(soundings))
    navigator = pilot.navigator
    if navigator is None:
        return memory
    # The filter stands at the last inertial sample, one of its periods ago.
    last = t - suite[navigator.imu].interval
    for k, i in enumerate(navigator.aids):
        if i in which:
            due = index % suite[i].period == 0
            memory = _correct(navigator, memory, k, sensing[i].last, due, t, last)
    return memory


def _correct(
    navigator: Navigator,
    memory: PilotState,
    k: int,
    sample: Sample,
    due: jax.Array,
    t: jax.Array,
    last: jax.Array,
) -> PilotState:
    """Correct the filter, which stands at `last`, by what aid `k` delivers."""

    def update(before: Any, values: jax.Array, usable: jax.Array, age: jax.Array) -> Any:
        return navigation.update(navigator.filter, before, k, values, usable, age)

    if navigator.boxes[k] == 0:
        filter = jax.lax.cond(
            due,
            lambda before: update(before, sample.values, sample.valid, last - t),
            lambda before: before,
            memory.filter,
        )
        return memory._replace(filter=filter)
    box, arrival = sample_queue.catch_up(sample_queue.post(memory.boxes[k], sample, due, t), t)
    filter = jax.lax.cond(
        jnp.any(arrival.arrived),
        lambda before: update(before, arrival.values, arrival.arrived, last - arrival.stamp),
        lambda before: before,
        memory.filter,
    )
    boxes = tuple(box if j == k else other for j, other in enumerate(memory.boxes))
    return memory._replace(filter=filter, boxes=boxes)


def feel(
    pilot: Pilot,
    memory: PilotState,
    suite: tuple[Fitted, ...],
    sensing: tuple[Sensing, ...],
    index: jax.Array,
    tick: int,
) -> PilotState:
    """Move the filter on by the inertial sample of this instant."""
    navigator = pilot.navigator
    if navigator is None:
        return memory
    fitted, sample = suite[navigator.imu], sensing[navigator.imu].last
    there = sample.valid
    if fitted.faults:
        # The filter moves on with the IMU: a sample that has not come by the next one is lost.
        jitter = 0.0 if fitted.jitter is None else MOST_JITTER * fitted.jitter
        there = there & (sample.delay <= fitted.latency + jitter + fitted.interval)

    def predict(before: Any) -> Any:
        return navigation.predict(navigator.filter, before, sample.values, fitted.interval, there)

    if fitted.period == tick:
        return memory._replace(filter=predict(memory.filter))
    due = index % fitted.period == 0
    moved = jax.lax.cond(due, predict, lambda before: before, memory.filter)
    return memory._replace(filter=moved)


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
    believed = _estimate(pilot, memory, state, dtype)
    progress, leg = legs.follow(pilot.mission, memory.progress, believed, t)
    steered = jnp.zeros(believed.position.shape[1:], bool) if wishes is None else wishes.steered
    busy = steered | driven
    failsafes, health = _guard(pilot, memory, progress, leg, believed, since, busy, t)
    # A mission that has to wait goes on where it was left.
    waits = guarding.off_mission(failsafes)
    progress = jax.tree.map(partial(jnp.where, waits), memory.progress, progress)
    top = pilot.holds_station | (believed.position[2] < pilot.reach)
    leg = guarding.obey(failsafes, pilot.mission, leg, top)
    aim = passage.soft_aim(leg, believed) if pilot.soft else leg.end
    bottom = None
    if pilot.terrain is not None:
        memory, bottom = _sound(pilot, pilot.terrain, memory, believed, leg, ocean, t)
    pace = passage.pace(pilot, leg, believed, bottom)
    # What a law has learnt of the drift belongs to the course on which it learnt it.
    before = legs.leg_of(pilot.mission, memory.progress.leg)
    learnt = jnp.where(passage.turned(before, leg), 0.0, memory.law)
    law, setpoint, _ = pilot.law.guide(learnt, believed, leg.start, aim, pace.level, pilot.period)
    setpoint = setpoint._replace(velocity=setpoint.velocity.at[2].set(pace.sinking))
    setpoint = passage.at_station(pilot, leg, believed, setpoint)
    if bottom is not None:
        setpoint = passage.over_bottom(setpoint, bottom)
    setpoint = passage.drifting(setpoint, guarding.adrift(failsafes))
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


def _sound(
    pilot: Pilot,
    terrain: Terrain,
    memory: PilotState,
    believed: Estimate,
    leg: legs.Leg,
    ocean: Ocean,
    t: jax.Array,
) -> tuple[PilotState, Bottom]:
    """Take in what the beams have told of the bottom, and say at which depth to follow it."""
    assert memory.plane is not None
    assert leg.altitude is not None
    plane = following.move(terrain, memory.plane, believed, pilot.period)
    soundings = list(memory.soundings)
    for k, sounder in enumerate(terrain.sounders):
        soundings[k], arrival = sample_queue.catch_up(soundings[k], t)
        age = (t - arrival.stamp).astype(arrival.values.dtype)
        plane = jax.lax.cond(
            jnp.any(arrival.arrived),
            partial(following.sound, terrain, sounder),
            lambda before, *_: before,
            plane,
            believed,
            arrival.values,
            arrival.arrived,
            age,
        )
    if terrain.lookout is not None:
        soundings[-1], arrival = sample_queue.catch_up(soundings[-1], t)
        age = (t - arrival.stamp).astype(arrival.values.dtype)
        seen = arrival.values, arrival.arrived, age
        plane = following.look_ahead(terrain.lookout, plane, believed, *seen)
    if pilot.navigator is None and ocean.seabed is not None:
        facet = seabed.facet(ocean.seabed, believed.position[0], believed.position[1])
        rows = [jnp.broadcast_to(part, plane.heard.shape) for part in facet]
        plane = plane._replace(
            mean=jnp.stack(rows).astype(plane.mean.dtype), heard=jnp.ones_like(plane.heard)
        )
    memory = memory._replace(soundings=tuple(soundings), plane=plane)
    return memory, following.wanted(terrain, plane, believed, leg.altitude)


def _asked(setpoint: Setpoint) -> jax.Array:
    """(4, N) as the last numbers of `frames.GUIDANCE` tell it."""
    rows = [setpoint.heading, setpoint.course, setpoint.velocity[0], setpoint.depth]
    given = [jnp.isfinite(row) for row in rows]
    heading, course, surge, depth = (
        jnp.where(there, row, 0.0) for there, row in zip(given, rows, strict=True)
    )
    which = sum((1 << i) * there for i, there in enumerate(given))
    return jnp.stack([jnp.asarray(which), jnp.where(given[0], heading, course), surge, depth])


def steer(pilot: Pilot, memory: PilotState, way: Way) -> tuple[PilotState, jax.Array]:
    """Orders for the next control period."""
    held, demand = steering.control(
        pilot.autopilot,
        memory.autopilot,
        way.setpoint,
        way.believed,
        memory.achieved,
        pilot.period,
    )
    through = _through_water(way.believed)
    given = allocate(pilot.effectors, demand, through, memory.orders, pilot.period, way.health)
    dtype = memory.orders.dtype
    memory = memory._replace(
        autopilot=held,
        orders=jnp.where(way.stopped, 0.0, given.orders).astype(dtype),
        achieved=jnp.where(way.stopped, 0.0, given.wrench).astype(dtype),
    )
    return memory, memory.orders


def outlook(pilot: Pilot, memory: PilotState, way: Way, dtype: Any) -> Outlook:
    """What a controller of the user's own is told in the autopilot's place."""
    believed, leg = way.believed, way.leg
    if pilot.navigator is None:
        spread = jnp.zeros((12, *believed.position.shape[1:]), dtype)
    else:
        spread = navigation.deviations(pilot.navigator.filter, memory.filter).astype(dtype)
    return Outlook(
        estimate=Belief(
            position=believed.position,
            attitude=believed.attitude,
            euler=jnp.stack(to_euler(believed.attitude)),
            velocity=believed.velocity,
            current=believed.current,
            deviation=spread[0:3],
            attitude_deviation=spread[3:6],
            velocity_deviation=spread[6:12],
        ),
        leg=LegInForce(
            number=memory.progress.leg,
            kind=leg.kind,
            start=leg.start,
            end=leg.end,
            following=leg.following,
            speed=leg.speed,
            acceptance=leg.acceptance,
            done=leg.done,
        ),
        setpoint=way.setpoint,
        through_water=_through_water(believed),
        orders=memory.orders,
        health=way.health,
    )


def overrule(
    pilot: Pilot, memory: PilotState, state: State, orders: jax.Array, taken: jax.Array
) -> PilotState:
    """Memory of a pilot that knows which orders are in force, its own or, where `taken`, others.

    The next allocation starts from them, the filter's model of the vehicle obeys them, and the
    autopilot's integrals see the wrench that they make.
    """

    def achieved() -> jax.Array:
        through = _through_water(_estimate(pilot, memory, state, orders.dtype))
        made = wrench(pilot.effectors, through, orders).astype(orders.dtype)
        return jnp.where(jnp.any(taken, axis=0), made, memory.achieved)

    made = jax.lax.cond(jnp.any(taken), achieved, lambda: memory.achieved)
    return memory._replace(orders=orders, achieved=made)


def report(pilot: Pilot, memory: PilotState, state: State) -> tuple[jax.Array, jax.Array]:
    """For the record: what is believed, laid out as `frames.ESTIMATE`, and `frames.GUIDANCE`.

    Errors from the track are those of the true position, whatever the vehicle believes.
    """
    count, dtype = state.position.shape[-1], state.velocity.dtype
    progress = memory.progress
    leg = legs.leg_of(pilot.mission, progress.leg)
    errors = track_errors(state.position, leg.start, leg.end, flat=pilot.mission.flat)
    rows = jnp.arange(pilot.mission.kind.shape[0])[:, None]
    ended = jnp.max(jnp.where(rows == progress.leg - 1, progress.outcome, 0), axis=0)
    cross = jnp.where(leg.kind == TRACK, errors.cross, 0.0)
    rule = _rule(memory.avoidance, count)
    on = memory.failsafes.on
    bits = jnp.sum(jnp.where(on, 1 << jnp.arange(len(on))[:, None], 0), axis=0)
    numbers = [progress.leg, ended, cross, errors.remaining, rule, bits, memory.failsafes.action]
    where = jnp.stack([jnp.asarray(number, dtype) for number in numbers])
    guidance = jnp.concatenate([where, memory.asked])
    if pilot.navigator is None:
        return jnp.zeros((0, count), dtype), guidance
    believed = _estimate(pilot, memory, state, dtype)
    spread = navigation.deviations(pilot.navigator.filter, memory.filter)
    parts = [*believed, spread, _sensor_masks(pilot.navigator, memory.filter)]
    return jnp.concatenate([part.astype(dtype) for part in parts]), guidance


def _sensor_masks(navigator: Navigator, filter: Any) -> jax.Array:
    """(2, N) bit i for sensor i: those that the filter rejects, and those that are silent."""
    found = navigation.health(navigator.filter, filter)
    bits = jnp.asarray([1 << place for place in (navigator.imu, *navigator.aids)])[:, None]
    silent = found == SILENT
    wrong = (found > USED) & ~silent
    return jnp.stack([jnp.sum(jnp.where(which, bits, 0), axis=0) for which in (wrong, silent)])


def _rule(avoidance: Any, count: int) -> jax.Array:
    """The rule towards the vessel that is predicted to come nearest, where one applies."""
    if avoidance is None or avoidance.role.shape[0] == 0:
        return jnp.zeros(count, jnp.int32)
    near = jnp.where(avoidance.role > 0, avoidance.closest, jnp.inf)
    chosen = (near == jnp.min(near, axis=0)) & (avoidance.role > 0)
    found: jax.Array = jnp.max(jnp.where(chosen, avoidance.role, 0), axis=0)
    return found


def _guard(
    pilot: Pilot,
    memory: PilotState,
    progress: legs.Progress,
    leg: legs.Leg,
    believed: Estimate,
    since: jax.Array | None,
    busy: jax.Array,
    t: jax.Array,
) -> tuple[FailsafeState, jax.Array | None]:
    """Failsafes after this instant, and the health of the effectors."""
    state, monitors = memory.failsafes, pilot.failsafes.monitors
    health = _health(pilot, since, t)
    if monitors is not None:
        armed = pilot.failsafes.action[FAILSAFES.index("actuator")] > 0
        state = guarding.compare(monitors, state, memory.orders, armed)
        if health is None:
            shape = (len(pilot.effectors.names), *busy.shape)
            health = jnp.ones(shape, believed.position.dtype)
        health = guarding.health_of(monitors, state, health)
    state, unanswered = guarding.listen(
        pilot.failsafes.answer, state, memory.achieved, _through_water(believed)
    )
    well = ~unanswered if health is None else jnp.all(health > 0.0, axis=0) & ~unanswered
    spread = jnp.zeros_like(believed.position[0])
    if pilot.navigator is not None:
        spread = navigation.spread(memory.filter).astype(spread.dtype)
    state = guarding.watch(
        pilot.failsafes,
        state,
        pilot.mission,
        progress,
        leg,
        believed,
        spread,
        pilot.fence,
        ~well,
        since,
        busy,
        t,
    )
    return state, health


def _health(pilot: Pilot, since: jax.Array | None, t: jax.Array) -> jax.Array | None:
    """Share (A, N) of its wrench that each effector is reported to make; None without reports."""
    if since is None or not pilot.alarms:
        return None
    health = jnp.ones((len(pilot.effectors.names), *since.shape[1:]), since.dtype)
    for alarm in pilot.alarms:
        reported = t >= since[alarm.fault] + alarm.delay
        health = health.at[alarm.effector].multiply(jnp.where(reported, 0.0, 1.0))
    return health


def link_lost(pilot: Pilot, since: jax.Array | None) -> jax.Array | bool:
    """(N,) whether nobody outside is heard."""
    row = pilot.failsafes.link
    return False if since is None or row < 0 else jnp.isfinite(since[row])


def _estimate(pilot: Pilot, memory: PilotState, state: State, dtype: Any) -> Estimate:
    if pilot.navigator is None:
        return Estimate(state.position, state.attitude, state.velocity, memory.stream)
    found = navigation.estimate(pilot.navigator.filter, memory.filter)
    return Estimate(*(part.astype(dtype) for part in found))


def _through_water(believed: Estimate) -> jax.Array:
    """Velocity relative to the water, (6, N), body axes."""
    water = rotation(believed.attitude).to_body(vec3(believed.current))
    return believed.velocity.at[:3].add(-jnp.stack(water))


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
