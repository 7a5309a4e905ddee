"""Failsafes: what a vehicle watches while it is on a mission, and what it does when it is wrong.

Each has a count between 0 and 1 that rises while its cause is there and falls while it is not. It
is on from the time the count is full until it is empty. The gravest action of those that are on is
done: `failsafe_actions` says how.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.guidance import circling
from seatrial.gnc.guidance.circling import Circle
from seatrial.gnc.guidance.fence import signed_distance
from seatrial.gnc.mission import SURFACE, VELOCITY, Leg, Mission, Progress
from seatrial.gnc.types import Estimate
from seatrial.pytree import batched, pytree, static
from seatrial.signals import ACTIONS, FAILSAFES
from seatrial.spatial.gradients import root
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

SURE = 2.0
"""Standard deviations by which a fence is drawn in: 95 % of a normal error."""

WEAKEST = 0.1
"""Share of its wrench that a weak effector is left with at least: one that is never asked could not
be found well again."""

TELLING, PLAINLY = 0.75, 0.9
"""Share of what is missing, squared, that a single weak effector must tell; and that it must tell
where less is missing than the vehicle would notice."""

STILL = 0.2
"""Share of that which must be missing for it to stay found."""

LOST = 0.35
"""Share of its wrench that one must lack that is found by so little."""

FREE = 0.25
"""Of the radius of its circle, by which it must be farther within a fence before it goes on."""

LEAK_DELAY = 1.0
"""From the first water to the report of the leak detector, s."""

CODE = {word: code for code, word in ACTIONS.items()}


@pytree
class Monitors:
    """Actuators that are measured; numbers are (M, 1), orders in units of their channels."""

    low: jax.Array
    high: jax.Array
    dead_band: jax.Array
    """Orders below this are taken as zero."""
    share: jax.Array
    """Of the way to its order that a well actuator makes in a control period, 1 − exp(−Δt/T)."""
    most: jax.Array
    """Largest way in a control period."""
    tolerance: jax.Array
    rise: jax.Array
    """Of the count in a control period, and how much it falls."""
    fall: jax.Array
    channels: tuple[int, ...] = static()
    effectors: tuple[int, ...] = static()
    """Which effector of the allocation each belongs to."""


@pytree
class Answer:
    """By what the answer of a vehicle to its orders is judged, by degree of freedom that is looked
    at; numbers are (D, 1)."""

    mass: jax.Array
    """(D, 6) of the vehicle and the water that it carries along."""
    authority: jax.Array
    """Unit in which what is missing is counted: about the largest force or moment."""
    judged: jax.Array
    """1 where too much may be missing, 0 where it only tells what it is that is wrong."""
    most: jax.Array
    """Share of the authority that may be missing for long."""
    faint: jax.Array
    """Likewise, where it points plainly at one effector: infinite where other things do as well."""
    rise: jax.Array
    """Of the count of what is faint in a control period, and how much it falls."""
    fall: jax.Array
    time: jax.Array
    """Over which it is averaged, s."""
    share: jax.Array
    """1 − exp(−Δt/T) of that."""
    dofs: tuple[int, ...] = static()


@pytree
class Failsafes:
    """All of them, in the order of `signals.FAILSAFES`; those that are off have action 0."""

    action: jax.Array
    """(K, 1) codes of `signals.ACTIONS`."""
    rise: jax.Array
    """(K, 1) of the count in a control period."""
    fall: jax.Array
    """(K, 1) the same while the cause is away; 0 for one that stays once it has come."""
    deviation: jax.Array
    """Of the position that is too large, m."""
    charge: jax.Array
    """Of the battery that is too little."""
    depth: jax.Array = batched()
    """(N,) that is too large, m."""
    altitude: jax.Array
    """That is too small, m."""
    upright: jax.Array
    """Cosine of the tilt that is too large."""
    step: jax.Array
    """By which a leg must get shorter, m."""
    braking: jax.Array
    """Deceleration with which it can stop, m/s²."""
    slack: jax.Array
    """How far it drifts off a station before it comes back, m."""
    circle: Circle | None
    """On which it stays where it is; None for those that can stop."""
    unheard: jax.Array
    """(H, 1) what is assumed of the sensors before they are heard."""
    monitors: Monitors | None
    """Their measurements are the last that are heard."""
    answer: Answer
    ears: tuple[tuple[int, int], ...] = static()
    """(H,) which sensor of the suite is heard, and which of its numbers."""
    battery: int = static()
    """Row of what is heard; −1 without one. Likewise the altitude."""
    altimeter: int = static()
    link: tuple[int, ...] = static()
    """Rows of the faults in `FaultState.since`. Likewise water in the hull."""
    ingress: tuple[int, ...] = static()


class FailsafeState(NamedTuple):
    """What failsafes hand from one instant to the next."""

    counts: jax.Array
    """(K, N) from 0 to 1."""
    on: jax.Array
    """(K, N)."""
    action: jax.Array
    """(N,) that is done."""
    place: jax.Array
    """(3, N) where the vehicle was before an action took it off its mission."""
    centre: jax.Array
    """(2, N) of the circle that it could turn onto there."""
    leg: jax.Array
    """(N,) that is getting shorter."""
    closest: jax.Array
    """(N,) distance to its end when it last got shorter, m."""
    patient: jax.Array
    """(N,) until when the clock of its progress stands still, s."""
    heard: jax.Array
    """(H, N) newest numbers of the sensors that are listened to."""
    expected: jax.Array
    """(M, N) where well actuators would stand."""
    doubt: jax.Array
    """(M, N) count of each."""
    dead: jax.Array
    """(M, N) whether an actuator is left out."""
    stand: jax.Array
    """(S, N) states of all actuators, if they were well."""
    made: jax.Array
    """(E, D, N) what each effector would make of its orders if it were well, averaged."""
    acted: jax.Array
    """(D, N) all that acts on a vehicle that is well, averaged."""
    slow: jax.Array
    """(6, N) velocity through the water, averaged."""
    hint: jax.Array
    """(N,) count of what is faint."""
    hinted: jax.Array
    """(N,) whether it is full."""
    strength: jax.Array
    """(E, N) share of its wrench that each effector was last seen to make."""


def begin(
    failsafes: Failsafes,
    position: jax.Array,
    actuators: jax.Array,
    effectors: int,
    dtype: jnp.dtype,
) -> FailsafeState:
    """Nothing is wrong; the actuators stand as they are, (S, N)."""
    count, kinds = position.shape[-1], len(FAILSAFES)
    measured = 0 if failsafes.monitors is None else len(failsafes.monitors.channels)
    none = jnp.zeros((measured, count), dtype)
    return FailsafeState(
        counts=jnp.zeros((kinds, count), dtype),
        on=jnp.zeros((kinds, count), bool),
        action=jnp.zeros(count, jnp.int32),
        place=position,
        centre=position[:2],
        leg=jnp.full(count, -1, jnp.int32),
        closest=jnp.full(count, jnp.inf, dtype),
        patient=jnp.zeros(count),
        heard=jnp.broadcast_to(failsafes.unheard, (len(failsafes.ears), count)).astype(dtype),
        expected=none,
        doubt=none,
        dead=none.astype(bool),
        stand=actuators.astype(dtype),
        made=jnp.zeros((effectors, len(failsafes.answer.dofs), count), dtype),
        acted=jnp.zeros((len(failsafes.answer.dofs), count), dtype),
        slow=jnp.zeros((6, count), dtype),
        hint=jnp.zeros(count, dtype),
        hinted=jnp.zeros(count, bool),
        strength=jnp.ones((effectors, count), dtype),
    )


def off_mission(state: FailsafeState) -> jax.Array:
    """(N,) whether the action takes the vehicle off its mission."""
    return state.action >= CODE["hold"]


def compare(
    monitors: Monitors, state: FailsafeState, orders: jax.Array, armed: jax.Array
) -> FailsafeState:
    """Move what well actuators would do on by the last orders (A, N), and compare the real ones.

    A first-order lag with limits, x ← x + clip((1 − e^(−Δt/T)) (order − x)), as actuators are
    simulated; `armed` tells whether anybody wants to know.
    """
    told = orders[jnp.asarray(monitors.channels)]
    told = jnp.where(jnp.abs(told) < monitors.dead_band, 0.0, told)
    way = monitors.share * (jnp.clip(told, monitors.low, monitors.high) - state.expected)
    expected = state.expected + jnp.clip(way, -monitors.most, monitors.most)
    measured = state.heard[-len(monitors.channels) :]
    wrong = (jnp.abs(measured - expected) > monitors.tolerance) & armed
    doubt, dead = _counted(state.doubt, state.dead, wrong, monitors.rise, monitors.fall)
    return state._replace(expected=expected.astype(state.expected.dtype), doubt=doubt, dead=dead)


def listen(
    answer: Answer,
    state: FailsafeState,
    wrenches: jax.Array,
    acting: jax.Array,
    through_water: jax.Array,
) -> tuple[FailsafeState, jax.Array]:
    """Average what effectors are to make (E, 6, N), all that would act on a well vehicle (6, N),
    and what the vehicle does, and say what is missing, (D, N) as shares of the authority.

    With ⟨x⟩ the average by a first-order lag T, whose rate is (x − ⟨x⟩)/T, the wrench that is
    missing is ⟨τ⟩ − M (v − ⟨v⟩)/T: no acceleration is needed, and waves average out. A weak or
    stuck actuator, a fouled hull and a towed net all look like this.
    """
    rows = jnp.asarray(answer.dofs, int)
    slow = state.slow + answer.share * (through_water - state.slow)
    made = state.made + answer.share * (wrenches[:, rows] - state.made)
    acted = state.acted + answer.share * (acting[rows] - state.acted)
    needed = answer.mass @ (through_water - slow) / answer.time
    after = state._replace(
        made=made.astype(state.made.dtype),
        acted=acted.astype(state.acted.dtype),
        slow=slow.astype(state.slow.dtype),
    )
    return after, (acted - needed) / answer.authority


def unanswered(answer: Answer, missing: jax.Array) -> jax.Array:
    """(N,) whether too much is missing."""
    found: jax.Array = jnp.sum(answer.judged * missing * missing, axis=0) > answer.most**2
    return found


def judge(
    answer: Answer, state: FailsafeState, missing: jax.Array, trusted: jax.Array
) -> tuple[FailsafeState, jax.Array]:
    """Whether (N,) actuators do not answer, and which one is weak.

    That which is lacking of the wrench of one effector, x P with 0 ≤ x ≤ 1, is looked for in what
    is missing, by least squares; the effector that tells it best is the weak one, if it tells it
    well. What is missing of all alike is theirs too. What is missing for another reason (waves, a
    stream that the filter does not know of) is missing elsewhere as well, and is not their fault;
    nor is anything while the estimate is not to be `trusted` (N,).
    """
    part = state.made / answer.authority
    lost, rest = _told(part, missing)
    _, alike = _told(jnp.sum(part, axis=0)[None], missing)
    size = jnp.sum(missing * missing, axis=0)
    best = jnp.min(rest, axis=0)
    told = (best < (1.0 - TELLING) * size) & trusted
    alike_told = (alike[0] < (1.0 - TELLING) * size) & trusted
    # Of two that act alike the first takes it all: together they make the same.
    blamed = jnp.arange(len(rest))[:, None] == jnp.argmin(rest, axis=0)
    # One that is hardly asked any more shows little of itself.
    least = jnp.where(state.hinted, STILL * answer.faint, answer.faint)
    plain = trusted & (best < (1.0 - PLAINLY) * size) & (size > least * least)
    plain &= jnp.any(blamed & (lost > LOST), axis=0)
    hint, hinted = _counted(state.hint, state.hinted, plain, answer.rise, answer.fall)
    # What was seen of one that is not asked at all still holds.
    found = jnp.where(blamed, 1.0 - lost, 1.0)
    news = jnp.where(hinted, plain, told)
    strength = jnp.where(news, found, jnp.where(hinted, state.strength, 1.0))
    after = state._replace(hint=hint, hinted=hinted, strength=strength.astype(state.strength.dtype))
    return after, (unanswered(answer, missing) & (told | alike_told)) | hinted


def _told(part: jax.Array, missing: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What each of some wrenches (E, D, N) lacks, (E, N), and the square of what that leaves."""
    size = jnp.sum(part * part, axis=1)
    along = jnp.sum(part * missing, axis=1) / jnp.where(size > 0.0, size, 1.0)
    lost = jnp.clip(jnp.where(size > 0.0, along, 0.0), 0.0, 1.0 - WEAKEST)
    left = missing - lost[:, None] * part
    return lost, jnp.sum(left * left, axis=1)


