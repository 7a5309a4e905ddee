"""Turn pydantic's findings into problems that name the file, the line and the remedy."""

import re
import typing
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.errors import Path, Problem
from seatrial.spec.base import Source, Spec, Unit, unit_of
from seatrial.spec.wording import (
    KNOWN_SUFFIXES,
    Declared,
    Key,
    accepted,
    closest,
    declared,
    did_you_mean,
    literals,
    mend_number,
    units_of,
    what_is,
)

MOST = 100
"""Findings that are reported at once; nobody reads more, and a long table can hold thousands."""


MOST_STRANGERS = 3
"""Unknown keys of one mapping that are told one by one."""

_UNKNOWN = "unknown key `"


class Unloadable:
    """Stands for a referenced file that could not be loaded; its own problems say why."""


@dataclass(frozen=True)
class _Finding:
    """One of pydantic's findings, in terms of the file and of our classes."""

    kind: str
    context: dict[str, Any]
    path: Path
    """Keys as the file writes them."""
    owner: type[Spec]
    key: Key
    options: tuple[Declared, ...]
    """What may stand there."""
    value: Any
    """What the file says there; None when it says nothing."""
    siblings: tuple[str, ...]
    """Keys that the file gives beside this one."""
    branches: tuple[tuple[Path, str], ...]
    """Alternatives of a union that pydantic tried on the way: where, and which."""

    @property
    def expected(self) -> str:
        return accepted(self.options, self.key)


def problems_from(
    error: ValidationError, spec: type[Spec], data: dict[str, Any], source: Source
) -> list[Problem]:
    """Translate every finding, each once."""
    findings: list[_Finding] = []
    details = error.errors(include_url=False)
    for detail in details[:MOST]:
        kind, loc = detail["type"], detail["loc"]
        if kind == "missing" and isinstance(loc[-1], int):
            # A fixed-length list reports its first absent entry: speak of the list instead.
            kind, loc = "too_short", loc[:-1]
        findings.append(_locate(spec, kind, detail.get("ctx", {}), loc, data))
    findings = [f for f in findings if not isinstance(f.value, Unloadable) and not _echo(f)]
    findings = _one_branch_per_union(findings)
    # A misspelt key is reported once, not a second time as the key that is missing.
    meant = {(*f.path[:-1], _meant(f)) for f in findings if f.kind == "extra_forbidden"}
    problems = [_problem(f) for f in findings if f.kind != "missing" or f.path not in meant]
    unique = _few([p for i, p in enumerate(problems) if p not in problems[:i]])
    if len(details) > MOST:
        unique.append(Problem(f"{len(details) - MOST} more findings are not shown"))
    if not source.file:
        return unique
    return [replace(p, file=source.file, line=source.line(p.path)) for p in unique]


def _few(problems: list[Problem]) -> list[Problem]:
    """Many unknown keys of one mapping are told at once: it stands in the wrong place."""
    strangers: dict[Path, list[Problem]] = defaultdict(list)
    for problem in problems:
        if problem.message.startswith(_UNKNOWN) and not problem.value:
            strangers[problem.path[:-1]].append(problem)
    for same in strangers.values():
        if len(same) > MOST_STRANGERS:
            names = [f"`{p.path[-1]}`" for p in same[:MOST_STRANGERS]]
            rest = len(same) - MOST_STRANGERS
            message = f"unknown keys {', '.join(names)} and {rest} more"
            problems = [p for p in problems if p is same[0] or p not in same]
            problems[problems.index(same[0])] = replace(same[0], message=message)
    return problems


def _echo(finding: _Finding) -> bool:
    """Whether a list is called too short only because its entries were refused themselves."""
    least = finding.context.get("min_length")
    return finding.kind == "too_short" and least is not None and len(finding.value) >= least


