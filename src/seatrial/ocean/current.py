"""Currents: a steady part or a time series, tides on top, and a profile over depth.

    v(z, t) = f(z) [ v₀(t) + Σ a cos(ω t − φ) d ]

The flow is horizontal and the same at every (x, y), so it is free of divergence. Parts that a
world does not name are None and absent from the compiled program: a uniform constant current is
two numbers.
"""

import jax
import jax.numpy as jnp

from seatrial.ocean.curves import Curve, evaluate
from seatrial.pytree import pytree
from seatrial.spatial.trig import sincos, wrap
from seatrial.spatial.vectors import Scalar, Vec3


@pytree
class Tide:
    """Harmonic constituents, each along its own line (two make an ellipse)."""

    north: jax.Array
    """(K,) amplitude, m/s."""
    east: jax.Array
    """(K,) amplitude, m/s."""
    omega: jax.Array
    """(K,) rad/s, float64."""
    phase: jax.Array
    """(K,) lag of the strongest flow behind t = 0, rad."""


@pytree
class Current:
    """Horizontal flow of the water without waves and turbulence."""

    north: jax.Array | Curve
    """Steady velocity, m/s, or a curve over time."""
    east: jax.Array | Curve
    tide: Tide | None = None
    profile: Curve | None = None
    """Factor over depth."""

    @property
    def is_constant(self) -> bool:
        """Whether the flow is the same everywhere and for ever, so that it never accelerates."""
        steady = not isinstance(self.north, Curve) and not isinstance(self.east, Curve)
        return steady and self.tide is None and self.profile is None


def sample(current: Current, position: Vec3, t: jax.Array | float) -> Vec3:
    """Velocity of the water, NED, m/s."""
    north: Scalar = _at(current.north, t)
    east: Scalar = _at(current.east, t)
    if current.tide is not None:
        tide = current.tide
        angle = wrap(tide.omega * t - tide.phase.astype(tide.omega.dtype))
        _, cos = sincos(angle.astype(tide.north.dtype))
        north = north + jnp.sum(tide.north * cos)
        east = east + jnp.sum(tide.east * cos)
    if current.profile is not None:
        factor = evaluate(current.profile, position[2])
        north, east = north * factor, east * factor
    return north, east, jnp.zeros_like(north)


def _at(value: jax.Array | Curve, t: jax.Array | float) -> jax.Array:
    return evaluate(value, t) if isinstance(value, Curve) else value
