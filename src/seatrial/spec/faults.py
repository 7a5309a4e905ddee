"""Descriptions of faults: what breaks, how, and when."""

import typing
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seatrial.spec.base import (
    Kilograms,
    Number,
    Plain,
    Seconds,
    Spec,
    SquareMetres,
    Unit,
)

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Measure = Annotated[Number, Unit("SI, or in what `unit` says")]
"""A number in the unit of whatever it is compared with or added to."""
Measures = Measure | Annotated[tuple[Measure, ...], Field(strict=False, min_length=1)]
Suffix = Annotated[str, Field(pattern=r"^[A-Za-z_]*$", max_length=10)]
Probability = Annotated[Plain, Field(gt=0, le=1)]

QUANTITIES = {
    "depth": "m",
    "altitude": "m",
    "time": "s",
    "roll": "rad",
    "pitch": "rad",
    "heading": "rad",
    "speed": "m/s",
}
"""What a condition may watch, and its unit; also `command.CHANNEL`."""

Quantity = Annotated[
    str, Field(pattern=rf"^({'|'.join(QUANTITIES)}|command\.[a-z][a-z0-9_]*)$", max_length=50)
]


class Random(Spec):
    """Onsets at random: a Poisson process, drawn for every vehicle by itself."""

    per_hour: Annotated[Number, Field(gt=0, le=36_000), Unit("1/h")]
    """Mean number of onsets per hour."""
    duration: Annotated[Seconds, Field(gt=0)] | None = None
    """How long the fault then stays; to the end when left out. An onset while the fault is there
    prolongs it."""


class When(Spec):
    """A condition; the fault is there while it holds."""

    quantity: Quantity
    """depth (of the origin), altitude (over the bottom), time, roll, pitch, heading (0 to 2π),
    speed (over ground), or command.CHANNEL: the last order that the vehicle heard."""
    above: Measure | None = None
    """Holds while the quantity is greater."""
    below: Measure | None = None
    """Holds while the quantity is less."""
    unit: Suffix = ""
    """Unit of the threshold, for example `deg`; SI when left out."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError("give either `above` or `below`")
        return self


class FaultSpec(Spec):
    """What every fault shares. Without `start`, `random` or `when` it comes only when it is
    switched on from outside."""

    target: Name
    """Name of the sensor or of the command channel that it strikes."""
    start: Annotated[Seconds, Field(ge=0)] | None = None
    """Time of its onset."""
    duration: Annotated[Seconds, Field(gt=0)] | None = None
    """How long it stays after `start`, or after the condition `when` has held for the first time.
    When left out: to the end, or while the condition holds."""
    random: Random | None = None
    """Onsets at random."""
    when: When | None = None
    """A condition."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [n for n in ("start", "random", "when") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of `start`, `random` and `when`, found {given}")
        if self.duration is not None and self.random is not None:
            raise ValueError("`duration` belongs into `random` here")
        if self.duration is not None and not given:
            raise ValueError("`duration` needs a `start` or a `when`")
        return self


class _Numbers(FaultSpec):
    """A fault of some of the numbers that a sensor measures."""

    components: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)] | None = None
    """Which of them, by name (`acceleration_x`) or by the first part of it (`acceleration`); all
    when left out."""


class _InUnits(_Numbers):
    unit: Suffix = ""
    """Unit in which the numbers are given, for example `deg`; SI when left out."""


class Dropout(FaultSpec):
    """Samples are missing."""

    kind: Literal["dropout"]
    """Selects this fault."""
    probability: Probability = 1.0
    """That a sample is missing."""


class Freeze(_Numbers):
    """The last value before the onset goes on."""

    kind: Literal["freeze"]
    """Selects this fault."""


class Stuck(_InUnits):
    """A given value in place of the measured one."""

    kind: Literal["stuck"]
    """Selects this fault."""
    value: Measures
    """One number for all components, or one for each."""


class Bias(_InUnits):
    """A jump."""

    kind: Literal["bias"]
    """Selects this fault."""
    value: Measures
    """Added to what is measured: one number for all components, or one for each."""


class Drift(_InUnits):
    """An error that grows with the time since the onset."""

    kind: Literal["drift"]
    """Selects this fault."""
    rate: Measures
    """Growth per second: one number for all components, or one for each."""