def _locate(
    spec: type[Spec], kind: str, context: dict[str, Any], loc: tuple[int | str, ...], data: Any
) -> _Finding:
    """Follow pydantic's location, which mixes field names with the names of union members."""
    path: Path = ()
    owner, key, options, value = spec, Key(""), [Declared(spec)], data
    branches: list[tuple[Path, str]] = []
    siblings: tuple[str, ...] = ()
    holder = options[0]
    for part in loc:
        if len(options) > 1:
            branches.append((path, str(part)))
            options = _branch(options, str(part))
            continue
        if part == "[key]":  # it is the key that was refused, not what stands there
            options, value = declared(typing.get_args(holder.type)[0]), path[-1]
            continue
        here = holder = options[0] if options else Declared(object)
        if here.is_spec:
            owner = here.type
            key = _key_in_file(owner, str(part), value)
            part = str(key)
            options = declared(owner.model_fields[key.name]) if key.name else []
        else:
            key = Key(part) if isinstance(part, str) else key
            options = _element(here, part)
        path = (*path, part)
        siblings = tuple(value) if isinstance(value, dict) else ()
        value = _child(value, part)
    return _Finding(
        kind, context, path, owner, key, tuple(options), value, siblings, tuple(branches)
    )


def _key_in_file(owner: type[Spec], name: str, value: Any) -> Key:
    if name not in owner.model_fields:
        return Key("", unknown=name)
    if isinstance(value, dict) and name not in value:
        for suffix in UNIT_SUFFIXES.get(unit_of(owner.model_fields[name]), {}):
            if f"{name}_{suffix}" in value:
                return Key(name, suffix)
    return Key(name)


def _element(here: Declared, part: int | str) -> list[Declared]:
    args = typing.get_args(here.type)
    if here.base is dict:
        return declared(args[1])
    if here.base is tuple and isinstance(part, int):
        unit = [m for m in here.metadata if isinstance(m, Unit)]
        return declared(args[0] if Ellipsis in args else args[min(part, len(args) - 1)], unit)
    return []


def _child(value: Any, part: int | str) -> Any:
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def _branch(options: list[Declared], tag: str) -> list[Declared]:
    """Pick the union member that pydantic calls `tag`: a discriminator's value or a type."""
    tagged = [o for o in options if o.is_spec and tag in literals(o.type)]
    if tagged:
        return tagged
    places = [(m.start(), o) for o in options if (m := re.search(rf"\b{_label(o)}\b", tag))]
    return [min(places, key=lambda place: place[0])[1]] if places else options


def _label(option: Declared) -> str:
    return "literal" if option.base is Literal else str(getattr(option.base, "__name__", "?"))


def _one_branch_per_union(findings: list[_Finding]) -> list[_Finding]:
    """Keep, of the alternatives that all failed, the one that the file's author meant."""
    kept = [f for f in findings if not f.branches]
    unions: dict[Path, dict[str, list[_Finding]]] = defaultdict(lambda: defaultdict(list))
    for finding in findings:
        for where, tag in finding.branches[:1]:
            unions[where][tag].append(finding)
    for where, tags in unions.items():
        chosen = _meant_branch(where, list(tags.values()))
        kept += _one_branch_per_union([replace(f, branches=f.branches[1:]) for f in chosen])
    return kept


def _meant_branch(where: Path, branches: list[list[_Finding]]) -> list[_Finding]:
    if len(branches) == 1:
        return branches[0]
    # A branch that failed at the union itself could not even begin with this sort of value.
    begun = [b for b in branches if any(_went_in(f, where) for f in b)]
    if begun:
        return min(begun, key=len)
    options = tuple(o for branch in branches for f in branch for o in f.options)
    return [replace(branches[0][0], options=options, branches=())]


def _went_in(finding: _Finding, where: Path) -> bool:
    refused = finding.kind.endswith("_type") or finding.kind == "literal_error"
    return len(finding.path) > len(where) or not refused


def _problem(finding: _Finding) -> Problem:
    path, value = finding.path, finding.value
    match finding.kind:
        case "extra_forbidden":
            return _unknown_key(finding)
        case "union_tag_invalid" | "union_tag_not_found":
            return _unknown_tag(finding)
        case "value_error" | "assertion_error":
            return _own_words(finding)
        case "missing":
            return Problem(f"missing key `{path[-1]}`", path, expected=finding.expected)
        case _ if value is None:
            return Problem("has no value", path, expected=finding.expected)
        case "too_short" | "too_long":
            message = f"holds {len(value)} {'entry' if len(value) == 1 else 'entries'}"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            message = "out of range"
        case "finite_number":
            message = "not a finite number" if value != value else "the number is too large"
        case "literal_error":
            message = "not an accepted value"
        case "string_pattern_mismatch" | "string_too_long" | "string_too_short":
            message = "not an accepted text"
        case _:
            message = f"{what_is(value)} where {_noun(finding.options)} belongs"
    return Problem(message, path, value, finding.expected, _mend(finding))


