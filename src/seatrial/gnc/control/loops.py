"""The loops an autopilot is made of: speed, heading, depth, attitude, position.

Every loop turns what is asked, or NaN where nothing is, into a force or moment and its memory. A
loop that is not asked for is idle: its memory is cleared, and it starts again from where the
vehicle is then.
"""

from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from seatrial.gnc.control import pid as pids
from seatrial.gnc.control import wave_filter
from seatrial.gnc.control.pid import Pid, PidMemory, pid
from seatrial.gnc.control.reference import Reference, plan
from seatrial.gnc.control.sliding import SlidingMode, slide
from seatrial.gnc.control.wave_filter import WaveFilter
from seatrial.pytree import pytree
from seatrial.spatial.gradients import root
from seatrial.spatial.trig import wrap_signed

Kept = TypeVar("Kept")

STEADY = 0.1
"""Share of the largest rate of turn at which a loop learns half as fast as on a straight course."""

WOUND = 0.25
"""Share of the largest pitch of a dive that the integrals of depth and pitch may ask for by
themselves."""

AFLOAT = 1.1
"""Depth over that at which it floats, up to which a vehicle counts as held by the surface."""


@pytree
class FeedForward:
    """m v̇ + d v + d₂ |v| v: what the model says a motion takes."""

    mass: jax.Array
    linear: jax.Array
    quadratic: jax.Array

    def force(self, rate: jax.Array, acceleration: jax.Array) -> jax.Array:
        """Force or moment of a motion."""
        return self.mass * acceleration + (self.linear + self.quadratic * jnp.abs(rate)) * rate


@pytree
class Righting:
    """What brings a tilted craft back: k (x − x₀)."""

    stiffness: jax.Array
    """N m per rad."""
    trim: jax.Array
    """Angle at which the bias holds it, rad."""


@pytree
class Speed:
    """Speed along, or rate about, a body axis: PI control with the drag fed forward."""

    pid: Pid
    feed_forward: FeedForward
    bandwidth: jax.Array
    """Of the reference model, rad/s."""
    acceleration_limit: jax.Array


class SpeedMemory(NamedTuple):
    """Memory of a speed loop; the reference is NaN while the loop is idle."""

    pid: PidMemory
    reference: jax.Array


def begin_speed(like: jax.Array) -> SpeedMemory:
    """Idle."""
    return SpeedMemory(pids.begin(jnp.zeros_like(like)), jnp.full_like(like, jnp.nan))


def follow_speed(
    loop: Speed,
    memory: SpeedMemory,
    target: jax.Array,
    measured: jax.Array,
    water: jax.Array | float,
    shortfall: jax.Array,
    period: float,
) -> tuple[SpeedMemory, jax.Array]:
    """One period; `water` is the speed of the water along the same axis."""
    asked = jnp.isfinite(target)
    reference = jnp.where(jnp.isfinite(memory.reference), memory.reference, measured)
    limit = loop.acceleration_limit
    change = loop.bandwidth * (jnp.where(asked, target, measured) - reference)
    change = jnp.clip(change, -limit, limit)
    reference = reference + period * change
    error = reference - measured
    inner, force = pid(loop.pid, memory.pid, error, -measured, shortfall, period)
    force = force + loop.feed_forward.force(reference - water, change)
    kept = SpeedMemory(inner, reference)
    return _when(asked, kept, begin_speed(measured)), jnp.where(asked, force, 0.0)


def steadiness(rate: jax.Array, limits: Reference) -> jax.Array:
    """1 on a straight course, 1/2 at the rate of turn `STEADY`, near 0 in a full turn."""
    return 1.0 / (1.0 + (rate / (STEADY * limits.rate_limit)) ** 2)


@pytree
class TrackingLoop:
    """An angle or a depth: a reference model, feed-forward and a law on the error."""

    law: Pid | SlidingMode
    feed_forward: FeedForward
    reference: Reference
    bias: jax.Array
    """Force or moment that holds the vehicle in trim."""
    righting: Righting | None = None
    filter: WaveFilter | None = None


