"""Thrusters, fins and tanks: how a command becomes a state, and a state a wrench."""

import jax
import jax.numpy as jnp

from seatrial.core.actuators import ballast, fin, thruster
from seatrial.core.actuators.ballast import Ballast
from seatrial.core.actuators.fin import Fin
from seatrial.core.actuators.thruster import Thruster
from seatrial.core.impairment import Harm, Impairment, hold
from seatrial.core.surroundings import Surroundings
from seatrial.spatial.vectors import Scalar, Wrench, scale_wrench

Actuator = Thruster | Fin | Ballast


def advance(
    actuators: tuple[Actuator, ...],
    state: jax.Array,
    command: jax.Array,
    dt: float,
    impairment: Impairment | None = None,
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
    if impairment is not None:
        hold(impairment.seizures, state, values)
    return jnp.stack(values) if values else state


def force(
    actuator: Actuator, state: jax.Array, around: Surroundings, harm: Harm | None = None
) -> Wrench:
    """Wrench of one actuator."""
    if isinstance(actuator, Thruster):
        wrench = thruster.force(actuator, state, around)
    elif isinstance(actuator, Fin):
        wrench = fin.force(actuator, state, around, None if harm is None else harm.floating)
    else:
        wrench = ballast.force(actuator, state, around)
    if harm is None or harm.effectiveness is None:
        return wrench
    return scale_wrench(harm.effectiveness, wrench)
