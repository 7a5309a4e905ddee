"""Contacts kept from report to report: what an AIS receiver or a radar last said of each vessel.

A track belongs to one identity as long as it lasts, so that what was decided about a vessel stays
with her when others come nearer or reports are lost. Between reports she is dead-reckoned; a track
without a report for longer than `timeout` is dropped. Position and velocity follow the reports with
a share of their departure, an α filter whose velocity is measured (Bar-Shalom, Li and Kirubarajan
2001, section 6.5): the variance of white errors falls to a
third, and a turn is followed within two or three reports.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.avoidance.contacts import Contacts
from seatrial.gnc.avoidance.geometry import heading_vector
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree, static
from seatrial.spatial.gradients import bearing
from seatrial.spatial.rotations import rotation
from seatrial.spatial.vectors import vec3

FOLLOWS = 0.5
"""Share of a report's departure from the track that is believed."""
SLENDER = 1.0 / 3.0
"""Beam over length of a vessel of which only the length is known."""
AIS, RADAR = "ais", "radar"


@pytree
class Ear:
    """A sensor that tells of contacts; components as the sensor gives them."""

    arm: jax.Array
    """(3,) place of the antenna in the body frame, m."""
    yaw: jax.Array
    """From the bow to the zero of its bearings, rad."""
    kind: str = static()
    """`ais` or `radar`."""
    place: int = static()
    """Of the sensor in the suite."""
    box: int = static()
    """How many samples may be on their way at once."""


@pytree
class Watch:
    """What listens for others."""

    timeout: jax.Array
    """After which a vessel that is no longer heard of is forgotten, s."""
    lag: jax.Array
    """From a turn of another vessel until it shows in her track, s."""
    ears: tuple[Ear, ...]
    tracks: int = static()
    """Vessels that can be followed at once."""


class Reports(NamedTuple):
    """What one sample says, M contacts of N vehicles."""

    identity: jax.Array
    """(M, N); 0 for none."""
    position: jax.Array
    """(2, M, N) north and east, m."""
    velocity: jax.Array
    """(2, M, N) m/s."""
    radius: jax.Array
    """(M, N) within which nobody is to come, m."""


class Tracks(NamedTuple):
    """T vessels that each of N vehicles follows."""

    identity: jax.Array
    """(T, N); 0 where there is none."""
    position: jax.Array
    """(2, T, N) north and east at the last report, m."""
    velocity: jax.Array
    """(2, T, N) m/s."""
    radius: jax.Array
    """(T, N) m."""
    stamp: jax.Array
    """(T, N) when the last report was true, s."""


def begin(watch: Watch, vehicles: int, dtype: jnp.dtype) -> Tracks:
    """Nobody is known yet."""
    shape = (watch.tracks, vehicles)
    return Tracks(
        identity=jnp.zeros(shape, jnp.int32),
        position=jnp.zeros((2, *shape), dtype),
        velocity=jnp.zeros((2, *shape), dtype),
        radius=jnp.zeros(shape, dtype),
        stamp=jnp.full(shape, -jnp.inf),
    )


def read(ear: Ear, values: jax.Array, estimate: Estimate, age: jax.Array) -> Reports:
    """What a sample (D, N) that is `age` seconds old says, by what the vehicle knows of itself."""
    if ear.kind == AIS:
        identity, north, east, course, speed, _, length, beam = _parts(values, 8)
        place = jnp.stack([north, east])
    else:
        identity, distance, angle, course, speed, length = _parts(values, 6)
        beam = SLENDER * length
        turned = rotation(estimate.attitude)
        along = turned.to_world(vec3(estimate.velocity))
        heading = bearing(jnp.asarray(turned.r10), jnp.asarray(turned.r00))
        # Back then the vehicle was elsewhere and headed elsewhere.
        heading = heading - age * estimate.velocity[5]
        own = jnp.stack([estimate.position[i] - age * along[i] for i in range(2)])
        c, s = jnp.cos(heading), jnp.sin(heading)
        antenna = jnp.stack([c * ear.arm[0] - s * ear.arm[1], s * ear.arm[0] + c * ear.arm[1]])
        place = (own + antenna)[:, None] + distance * heading_vector(angle + heading + ear.yaw)
    return Reports(
        identity=jnp.round(identity).astype(jnp.int32),
        position=place,
        velocity=speed * heading_vector(course),
        radius=jnp.sqrt(length * length + beam * beam + 1e-12),
    )


def _parts(values: jax.Array, size: int) -> list[jax.Array]:
    """Numbers of the contacts, each (M, N)."""
    table = values.reshape(-1, size, values.shape[-1])
    return [table[:, i] for i in range(size)]


def update(tracks: Tracks, reports: Reports, stamp: jax.Array, heard: jax.Array) -> Tracks:
    """Tracks after reports that were true at `stamp` (N,), where they were `heard` (N,).

    A vessel that is not known yet takes a free track; when there is none she has to wait.
    """
    told = (reports.identity > 0) & heard
    same = (tracks.identity[:, None] == reports.identity) & told  # (T, M, N)
    fresh = told & ~jnp.any(same, axis=0)
    free = tracks.identity == 0
    turn = jnp.where(fresh, jnp.cumsum(fresh, axis=0), 0)
    seat = jnp.where(free, jnp.cumsum(free, axis=0), -1)
    begun = (seat[:, None] == turn) & fresh
    goes_on = same & (stamp > tracks.stamp)[:, None]
    taken = goes_on | begun
    share = jnp.where(free, 1.0, FOLLOWS)

    def told_of(values: jax.Array) -> jax.Array:
        """Values (..., M, N) of the reports, sorted to their tracks."""
        zero = jnp.zeros((), values.dtype)
        return jnp.sum(jnp.where(taken, values[..., None, :, :], zero), axis=-2, dtype=zero.dtype)

    since = jnp.where(jnp.isfinite(tracks.stamp), stamp - tracks.stamp, 0.0)
    expected = tracks.position + tracks.velocity * since.astype(tracks.position.dtype)
    position = expected + share * (told_of(reports.position) - expected)
    velocity = tracks.velocity + share * (told_of(reports.velocity) - tracks.velocity)
    some = jnp.any(taken, axis=1)
    return Tracks(
        identity=jnp.where(some, told_of(reports.identity), tracks.identity),
        position=jnp.where(some, position, tracks.position).astype(tracks.position.dtype),
        velocity=jnp.where(some, velocity, tracks.velocity).astype(tracks.velocity.dtype),
        radius=jnp.where(some, told_of(reports.radius), tracks.radius).astype(tracks.radius.dtype),
        stamp=jnp.where(some, stamp, tracks.stamp),
    )


def forget(watch: Watch, tracks: Tracks, t: jax.Array) -> Tracks:
    """Drop those of whom nothing was heard for too long."""
    lost = t - tracks.stamp > watch.timeout
    return tracks._replace(
        identity=jnp.where(lost, 0, tracks.identity),
        stamp=jnp.where(lost, -jnp.inf, tracks.stamp),
    )


def plot(tracks: Tracks, t: jax.Array) -> Contacts:
    """Where the vessels are now, by dead reckoning."""
    known = tracks.identity > 0
    since = jnp.where(known, t - tracks.stamp, 0.0).astype(tracks.position.dtype)
    return Contacts(
        position=tracks.position + tracks.velocity * since,
        velocity=jnp.where(known, tracks.velocity, 0.0),
        radius=tracks.radius,
        identity=tracks.identity,
    )
