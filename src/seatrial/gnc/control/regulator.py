"""A linear quadratic regulator of a vehicle's pose, with input dynamics, for a demanded wrench.

After P. G. O. Zwilgmeyer, *Creating a Synthetic Underwater Dataset for Egomotion Estimation and 3D
Reconstruction* (2021), section 2.4: all degrees of freedom are driven to a reference pose by

    τ = τ₀ + K_p e + d v_r − K_v ν,   v_r = K_p e / K_v

with the pose error e and the velocity ν in the vehicle's axes, τ₀ that which holds it at rest, and
the drag d of the velocity v_r at which such a law approaches its reference. Two equal lags (eq.
2.16, here with a gain of one) keep jumps of the reference out of the acceleration. Roll and pitch,
whose reference is level and never jumps, go around the lags, and Munk's moment is taken away there.
Far from its reference such a vehicle would go as fast as its thrusters can: e is held so short that
v_r is the speed that is asked for. There is no integral: a steady force that the model does not
know, such as a current's, is met by an offset of that force over K_p.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.gnc.control.lqr import SecondOrderInput, ramp
from seatrial.gnc.types import Estimate, Setpoint
from seatrial.pytree import pytree
from seatrial.spatial.gradients import root
from seatrial.spatial.rotations import rotation, to_euler
from seatrial.spatial.trig import wrap_signed
from seatrial.spatial.vectors import vec3


@pytree
class Regulator:
    """Gains, zero for degrees of freedom that the vehicle does not control."""

    pose: jax.Array
    """K_p, (6, 6)."""
    velocity: jax.Array
    """K_v, (6, 6)."""
    rest: jax.Array
    """τ₀, (6, 1)."""
    slowness: jax.Array
    """(6, 1) pose error per velocity at which it is approached, K_v / K_p of each axis, s."""
    drag: jax.Array
    """d, (6, 1), N s/m and N m s."""
    coupling: jax.Array
    """(2, 1) rolling moment per product of sway and heave, pitching per that of surge and heave:
    Munk's, which would turn a hull that sinks on its way across it; kg."""
    inputs: SecondOrderInput


class RegulatorState(NamedTuple):
    """The wrench on its way through the lags, (6, N)."""

    inner: jax.Array
    demand: jax.Array


def begin(count: int, dtype: Any) -> RegulatorState:
    """Memory of an idle regulator."""
    return RegulatorState(jnp.zeros((6, count), dtype), jnp.zeros((6, count), dtype))


def regulate(
    regulator: Regulator,
    memory: RegulatorState,
    setpoint: Setpoint,
    believed: Estimate,
    period: float,
) -> tuple[RegulatorState, jax.Array]:
    """Wrench (6, N) towards a position, or by a velocity and a depth where none is asked for."""
    turn = rotation(believed.attitude)
    roll, pitch, yaw = to_euler(believed.attitude)
    heading = jnp.where(jnp.isfinite(setpoint.heading), setpoint.heading, setpoint.course)
    slow = regulator.slowness
    away = jnp.stack(turn.to_body(vec3(setpoint.position - believed.position)))
    there = away / slow[:3]
    fast = root(jnp.sum(there * there, axis=0))
    most = jnp.where(jnp.isfinite(setpoint.velocity[0]), setpoint.velocity[0], fast)
    there = there * jnp.minimum(1.0, most / jnp.maximum(fast, 1e-9))
    sinking = (setpoint.depth - believed.position[2]) / slow[2]
    level = setpoint.velocity.at[2].set(
        jnp.where(jnp.isfinite(setpoint.depth), sinking, setpoint.velocity[2])
    )
    wanted = jnp.where(jnp.isfinite(setpoint.position[0]), there, level)
    turned = wrap_signed(heading - yaw) / slow[5]
    turned = jnp.where(jnp.isfinite(heading), turned, setpoint.yaw_rate)
    tilt = jnp.where(jnp.isfinite(setpoint.pitch), setpoint.pitch, 0.0)
    rates = jnp.concatenate(
        [wanted, jnp.stack([-roll / slow[3], (tilt - pitch) / slow[4], turned])]
    )
    asked = jnp.isfinite(rates)  # what nobody asks for is left alone
    rates = jnp.where(asked, rates, 0.0)
    moves = jnp.where(asked, believed.velocity, 0.0)
    order = regulator.rest + regulator.drag * rates
    order += _product(regulator.pose, rates * slow) - _product(regulator.velocity, moves)
    square = regulator.inputs.poles**2
    inner, demand = ramp(regulator.inputs, memory.inner, memory.demand, square * order, period)
    munk = regulator.coupling * believed.velocity[1::-1] * believed.velocity[2]
    level_out = demand.at[3:5].set(order[3:5] - munk)
    dtype = memory.demand.dtype
    return RegulatorState(inner.astype(dtype), demand.astype(dtype)), level_out


def _product(matrix: jax.Array, vectors: jax.Array) -> jax.Array:
    # A sum, because the product of small matrices is not exact on every device.
    return jnp.sum(matrix[:, :, None] * vectors[None], axis=1)