def _fields(option: Declared) -> Any:
    return option.type.model_fields if option.is_spec else ()


def _document_of(options: tuple[Declared, ...]) -> str:
    """The key under which one of these has to name a file or an entry of the library, if any."""
    return next(
        (
            name
            for option in options
            for name in _fields(option)
            if option.type.model_fields[name].is_required()
            and any("kind" in _fields(inner) for inner in declared(option.type.model_fields[name]))
        ),
        "",
    )


def _noun(options: tuple[Declared, ...]) -> str:
    nouns = {
        float: "a number",
        int: "a whole number",
        bool: "`true` or `false`",
        str: "text",
        tuple: "a list",
        Literal: "a fixed word",
    }
    return " or ".join(dict.fromkeys(nouns.get(o.base, "a mapping") for o in options))


def _mend(finding: _Finding) -> str:
    """Guess what the author meant by a value of the wrong sort."""
    value, name = finding.value, finding.key.name
    words = [str(v) for o in finding.options if o.base is Literal for v in typing.get_args(o.type)]
    numbers = [o for o in finding.options if o.base in (float, int)]
    bases = [o.base for o in finding.options]
    if isinstance(value, str):
        if words and (guess := did_you_mean(value, words)):
            return guess
        if bool in bases and value.casefold() in _YES_NO:
            return f"write `{_YES_NO[value.casefold()]}`"
        if numbers:
            in_list = isinstance(finding.path[-1], int)
            return mend_number(value, name, numbers[0].unit, in_list=in_list)
        if "faults" in finding.path[-2:]:
            return (
                "one line is for `--fault`; here write `{target: gnss, kind: dropout, start: 20}`"
            )
        if name := _document_of(finding.options):
            return f"write `{{{name}: {value}}}`"
        for spec in (o.type for o in finding.options if o.is_spec):
            for name in spec.model_fields:
                if value in literals(spec, name):
                    return f"write `{{{name}: {value}}}`"
        for pattern in (o.pattern for o in finding.options if o.pattern):
            tidy = re.sub(r"[^a-z0-9]+", "_", _without_accents(value.lower())).strip("_")
            return f"write `{tidy}`" if re.match(pattern, tidy) else ""
    elif finding.kind == "too_short" and name == "position":
        return f"write {[*value, *[0] * (3 - len(value))]}: the third counts downwards"
    elif isinstance(value, list) and any("position" in _fields(o) for o in finding.options):
        return f"write `{{position: {value}}}`"
    elif isinstance(value, dict) and tuple in bases:
        return "begin every entry of the list with `- `"
    elif isinstance(value, int | float):
        if bases == [tuple] and isinstance(finding.path[-1], int):
            return "every entry is a list of its own, also a single one: `[[1, 2]]`"
        if any(o.base is str and not o.pattern for o in finding.options):
            return f'put it in quotes: "{value}"'
        degrees = [o for o in numbers if o.unit == "rad" and not finding.key.suffix]
        if degrees and finding.kind in ("less_than_equal", "greater_than_equal"):
            return f"an angle in degrees is written `{name}_deg: {value}`"
        if int in bases and isinstance(value, float) and value.is_integer():
            return f"write `{int(value)}`"
    return ""


def _without_accents(text: str) -> str:
    parted = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in parted if not unicodedata.combining(letter))


_YES_NO = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


def _meant(finding: _Finding) -> str:
    """Name of the field that an unknown key probably stands for, or ''."""
    given = str(finding.path[-1])
    name, _ = _split_suffix(finding.owner, given)
    if name:
        return name
    guess = closest(given, _free_keys(finding)) or ""
    fields = finding.owner.model_fields
    return guess if guess in fields else _split_suffix(finding.owner, guess)[0]


def _free_keys(finding: _Finding) -> list[str]:
    return [key for key in finding.owner.accepted_keys() if key not in finding.siblings]


