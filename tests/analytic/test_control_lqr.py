"""The linear quadratic regulator, its feed-forward and the input dynamics."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov

from seatrial.gnc.control.lqr import (
    SecondOrderInput,
    StateFeedback,
    feed_back,
    feed_forward,
    lqr,
    ramp,
    with_input_dynamics,
)

pytestmark = pytest.mark.usefixtures("x64")


def test_double_integrator_has_the_analytic_gains():
    # Q = diag(q, 0), R = r: K = [√(q/r), √(2√(q/r))].
    q, r = 7.0, 0.3
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    K = lqr(A, B, np.diag([q, 0.0]), np.array([[r]]))
    stiffness = np.sqrt(q / r)
    np.testing.assert_allclose(K, [[stiffness, np.sqrt(2 * stiffness)]], rtol=1e-10)


def test_gains_are_a_fixed_point_of_policy_iteration():
    # The cost S of a law K obeys a Lyapunov equation; the best law is R⁻¹BᵀS of its own cost.
    noise = np.random.default_rng(5)
    A, B = noise.normal(size=(6, 6)), noise.normal(size=(6, 2))
    Q, R = np.diag(noise.uniform(0.5, 2, 6)), np.diag([0.4, 1.7])
    K = lqr(A, B, Q, R)
    closed = A - B @ K
    assert np.linalg.eigvals(closed).real.max() < 0
    S = solve_continuous_lyapunov(closed.T, -(Q + K.T @ R @ K))
    np.testing.assert_allclose(np.linalg.solve(R, B.T @ S), K, rtol=1e-8)
    residual = A.T @ S + S @ A - S @ B @ np.linalg.solve(R, B.T @ S) + Q
    assert np.abs(residual).max() < 1e-8 * np.abs(S).max()


def test_feed_forward_brings_the_outputs_to_what_is_wanted():
    A = np.array([[0.0, 1.0], [0.0, -0.4]])
    B, C = np.array([[0.0], [0.2]]), np.array([[1.0, 0.0]])
    K = lqr(A, B, np.diag([100.0, 2000.0]), np.array([[0.005]]))
    P = feed_forward(A, B, C, K)
    law = StateFeedback(jnp.asarray(K), jnp.asarray(P))
    x = np.array([0.3, -0.2])
    force = feed_back(law, jnp.asarray(x[:, None]), jnp.asarray([[3.0]]))
    np.testing.assert_allclose(force[:, 0], P @ [3.0] - K @ x, rtol=1e-12)
    rest = -np.linalg.solve(A - B @ K, B @ P @ [3.0])
    end = rest + expm(120.0 * (A - B @ K)) @ (x - rest)
    np.testing.assert_allclose(end, [3.0, 0.0], atol=1e-6)


def test_input_dynamics_are_exact_for_any_step():
    # v₁' = λ v₁ + v₀, u' = λ u + v₁ from rest: u = v₀/λ² (1 − e^{λt} (1 − λt)).
    poles = jnp.asarray([[-8.0], [-10.0], [-7.0]])
    dynamics = SecondOrderInput(poles, jnp.full((3, 1), jnp.inf))
    order, total = jnp.asarray([[1.0], [-2.0], [5.0]]), 0.6
    expected = order / poles**2 * (1 - jnp.exp(poles * total) * (1 - poles * total))
    for steps in (1, 7, 300):
        inner = value = jnp.zeros((3, 1))
        for _ in range(steps):
            inner, value = ramp(dynamics, inner, value, order, total / steps)
        np.testing.assert_allclose(value, expected, rtol=1e-11)


def test_input_dynamics_begin_without_a_jump_and_hold_their_limit():
    dynamics = SecondOrderInput(jnp.asarray([[-8.0]]), jnp.asarray([[2.0]]))
    inner, value = ramp(dynamics, jnp.zeros((1, 1)), jnp.zeros((1, 1)), jnp.ones((1, 1)), 1e-4)
    assert abs(float(value[0, 0])) < 1e-8  # u grows as v₀ t²/2
    for _ in range(100):
        inner, value = ramp(dynamics, inner, value, jnp.full((1, 1), 1e3), 0.05)
    np.testing.assert_allclose([float(inner[0, 0]), float(value[0, 0])], [2.0, 2.0 / 8], rtol=1e-6)


def test_augmented_system_is_that_of_vehicle_and_input():
    A, B = np.array([[0.0, 1.0], [0.0, -0.4]]), np.array([[0.0], [0.2]])
    wide, drive = with_input_dynamics(A, B, np.array([-8.0]))
    poles = np.sort(np.linalg.eigvals(wide).real)
    np.testing.assert_allclose(poles, [-8.0, -8.0, -0.4, 0.0], atol=1e-6)
    # Without the position, which never settles, a constant order gives the velocity v₀/λ² B/d.
    gain = -np.linalg.solve(wide[1:, 1:], drive[1:])
    np.testing.assert_allclose(gain[0, 0], 0.2 / 64 / 0.4, rtol=1e-9)
