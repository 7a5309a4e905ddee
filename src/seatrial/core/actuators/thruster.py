"""Propellers, fixed or turning, by a thrust curve, an open-water diagram or in newtons."""

import jax
import jax.numpy as jnp

from seatrial.core.actuators.drive import Drive, follow
from seatrial.core.surroundings import Surroundings
from seatrial.pytree import pytree, static
from seatrial.spatial.vectors import (
    Scalar,
    Twist,
    Vec3,
    Wrench,
    add,
    cross,
    dot,
    scale,
    vec3,
    wrench_at,
)


@pytree
class ThrustCurve:
    """T = Σ c_i nⁱ ahead and −Σ c_i |n|ⁱ astern, n in rev/s."""

    ahead: jax.Array
    astern: jax.Array
    torque_per_thrust: jax.Array


@pytree
class Characteristic:
    """K_T or K_Q over J: the line `values[0] + values[1] J` or a table over `advance`."""

    values: jax.Array
    advance: jax.Array | None
    at_zero: jax.Array
    """K at J = 0, which holds astern."""


@pytree
class DriftWake:
    """How the wake of a hull leaves its propeller as the ship turns.

    (1 − w) = (1 − w₀) (1 + (1 − exp(−C₁|β_P|)) (C₂ − 1)), β_P = β − x_P r/U, with one C₂ for each
    sign of β_P (Yasukawa and Yoshimura 2015).
    """

    rate: jax.Array
    """C₁ per rad."""
    starboard: jax.Array
    """C₂ in a turn to starboard, β_P > 0."""
    port: jax.Array


@pytree
class OpenWater:
    """T = (1 − t) ρ D⁴ K_T(J) |n| n, Q = ρ D⁵ K_Q(J) |n| n, J = (1 − w) u / (n D).

    Fossen (2021) section 9.1. Astern, K_T(0) holds whatever J is, times a factor.
    """

    diameter: jax.Array
    kt: Characteristic
    kq: Characteristic | None
    wake_factor: jax.Array
    """1 − w."""
    deduction_factor: jax.Array
    """1 − t."""
    astern_factor: jax.Array
    torque_factor: jax.Array
    drift: DriftWake | None = None


@pytree
class DirectThrust:
    """The state is the thrust itself, N."""

    torque_per_thrust: jax.Array


@pytree
class Thruster:
    """One thruster."""

    position: jax.Array
    direction: jax.Array
    """(3,) unit vector of positive thrust."""
    size: jax.Array
    """Diameter over which it loses its thrust as it leaves the water, m."""
    drive: Drive
    azimuth: Drive | None
    propulsor: ThrustCurve | OpenWater | DirectThrust
    channel: int = static()
    azimuth_channel: int = static()
    """Channel of the angle; −1 for a fixed thruster."""
    handedness: int = static()
    """+1 right-handed, −1 left-handed, 0 without torque on the hull."""


def advance(model: Thruster, states: list[Scalar], command: jax.Array, dt: float) -> None:
    """Move the shaft speed (or thrust) and the angle towards their commands."""
    i = model.channel
    states[i] = follow(model.drive, states[i], command[i], dt)
    if model.azimuth is not None:
        j = model.azimuth_channel
        states[j] = follow(model.azimuth, states[j], command[j], dt)


def force(model: Thruster, state: jax.Array, around: Surroundings) -> Wrench:
    """Thrust at the thruster's place and torque about its axis."""
    position = vec3(model.position)
    direction = vec3(model.direction)
    if model.azimuth is not None:
        direction = _turned(direction, state[model.azimuth_channel])
    thrust, torque = _thrust(model, state[model.channel], direction, position, around)
    working = around.immersion(position, model.size)
    wrench = wrench_at(scale(working * thrust, direction), position)
    if model.handedness == 0:
        return wrench
    # A right-handed propeller turns clockwise seen from astern; the hull feels the reaction.
    reaction = scale(-model.handedness * working * torque, direction)
    return Wrench(*wrench.force, *add(wrench.moment, reaction))


