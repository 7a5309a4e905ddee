"""A rudder in the race of a propeller, by the MMG standard method.

F_N = ½ρ A f_α U_R² sin α_R, α_R = δ − atan(v_R/u_R), U_R² = u_R² + v_R², with δ to starboard and

u_R = ε √(η q² + (1 − η) u_P²), q = u_P + κ (√(u_P² + 8 K_T n² D²/π) − u_P), η = D/H
v_R = γ (U β − ℓ_R r), γ one for each sign of v_R

X = −(1 − t_R) F_N sin δ, Y = −(1 + a_H) F_N cos δ, N = −(x_R + a_H x_H) F_N cos δ

Yasukawa and Yoshimura (2015), the MMG standard method; q is their u_P (1 + κ(√(1 + 8K_T/πJ²) − 1))
without the division by J, so that a ship at rest steers with her propeller. The method is one of
the horizontal plane: the force heels nobody. A propeller that turns astern makes no race over the
rudder; outside the race, water from astern pushes the other way.
"""

import jax
import jax.numpy as jnp

from seatrial.core.actuators.thruster import (
    OpenWater,
    advance_speed,
    drift_angle,
    thrust_coefficient,
)
from seatrial.core.surroundings import Surroundings
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import Scalar, Wrench, vec3


@pytree
class RaceRudder:
    """A rudder and the propeller ahead of it."""

    position: jax.Array
    """(3,) x_R and where it is in the water."""
    area: jax.Array
    lift_slope: jax.Array
    """f_α per rad."""
    in_race: jax.Array
    """η, the share of its height that the race meets."""
    wake_ratio: jax.Array
    """ε."""
    acceleration: jax.Array
    """κ."""
    drag_factor: jax.Array
    """1 − t_R."""
    side_factor: jax.Array
    """1 + a_H."""
    yaw_lever: jax.Array
    """x_R + a_H x_H, m."""
    straightening_starboard: jax.Array
    """γ in a turn to starboard, v_R > 0."""
    straightening_port: jax.Array
    turning_lever: jax.Array
    """ℓ_R, m."""
    propeller: OpenWater
    propeller_position: jax.Array
    propeller_channel: int = static()


def force(model: RaceRudder, angle: Scalar, state: jax.Array, around: Surroundings) -> Wrench:
    """Force of the rudder on the hull; a positive angle is to port."""
    along, across = inflow(model, state[model.propeller_channel], around)
    sine, cosine = jnp.sin(-angle), jnp.cos(angle)
    speed = jnp.sqrt(along * along + across * across + 1e-12)
    # U_R² sin α_R without the angle itself, which has no meaning in still water
    lift = speed * (along * sine - across * cosine)
    working = around.immersion(vec3(model.position), jnp.sqrt(model.area))
    normal = 0.5 * around.density * model.area * model.lift_slope * working * lift
    surge = -model.drag_factor * normal * sine
    sway = -model.side_factor * normal * cosine
    yaw = -model.yaw_lever * normal * cosine - model.position[1] * surge
    return Wrench(surge, sway, 0.0, 0.0, 0.0, yaw)


def inflow(model: RaceRudder, n: Scalar, around: Surroundings) -> tuple[Scalar, Scalar]:
    """u_R and v_R: the water along and across the rudder at no angle, m/s."""
    relative, propeller = around.relative, model.propeller
    ahead = (1.0, 0.0, 0.0)
    advance = advance_speed(propeller, ahead, vec3(model.propeller_position), relative)
    loading = jnp.where(n > 0, thrust_coefficient(propeller, n, advance), 0.0)
    behind = advance * advance + 8.0 / jnp.pi * loading * propeller.diameter**2
    # without thrust the race is as fast as the water that advances, in either direction
    gained = jnp.sqrt(jnp.maximum(behind, 0.0) + 1e-12) - jnp.abs(advance)
    race = advance + model.acceleration * jnp.where(n > 0, gained, 0.0)
    pressure = model.in_race * race * jnp.abs(race) + (1.0 - model.in_race) * advance * jnp.abs(
        advance
    )
    along = model.wake_ratio * jnp.sign(pressure) * jnp.sqrt(jnp.abs(pressure) + 1e-12)
    speed, drift = drift_angle(relative)
    across = speed * drift - model.turning_lever * relative.r
    straightening = jnp.where(across > 0, model.straightening_starboard, model.straightening_port)
    return along, straightening * across
