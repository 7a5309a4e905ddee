"""Strapdown mechanisation: inertial samples put together to position, velocity and attitude.

    q̇ = ½ q ⊗ [0, ω],   v̇ = R(q) f + g,   ṗ = v

over a flat Earth that does not turn. Samples are the specific force f and the angular rate ω at an
instant, in sensor axes; the result is the motion of the sensor's own origin and axes. To start, and
to get back to the vehicle's origin, use the lever arm: p_s = p + R r, v_s = R (v + ω × r).

The attitude advances by the rotation vector φ̇ = ω + ½ φ × ω + … (Bortz 1971), whose second term is
the coning that a plain integral of ω misses. With B₀ = ∫ω dt and B₁ = (1/T) ∫(t − T/2) ω dt,

    φ = B₀ + B₀ × B₁,   q ← q ⊗ exp(½ φ)

is of fourth order (the Magnus expansion; Blanes et al. 2009, section 5). Velocity and position are
integrated in the world frame, where neither rotation nor sculling is left to correct.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.spatial.rotations import from_rotation_vector, multiply, normalise, rotation
from seatrial.spatial.vectors import cross, vec3


class Navigated(NamedTuple):
    """Motion of a sensor; vehicles, where there are several, on the later axes."""

    position: jax.Array
    """(3, ...) NED, m."""
    velocity: jax.Array
    """(3, ...) NED, m/s."""
    attitude: jax.Array
    """(4, ...) unit quaternion, scalar first, sensor to world."""


def trapezoid(at: Navigated, first: jax.Array, last: jax.Array, dt: float) -> Navigated:
    """Motion one sample later, of second order; samples (6, ...) are f and ω at both ends.

    Exact for rate and world acceleration that change linearly, but for the Magnus terms above the
    fourth order.
    """
    total = 0.5 * dt * (first[3:] + last[3:])
    slant = (dt / 12.0) * (last[3:] - first[3:])
    attitude = turn(at.attitude, total, slant)
    a0, a1 = felt(at.attitude, first), felt(attitude, last)
    return Navigated(
        at.position + dt * at.velocity + (dt * dt / 6.0) * (2.0 * a0 + a1),
        at.velocity + 0.5 * dt * (a0 + a1),
        attitude,
    )


def turn(attitude: jax.Array, total: jax.Array, slant: jax.Array) -> jax.Array:
    """Attitude after the rotation with B₀ = `total` and B₁ = `slant`, both (3, ...), rad."""
    plain = vec3(total)
    bent = cross(plain, vec3(slant))
    angle = (plain[0] + bent[0], plain[1] + bent[1], plain[2] + bent[2])
    return normalise(multiply(attitude, from_rotation_vector(angle)))


def felt(attitude: jax.Array, sample: jax.Array) -> jax.Array:
    """Acceleration (3, ...) in the world of a sensor that feels `sample`: R f + g."""
    north, east, down = rotation(attitude).to_world(vec3(sample[:3]))
    return jnp.stack([jnp.asarray(north), jnp.asarray(east), down + GRAVITY])
