"""What a pilot tells: to the record, and to a controller of the user's own in its place."""

from typing import Any

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.engine.command.belief import believed_by, through_water
from seatrial.engine.command.pilot import (
    Belief,
    LegInForce,
    Navigator,
    Outlook,
    Pilot,
    PilotState,
    Way,
)
from seatrial.gnc import mission as legs
from seatrial.gnc.guidance.track import track_errors
from seatrial.gnc.mission import TRACK
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.navigation.watching import SILENT, USED
from seatrial.spatial.rotations import to_euler


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
        through_water=through_water(believed),
        orders=memory.orders,
        health=way.health,
    )


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
    believed = believed_by(pilot, memory, state, dtype)
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
