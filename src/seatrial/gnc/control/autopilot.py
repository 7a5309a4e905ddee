"""The autopilot: what guidance asks and navigation knows become a demanded wrench.

Parts that a vehicle cannot use are None. A quantity that is not asked for (NaN) is left alone,
except that roll and pitch are kept level where the vehicle controls them.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.control.loops import (
    Dive,
    DiveMemory,
    Speed,
    SpeedMemory,
    Station,
    StationMemory,
    TrackingLoop,
    TrackingState,
    begin_dive,
    begin_speed,
    begin_station,
    begin_track,
    follow_dive,
    follow_speed,
    follow_track,
    hold_station,
    steadiness,
)
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.pytree import pytree
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import vec3

SLOW = 0.1
"""Speed over ground below which there is no course to speak of, m/s."""

MOST_CRAB = 1.0
"""Largest crab angle that is steered, rad: a stronger cross current cannot be mastered anyway."""


@pytree
class Autopilot:
    """Loops with gains over speed: every array of a part is (S,) over `speeds`."""

    speeds: jax.Array
    """(S,) speeds through the water for which the gains hold, increasing, m/s."""
    surge: Speed | None
    sway: Speed | None
    heave: Speed | None
    yaw_rate: Speed | None
    heading: TrackingLoop | None
    crab_time: jax.Array | None
    """(S,) time constant with which a course loop learns the crab angle, s."""
    depth: TrackingLoop | Dive | None
    roll: TrackingLoop | None
    pitch: TrackingLoop | None
    station: Station | None
    most_surge: jax.Array | None = None
    """(S,) largest surge force of a craft that it would tilt too far, N; None without a limit."""
    most_sway: jax.Array | None = None
    """(S,) the same of sway."""
    roll_coupling: jax.Array | None = None
    """(S,) rolling moment per product of sway and heave, kg, where roll is kept level."""
    pitch_coupling: jax.Array | None = None
    """(S,) pitching moment per product of surge and heave, kg."""

    @property
    def follows(self) -> tuple[str, ...]:
        """What may be asked of it, by the names of a Setpoint's parts."""
        parts = {
            "surge": self.surge,
            "sway": self.sway,
            "heave": self.heave,
            "yaw_rate": self.yaw_rate,
            "heading": self.heading,
            "course": self.heading,
            "depth": self.depth,
            "pitch": self.depth.pitch if isinstance(self.depth, Dive) else self.pitch,
            "position": self.station,
        }
        return tuple(name for name, part in parts.items() if part is not None)


class AutopilotState(NamedTuple):
    """What one period hands to the next; vehicles last in every array."""

    demand: jax.Array
    """(6, N) last demanded wrench."""
    crab: jax.Array
    """(N,) angle from heading to course, rad."""
    surge: SpeedMemory | None
    sway: SpeedMemory | None
    heave: SpeedMemory | None
    yaw_rate: SpeedMemory | None
    heading: TrackingState | None
    depth: TrackingState | DiveMemory | None
    roll: TrackingState | None
    pitch: TrackingState | None
    station: StationMemory | None


class _Motion(NamedTuple):
    """What the loops need of an Estimate."""

    euler: jax.Array
    velocity: jax.Array
    world: jax.Array
    """(3, N) velocity over ground, NED."""
    water: jax.Array
    """(3, N) velocity of the water, body axes."""


def begin(autopilot: Autopilot, count: int, dtype: Any) -> AutopilotState:
    """Memory of an idle autopilot for `count` vehicles."""
    zero = jnp.zeros(count, dtype)
    depth: TrackingState | DiveMemory | None = None
    if isinstance(autopilot.depth, Dive):
        depth = begin_dive(autopilot.depth, zero)
    elif autopilot.depth is not None:
        depth = begin_track(autopilot.depth, zero)
    speed = begin_speed(zero)
    return AutopilotState(
        demand=jnp.zeros((6, count), dtype),
        crab=zero,
        surge=speed if autopilot.surge is not None else None,
        sway=speed if autopilot.sway is not None else None,
        heave=speed if autopilot.heave is not None else None,
        yaw_rate=speed if autopilot.yaw_rate is not None else None,
        heading=begin_track(autopilot.heading, zero) if autopilot.heading is not None else None,
        depth=depth,
        roll=begin_track(autopilot.roll, zero) if autopilot.roll is not None else None,
        pitch=begin_track(autopilot.pitch, zero) if autopilot.pitch is not None else None,
        station=begin_station(autopilot.station, zero) if autopilot.station is not None else None,
    )


