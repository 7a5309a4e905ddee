"""The loop, as pure functions: decide, step, sense, judge, once per control period.

A run counts time steps. Commands change every `substeps` of them; sensors take their samples at
periods of their own; the loop moves on in ticks, the longest time that divides all of these. At
each instant what can be sensed is sensed last, so that whoever stands outside the loop has heard
everything of that instant before it gives orders for it.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from seatrial import faults as faulting
from seatrial.core.step import Stepped, anything_near, free_together, touched
from seatrial.core.types import Model, State, Traffic
from seatrial.engine.command import commanders as commanding
from seatrial.engine.command import compiled_controller
from seatrial.engine.command.commanders import Given
from seatrial.engine.command.pilot import Outlook, Pilot
from seatrial.engine.compiled import judging
from seatrial.engine.compiled import suite as sensing
from seatrial.engine.compiled import touches as touching
from seatrial.engine.compiled.feeding import fed
from seatrial.engine.compiled.group import Carries, Carry, Group, Groups, Oceans, Samples, Schedule
from seatrial.engine.compiled.instants import (
    Rounds,
    age,
    ask,
    impaired,
    rounds_of,
    rounds_together,
    sense,
)
from seatrial.engine.compiled.observation import Observation, observe
from seatrial.engine.compiled.suite import Window
from seatrial.engine.compiled.touches import Touch
from seatrial.engine.compiled.traffic import everybody
from seatrial.ocean import Ocean
from seatrial.sensors.look import Look


def begin(
    group: Group, ocean: Ocean, schedule: Schedule, traffic: Traffic | None
) -> tuple[Carry, Samples]:
    """A group before its first control period, and what it senses at t = 0."""
    dtype = group.initial.velocity.dtype
    carry = Carry(
        state=group.initial,
        memory=commanding.begin(group.commander, group.suite, group.initial, group.model.channels),
        controller=compiled_controller.begin(group.controller, group.suite, group.initial),
        sensing=sensing.begin(group.suite, group.count, dtype),
        faults=None
        if group.faults is None
        else faulting.begin(group.faults, group.model.channels, group.count, dtype),
        status=jnp.full(group.count, judging.RUNNING, jnp.int32),
        upset=jnp.zeros(group.count),
        touch=tuple(touching.untouched(group.count) for _ in range(_touchable(group))),
    )
    rounds = rounds_of(group, schedule.substeps)
    index = jnp.zeros((), jnp.int64)
    windows = sensing.open_window(group.suite, carry.sensing, (index,) * len(group.suite), 1)
    carry = age(group, ocean, carry, index, schedule)
    for which, every in ((rounds.fast, rounds.tick), (rounds.slow, schedule.substeps)):
        carry, windows = sense(group, ocean, which, carry, windows, index, every, schedule, traffic)
    return carry, tuple(window.taken for window in windows)


class Turn(NamedTuple):
    """What one group went through in one control period."""

    after: Carry
    seen: Observation
    """The frame at its beginning."""
    taken: Samples


def gather(groups: Groups, states: list[State], t: jax.Array) -> list[Traffic | None]:
    """For each group everybody as it sees them; nothing where nobody meets others."""
    if not any(group.meets_others for group in groups):
        return [None] * len(groups)
    passing = next((group.passing for group in groups if group.passing is not None), None)
    return everybody(states, [group.size for group in groups], passing, t)


class Decided(NamedTuple):
    """A group with its orders for a control period."""

    group: Group
    ocean: Ocean
    traffic: Traffic | None
    before: Carry
    carry: Carry
    """With the orders of this control period decided."""
    orders: jax.Array
    """(A, N) in force."""


class _Under(NamedTuple):
    """A group on its way through a control period."""

    carry: Carry
    windows: tuple[Window, ...]
    rates: jax.Array
    """(6, N) ν̇ at the beginning."""


class Advanced(NamedTuple):
    """A group after some time steps."""

    state: State
    rates: jax.Array
    """(6, N) ν̇ before them."""
    touch: tuple[Touch, ...]
    """What was touched, as `Carry` has it."""


class Moving(NamedTuple):
    """A group between its last step and what is seen when all have stepped."""

    before: Carry
    decided: Carry
    """With the orders of this control period decided."""
    after: Carry
    windows: tuple[Window, ...]
    orders: jax.Array
    """(A, N) in force."""
    rates: jax.Array
    """(6, N) ν̇ at the beginning."""


def control_period(
    groups: Groups,
    oceans: Oceans,
    carries: Carries,
    given: tuple[Given, ...],
    start: jax.Array,
    schedule: Schedule,
    differentiable: bool = False,
) -> list[Turn]:
    """Decide, step, sense and judge; `start` counts time steps.

    Groups that look at each other step first, all of them, and then look; those that touch each
    other do every time step together.
    """
    t = start * schedule.time_step
    states = [carry.state for carry in carries]
    traffic = gather(groups, states, t)
    together = groups[0].touches_others
    if together:
        models = touching.with_neighbours([g.model for g in groups], states)
        groups = tuple(replace(g, model=m) for g, m in zip(groups, models, strict=True))
    deciding = [
        _decide(*one, start, schedule)
        for one in zip(groups, oceans, carries, given, traffic, strict=True)
    ]
    crews = [deciding] if together else [[one] for one in deciding]
    moving = [one for crew in crews for one in _move(crew, start, schedule, differentiable)]
    later = (start + schedule.substeps) * schedule.time_step
    traffic = gather(groups, [one.after.state for one in moving], later)
    return [
        _settle(*one, start, schedule) for one in zip(groups, oceans, moving, traffic, strict=True)
    ]


def _decide(
    group: Group,
    ocean: Ocean,
    before: Carry,
    given: Given,
    traffic: Traffic | None,
    start: jax.Array,
    schedule: Schedule,
) -> Decided:
    """What a group is to do in this control period."""
    t = start * schedule.time_step
    since = None if before.faults is None else before.faults.since
    controlled = before.controller
    if group.controller is None or controlled is None:
        memory, orders = commanding.command(
            group.commander, before.memory, before.state, t, given, ocean, since
        )
    else:
        controlled, memory, orders = commanding.command_by(
            group.controller,
            controlled,
            group.commander,
            before.memory,
            before.state,
            t,
            given,
            ocean,
            since,
        )
    carry = before._replace(memory=memory, controller=controlled)
    return Decided(group, ocean, traffic, before, carry, orders)


def _move(
    crew: list[Decided], start: jax.Array, schedule: Schedule, differentiable: bool
) -> list[Moving]:
    """Groups step together and sense, tick by tick."""
    rounds = rounds_together([one.group for one in crew], schedule.substeps)
    ticks = schedule.substeps // rounds[0].tick
    begun = []
    for one in crew:
        fresh = start % schedule.frame_steps == 0
        touch = tuple(_since(kind, fresh) for kind in one.before.touch)
        # Inertial sensors feel the beginning of a step, the others see its end.
        suite = one.group.suite
        firsts = tuple(start if fitted.inertial else start + 1 for fitted in suite)
        windows = sensing.open_window(suite, one.before.sensing, firsts, schedule.substeps)
        rates = jnp.zeros_like(one.before.state.velocity)
        begun.append(_Under(one.carry._replace(touch=touch), windows, rates))

    def tick(j: jax.Array, under: list[_Under]) -> list[_Under]:
        at = start + j * rounds[0].tick
        later = _tick(crew, under, at, rounds, schedule, differentiable)
        return [
            new._replace(rates=jnp.where(j == 0, new.rates, old.rates))
            for old, new in zip(under, later, strict=True)
        ]

    after = (
        tick(jnp.zeros_like(start), begun)
        if ticks == 1
        else jax.lax.fori_loop(0, ticks, tick, begun)
    )
    return [
        Moving(one.before, one.carry, end.carry, end.windows, one.orders, end.rates)
        for one, end in zip(crew, after, strict=True)
    ]


def _touchable(group: Group) -> int:
    """How many kinds of things its vehicles are told apart that they touch."""
    return 0 if group.model.contact is None else 2 if group.touches_others else 1


def _since(touch: Touch, frame: jax.Array) -> Touch:
    """What was touched, as a control period begins; forgotten once a frame has told it."""
    fresh = touching.untouched(touch.impulse.shape[0])
    kept: Touch = jax.tree.map(lambda old, new: jnp.where(frame, new, old), touch, fresh)
    return kept._replace(blow=fresh.blow)


def consult(group: Group, ocean: Ocean, carry: Carry, given: Given, t: jax.Array) -> Outlook | None:
    """What a group's pilots know before they give their orders; nothing where there are none."""
    since = None if carry.faults is None else carry.faults.since
    if not isinstance(group.commander, Pilot):
        return None
    return commanding.consult(group.commander, carry.memory, carry.state, t, given, ocean, since)


