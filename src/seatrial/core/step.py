"""One step of one vehicle, or of as many as the arrays hold.

(M_RB + M_A) (ν̇ + [ω × v_f, 0]) = τ − C_RB(ν_r) ν_r − C_A(ν_r) ν_r + M_A a_f + ρ∇ a_f

with ν_r = ν − ν_f the velocity relative to the water (Fossen 2021, chapter 10), v_f the water's
velocity in body axes and a_f = Dv_f/Dt its own acceleration. v_f need not be constant in the body
frame: −ω × v_f is how it changes there while the body turns. Since M_RB ν̇ + C_RB(ν) ν equals
M_RB (ν̇ + [ω × v_f, 0]) + C_RB(ν_r) ν_r for any v_f, a craft in a uniform current moves exactly
as in still water, also when its coefficients hold the Coriolis terms or when it is half out of
the water. What is assumed is that the flow varies little over the hull: it is sampled at one
point.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial.core import actuators as actuating
from seatrial.core import contact, impairment
from seatrial.core.environment import surroundings
from seatrial.core.forces import coefficients, crossflow, restoring, wind
from seatrial.core.integrate import Rates, pose_rate, rk4, semi_implicit
from seatrial.core.rigid_body import acceleration, answering, coriolis, multiply
from seatrial.core.surroundings import Surroundings
from seatrial.core.types import Model, State
from seatrial.ocean import Ocean
from seatrial.spatial.rotations import normalise, rotation
from seatrial.spatial.vectors import (
    Scalar,
    Twist,
    Vec3,
    Wrench,
    cross,
    scale,
    scale_wrench,
    total,
    vec3,
    wrench_at,
)


def step(
    model: Model, ocean: Ocean, state: State, command: jax.Array, t: jax.Array, dt: float
) -> State:
    """State after `dt` under a constant command. Pure: `jit`, `vmap`, `scan` and `grad` apply."""
    return stepped(model, ocean, state, command, t, dt).state


class Stepped(NamedTuple):
    """What one step leads to."""

    state: State
    rates: jax.Array
    """(6, ...) ν̇ at its beginning, contact's in the mean over it."""
    load: contact.Load | None
    """What was touched of the bottom and of solids; None for a vehicle that has nothing to
    touch."""
    met: contact.Load | None
    """The same of other vehicles; None for one that passes through them."""


def stepped(
    model: Model, ocean: Ocean, state: State, command: jax.Array, t: jax.Array, dt: float
) -> Stepped:
    """The same, with what the step knows besides."""
    one = [model], [ocean], [state]
    free = free_together(*one, [command], t, dt)
    near = anything_near(*one, free, t + dt)
    if near is None:
        return free[0]
    found: list[Stepped] = jax.lax.cond(near, lambda: touched(*one, free, t, dt), lambda: free)
    return found[0]


def free_together(
    models: Sequence[Model],
    oceans: Sequence[Ocean],
    states: Sequence[State],
    commands: Sequence[jax.Array],
    t: jax.Array,
    dt: float,
) -> list[Stepped]:
    """Steps of vehicles that pass through everything."""
    return [_free(*one, t, dt) for one in zip(models, oceans, states, commands, strict=True)]


def _free(
    model: Model, ocean: Ocean, state: State, command: jax.Array, t: jax.Array, dt: float
) -> Stepped:
    harm = model.impairment
    half = actuating.advance(model.actuators, state.actuators, command, 0.5 * dt, harm)
    full = actuating.advance(model.actuators, half, command, 0.5 * dt, harm)

    def rate(at: State, time: jax.Array) -> Rates:
        return derivative(model, ocean, at, time)

    if model.integrator == "rk4":
        after, rates = rk4(rate, state, (half, full), t, dt)
    else:
        after, rates = semi_implicit(rate, state, full, t, dt)
    if model.contact is None:
        return Stepped(after, rates, None, None)
    load = contact.untouched(after.velocity[0])
    return Stepped(after, rates, load, None if model.contact.near is None else load)


def anything_near(
    models: Sequence[Model],
    oceans: Sequence[Ocean],
    before: Sequence[State],
    free: Sequence[Stepped],
    t: jax.Array,
) -> jax.Array | None:
    """Whether steps that end at `t` may have met something; None where there is nothing to meet."""
    sides = _sides(models, oceans, before, free)
    return contact.near(sides, t) if sides else None