class Spikes(_InUnits):
    """Single samples far off, to either side."""

    kind: Literal["spikes"]
    """Selects this fault."""
    magnitude: Measures
    """Height of a spike: one number for all components, or one for each; its sign is random."""
    probability: Probability = 0.01
    """That a sample is one."""


class Noise(_InUnits):
    """Additional white noise."""

    kind: Literal["noise"]
    """Selects this fault."""
    deviation: Measures
    """Standard deviation per sample: one number for all components, or one for each."""


class Delay(FaultSpec):
    """Samples arrive late."""

    kind: Literal["delay"]
    """Selects this fault."""
    delay: Annotated[Seconds, Field(gt=0, le=600)]
    """Added to the latency."""


class LossOfLock(FaultSpec):
    """A GNSS, DVL or UWB loses its satellites, its echo, its anchors, and has to find them anew."""

    kind: Literal["loss_of_lock"]
    """Selects this fault."""


class _Outage(FaultSpec):
    """A fault that leaves an actuator of no use."""

    detected_after: Annotated[Seconds, Field(ge=0)] | None = None
    """Time from the onset until the vehicle's own monitoring reports it; its autopilot then makes
    do without the actuator while the fault lasts. Never when left out."""


class PowerLoss(_Outage):
    """A propeller runs down; a fin, an azimuth drive or a pump stays where it is."""

    kind: Literal["power_loss"]
    """Selects this fault."""


class Reduced(FaultSpec):
    """A thruster or fin has lost a part of its force: a broken blade, growth."""

    kind: Literal["reduced"]
    """Selects this fault."""
    effectiveness: Annotated[Plain, Field(ge=0, lt=1)]
    """Share of its forces and moments that is left."""


class Jam(_Outage):
    """An actuator stands still: a fin, an angle, a shaft."""

    kind: Literal["jam"]
    """Selects this fault."""
    value: Measure | None = None
    """Where it stands, within its limits; where it was at the onset when left out."""
    unit: Suffix = ""
    """Unit of `value`, for example `deg`; SI when left out."""


class FreeFloat(_Outage):
    """A fin has come loose from its servo and lies along the flow."""

    kind: Literal["free_float"]
    """Selects this fault."""


class Runaway(_Outage):
    """An actuator goes to its limit whatever is ordered."""

    kind: Literal["runaway"]
    """Selects this fault."""
    towards: Literal["upper", "lower"] = "upper"
    """Which limit."""


class AddedDrag(FaultSpec):
    """Growth, a net or a line on the hull: F = −½ρ C_D A |v_r| v_r, free of torque."""

    kind: Literal["added_drag"]
    """Selects this fault."""
    target: Literal["hull"]
    """Always `hull`."""
    drag_area: Annotated[SquareMetres, Field(gt=0)]
    """Additional C_D A."""


class CommsLoss(FaultSpec):
    """The vehicle hears no orders."""

    kind: Literal["loss"]
    """Selects this fault."""
    target: Literal["comms"]
    """Always `comms`."""
    then: Literal["hold", "zero"] = "hold"
    """What it does: go on with its last orders, or put all of them to zero."""


class LinkLoss(FaultSpec):
    """A vehicle on a mission hears nobody outside: orders and setpoints given to it are lost."""

    kind: Literal["lost"]
    """Selects this fault."""
    target: Literal["link"]
    """Always `link`."""


class Ingress(FaultSpec):
    """Water comes into the hull and weighs on its centre of gravity; gone when the fault ends."""

    kind: Literal["ingress"]
    """Selects this fault."""
    target: Literal["hull"]
    """Always `hull`."""
    mass: Annotated[Kilograms, Field(gt=0)]
    """Of the water when no more comes in."""
    rate: Annotated[Number, Field(gt=0), Unit("kg/s")] = 0.1
    """At which it comes in."""


SensorFault = (
    Dropout | Freeze | Stuck | Bias | Drift | Spikes | Noise | Delay | LossOfLock
)  # fmt: skip
ActuatorFault = PowerLoss | Reduced | Jam | FreeFloat | Runaway
AnyFault = SensorFault | ActuatorFault | AddedDrag | CommsLoss | LinkLoss | Ingress
Fault = Annotated[AnyFault, Field(discriminator="kind")]

KINDS: dict[str, type[FaultSpec]] = {
    typing.get_args(cls.model_fields["kind"].annotation)[0]: cls
    for cls in typing.get_args(AnyFault)
}
