"""Words for messages: what a field accepts, what a value is, and the nearest right spelling."""

import difflib
import re
import types
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic.fields import FieldInfo

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.spec.base import Spec, Unit

SAME = {
    "gps": "gnss",
    "barometer": "pressure",
    "depth_sensor": "pressure",
    "propeller": "thruster",
    "motor": "thruster",
    "rudder": "fin",
    "tank": "ballast",
    "boat": "surface",
    "ship": "surface",
    "usv": "surface",
    "asv": "surface",
    "underwater": "submerged",
    "auv": "submerged",
    "rov": "submerged",
    "waypoint": "goto",
    "waypoints": "goto",
    "transit": "goto",
    "lawnmower": "survey",
    "station_keeping": "hold",
    "circle": "loiter",
    "orbit": "loiter",
    "ground_truth": "truth",
    "tasks": "mission",
    "orders": "commands",
    "weight": "mass",
    "width": "beam",
    "draft": "draught",
    "depth": "pressure",
    "frequency": "rate",
    "hz": "rate",
    "thrusters": "actuators",
    "propellers": "actuators",
    "max_thrust": "thrust_limits",
    "yaw": "heading",
    "yaw_deg": "heading_deg",
    "lat": "latitude_deg",
    "latitude": "latitude_deg",
    "lon": "longitude_deg",
    "lng": "longitude_deg",
    "longitude": "longitude_deg",
    "hs": "significant_height",
    "height": "significant_height",
    "tp": "peak_period",
    "period": "peak_period",
    "p": "proportional",
    "kp": "proportional",
    "i": "integral",
    "ki": "integral",
    "d": "derivative",
    "kd": "derivative",
    "station": "hold",
    "loss_of_signal": "dropout",
    "outage": "dropout",
    "failure": "power_loss",
    "ekf": "error_state",
    "los": "line_of_sight",
    "ilos": "integral",
    "alos": "adaptive",
    "cross": "plus",
    "position": "at",
    "at": "start",
}
"""What people elsewhere say -> the word that is used here."""


def closest(word: str, options: Iterable[str]) -> str | None:
    """Return the option that `word` was probably meant to be."""
    by_folded = {option.casefold(): option for option in options}
    if SAME.get(word.casefold()) in by_folded:
        return by_folded[SAME[word.casefold()]]
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return a question that offers the nearest option, or nothing."""
    found = closest(word, options)
    return f"did you mean `{found}`?" if found else ""


@dataclass(frozen=True)
class Declared:
    """One type that a field accepts, with the unit and the limits it was declared with."""

    type: Any
    metadata: tuple[Any, ...] = ()

    @property
    def is_spec(self) -> bool:
        """Whether it is a description of its own."""
        return isinstance(self.type, type) and issubclass(self.type, Spec)

    @property
    def base(self) -> Any:
        """The type without its parameters: `tuple` for `tuple[float, ...]`."""
        return typing.get_origin(self.type) or self.type

    @property
    def unit(self) -> str:
        """SI unit, or '' when it has none."""
        units = [m.si for m in self.metadata if isinstance(m, Unit)]
        return units[0] if units else ""

    @property
    def lengths(self) -> tuple[int, int | None]:
        """Least and greatest length of a text or a list; None when there is no greatest."""
        least = [m.min_length for m in self.metadata if isinstance(m, MinLen)]
        most = [m.max_length for m in self.metadata if isinstance(m, MaxLen)]
        return least[0] if least else 0, most[0] if most else None

    @property
    def pattern(self) -> str:
        """Regular expression that a text must match, or ''."""
        return next((str(p) for m in self.metadata if (p := getattr(m, "pattern", None))), "")


def declared(annotation: Any, metadata: Sequence[Any] = ()) -> list[Declared]:
    """List the types that an annotation accepts, `None` left out."""
    if isinstance(annotation, FieldInfo):
        return declared(annotation.annotation, [*annotation.metadata, *metadata])
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        inner: list[Any] = []
        for item in annotation.__metadata__:
            inner += item.metadata if isinstance(item, FieldInfo) else [item]
        return declared(annotation.__origin__, [*inner, *metadata])
    if origin in (typing.Union, types.UnionType):
        return [d for arg in typing.get_args(annotation) for d in declared(arg, metadata)]
    return [] if annotation is type(None) else [Declared(annotation, tuple(metadata))]


@dataclass(frozen=True)
class Key:
    """A key as the file writes it: its field's name and the unit it carries."""

    name: str
    """'' for a key that is no field's."""
    suffix: str = ""
    unknown: str = ""

    def __str__(self) -> str:
        return self.unknown or (f"{self.name}_{self.suffix}" if self.suffix else self.name)

    def unit(self, si: str) -> str:
        """Unit that the file's number is in."""
        return self.suffix.replace("_", "/") if self.suffix else si

    def factor(self, si: str) -> float:
        """Factor from the file's number to SI."""
        return UNIT_SUFFIXES.get(si, {}).get(self.suffix, 1.0)


