"""Two vessels meet, a thousand times over: does anybody collide, and is the right side given?

The vessels are the size of the Otter and answer like it: first-order responses of yaw rate and
speed with limits. Each wants to follow its own straight track by line of sight. All encounters are
one batch, drawn with a fixed seed; in one set both vessels run the avoidance, in a second one the
other vessel keeps its course and speed whatever happens.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.gnc.avoidance import Avoidance, AvoidanceState, Contacts, avoid, begin
from seatrial.gnc.avoidance.roles import ABAFT, AHEAD, NONE, PATIENCE, RECIPROCAL, STAND_ON
from seatrial.gnc.types import Estimate
from seatrial.programs import compile_program
from seatrial.seeding import generator
from seatrial.spatial.rotations import from_euler

Array = NDArray[np.float64]

SEED = 1972
"""The year of the rules. Weights and thresholds were settled on other seeds."""
ENCOUNTERS = 1000
HEAD_ON, STARBOARD, PORT, OVERTAKING, OVERTAKEN = KINDS = (
    "head-on",
    "crossing from starboard",
    "crossing from port",
    "overtaking",
    "being overtaken",
)

LENGTH, BEAM = 2.0, 1.08
RADIUS = float(np.hypot(LENGTH, BEAM))
"""Of a safety circle: twice the one around the hull, m."""
CLEARANCE = 10.0
SPEEDS = (0.8, 3.0)
"""m/s; the Otter's top speed is 6 kn."""

YAW_RATE_LIMIT = 0.25
"""From the Otter's full helm, 41 N m, against N_r and N_|r|r, rad/s."""
YAW_TIME = 1.0
SPEED_TIME = 1.0
"""(m − X_u̇)/−X_u is 0.8 s; the propellers add to it."""
ACCELERATION_LIMIT = 0.5
COURSE_GAIN = 0.5
LOOKAHEAD = 20.0

STEP = 0.1
STEPS_PER_SAMPLE = 10
DURATION = 220.0
HORIZON = 60.0
"""Time before the meeting at which there is a risk of collision, s; it tells the kind."""
MEETING = (HORIZON, 2.0 * HORIZON)
"""Time from the start until the vessels would meet if nobody acted, s."""
OFFSET = 0.8 * (2.0 * RADIUS + CLEARANCE)
"""Largest distance at which they would then pass, m."""
LEAST_RANGE = 40.0
"""At the start, m: whoever meets closer has been there before."""


@dataclass(frozen=True)
class Encounters:
    """M pairs of vessels; the first one of each is the vessel that `kind` is told from."""

    kind: NDArray[np.str_]
    """(M,) of `KINDS`."""
    start: Array
    """(2, 2, M) north and east of both vessels, m."""
    course: Array
    """(2, M) rad."""
    speed: Array
    """(2, M) m/s."""


@dataclass(frozen=True)
class Voyages:
    """What became of the encounters."""

    encounters: Encounters
    passive: bool
    """Whether the second vessel kept its course and speed."""
    time: Array
    """(T,) s."""
    track: Array
    """(T, 2, 2, M) north and east of both vessels, m."""
    closest: Array
    """(M,) m."""
    altered: NDArray[np.bool_]
    """(2, M) whether a vessel departed from her wish in the encounter."""
    to_port: NDArray[np.bool_]
    """(2, M) whether one that stood on altered to port for a vessel on her port side."""


def kind_of(place: Array, course: Array) -> NDArray[np.str_]:
    """Kind of encounter by rules 13 to 15, from the second vessel's place seen from the first.

    Written apart from the rules that the vessels follow on board.
    """
    bearing = np.arctan2(place[1], place[0])
    seen = np.angle(np.exp(1j * (bearing - course[0])))
    aspect = np.angle(np.exp(1j * (bearing + np.pi - course[1])))
    reciprocal = np.abs(np.angle(-np.exp(1j * (course[1] - course[0])))) <= RECIPROCAL
    ahead = np.maximum(np.abs(seen), np.abs(aspect)) <= AHEAD
    return np.select(
        [np.abs(aspect) > ABAFT, np.abs(seen) > ABAFT, reciprocal & ahead, seen > 0.0],
        [OVERTAKING, OVERTAKEN, HEAD_ON, STARBOARD],
        PORT,
    )


