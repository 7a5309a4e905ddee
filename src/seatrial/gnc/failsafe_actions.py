"""What is done about a failsafe: the leg that guidance follows is exchanged for another, and the
autopilot is none the wiser."""

import jax
import jax.numpy as jnp

from seatrial.gnc.failsafes import CODE, Failsafes, FailsafeState, off_mission
from seatrial.gnc.guidance import circling
from seatrial.gnc.mission import DOCK, HOLD, SURFACE, TRACK, Leg, Mission
from seatrial.gnc.types import Estimate
from seatrial.signals import FAILSAFES

SLOW = 0.5
"""Share of the speed at which a slowed vehicle goes on."""


def adrift(state: FailsafeState) -> jax.Array:
    """(N,) whether it is to stay or return, and does not know where it is.

    To steer by an estimate that drifts moves the vehicle as far as the estimate; one that lets
    itself drift goes with current and wind only. At its fence it had better steer, and is sure to
    95 % that it is within.
    """
    asked = (state.action == CODE["hold"]) | (state.action == CODE["return"])
    on = {name: state.on[FAILSAFES.index(name)] for name in ("position", "fence")}
    return asked & on["position"] & ~on["fence"]


def obey(
    failsafes: Failsafes,
    state: FailsafeState,
    mission: Mission,
    leg: Leg,
    believed: Estimate,
    top: jax.Array,
) -> Leg:
    """The leg to follow: that of the mission, slower, or a station or a circle in its place.

    `top` (N,) tells whether a vehicle that is to surface has no way left to go up.
    """
    action = state.action
    surfaces, returns = action == CODE["surface"], action == CODE["return"]
    away = off_mission(state)
    end = jnp.where(returns, mission.start[0], state.place)
    end = end.at[2].set(jnp.where(surfaces, 0.0, end[2]))
    # A berth is approached no faster than the leg says; a station would be at any speed.
    kind = jnp.where(surfaces, jnp.where(top, HOLD, SURFACE), DOCK)
    start, last = state.place, jnp.ones_like(away)
    if failsafes.circle is not None:
        rounds = action == CODE["hold"]
        places = circling.tangent(failsafes.circle, state.centre, believed)
        start, end = (
            jnp.where(rounds, other.at[:2].set(place), other)
            for other, place in zip((start, end), places, strict=True)
        )
        kind, last = jnp.where(rounds, TRACK, kind), ~rounds
    return leg._replace(
        kind=jnp.where(away, kind, leg.kind),
        start=jnp.where(away, start, leg.start),
        end=jnp.where(away, end, leg.end),
        following=jnp.where(away, end, leg.following),
        speed=jnp.where(action == CODE["slow"], SLOW * leg.speed, leg.speed),
        heading=jnp.where(away, jnp.nan, leg.heading),
        last=jnp.where(away, last, leg.last),
        done=leg.done & ~away,
        altitude=None if leg.altitude is None else jnp.where(away, jnp.nan, leg.altitude),
    )
