"""Hydrodynamic coefficients by name: any product of velocities, absolute values and actuators.

τ_i = Σ_k c_k Π velocities Π |velocities| Π actuator states, with the velocities relative to the
water (Fossen 2021, section 6.3; SNAME 1950 for the names). In SNAME's prime system every term is
made dimensional with ½ρ U^(2−n) L^(2+m) (moments: one more L), where n counts all velocity
factors and m the angular ones.

A perturbation about a service speed U₀, made dimensional with the speed U of the moment, is a
series in a = (u − U₀)/U. It says nothing about a ship that is nearly stopped: there a goes to −∞,
a cubic term alone would push with U₀³/U, and factors such as 1 + a, which stand for the speed,
change their sign at U₀/2. The series is therefore used as published for a ≥ −RANGE, which holds
every manoeuvre that such models are made for, and below that

- a is held at −RANGE: the prime coefficients stay what they were at the edge, U₀ / (1 + RANGE) on a
  straight course, and the forces fade with U², ahead and astern;
- the surge force has on top what the propeller pulls more while it is slower than at the edge,
  growing with the part of the deviation that was cut off, with the slope of the published force at
  the edge. At rest this is the bollard pull that the series implies.

Force and slope are continuous. Hull and rudder act astern as they do ahead at that speed.
"""

from functools import reduce
from operator import mul
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Twist, Wrench, dot

RANGE = 0.5
"""Largest (U₀ − u)/U for which a perturbation about U₀ is used as published. A Mariner with 40° of
rudder comes to 0.31; the terms X_δδ + X_uδδ a, a rudder's drag, would pull ahead beyond 0.5."""
CORNER = 0.05
"""Half-width of the rounded edge of that range over U₀."""
SPIN = 5.0
"""Largest ωL/U in a term that is divided by U more often than it is multiplied with a linear
velocity. The tightest turns of ships and boats have 1 to 2.5; on the spot it is infinite."""


class Term(NamedTuple):
    """One product: which force it feeds and what it multiplies."""

    dof: int
    velocities: tuple[int, ...]
    absolutes: tuple[int, ...]
    actuators: tuple[int, ...]
    """Indices into the actuator state."""
    speed_power: int
    """Power of the instantaneous reference speed; 0 when the coefficient is dimensional."""

    @property
    def needs_way(self) -> bool:
        """Whether it grows without limit on a vehicle that turns on the spot."""
        linear = sum(i < 3 for i in (*self.velocities, *self.absolutes))
        return linear < -self.speed_power


@pytree
class Coefficients:
    """The polynomial of one vehicle."""

    values: jax.Array
    """(K,) dimensional coefficients."""
    about_speed: jax.Array
    """Surge speed U₀ that is subtracted from u, m/s."""
    pull: jax.Array | None
    """Surge force per speed cut off at the edge of the range, N s/m; None where nothing is cut
    off: without a service speed, or with a fixed reference speed."""
    length: jax.Array
    """Reference length L, m."""
    terms: tuple[Term, ...] = static()


def force(
    model: Coefficients, relative: Twist, actuators: jax.Array, density_ratio: Scalar
) -> Wrench:
    """Evaluate the polynomial at the velocity relative to the water."""
    speed = jnp.sqrt(dot(relative.linear, relative.linear) + 1e-12)
    deviation: Scalar = relative.u - model.about_speed
    components: list[Scalar] = [0.0] * 6
    if model.pull is not None:
        # |u| has a corner at rest: harmless where it is multiplied with a speed, not in the pull.
        corner = 2.0 * CORNER * model.about_speed
        near_rest = 0.5 * (speed * speed * (1.0 / corner) + corner)
        rounded = jnp.where(speed < corner, near_rest, speed)
        components[0] = model.pull * cut_off(deviation, rounded, model.about_speed)
        deviation = deviation + cut_off(deviation, speed, model.about_speed)
    nu = (deviation, *relative[1:])
    # Factors first, then coefficients, then powers of the speed once for all terms that have them:
    # what Y and N have in common is computed once.
    alike: dict[tuple[int, int, bool], Scalar] = {}
    for k, term in enumerate(model.terms):
        factors = [nu[i] for i in term.velocities]
        factors += [jnp.abs(nu[i]) for i in term.absolutes]
        factors += [actuators[a] for a in term.actuators]
        product = model.values[k] * reduce(mul, factors) if factors else model.values[k]
        key = (term.dof, term.speed_power, term.needs_way)
        alike[key] = alike[key] + product if key in alike else product
    for (dof, power, needs_way), found in alike.items():
        if power > 0:
            found = found * speed**power
        elif power < 0:
            slowest = speed
            if needs_way:
                spin = jnp.sqrt(dot(relative.angular, relative.angular) + 1e-12)
                slowest = jnp.maximum(speed, spin * model.length / SPIN)
            found = found * (1.0 / slowest) ** -power
        components[dof] = components[dof] + found
    return Wrench(*(density_ratio * c for c in components))


def cut_off(deviation: Scalar, speed: Scalar, about_speed: Scalar) -> Scalar:
    """What holds u − U₀ at −RANGE · U: 0 within the range, −(u − U₀) − RANGE · U below, rounded
    between."""
    width = CORNER * about_speed
    under = jnp.minimum(deviation + RANGE * speed - width, 0.0)
    parabola = under * under * (0.25 / width)
    return jnp.where(under < -2.0 * width, -width - under, parabola)
