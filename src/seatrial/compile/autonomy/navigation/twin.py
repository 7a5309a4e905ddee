"""The vehicle's own dynamics for its navigation: the same Model, in water that is still.

A craft in a uniform current moves through the water as it would in still water, so what its
equations of motion predict is the velocity relative to the water. What they cannot know, waves,
wind and a wrong coefficient, is for the filter's uncertainty to cover.
"""

import math
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.compile.vehicles.vehicle import compile_vehicle
from seatrial.core.forces.memory import memory_at_rest
from seatrial.core.forces.restoring import SurfaceRestoring, floating_depth
from seatrial.core.step import step
from seatrial.core.types import Model, State
from seatrial.engine.command.belief import through_water
from seatrial.gnc.types import Estimate
from seatrial.ocean import Ocean
from seatrial.ocean.water import density
from seatrial.pytree import pytree, static
from seatrial.spec.vehicle import Vehicle

LONGEST_STEP = 0.05
"""Of the twin's integrator, s."""

BEYOND = 1e6
"""More than any of its numbers can be: a yaw rate that is far off, as when a heading is found again
after a minute, makes a twin diverge. It then begins anew with what is believed."""

_DEPTH, _ATTITUDE, _VELOCITY, _ACTUATORS = 0, 1, 5, 11
"""First rows of the parts of the twin's memory; behind the actuators come the forces that
remember."""


@pytree
class DynamicsTwin:
    """A Model in still water that takes its turning from the navigation.

    A vehicle under water has the attitude, the rates and the depth of the estimate, and floats
    where that is higher: on a crest, above the level of still water, there is water too. A surface
    craft floats by its own, since the estimate's are those of the waves, and takes only the yaw
    rate: in still water no heading differs from another.
    """

    model: Model
    ocean: Ocean
    states: int = static()
    """Number of actuator states."""

    @property
    def surface(self) -> bool:
        """Whether it floats."""
        return isinstance(self.model.restoring, SurfaceRestoring)

    @property
    def axes(self) -> tuple[int, ...]:
        """Axes along which its velocity is worth something."""
        return (0, 1) if self.surface else (0, 1, 2)

    def begin(self, relative: jax.Array) -> jax.Array:
        """Memory (M, N) of a level vehicle with this velocity (6, N), its actuators at rest."""
        zero = jnp.zeros_like(relative[:1])
        rest = jnp.zeros((self.states, relative.shape[-1]), relative.dtype)
        forces = memory_at_rest(self.model.memory_forces, relative)
        return jnp.concatenate([zero, zero + 1.0, zero, zero, zero, relative, rest, *forces])

    def advance(
        self, memory: jax.Array, estimate: Estimate, orders: jax.Array, dt: float
    ) -> jax.Array:
        """Memory after `dt` under `orders` (A, N)."""
        velocity = memory[_VELOCITY:_ACTUATORS]
        hull = self.model.restoring
        free = 5 if self.surface else 3
        velocity = jnp.concatenate([velocity[:free], estimate.velocity[free:]])
        if isinstance(hull, SurfaceRestoring):
            depth, attitude = memory[_DEPTH], memory[_ATTITUDE:_VELOCITY]
        else:
            highest = floating_depth(hull, density(self.ocean.water, 0.0)) - hull.buoyancy_centre[2]
            depth, attitude = jnp.maximum(estimate.position[2], highest), estimate.attitude
        zero = jnp.zeros_like(depth)
        ends = np.cumsum([_ACTUATORS, self.states, *(f.states for f in self.model.memory_forces)])
        actuators, *forces = (memory[a:b] for a, b in pairwise(ends))
        position = jnp.stack([zero, zero, depth])
        state = State(position, attitude, velocity, actuators, tuple(forces))
        steps = math.ceil(dt / LONGEST_STEP)
        told = orders.astype(memory.dtype)

        def body(_: jax.Array, at: State) -> State:
            return step(self.model, self.ocean, at, told, jnp.zeros(()), dt / steps)

        after: State = jax.lax.fori_loop(0, steps, body, state)
        found = jnp.concatenate(
            [after.position[2:], after.attitude, after.velocity, after.actuators, *after.memory]
        )
        anew = self.begin(through_water(estimate).astype(found.dtype))
        return jnp.where(jnp.all(jnp.abs(found) < BEYOND, axis=0), found, anew)

    def velocity(self, memory: jax.Array) -> jax.Array:
        """Predicted u v w p q r (6, N) through the water, body axes."""
        return memory[_VELOCITY:_ACTUATORS]


def build_twin(vehicle: Vehicle, ocean: Ocean) -> DynamicsTwin:
    """Twin of a vehicle in double precision; of the ocean (in double precision) only the water."""
    still = Ocean(water=ocean.water)
    dtype: np.dtype[Any] = np.dtype(np.float64)
    compiled = compile_vehicle(vehicle, still, dtype)
    return DynamicsTwin(compiled.model, still, compiled.actuator_states)