def health_of(monitors: Monitors, state: FailsafeState, health: jax.Array) -> jax.Array:
    """Share (A, N) of its wrench that each effector makes, less what was found dead."""
    works = jnp.where(state.dead, 0.0, 1.0).astype(health.dtype)
    return health.at[jnp.asarray(monitors.effectors)].multiply(works)


def watch(
    failsafes: Failsafes,
    state: FailsafeState,
    mission: Mission,
    progress: Progress,
    leg: Leg,
    believed: Estimate,
    deviation: jax.Array,
    fence: jax.Array | None,
    broken: jax.Array,
    since: jax.Array | None,
    busy: jax.Array,
    t: jax.Array,
) -> FailsafeState:
    """Look for causes, and say what is to be done.

    `deviation` (N,) is that of the position, `broken` (N,) whether an actuator is known to be,
    `since` (F, N) when each fault set in, `busy` (N,) whether somebody outside drives.
    """
    nothing = jnp.zeros(deviation.shape, bool)
    away = leg.end - believed.position
    level, rises = away[0] * away[0] + away[1] * away[1], leg.kind == SURFACE
    upright = 0.0 if mission.flat else away[2] * away[2]
    if leg.altitude is not None:
        upright = jnp.where(jnp.isfinite(leg.altitude), 0.0, upright)
    distance = root(jnp.where(rises, 0.0, level) + upright)
    fresh = (progress.leg != state.leg) | busy
    waits = leg.done | (leg.kind == VELOCITY) | jnp.isfinite(progress.arrived)
    waits |= rises & (distance < leg.acceptance)
    shorter = fresh | waits | (distance < state.closest - failsafes.step)
    # Who was held up has the time that it takes to make good the way that it lost meanwhile.
    lost = jnp.maximum(distance - state.closest, 0.0)
    patient = jnp.where(off_mission(state), t + lost / leg.speed, state.patient)
    causes = {
        "position": deviation > failsafes.deviation,
        "fence": nothing
        if fence is None
        else _leaving(failsafes, fence, believed, deviation, state.on[FAILSAFES.index("fence")]),
        "link": t >= _onset(since, failsafes.link, nothing),
        "battery": nothing
        if failsafes.battery < 0
        else state.heard[failsafes.battery] < failsafes.charge,
        "ingress": t >= _onset(since, failsafes.ingress, nothing) + LEAK_DELAY,
        "depth": believed.position[2] > failsafes.depth,
        "altitude": nothing
        if failsafes.altimeter < 0
        else state.heard[failsafes.altimeter] < failsafes.altitude,
        "actuator": broken,
        "capsize": rotation(believed.attitude).r22 < failsafes.upright,
        "progress": ~shorter,
    }
    cause = jnp.stack([causes[name] for name in FAILSAFES]) & (failsafes.action > 0)
    counts, on = _counted(state.counts, state.on, cause, failsafes.rise, failsafes.fall)
    # Progress is forgotten at once, except where its lack is why a vehicle is off its mission.
    last = FAILSAFES.index("progress")
    stands = off_mission(state) | (t < patient)
    restarts = shorter & ~(state.on[last] & off_mission(state))
    count = jnp.where(stands, state.counts[last], counts[last])
    counts = counts.at[last].set(jnp.where(restarts, 0.0, count))
    on = on.at[last].set(jnp.where(stands, state.on[last], on[last]) & ~restarts)
    action = jnp.max(jnp.where(on, failsafes.action, 0), axis=0)
    after = state._replace(
        counts=counts,
        on=on,
        action=action.astype(jnp.int32),
        leg=progress.leg,
        closest=jnp.where(shorter, distance, state.closest).astype(state.closest.dtype),
        patient=patient.astype(state.patient.dtype),
    )
    stays = off_mission(after)
    centre = state.centre
    if failsafes.circle is not None:
        centre = circling.beside(failsafes.circle, fence, believed).astype(centre.dtype)
    return after._replace(
        place=jnp.where(stays, state.place, believed.position),
        centre=jnp.where(stays, state.centre, centre),
    )


