"""One turn of the wheel, as pure functions: sense, command, step, record.

A run counts time steps. Commands change every `substeps` of them; sensors take their samples at
periods of their own; the loop moves on in ticks, the longest time that divides all of these.
"""

from functools import partial
from math import gcd
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from seatrial.core.environment import surroundings
from seatrial.core.forces.grounding import penetration
from seatrial.core.step import step_with_rates
from seatrial.core.types import Model, State
from seatrial.engine import commanders as commanding
from seatrial.engine import suite as sensing
from seatrial.engine.commanders import Commander
from seatrial.engine.suite import Fitted, Sample, Sensing, Window
from seatrial.faults import faults as faulting
from seatrial.faults.faults import Faults, Trouble
from seatrial.ocean import Ocean, wind
from seatrial.ocean.motion import motion
from seatrial.pytree import pytree, static
from seatrial.sensors.look import Look
from seatrial.spatial.vectors import vec3

RUNNING, DIVERGED, GROUNDED = 0, 1, 2
STATUS = {RUNNING: "completed", DIVERGED: "diverged", GROUNDED: "grounded"}

SPEED_LIMIT = 1e3
"""A vehicle faster than this (m/s or rad/s) has diverged."""


@pytree
class Group:
    """Vehicles of one kind that take orders in the same way: one Model, N states."""

    model: Model
    commander: Commander
    initial: State
    suite: tuple[Fitted, ...]
    """Sensors."""
    faults: Faults | None
    """What may break; None where nothing does."""
    varied: tuple[bool, ...] = static()
    """For each array of the Model whether its last axis counts the vehicles."""
    stop_when_grounded: bool = static()

    @property
    def count(self) -> int:
        """Number of vehicles."""
        return int(self.initial.position.shape[-1])


class Carry(NamedTuple):
    """What one frame hands to the next."""

    state: State
    memory: Any
    """Of the commander; arrays with the vehicles last."""
    sensing: tuple[Sensing, ...]
    trouble: Trouble | None
    status: jax.Array
    """(N,) codes of `STATUS`."""


class Observation(NamedTuple):
    """One frame of a group, component first, vehicles last (NumPy: time, vehicles, components)."""

    position: Any
    attitude: Any
    velocity: Any
    acceleration: Any
    actuators: Any
    command: Any
    current: Any
    wave_elevation: Any
    wave_velocity: Any
    wind: Any
    density: Any
    wet_fraction: Any
    faults: Any
    estimate: Any
    guidance: Any
    status: Any


class Outset(NamedTuple):
    """What was at the beginning of a stretch of time."""

    orders: jax.Array
    """(A, N) in force."""
    rates: jax.Array
    """(6, N) ν̇."""
    estimate: jax.Array
    """(E, N) what the vehicle believes, laid out as `frames.ESTIMATE`; E = 0 without a filter."""
    guidance: jax.Array
    """(G, N) where it is in its mission; G = 0 without one."""


Samples = tuple[Sample, ...]
"""What each sensor measured in a stretch of time; samples on the first axis."""

Orders = tuple[jax.Array, jax.Array]
"""Which channels are commanded from outside, and the values; both (A, N)."""


class Schedule(NamedTuple):
    """How time is cut; static in a compiled program."""

    time_step: float
    substeps: int
    """Time steps per control period."""
    controls: int
    """Control periods per frame."""


def start(group: Group) -> Carry:
    """Carry of a group before its first frame."""
    dtype = group.initial.velocity.dtype
    return Carry(
        state=group.initial,
        memory=commanding.begin(group.commander, group.suite, group.initial, group.model.channels),
        sensing=sensing.begin(group.suite, group.count, dtype),
        trouble=None
        if group.faults is None
        else faulting.begin(group.faults, group.model.channels, group.count, dtype),
        status=jnp.asarray(np.zeros(group.count, np.int32)),
    )


class Rounds(NamedTuple):
    """When which sensors of a group are asked; a sensor is its place in the suite."""

    slow: list[int]
    """Once per control period."""
    fast: list[int]
    """Every tick."""
    inertial: list[int]
    """Every tick too, but after the step, which knows the acceleration at its beginning."""
    tick: int
    """Time steps: what divides the control period and the periods of all but the slow ones."""


def rounds_of(group: Group, substeps: int) -> Rounds:
    """Cut the sensors so that the innermost loop holds only what it must."""
    inertial = [i for i, fitted in enumerate(group.suite) if fitted.inertial]
    others = [i for i, fitted in enumerate(group.suite) if not fitted.inertial]
    slow = [i for i in others if group.suite[i].period % substeps == 0]
    fast = [i for i in others if i not in slow]
    tick = gcd(substeps, *(group.suite[i].period for i in (*fast, *inertial)))
    return Rounds(slow, fast, inertial, tick)


