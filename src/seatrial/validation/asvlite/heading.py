"""A vessel whose heading is held while everything else moves freely.

Two things hold it: the yaw acceleration is zero, and what the heading changes by kinematics
alone, ψ̇ = q sin φ / cos θ with r = 0, is turned back after every step. The second is of second
order in the motions, but over a run it would add up to degrees.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.core.types import Model, State
from seatrial.spatial.rotations import multiply, normalise, rotation
from seatrial.spatial.vectors import Scalar


def without_yaw(model: Model) -> Model:
    """The model with M ν̇ = τ solved for five motions and ṙ = 0.

    Taking row and column six out of M before inverting it is what a constraint moment about the
    body's vertical axis does, whatever its size.
    """
    inertia = model.inertia

    def inverse(matrix: NDArray[np.float64]) -> jax.Array:
        free = np.zeros((6, 6))
        free[:5, :5] = np.linalg.inv(matrix[:5, :5])
        return jnp.asarray(free, inertia.inverse_wet.dtype)

    rigid = np.asarray(inertia.rigid_body, np.float64)
    added = np.asarray(inertia.added_mass, np.float64)
    held = dataclasses.replace(
        inertia, inverse_wet=inverse(rigid + added), inverse_dry=inverse(rigid)
    )
    return dataclasses.replace(model, inertia=held)


def course(attitude: jax.Array) -> tuple[Scalar, Scalar]:
    """Cosine and sine of the heading."""
    turned = rotation(attitude)
    norm = 1.0 / jnp.sqrt(turned.r00**2 + turned.r10**2 + 1e-12)
    return turned.r00 * norm, turned.r10 * norm


def turned_back(state: State, held: tuple[Scalar, Scalar]) -> State:
    """The state turned about the vertical to the heading with this cosine and sine."""
    (c, s), (c0, s0) = course(state.attitude), held
    half = jnp.asarray(0.5 * (s0 * c - c0 * s))  # of the small angle to turn
    none = jnp.zeros_like(half)
    turn = jnp.stack([jnp.ones_like(half), none, none, half])
    return dataclasses.replace(state, attitude=normalise(multiply(turn, state.attitude)))
