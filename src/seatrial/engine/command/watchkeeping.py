"""What makes a pilot leave its mission: failsafes, broken effectors and a lost link."""

import jax
import jax.numpy as jnp

from seatrial.engine.command.belief import through_water
from seatrial.engine.command.pilot import Pilot, PilotState
from seatrial.gnc import failsafes as guarding
from seatrial.gnc import mission as legs
from seatrial.gnc.failsafes import FailsafeState
from seatrial.gnc.navigation import dispatch as navigation
from seatrial.gnc.types import Estimate
from seatrial.signals import FAILSAFES


def guard(
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
        pilot.failsafes.answer, state, memory.achieved, through_water(believed)
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
    rows = pilot.failsafes.link
    return False if since is None or not rows else jnp.isfinite(since[jnp.asarray(rows)]).any(0)
