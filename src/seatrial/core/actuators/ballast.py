"""Tanks: the weight of water taken in, at a pump's rate. Their inertia is neglected."""

import jax

from seatrial.conventions import GRAVITY
from seatrial.core.actuators.drive import Drive, follow
from seatrial.core.surroundings import Surroundings
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Wrench, scale, vec3, wrench_at


@pytree
class Ballast:
    """One tank; its state is the mass relative to neutral trim, kg."""

    position: jax.Array
    drive: Drive
    channel: int = static()


def advance(model: Ballast, states: list[Scalar], command: jax.Array, dt: float) -> None:
    """Pump towards the commanded mass."""
    i = model.channel
    states[i] = follow(model.drive, states[i], command[i], dt)


def force(model: Ballast, state: jax.Array, around: Surroundings) -> Wrench:
    """Weight of the ballast at the tank."""
    weight = scale(state[model.channel] * GRAVITY, around.rotation.down)
    return wrench_at(weight, vec3(model.position))