def draw_encounters(count: int, seed: int = SEED) -> Encounters:
    """As many of each kind: courses, speeds, time and distance of the meeting at random."""
    random = generator(seed, "colregs")
    quota = {kind: len(range(i, count, len(KINDS))) for i, kind in enumerate(KINDS)}
    found: list[Encounters] = []
    while any(quota.values()):
        drawn = _draw(random, 4096)
        for kind in KINDS:
            chosen = np.flatnonzero(drawn.kind == kind)[: quota[kind]]
            quota[kind] -= len(chosen)
            found.append(_take(drawn, chosen))
    return Encounters(
        np.concatenate([f.kind for f in found]),
        *(np.concatenate([getattr(f, n) for f in found], -1) for n in ("start", "course", "speed")),
    )


def _draw(random: np.random.Generator, count: int) -> Encounters:
    course = random.uniform(-np.pi, np.pi, (2, count))
    # Of uniform courses few are nearly reciprocal or nearly the same.
    like = random.uniform(size=count)
    spread = random.uniform(-0.35, 0.35, count)
    course[1] = np.where(like < 0.2, course[0] + np.pi + spread, course[1])
    course[1] = np.where(like > 0.7, course[0] + 3.0 * spread, course[1])
    speed = random.uniform(*SPEEDS, (2, count))
    velocity = speed * np.stack([np.cos(course), np.sin(course)])
    closing = velocity[:, 0] - velocity[:, 1]
    fast = np.linalg.norm(closing, axis=0)
    aside = np.stack([-closing[1], closing[0]]) / fast
    aside = aside * random.uniform(-OFFSET, OFFSET, count)
    place = closing * random.uniform(*MEETING, count) + aside
    usable = (fast > 0.4) & (np.linalg.norm(place, axis=0) > LEAST_RANGE)
    start = np.stack([np.zeros((2, count)), place], axis=1)
    kind = np.where(usable, kind_of(closing * HORIZON + aside, course), "")
    return Encounters(kind, start, course, speed)


def _take(encounters: Encounters, chosen: Any) -> Encounters:
    e = encounters
    return Encounters(
        e.kind[chosen], e.start[..., chosen], e.course[..., chosen], e.speed[..., chosen]
    )


class Craft(NamedTuple):
    """Vessels; of encounters (2 M,): the first ones, then the second ones."""

    place: jax.Array
    """(2, N) north and east, m."""
    heading: jax.Array
    """(N,) rad."""
    speed: jax.Array
    """(N,) m/s."""
    yaw_rate: jax.Array
    """(N,) rad/s."""


def run_encounters(encounters: Encounters, passive: bool) -> Voyages:
    """Sail all of them as one batch."""
    with jax.enable_x64(True):
        pairs = encounters.kind.size
        start = Craft(
            jnp.asarray(encounters.start.reshape(2, 2 * pairs)),
            jnp.asarray(encounters.course.ravel()),
            jnp.asarray(encounters.speed.ravel()),
            jnp.zeros(2 * pairs),
        )
        obeys = jnp.asarray(np.repeat([True, not passive], pairs))
        program = compile_program(jax.jit(_sail), settings(), start, obeys)
        track, closest, altered, to_port = (
            np.asarray(a) for a in program(settings(), start, obeys)
        )
    return Voyages(
        encounters=encounters,
        passive=passive,
        time=np.arange(len(track), dtype=np.float64) * (STEP * STEPS_PER_SAMPLE),
        track=track.reshape(-1, 2, 2, pairs),
        closest=closest,
        altered=altered.reshape(2, pairs),
        to_port=to_port.reshape(2, pairs),
    )


def settings() -> Avoidance:
    """Avoidance of a vessel like the Otter."""
    return Avoidance(
        radius=jnp.asarray(RADIUS),
        clearance=jnp.asarray(CLEARANCE),
        horizon=jnp.asarray(HORIZON),
        shape_horizon=jnp.asarray(30.0),
        reaction=jnp.asarray(20.0),
        patience=jnp.asarray(PATIENCE),
        lag=jnp.asarray(YAW_TIME),
        turn_rate=jnp.asarray(0.6 * YAW_RATE_LIMIT),
        targets=None,
        circles=None,
        polygons=None,
        period=1.0,
    )


