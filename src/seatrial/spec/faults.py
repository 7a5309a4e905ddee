"""Descriptions of faults: what breaks, how, and when."""

import re
import typing
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Problem, SpecError
from seatrial.spec.base import (
    Kilograms,
    Number,
    Plain,
    Seconds,
    Source,
    Spec,
    SquareMetres,
    Unit,
    unit_of,
)
from seatrial.spec.messages import problems_from
from seatrial.spec.wording import declared, did_you_mean

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

GRAMMAR = (
    "[VEHICLE/]TARGET: KIND [KEY=VALUE …] [@ TIME | when QUANTITY > NUMBER | random N/h] [for TIME]"
)

_HEAD = re.compile(
    r"\s*(?:(?P<vehicle>\w+)\s*/)?\s*(?P<target>\w+)\s*:\s*(?P<kind>\w+)(?P<rest>.*)", re.S
)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBERS = re.compile(rf"({_NUMBER}(?:,{_NUMBER})*)([A-Za-z_/^0-9]*)")


def parse_fault(text: str) -> tuple[str | None, AnyFault]:
    """Read a fault from one line, as the command line takes it; also the vehicle it is meant for.

        [VEHICLE/]TARGET: KIND [KEY=VALUE …] [@ TIME | when QUANTITY > NUMBER | random N/h]
        [for TIME]

    TARGET and KIND are those of a description, and so are the keys of the options. Numbers may
    carry a unit (`value=20deg`, `delay=200ms`), several are set apart by commas
    (`components=velocity_x,velocity_y value=0.1,0.2`). A time is in s unless it says `ms`, `min`
    or `h`. A condition uses `>` or `<`. Examples:

        imu: freeze @ 30s
        boat_2/compass: bias value=10deg @ 1min for 20s
        rudder: jam when command.rudder > 20deg
        dvl: loss_of_lock random 4/h for 15s
        hull: added_drag drag_area=0.2 when depth > 10

    Without a trigger the fault comes only when it is switched on from outside.
    """
    head = _HEAD.fullmatch(text)
    if head is None:
        raise _unreadable(text, "a fault begins with its target, a colon and its kind", GRAMMAR)
    kind = head["kind"]
    if kind not in KINDS:
        known = ", ".join(KINDS)
        mend = did_you_mean(kind, KINDS)
        raise _unreadable(kind, f"there is no fault `{kind}`", f"one of {known}", mend)
    spec = KINDS[kind]
    data: dict[str, Any] = {"kind": kind, "target": head["target"]}
    words = re.sub(r"\s*=\s*", "=", re.sub(r"([@<>])", r" \1 ", head["rest"])).split()
    while words:
        word = words.pop(0)
        if "=" in word:
            _take_option(spec, word, data)
        elif word == "@":
            _take_once(data, "start", _time(words, "@"))
        elif word == "for":
            _take_once(data, "duration", _time(words, "for"))
        elif word == "when":
            _take_once(data, "when", _condition(words))
        elif word == "random":
            _take_once(data, "random", _rate(words))
        else:
            raise _unreadable(
                word, f"`{word}` is out of place", "KEY=VALUE, `@`, `when`, `random` or `for`"
            )
    if "random" in data and "duration" in data:
        data["random"]["duration"] = data.pop("duration")
    try:
        fault: Any = spec.model_validate(data)
    except ValidationError as error:
        found = problems_from(error, spec, data, Source("", {}))
        raise SpecError([_placed(p, text) for p in found]) from None
    return head["vehicle"], fault


EXAMPLE = "write for example 'imu: freeze @ 30s'"


def _unreadable(value: str, message: str, expected: str, mend: str = "") -> SpecError:
    return SpecError(Problem(message, value=value, expected=expected, mend=mend or EXAMPLE))


def _placed(problem: Problem, text: str) -> Problem:
    """What a description's own check found, for someone who wrote a line and not a file."""
    return replace(
        problem,
        value=text if problem.value is None else problem.value,
        expected=problem.expected or GRAMMAR,
        mend=problem.mend or EXAMPLE,
        file="",
        line=0,
    )


def _take_once(data: dict[str, Any], key: str, value: Any) -> None:
    if key in data:
        raise _unreadable(str(value), f"`{key}` is given twice", "each part of a fault once")
    data[key] = value


def _take_option(spec: type[FaultSpec], word: str, data: dict[str, Any]) -> None:
    """Read `key=value`; a key that the fault has not is left for its own check to refuse."""
    key, _, text = word.partition("=")
    field = spec.model_fields.get(key)
    bases = [option.base for option in declared(field)] if field is not None else [str]
    numbers = _NUMBERS.fullmatch(text)
    if key == "components":
        _take_once(data, key, text.split(","))
    elif float not in bases or numbers is None:
        _take_once(data, key, text)
    else:
        values = [float(v) for v in numbers[1].split(",")]
        given: Any = values[0] if len(values) == 1 else values
        unit, suffix = unit_of(field) if field is not None else "", numbers[2]
        if suffix in ("", unit):
            _take_once(data, key, given)
        elif "unit" in spec.model_fields:
            _take_once(data, key, given)
            _take_once(data, "unit", suffix)
        else:
            _take_once(data, f"{key}_{suffix}", given)


def _number(words: list[str], after: str, units: dict[str, float], expected: str) -> float:
    text = words.pop(0) if words else ""
    found = _NUMBERS.fullmatch(text)
    if found is None or "," in text or found[2] not in units:
        raise _unreadable(text, f"`{after}` needs a number after it", expected)
    return float(found[1]) * units[found[2]]


def _time(words: list[str], after: str) -> float:
    units = {"": 1.0, "s": 1.0, **UNIT_SUFFIXES["s"]}
    return _number(words, after, units, "a time such as 30s, 500ms, 5min or 1h")


def _rate(words: list[str]) -> dict[str, Any]:
    return {"per_hour": _number(words, "random", {"/h": 1.0}, "onsets per hour such as 2/h")}


def _condition(words: list[str]) -> dict[str, Any]:
    expected = f"QUANTITY > NUMBER or QUANTITY < NUMBER; QUANTITY one of {', '.join(QUANTITIES)}"
    expected += " or command.CHANNEL"
    if len(words) < 3 or words[1] not in "<>":
        raise _unreadable(" ".join(words[:3]), "`when` needs a condition after it", expected)
    quantity, sign, text = (words.pop(0) for _ in range(3))
    found = _NUMBERS.fullmatch(text)
    if found is None or "," in text:
        raise _unreadable(text, f"`{quantity} {sign}` needs a number after it", expected)
    unit = "" if found[2] == QUANTITIES.get(quantity) else found[2]
    threshold = float(found[1])
    return {"quantity": quantity, "above" if sign == ">" else "below": threshold, "unit": unit}