class TrackingState(NamedTuple):
    """Memory of a tracking loop; the reference is NaN while the loop is idle."""

    pid: PidMemory
    value: jax.Array
    rate: jax.Array
    filter: jax.Array | None
    """(3, 2, N) of error and rate."""


def begin_track(loop: TrackingLoop, like: jax.Array) -> TrackingState:
    """Idle."""
    zero = jnp.zeros_like(like)
    filter = None if loop.filter is None else wave_filter.begin(jnp.stack([zero, zero]))
    return TrackingState(pids.begin(zero), jnp.full_like(like, jnp.nan), zero, filter)


def follow_track(
    loop: TrackingLoop,
    memory: TrackingState,
    target: jax.Array,
    target_rate: jax.Array,
    measured: jax.Array,
    rate: jax.Array,
    shortfall: jax.Array,
    period: float,
    *,
    angle: bool,
    rests: bool = False,
) -> tuple[TrackingState, jax.Array]:
    """One period; an `angle` goes the short way round.

    An integral that `rests` in a turn does not learn what that takes beyond the feed-forward, which
    is not there any more when it ends, and would carry the vehicle past its course.
    """
    around = wrap_signed if angle else _plain
    asked = jnp.isfinite(target)
    running = jnp.isfinite(memory.value)
    value = jnp.where(running, memory.value, measured)
    speed = jnp.where(running, memory.rate, rate)
    ahead = jnp.where(jnp.isfinite(target_rate), target_rate, 0.0)
    distance = around(jnp.where(asked, target, measured) - value)
    planned = plan(loop.reference, value, speed, distance, ahead, period)
    error, error_rate = around(planned.value - measured), planned.rate - rate
    filtered = memory.filter
    if loop.filter is not None and filtered is not None:
        both = jnp.stack([error, error_rate])
        filtered, (error, error_rate) = wave_filter.smooth(loop.filter, filtered, both, period)
    model = loop.feed_forward
    if isinstance(loop.law, Pid):
        learning = steadiness(planned.rate, loop.reference) if rests else 1.0
        inner, force = pid(loop.law, memory.pid, error, error_rate, shortfall, period, learning)
    else:
        damping = model.linear + model.quadratic * jnp.abs(planned.rate)
        inner, force = slide(
            loop.law, memory.pid, error, error_rate, shortfall, model.mass, damping, period
        )
    force = force + model.force(planned.rate, planned.acceleration) + loop.bias
    if loop.righting is not None:
        force = force + loop.righting.stiffness * (planned.value - loop.righting.trim)
    kept = TrackingState(inner, around(planned.value), planned.rate, filtered)
    return _when(asked, kept, begin_track(loop, measured)), jnp.where(asked, force, 0.0)


@pytree
class Dive:
    """Depth by pitch: ḋ = w cos θ − u sin θ, so the pitch sets the rate of the depth.

    θ_d = θ_0 − (ḋ_r + K (d_r − d) + I) / u within a limit; the pitch loop follows θ_d.
    """

    proportional: jax.Array
    """K, 1/s."""
    integral: jax.Array
    """1/s²."""
    reference: Reference
    pitch_limit: jax.Array
    """To either side of the trim, rad."""
    least_speed: jax.Array
    """Speeds below this count as this, m/s."""
    trim_pitch: jax.Array
    """θ_0 of level flight, rad."""
    awash: jax.Array
    """Depth down to which the surface may hold it, m."""
    floats: jax.Array
    """Depth at which it lies afloat, m: as far up as it comes."""
    pitch: TrackingLoop


class DiveMemory(NamedTuple):
    """Memory of the cascade; the reference is NaN while no depth is asked for."""

    integral: jax.Array
    """m/s."""
    value: jax.Array
    rate: jax.Array
    pitch: TrackingState


def begin_dive(loop: Dive, like: jax.Array) -> DiveMemory:
    """Idle."""
    zero = jnp.zeros_like(like)
    return DiveMemory(zero, jnp.full_like(like, jnp.nan), zero, begin_track(loop.pitch, like))