def _onset(since: jax.Array | None, rows: tuple[int, ...], nothing: jax.Array) -> jax.Array:
    """When the first of some faults that are there set in, (N,); infinite while none is."""
    if since is None or not rows:
        return jnp.full(nothing.shape, jnp.inf)
    return jnp.min(since[jnp.asarray(rows)], axis=0)


def _counted(
    count: jax.Array, on: jax.Array, cause: jax.Array, rise: jax.Array, fall: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Counts after a control period, and what is on then."""
    counted = jnp.clip(jnp.where(cause, count + rise, count - fall), 0.0, 1.0).astype(count.dtype)
    return counted, jnp.where(on, counted > 0.0, counted >= 1.0)


def _leaving(
    failsafes: Failsafes, fence: jax.Array, believed: Estimate, deviation: jax.Array, on: jax.Array
) -> jax.Array:
    """Whether the place at which it could come to rest, x + v |v| / 2a, or the circle on which it
    could turn away may lie outside. Who had to turn away needs more room before it goes on."""
    margin = failsafes.slack + SURE * deviation
    leaving: jax.Array
    if failsafes.circle is not None:
        ahead, beside = circling.room(failsafes.circle, fence, believed)
        leaving = (ahead < margin) & (beside < margin)
        return leaving | (on & (beside < margin + FREE * failsafes.circle.radius))
    north, east, _ = rotation(believed.attitude).to_world(vec3(believed.velocity))
    reach = 0.5 * root(north * north + east * east) / failsafes.braking
    at_rest = believed.position[:2] + reach * jnp.stack([north, east])
    leaving = signed_distance(fence, at_rest) < margin
    return leaving
