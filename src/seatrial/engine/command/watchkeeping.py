"""What makes a pilot leave its mission: failsafes, broken effectors and a lost link."""

import jax
import jax.numpy as jnp

from seatrial.engine.command import answering
from seatrial.engine.command.belief import through_water
from seatrial.engine.command.pilot import Pilot, PilotState
from seatrial.gnc import failsafes as guarding
from seatrial.gnc import mission as legs
from seatrial.gnc.allocation import wrenches
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
) -> tuple[FailsafeState, jax.Array]:
    """Failsafes after this instant, and the health (A, N) of the effectors."""
    state, monitors, answer = memory.failsafes, pilot.failsafes.monitors, pilot.failsafes.answer
    dtype, row = believed.position.dtype, FAILSAFES.index("actuator")
    health = jnp.ones((len(pilot.effectors.names), *busy.shape), dtype)
    health = _reported(pilot, since, t, health)
    if monitors is not None:
        armed = pilot.failsafes.action[row] > 0
        state = guarding.compare(monitors, state, memory.orders, armed)
        health = guarding.health_of(monitors, state, health)
    through = through_water(believed)
    made = wrenches(pilot.effectors, through, memory.orders)
    stand = answering.follow(pilot.nominal, state.stand, memory.orders, pilot.period)
    through, acting = answering.acting(pilot.nominal, believed, through, stand)
    state = state._replace(stand=stand)
    state, missing = guarding.listen(answer, state, made, acting, through)
    spread = jnp.zeros_like(believed.position[0])
    if pilot.navigator is not None:
        spread = navigation.spread(memory.filter).astype(spread.dtype)
    trusted = spread < pilot.failsafes.deviation
    state, weak = guarding.judge(answer, state, missing, trusted)
    works = jnp.all(health > 0.0, axis=0)
    # Of one that is dead it is not known what it still does: then nobody else is blamed.
    health = jnp.where(state.on[row] & works, state.strength, health)
    state = guarding.watch(
        pilot.failsafes,
        state,
        pilot.mission,
        progress,
        leg,
        believed,
        spread,
        pilot.fence,
        ~works | weak,
        since,
        busy,
        t,
    )
    return state, health


def _reported(pilot: Pilot, since: jax.Array | None, t: jax.Array, health: jax.Array) -> jax.Array:
    """Health (A, N) less that of effectors that are reported to be of no use."""
    if since is None:
        return health
    for alarm in pilot.alarms:
        reported = t >= since[alarm.fault] + alarm.delay
        health = health.at[alarm.effector].multiply(jnp.where(reported, 0.0, 1.0))
    return health


def link_lost(pilot: Pilot, since: jax.Array | None) -> jax.Array | bool:
    """(N,) whether nobody outside is heard."""
    rows = pilot.failsafes.link
    return False if since is None or not rows else jnp.isfinite(since[jnp.asarray(rows)]).any(0)
