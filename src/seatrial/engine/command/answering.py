"""What acts on a vehicle that is well: its own equations of motion, in calm water.

By them a pilot judges whether its actuators do what they are told. A hull that slips in a turn, one
that is buoyant and leans, and one that comes out of the water have forces that no drag along one
axis knows of.
"""

import jax
import jax.numpy as jnp

from seatrial.core import actuators as actuating
from seatrial.core.environment import surroundings
from seatrial.core.forces.memory import memory_at_rest
from seatrial.core.step import wrench
from seatrial.core.types import Model, State
from seatrial.gnc.types import Estimate
from seatrial.ocean import Ocean
from seatrial.pytree import pytree, static

LEVEL = (0, 1, 5)
"""Degrees of freedom of a craft on the surface that are looked at: the others are the waves'."""


@pytree
class Nominal:
    """A vehicle as it is described, without faults, and still water of the usual density."""

    model: Model
    ocean: Ocean
    floats: bool = static()


def follow(nominal: Nominal, states: jax.Array, orders: jax.Array, period: float) -> jax.Array:
    """Where well actuators stand a control period later, (S, N)."""
    moved = actuating.advance(nominal.model.actuators, states, orders, period)
    return moved.astype(states.dtype)


def acting(
    nominal: Nominal, believed: Estimate, through_water: jax.Array, actuators: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Velocity through the water that is reckoned with, and the wrench that acts at it, (6, N).

    A craft on the surface is taken to float level: how it lies in a wave nobody tells it.
    """
    position, attitude, velocity = believed.position, believed.attitude, through_water
    if nominal.floats:
        position = jnp.zeros_like(position)
        attitude = jnp.zeros_like(attitude).at[0].set(1.0)
        rows = jnp.asarray(LEVEL)
        velocity = jnp.zeros_like(velocity).at[rows].set(velocity[rows])
    memory = memory_at_rest(nominal.model.memory_forces, velocity)
    state = State(position, attitude, velocity, actuators, memory)
    t = jnp.zeros(())
    around = surroundings(nominal.model, nominal.ocean, state, t)
    load = wrench(nominal.model, nominal.ocean, state, around, t)
    return velocity, jnp.stack([jnp.broadcast_to(part, velocity[0].shape) for part in load])