def control(
    autopilot: Autopilot,
    memory: AutopilotState,
    setpoint: Setpoint,
    estimate: Estimate,
    achieved: jax.Array,
    period: float,
) -> tuple[AutopilotState, jax.Array]:
    """Memory and demanded wrench (6, N) in body axes after one period, s.

    `achieved` (6, N) is what allocation made of the last demand; zero at the beginning.
    """
    motion = _motion(estimate)
    gains = at_speed(autopilot, jnp.abs(motion.velocity[0] - motion.water[0]))
    short = achieved - memory.demand
    surge, sway, memory = _along(gains, memory, setpoint, estimate, motion, short, period)
    heave, pitch, memory = _vertical(gains, memory, setpoint, estimate, motion, short, period)
    yaw, memory = _turn(gains, memory, setpoint, motion, short[5], period)
    roll = jnp.zeros_like(yaw)
    if gains.roll is not None and memory.roll is not None:
        angle, rate, level = motion.euler[0], motion.velocity[3], jnp.zeros_like(yaw)
        kept, roll = follow_track(
            gains.roll, memory.roll, level, level, angle, rate, short[3], period, angle=True
        )
        memory = memory._replace(roll=kept)
    if isinstance(memory.depth, TrackingState):
        # Down is not along the body's own axis while it is tilted.
        nothing = jnp.zeros_like(heave)
        down = jnp.stack(rotation(estimate.attitude).to_body((nothing, nothing, heave)))
        surge, sway, heave = surge + down[0], sway + down[1], down[2]
        # What the flow will do to a craft that sinks or rises as planned, before it tilts it.
        # No faster than the design goes, lest a wrong velocity upset it.
        fastest = autopilot.speeds[-1]
        through = jnp.clip(motion.velocity[:2] - motion.water[:2], -fastest, fastest)
        sinking = jnp.where(jnp.isfinite(memory.depth.value), memory.depth.rate, 0.0)
        if gains.roll_coupling is not None:
            roll = roll - gains.roll_coupling * through[1] * sinking
        if gains.pitch_coupling is not None:
            pitch = pitch - gains.pitch_coupling * through[0] * sinking
    demand = jnp.stack([surge, sway, heave, roll, pitch, yaw])
    # The memory holds what the loops asked for, so that a limit counts as a shortfall.
    memory = memory._replace(demand=demand)
    if isinstance(gains.depth, Dive):
        # Fins lose their grip, and a propeller its wear, where it is reversed for every wave.
        ahead = setpoint.velocity[0] > 0.0
        demand = demand.at[0].set(jnp.where(ahead, jnp.maximum(surge, 0.0), surge))
    if gains.most_surge is not None:
        pushes = [demand[0] / gains.most_surge]
        if gains.most_sway is not None:
            pushes.append(demand[1] / gains.most_sway)
        # Ahead and aside at once tilt it too.
        over = jnp.maximum(root(sum(push * push for push in pushes)), 1.0)
        demand = demand.at[:2].divide(over)
    return memory, demand


def at_speed(autopilot: Autopilot, speed: jax.Array) -> Autopilot:
    """Gains (N,) for speeds (N,): linear between those of the design, constant beyond them."""
    leaves, structure = jax.tree.flatten(autopilot)
    table = jnp.stack(leaves)  # (P, S)
    grid = autopilot.speeds
    count = table.shape[1]
    if count == 1:
        mixed = jnp.broadcast_to(table, (table.shape[0], *speed.shape))
    else:
        share = jnp.clip((speed - grid[:-1, None]) / (grid[1:] - grid[:-1])[:, None], 0.0, 1.0)
        mixed = table[:, :1]
        for k in range(count - 1):
            mixed = mixed + (table[:, k + 1] - table[:, k])[:, None] * share[k]
    result: Autopilot = jax.tree.unflatten(structure, list(mixed))
    return result


def _motion(estimate: Estimate) -> _Motion:
    turned = rotation(estimate.attitude)
    velocity = estimate.velocity
    return _Motion(
        to_euler(estimate.attitude),
        velocity,
        jnp.stack(turned.to_world(vec3(velocity))),
        jnp.stack(turned.to_body(vec3(estimate.current))),
    )


def _along(
    gains: Autopilot,
    memory: AutopilotState,
    setpoint: Setpoint,
    estimate: Estimate,
    motion: _Motion,
    short: jax.Array,
    period: float,
) -> tuple[jax.Array, jax.Array, AutopilotState]:
    """Surge and sway: a position where one is asked for, otherwise speeds."""
    forces = jnp.zeros_like(short[:2])
    held = jnp.zeros(short.shape[1:], bool)
    if gains.station is not None and memory.station is not None:
        held = jnp.all(jnp.isfinite(setpoint.position[:2]), axis=0)
        kept, forces = hold_station(
            gains.station,
            memory.station,
            setpoint.position[:2],
            setpoint.velocity[0],
            estimate.position[:2],
            motion.world[:2],
            motion.water[:2],
            motion.euler[2],
            short[:2],
            period,
        )
        memory = memory._replace(station=kept)
    surge, sway = forces[0], forces[1]
    free = jnp.where(held, jnp.nan, setpoint.velocity)
    if gains.surge is not None and memory.surge is not None:
        after, push = follow_speed(
            gains.surge,
            memory.surge,
            free[0],
            motion.velocity[0],
            motion.water[0],
            short[0],
            period,
        )
        memory, surge = memory._replace(surge=after), surge + push
    if gains.sway is not None and memory.sway is not None:
        # Level: a craft that rolls with the waves while it heaves drifts by the mean of w sin φ,
        # however well it holds the velocity along its own axis.
        c, s = jnp.cos(motion.euler[2]), jnp.sin(motion.euler[2])
        aside = c * motion.world[1] - s * motion.world[0]
        after, push = follow_speed(
            gains.sway, memory.sway, free[1], aside, motion.water[1], short[1], period
        )
        memory, sway = memory._replace(sway=after), sway + push
    return surge, sway, memory


