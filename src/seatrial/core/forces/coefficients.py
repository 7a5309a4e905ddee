"""Hydrodynamic coefficients by name: any product of velocities, absolute values and actuators.

τ_i = Σ_k c_k Π velocities Π |velocities| Π actuator states, with the velocities relative to the
water (Fossen 2021, section 6.3; SNAME 1950 for the names). In SNAME's prime system every term is
made dimensional with ½ρ U^(2−n) L^(2+m) (moments: one more L), where n counts all velocity
factors and m the angular ones.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Twist, Wrench, dot


class Term(NamedTuple):
    """One product: which force it feeds and what it multiplies."""

    dof: int
    velocities: tuple[int, ...]
    absolutes: tuple[int, ...]
    actuators: tuple[int, ...]
    """Indices into the actuator state."""
    speed_power: int
    """Power of the instantaneous reference speed; 0 when the coefficient is dimensional."""


@pytree
class Coefficients:
    """The polynomial of one vehicle."""

    values: jax.Array
    """(K,) dimensional coefficients."""
    about_speed: jax.Array
    """Surge speed that is subtracted from u, m/s."""
    terms: tuple[Term, ...] = static()


def force(
    model: Coefficients, relative: Twist, actuators: jax.Array, density_ratio: Scalar
) -> Wrench:
    """Evaluate the polynomial at the velocity relative to the water."""
    nu = (relative.u - model.about_speed, *relative[1:])
    speed = jnp.sqrt(dot(relative.linear, relative.linear) + 1e-12)
    components: list[Scalar] = [0.0] * 6
    for k, term in enumerate(model.terms):
        product: Scalar = model.values[k]
        for i in term.velocities:
            product = product * nu[i]
        for i in term.absolutes:
            product = product * jnp.abs(nu[i])
        for a in term.actuators:
            product = product * actuators[a]
        if term.speed_power > 0:
            product = product * speed**term.speed_power
        elif term.speed_power < 0:
            product = product / speed**-term.speed_power
        components[term.dof] = components[term.dof] + product
    return Wrench(*(density_ratio * c for c in components))
