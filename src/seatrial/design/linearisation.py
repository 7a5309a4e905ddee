"""Trim and linear model of a vehicle, by differentiating its own equations of motion.

The states are x = [north, east, down, roll, pitch, yaw, u, v, w, p, q, r], the inputs a wrench in
body axes; about straight and level motion at a given speed in calm water of the reference density.
"""

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from seatrial.core.environment import surroundings
from seatrial.core.forces.memory import memory_at_rest
from seatrial.core.rigid_body import acceleration
from seatrial.core.step import accelerate
from seatrial.core.types import Model, State
from seatrial.design.authority import Craft, carried_wrench
from seatrial.ocean import Ocean
from seatrial.programs import compile_program
from seatrial.spatial.rotations import derivative, from_euler, rotation, to_euler
from seatrial.spatial.vectors import Wrench, vec3

Array = NDArray[np.float64]

FASTEST = 30.0
"""Up to where the speed of a vehicle is looked for, m/s."""

ITERATIONS = 30

MOST_TRIM = 0.17
"""Largest steady pitch that thrust and flow may cause where nothing controls it, rad."""

LEVEL_STEP = 0.01
"""Step with which the speed of that pitch is looked for, m/s."""

TILT_RATE = 0.1
"""Rates of uncontrolled roll and pitch, to either side, for which the linear model holds, rad/s."""


@dataclasses.dataclass(frozen=True)
class Linear:
    """A trimmed vehicle, ẋ = A (x − state) + B (wrench − trim)."""

    speed: float
    state: Array
    """(12,) in trim."""
    wrench: Array
    """(6,) that holds the trim."""
    residual: float
    """Acceleration that no wrench within the vehicle's control takes away, m/s² or rad/s²."""
    A: Array
    B: Array
    """(12, 6) for a wrench."""
    carried: Array
    """(6, 6) wrench that comes with a demand: a rudder that turns also pushes sideways. Columns
    of degrees of freedom that the vehicle does not control are zero."""


def linearise(craft: Craft, speed: float, dof: int = 0) -> Linear:
    """Trim at a speed ahead, or to starboard (`dof` 1), by Newton's method, and the derivatives
    there."""
    x = craft.at_rest
    x[6 + dof] = speed
    wrench = np.zeros(6)
    carried = carried_wrench(craft, speed if dof == 0 else 0.0)
    free = _free_states(craft)
    demanded = list(craft.dofs)
    # Straight and level: the depth does not change, and neither does the velocity.
    kept = [2, 6, 7, 8, 9, 10, 11]
    for _ in range(ITERATIONS):
        rates, A, B = _evaluate(craft, x, wrench)
        slopes = np.hstack([A[np.ix_(kept, free)], (B @ carried)[np.ix_(kept, demanded)]])
        sizes = np.linalg.norm(slopes, axis=0)
        sizes[sizes == 0] = 1.0
        step = np.linalg.lstsq(slopes / sizes, -rates[kept], rcond=1e-9)[0] / sizes
        step *= min(1.0, 0.3 / max(np.abs(step[: len(free)]).max(initial=0.0), 1e-12))
        x[free] += step[: len(free)]
        wrench = wrench + carried[:, demanded] @ step[len(free) :]
        if np.abs(step[: len(free)]).max(initial=0.0) < 1e-10:
            break
    rates, _, B = _evaluate(craft, x, wrench)
    residual = float(np.abs(rates[kept]).max())
    # Roll and pitch are often damped by the square of their rates alone: at rest, not at all.
    # Where the vehicle does not control them, what counts is how they swing.
    tilting = np.zeros(12)
    tilting[[6 + dof for dof in (3, 4) if dof not in craft.dofs]] = TILT_RATE
    A = 0.5 * (_evaluate(craft, x + tilting, wrench)[1] + _evaluate(craft, x - tilting, wrench)[1])
    return Linear(float(x[6 + dof]), x, wrench, residual, A, B, carried)


def _free_states(craft: Craft) -> list[int]:
    """States that settle by themselves, because the vehicle does not control what holds them."""
    free = [8]  # heave follows from level motion
    if craft.floats:
        free.append(2)
    holders = {0: 6, 1: 7, 3: 3}  # surge, sway and roll; the speed is free without surge
    free += [state for dof, state in holders.items() if dof not in craft.dofs]
    if not {2, 4} <= set(craft.dofs):
        free.append(4)  # the pitch balances a heave that nothing else balances
    return sorted(free)


def service_speed(craft: Craft) -> float | None:
    """Speed at which the orders `ahead` balance the resistance, m/s."""
    if craft.ahead is None:
        return None
    from scipy.optimize import brentq

    actuators = np.zeros(craft.actuator_states)
    actuators[: len(craft.ahead)] = craft.ahead
    rates = _program(_rates, craft)

    def surge(speed: float) -> float:
        x = craft.at_rest
        x[6] = speed
        return float(np.asarray(rates(craft.model, craft.ocean, x, np.zeros(6), actuators))[6])

    if surge(1e-3) <= 0.0 or surge(FASTEST) >= 0.0:
        return None
    return float(brentq(surge, 1e-3, FASTEST, xtol=1e-6))