def stretch(
    group: Group,
    ocean: Ocean,
    before: Carry,
    index: jax.Array,
    schedule: Schedule,
    given: Orders | None = None,
) -> tuple[Carry, Outset, Samples]:
    """Run for some control periods; returns what then is, what was at first, and the samples.

    `index` counts time steps; `given` are orders from outside, which stand above the commander's.
    """
    rounds = rounds_of(group, schedule.substeps)
    ticks = schedule.substeps // rounds.tick
    steps = schedule.substeps * schedule.controls
    windows = sensing.open_window(group.suite, before.sensing, index, steps)
    dtype = before.state.velocity.dtype
    unset = Outset(
        orders=jnp.zeros((group.model.channels, group.count), dtype),
        rates=jnp.zeros_like(before.state.velocity),
        **_report(group, before),
    )

    def decide(carry: Carry, t: jax.Array) -> tuple[Any, jax.Array]:
        memory, scripted = commanding.command(group.commander, carry.memory, carry.state, t)
        return memory, scripted if given is None else jnp.where(given[0], given[1], scripted)

    def turn(j: jax.Array, inner: tuple[Any, ...]) -> tuple[Any, ...]:
        carry, windows, outset, orders, start = inner
        at = start + j * rounds.tick
        t = at * schedule.time_step
        model, trouble = _strike(group, carry, t)
        carry = carry._replace(trouble=trouble)
        look = Look(model, ocean, carry.state, t)
        carry, windows = _ask(group, rounds.fast, carry, windows, at, look, rounds.tick)
        carry = _hear(group, rounds.fast, carry, at, t)
        if ticks == 1:
            memory, orders = decide(carry, t)
        else:
            memory, orders = jax.lax.cond(
                j == 0, lambda: decide(carry, t), lambda: (carry.memory, orders)
            )
        obeyed = orders
        if group.faults is not None and trouble is not None:
            trouble, obeyed = faulting.obey(group.faults, trouble, model, orders)
        state, rates = advance(
            model, ocean, carry.state, obeyed, at, schedule.time_step, rounds.tick
        )
        look = Look(model, ocean, carry.state, t, rates)
        carry, windows = _ask(group, rounds.inertial, carry, windows, at, look, rounds.tick)
        carry = carry._replace(memory=memory)
        outset = jax.lax.cond(
            at == index, lambda: Outset(orders, rates, **_report(group, carry)), lambda: outset
        )
        memory = commanding.feel(
            group.commander, memory, group.suite, carry.sensing, at, rounds.tick
        )
        carry = carry._replace(state=state, memory=memory, trouble=trouble)
        return carry, windows, outset, orders, start

    def period(c: jax.Array, outer: tuple[Any, ...]) -> tuple[Any, ...]:
        carry, windows, outset = outer
        at = index + c * schedule.substeps
        if rounds.slow:
            t = at * schedule.time_step
            model, trouble = _strike(group, carry, t)
            look = Look(model, ocean, carry.state, t)
            carry = carry._replace(trouble=trouble)
            carry, windows = _ask(group, rounds.slow, carry, windows, at, look, schedule.substeps)
            carry = _hear(group, rounds.slow, carry, at, t)
        inner = (carry, windows, outset, unset.orders, at)
        if ticks == 1:
            inner = turn(jnp.zeros_like(at), inner)
        else:
            inner = jax.lax.fori_loop(0, ticks, turn, inner)
        return inner[:3]

    after, windows, outset = jax.lax.fori_loop(
        0, schedule.controls, period, (before, windows, unset)
    )
    return after, outset, tuple(window.taken for window in windows)


def _report(group: Group, carry: Carry) -> dict[str, jax.Array]:
    """Estimate and guidance of a frame."""
    estimate, guidance = commanding.report(group.commander, carry.memory, carry.state)
    return {"estimate": estimate, "guidance": guidance}


def _hear(group: Group, which: list[int], carry: Carry, index: jax.Array, t: jax.Array) -> Carry:
    """Tell the commander what some sensors deliver."""
    memory = commanding.hear(
        group.commander, carry.memory, group.suite, carry.sensing, which, index, t
    )
    return carry._replace(memory=memory)


def _ask(
    group: Group,
    which: list[int],
    carry: Carry,
    windows: tuple[Window, ...],
    index: jax.Array,
    look: Look,
    tick: int,
) -> tuple[Carry, tuple[Window, ...]]:
    """Let those of some sensors that are due take their samples."""
    if not which:
        return carry, windows
    trouble = carry.trouble
    since = jnp.zeros((0, group.count)) if trouble is None else trouble.since
    sensed, windows = sensing.sense(
        group.suite, which, carry.sensing, windows, since, index, look, tick
    )
    return carry._replace(sensing=sensed), windows


def _strike(group: Group, carry: Carry, t: jax.Array) -> tuple[Model, Trouble | None]:
    """The Model as the faults of this instant leave it, and since when they are there."""
    if group.faults is None or carry.trouble is None:
        return group.model, None
    trouble = faulting.update(group.faults, carry.trouble, carry.state, t)
    return faulting.impair(group.faults, trouble, group.model), trouble