def follow_dive(
    loop: Dive,
    memory: DiveMemory,
    target: jax.Array,
    target_rate: jax.Array,
    pitch_asked: jax.Array,
    depth: jax.Array,
    depth_rate: jax.Array,
    surge: jax.Array,
    pitch: jax.Array,
    pitch_rate: jax.Array,
    shortfall: jax.Array,
    period: float,
) -> tuple[DiveMemory, jax.Array]:
    """One period. Without a depth the pitch that is asked for is held, or that of level flight."""
    asked = jnp.isfinite(target)
    running = jnp.isfinite(memory.value)
    value = jnp.where(running, memory.value, depth)
    rate = jnp.where(running, memory.rate, depth_rate)
    distance = jnp.where(asked, target, depth) - value
    ahead = jnp.where(jnp.isfinite(target_rate), target_rate, 0.0)
    planned = plan(loop.reference, value, rate, distance, ahead, period)
    # Higher than it floats it cannot come.
    error = jnp.maximum(planned.value - depth, jnp.minimum(loop.floats - depth, 0.0))
    speed = jnp.maximum(surge, loop.least_speed)
    climb = planned.rate + loop.proportional * error + memory.integral
    free = -climb / speed
    limit = loop.pitch_limit
    # While the pitch is at its limit the integral rests.
    growth = jnp.where(jnp.abs(free) < limit, loop.integral * error, 0.0)
    level = jnp.where(jnp.isfinite(pitch_asked), pitch_asked - loop.trim_pitch, 0.0)
    wanted = loop.trim_pitch + jnp.clip(jnp.where(asked, free, level), -limit, limit)
    still = jnp.zeros_like(wanted)
    inner, moment = follow_track(
        loop.pitch, memory.pitch, wanted, still, pitch, pitch_rate, shortfall, period, angle=False
    )
    # Nor does it grow for ever while something else, the surface, keeps the vehicle from diving.
    most = WOUND * limit * speed
    integral = jnp.clip(memory.integral + period * growth, -most, most)
    inner = inner._replace(pid=_within(inner.pid, _most_moment(loop, limit, depth)))
    # One that is to be at the surface, and is, learns nothing there of how it flies: it forgets
    # what it knew, but that a hull which the water bears does not need the moment of its trim.
    rests = asked & (planned.value <= loop.awash) & (depth <= AFLOAT * loop.floats)
    forgets = jnp.where(rests, -jnp.expm1(-period * loop.proportional), 0.0)
    integral = integral - forgets * integral
    learnt = inner.pid.integral - forgets * (inner.pid.integral + loop.pitch.bias)
    inner = inner._replace(pid=inner.pid._replace(integral=learnt))
    kept = DiveMemory(integral, planned.value, planned.rate, inner)
    cleared = begin_dive(loop, depth)._replace(pitch=inner)
    return _when(asked, kept, cleared), moment


def _most_moment(loop: Dive, limit: jax.Array, depth: jax.Array) -> jax.Array:
    """Largest moment that the integral of the pitch may ask for, N m: what holds the largest pitch
    of a dive, and what a share of that as an error asks for.

    At the surface waves and a lack of water keep a vehicle from pitching down; what its pitch loop
    learnt of that would take it down for long after it has got under. One that lies awash does not
    fly at its trim either: against the moment of that, which it is still given, the integral may
    ask for as much, until it is under.
    """
    held = loop.pitch.righting.stiffness if loop.pitch.righting is not None else 0.0
    asked = loop.pitch.law.proportional if isinstance(loop.pitch.law, Pid) else 0.0
    lies_awash = jnp.clip(2.0 * (1.0 - depth / loop.awash), 0.0, 1.0)
    return (held + WOUND * asked) * limit + lies_awash * jnp.abs(loop.pitch.bias)


def _within(memory: PidMemory, most: jax.Array) -> PidMemory:
    return memory._replace(integral=jnp.clip(memory.integral, -most, most))