def touched(
    models: Sequence[Model],
    oceans: Sequence[Ocean],
    before: Sequence[State],
    free: Sequence[Stepped],
    t: jax.Array,
    dt: float,
) -> list[Stepped]:
    """Steps that were free, with what contact makes of their ends."""
    sides = _sides(models, oceans, before, free)
    responses = [
        answering(model.inertia, surroundings(model, ocean, start, t).wet)
        for model, ocean, start in zip(models, oceans, before, strict=True)
    ]
    found = contact.pushed(sides, responses, t + dt, dt)
    return [
        _pushed_on(side, end, push, dt) for side, end, push in zip(sides, free, found, strict=True)
    ]


def _sides(
    models: Sequence[Model],
    oceans: Sequence[Ocean],
    before: Sequence[State],
    free: Sequence[Stepped],
) -> list[contact.Side]:
    """Those that can be touched, at the end of steps without it.

    They are made where they are used: what passes the border of a branch is written out in every
    step, number by number.
    """
    return [
        contact.Side(
            hull=model.contact,
            ocean=ocean,
            moved=contact.Moved(
                place=vec3(end.state.position),
                turned=rotation(end.state.attitude),
                velocity=Twist(*end.state.velocity),
                before=Twist(*start.velocity),
            ),
            # As far as the integrator moves on by a constant acceleration.
            share=0.5 if model.integrator == "rk4" else 1.0,
            afloat=isinstance(model.restoring, restoring.SurfaceRestoring),
        )
        for model, ocean, start, end in zip(models, oceans, before, free, strict=True)
        if model.contact is not None
    ]


def _pushed_on(side: contact.Side, free: Stepped, push: contact.Pushed, dt: float) -> Stepped:
    """The end of a step with what contact adds to its velocity."""
    state, ahead = free.state, side.share * dt
    position, attitude = pose_rate(state.attitude, push.change)
    after = replace(
        state,
        position=state.position + ahead * position,
        attitude=normalise(state.attitude + ahead * attitude),
        velocity=state.velocity + push.change,
    )
    return Stepped(after, free.rates + push.change / dt, push.load, push.met)


def derivative(model: Model, ocean: Ocean, state: State, t: jax.Array) -> Rates:
    """ν̇, and the rates of the forces that remember."""
    return accelerate(model, ocean, state, surroundings(model, ocean, state, t), t)


def accelerate(
    model: Model, ocean: Ocean, state: State, around: Surroundings, t: jax.Array
) -> Rates:
    """The same when the surroundings are known already."""
    shape = state.velocity.shape[1:]

    def rows(values: Iterable[Scalar]) -> list[jax.Array]:
        return [jnp.broadcast_to(v, shape) for v in values]

    # Each of the six rows needs all forces, and without a barrier computes them all: on a processor
    # it costs least to stop at the forces, which have little in common, on a GPU at the rates. What
    # rows of craft under water share is so little that they are quicker without.
    barrier: Any = jax.lax.optimization_barrier  # JAX gives it no types
    on_processor = jax.default_backend() == "cpu"
    load = wrench(model, ocean, state, around, t)
    if on_processor and isinstance(model.restoring, restoring.SurfaceRestoring):
        load = Wrench(*barrier(jnp.stack(rows(load))))
    rates = acceleration(model.inertia, load, around.wet)
    if around.fluid_velocity is not None:
        turning = cross(around.fluid_velocity, around.velocity.angular)
        rates = [r + c for r, c in zip(rates, (*turning, 0.0, 0.0, 0.0), strict=True)]
    found = jnp.stack(rows(rates) if on_processor else barrier(rows(rates)))
    remembering = zip(model.memory_forces, state.memory, strict=True)
    return Rates(found, tuple(f.rates(memory, around) for f, memory in remembering))


