"""What guidance, navigation and control tell each other. Vehicles are on the last axis."""

from typing import NamedTuple

import jax


class Estimate(NamedTuple):
    """Where the vehicle believes it is; the truth itself when a scenario says `feedback: truth`."""

    position: jax.Array
    """(3, N) of the origin, NED, m."""
    attitude: jax.Array
    """(4, N) quaternion, scalar first, body to world."""
    velocity: jax.Array
    """(6, N) u v w p q r over ground, body axes."""
    current: jax.Array
    """(3, N) velocity of the water, NED; zero where it is not estimated."""


class Setpoint(NamedTuple):
    """What guidance asks of control; a quantity that is not asked for is NaN."""

    position: jax.Array
    """(3, N) to be at (station keeping), NED, m."""
    heading: jax.Array
    """(N,) rad, clockwise from north."""
    course: jax.Array
    """(N,) rad, of the track over ground."""
    velocity: jax.Array
    """(3, N) surge, sway and heave, body axes, m/s; beside a depth the last is the rate of that,
    beside a position the first is the largest speed on the way there."""
    yaw_rate: jax.Array
    """(N,) rad/s, feed-forward or demand."""
    depth: jax.Array
    """(N,) m."""
    pitch: jax.Array
    """(N,) rad."""
