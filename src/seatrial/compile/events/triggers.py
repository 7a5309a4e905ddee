"""When faults strike: scheduled, at random, or by a condition."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.compile.padding import room_for
from seatrial.compile.vehicles.vehicle import CompiledVehicle
from seatrial.conventions import UNIT_SUFFIXES
from seatrial.faults import Condition, Trigger, Windows
from seatrial.pytree import constant
from seatrial.seeding import generator
from seatrial.signals import SensorInfo
from seatrial.spec import faults as spec
from seatrial.spec.base import Spec
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.wording import did_you_mean

Array = NDArray[np.float64]
DType = np.dtype[Any]

MOST_ONSETS = 1000
"""Random onsets of one fault that a run may be expected to hold."""

_CF_UNITS = {"m s-1": "m/s", "rad s-1": "rad/s", "m s-2": "m/s^2"}
"""Units of measurements, as in CF conventions, that descriptions write in another way."""


@dataclass(frozen=True)
class FaultContext:
    """What is known of the vehicles when their faults are compiled."""

    names: tuple[str, ...]
    """Of the vehicles of the group; random onsets and noise are drawn for each of them."""
    vehicle: Vehicle
    compiled: CompiledVehicle
    sensors: Sequence[SensorInfo]
    views: dict[str, int]
    """Rows of the view of each dense sensor's tap, by name."""
    duration: float
    """Of the run, s."""
    water_depth: float | None
    """Of a flat bottom, m."""
    seed: int
    dtype: DType
    mapped: bool = False
    """Whether there is a bottom that is not flat."""


def compile_trigger(fault: spec.FaultSpec, name: str, context: FaultContext) -> Trigger:
    """When the fault called `name` is there."""
    if fault.when is not None:
        return _condition(fault.when, fault.duration, context)
    if fault.random is not None:
        expected = fault.random.per_hour / 3600.0 * context.duration
        if expected > MOST_ONSETS:
            raise fault.error(
                ("random", "per_hour"),
                f"the run would hold about {expected:.0f} onsets of this fault",
                value=fault.random.per_hour,
                expected=f"at most {MOST_ONSETS} in a run",
                mend="for single bad samples use `dropout` or `spikes` with a `probability`",
            )
        lasts = math.inf if fault.random.duration is None else fault.random.duration
        drawn = [
            merged(
                poisson_onsets(
                    generator(context.seed, f"fault/{vehicle}/{name}/onsets"),
                    fault.random.per_hour / 3600.0,
                    context.duration,
                ),
                lasts,
            )
            for vehicle in context.names
        ]
        # Room for what nearly every seed draws: six deviations above a Poisson process's mean.
        return _windows(drawn, math.ceil(expected + 6.0 * math.sqrt(expected)))
    if fault.start is not None:
        lasts = math.inf if fault.duration is None else fault.duration
        return _windows([np.array([[fault.start], [fault.start + lasts]])] * len(context.names))
    return None


def poisson_onsets(random: np.random.Generator, rate: float, duration: float) -> Array:
    """Onsets of a Poisson process of `rate` per s; a longer run begins with the same ones."""
    times: list[float] = []
    time = random.exponential(1.0 / rate)
    while time < duration:
        times.append(time)
        time += random.exponential(1.0 / rate)
    return np.array(times)


def merged(onsets: Array, lasts: float) -> Array:
    """Starts and ends (2, K) of the times that are covered; an overlap counts once."""
    if not len(onsets):
        return np.zeros((2, 0))
    first = np.concatenate([[True], onsets[1:] > onsets[:-1] + lasts])
    last = np.concatenate([first[1:], [True]])
    return np.stack([onsets[first], onsets[last] + lasts])


def _windows(by_vehicle: list[Array], least: int = 1) -> Windows:
    """Starts and ends of every vehicle side by side, padded with windows that never come."""
    most = room_for(max(least, *(w.shape[1] for w in by_vehicle)))
    table = np.full((2, most, len(by_vehicle)), math.inf)
    for i, windows in enumerate(by_vehicle):
        table[:, : windows.shape[1], i] = windows
    return Windows(start=constant(table[0]), end=constant(table[1]))


def _condition(when: spec.When, duration: float | None, context: FaultContext) -> Condition:
    quantity, _, name = when.quantity.partition(".")
    channel, unit = -1, spec.QUANTITIES.get(quantity, "")
    if name:
        names = [c.name for c in context.compiled.channels]
        if name not in names:
            raise when.error(
                ("quantity",),
                f"there is no command channel `{name}`",
                value=when.quantity,
                expected=f"one of {', '.join(names)}",
                mend=did_you_mean(name, names),
            )
        channel = names.index(name)
        unit = context.compiled.channels[channel].unit
    above = when.above is not None
    given = when.above if when.above is not None else when.below
    assert given is not None
    threshold = given * factor_to_si(when, when.unit, unit)
    if quantity == "altitude" and not context.mapped:
        if context.water_depth is None:
            raise when.error(
                ("quantity",),
                "the sea of this scenario has no bottom",
                value=when.quantity,
                expected="a world with a `seabed`",
                mend="watch `depth` instead",
            )
        # Over a flat bottom: closer to it is deeper.
        quantity, above, threshold = "depth", not above, context.water_depth - threshold
    return Condition(
        threshold=constant(threshold),
        duration=None if duration is None else constant(duration),
        quantity=quantity,
        channel=channel,
        above=above,
    )


def factor_to_si(owner: Spec, suffix: str, unit: str) -> float:
    """From the unit that a description gives to SI."""
    unit = _CF_UNITS.get(unit, unit)
    table = UNIT_SUFFIXES.get(unit, {})
    if suffix in ("", unit):
        return 1.0
    if suffix not in table:
        others = "".join(f", `{s}`" for s in table)
        raise owner.error(
            ("unit",),
            f"`{suffix}` is not a unit of this quantity",
            value=suffix,
            expected=f"{unit} (when left out){others}",
            mend="give the number in SI units and leave `unit` out",
        )
    return table[suffix]
