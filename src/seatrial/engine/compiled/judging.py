"""Whose run has ended, and why: judged after every control period, whoever drives the engine."""

from dataclasses import replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from seatrial.core.contact import penetration
from seatrial.core.types import Model, State, Traffic
from seatrial.engine.compiled.touches import Touch
from seatrial.engine.compiled.traffic import touching
from seatrial.ocean import Ocean
from seatrial.pytree import pytree, static
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

RUNNING, DIVERGED, GROUNDED, CAPSIZED, COLLIDED, FAILED = 0, 1, 2, 3, 4, 5
STATUS = {
    RUNNING: "completed",
    DIVERGED: "diverged",
    GROUNDED: "grounded",
    CAPSIZED: "capsized",
    COLLIDED: "collided",
    FAILED: "failed",
}

CAPSIZED_AFTER = 5.0
"""A vehicle that has been upside down for so long does not come back by itself, s: a boat that
is rolled over by a breaker and rights itself does so within a few seconds."""

MOST_SPIN = 100.0
"""No marine vehicle turns faster than this, rad/s: a thousand revolutions per minute."""

AnyCarry = TypeVar("AnyCarry", bound=Any)


@pytree
class Limits:
    """Beyond which a vehicle has ended."""

    speed: jax.Array
    """No vehicle of this kind goes faster in this sea, m/s."""
    spin: jax.Array
    """Nor turns faster, rad/s."""
    stop_when_grounded: bool = static()
    stop_when_capsized: bool = static()
    collision: jax.Array | None
    """Impulse of touches in one control period beyond which it has collided, N s; None where any
    touch of another vehicle or of a solid is one."""
    stop_when_collided: bool = static()


def judge(
    limits: Limits,
    model: Model,
    ocean: Ocean,
    before: AnyCarry,
    after: AnyCarry,
    period: float,
    traffic: Traffic | None = None,
) -> tuple[AnyCarry, jax.Array]:
    """Keep vehicles that diverged at their last good state, and those that ended where they are, at
    rest.

    Also returns which vehicles moved in this control period, (N,).
    """
    state: State = after.state
    sane = jnp.all(jnp.abs(state.velocity[:3]) < limits.speed, axis=0)
    sane &= jnp.all(jnp.abs(state.velocity[3:]) < limits.spin, axis=0)
    for part in jax.tree.leaves(state):
        sane &= jnp.all(jnp.isfinite(part), axis=0)
    running = before.status == RUNNING
    moved = running & sane
    kept = jax.tree.map(lambda new, old: jnp.where(moved, new, old), after, before)
    status = jnp.where(running & ~sane, DIVERGED, before.status)
    if model.contact is not None and ocean.seabed is not None and limits.stop_when_grounded:
        state = kept.state
        into = penetration(
            model.contact, ocean.seabed, vec3(state.position), rotation(state.attitude)
        )
        status = jnp.where(moved & (into > 0.0), GROUNDED, status)
    if limits.stop_when_collided:
        status = jnp.where(moved & _collided(limits, kept.touch, traffic), COLLIDED, status)
    if kept.controller is not None:
        status = jnp.where(moved & kept.controller.failed, FAILED, status)
    upset = kept.upset
    if limits.stop_when_capsized:
        down = rotation(kept.state.attitude).r22
        upset = jnp.where(down < 0.0, upset + jnp.where(moved, period, 0.0), 0.0)
        over = upset > CAPSIZED_AFTER - 1e-9
        status = jnp.where(moved & over, CAPSIZED, status)
    # Others see and touch her still: one that stays where she is makes no way.
    still = (status != RUNNING) & (status != DIVERGED)
    state = replace(kept.state, velocity=jnp.where(still, 0.0, kept.state.velocity))
    return kept._replace(state=state, status=status.astype(jnp.int32), upset=upset), moved


def _collided(limits: Limits, touch: tuple[Touch, ...], traffic: Traffic | None) -> jax.Array:
    """(N,) who has run into another vehicle or a solid, hard enough where a limit is set."""
    assert traffic is not None
    blow = sum((kind.blow for kind in touch), jnp.zeros(traffic.own.shape))
    return touching(traffic) | (blow > 0.0) if limits.collision is None else blow > limits.collision
