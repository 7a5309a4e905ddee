"""Every key that a YAML file may use, as pages of Markdown written from the classes themselves.

`python -m seatrial.spec.reference FOLDER` writes the pages. Examples are cut from the library, and
from `examples.yaml` for what the library does not use.
"""

import io
import re
import sys
import textwrap
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic_core import PydanticUndefined
from ruamel.yaml import YAML

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Problem, SpecError
from seatrial.spec.base import Source, Spec, Unit, document_fields, unit_of
from seatrial.spec.library import library_file, library_names
from seatrial.spec.loading import DOCUMENTS, load
from seatrial.spec.reading import read_file
from seatrial.spec.wording import Declared, Key, accepted, declared, did_you_mean, literals

PAGES = {
    "scenario": ("Scenarios", ("scenario",)),
    "missions": (
        "Missions, navigation, failsafes and obstacles",
        ("mission", "navigation", "failsafes", "obstacles"),
    ),
    "faults": ("Faults", ("faults",)),
    "world": ("Worlds", ("world", "waves", "seabed", "bodies")),
    "vehicle": ("Vehicles", ("vehicle", "hull", "actuators")),
    "sensors": ("Sensors", ("sensors",)),
}
"""Name of a page -> its title, and the modules of `spec` whose classes it shows."""

LONGEST_EXAMPLE = 18
"""Lines."""

_NOTE = "<!-- Written by `make reference` from the classes in src/seatrial/spec: edit those. -->"


def pages() -> dict[str, str]:
    """File name -> text of every page of the reference."""
    document_fields()
    classes = list(_reachable())
    examples = _examples()
    found = {f"{page}.md": _page(page, classes, examples) for page in PAGES}
    listed = [f"- [{title}]({page}.md)" for page, (title, _) in PAGES.items()]
    index = [
        _NOTE,
        "# Every key of the YAML files",
        "Each table lists the keys of one mapping. A number is in the SI unit that its row names; "
        "where the row offers an ending, the key with it takes the number in that unit: `heading` "
        "or `_deg` means that `heading_deg: 90` says the same as `heading: 1.5708`. A key that is "
        "not in its table is refused.",
        "\n".join(listed),
    ]
    return found | {"index.md": "\n\n".join(index) + "\n"}


def page_of(spec: type[Spec]) -> str:
    """Name of the page that shows a class."""
    module = spec.__module__.removeprefix("seatrial.spec.").partition(".")[0]
    for page, (_, modules) in PAGES.items():
        if module in modules:
            return page
    raise LookupError(f"no page of the reference shows {spec.__module__}; add it to PAGES")


def _reachable() -> Iterator[type[Spec]]:
    """Every class that a file may describe, each once, in the order in which keys lead to it."""
    seen: dict[type[Spec], None] = {}

    def visit(spec: type[Spec]) -> None:
        if spec not in seen:
            seen[spec] = None
            for field in spec.model_fields.values():
                for inner in _specs_of(field):
                    visit(inner)

    for spec in (DOCUMENTS["scenario"], *DOCUMENTS.values()):
        visit(spec)
    return iter(seen)


def _specs_of(annotation: Any) -> list[type[Spec]]:
    """Descriptions that a field may hold, at any depth of lists and mappings."""
    found: list[type[Spec]] = []
    for option in declared(annotation):
        if option.is_spec:
            found.append(option.type)
        else:
            for argument in typing.get_args(option.type):
                if argument is not Ellipsis and option.base in (tuple, dict):
                    found += _specs_of(argument)
    return found


def _page(page: str, classes: list[type[Spec]], examples: Mapping[type[Spec], str]) -> str:
    parts = [_NOTE, f"# {PAGES[page][0]}"]
    for spec in classes:
        if page_of(spec) == page:
            parts += _section(spec, examples.get(spec), page)
    return "\n\n".join(parts) + "\n"


