"""What is broken on a vehicle at this moment; only the parts that can break are in a program."""

import jax
import jax.numpy as jnp

from seatrial.conventions import GRAVITY
from seatrial.core.surroundings import Surroundings
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Wrench, safe_norm, scale, vec3, wrench_at


@pytree
class Harm:
    """What is wrong with one actuator; parts that are None cannot happen."""

    effectiveness: jax.Array | None = None
    """(N,) share of its wrench that is left."""
    floating: jax.Array | None = None
    """(N,) whether a fin has come loose from its servo and follows the flow."""


@pytree
class Seizure:
    """An actuator state that may stand still."""

    active: jax.Array
    """(N,)."""
    value: jax.Array | None
    """Where it stands; None for wherever it was."""
    state: int = static()
    """Index of the actuator state."""


@pytree
class Impairment:
    """Everything that may be broken."""

    actuators: tuple[Harm | None, ...]
    """In the order of the Model's actuators."""
    seizures: tuple[Seizure, ...]
    drag_area: jax.Array | None
    """(N,) additional C_D A of the hull, m²."""
    water: jax.Array | None = None
    """(N,) mass of the water in the hull, kg."""


def hold(seizures: tuple[Seizure, ...], before: jax.Array, after: list[Scalar]) -> None:
    """Put states that have seized back to where they stand."""
    for seized in seizures:
        i = seized.state
        place = before[i] if seized.value is None else seized.value
        after[i] = jnp.where(seized.active, place, after[i])


def weight(water: jax.Array, around: Surroundings, centre: jax.Array) -> Wrench:
    """Weight of the water in the hull at the centre of gravity; its inertia is left out."""
    return wrench_at(scale(water * GRAVITY, around.rotation.down), vec3(centre))


def drag(area: jax.Array, around: Surroundings) -> Wrench:
    """Additional drag −½ρ C_D A |v_r| v_r at the origin, free of torque (growth, a net, a line)."""
    through = around.relative.linear
    factor = -0.5 * around.density * around.wet * area * safe_norm(through)
    return Wrench(*scale(factor, through), 0.0, 0.0, 0.0)
