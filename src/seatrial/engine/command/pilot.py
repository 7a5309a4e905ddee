"""A vehicle that finds its own way: navigation, mission, guidance, control and allocation.

Once per control period the pilot is asked for orders, like any commander. In between it hears what
its sensors deliver. It sees the truth only where the scenario says `feedback: truth`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command import sample_queue
from seatrial.engine.command.sample_queue import SampleQueue
from seatrial.engine.compiled.suite import Fitted, Sample, Sensing
from seatrial.gnc import avoidance as avoiding
from seatrial.gnc import mission as legs
from seatrial.gnc.allocation import Effectors, allocate, wrench
from seatrial.gnc.avoidance import Avoidance, Contacts, Tracks, Watch, tracking
from seatrial.gnc.control import autopilot as steering
from seatrial.gnc.control.autopilot import Autopilot
from seatrial.gnc.control.loops import Dive
from seatrial.gnc.guidance import handover, waypoints
from seatrial.gnc.guidance.fence import inside
from seatrial.gnc.guidance.laws import Law
from seatrial.gnc.guidance.speed import braking_speed
from seatrial.gnc.guidance.track import track_errors
from seatrial.gnc.mission import DOCK, HOLD, SURFACE, TRACK, VELOCITY, Leg, Mission, Progress
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.navigation.dispatch import AnyFilter
from seatrial.gnc.navigation.eskf import SILENT, USED
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.ocean import Ocean, current
from seatrial.pytree import batched, pytree, static
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import vec3

SAME_COURSE = 0.9
"""Cosine of the change of course up to which two legs count as one track."""

SOFTNESS = 4
"""Degree of the polynomial that weights the next waypoint."""


@pytree
class Navigator:
    """A filter and the sensors that feed it; places are those in the suite."""

    filter: AnyFilter
    start: Estimate = batched()
    """What the vehicles are told of their start."""
    imu: int = static()
    aids: tuple[int, ...] = static()
    boxes: tuple[int, ...] = static()
    """How many samples of each aid may be on their way at once."""


@pytree
class Alarm:
    """What the vehicle's own monitoring reports of a broken actuator."""

    delay: jax.Array
    """From the onset to the report, s."""
    fault: int = static()
    """Row in `Trouble.since`."""
    effector: int = static()
    """Which one is then left out."""


@pytree
class Pilot:
    """Everything that decides."""

    navigator: Navigator | None
    """None where the truth is fed back."""
    mission: Mission = batched()
    law: Law
    autopilot: Autopilot
    effectors: Effectors
    avoidance: Avoidance | None
    watch: Watch | None
    """What tells it of other vessels; None where it has no such sensor."""
    fence: jax.Array | None
    """(P, 2) corners of the area that it must not leave."""
    alarms: tuple[Alarm, ...]
    """Faults that it is told of."""
    deceleration: jax.Array
    """With which it slows down before a station, m/s²."""
    reach: jax.Array
    """Distance from a station below which a vehicle that cannot hold it stops its engines, m; half
    the radius of acceptance where that is less."""
    climb: jax.Array | None
    """Largest rate at which it changes its depth by heave, m/s; None where it dives by pitching."""
    fastest: jax.Array | None
    """Speed through the water above which it would tilt too far, m/s; None without such a one."""
    sideways: jax.Array | None
    """The same to the side."""
    holds_station: bool = static()
    """Whether it can move sideways at will."""
    soft: bool = static()
    """Whether it aims at the next waypoint gradually, before the current one is reached."""
    period: float = static()
    """Of control, s."""


class Wishes(NamedTuple):
    """What a pilot is told from outside, in place of its mission; NaN where nothing is asked."""

    steered: jax.Array
    """(N,) whether anything is asked; elsewhere the mission goes on."""
    surge: jax.Array
    """(N,) m/s; zero is to stop."""
    heading: jax.Array
    """(N,) rad."""
    course: jax.Array
    """(N,) of the track over ground, rad."""
    yaw_rate: jax.Array
    """(N,) rad/s."""
    depth: jax.Array
    """(N,) m."""
    waypoint: jax.Array
    """(2, N) to go to, north and east, m."""


def nothing_wished(count: int, dtype: Any) -> Wishes:
    """The mission goes on."""
    none = jnp.full(count, jnp.nan, dtype)
    return Wishes(jnp.zeros(count, bool), none, none, none, none, none, jnp.stack([none, none]))


