"""Fixed-step integrators for x' = R v, q' = ½ q ⊗ ω, [ν', s'] = f(x, q, ν, s, t).

s are the states of the forces that remember, empty for most vehicles.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core.types import State
from seatrial.spatial.rotations import derivative, normalise, rotation
from seatrial.spatial.vectors import vec3


class Rates(NamedTuple):
    """What the forces decide: the rates of the velocity and of their own states."""

    velocity: jax.Array
    """(6, ...) ν̇."""
    memory: tuple[jax.Array, ...]
    """(K, ...) of each force of `State.memory`."""


class _Moving(NamedTuple):
    """The parts of a State that an integrator advances, or their rates."""

    position: jax.Array
    attitude: jax.Array
    velocity: jax.Array
    memory: tuple[jax.Array, ...]


Rate = Callable[[State, jax.Array], Rates]


def semi_implicit(
    rate: Rate, state: State, actuators: jax.Array, t: jax.Array, dt: float
) -> tuple[State, jax.Array]:
    """Semi-implicit (symplectic) Euler, order 1: velocity first, pose with the new velocity.

    Also gives the ν̇ it used.
    """
    acting = State(state.position, state.attitude, state.velocity, actuators, state.memory)
    rates = rate(acting, t)
    velocity, memory = jax.tree.map(
        lambda part, slope: part + dt * slope, Rates(state.velocity, state.memory), rates
    )
    position, attitude = pose_rate(state.attitude, velocity)
    after = State(
        state.position + dt * position,
        normalise(state.attitude + dt * attitude),
        velocity,
        actuators,
        memory,
    )
    return after, rates.velocity


def rk4(
    rate: Rate, state: State, actuators: tuple[jax.Array, jax.Array], t: jax.Array, dt: float
) -> tuple[State, jax.Array]:
    """Classical Runge-Kutta, order 4; `actuators` are their states at t + dt/2 and t + dt.

    Also gives ν̇ at `t`, the first of its slopes. The four stages are a loop, so that the equations
    of motion are compiled once, not four times.
    """
    half, full = actuators
    acting = jnp.stack([state.actuators, half, half, full])
    moving = _Moving(state.position, state.attitude, state.velocity, state.memory)

    def along(parts: _Moving, reach: jax.Array, slope: _Moving) -> _Moving:
        # Time is double even when the state is single.
        moved: _Moving = jax.tree.map(lambda p, k: p + reach.astype(p.dtype) * k, parts, slope)
        return moved

    def stage(
        carry: tuple[_Moving, _Moving], at: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[tuple[_Moving, _Moving], jax.Array]:
        slope, total = carry
        reach, weight, actuators = at
        # Stages are not normalised: the equations are smooth off the unit sphere too, and their
        # exact solution stays on it, so the method keeps its order.
        reached = along(moving, reach, slope)
        place = State(
            reached.position, reached.attitude, reached.velocity, actuators, reached.memory
        )
        slope = _Moving(*pose_rate(place.attitude, place.velocity), *rate(place, t + reach))
        return (slope, along(total, weight, slope)), slope.velocity

    reach = jnp.array([0.0, 0.5, 0.5, 1.0]) * dt
    weight = jnp.array([1.0, 2.0, 2.0, 1.0]) * (dt / 6.0)
    still: _Moving = jax.tree.map(jnp.zeros_like, moving)
    (_, total), rates = jax.lax.scan(stage, (still, moving), (reach, weight, acting))
    after = State(total.position, normalise(total.attitude), total.velocity, full, total.memory)
    return after, rates[0]


def pose_rate(attitude: jax.Array, velocity: jax.Array) -> tuple[jax.Array, jax.Array]:
    """x' and q' of a (6, ...) velocity in body axes."""
    linear = rotation(attitude).to_world(vec3(velocity[:3]))
    return jnp.stack(linear), derivative(attitude, vec3(velocity[3:]))