def peek(group: Group, ocean: Ocean, carry: Carry, index: jax.Array, schedule: Schedule) -> Samples:
    """The samples that are due at step `index`, without taking them: `stretch` takes the same.

    Inertial sensors are left out; they know what they feel only when the next step is taken.
    """
    rounds = rounds_of(group, schedule.substeps)
    windows = sensing.open_window(group.suite, carry.sensing, index, 1)
    t = index * schedule.time_step
    model, trouble = _strike(group, carry, t)
    carry = carry._replace(trouble=trouble)
    look = Look(model, ocean, carry.state, t)
    for which, every in ((rounds.slow, schedule.substeps), (rounds.fast, rounds.tick)):
        _, windows = _ask(group, which, carry, windows, index, look, every)
    return tuple(window.taken for window in windows)


def advance(
    model: Model,
    ocean: Ocean,
    state: State,
    orders: jax.Array,
    index: jax.Array,
    time_step: float,
    steps: int,
) -> tuple[State, jax.Array]:
    """State after some time steps under constant orders, and ν̇ before them.

    `index` counts time steps. Their number is kept from the compiler: it would dissolve a loop of
    one turn into the code around it, and the rounding of a step would depend on which sensors look
    at it.
    """

    def body(i: jax.Array, at: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
        state, first = at
        t = (index + i) * time_step
        after, rates = step_with_rates(model, ocean, state, orders, t, time_step)
        return after, jnp.where(i == 0, rates, first)

    barrier: Any = jax.lax.optimization_barrier  # JAX gives it no types
    hidden = barrier(jnp.int64(steps))
    advanced: tuple[State, jax.Array] = jax.lax.fori_loop(
        0, hidden, body, (state, jnp.zeros_like(state.velocity))
    )
    return advanced


def observe(group: Group, ocean: Ocean, carry: Carry, outset: Outset, t: jax.Array) -> Observation:
    """What a frame records."""
    state = carry.state
    model, trouble = _strike(group, carry, t)
    none = jnp.zeros((0, group.count), bool)
    struck = none if trouble is None else jnp.isfinite(trouble.since)
    position = vec3(state.position)
    around = surroundings(model, ocean, state, t)
    water = motion(ocean, position, t)
    zero = jnp.zeros_like(state.position)
    air = zero
    if ocean.wind is not None:
        x, y = state.position[0], state.position[1]
        air = jnp.stack(
            [jnp.broadcast_to(c, x.shape) for c in wind.sample(ocean.wind, (x, y, 0 * x - 10.0), t)]
        )
    return Observation(
        position=state.position,
        attitude=state.attitude,
        velocity=state.velocity,
        acceleration=outset.rates,
        actuators=state.actuators[: model.channels],
        command=outset.orders,
        current=zero if water.drift is None else jnp.stack(water.drift),
        wave_elevation=zero[0] + water.elevation,
        wave_velocity=zero if water.orbital is None else jnp.stack(water.orbital),
        wind=air,
        density=jnp.broadcast_to(around.density, zero[0].shape),
        wet_fraction=jnp.broadcast_to(around.wet, zero[0].shape),
        faults=struck,
        estimate=outset.estimate,
        guidance=outset.guidance,
        status=carry.status,
    )


def judge(
    group: Group, ocean: Ocean, before: Carry, after: Carry, samples: Samples
) -> tuple[Carry, Samples]:
    """Stop vehicles that diverged (at their last good state) or ran aground, and their sensors."""
    state = after.state
    sane = jnp.all(jnp.abs(state.velocity) < SPEED_LIMIT, axis=0)
    for part in jax.tree.leaves(state):
        sane &= jnp.all(jnp.isfinite(part), axis=0)
    running = before.status == RUNNING
    moved = running & sane
    kept = jax.tree.map(lambda new, old: jnp.where(moved, new, old), after, before)
    status = jnp.where(running & ~sane, DIVERGED, before.status)
    if group.model.grounding is not None and ocean.seabed is not None and group.stop_when_grounded:
        touched = penetration(group.model.grounding, ocean.seabed, vec3(kept.state.position)) > 0
        status = jnp.where(moved & touched, GROUNDED, status)
    alive = tuple(sample.silent(moved) for sample in samples)
    return kept._replace(status=status.astype(jnp.int32)), alive


@partial(jax.jit, static_argnames=("schedule", "frames"))
def block(
    group: Group,
    ocean: Ocean,
    carry: Carry,
    first: jax.Array,
    schedule: Schedule,
    frames: int,
) -> tuple[Carry, tuple[Observation, Samples]]:
    """A block of frames as one scan; `first` counts frames from the start of the run."""

    def frame(before: Carry, k: jax.Array) -> tuple[Carry, tuple[Observation, Samples]]:
        index = (first + k) * schedule.substeps * schedule.controls
        after, outset, taken = stretch(group, ocean, before, index, schedule)
        seen = observe(group, ocean, before, outset, index * schedule.time_step)
        kept, samples = judge(group, ocean, before, after, taken)
        return kept, (seen, samples)

    return jax.lax.scan(frame, carry, jnp.arange(frames))
