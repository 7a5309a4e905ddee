"""Circles of a craft that needs way on to be steered: it stays at a place by going round it."""

import jax
import jax.numpy as jnp

from seatrial.gnc.guidance.fence import signed_distance
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree
from seatrial.spatial.gradients import bearing, root
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.vectors import vec3

CORNER = 2.5
"""Radii ahead that lead from where a circle just fits into a right angle to its corner: 1 + √2."""


@pytree
class Circle:
    """That on which it turns with some rudder to spare."""

    radius: jax.Array
    """ρ, m."""
    lag: jax.Array
    """τ, from the order to turn to the turn, s."""
    least: jax.Array
    """Speed below which it is not steered, m/s."""


def room(circle: Circle, fence: jax.Array, believed: Estimate) -> tuple[jax.Array, jax.Array]:
    """How far within the fence it stays (N,), m: straight ahead, for as far as a corner between two
    sides of it may ask for, and on the better of the circles that it can turn onto."""
    velocity = _over_ground(believed)
    speed = jnp.maximum(_length(velocity), circle.least)
    seconds = circle.lag + CORNER * circle.radius / speed
    ahead = signed_distance(fence, believed.position[:2] + seconds * velocity)
    # While it turns by a right angle the current may carry it, until it has learnt to crab.
    drift = 0.5 * jnp.pi * circle.radius / speed * believed.current[:2]
    port, starboard = (
        jnp.minimum(signed_distance(fence, centre), signed_distance(fence, centre + drift))
        for centre in _abeam(circle, believed)
    )
    return ahead, jnp.maximum(port, starboard) - circle.radius


def beside(circle: Circle, fence: jax.Array | None, believed: Estimate) -> jax.Array:
    """Centre (2, N) of the circle that it turns onto: on that side which lies farther within the
    fence, to starboard without one."""
    port, starboard = _abeam(circle, believed)
    if fence is None:
        return starboard
    farther = signed_distance(fence, port) > signed_distance(fence, starboard)
    return jnp.where(farther, port, starboard)


def _abeam(circle: Circle, believed: Estimate) -> tuple[jax.Array, jax.Array]:
    """Centres (2, N) of the circles to port and to starboard."""
    velocity = _over_ground(believed)
    _, _, heading = to_euler(believed.attitude)
    moves = _length(velocity) > circle.least
    course = jnp.where(moves, bearing(velocity[1], velocity[0]), heading)
    begin = believed.position[:2] + circle.lag * velocity
    abeam = circle.radius * jnp.stack([-jnp.sin(course), jnp.cos(course)])
    return begin - abeam, begin + abeam


def tangent(circle: Circle, centre: jax.Array, believed: Estimate) -> tuple[jax.Array, jax.Array]:
    """Where (2, N) a straight leg begins and ends that leads on round the circle, the way that the
    vehicle goes round already; it turns as much ahead as a turn takes to begin."""
    velocity = _over_ground(believed)
    off = believed.position[:2] - centre
    clockwise = off[0] * velocity[1] - off[1] * velocity[0] >= 0.0
    sense = jnp.where(clockwise, 1.0, -1.0)
    begins = bearing(off[1], off[0])
    start = centre + circle.radius * jnp.stack([jnp.cos(begins), jnp.sin(begins)])
    ahead = circle.lag * _length(velocity) / circle.radius
    course = begins + sense * (0.5 * jnp.pi + ahead)
    return start, start + circle.radius * jnp.stack([jnp.cos(course), jnp.sin(course)])


def _over_ground(believed: Estimate) -> jax.Array:
    north, east, _ = rotation(believed.attitude).to_world(vec3(believed.velocity))
    return jnp.stack([north, east])


def _length(way: jax.Array) -> jax.Array:
    return root(way[0] * way[0] + way[1] * way[1])