def _section(spec: type[Spec], example: str | None, page: str) -> list[str]:
    rows = ["| key | value | unit | default | meaning |", "|---|---|---|---|---|"]
    rows += [_row(spec, name, page) for name in spec.model_fields]
    parts = [f"## {title_of(spec)}", _about(spec), "\n".join(rows)]
    if example is not None:
        parts.append(f"```yaml\n{example}```")
    return parts


def title_of(spec: type[Spec]) -> str:
    """Name of a class in words: `TurningCircle` is a turning circle."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|\d+", spec.__name__)
    return " ".join([words[0], *(w.lower() for w in words[1:])])


def topics() -> dict[str, list[str]]:
    """Title of each page -> what `explain` can tell of it."""
    classes = list(_reachable())
    return {
        title: sorted(title_of(spec).lower() for spec in classes if page_of(spec) == page)
        for page, (title, _) in PAGES.items()
    }


def explain(topic: str) -> str:
    """The keys of a description in plain text, by its title: `turning circle`, `goto`, `dvl`."""
    classes = {title_of(spec).lower(): spec for spec in _reachable()}
    wanted = topic.lower().replace("_", " ")
    if wanted not in classes:
        raise SpecError(
            Problem(
                f"there are no keys of `{topic}`",
                expected="a title that `seatrial keys` lists",
                mend=did_you_mean(wanted, list(classes)),
            )
        )
    document_fields()
    spec = classes[wanted]
    lines = [title_of(spec), *textwrap.wrap(_about(spec), 78), ""]
    for name, field in spec.model_fields.items():
        key, value, unit, default, meaning = _cells(spec, name, page_of(spec))
        value = re.sub(r"\[([^]]*)\]\([^)]*\)", lambda link: link[1].lower(), value)
        given = default if field.is_required() else f"default {default}"
        told = "; ".join(fact for fact in (value, unit and f"in {unit}", given) if fact)
        lines += [key.replace("`", ""), *_indented(told), *_indented(meaning), ""]
    example = _examples(spec).get(spec)
    if example is not None:
        lines += ["For example:", "", *(f"    {line}" for line in example.splitlines()), ""]
    return "\n".join(lines).replace("`", "").replace("\\^", "^")


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, 78, initial_indent="    ", subsequent_indent="    ")


def _row(spec: type[Spec], name: str, page: str) -> str:
    cells = _cells(spec, name, page)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cells(spec: type[Spec], name: str, page: str) -> list[str]:
    """Key, value, unit, default and meaning."""
    field = spec.model_fields[name]
    unit = unit_of(field)
    endings = ", ".join(f"`_{suffix}`" for suffix in UNIT_SUFFIXES.get(unit, {}))
    return [
        f"`{name}`" + (f" or {endings}" if endings else ""),
        _value(field, page),
        "" if unit == "1" else unit.replace("^", "\\^"),
        _default(field),
        _text(field.description or ""),
    ]


def _value(field: Any, page: str) -> str:
    """What a field takes, in words; descriptions of their own are linked."""
    specs = _specs_of(field)
    plain = [
        Declared(option.type, tuple(m for m in option.metadata if not isinstance(m, Unit)))
        for option in declared(field)
        if not option.is_spec and not _specs_of(option.type)
    ]
    words = [accepted(plain, Key(""))] if plain else []
    if specs:
        links = []
        for spec in specs:
            here = page_of(spec)
            anchor = title_of(spec).lower().replace(" ", "-")
            file = "" if here == page else f"{here}.md"
            links.append(f"[{title_of(spec)}]({file}#{anchor})")
        many = any(option.base is tuple for option in declared(field))
        named = any(option.base is dict for option in declared(field))
        noun = "a list, each " if many else "a mapping from names, each to " if named else ""
        words.append(noun + ", ".join(links))
    return ", or ".join(words)


def _default(field: Any) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    if default is PydanticUndefined:
        return "required"
    if default is None:
        return "none"
    if isinstance(default, Spec):
        return "its own defaults"
    return f"`{_plain(default)}`"


def _plain(value: Any) -> str:
    """A value as YAML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value == "":
        return '""'
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_plain(v) for v in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {_plain(v)}' for k, v in value.items())}}}"
    return str(value)