def wrench(model: Model, ocean: Ocean, state: State, around: Surroundings, t: jax.Array) -> Wrench:
    """Everything that acts on the vehicle but contact, about its origin, body axes."""
    working = around.density_ratio * around.wet
    loads = [hydrostatics(model, around), inertial(model, around)]
    if model.coefficients is not None:
        loads.append(
            coefficients.force(model.coefficients, around.relative, state.actuators, working)
        )
    if model.crossflow is not None:
        loads.append(crossflow.force(model.crossflow, around.relative, working))
    if around.excitation is not None:
        # The pressure gradient acts on what is under water now. With the mean volume the mean
        # force would be missing by which a body that damps waves is carried along (P/c of the
        # power P it takes from waves of phase speed c).
        push = scale(around.density_ratio * around.volume_ratio, around.excitation.force)
        loads.append(Wrench(*push, *scale(working, around.excitation.moment)))
    if around.hull is not None:
        loads.append(around.hull)
    if model.wind is not None and ocean.wind is not None:
        loads.append(wind.force(model.wind, ocean.wind, around, t))
    remembering = zip(model.memory_forces, state.memory, strict=True)
    loads += [force.wrench(memory, around) for force, memory in remembering]
    if model.impairment is None:
        loads += [actuating.force(a, state.actuators, around) for a in model.actuators]
        return total(loads)
    loads += [
        actuating.force(a, state.actuators, around, harm)
        for a, harm in zip(model.actuators, model.impairment.actuators, strict=True)
    ]
    if model.impairment.drag_area is not None:
        loads.append(impairment.drag(model.impairment.drag_area, around))
    if model.impairment.water is not None:
        centre = model.restoring.gravity_centre
        loads.append(impairment.weight(model.impairment.water, around, centre))
    return total(loads)


def hydrostatics(model: Model, around: Surroundings) -> Wrench:
    """Weight and buoyancy."""
    hull = model.restoring
    if isinstance(hull, restoring.SubmergedRestoring):
        return restoring.submerged(hull, around.rotation, around.density, around.slices)
    if model.hull is not None and model.hull.holds:
        return restoring.weight(hull, around.rotation)
    return restoring.surface(
        hull,
        around.rotation,
        around.density,
        around.density_ratio,
        around.volume_ratio,
        around.wet,
    )


def inertial(model: Model, around: Surroundings) -> Wrench:
    """Coriolis forces of body and added mass, and the forces of the water's own acceleration."""
    inertia = model.inertia
    loads: list[Wrench] = []
    if inertia.rigid_coriolis:
        # The body turns with its own rate, also where the waves turn the water around it.
        moving = Twist(*around.relative.linear, *around.velocity.angular)
        own = coriolis(inertia.rigid_body, inertia.rigid_pattern, moving)
        loads.append(scale_wrench(-1.0, own))
    if inertia.added_coriolis:
        fluid = coriolis(inertia.added_mass, inertia.added_pattern, around.relative)
        loads.append(scale_wrench(-around.wet, fluid))
    if around.wave_acceleration is not None:
        # In the axes of the hull, which moves more water in heave than in surge: turned with a
        # leaning hull like a weight, the vertical force would have a mean ahead and drive it.
        waves = multiply(inertia.added_mass, inertia.added_pattern, around.wave_acceleration)
        loads.append(scale_wrench(around.wet, Wrench(*waves)))
    if around.fluid_acceleration is not None:
        loads.append(fluid_inertia(model, around, around.fluid_acceleration))
    return total(loads)


def fluid_inertia(model: Model, around: Surroundings, acceleration: Vec3) -> Wrench:
    """M_A a_f + ρ∇ a_f: added mass against the water's acceleration, and its pressure gradient.

    The gradient acts at the centre of buoyancy. A surface craft is carried along at its centre of
    gravity instead: the slope of the surface that drives such a flow, and would trim the craft,
    is not part of a current.
    """
    inertia, hull = model.inertia, model.restoring
    uniform = (*acceleration, 0.0, 0.0, 0.0)
    added = Wrench(*multiply(inertia.added_mass, inertia.added_pattern, uniform))
    if isinstance(hull, restoring.SubmergedRestoring):
        displaced = scale(around.density * hull.volume, acceleration)
        pressure = wrench_at(displaced, vec3(hull.buoyancy_centre))
    else:
        body = Wrench(*multiply(inertia.rigid_body, inertia.rigid_pattern, uniform))
        pressure = scale_wrench(around.density_ratio, body)
    return scale_wrench(around.wet, total([added, pressure]))
