"""A fault in one line, as the command line takes it."""

import re
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Problem, SpecError
from seatrial.spec.base import Source, unit_of
from seatrial.spec.faults import KINDS, QUANTITIES, AnyFault, FaultSpec
from seatrial.spec.messages import problems_from
from seatrial.spec.wording import declared, did_you_mean

GRAMMAR = (
    "[VEHICLE/]TARGET: KIND [KEY=VALUE …] [@ TIME | when QUANTITY > NUMBER | random N/h] [for TIME]"
)

_HEAD = re.compile(
    r"\s*(?:(?P<vehicle>\w+)\s*/)?\s*(?P<target>\w+)\s*:\s*(?P<kind>\w+)(?P<rest>.*)", re.S
)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBERS = re.compile(rf"({_NUMBER}(?:,{_NUMBER})*)([A-Za-z_/^0-9]*)")


def parse_fault(text: str) -> tuple[str | None, AnyFault]:
    """Read a fault from one line; also the vehicle it is meant for.

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
        dotted = re.fullmatch(r"\s*(\w+)\.(\w+\s*:.*)", text, re.S)
        mend = f"write '{dotted[1]}/{dotted[2]}'" if dotted else ""
        message = "a fault begins with its target, a colon and its kind"
        raise _unreadable(text, message, GRAMMAR, mend)
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