def fastest_level(craft: Craft) -> float | None:
    """Speed up to which a hovering craft that does not control its pitch keeps it small, m/s.

    None for other craft.
    """
    if craft.floats or not {0, 2} <= set(craft.dofs) or 4 in craft.dofs:
        return None
    speed = 0.0
    while speed < FASTEST:
        trim = linearise(craft, speed + LEVEL_STEP)
        if trim.residual > 1e-6 or abs(trim.state[4]) > MOST_TRIM:
            return speed
        speed += LEVEL_STEP
    return None


def slopes_at(craft: Craft, linear: Linear, dof: int, velocity: float) -> Array:
    """A with another velocity of one degree of freedom."""
    x = linear.state.copy()
    x[6 + dof] = velocity
    return _evaluate(craft, x, linear.wrench)[1]


def coupling(craft: Craft, linear: Linear, dof: int, tilt: int) -> float:
    """Moment about a tilting axis per product of a velocity along `dof` and that of heave.

    Munk's moment of the added mass: (X_u̇ − Z_ẇ) u w about the pitch axis.
    """

    def moment(along: float, heave: float) -> float:
        x = linear.state.copy()
        x[6 + dof], x[8] = along, heave
        rates, _, B = _evaluate(craft, x, linear.wrench)
        return float(np.linalg.solve(B[6:], rates[6:])[tilt])

    size = 0.1
    both = moment(size, size) - moment(size, 0.0) - moment(0.0, size) + moment(0.0, 0.0)
    return both / size**2


def drag(craft: Craft, linear: Linear, dof: int, velocity: float) -> float:
    """Force against a velocity of one degree of freedom, beside that which holds the trim."""
    x = linear.state.copy()
    x[6 + dof] = velocity
    rates, _, B = _evaluate(craft, x, linear.wrench)
    mass_times_rates = np.linalg.solve(B[6:], rates[6:])
    return -float(mass_times_rates[dof])


def turning_drag(craft: Craft, linear: Linear, rate: float) -> float:
    """Moment against a steady turn in which nothing pushes sideways, N m.

    The hull slips outwards until Y(v, r) = 0, and N(v, r) is what that leaves: more than against
    the same rate without slip where the hull is a weathervane, less where it is unstable. NaN
    where no such slip is found.
    """
    x = linear.state.copy()
    x[11] = rate
    for _ in range(30):
        rates, A, B = _evaluate(craft, x, linear.wrench)
        force, slope = (np.linalg.solve(B[6:], part[6:]) for part in (rates, A[:, 7]))
        if slope[1] >= 0.0:
            return math.nan
        step = -force[1] / slope[1]
        x[7] += step
        if abs(step) < 1e-6 * max(linear.speed, 1e-3):
            return -float(force[5])
    return math.nan


def _evaluate(craft: Craft, x: Array, wrench: Array) -> tuple[Array, Array, Array]:
    actuators = np.zeros(craft.actuator_states)
    found = _program(_slopes, craft)(craft.model, craft.ocean, x, wrench, actuators)
    rates, (A, B) = (jax.tree.map(np.asarray, part) for part in found)
    return rates, A, B


@functools.lru_cache(maxsize=4)
def _program(function: Any, craft: Craft) -> Any:
    at = (np.zeros(12), np.zeros(6), np.zeros(craft.actuator_states))
    return compile_program(function, craft.model, craft.ocean, *at)


def _equations(model: Model, ocean: Ocean, x: Any, wrench: Any, actuators: Any) -> jax.Array:
    """ẋ under a wrench beside that of the actuators."""
    attitude = from_euler(x[3], x[4], x[5])
    memory = memory_at_rest(model.memory_forces, x[6:])
    state = State(x[:3], attitude, x[6:], actuators, memory)
    t = jnp.zeros(())
    around = surroundings(model, ocean, state, t)
    rates = accelerate(model, ocean, state, around, t).velocity
    extra = acceleration(model.inertia, Wrench(*wrench), around.wet)
    turning = derivative(attitude, vec3(x[9:]))
    _, angles = jax.jvp(to_euler, (attitude,), (turning,))
    moving = jnp.stack(rotation(attitude).to_world(vec3(x[6:9])))
    return jnp.concatenate([moving, angles, rates + jnp.stack(extra)])


_rates = jax.jit(_equations)


@jax.jit
def _slopes(
    model: Model, ocean: Ocean, x: jax.Array, wrench: jax.Array, actuators: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    both = jax.jacfwd(_equations, argnums=(2, 3))(model, ocean, x, wrench, actuators)
    return _equations(model, ocean, x, wrench, actuators), both