@pytree
class Station:
    """Position in the horizontal plane: PID with the integral in world axes.

    The current that the integral stands for does not turn with the vehicle (Fossen 2021, 15.3).
    """

    surge: Pid
    sway: Pid
    surge_forward: FeedForward
    sway_forward: FeedForward
    reference: Reference
    filter: WaveFilter | None = None


class StationMemory(NamedTuple):
    """Memory of station keeping, (2, N) north and east; NaN while idle."""

    integral: jax.Array
    """N."""
    value: jax.Array
    rate: jax.Array
    filter: jax.Array | None
    """(3, 4, N) of errors and rates."""


def begin_station(loop: Station, like: jax.Array) -> StationMemory:
    """Idle; `like` is (N,)."""
    zero = jnp.zeros((2, *like.shape), like.dtype)
    filter = None if loop.filter is None else wave_filter.begin(jnp.concatenate([zero, zero]))
    return StationMemory(zero, jnp.full_like(zero, jnp.nan), zero, filter)


def hold_station(
    loop: Station,
    memory: StationMemory,
    target: jax.Array,
    fastest: jax.Array,
    position: jax.Array,
    velocity: jax.Array,
    water: jax.Array,
    heading: jax.Array,
    shortfall: jax.Array,
    period: float,
) -> tuple[StationMemory, jax.Array]:
    """One period: surge and sway force (2, N).

    `target`, `position` and `velocity` are (2, N) north and east, `water` (the current) and
    `shortfall` surge and sway. What the current does is fed forward, lest the vehicle drift until
    the integral has found it. `fastest` (N,) limits the speed on the way there; NaN does not.
    """
    asked = jnp.all(jnp.isfinite(target), axis=0)
    running = jnp.isfinite(memory.value)
    value = jnp.where(running, memory.value, position)
    rate = jnp.where(running, memory.rate, velocity)
    distance = jnp.where(asked, target, position) - value
    share = jnp.abs(distance) / (root(jnp.sum(distance * distance, axis=0)) + 1e-9)
    most = jnp.where(jnp.isfinite(fastest), fastest * share, jnp.inf)
    reference = loop.reference
    slower = Reference(
        reference.bandwidth,
        jnp.minimum(reference.rate_limit, most),
        reference.acceleration_limit,
    )
    planned = plan(slower, value, rate, distance, 0.0, period)
    error, error_rate = planned.value - position, planned.rate - velocity
    filtered = memory.filter
    if loop.filter is not None and filtered is not None:
        signals = jnp.concatenate([error, error_rate])
        filtered, signals = wave_filter.smooth(loop.filter, filtered, signals, period)
        error, error_rate = signals[:2], signals[2:]
    c, s = jnp.cos(heading), jnp.sin(heading)

    def to_body(v: jax.Array) -> tuple[jax.Array, jax.Array]:
        return c * v[0] + s * v[1], c * v[1] - s * v[0]

    errors, rates, holding = to_body(error), to_body(error_rate), to_body(memory.integral)
    speeds, pushes = to_body(planned.rate), to_body(planned.acceleration)
    forces, growth = [], []
    for i, (gains, model) in enumerate(
        ((loop.surge, loop.surge_forward), (loop.sway, loop.sway_forward))
    ):
        inner = PidMemory(holding[i], rates[i])
        after, force = pid(gains, inner, errors[i], rates[i], shortfall[i], period)
        forces.append(force + model.force(speeds[i] - water[i], pushes[i]))
        growth.append(after.integral)
    integral = jnp.stack([c * growth[0] - s * growth[1], s * growth[0] + c * growth[1]])
    kept = StationMemory(integral, planned.value, planned.rate, filtered)
    force = jnp.where(asked, jnp.stack(forces), 0.0)
    return _when(asked, kept, begin_station(loop, heading)), force


def _plain(value: jax.Array) -> jax.Array:
    return value


def _when(asked: jax.Array, kept: Kept, cleared: Kept) -> Kept:
    result: Kept = jax.tree.map(lambda a, b: jnp.where(asked, a, b), kept, cleared)
    return result
