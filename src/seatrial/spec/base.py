"""What every description shares: frozen, strict, unknown keys refused, units in key names."""

import ast
import functools
import inspect
import itertools
import math
import sys
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator
from pydantic.fields import FieldInfo

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Path, Problem, SpecError, shorten

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # which pydantic does not export


@dataclass(frozen=True)
class Unit:
    """SI unit of a field; keys with a matching suffix (`_deg` for rad) are converted to it."""

    si: str


Number = Annotated[float, Field(allow_inf_nan=False)]
Metres = Annotated[Number, Unit("m")]
Radians = Annotated[Number, Unit("rad"), Field(ge=-math.tau, le=math.tau)]
"""At most one turn either way: more of it was meant in degrees."""
RadiansPerSecond = Annotated[Number, Unit("rad/s")]
MetresPerSecond = Annotated[Number, Unit("m/s")]
Seconds = Annotated[Number, Unit("s")]
Kilograms = Annotated[Number, Unit("kg")]
CubicMetres = Annotated[Number, Unit("m^3")]
SquareMetres = Annotated[Number, Unit("m^2")]
Newtons = Annotated[Number, Unit("N")]
RevPerSecond = Annotated[Number, Unit("rev/s")]
KgPerCubicMetre = Annotated[Number, Unit("kg/m^3")]
Plain = Annotated[Number, Unit("1")]
"""A dimensionless number."""

# Lists in YAML become tuples here so that a description cannot be edited after it was checked;
# strict mode alone would refuse a list where a tuple is declared.
Vector = Annotated[tuple[Number, Number, Number], Field(strict=False)]
Position = Annotated[Vector, Unit("m")]
Direction = Annotated[Vector, Unit("1")]


@dataclass(frozen=True)
class Source:
    """Where a description came from: its file and the line of every value in it."""

    file: str
    lines: dict[Path, int]
    checksum: str = ""
    """Of the bytes that the file held; empty where this is a part of it, or not a file."""
    path: Path = ()
    """From the top of the file to this part of it."""

    def line(self, path: Path) -> int:
        """Line of the value at `path`, or of the nearest enclosing value."""
        for end in range(len(path), -1, -1):
            found = self._lookup(path[:end])
            if found:
                return found
        return 1

    def _lookup(self, path: Path) -> int:
        if path in self.lines:
            return self.lines[path]
        if path and isinstance(path[-1], str):  # the file may say heading_deg for heading
            for suffix in (s for table in UNIT_SUFFIXES.values() for s in table):
                with_unit = (*path[:-1], f"{path[-1]}_{suffix}")
                if with_unit in self.lines:
                    return self.lines[with_unit]
        return 0


SpecT = TypeVar("SpecT", bound="Spec")


class _Described(ModelMetaclass):
    """Lets Python write a description as a file does, and refuses it in the same words."""

    def __call__(cls: type[Any], *args: Any, **data: Any) -> Any:  # noqa: N805
        try:
            return super().__call__(*args, **data)
        except ValidationError:
            from seatrial.spec.loading import build_in_python  # which needs all descriptions

            return build_in_python(cls, data)