def accepted(options: Sequence[Declared], key: Key) -> str:
    """Say what a field accepts, in the unit of the key that was used."""
    specs = [o.type for o in options if o.is_spec]
    words = [_phrase(o, key) for o in options if not (o.is_spec and len(specs) > 1)]
    if len(specs) > 1:
        words.append(_choice_phrase(specs))
    return ", or ".join(dict.fromkeys(words))


def literals(spec: type[Spec], name: str | None = None) -> list[Any]:
    """List the fixed words that the field called `name`, or any field, may hold."""
    fields = [f.annotation for n, f in spec.model_fields.items() if name in (None, n)]
    return [v for a in fields if typing.get_origin(a) is Literal for v in typing.get_args(a)]


def _choice_phrase(specs: Sequence[type[Spec]]) -> str:
    """Name the key that selects among several descriptions, where they share one."""
    for name in specs[0].model_fields:
        words = [literals(s, name) for s in specs if name in s.model_fields]
        if len(words) == len(specs) and all(len(w) == 1 for w in words):
            return f"a mapping whose `{name}` is {' or '.join(f'`{w[0]}`' for w in words)}"
    return "a mapping"


def _phrase(option: Declared, key: Key) -> str:
    base = option.base
    if base in (float, int):
        noun = "a number" if base is float else "a whole number"
        return noun + _in_unit(option, key) + _limits(option, key)
    if base is bool:
        return "`true` or `false`"
    if base is str:
        form = f"text of the form `{option.pattern}`" if option.pattern else "text"
        least, most = option.lengths
        form += " that is not empty" if least == 1 and not option.pattern else ""
        return form + (f", at most {most} characters" if most is not None else "")
    if base is Literal:
        values = typing.get_args(option.type)
        return ("one of " if len(values) > 1 else "") + ", ".join(f"`{v}`" for v in values)
    if base is tuple:
        return _list_phrase(option, key)
    if base is dict:
        inner = accepted(declared(typing.get_args(option.type)[1], option.metadata), key)
        return f"a mapping from names, each to {inner}"
    if option.is_spec:
        if "kind" in option.type.model_fields and option.type.model_fields["kind"].is_required():
            names = typing.get_args(option.type.model_fields["kind"].annotation)
            if names[0] in ("vehicle", "world", "imu", "lidar"):
                return f"the name of a library {names[0]}, the path of a .yaml file, or a mapping"
        return f"a mapping with the keys {', '.join(option.type.model_fields)}"
    return str(getattr(option.type, "__name__", option.type))


def _list_phrase(option: Declared, key: Key) -> str:
    args = typing.get_args(option.type)
    # Limits on the length belong to the list, the unit to its numbers.
    inherited = [m for m in option.metadata if isinstance(m, Unit)]
    elements = declared(args[0], inherited)
    if [e.base for e in elements] == [float]:
        what = "numbers" + _in_unit(elements[0], key)
    elif all(e.base is tuple for e in elements):
        what = f"rows, each {accepted(elements, key)}"
    elif all(e.is_spec for e in elements):
        what = "mappings"
    else:
        what = f"entries, each {accepted(elements, key)}"
    if Ellipsis not in args:
        return f"a list of {len(args)} {what}"
    least, most = option.lengths
    if most is not None:
        return f"a list of {least} to {most} {what}"
    return f"a list of {what}" + (f", at least {least}" if least else "")