def _split_suffix(owner: type[Spec], key: str) -> tuple[str, str]:
    """Split `length_deg` into a field's name and what was meant as its unit."""
    for name in sorted(owner.model_fields, key=len, reverse=True):
        suffix = key.removeprefix(f"{name}_")
        if suffix != key and suffix in KNOWN_SUFFIXES:
            return name, suffix
    return "", ""


def _unknown_key(finding: _Finding) -> Problem:
    owner, given = finding.owner, str(finding.path[-1])
    keys = ", ".join(owner.model_fields)
    name, suffix = _split_suffix(owner, given)
    if name:
        unit = unit_of(owner.model_fields[name])
        return Problem(
            f"unknown key `{given}`: `{suffix}` is not a unit of `{name}`",
            finding.path,
            expected=units_of(name, unit),
            mend=f"write `{name}`" if suffix == re.sub(r"\W+", "_", unit) else "",
        )
    return Problem(
        f"{_UNKNOWN}{given}`",
        finding.path,
        expected=f"one of the keys {keys}",
        mend=_mend_key(finding, given),
    )


def _mend_key(finding: _Finding, given: str) -> str:
    """Guess what the author meant by a key that is none."""
    fields = finding.owner.model_fields
    if "peak_period" in fields and given in ("peak_frequency", "fp", "f_p"):
        return "write `peak_period`, one over it, in s"
    if guess := did_you_mean(given, _free_keys(finding)):
        return guess
    if "towards" in fields and given.removesuffix("_deg") in ("from", "direction", "heading"):
        return "write `towards_deg`: where it goes to, which is 180° from where it comes from"
    if "coefficients" in fields and re.match(r"[XYZKMN]_", given):
        return "indent it under `coefficients:`"
    if "position" in fields and given in ("north", "x", "latitude", "latitude_deg"):
        return "write `position: [north, east, down]`, in metres from the world's `datum`"
    holders = [
        name
        for name, field in fields.items()
        if any(o.is_spec and given in o.type.accepted_keys() for o in declared(field))
    ]
    return f"write it inside `{holders[0]}`" if len(holders) == 1 else ""


def _unknown_tag(finding: _Finding) -> Problem:
    # A function that tells alternatives apart bears the name of the key that it looks at.
    selector = str(finding.context["discriminator"]).strip("'()")
    members = [o.type for o in finding.options if o.is_spec]
    tags = [str(v) for member in members for v in literals(member, selector)]
    path = (*finding.path, selector)
    expected = f"one of {', '.join(f'`{t}`' for t in tags)}"
    if finding.kind == "union_tag_not_found":
        mend = _mend_tag(selector, members, tags, finding.value)
        return Problem(f"missing key `{selector}`", path, expected=expected, mend=mend)
    value = _child(finding.value, selector)
    mend = did_you_mean(str(value), tags)
    return Problem(f"unknown {selector}", path, value, expected, mend)


def _mend_tag(
    selector: str, members: Sequence[type[Spec]], tags: Sequence[str], given: dict[str, Any]
) -> str:
    """Guess which of several forms a mapping has that does not say so."""
    for key, value in given.items():
        if key in tags or (isinstance(value, str) and value in tags):
            return f"write `{selector}: {key if key in tags else value}`"
    if near := closest(selector, given):
        return f"did you mean `{selector}` by `{near}`?"
    fitting = [m for m in members if set(given) <= set(m.accepted_keys())]
    names = [str(v) for member in fitting for v in literals(member, selector)]
    return f"add `{selector}: {names[0]}`" if given and len(names) == 1 else ""


def _own_words(finding: _Finding) -> Problem:
    """Pass on what a class's own check said, at the first key it names in backticks."""
    message, path, value = str(finding.context["error"]), finding.path, finding.value
    specs = [o.type for o in finding.options if o.is_spec]
    if isinstance(value, dict) and specs:
        for word in re.findall(r"`([a-z_]+)`", message):
            key = str(_key_in_file(specs[0], word, value))
            if key in value:
                found = value[key]
                whole = isinstance(found, list) and any(isinstance(one, dict) for one in found)
                return Problem(message, (*path, key), None if whole else found)
    return Problem(message, path, None if isinstance(value, dict | list) else value)