def _vertical(
    gains: Autopilot,
    memory: AutopilotState,
    setpoint: Setpoint,
    estimate: Estimate,
    motion: _Motion,
    short: jax.Array,
    period: float,
) -> tuple[jax.Array, jax.Array, AutopilotState]:
    """Heave force and pitching moment."""
    depth, rate = estimate.position[2], motion.world[2]
    target = jnp.where(jnp.isfinite(setpoint.depth), setpoint.depth, setpoint.position[2])
    heave = pitch = jnp.zeros_like(depth)
    angle, turning = motion.euler[1], motion.velocity[4]
    if isinstance(gains.depth, Dive) and isinstance(memory.depth, DiveMemory):
        dived, pitch = follow_dive(
            gains.depth,
            memory.depth,
            setpoint.depth,
            setpoint.velocity[2],
            setpoint.pitch,
            depth,
            rate,
            motion.velocity[0] - motion.water[0],
            angle,
            turning,
            short[4],
            period,
        )
        memory = memory._replace(depth=dived)
    elif isinstance(gains.depth, TrackingLoop) and isinstance(memory.depth, TrackingState):
        sinking = setpoint.velocity[2]
        followed, heave = follow_track(
            gains.depth, memory.depth, target, sinking, depth, rate, short[2], period, angle=False
        )
        memory = memory._replace(depth=followed)
    if gains.heave is not None and memory.heave is not None:
        wanted = jnp.where(jnp.isfinite(target), jnp.nan, setpoint.velocity[2])
        moved, push = follow_speed(
            gains.heave,
            memory.heave,
            wanted,
            motion.velocity[2],
            motion.water[2],
            short[2],
            period,
        )
        memory, heave = memory._replace(heave=moved), heave + push
    if gains.pitch is not None and memory.pitch is not None:
        level = jnp.where(jnp.isfinite(setpoint.pitch), setpoint.pitch, 0.0)
        still = jnp.zeros_like(level)
        kept, pitch = follow_track(
            gains.pitch, memory.pitch, level, still, angle, turning, short[4], period, angle=False
        )
        memory = memory._replace(pitch=kept)
    return heave, pitch, memory


def _turn(
    gains: Autopilot,
    memory: AutopilotState,
    setpoint: Setpoint,
    motion: _Motion,
    short: jax.Array,
    period: float,
) -> tuple[jax.Array, AutopilotState]:
    """Yawing moment: a heading, else a course, else a rate of turn."""
    moment = jnp.zeros_like(short)
    steered = jnp.zeros(short.shape, bool)
    heading, rate = motion.euler[2], motion.velocity[5]
    if gains.heading is not None and memory.heading is not None and gains.crab_time is not None:
        # By trial: what vehicles that fins steer learn in a turn carries them past the next leg; a
        # ship that does not learn there ends up beside hers.
        rests, crab_time = isinstance(gains.depth, Dive), gains.crab_time
        if rests:
            crab_time = crab_time / steadiness(rate, gains.heading.reference)
        target, crab = _heading_for(setpoint, motion, memory.crab, crab_time, period)
        steered = jnp.isfinite(target)
        turned, moment = follow_track(
            gains.heading,
            memory.heading,
            target,
            setpoint.yaw_rate,
            heading,
            rate,
            short,
            period,
            angle=True,
            rests=rests,
        )
        memory = memory._replace(heading=turned, crab=crab)
    if gains.yaw_rate is not None and memory.yaw_rate is not None:
        wanted = jnp.where(steered, jnp.nan, setpoint.yaw_rate)
        spun, push = follow_speed(gains.yaw_rate, memory.yaw_rate, wanted, rate, 0.0, short, period)
        memory, moment = memory._replace(yaw_rate=spun), moment + push
    return moment, memory


def _heading_for(
    setpoint: Setpoint, motion: _Motion, crab: jax.Array, crab_time: jax.Array, period: float
) -> tuple[jax.Array, jax.Array]:
    """Heading to steer, and the crab angle between heading and course that it allows for.

    The crab angle is learnt slowly: the sideslip of a turn is not to be steered against. Without
    way on the vehicle has no course, and its heading is steered.
    """
    north, east = motion.world[0], motion.world[1]
    way = root(north * north + east * east)
    seen = wrap_signed(bearing(east, jnp.where(way > 0, north, 1.0)) - motion.euler[2])
    seen = jnp.clip(seen, -MOST_CRAB, MOST_CRAB)
    faith = jnp.clip(way / SLOW - 1.0, 0.0, 1.0)
    crab = crab - jnp.expm1(-period / crab_time) * wrap_signed(faith * seen - crab)
    by_course = wrap_signed(setpoint.course - crab)
    return jnp.where(jnp.isfinite(setpoint.heading), setpoint.heading, by_course), crab
