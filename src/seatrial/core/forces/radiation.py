"""The waves that a hull has radiated: Cummins' memory as linear states.

    ẋ = A x + B ν,   τ = −C x

beside the added mass at infinite frequency in the mass matrix. `hull.potential.memory` fits the
model; ν is the velocity through water that moves with the current alone, since what waves do to a
hull at rest is part of the excitation.
"""

import jax
import jax.numpy as jnp

from seatrial.core.surroundings import Surroundings
from seatrial.pytree import pytree
from seatrial.spatial.vectors import Wrench


@pytree
class Radiation:
    """A force of `Model.memory_forces`."""

    A: jax.Array
    """(K, K)."""
    B: jax.Array
    """(K, 6)."""
    C: jax.Array
    """(6, K)."""

    @property
    def states(self) -> int:
        """Number of states."""
        return self.A.shape[0]

    def wrench(self, memory: jax.Array, around: Surroundings) -> Wrench:
        """The force of the radiated waves, as far as the hull is in the water."""
        force = _product(self.C, memory) * (-around.wet * around.density_ratio)
        return Wrench(*force)

    def rates(self, memory: jax.Array, around: Surroundings) -> jax.Array:
        """Of the states."""
        velocity = list(around.velocity)
        if around.drift is not None:
            velocity[:3] = [v - c for v, c in zip(velocity[:3], around.drift, strict=True)]
        moving = jnp.stack([jnp.broadcast_to(v, memory.shape[1:]) for v in velocity])
        return _product(self.A, memory) + _product(self.B, moving.astype(memory.dtype))


def _product(matrix: jax.Array, vector: jax.Array) -> jax.Array:
    return jnp.tensordot(matrix, vector, axes=1, precision=jax.lax.Precision.HIGHEST)
