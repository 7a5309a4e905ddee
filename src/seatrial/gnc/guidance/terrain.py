"""Terrain following: what ranging beams tell of the bottom, and the depth that keeps an altitude.

The bottom near the vehicle is taken as a plane, its depth D below the vehicle and how that grows
towards north and east, g. A beam along the unit vector b that is r long from the place a of its
sensor ends on it, at the way e = R (a + r b) from the vehicle:

    z + e_d = D + g_n e_n + g_e e_e + error

A Kalman filter keeps (D, g_n, g_e). Between samples the vehicle moves on, D ← D + g · Δx, and the
slope is a first-order Gauss–Markov process over the distance: deviation σ, correlation length L. By
that model the bottom departs from the plane by the variance 2/3 σ² x³ / L at the distance x, which
a beam that ends there has as noise beside its own. An innovation counts with at most five of its
standard deviations, so that a wrong range does little harm and a cliff is still believed.

A vehicle answers late, so where the bottom rises it keeps its altitude over the place at which it
will be after a lead of half the time constant of its depth loop. One that can climb no steeper than
c, with a bottom that rises faster ahead, must begin earlier still: it keeps its altitude over the
plane at the distance X in so far as climbing there does not.

A sonar that looks ahead tells what is coming. For a return at the depth z and the distance x along
the way the vehicle must not be deeper now than z − h + c (x − U T), h the altitude, U its speed and
T the time in which it begins to climb: from there it still comes over it. The least of these is a
lid on the depth; between samples it comes nearer with the way.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import root
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import Scalar, vec3

UNKNOWN = 100.0
"""Standard deviation of a depth that nothing is known of, m."""

MOST = 5.0
"""Standard deviations that an innovation counts with at most."""

PATIENCE = 2.0
"""Without an echo for so long, the bottom is no longer taken to fall, s."""

SLOW = 0.1
"""Speed below which there is no way that leads up or down, m/s."""


@pytree
class Sounder:
    """A sensor whose beams tell how far the bottom is."""

    arm: jax.Array
    """(3,) its place in the body frame, m."""
    beams: jax.Array
    """(B, 3) unit vectors in body axes."""
    noise: jax.Array
    """(2,) standard deviation of a range: m, and share of the range."""
    first: int = static()
    """Which number of the measurement is the first range; 0 is no echo."""
    place: int = static()
    """Of the sensor in the suite."""
    box: int = static()
    """How many samples may be on their way at once."""


@pytree
class Lookout:
    """A sonar that looks ahead."""

    arm: jax.Array
    """(3,) its place in the body frame, m."""
    beams: jax.Array
    """(B, 3) unit vectors in body axes."""
    climb: jax.Array
    """How steeply the vehicle climbs, m per m."""
    lag: jax.Array
    """T, s."""
    place: int = static()
    """Of the sensor in the suite; its first numbers are the ranges, 0 for nothing."""
    box: int = static()
    """How many samples may be on their way at once."""


@pytree
class Terrain:
    """How a vehicle follows the bottom."""

    slope: jax.Array
    """σ, m per m."""
    length: jax.Array
    """L, m."""
    lead: jax.Array
    """Of the altitude where the bottom rises, s."""
    climb: jax.Array
    """c, m per m; infinite for a vehicle that slows down instead."""
    ahead: jax.Array
    """X as a time on the way, s."""
    sounders: tuple[Sounder, ...]
    """None where the truth is fed back."""
    lookout: Lookout | None = None

    @property
    def heard(self) -> tuple[Sounder | Lookout, ...]:
        """All sensors, the sonar that looks ahead last."""
        return self.sounders if self.lookout is None else (*self.sounders, self.lookout)


class Plane(NamedTuple):
    """What is known of the bottom."""

    mean: jax.Array
    """(3, N) D, g_n, g_e."""
    spread: jax.Array
    """(3, 3, N) their covariance."""
    heard: jax.Array
    """(N,) whether the bottom was ever heard."""
    silence: jax.Array
    """(N,) since it was heard last, s."""
    lid: jax.Array
    """(N,) least of z + c (x − U T) of what lies ahead, m; infinite where nothing does."""


class Bottom(NamedTuple):
    """What guidance makes of it."""

    kept: jax.Array
    """(N,) whether an altitude is to be kept and can be."""
    depth: jax.Array
    """(N,) to be at, m."""
    slope: jax.Array
    """(N,) how much deeper the bottom gets per metre of the way."""


def begin(terrain: Terrain, count: int, dtype: jnp.dtype) -> Plane:
    """Nothing is known."""
    start = jnp.diag(jnp.stack([jnp.asarray(UNKNOWN, dtype), *(terrain.slope,) * 2])) ** 2
    return Plane(
        mean=jnp.zeros((3, count), dtype),
        spread=jnp.broadcast_to(start[:, :, None], (3, 3, count)).astype(dtype),
        heard=jnp.zeros(count, bool),
        silence=jnp.zeros(count, dtype),
        lid=jnp.full(count, jnp.inf, dtype),
    )


def move(terrain: Terrain, plane: Plane, believed: Estimate, period: float) -> Plane:
    """Go on for a control period."""
    north, east, _ = rotation(believed.attitude).to_world(vec3(believed.velocity))
    dn, de = period * north, period * east
    way = root(dn * dn + de * de)
    kept = jnp.exp(-way / terrain.length)
    depth, g_n, g_e = plane.mean
    deeper = g_n * dn + g_e * de
    deeper = jnp.where(plane.silence > PATIENCE, jnp.minimum(deeper, 0.0), deeper)
    # P ← F P Fᵀ + Q with the rows of F (1, Δn, Δe), (0, k, 0) and (0, 0, k).
    p = plane.spread
    first = p[0] + dn * p[1] + de * p[2]
    rows = jnp.stack([first, kept * p[1], kept * p[2]])
    columns = [rows[:, 0] + dn * rows[:, 1] + de * rows[:, 2], kept * rows[:, 1], kept * rows[:, 2]]
    spread = jnp.stack(columns, axis=1)
    grown = terrain.slope**2 * (1.0 - kept * kept)
    spread = spread.at[1, 1].add(grown).at[2, 2].add(grown)
    mean = jnp.stack([depth + deeper, kept * g_n, kept * g_e])
    lid = plane.lid
    if terrain.lookout is not None:
        lid = (lid - terrain.lookout.climb * way).astype(lid.dtype)
    return Plane(
        mean.astype(plane.mean.dtype),
        spread.astype(plane.spread.dtype),
        plane.heard,
        plane.silence + period,
        lid,
    )


def sound(
    terrain: Terrain,
    sounder: Sounder,
    plane: Plane,
    believed: Estimate,
    values: jax.Array,
    usable: jax.Array,
    age: jax.Array,
) -> Plane:
    """Take in a sample (D, N) that is `age` seconds old."""
    turned = rotation(believed.attitude)
    moving = turned.to_world(vec3(believed.velocity))
    for k in range(sounder.beams.shape[0]):
        length = values[sounder.first + k]
        there = usable & (length > 0.0)
        arm = tuple(a + length * b for a, b in zip(sounder.arm, sounder.beams[k], strict=True))
        away = turned.to_world(vec3(jnp.stack(arm)))
        north, east, down = (e - age * v for e, v in zip(away, moving, strict=True))
        far = root(north * north + east * east)
        noise = (sounder.noise[0] + sounder.noise[1] * length) ** 2
        noise = noise + 2.0 / 3.0 * terrain.slope**2 * far**3 / terrain.length
        found = believed.position[2] + down
        plane = _corrected(plane, (north, east), found, noise, there)
    return plane


def _corrected(
    plane: Plane,
    at: tuple[Scalar, Scalar],
    found: jax.Array,
    noise: jax.Array,
    there: jax.Array,
) -> Plane:
    """By the depth that was found at a horizontal distance from the vehicle."""
    first = jnp.where(plane.heard, plane.mean[0], found)
    mean, p = plane.mean.at[0].set(first), plane.spread
    column = p[:, 0] + at[0] * p[:, 1] + at[1] * p[:, 2]
    variance = column[0] + at[0] * column[1] + at[1] * column[2] + noise
    most = MOST * jnp.sqrt(variance)
    innovation = jnp.clip(found - mean[0] - at[0] * mean[1] - at[1] * mean[2], -most, most)
    gain = column / variance
    corrected = mean + gain * innovation
    spread = p - gain[:, None] * column[None]
    return Plane(
        jnp.where(there, corrected, plane.mean).astype(plane.mean.dtype),
        jnp.where(there, spread, p).astype(p.dtype),
        plane.heard | there,
        jnp.where(there, 0.0, plane.silence),
        plane.lid,
    )


def look_ahead(
    lookout: Lookout,
    plane: Plane,
    believed: Estimate,
    values: jax.Array,
    usable: jax.Array,
    age: jax.Array,
) -> Plane:
    """Take in a sample (D, N) of the sonar that is `age` seconds old."""
    turned = rotation(believed.attitude)
    moving = turned.to_world(vec3(believed.velocity))
    lengths = values[: lookout.beams.shape[0]]
    x, y, z = (lookout.arm[i] + lengths * lookout.beams[:, i, None] for i in range(3))
    north, east, down = (
        e - age * v for e, v in zip(turned.to_world((x, y, z)), moving, strict=True)
    )
    speed = jnp.maximum(root(moving[0] * moving[0] + moving[1] * moving[1]), SLOW)
    along = (north * moving[0] + east * moving[1]) / speed
    ahead = (lengths > 0.0) & (along > 0.0)
    room = jnp.maximum(along - speed * lookout.lag, 0.0)
    lids = jnp.where(ahead, believed.position[2] + down + lookout.climb * room, jnp.inf)
    lid = jnp.min(lids, axis=0).astype(plane.lid.dtype)
    return plane._replace(lid=jnp.where(usable, lid, plane.lid))


def wanted(terrain: Terrain, plane: Plane, believed: Estimate, altitude: jax.Array) -> Bottom:
    """The depth that keeps `altitude` (N,), NaN where none is asked for."""
    north, east, _ = rotation(believed.attitude).to_world(vec3(believed.velocity))
    speed = root(north * north + east * east)
    slope = (plane.mean[1] * north + plane.mean[2] * east) / jnp.maximum(speed, SLOW)
    rising, steep = jnp.minimum(slope, 0.0), jnp.minimum(slope + terrain.climb, 0.0)
    early = speed * (terrain.lead * rising + terrain.ahead * steep)
    asked = jnp.isfinite(altitude)
    depth = jnp.minimum(plane.mean[0] + early, plane.lid) - jnp.where(asked, altitude, 0.0)
    return Bottom(asked & plane.heard, jnp.maximum(depth, 0.0), slope)
