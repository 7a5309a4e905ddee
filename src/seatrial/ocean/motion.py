"""How the water moves: the one place where current, turbulence and waves add up.

    v = v_current + v_turbulence + v_waves,   Dv/Dt = ∂v/∂t + (v · ∇) v

The material derivative is what the pressure gradient on a body is made of (Taylor 1928; Batchelor
1967, section 6.9). It follows the whole flow: a current carries the waves' pattern past the water,
and the waves carry the water through the eddies and through a sheared current. Without (v · ∇) v of
the waves alone a neutral body would sink, since ∂v/∂t of linear waves has a mean on the orbit,
k a² ω² exp(−2kz) downwards, that only the convective part takes away again.

Parts that a world does not name are absent, a constant current costs three additions, and what a
compiled program does not use of the result costs nothing.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.conventions import SEAWATER_DENSITY
from seatrial.ocean import Ocean, current, seabed, turbulence, waves
from seatrial.spatial.vectors import Scalar, Vec3, add, dot


class Motion(NamedTuple):
    """The moving water at one or many points; None where that part of it rests for ever."""

    velocity: Vec3 | None
    """Of the water, NED, m/s: the sum of the next two."""
    drift: Vec3 | None
    """Of current and turbulence."""
    orbital: Vec3 | None
    """Of the waves."""
    acceleration: Vec3 | None
    """Material derivative Dv/Dt of the whole, NED, m/s²."""
    elevation: Scalar
    """Of the surface above or below the point, positive up, m."""
    slope: tuple[Scalar, Scalar]
    """Derivatives of the elevation along x and y."""
    pressure: Scalar
    """Dynamic pressure of the waves, Pa."""


def motion(
    ocean: Ocean, place: Vec3, t: jax.Array | float, density: Scalar = SEAWATER_DENSITY
) -> Motion:
    """The water at a place."""
    if ocean.waves is None:
        velocity, acceleration = drift(ocean, place, t)
        return Motion(velocity, velocity, None, acceleration, 0.0, (0.0, 0.0), 0.0)
    wave = waves.sample(ocean.waves, place, t, density, bottom_under(ocean, place[0], place[1]))
    carried, changing = drift(ocean, place, t, wave.velocity)
    velocity = wave.velocity if carried is None else add(carried, wave.velocity)
    u, v, w = wave.gradient
    convected: Vec3 = (dot(u, velocity), dot(v, velocity), dot(w, velocity))
    acceleration = add(wave.acceleration, convected)
    return Motion(
        velocity=velocity,
        drift=carried,
        orbital=wave.velocity,
        acceleration=acceleration if changing is None else add(acceleration, changing),
        elevation=wave.elevation,
        slope=wave.slope,
        pressure=wave.pressure,
    )


def bottom_under(ocean: Ocean, x: Scalar, y: Scalar) -> jax.Array | None:
    """Depth of the bottom that waves feel at places, m; None where it is the same everywhere."""
    if ocean.seabed is None or ocean.waves is None or ocean.waves.by_depth is None:
        return None
    return seabed.sample(ocean.seabed, x, y)


def drift(
    ocean: Ocean, place: Vec3, t: jax.Array | float, orbital: Vec3 | None = None
) -> tuple[Vec3 | None, Vec3 | None]:
    """Velocity of current and turbulence, and how it changes for water that moves with the sum of
    it and `orbital`: ∂v/∂t + ((v + orbital) · ∇) v; NED.
    """
    if ocean.current is None and ocean.turbulence is None:
        return None, None

    def flow(place: Vec3, time: jax.Array) -> Vec3:
        parts: list[Vec3] = []
        if ocean.current is not None:
            parts.append(current.sample(ocean.current, place, time))
        if ocean.turbulence is not None:
            parts.append(turbulence.sample(ocean.turbulence, place, time))
        moving = add(parts[0], parts[1]) if len(parts) == 2 else parts[0]
        like = jnp.asarray(place[0])
        x, y, z = (jnp.broadcast_to(c, like.shape).astype(like.dtype) for c in moving)
        return x, y, z

    time = jnp.asarray(t)
    velocity = flow(place, time)
    if ocean.turbulence is None and ocean.current is not None and ocean.current.is_constant:
        return velocity, None
    where = tuple(jnp.asarray(c) for c in place)
    carried = velocity if orbital is None else add(velocity, orbital)
    _, acceleration = jax.jvp(flow, (where, time), (carried, jnp.ones_like(time)))
    return velocity, acceleration