class Spec(BaseModel, metaclass=_Described):
    """Base of every description."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        validate_default=True,
        defer_build=True,  # most classes are only ever checked as a part of another
    )
    _source: Source | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Equal in content; where a description came from does not matter."""
        if type(self) is not type(other) or not isinstance(other, Spec):
            return NotImplemented
        return self is other or self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # descriptions hold dictionaries

    def __setattr__(self, name: str, value: Any) -> None:
        """Descriptions stay as they were checked; only the house marks where they came from."""
        if not name.startswith("_"):
            mend = f"make a changed copy: `model_copy(update={{{name!r}: {shorten(value)}}})`"
            raise SpecError(Problem("a description stays as it was made", (name,), mend=mend))
        super().__setattr__(name, value)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy in which some keys are others, written as in YAML and checked like the whole."""
        if not update:
            return super().model_copy(deep=deep)
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        for key in [key for key in update if key not in type(self).model_fields]:
            name, _ = self._split_unit(key) or ("", 1.0)
            if not name:
                from seatrial.spec.wording import did_you_mean  # which needs this module

                mend = did_you_mean(str(key), self.accepted_keys())
                raise SpecError(Problem(f"unknown key `{key}`", (str(key),), mend=mend))
            if name not in update:
                fields.pop(name, None)
        copied = type(self)(**fields | dict(update))
        copied._source = self._source
        return copied

    def error(self, path: Path, message: str, **details: Any) -> SpecError:
        """Build an error that points at `path` within this description."""
        return SpecError(self.problem(path, message, **details))

    def problem(self, path: Path, message: str, **details: Any) -> Problem:
        """Describe something wrong at `path`, with file and line when they are known."""
        if self._source is not None:
            details |= {"file": self._source.file, "line": self._source.line(path)}
            path = (*self._source.path, *path)
        return Problem(message, path=path, **details)

    def with_default(self, part: SpecT) -> SpecT:
        """A part that this description leaves out: what is wrong with it is told of this place."""
        if self._source is not None:
            line = self._source.line(())
            part._source = Source(self._source.file, {(): line}, path=self._source.path)
        return part

    @model_validator(mode="before")
    @classmethod
    def _convert_units(cls, data: Any) -> Any:
        """Turn `heading_deg: 90` into `heading: 1.5708` when the field is declared in radians."""
        if not isinstance(data, dict):
            return data
        converted = dict(data)
        for key, value in data.items():
            if isinstance(value, set | frozenset | Iterator):
                cls._refuse_without_order(key, value)
            split = cls._split_unit(key) if key not in cls.model_fields else None
            if split is None:
                continue
            name, factor = split
            if name in data:
                raise ValueError(f"give either `{name}` or `{key}`, not both")
            converted[name] = scale(converted.pop(key), factor)
        return converted

    @classmethod
    def _refuse_without_order(cls, key: Any, value: object) -> None:
        """What a program gives for a list is one: pydantic would take a set in any order."""
        from seatrial.spec.wording import declared, what_is  # which needs this module

        if key in cls.model_fields and any(
            option.base is tuple for option in declared(cls.model_fields[key])
        ):
            raise ValueError(f"`{key}` is {what_is(value)} where a list belongs")

    @classmethod
    def _split_unit(cls, key: Any) -> tuple[str, float] | None:
        if not isinstance(key, str):
            return None
        for name, field in cls.model_fields.items():
            unit = unit_of(field)
            for suffix, factor in UNIT_SUFFIXES.get(unit, {}).items():
                if key == f"{name}_{suffix}":
                    return name, factor
        return None

    @classmethod
    def accepted_keys(cls) -> list[str]:
        """Every key a file may use for this description, units included."""
        keys: list[str] = []
        for name, field in cls.model_fields.items():
            keys += [name, *(f"{name}_{s}" for s in UNIT_SUFFIXES.get(unit_of(field), {}))]
        return keys


def document_fields(cls: type[Spec] = Spec) -> None:
    """Give every field of a class, and of those derived from it, the text below it as description.

    Pydantic would do so for all at every start (`use_attribute_docstrings`), reading every source
    file again, though only the reference of all keys asks for it.
    """
    for home in reversed(cls.__mro__):
        for name, text in _texts_in(home.__module__).get(home.__qualname__, {}).items():
            if issubclass(home, Spec) and name in cls.model_fields:
                cls.model_fields[name].description = text
    for derived in cls.__subclasses__():
        document_fields(derived)


@functools.cache
def _texts_in(module: str) -> dict[str, dict[str, str]]:
    """The text below each annotated name, by class."""
    if not module.startswith("seatrial."):
        return {}
    top = ast.parse(inspect.getsource(sys.modules[module]))
    found: dict[str, dict[str, str]] = {}
    for node in (n for n in top.body if isinstance(n, ast.ClassDef)):
        for pair in itertools.pairwise(node.body):
            match pair:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found.setdefault(node.name, {})[name] = inspect.cleandoc(text)
    return found


def unit_of(field: FieldInfo) -> str:
    """SI unit that a field was declared with, or '' for one without."""
    for item in (*field.metadata, *_annotations(field.annotation)):
        if isinstance(item, Unit):
            return item.si
    return ""


def _annotations(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    for arg in typing.get_args(annotation):
        yield from _annotations(arg)


def scale(value: Any, factor: float) -> Any:
    """Multiply the numbers in a value; anything else is left for the type check to refuse."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        try:
            return value * factor
        except OverflowError:  # an integer of hundreds of digits; refused as not finite
            return math.inf
    if isinstance(value, list | tuple):
        return [scale(v, factor) for v in value]
    return value