def _about(spec: type[Spec]) -> str:
    """What a class describes, without the example for Python."""
    return _text((spec.__doc__ or "").partition(">>>")[0])


def _text(words: str) -> str:
    return " ".join(words.split())


def _examples(only: type[Spec] | None = None) -> dict[type[Spec], str]:
    """Of every class the place of the library that shows most of its keys and is not too long; of
    one alone the first that is not too long."""
    best: dict[type[Spec], tuple[int, int, str]] = {}
    for kind in DOCUMENTS:
        for name in library_names(kind):
            if only in best and best[only][0] == 0:
                break
            file = library_file(name, kind)
            if only is not None and not _may_hold(file, only):
                continue
            built = load(name, DOCUMENTS[kind])  # quick; reading the file once more is not
            if only is not None and not _holds(built, only, built._source):
                continue
            data, _ = read_file(file)
            for spec, shown in _uses(built, data):
                if only not in (None, spec):
                    continue
                text = _yaml(shown)
                lines = text.count("\n")
                rank = (min(0, LONGEST_EXAMPLE - lines), len(shown), text)
                if spec not in best or rank[:2] > best[spec][:2]:
                    best[spec] = rank
    given = read_file(FilePath(__file__).with_name("examples.yaml"))[0]
    return {
        spec: _yaml(given[spec.__name__])
        for spec in _reachable()
        if spec.__name__ in given and only in (None, spec)
    } | {spec: text for spec, (_, _, text) in best.items()}


def _may_hold(file: FilePath, wanted: type[Spec]) -> bool:
    """Whether a file has the words by which a class is told from others, such as `thruster`."""
    text = file.read_text(encoding="utf-8")
    words = [literals(wanted, name) for name, f in wanted.model_fields.items() if f.is_required()]
    return all(str(found[0]) in text for found in words if len(found) == 1)


def _holds(built: Any, wanted: type[Spec], top: Source | None) -> bool:
    """Whether a description holds one of a class, but for what other files describe."""
    if isinstance(built, Spec):
        source = built._source
        if source is not None and top is not None and source.file != top.file:
            return False
        inner = (getattr(built, name) for name in type(built).model_fields)
        return type(built) is wanted or any(_holds(one, wanted, top) for one in inner)
    if isinstance(built, tuple | dict):
        entries = built.values() if isinstance(built, dict) else built
        return any(_holds(one, wanted, top) for one in entries)
    return False


def _uses(built: Any, data: Any) -> Iterator[tuple[type[Spec], dict[str, Any]]]:
    """Every description inside a loaded one that its file writes out, with what the file says."""
    if isinstance(built, Spec) and isinstance(data, dict):
        yield type(built), data
        for name, field in type(built).model_fields.items():
            suffixes = ("", *(f"_{s}" for s in UNIT_SUFFIXES.get(unit_of(field), {})))
            key = next((name + s for s in suffixes if name + s in data), None)
            if key is not None:
                yield from _uses(getattr(built, name), data[key])
    elif isinstance(built, tuple) and isinstance(data, list) and len(built) == len(data):
        for inner, shown in zip(built, data, strict=True):
            yield from _uses(inner, shown)
    elif isinstance(built, dict) and isinstance(data, dict):
        for key, inner in built.items():
            if key in data:
                yield from _uses(inner, data[key])


def _yaml(data: dict[str, Any]) -> str:
    """A mapping, one line for every key whose value is short."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style = None
    yaml.sort_base_mapping_type_on_output = False
    yaml.allow_unicode = True
    yaml.width = 95
    stream = io.StringIO()
    yaml.dump(data, stream)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def write(folder: FilePath) -> list[FilePath]:
    """Write all pages into a folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


if __name__ == "__main__":
    for path in write(FilePath(sys.argv[1])):
        print(path)