def _settle(
    group: Group,
    ocean: Ocean,
    moving: Moving,
    traffic: Traffic | None,
    start: jax.Array,
    schedule: Schedule,
) -> Turn:
    """Ask the slow sensors, judge, and note the frame at the beginning."""
    slow = rounds_of(group, schedule.substeps).slow
    end = start + schedule.substeps
    after, windows = sense(
        group, ocean, slow, moving.after, moving.windows, end, schedule.substeps, schedule, traffic
    )
    period = schedule.time_step * schedule.substeps
    kept, moved = judging.judge(
        group.limits, group.model, ocean, moving.before, after, period, traffic
    )
    return Turn(
        after=kept,
        seen=observed(group, ocean, moving.decided, moving.orders, moving.rates, start, schedule),
        taken=tuple(window.taken.silent(moved) for window in windows),
    )


def observed(
    group: Group,
    ocean: Ocean,
    carry: Carry,
    orders: jax.Array,
    rates: jax.Array,
    start: jax.Array,
    schedule: Schedule,
) -> Observation:
    """The frame at the beginning of a control period; nothing is computed between two frames."""

    def frame() -> Observation:
        estimate, guidance = commanding.report(group.commander, carry.memory, carry.state)
        return observe(
            model=impaired(group, carry, start * schedule.time_step),
            ocean=ocean,
            state=carry.state,
            t=start * schedule.time_step,
            orders=orders,
            rates=jnp.where(carry.status == judging.RUNNING, rates, 0.0),
            faults=jnp.zeros((0, group.count), bool)
            if carry.faults is None
            else jnp.isfinite(carry.faults.since),
            estimate=estimate,
            guidance=guidance,
            status=carry.status,
            touch=carry.touch,
        )

    if schedule.controls == 1:
        return frame()
    nothing = jax.eval_shape(frame)
    empty: Observation = jax.lax.cond(
        start % schedule.frame_steps == 0,
        frame,
        lambda: jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), nothing),
    )
    return empty


