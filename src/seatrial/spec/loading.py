"""Load vehicles, worlds, scenarios and sensors from YAML, and write them out again.

Wherever a field is declared as one of these documents, the file may give the name of one in the
library, the path of a file (from where the file that names it lies) or the description in place.
"""

import io
import sys
import typing
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, TypeVar, overload

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode, SequenceNode
from ruamel.yaml.representer import SafeRepresenter

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Path, Problem, SpecError
from seatrial.spec import kept
from seatrial.spec.base import Source, Spec, scale, unit_of
from seatrial.spec.library import library_file
from seatrial.spec.messages import Unloadable, problems_from
from seatrial.spec.reading import is_plain_text, read_file, read_text
from seatrial.spec.scenario import Scenario
from seatrial.spec.sensors.inertial import ImuErrors
from seatrial.spec.sensors.optical import LidarModel
from seatrial.spec.vehicle import Vehicle
from seatrial.spec.wording import Declared, declared, did_you_mean, literals, what_is
from seatrial.spec.world import World

AnySpec = TypeVar("AnySpec", bound=Spec)

DOCUMENTS: dict[str, type[Spec]] = {
    "vehicle": Vehicle,
    "world": World,
    "scenario": Scenario,
    "imu": ImuErrors,
    "lidar": LidarModel,
}
"""What the `kind` at the top of a file may say -> the class that describes it."""


@overload
def load(reference: str | FilePath) -> Spec: ...
@overload
def load(reference: str | FilePath, kind: type[AnySpec]) -> AnySpec: ...
def load(reference: str | FilePath, kind: type[Spec] | None = None) -> Spec:
    """Load a description by path or library name; anything wrong raises SpecError.

    `kind` is the class to expect (Vehicle, World, Scenario, …); any when left out.

    >>> st.load("otter", st.Vehicle).length
    2.0
    """
    if isinstance(kind, str):
        message = f"a kind of description is a class, not {kind!r}"
        raise SpecError(Problem(message, mend=f"write `st.load({str(reference)!r}, st.Vehicle)`"))
    if not isinstance(reference, str | FilePath):
        raise _no_name(reference, kind)
    path = _find(reference, FilePath(), kind)
    found = kept.find(path, kind)
    if found is not None:
        return found
    data, source = read_file(path)
    built = _build(data, source, path.parent, kind)
    kept.keep(path, kind, built, {s.file: s.checksum for s in _sources_in(built) if s.checksum})
    return built


@overload
def load_text(text: str | bytes, *, file: str = ...) -> Spec: ...
@overload
def load_text(text: str | bytes, kind: type[AnySpec], *, file: str = ...) -> AnySpec: ...
def load_text(text: str | bytes, kind: type[Spec] | None = None, *, file: str = "<text>") -> Spec:
    """Load a description from YAML text; `file` is what messages call it."""
    data, source = read_text(text, file)
    return _build(data, source, FilePath(), kind)


def _find(reference: str | FilePath, folder: FilePath, kind: type[Spec] | None) -> FilePath:
    """Tell a path (it ends in .yaml or .yml, or has a slash in it) from a library name."""
    text = str(reference)
    is_path = isinstance(reference, FilePath) or "/" in text or "\\" in text
    if is_path or text.lower().endswith((".yaml", ".yml")):
        return folder / text
    try:
        return library_file(text, None if kind is None else kind_name(kind))
    except SpecError as error:
        beside = False
        with suppress(OSError, ValueError):  # too long for a name, or NUL in it: that is no file
            beside = (folder / f"{text}.yaml").is_file()
        if not beside:
            raise
        mend = f"write `{text}.yaml` for the file of that name"
        raise SpecError(replace(error.problems[0], mend=mend)) from None


def _no_name(given: object, kind: type[Spec] | None) -> SpecError:
    """Refuse what a program gave in the place of a name or a path."""
    wanted = "description" if kind is None else kind_name(kind)
    whole = "" if kind is None else f"st.{kind.__name__}"
    if isinstance(given, Spec):
        mend = "`st.Scenario(vehicles=[{'vehicle': …}])`" if kind is Scenario else ""
        found = type(given).__name__.lower()
        return SpecError(Problem(f"a {found} is no {wanted}", mend=mend and f"write {mend}"))
    mend = f"write `{whole}(**…)`" if whole and isinstance(given, dict) else ""
    return SpecError(
        Problem(
            f"{what_is(given)} where the name of a {wanted} belongs",
            value=given,
            expected="the name of one in the library, or the path of a .yaml file",
            mend=mend,
        )
    )


