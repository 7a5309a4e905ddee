"""Puts the vehicles into the water: they start on the local surface and move with the water."""

import jax
import jax.numpy as jnp

from seatrial.core.forces.memory import memory_at_rest
from seatrial.core.forces.restoring import SurfaceRestoring
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean
from seatrial.ocean.motion import motion
from seatrial.pytree import pytree
from seatrial.spatial.rotations import from_euler, rotation
from seatrial.spatial.vectors import vec3


@pytree
class Start:
    """How vehicles are described to begin; one column per vehicle."""

    position: jax.Array
    """(3, N) NED; z of a surface craft counts from the water surface there."""
    euler: jax.Array
    """(3, N) roll, pitch, heading."""
    speed: jax.Array
    """(N,) surge speed through the water."""
    actuators: jax.Array
    """(S, N)."""


@jax.jit
def launch(model: Model, ocean: Ocean, start: Start, t: jax.Array | float = 0.0) -> State:
    """State at a time, s."""
    position = start.position
    attitude = from_euler(*vec3(start.euler))
    velocity = jnp.zeros((6, *start.speed.shape), start.speed.dtype).at[0].set(start.speed)
    t = jnp.asarray(t)
    if isinstance(model.restoring, SurfaceRestoring):
        x, y, z = vec3(position)
        water = motion(ocean, (x, y, jnp.zeros_like(z)), t)
        position = position.at[2].add(-water.elevation)
        moving = water.velocity
    else:
        moving = motion(ocean, vec3(position), t).drift
    if moving is not None:
        velocity = velocity.at[:3].add(jnp.stack(rotation(attitude).to_body(moving)))
    memory = memory_at_rest(model.memory_forces, velocity)
    return State(position, attitude, velocity, start.actuators, memory)