def _in_unit(option: Declared, key: Key) -> str:
    unit = key.unit(option.unit)
    return f" in {unit}" if unit not in ("", "1") else ""


def _limits(option: Declared, key: Key) -> str:
    """The narrowest of those that a kind of number and the field that takes it have."""
    factor = key.factor(option.unit)
    least: list[tuple[Any, int, str]] = []
    most: list[tuple[Any, int, str]] = []
    for item in option.metadata:
        match item:
            case Gt(gt=limit):
                least.append((limit, 1, "above"))
            case Ge(ge=limit):
                least.append((limit, 0, "at least"))
            case Lt(lt=limit):
                most.append((limit, -1, "below"))
            case Le(le=limit):
                most.append((limit, 0, "at most"))
    narrowest = [*([max(least)] if least else []), *([min(most)] if most else [])]
    words = [f"{word} {_number(limit, factor)}" for limit, _, word in narrowest]
    return ", " + " and ".join(words) if words else ""


def _number(limit: Any, factor: float) -> str:
    return str(limit) if isinstance(limit, int) and factor == 1.0 else f"{limit / factor:.6g}"


def what_is(value: Any) -> str:
    """Name the sort of a value read from YAML."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "`true` or `false`"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:  # of a program
            return f"an object of the class `{type(value).__name__}`"


UNIT_WORDS = {
    "°": "deg",
    "degree": "deg",
    "degrees": "deg",
    "°/s": "deg_s",
    "deg/s": "deg_s",
    "knot": "kn",
    "knots": "kn",
    "kt": "kn",
    "kts": "kn",
    "km/h": "km_h",
    "kph": "km_h",
    "nm": "nmi",
    "minutes": "min",
    "hours": "h",
    "tonnes": "t",
    "litres": "l",
    "L": "l",
}
"""Units as people write them after a number -> the suffix that a key carries."""

_WITH_UNIT = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9][^0-9]*?)?\s*")


def mend_number(text: str, name: str, unit: str, *, in_list: bool) -> str:
    """Say how to write a number that was given as text, such as "5 kn" or "90°"."""
    if re.fullmatch(r"\s*[-+]?[0-9]+,[0-9]+\s*", text):
        point = text.strip().replace(",", ".")
        whole = f", or `{text.strip().replace(',', '')}`" if len(point.split(".")[1]) == 3 else ""
        return f"write `{point}`, with a point{whole}"
    if re.fullmatch(r"\s*[-+]?[0-9]+(_[0-9]+)+(\.[0-9]*)?\s*", text):
        return f"write `{text.strip().replace('_', '')}`"
    clock = re.fullmatch(r"\s*(?:([0-9]+):)?([0-9]+):([0-9]+)\s*", text)
    if clock is not None and unit == "s":
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return f"write `{(60 * hours + minutes) * 60 + seconds}`: it is in s"
    found = _WITH_UNIT.fullmatch(text)
    if found is None:
        return ""
    number, given = found.groups()
    if not given:
        return "write it without quotes"
    suffix = UNIT_WORDS.get(given, given)
    if in_list or not unit:
        return "write the number alone" + (f"; {units_of(name, unit)}" if unit else "")
    if given in (unit, unit.replace("^", "")):
        return f"write `{name}: {number}`: it is in {unit} already"
    if suffix in UNIT_SUFFIXES.get(unit, {}):
        return f"write `{name}_{suffix}: {number}`"
    return f"write the number alone; {units_of(name, unit)}"


def units_of(name: str, unit: str) -> str:
    """Say which keys give a field in which unit."""
    if not unit or unit == "1":
        return f"`{name}` has no unit"
    keys = [f"`{name}_{suffix}`" for suffix in UNIT_SUFFIXES.get(unit, {})]
    return f"`{name}` is in {unit}" + (f"; other units: {', '.join(keys)}" if keys else "")


KNOWN_SUFFIXES = frozenset(
    [s for table in UNIT_SUFFIXES.values() for s in table]
    + [re.sub(r"[^A-Za-z0-9]+", "_", si).strip("_") for si in UNIT_SUFFIXES]
    + [*UNIT_WORDS, "Nm", "km_s", "mph", "ft", "lb", "hp", "Hz", "K", "Pa"]
)
"""Endings of a key that someone meant as a unit, right or wrong."""