def kind_name(spec: type[Spec]) -> str:
    """What the `kind` key of this sort of document says."""
    return str(typing.get_args(spec.model_fields["kind"].annotation)[0])


def _build(data: dict[str, Any], source: Source, folder: FilePath, kind: type[Spec] | None) -> Spec:
    built = _built(_document_class(data, source, kind), data, source, folder)
    _attach(built, source)
    return built


def build_in_python(spec: type[Spec], data: dict[str, Any]) -> Spec:
    """A description from keyword arguments, in which names may stand for others as in YAML."""
    return _built(spec, data, Source("", {}), FilePath())


def _built(spec: type[Spec], data: dict[str, Any], source: Source, folder: FilePath) -> Spec:
    references = _References(source, folder)
    resolved = references.resolve([Declared(spec)], data, ())
    problems = references.problems
    try:
        built = spec.model_validate(resolved)
    except ValidationError as error:
        problems = problems_from(error, spec, resolved, source) + problems
    except ArithmeticError:  # a check that divided by, or overflowed on, an extreme number
        problems.append(Problem("holds numbers too extreme to compute with", file=source.file))
    if problems:
        # This file's problems first, then those of the files it refers to.
        raise SpecError(sorted(problems, key=lambda p: (p.file != source.file, p.file, p.line)))
    return built


def _document_class(data: dict[str, Any], source: Source, kind: type[Spec] | None) -> type[Spec]:
    classes = DOCUMENTS if kind is None else {kind_name(kind): kind}
    given = data.get("kind")
    if isinstance(given, str) and given in classes:
        return classes[given]
    expected = " or ".join(f"`kind: {name}`" for name in classes)
    if "kind" not in data:
        message, mend = "missing key `kind`", "say at the top of the file what it describes"
    elif given is None:
        message, mend = "has no value", ""
    elif isinstance(given, str) and given in DOCUMENTS:
        message, mend = f"this file describes a {given}", "refer to another file"
    else:
        message, mend = "unknown kind", did_you_mean(str(given), classes)
    raise SpecError(
        Problem(message, ("kind",), given, expected, mend, source.file, source.line(("kind",)))
    )


class _References:
    """Replaces names and paths by what they stand for, and keeps what went wrong."""

    def __init__(self, source: Source, folder: FilePath) -> None:
        self.source = source
        self.folder = folder
        self.problems: list[Problem] = []

    def resolve(self, options: list[Declared], value: Any, path: Path) -> Any:
        """Return a copy of `value` in which every reference is loaded."""
        specs = [o.type for o in options if o.is_spec]
        kinds = [s for s in specs if s in DOCUMENTS.values()]
        if isinstance(value, str | FilePath) and kinds and path:
            return self._load(value, kinds[0], path)
        if hasattr(value, "tolist") and hasattr(value, "shape"):  # numbers as NumPy has them
            value = value.tolist()
        if isinstance(value, dict):
            meant = specs if len(specs) == 1 else _selected(specs, value)
            fields = meant[0].model_fields if len(meant) == 1 else {}
            entry = [d for o in options if o.base is dict for d in _parameters(o, 1)]
            inline = {"kind": kind_name(kinds[0])} if kinds else {}
            return inline | {
                key: self.resolve(
                    declared(fields[key]) if key in fields else entry, v, (*path, key)
                )
                for key, v in ((str(key), v) for key, v in value.items())
            }
        if isinstance(value, list | tuple):
            entry = [d for o in options if o.base is tuple for d in _parameters(o, 0)]
            return [self.resolve(entry, v, (*path, i)) for i, v in enumerate(value)]
        return value

    def _load(self, reference: str | FilePath, kind: type[Spec], path: Path) -> Any:
        try:
            target = _find(reference, self.folder, kind)
            data, source = read_file(target)
            return _build(data, source, target.parent, kind)
        except SpecError as error:
            self.problems += [self._placed(p, reference, path) for p in error.problems]
            return Unloadable()

    def _placed(self, problem: Problem, reference: str | FilePath, path: Path) -> Problem:
        """Point at the reference, unless the problem lies in a line of the other file."""
        other_kind = problem.path == ("kind",) and str(problem.value) in DOCUMENTS
        if problem.line and not other_kind:
            return problem
        message = f"{problem.message}: {problem.file}" if problem.file else problem.message
        line = self.source.line(path) if self.source.file else 0
        return replace(
            problem,
            message=message,
            path=path,
            value=str(reference),
            file=self.source.file,
            line=line,
        )


