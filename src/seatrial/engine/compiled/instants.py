"""What happens at an instant: faults set in or end, and sensors that are due take their samples."""

from math import gcd
from typing import NamedTuple

import jax
import jax.numpy as jnp

from seatrial import faults as faulting
from seatrial.core.types import Model, Traffic
from seatrial.engine.command import commanders as commanding
from seatrial.engine.command import compiled_controller
from seatrial.engine.compiled import suite as sensing
from seatrial.engine.compiled.group import Carry, Group, Schedule
from seatrial.engine.compiled.suite import Window
from seatrial.ocean import Ocean
from seatrial.sensors.look import Look


class Rounds(NamedTuple):
    """When which sensors of a group are asked; a sensor is its place in the suite."""

    slow: list[int]
    """Once per control period."""
    fast: list[int]
    """Every tick."""
    inertial: list[int]
    """Every tick too, but with the step, which knows the acceleration at its beginning."""
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


def rounds_together(groups: list[Group], substeps: int) -> list[Rounds]:
    """The same for groups that step together, and so have one tick."""
    found = [rounds_of(group, substeps) for group in groups]
    tick = gcd(*(rounds.tick for rounds in found))
    return [rounds._replace(tick=tick) for rounds in found]


def sense(
    group: Group,
    ocean: Ocean,
    which: list[int],
    carry: Carry,
    windows: tuple[Window, ...],
    index: jax.Array,
    every: int,
    schedule: Schedule,
    traffic: Traffic | None,
) -> tuple[Carry, tuple[Window, ...]]:
    """Ask some sensors at time step `index`, and tell the commander what they deliver."""
    t = index * schedule.time_step
    look = Look(impaired(group, carry, t), ocean, carry.state, t, traffic=traffic)
    carry, windows = ask(group, which, carry, windows, index, look, every)
    memory = commanding.hear(
        group.commander, carry.memory, group.suite, carry.sensing, which, index, t
    )
    controlled = compiled_controller.hear(
        group.controller, carry.controller, group.suite, carry.sensing, which, index
    )
    return carry._replace(memory=memory, controller=controlled), windows


def ask(
    group: Group,
    which: list[int],
    carry: Carry,
    windows: tuple[Window, ...],
    index: jax.Array,
    look: Look,
    every: int,
) -> tuple[Carry, tuple[Window, ...]]:
    """Let those of some sensors that are due take their samples."""
    if not which:
        return carry, windows
    faults = carry.faults
    since = jnp.zeros((0, group.count)) if faults is None else faults.since
    sensed, windows = sensing.sense(
        group.suite, which, carry.sensing, windows, since, index, look, every
    )
    return carry._replace(sensing=sensed), windows


def age(group: Group, ocean: Ocean, carry: Carry, index: jax.Array, schedule: Schedule) -> Carry:
    """Let the faults that are due at time step `index` set in, and others end."""
    if group.faults is None or carry.faults is None:
        return carry
    t = index * schedule.time_step
    faults = faulting.update(group.faults, carry.faults, carry.state, t, ocean.seabed)
    return carry._replace(faults=faults)


def impaired(group: Group, carry: Carry, t: jax.Array) -> Model:
    """The Model as the faults of this instant leave it."""
    if group.faults is None or carry.faults is None:
        return group.model
    return faulting.impair(group.faults, carry.faults, group.model, t)