class PilotState(NamedTuple):
    """What a pilot carries from one instant to the next."""

    filter: Any
    boxes: tuple[SampleQueue, ...]
    progress: Progress
    law: jax.Array
    autopilot: Any
    avoidance: Any
    reports: tuple[SampleQueue, ...]
    """Of the sensors of the watch."""
    tracks: Tracks | None
    orders: jax.Array
    """(A, N) last in force: its own, or those that stood above them."""
    achieved: jax.Array
    """(6, N) wrench that they make."""
    refuge: jax.Array
    """(3, N) last place inside the fence."""
    stream: jax.Array
    """(3, N) current, NED, where the truth is fed back; zero elsewhere."""


def begin(pilot: Pilot, suite: tuple[Fitted, ...], initial: State, channels: int) -> PilotState:
    """Before the first instant."""
    count = initial.position.shape[-1]
    dtype = initial.velocity.dtype
    navigator, watch = pilot.navigator, pilot.watch
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
        orders=jnp.zeros((channels, count), dtype),
        achieved=jnp.zeros((6, count), dtype),
        refuge=initial.position,
        stream=jnp.zeros_like(initial.position),
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
    if pilot.watch is not None:
        reports = list(memory.reports)
        for k, ear in enumerate(pilot.watch.ears):
            if ear.place in which:
                due = index % suite[ear.place].period == 0
                reports[k] = sample_queue.post(reports[k], sensing[ear.place].last, due, t)
        memory = memory._replace(reports=tuple(reports))
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
    box, arrival = sample_queue.collect(sample_queue.post(memory.boxes[k], sample, due, t), t)
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

    def predict(before: Any) -> Any:
        return navigation.predict(
            navigator.filter, before, sample.values, fitted.interval, sample.valid
        )

    if fitted.period == tick:
        return memory._replace(filter=predict(memory.filter))
    due = index % fitted.period == 0
    moved = jax.lax.cond(due, predict, lambda before: before, memory.filter)
    return memory._replace(filter=moved)