def _selected(specs: list[type[Spec]], value: dict[str, Any]) -> list[type[Spec]]:
    """Of several descriptions those whose fixed words, such as `type: imu`, the file gives."""
    return [
        spec
        for spec in specs
        if any(literals(spec, name) == [value.get(name)] for name in spec.model_fields)
    ]


def _parameters(option: Declared, index: int) -> list[Declared]:
    return declared(typing.get_args(option.type)[index])


def _attach(spec: Spec, source: Source) -> None:
    """Give a description and those inside it their lines, each counted from its own top."""
    spec._source = source
    fields = type(spec).model_fields
    inner = dict(found for name in fields for found in _specs_in(getattr(spec, name), (name,)))
    lengths = {len(path) for path in inner}
    lines: dict[Path, dict[Path, int]] = {}
    for path, line in source.lines.items():
        for n in lengths:
            if path[:n] in inner:
                lines.setdefault(path[:n], {})[path[n:]] = line
    # A default is shared by all descriptions: it has no lines here and is left alone.
    for path, its_lines in lines.items():
        if inner[path]._source is None:  # else it came from a file of its own
            whole = (*source.path, *path)
            _attach(inner[path], Source(source.file, its_lines, path=whole))


def _specs_in(value: Any, path: Path) -> list[tuple[Path, Spec]]:
    if isinstance(value, Spec):
        return [(path, value)]
    if isinstance(value, tuple):
        return [found for i, v in enumerate(value) for found in _specs_in(v, (*path, i))]
    if isinstance(value, dict):
        return [found for k, v in value.items() for found in _specs_in(v, (*path, k))]
    return []


def _sources_in(spec: Spec) -> Iterator[Source]:
    """Where a description and those inside it came from."""
    if spec._source is not None:
        yield spec._source
    for name in type(spec).model_fields:
        for _, inner in _specs_in(getattr(spec, name), (name,)):
            yield from _sources_in(inner)


def dump(spec: Spec, *, usual_units: bool = False) -> str:
    """Write a description as YAML, every default and every reference written out.

    Numbers are in SI units and exact: loading the text gives an equal description. With
    `usual_units` so it does, but angles are in degrees (`heading_deg`), and what was written in
    rpm or knots is so again.
    """
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.allow_unicode = True
    yaml.width = sys.maxsize  # a folded line would lose one of two spaces in a row
    stream = io.StringIO()
    yaml.dump(_as_people_write(spec) if usual_units else spec.model_dump(), stream)
    return stream.getvalue()


def _as_people_write(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_as_people_write(v) for v in value)
    if isinstance(value, dict):
        return {k: _as_people_write(v) for k, v in value.items()}
    if not isinstance(value, Spec):
        return value
    content = {}
    for name, field in type(value).model_fields.items():
        suffix, held = _usual_unit(getattr(value, name), unit_of(field))
        content[name + suffix] = _as_people_write(held)
    return content


def _usual_unit(value: Any, unit: str) -> tuple[str, Any]:
    """Degrees, or the unit in which a number that is endless in SI is a short one: 972.5 rpm."""
    exact = scale(value, 1.0)
    if value is not None and (unit in ("rad", "rad/s") or _rounded(exact) != exact):
        for suffix, factor in UNIT_SUFFIXES.get(unit, {}).items():
            other = _rounded(scale(value, 1.0 / factor))
            if scale(other, factor) == exact:
                return f"_{suffix}", other
    return "", value


def _rounded(value: Any) -> Any:
    """Without the last digits that a change of units brings: 120.0 for 119.99999999999999."""
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return round(value, 9) if isinstance(value, float) else value


class _Representer(SafeRepresenter):
    """Writes rows of numbers on one line and quotes text that would read as something else."""

    def represent_row(self, values: Any) -> SequenceNode:
        node: SequenceNode = self.represent_sequence("tag:yaml.org,2002:seq", values)
        node.flow_style = all(isinstance(child, ScalarNode) for child in node.value)
        return node

    def represent_text(self, text: str) -> ScalarNode:
        # Line ends and their like survive in double quotes only.
        style = None if is_plain_text(text) and text.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Representer.add_representer(tuple, _Representer.represent_row)
_Representer.add_representer(list, _Representer.represent_row)
_Representer.add_representer(str, _Representer.represent_text)
