"""Puts the vehicles into the water: they start on the local surface and move with the water."""

import jax
import jax.numpy as jnp

from seatrial.core.environment import drift
from seatrial.core.forces.restoring import SurfaceRestoring
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean, waves
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
def launch(model: Model, ocean: Ocean, start: Start) -> State:
    """State at t = 0."""
    position = start.position
    attitude = from_euler(*vec3(start.euler))
    velocity = jnp.zeros((6, *start.speed.shape), start.speed.dtype).at[0].set(start.speed)
    t = jnp.zeros(())
    flow, _ = drift(ocean, vec3(position), t)
    moving = [] if flow is None else [flow]
    if ocean.waves is not None and isinstance(model.restoring, SurfaceRestoring):
        x, y, z = vec3(position)
        wave = waves.sample(ocean.waves, (x, y, jnp.zeros_like(z)), t)
        position = position.at[2].add(-wave.elevation)
        moving.append(wave.velocity)
    turned = rotation(attitude)
    for water in moving:
        velocity = velocity.at[:3].add(jnp.stack(turned.to_body(water)))
    return State(position, attitude, velocity, start.actuators)
