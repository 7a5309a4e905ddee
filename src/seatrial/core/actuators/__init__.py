"""Thrusters, fins and tanks: how a command becomes a state, and a state a wrench."""

import jax
import jax.numpy as jnp

from seatrial.core.actuators import ballast, fin, thruster
from seatrial.core.actuators.ballast import Ballast
from seatrial.core.actuators.fin import Fin
from seatrial.core.actuators.thruster import Thruster
from seatrial.core.surroundings import Surroundings
from seatrial.spatial.vectors import Scalar, Wrench

Actuator = Thruster | Fin | Ballast


def advance(
    actuators: tuple[Actuator, ...], state: jax.Array, command: jax.Array, dt: float
) -> jax.Array:
    """Actuator states after `dt` under a constant command; exact for the first-order lags."""
    values: list[Scalar] = [state[i] for i in range(state.shape[0])]
    for actuator in actuators:
        if isinstance(actuator, Thruster):
            thruster.advance(actuator, values, command, dt)
        elif isinstance(actuator, Fin):
            fin.advance(actuator, values, command, dt)
        else:
            ballast.advance(actuator, values, command, dt)
    return jnp.stack(values) if values else state


def force(actuator: Actuator, state: jax.Array, around: Surroundings) -> Wrench:
    """Wrench of one actuator."""
    if isinstance(actuator, Thruster):
        return thruster.force(actuator, state, around)
    if isinstance(actuator, Fin):
        return fin.force(actuator, state, around)
    return ballast.force(actuator, state, around)
