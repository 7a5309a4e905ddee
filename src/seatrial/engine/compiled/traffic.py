"""Who is about: the vehicles of a run as they see each other, and who touches whom."""

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core.types import State, Traffic
from seatrial.engine.compiled.suite import Fitted
from seatrial.gnc.avoidance.contacts import Targets, contacts
from seatrial.pytree import pytree
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.vectors import vec3

CIRCLES = 7
"""A hull's outline is covered by so many circles of its beam along its length."""


def looks_out(suite: tuple[Fitted, ...]) -> bool:
    """Whether a sensor looks for other vehicles."""
    return any(fitted.contacts for fitted in suite)


@pytree
class Passing:
    """Vessels on a timetable, which no physics moves."""

    targets: Targets
    """For one who looks."""
    length: jax.Array
    """(K,) m; 0 for a row that stands for nobody."""
    beam: jax.Array
    """(K,) m."""


def everybody(
    states: list[State], sizes: list[jax.Array], passing: Passing | None, t: jax.Array
) -> list[Traffic | None]:
    """All vehicles of some groups, and vessels on a timetable, as each of the groups sees them."""
    counts = [state.position.shape[-1] for state in states]
    wide = jnp.float64
    velocity = [jnp.stack(rotation(s.attitude).to_world(vec3(s.velocity))) for s in states]
    length, beam = (
        jnp.concatenate([jnp.full(n, size[i]) for n, size in zip(counts, sizes, strict=True)])
        for i in (0, 1)
    )
    total = sum(counts)
    seen = Traffic(
        position=jnp.concatenate([s.position.astype(wide) for s in states], axis=1),
        attitude=jnp.concatenate([s.attitude.astype(wide) for s in states], axis=1),
        velocity=jnp.concatenate([v.astype(wide) for v in velocity], axis=1),
        heading=jnp.concatenate([to_euler(s.attitude)[2].astype(wide) for s in states]),
        length=length.astype(wide),
        beam=beam.astype(wide),
        identity=jnp.arange(1, total + 1),
        own=jnp.arange(total),
    )
    if passing is not None:
        seen = _with(seen, passing, t)
    firsts = np.concatenate([[0], np.cumsum(counts)])
    return [
        seen._replace(own=jnp.arange(first, first + count))
        for first, count in zip(firsts[:-1], counts, strict=True)
    ]


def _with(seen: Traffic, passing: Passing, t: jax.Array) -> Traffic:
    others = contacts(passing.targets, t)
    (north, east), (along, across) = others.position[..., 0], others.velocity[..., 0]
    zero = jnp.zeros_like(north)
    there = passing.length > 0.0
    heading = bearing(across, along)
    upright = jnp.stack([jnp.cos(0.5 * heading), zero, zero, jnp.sin(0.5 * heading)])
    number = seen.identity.shape[0] + 1 + jnp.arange(north.shape[0])
    return Traffic(
        position=jnp.concatenate([seen.position, jnp.stack([north, east, zero])], axis=1),
        attitude=jnp.concatenate([seen.attitude, upright], axis=1),
        velocity=jnp.concatenate([seen.velocity, jnp.stack([along, across, zero])], axis=1),
        heading=jnp.concatenate([seen.heading, heading]),
        length=jnp.concatenate([seen.length, passing.length]),
        beam=jnp.concatenate([seen.beam, passing.beam]),
        identity=jnp.concatenate([seen.identity, jnp.where(there, number, 0)]),
        own=seen.own,
    )


def touching(traffic: Traffic) -> jax.Array:
    """Which of the vehicles that look, (N,), touch another one.

    Outlines are rows of circles of the vehicle's beam; heights are taken to be as large as beams.
    """
    spread = jnp.linspace(-1.0, 1.0, CIRCLES)[:, None]
    along = 0.5 * jnp.maximum(traffic.length - traffic.beam, 0.0) * spread
    north = traffic.position[0] + along * jnp.cos(traffic.heading)
    east = traffic.position[1] + along * jnp.sin(traffic.heading)
    mine = traffic.own
    reach = 0.5 * (traffic.beam[mine, None] + traffic.beam)
    dn = north[:, mine, None, None] - north.T[None, None]
    de = east[:, mine, None, None] - east.T[None, None]
    near = jnp.min(dn * dn + de * de, axis=(0, 3)) < reach * reach
    deep = traffic.position[2]
    level = jnp.abs(deep[mine, None] - deep) < reach
    other = (mine[:, None] != jnp.arange(traffic.beam.shape[0])) & (traffic.identity > 0)
    return jnp.any(near & level & other, axis=1)