def decide(
    pilot: Pilot,
    memory: PilotState,
    state: State,
    t: jax.Array,
    ocean: Ocean,
    wishes: Wishes | None = None,
    since: jax.Array | None = None,
) -> tuple[PilotState, jax.Array]:
    """Orders for the next control period.

    `wishes` stand above the mission; faults set in at `since` (F, N), infinite while away.
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
    refuge = memory.refuge
    if pilot.fence is not None:
        within = inside(pilot.fence, believed.position[:2])
        refuge = jnp.where(within, believed.position, refuge)
        # Outside, the last place inside is a station to come back to.
        leg = leg._replace(
            kind=jnp.where(within, leg.kind, HOLD), end=jnp.where(within, leg.end, refuge)
        )
    aim = _soft_aim(leg, believed) if pilot.soft else leg.end
    speed = _speed(pilot, leg, believed)
    # What a law has learnt of the drift belongs to the course on which it learnt it.
    before = legs.leg_of(pilot.mission, memory.progress.leg)
    learnt = jnp.where(_turned(before, leg), 0.0, memory.law)
    law, setpoint, _ = pilot.law.guide(learnt, believed, leg.start, aim, speed.level, pilot.period)
    setpoint = setpoint._replace(velocity=setpoint.velocity.at[2].set(speed.sinking))
    setpoint = _at_station(pilot, leg, believed, setpoint)
    if wishes is not None:
        setpoint = _as_wished(wishes, believed, setpoint)
    avoidance, live = memory.avoidance, None
    if pilot.watch is not None:
        memory, live = _look_out(pilot.watch, memory, believed, t)
    if pilot.avoidance is not None:
        avoidance, setpoint = _keep_clear(pilot.avoidance, avoidance, believed, setpoint, t, live)
    if pilot.holds_station:
        setpoint = _in_line(pilot, setpoint, believed)
    held, demand = steering.control(
        pilot.autopilot, memory.autopilot, setpoint, believed, memory.achieved, pilot.period
    )
    health = _health(pilot, since, t)
    through = _through_water(believed)
    given = allocate(pilot.effectors, demand, through, memory.orders, pilot.period, health)
    memory = PilotState(
        filter=memory.filter,
        boxes=memory.boxes,
        progress=progress,
        law=law.astype(dtype),
        autopilot=held,
        avoidance=avoidance,
        reports=memory.reports,
        tracks=memory.tracks,
        orders=given.orders.astype(dtype),
        achieved=given.wrench.astype(dtype),
        refuge=refuge,
        stream=memory.stream,
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
    guidance = jnp.stack([progress.leg, ended, cross, errors.remaining, rule]).astype(dtype)
    if pilot.navigator is None:
        return jnp.zeros((0, count), dtype), guidance
    believed = _estimate(pilot, memory, state, dtype)
    spread = navigation.deviations(pilot.navigator.filter, memory.filter)
    parts = [*believed, spread, _sensor_masks(pilot.navigator, memory.filter)]
    return jnp.concatenate([part.astype(dtype) for part in parts]), guidance


def _sensor_masks(navigator: Navigator, filter: Any) -> jax.Array:
    """(2, N) bit i for sensor i: those that the filter rejects, and those that are silent."""
    health = navigation.health(navigator.filter, filter)
    bits = jnp.asarray([1 << place for place in (navigator.imu, *navigator.aids)])[:, None]
    silent = health == SILENT
    wrong = (health > USED) & ~silent
    return jnp.stack([jnp.sum(jnp.where(which, bits, 0), axis=0) for which in (wrong, silent)])


def _rule(avoidance: Any, count: int) -> jax.Array:
    """The rule towards the vessel that is predicted to come nearest, where one applies."""
    if avoidance is None or avoidance.role.shape[0] == 0:
        return jnp.zeros(count, jnp.int32)
    near = jnp.where(avoidance.role > 0, avoidance.closest, jnp.inf)
    chosen = (near == jnp.min(near, axis=0)) & (avoidance.role > 0)
    found: jax.Array = jnp.max(jnp.where(chosen, avoidance.role, 0), axis=0)
    return found


def _health(pilot: Pilot, since: jax.Array | None, t: jax.Array) -> jax.Array | None:
    """Share (A, N) of its wrench that each effector is known to make; None where all are well."""
    if since is None or not pilot.alarms:
        return None
    health = jnp.ones((len(pilot.effectors.names), *since.shape[1:]), since.dtype)
    for alarm in pilot.alarms:
        reported = t >= since[alarm.fault] + alarm.delay
        health = health.at[alarm.effector].multiply(jnp.where(reported, 0.0, 1.0))
    return health


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


def _soft_aim(leg: Leg, believed: Estimate) -> jax.Array:
    """Between the waypoint and the next one, nearer to that the nearer the vehicle is to this."""
    following = jnp.where(leg.last, leg.end, leg.following)
    stretch = waypoints.Leg(leg.start, leg.end, following, leg.last)
    return handover.soft(stretch, believed.position, SOFTNESS)


class _Pace(NamedTuple):
    """How fast to go on a leg, m/s over ground."""

    level: jax.Array
    sinking: jax.Array
    """Rate of the depth; NaN where none is asked for."""


def _speed(pilot: Pilot, leg: Leg, believed: Estimate) -> _Pace:
    """Slower towards a station, on a slope, and before a corner that is turned on the spot."""
    away = leg.end - believed.position
    distance = root(away[0] ** 2 + away[1] ** 2)
    stops = (leg.last | (leg.kind == HOLD) | (leg.kind == DOCK)) & (leg.kind != SURFACE)
    if isinstance(pilot.autopilot.depth, Dive):
        stops = stops & (leg.kind != TRACK)  # its fins need way on to the very waypoint
    asked, final = leg.speed, jnp.where(stops, 0.0, leg.speed)
    along, level = leg.end - leg.start, _level_length(leg.end - leg.start)
    length = root(level * level + along[2] * along[2])
    whole = jnp.where(length > 0.0, length, 1.0)
    rise, run = along[2] / whole, jnp.where(length > 0.0, level / whole, 1.0)
    if pilot.fastest is not None:
        tilting = jnp.maximum(run * (1.0 + 2.0 * jnp.abs(rise)), 0.1)
        asked = jnp.minimum(asked, pilot.fastest / tilting)
    if pilot.holds_station:
        beyond = leg.following - leg.end
        both = level * _level_length(beyond)
        turned = (along[0] * beyond[0] + along[1] * beyond[1]) / jnp.where(both > 0.0, both, 1.0)
        corner = jnp.where(both > 0.0, 0.5 * (1.0 + turned), 1.0) * asked
        final = jnp.minimum(final, corner)
    asked = jnp.where(
        final < leg.speed, braking_speed(asked, distance, pilot.deceleration, final), asked
    )
    ahead = along[0] * (believed.position[0] - leg.start[0])
    ahead = ahead + along[1] * (believed.position[1] - leg.start[1])
    share = ahead / jnp.where(level > 0.0, level * level, 1.0)
    sloped = (leg.kind == TRACK) & ~leg.done & (share > 0.0) & (share < 1.0)
    if pilot.climb is None:
        # A craft that dives by its pitch goes along the slope; one on the surface does not look.
        return _Pace(asked, jnp.where(sloped, asked * rise, jnp.nan))
    asked = jnp.minimum(asked, pilot.climb / jnp.maximum(jnp.abs(rise), 1e-3))
    # Level with the leg before going on: a vehicle that is above or below it waits.
    off = believed.position[2] - (leg.start[2] + jnp.clip(share, 0.0, 1.0) * along[2])
    waits = 1.0 / (1.0 + (off / pilot.reach) ** 2)
    sinking = jnp.where((leg.kind == TRACK) & ~leg.done, asked * waits * rise, jnp.nan)
    return _Pace(asked * waits * run, sinking)


def _turned(before: Leg, now: Leg) -> jax.Array:
    """Whether the leg now in force leads another way than the one before it."""
    a, b = before.end - before.start, now.end - now.start
    along = a[0] * b[0] + a[1] * b[1]
    return along < SAME_COURSE * _level_length(a) * _level_length(b)


def _level_length(way: jax.Array) -> jax.Array:
    return root(way[0] * way[0] + way[1] * way[1])


def _in_line(pilot: Pilot, setpoint: Setpoint, believed: Estimate) -> Setpoint:
    """Along its heading only, and only as far as that points where it is to go.

    For a craft that can move sideways: its sway is asked to be zero where nothing else is asked,
    because its heading loop was designed with the sway loop closed. Where the way through the
    water, current included, asks for more than it may make ahead, it turns its side to it.
    """
    _, _, heading = to_euler(believed.attitude)
    asked = jnp.where(jnp.isfinite(setpoint.heading), setpoint.heading, setpoint.course)
    surge, sway = setpoint.velocity[0], setpoint.velocity[1]
    free = jnp.isfinite(surge) & ~jnp.isfinite(sway) & ~jnp.isfinite(setpoint.position[0])
    steered = free & jnp.isfinite(asked)
    off = asked - heading
    ahead, aside = jnp.maximum(jnp.cos(off), 0.0), jnp.zeros_like(off)
    turned = asked
    if pilot.fastest is not None:
        north = surge * jnp.cos(asked) - believed.current[0]
        east = surge * jnp.sin(asked) - believed.current[1]
        through = root(north * north + east * east)
        # Sinking or rising tilts it further, the more the faster it goes.
        sinking = jnp.where(jnp.isfinite(setpoint.velocity[2]), jnp.abs(setpoint.velocity[2]), 0.0)
        most = pilot.fastest / (1.0 + 2.0 * sinking / pilot.fastest)
        share = through / most
        needed = jnp.clip(5.0 * share - 4.0, 0.0, 1.0)
        crab = jnp.arccos(jnp.clip(1.0 / jnp.maximum(share, 1.0), 0.0, 1.0))
        # To the side on which the bow is already.
        against = bearing(east, north)
        crab = jnp.where(wrap_signed(heading - against) < 0.0, -crab, crab)
        turned = asked + needed * wrap_signed(against + crab - asked)
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
        heading=jnp.where(steered, turned, setpoint.heading),
        course=jnp.where(steered, jnp.nan, setpoint.course),
    )


def _at_station(pilot: Pilot, leg: Leg, believed: Estimate, along: Setpoint) -> Setpoint:
    """What is asked for where a leg is a station to hold, not a track to follow."""
    keeps = leg.kind == VELOCITY
    on_station = (leg.kind == HOLD) | (leg.kind == DOCK) | (leg.done & ~keeps)
    away = leg.end - believed.position
    nothing = jnp.full_like(away[0], jnp.nan)
    distance = root(away[0] ** 2 + away[1] ** 2)
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
    depth = jnp.where(on_station | (leg.kind == SURFACE), leg.end[2], along.depth)
    kept = jnp.where(leg.done, 0.0, leg.velocity)
    asked = jnp.stack([kept[0], kept[1], nothing])
    return along._replace(
        position=jnp.where(keeps, jnp.nan, position),
        velocity=jnp.where(keeps, asked, velocity),
        heading=jnp.where(keeps, jnp.nan, heading),
        course=jnp.where(keeps, jnp.nan, course),
        yaw_rate=jnp.where(keeps, kept[2], along.yaw_rate),
        depth=depth,
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


def _keep_clear(
    avoidance: Avoidance,
    memory: Any,
    believed: Estimate,
    wish: Setpoint,
    t: jax.Array,
    live: Contacts | None,
) -> tuple[Any, Setpoint]:
    """Another course and speed where something is in the way."""
    steered = jnp.where(jnp.isfinite(wish.course), wish.course, wish.heading)
    moving = jnp.isfinite(steered) & jnp.isfinite(wish.velocity[0])
    course = jnp.where(moving, steered, 0.0)
    speed = jnp.where(moving, wish.velocity[0], 0.0)
    memory, course, speed, info = avoiding.avoid(
        avoidance, memory, believed, course, speed, t, live
    )
    altered = info.altered & moving
    return memory, wish._replace(
        course=jnp.where(altered, course, wish.course),
        heading=jnp.where(altered, jnp.nan, wish.heading),
        velocity=wish.velocity.at[0].set(jnp.where(altered, speed, wish.velocity[0])),
    )
