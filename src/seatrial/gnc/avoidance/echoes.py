"""Solids that no chart knows: where the beams of ranging sensors end, kept for a while.

An echo at the place a + r b of the body lies at p + R (a + r b) on the map, with p and R as they
were when it came. Nobody knows what it comes from; it is taken as a point that stands still. Echoes
that are higher or deeper than the vehicle are none of its business. Of all that are younger than
`memory` the nearest in each of `SECTORS` sectors of bearing is kept: a sonar with a narrow fan so
knows of what lies beside it by what it saw ahead.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

SECTORS = 72
"""Of bearing, 5° each: 0.9 m apart at 10 m."""
NOWHERE = 1e7
"""Where an echo is put that is not there, m: too far to matter to anybody."""


@pytree
class Eye:
    """A ranging sensor that looks for solids."""

    arm: jax.Array
    """(3,) its place in the body frame, m."""
    beams: jax.Array | None
    """(B, 3) unit vectors in body axes, whose ranges a sample begins with, 0 for nothing; None for
    a dense sensor, of which somebody outside the loop tells `SECTORS` places in body axes."""
    place: int = static()
    """Of the sensor in the suite."""
    box: int = static()
    """How many samples may be on their way at once."""


@pytree
class Sight:
    """What a vehicle sees solids with."""

    memory: jax.Array
    """For how long an echo is believed, s."""
    above: jax.Array
    below: jax.Array
    """Heights and depths from the vehicle's origin within which echoes are in its way, m."""
    margin: jax.Array
    """Wanted between an echo and the vehicle's own circle, m."""
    eyes: tuple[Eye, ...]


class Told(NamedTuple):
    """The last sample of a dense sensor that has arrived."""

    places: jax.Array
    """(3, SECTORS, N) body axes as they were then, m; 0 for nothing."""
    late: jax.Array
    """(SECTORS, N) when each was heard, from the stamp on, s."""
    stamp: jax.Array
    """(N,) when it was taken, s; −∞ before the first."""


class Echoes(NamedTuple):
    """The nearest echo in every sector."""

    place: jax.Array
    """(2, SECTORS, N) north and east, m."""
    stamp: jax.Array
    """(SECTORS, N) when it was heard, s; −∞ for none."""
    heard: jax.Array
    """(E, N) when the last sample of each eye was taken that has been taken in, s."""


def begin(sight: Sight, vehicles: int, dtype: jnp.dtype) -> Echoes:
    """Nothing is known."""
    return Echoes(
        place=jnp.full((2, SECTORS, vehicles), NOWHERE, dtype),
        stamp=jnp.full((SECTORS, vehicles), -jnp.inf),
        heard=jnp.full((len(sight.eyes), vehicles), -jnp.inf),
    )


def places(eye: Eye, ranges: jax.Array) -> jax.Array:
    """(3, B, N) where the beams of a sample (D, N) end, body axes; 0 where they meet nothing."""
    assert eye.beams is not None
    lengths = ranges[: eye.beams.shape[0]]
    ends = eye.arm[:, None, None] + lengths * eye.beams.T[:, :, None]
    return jnp.where(lengths > 0.0, ends, 0.0)


def take_in(
    sight: Sight,
    number: int,
    believed: Estimate,
    t: jax.Array,
    echoes: Echoes,
    found: jax.Array,
    stamp: jax.Array,
    fresh: jax.Array,
    late: jax.Array | None = None,
) -> Echoes:
    """The echoes with those at `found` (3, B, N) of eye `number`, seen at `stamp` (N,), where that
    sample is `fresh` (N,); of a sweep each so much `late` (B, N), not above 0."""
    turned = rotation(believed.attitude)
    moving = turned.to_world(vec3(believed.velocity))
    age = jnp.where(fresh, t - stamp, 0.0).astype(found.dtype)
    if late is not None:
        age = age - late
    away = turned.to_world(vec3(found))
    # Back then the vehicle was elsewhere and headed elsewhere.
    back = -age * believed.velocity[5]
    c, s = jnp.cos(back), jnp.sin(back)
    north = c * away[0] - s * away[1] - age * moving[0]
    east = s * away[0] + c * away[1] - age * moving[1]
    down = away[2] - age * moving[2]
    there = jnp.any(found != 0.0, axis=0) & fresh & (down >= -sight.above) & (down <= sight.below)
    own = believed.position[:2, None]
    old = echoes.place - own
    all_north = jnp.concatenate([old[0], jnp.asarray(north)])
    all_east = jnp.concatenate([old[1], jnp.asarray(east)])
    stamps = jnp.concatenate([echoes.stamp, jnp.where(there, stamp, -jnp.inf)])
    known = t - stamps <= sight.memory
    far = jnp.where(known, root(all_north**2 + all_east**2), jnp.inf)
    turns = jnp.mod(bearing(all_east, all_north) / (2.0 * math.pi), 1.0)
    sector = jnp.minimum((turns * SECTORS).astype(jnp.int32), SECTORS - 1)
    inside = (sector == np.arange(SECTORS)[:, None, None]) & known  # (SECTORS, M, N)
    reach = jnp.where(inside, far, jnp.inf)
    nearest = jnp.min(reach, axis=1)
    some = jnp.isfinite(nearest)
    chosen = inside & (reach == nearest[:, None])
    # Two that are as near are one wall: the first of them will do.
    chosen = chosen & (jnp.cumsum(chosen, axis=1) == 1)

    def picked(values: jax.Array, nothing: float) -> jax.Array:
        summed = jnp.sum(jnp.where(chosen, values, 0.0), axis=1)
        return jnp.where(some, summed, nothing)

    dtype = echoes.place.dtype
    place = jnp.stack([picked(all_north, 0.0), picked(all_east, 0.0)]) + own
    kept = Echoes(
        place=jnp.where(some, place, NOWHERE).astype(dtype),
        stamp=picked(stamps, -jnp.inf),
        heard=echoes.heard,
    )
    # Whoever heard nothing new keeps what it had to the last bit.
    heard = jnp.where(fresh, stamp, echoes.heard[number])
    return Echoes(
        place=jnp.where(fresh, kept.place, echoes.place),
        stamp=jnp.where(fresh, kept.stamp, echoes.stamp),
        heard=echoes.heard.at[number].set(heard),
    )


def in_the_way(sight: Sight, echoes: Echoes, t: jax.Array) -> jax.Array:
    """(2, SECTORS, N) the echoes that are believed now."""
    known = t - echoes.stamp <= sight.memory
    return jnp.where(known, echoes.place, NOWHERE)
