"""Fixed-step integrators for x' = R v, q' = ½ q ⊗ ω, ν' = f(x, q, ν, t)."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.spatial.rotations import derivative, normalise, rotation
from seatrial.spatial.vectors import vec3

Parts = tuple[jax.Array, ...]
Rate = Callable[[State, jax.Array], jax.Array]


def semi_implicit(
    rate: Rate, state: State, actuators: jax.Array, t: jax.Array, dt: float
) -> tuple[State, jax.Array]:
    """Semi-implicit (symplectic) Euler, order 1: velocity first, pose with the new velocity.

    Also gives the ν̇ it used.
    """
    acting = State(state.position, state.attitude, state.velocity, actuators)
    rates = rate(acting, t)
    velocity = state.velocity + dt * rates
    position, attitude = _pose_rate(State(state.position, state.attitude, velocity, actuators))
    after = State(
        state.position + dt * position,
        normalise(state.attitude + dt * attitude),
        velocity,
        actuators,
    )
    return after, rates


def rk4(
    rate: Rate, state: State, actuators: tuple[jax.Array, jax.Array], t: jax.Array, dt: float
) -> tuple[State, jax.Array]:
    """Classical Runge-Kutta, order 4; `actuators` are their states at t + dt/2 and t + dt.

    Also gives ν̇ at `t`, the first of its slopes. The four stages are a loop, so that the equations
    of motion are compiled once, not four times.
    """
    half, full = actuators
    acting = jnp.stack([state.actuators, half, half, full])
    moving: Parts = (state.position, state.attitude, state.velocity)

    def stage(
        carry: tuple[Parts, Parts], at: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[tuple[Parts, Parts], jax.Array]:
        slope, total = carry
        reach, weight, actuators = at
        # Stages are not normalised: the equations are smooth off the unit sphere too, and their
        # exact solution stays on it, so the method keeps its order.
        position, attitude, velocity = (
            p + _like(reach, p) * k for p, k in zip(moving, slope, strict=True)
        )
        place = State(position, attitude, velocity, actuators)
        slope = (*_pose_rate(place), rate(place, t + reach))
        total = tuple(p + _like(weight, p) * k for p, k in zip(total, slope, strict=True))
        return (slope, total), slope[2]

    reach = jnp.array([0.0, 0.5, 0.5, 1.0]) * dt
    weight = jnp.array([1.0, 2.0, 2.0, 1.0]) * (dt / 6.0)
    still: Parts = tuple(jnp.zeros_like(p) for p in moving)
    (_, total), rates = jax.lax.scan(stage, (still, moving), (reach, weight, acting))
    position, attitude, velocity = total
    return State(position, normalise(attitude), velocity, full), rates[0]


def _like(value: jax.Array, part: jax.Array) -> jax.Array:
    """Time is double even when the state is single."""
    return value.astype(part.dtype)


def _pose_rate(state: State) -> tuple[jax.Array, jax.Array]:
    turned = rotation(state.attitude)
    linear = turned.to_world(vec3(state.velocity[:3]))
    return jnp.stack(linear), derivative(state.attitude, vec3(state.velocity[3:]))
