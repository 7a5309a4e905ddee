"""How the filter finds its sensors: heard, silent, stale, frozen or rejected."""

from typing import Any

import jax
import jax.numpy as jnp

from seatrial.gnc.navigation.aiding import POSITION, Aid
from seatrial.gnc.navigation.aids.directions import Attitude, Field, Heading
from seatrial.gnc.navigation.aids.places import Fix, Ranges
from seatrial.gnc.navigation.state import Filter, Heard, NavState
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

UNHEARD, USED, REJECTED, FROZEN, STALE, SILENT = range(6)
"""How the filter finds a sensor (`signals.HEALTH`)."""


def hear(
    before: Heard,
    values: jax.Array,
    there: jax.Array,
    limit: jax.Array,
    waited: float,
    age: jax.Array | float | None = None,
) -> Heard:
    """Memory of a sensor after a sample where one is `there`, else after `waited` seconds more."""
    same = jnp.where(jnp.all(values == before.values, axis=0), before.same + 1, 0)
    old = (
        jnp.zeros(there.shape, bool) if age is None else jnp.broadcast_to(age, there.shape) > limit
    )
    return Heard(
        values=jnp.where(there, values, before.values),
        same=jnp.where(there, same, before.same),
        quiet=jnp.where(there, 0.0, before.quiet + waited),
        stale=jnp.where(there, old, before.stale),
        idle=before.idle + waited,
    )


def quiet_for(state: NavState, aid: Aid, quiet: jax.Array) -> jax.Array:
    """Time since a sensor was heard, which does not count while its antenna is wet."""
    if not isinstance(aid, Fix | Ranges) or aid.antenna is None:
        return quiet
    depth = state.position[2] + rotation(state.attitude).to_world(vec3(aid.arm))[2]
    deviation = jnp.sqrt(state.covariance[POSITION + 2, POSITION + 2])
    return jnp.where(aid.antenna.awash(depth, deviation), -aid.antenna.delay, quiet)


def unheard(size: int, count: int, dtype: Any) -> Heard:
    """Memory of a sensor that has said nothing yet."""
    return Heard(
        jnp.full((size, count), jnp.nan, dtype),
        jnp.zeros(count, jnp.int32),
        jnp.full(count, jnp.inf, dtype),
        jnp.zeros(count, bool),
        jnp.zeros(count, dtype),
    )


def unsteered(filter: Filter, state: NavState) -> jax.Array:
    """(N,) whether no sensor tells where the vehicle heads."""
    lost = jnp.ones(state.started.shape, bool)
    for aid, heard in zip(filter.aids[: filter.sensors], state.heard, strict=True):
        if isinstance(aid, Attitude | Field | Heading):
            lost &= (heard.quiet > aid.test.silence) | (heard.same >= aid.test.still) | heard.stale
    return lost


def doubted(filter: Filter, state: NavState) -> jax.Array:
    """(N,) whether at least two witnesses, and half as many as sensors are heard, are against it:
    then the filter itself, or its IMU, is more likely to be wrong than each of them. A receiver
    under water has no voice.

    Witnesses are the sensors, and what the vehicle knows of itself: where a fix and the vehicle's
    own dynamics both contradict an accelerometer, no compass would.
    """
    none = jnp.zeros(state.started.shape, jnp.int32)
    isolated = [jnp.any(gate.isolated, axis=0) for gate in state.gates]
    sensors, known = isolated[: filter.sensors], isolated[filter.sensors :]
    against = sum(sensors, none)
    if known:
        against = against + jnp.any(jnp.stack(known), axis=0)
    heard = sum((jnp.isfinite(h.quiet) & (h.quiet >= 0.0) for h in state.heard), none)
    return (against >= 2) & (2 * against >= heard)


def outvoted(filter: Filter, state: NavState, index: int) -> jax.Array:
    """(N,) whether the aid at `index` and all others that are heard of its kind, at least one, are
    against the filter: two pressure sensors rarely fail together."""
    kind = type(filter.aids[index])
    alike = [i for i in range(filter.sensors) if type(filter.aids[i]) is kind]
    none = jnp.zeros(state.started.shape, jnp.int32)
    speaking = [state.heard[i].quiet <= filter.aids[i].test.silence for i in alike]
    against = [jnp.any(state.gates[i].isolated, axis=0) for i in alike]
    voices = sum(speaking, none)
    dissent = sum((s & a for s, a in zip(speaking, against, strict=True)), none)
    return (dissent >= 2) & (dissent == voices)


def health(filter: Filter, state: NavState) -> jax.Array:
    """(1 + sensors, N) how the IMU and every sensor among the aids are found, `signals.HEALTH`."""
    silent = jnp.asarray(SILENT)
    found = [jnp.where(state.missing == 0, USED, jnp.where(state.imu.quiet > 0.0, silent, FROZEN))]
    for aid, heard, gate in zip(filter.aids, state.heard, state.gates, strict=False):
        code = jnp.where(jnp.any(gate.isolated, axis=0), REJECTED, USED)
        code = jnp.where(heard.stale, STALE, code)
        code = jnp.where(heard.same >= aid.test.still, FROZEN, code)
        code = jnp.where(heard.quiet > aid.test.silence, SILENT, code)
        wet = heard.quiet < 0.0
        found.append(jnp.where(wet | jnp.isinf(heard.quiet), UNHEARD, code))
    return jnp.stack(found)
