"""Differentiate a whole run: what would less drag gain the Otter in ten seconds?"""

import dataclasses

import jax
import jax.numpy as jnp

import seatrial as st
from seatrial.core.forces.coefficients import Term
from seatrial.core.step import step

plan = st.compile_scenario("otter-zigzag")
fleet = plan.fleets[0]  # the vehicles of one kind, and the ocean in their precision
group = fleet.group  # one model, N states
polynomial = group.model.coefficients
X_U = polynomial.terms.index(Term(0, (0,), (), (), 0))  # surge force, by u alone
STEPS = 500


def distance(values: jax.Array) -> jax.Array:
    """Metres made good to the north at 660 rpm with these coefficients."""
    changed = dataclasses.replace(polynomial, values=values)
    model = dataclasses.replace(group.model, coefficients=changed)
    orders = jnp.full((2, 1), 660 / 60)  # rev/s: two channels, one vehicle

    def advance(state, i):
        dt = plan.schedule.time_step
        return step(model, fleet.ocean, state, orders, i * dt, dt), None

    end, _ = jax.lax.scan(advance, group.initial, jnp.arange(STEPS))
    return end.position[0, 0]


with jax.enable_x64(True):  # core is used directly, so its precision is ours to set
    run, values = jax.jit(distance), polynomial.values
    slope = jax.jit(jax.grad(distance))(values)[X_U]
    nudge = jnp.zeros_like(values).at[X_U].set(0.01)
    differences = (run(values + nudge) - run(values - nudge)) / 0.02
    print(f"{run(values):.3f} m; d/dX_u = {slope:.6f}, by differences {differences:.6f}")
    assert abs(slope - differences) < 1e-6