def _sail(
    avoidance: Avoidance, start: Craft, obeys: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Tracks (T, 2, 2M), closest distances (M,), who altered at all and who to port (2M,)."""
    vessels = start.heading.size
    pairs = vessels // 2
    track_course, wanted_speed = start.heading, start.speed
    along = jnp.stack([jnp.cos(track_course), jnp.sin(track_course)])

    def step(i: jax.Array, carry: Any) -> Any:
        first, craft, memory, closest, phase, altered, to_port = carry
        off = craft.place - start.place
        aside = along[0] * off[1] - along[1] * off[0]
        wish = track_course + jnp.arctan(-aside / LOOKAHEAD)
        velocity = craft.speed * jnp.stack([jnp.cos(craft.heading), jnp.sin(craft.heading)])
        plot = Contacts(
            jnp.roll(craft.place, pairs, axis=1)[:, None],
            jnp.roll(velocity, pairs, axis=1)[:, None],
            jnp.full((1, vessels), RADIUS),
            jnp.ones((1, vessels), jnp.int32),
        )
        t = (first + i) * STEP
        memory, course, speed, info = avoid(
            avoidance, memory, estimate_of(craft), wish, wanted_speed, t, plot
        )
        craft = move(
            craft,
            jnp.where(obeys, course, track_course),
            jnp.where(obeys, speed, wanted_speed),
        )
        apart = craft.place[:, :pairs] - craft.place[:, pairs:]
        # 0 before the encounter, 1 in it, 2 after it: who meets again later has a new one.
        engaged = info.roles[0] != NONE
        phase = jnp.where((phase == 0) & engaged, 1, jnp.where((phase == 1) & ~engaged, 2, phase))
        acts = obeys & info.altered & (phase < 2)
        other = plot.position[:, 0] - craft.place
        on_port = velocity[0] * other[1] - velocity[1] * other[0] < 0.0
        port = (
            acts & on_port & (info.roles[0] == STAND_ON) & (jnp.sin(course - track_course) < -0.01)
        )
        return (
            first,
            craft,
            memory,
            jnp.minimum(closest, jnp.sqrt(jnp.sum(apart**2, axis=0))),
            phase,
            altered | acts,
            to_port | port,
        )

    def sample(carry: Any, first: jax.Array) -> tuple[Any, jax.Array]:
        seen = carry[0].place
        _, *carry = jax.lax.fori_loop(0, STEPS_PER_SAMPLE, step, (first, *carry))
        return tuple(carry), seen

    memory: AvoidanceState = begin(avoidance, vessels, live=1)
    nobody = jnp.zeros(vessels, bool)
    phase = jnp.zeros(vessels, jnp.int32)
    carry = (start, memory, jnp.full(pairs, jnp.inf), phase, nobody, nobody)
    samples = round(DURATION / (STEP * STEPS_PER_SAMPLE))
    (_, _, closest, _, altered, to_port), track = jax.lax.scan(
        sample, carry, STEPS_PER_SAMPLE * jnp.arange(samples)
    )
    return track, closest, altered, to_port


def estimate_of(craft: Craft) -> Estimate:
    """What the vessels know of themselves: everything."""
    zero = jnp.zeros_like(craft.speed)
    return Estimate(
        position=jnp.stack([craft.place[0], craft.place[1], zero]),
        attitude=from_euler(zero, zero, craft.heading),
        velocity=jnp.stack([craft.speed, zero, zero, zero, zero, craft.yaw_rate]),
        current=jnp.zeros((3, craft.speed.size)),
    )


def move(craft: Craft, course: jax.Array, speed: jax.Array) -> Craft:
    """One step: T ṙ + r = K (χ_d − χ) and T u̇ = u_d − u, both with limits."""
    turn = jnp.arctan2(jnp.sin(course - craft.heading), jnp.cos(course - craft.heading))
    rate = jnp.clip(COURSE_GAIN * turn, -YAW_RATE_LIMIT, YAW_RATE_LIMIT)
    yaw_rate = craft.yaw_rate + STEP * (rate - craft.yaw_rate) / YAW_TIME
    gain = jnp.clip((speed - craft.speed) / SPEED_TIME, -ACCELERATION_LIMIT, ACCELERATION_LIMIT)
    heading = craft.heading + STEP * yaw_rate
    faster = craft.speed + STEP * gain
    step = STEP * faster * jnp.stack([jnp.cos(heading), jnp.sin(heading)])
    return Craft(craft.place + step, heading, faster, yaw_rate)