def _tick(
    crew: list[Decided],
    under: list[_Under],
    at: jax.Array,
    rounds: list[Rounds],
    schedule: Schedule,
    differentiable: bool,
) -> list[_Under]:
    """From time step `at` on for a tick; with ν̇ at its beginning."""
    models, carries, obeyed = [], [], []
    for one, (carry, _, _) in zip(crew, under, strict=True):
        model, orders = impaired(one.group, carry, at * schedule.time_step), one.orders
        if one.group.faults is not None and carry.faults is not None:
            faults, orders = faulting.obey(one.group.faults, carry.faults, model, orders)
            carry = carry._replace(faults=faults)
        models.append(model)
        carries.append(carry)
        obeyed.append(fed(one.group.suite, carry.sensing, orders))
    ends = integrate(
        models,
        [one.ocean for one in crew],
        [carry.state for carry in carries],
        obeyed,
        at,
        schedule.time_step,
        rounds[0].tick,
        [carry.touch for carry in carries],
        differentiable,
    )
    return [
        _sensed(one, model, carry, was.windows, end, at, own, schedule)
        for one, model, carry, was, end, own in zip(
            crew, models, carries, under, ends, rounds, strict=True
        )
    ]


def _sensed(
    one: Decided,
    model: Model,
    carry: Carry,
    windows: tuple[Window, ...],
    end: Advanced,
    at: jax.Array,
    rounds: Rounds,
    schedule: Schedule,
) -> _Under:
    """A group at the end of a tick that began at time step `at`, with what it has sensed."""
    group, ocean = one.group, one.ocean
    carry = carry._replace(touch=end.touch)
    look = Look(model, ocean, carry.state, at * schedule.time_step, end.rates)
    carry, windows = ask(group, rounds.inertial, carry, windows, at, look, rounds.tick)
    memory = commanding.feel(
        group.commander, carry.memory, group.suite, carry.sensing, at, rounds.tick
    )
    controlled = compiled_controller.hear(
        group.controller, carry.controller, group.suite, carry.sensing, rounds.inertial, at
    )
    later = at + rounds.tick
    carry = carry._replace(state=end.state, memory=memory, controller=controlled)
    carry = age(group, ocean, carry, later, schedule)
    carry, windows = sense(
        group, ocean, rounds.fast, carry, windows, later, rounds.tick, schedule, one.traffic
    )
    return _Under(carry, windows, end.rates)


def integrate(
    models: list[Model],
    oceans: list[Ocean],
    states: list[State],
    orders: list[jax.Array],
    index: jax.Array,
    time_step: float,
    steps: int,
    touches: list[tuple[Touch, ...]],
    differentiable: bool = False,
) -> list[Advanced]:
    """Groups after some time steps that they do together under constant orders.

    `index` counts time steps. Their number is kept from the compiler: it would dissolve a loop of
    one turn into the code around it, and the rounding of a step would depend on which sensors look
    at it. Reverse differentiation needs to know it.
    """

    def body(i: jax.Array, at: list[Advanced]) -> list[Advanced]:
        t = (index + i) * time_step
        states = [one.state for one in at]
        free = free_together(models, oceans, states, orders, t, time_step)

        def ended(ends: list[Stepped], touches: list[tuple[Touch, ...]]) -> list[Advanced]:
            return [
                Advanced(end.state, jnp.where(i == 0, end.rates, one.rates), touch)
                for one, end, touch in zip(at, ends, touches, strict=True)
            ]

        def missed() -> list[Advanced]:
            return ended(free, [one.touch for one in at])

        def pushed() -> list[Advanced]:
            ends = touched(models, oceans, states, free, t, time_step)
            return ended(
                ends,
                [
                    touching.feel(one.touch, (end.load, end.met), time_step)
                    for one, end in zip(at, ends, strict=True)
                ],
            )

        near = anything_near(models, oceans, states, free, t + time_step)
        found: list[Advanced] = missed() if near is None else jax.lax.cond(near, pushed, missed)
        return found

    barrier: Any = jax.lax.optimization_barrier  # JAX gives it no types
    count = steps if differentiable else barrier(jnp.int64(steps))
    begun = [
        Advanced(state, jnp.zeros_like(state.velocity), touch)
        for state, touch in zip(states, touches, strict=True)
    ]
    advanced: list[Advanced] = jax.lax.fori_loop(0, count, body, begun)
    return advanced
