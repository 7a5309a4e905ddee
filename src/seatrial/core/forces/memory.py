"""Forces that remember: what they are today depends on states with rates of their own.

The waves that a hull has radiated keep pushing it (Cummins 1962), wakes and boundary layers take
time to grow. Such a force is a pytree of the Model with `states` rows in `State.memory`; the
integrator advances them with the same method as the motion.
"""

from typing import Protocol

import jax
import jax.numpy as jnp

from seatrial.core.surroundings import Surroundings
from seatrial.spatial.vectors import Wrench


class MemoryForce(Protocol):
    """What a force with memory is to the equations of motion; it must be a pytree."""

    @property
    def states(self) -> int:
        """Number K of its states; they are zero in a vehicle that has rested for ever."""

    def wrench(self, memory: jax.Array, around: Surroundings) -> Wrench:
        """The force now, about the vehicle's origin, body axes; `memory` is (K, ...)."""

    def rates(self, memory: jax.Array, around: Surroundings) -> jax.Array:
        """Time derivatives (K, ...) of its states."""


def memory_at_rest(forces: tuple[MemoryForce, ...], like: jax.Array) -> tuple[jax.Array, ...]:
    """`State.memory` of vehicles that have rested for ever; `like` is their velocity (6, ...)."""
    return tuple(jnp.zeros((force.states, *like.shape[1:]), like.dtype) for force in forces)