def _thrust(
    model: Thruster, value: Scalar, direction: Vec3, position: Vec3, around: Surroundings
) -> tuple[Scalar, Scalar]:
    """Thrust and shaft torque."""
    if isinstance(model.propulsor, DirectThrust):
        return value, value * model.propulsor.torque_per_thrust
    if isinstance(model.propulsor, ThrustCurve):
        curve = model.propulsor
        ahead, astern = jnp.maximum(value, 0.0), jnp.maximum(-value, 0.0)
        thrust = jnp.where(
            value >= 0, _polynomial(curve.ahead, ahead), -_polynomial(curve.astern, astern)
        )
        thrust = around.density_ratio * thrust
        return thrust, thrust * curve.torque_per_thrust
    advance = advance_speed(model.propulsor, direction, position, around.relative)
    return _open_water(model.propulsor, value, advance, around.density)


def advance_speed(model: OpenWater, direction: Vec3, position: Vec3, relative: Twist) -> Scalar:
    """Speed (1 − w) u of the water through the propeller, m/s."""
    flow = add(relative.linear, cross(relative.angular, position))
    advance = model.wake_factor * dot(flow, direction)
    if model.drift is None:
        return advance
    speed, drift = drift_angle(relative)
    at_propeller = drift - position[0] * relative.r / speed
    gain = jnp.where(at_propeller > 0, model.drift.starboard, model.drift.port) - 1.0
    return advance * (1.0 - gain * jnp.expm1(-model.drift.rate * jnp.abs(at_propeller)))


def drift_angle(relative: Twist) -> tuple[Scalar, Scalar]:
    """Speed in the horizontal plane and drift angle, positive with the flow from starboard.

    A ship that goes astern has the angle of her mirror image: it is the flow across the stern that
    counts, and the angle itself would jump from π to −π there.
    """
    speed = jnp.sqrt(relative.u * relative.u + relative.v * relative.v + 1e-9)
    # atan2 has no gradient at the origin, and a ship at rest no drift
    along = jnp.where(speed < 1e-4, 1e-4, jnp.abs(relative.u))
    return speed, jnp.arctan2(-relative.v, along)


def _open_water(
    model: OpenWater, n: Scalar, advance: Scalar, density: Scalar
) -> tuple[Scalar, Scalar]:
    d = model.diameter
    kt = thrust_coefficient(model, n, advance)
    thrust = model.deduction_factor * density * d**4 * kt
    if model.kq is None:
        return thrust, 0.0
    kq = jnp.where(
        n > 0,
        _coefficient_times_n2(model.kq, n, advance / d),
        model.kq.at_zero * jnp.abs(n) * n,
    )
    return thrust, model.torque_factor * density * d**5 * kq


def thrust_coefficient(model: OpenWater, n: Scalar, advance: Scalar) -> Scalar:
    """K_T |n| n of a propeller that advances through the water."""
    return jnp.where(
        n > 0,
        _coefficient_times_n2(model.kt, n, advance / model.diameter),
        model.astern_factor * model.kt.at_zero * jnp.abs(n) * n,
    )


def _coefficient_times_n2(curve: Characteristic, n: Scalar, advance: Scalar) -> Scalar:
    """K(J) n² for n > 0, without dividing by n where the curve is a line."""
    if curve.advance is None:
        return curve.values[0] * n * n + curve.values[1] * advance * n
    j = advance / jnp.maximum(n, 1e-6)
    return jnp.interp(j, curve.advance, curve.values) * n * n


def _polynomial(coefficients: jax.Array, x: Scalar) -> Scalar:
    value: Scalar = coefficients[-1]
    for i in range(coefficients.shape[0] - 2, -1, -1):
        value = value * x + coefficients[i]
    return value


def _turned(direction: Vec3, angle: Scalar) -> Vec3:
    c, s = jnp.cos(angle), jnp.sin(angle)
    x, y, z = direction
    return c * x - s * y, s * x + c * y, z
