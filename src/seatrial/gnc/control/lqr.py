"""Linear quadratic regulator with feed-forward, and input dynamics of second order.

u = P y_r − K x for ẋ = A x + B u, y = C x; K minimises ∫ xᵀQx + uᵀRu dt, and P makes y = y_r in
the steady state. What is demanded reaches the vehicle through two equal first-order lags, so that
its acceleration has no jumps.
"""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.pytree import pytree

Array = NDArray[np.float64]


def lqr(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """K = R⁻¹ Bᵀ S, with S of the algebraic Riccati equation AᵀS + SA − SBR⁻¹BᵀS + Q = 0."""
    from scipy.linalg import solve_continuous_are

    S = solve_continuous_are(A, B, Q, R)
    return np.asarray(np.linalg.solve(R, B.T @ S))


def feed_forward(A: Array, B: Array, C: Array, K: Array) -> Array:
    """P = (C (BK − A)⁻¹ B)⁻¹."""
    return np.asarray(np.linalg.inv(C @ np.linalg.solve(B @ K - A, B)))


def with_input_dynamics(A: Array, B: Array, poles: Array) -> tuple[Array, Array]:
    """A and B of [x, u, v₁] when the input goes through the lags below, driven by v₀."""
    n, m = B.shape
    lag, zero = np.diag(poles), np.zeros((m, m))
    wide = np.block(
        [
            [A, B, np.zeros((n, m))],
            [np.zeros((m, n)), lag, np.eye(m)],
            [np.zeros((m, n)), zero, lag],
        ]
    )
    return wide, np.vstack([np.zeros((n + m, m)), np.eye(m)])


@pytree
class StateFeedback:
    """u = P y_r − K x."""

    gain: jax.Array
    """K, (m, n)."""
    feed_forward: jax.Array
    """P, (m, p)."""


def feed_back(law: StateFeedback, state: jax.Array, wanted: jax.Array) -> jax.Array:
    """Input (m, N) for states (n, N) and wanted outputs (p, N)."""
    return _product(law.feed_forward, wanted) - _product(law.gain, state)


def _product(matrix: jax.Array, vectors: jax.Array) -> jax.Array:
    # A sum, because the product of small matrices is not exact on every device.
    return jnp.sum(matrix[:, :, None] * vectors[None], axis=1)


@pytree
class SecondOrderInput:
    """v̇₁ = λ v₁ + v₀, u̇ = λ u + v₁ for each input, with v₁ limited.

    A constant v₀ becomes u = v₀/λ²: multiply by λ² to have the input itself.
    """

    poles: jax.Array
    """(m, 1) λ, negative, rad/s."""
    limit: jax.Array
    """(m, 1) largest |v₁|; infinite for none."""


def ramp(
    dynamics: SecondOrderInput,
    inner: jax.Array,
    value: jax.Array,
    order: jax.Array,
    dt: float | jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """v₁ and u (m, N) after `dt` under a constant v₀: the exact solution where no limit acts."""
    pole = dynamics.poles
    decay, grown = jnp.exp(pole * dt), jnp.expm1(pole * dt) / pole
    inside = jnp.clip(decay * inner + grown * order, -dynamics.limit, dynamics.limit)
    driven = (inside - decay * inner) / grown  # the order itself, unless that meets the limit
    after = decay * (value + dt * inner) + driven / pole * (dt * decay - grown)
    return inside, after
