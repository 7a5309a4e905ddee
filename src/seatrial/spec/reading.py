"""From the bytes of a YAML file to plain Python values, with the line of each of them.

YAML 1.2, core schema: `true`/`false`, `null`, numbers and text, nothing else. `no`, `on`, `N`,
dates and `1:30` stay text. The tree is built here from the parser's events rather than by the
YAML library, because that is the only way to know every line, to refuse what could run code
(tags) and to stop before a small file grows into a large one (aliases, deep nesting).
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from seatrial.errors import Path, Problem, SpecError
from seatrial.spec.base import Source
from seatrial.spec.wording import closest

MAX_BYTES = 1_000_000
"""A description is written by a person; a file larger than this is something else."""
MAX_DEPTH = 40
MAX_VALUES = 200_000
"""Counted after aliases are replaced by what they stand for."""

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def is_plain_text(text: str) -> bool:
    """Whether text without quotes is read as text, not as a number or a constant."""
    return text not in _CONSTANTS and not any(
        form.fullmatch(text) for form in (_INTEGER, _FLOAT, _NOT_FINITE)
    )


def read_file(path: FilePath) -> tuple[dict[str, Any], Source]:
    """Read a YAML file whose top is a mapping."""
    name = str(path)
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise SpecError(
            Problem("not a YAML file", file=name, expected="a name that ends in .yaml or .yml")
        )
    try:
        if path.is_dir():
            raise SpecError(Problem("this is a directory", file=name, expected="a YAML file"))
        if path.exists() and not path.is_file():
            raise SpecError(Problem("this is not a regular file", file=name))
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SpecError(
            Problem("there is no such file", file=name, mend=_neighbour(path))
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(Problem(f"cannot be read: {reason}", file=name)) from None
    return read_text(content, name)


def _neighbour(path: FilePath) -> str:
    """Offer a file of nearly the same name in the same folder."""
    if "~" in path.parts:
        return "`~` is not replaced by a home folder here: write the whole path"
    beside = {p.stem: p.name for p in path.parent.glob("*.y*ml")} if path.parent.is_dir() else {}
    found = closest(path.stem, beside)
    return f"did you mean `{beside[found]}`?" if found else ""


def read_text(content: bytes | str, file: str) -> tuple[dict[str, Any], Source]:
    """Read a YAML document whose top is a mapping; `file` is what messages call it."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    if len(raw) > MAX_BYTES:
        raise SpecError(
            Problem(
                "the file is too large",
                file=file,
                expected=f"at most {MAX_BYTES:,} bytes",
                mend="a description holds settings; keep measured data in files of its own",
            )
        )
    reader = _Reader(file)
    try:
        data = reader.document(_decode(raw, file))
    except MarkedYAMLError as error:
        raise SpecError(_syntax_problem(error, file)) from None
    except YAMLError as error:  # the scanner's refusal of characters that YAML forbids
        position = getattr(error, "position", 0)
        raise SpecError(
            Problem(
                f"holds the character U+{getattr(error, 'character', 0):04X}, which YAML forbids",
                file=file,
                line=raw.decode("utf-8-sig").count("\n", 0, position) + 1,
                mend="delete it, or write it as an escape in a double-quoted string",
            )
        ) from None
    return data, Source(file, reader.lines, checksum(raw))


def checksum(content: bytes) -> str:
    """By which a file is known to be the one that was read."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def _decode(raw: bytes, file: str) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SpecError(
            Problem("the file is in UTF-16", file=file, line=1, mend="save it as UTF-8")
        )
    if b"\0" in raw:
        raise SpecError(Problem("this is a binary file", file=file, expected="YAML, in UTF-8 text"))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(
            Problem(
                f"byte 0x{raw[error.start]:02x} is not UTF-8",
                file=file,
                line=raw.count(b"\n", 0, error.start) + 1,
                expected="text in UTF-8",
                mend="save the file as UTF-8 (it may be in Latin-1 or Windows-1252)",
            )
        ) from None


class _Reader:
    """Builds values from parser events and notes the line of each."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[Path, int] = {}
        self._events: Iterator[Event] = iter(())
        self._anchors: dict[str, list[Event]] = {}
        self._values = 0

    def document(self, text: str) -> dict[str, Any]:
        parser: Any = YAML(typ="safe", pure=True)
        self._events = self._recorded(parser.parse(text))
        next(self._events)  # the start of the stream
        first = next(self._events)
        if isinstance(first, StreamEndEvent):
            raise self._error("the file is empty", None, expected=_TOP)
        start = next(self._events)
        data = self._value(start, ())
        if data is None:
            raise self._error("the file is empty", None, expected=_TOP)
        if not isinstance(data, dict):
            what = "a list" if isinstance(data, list) else "a single value"
            raise self._error(f"the top of the file is {what}", start, expected=_TOP)
        next(self._events)  # the end of the document
        after = next(self._events)
        if isinstance(after, DocumentStartEvent):
            raise self._error(
                "a second document starts here", after, mend="keep one description per file"
            )
        return data

    def _recorded(self, events: Iterator[Event]) -> Iterator[Event]:
        """Pass events on, keeping those inside an anchor so that its aliases can repeat them."""
        open_anchors: list[tuple[str, int, list[Event]]] = []
        depth = 0
        for event in events:
            starts = isinstance(event, MappingStartEvent | SequenceStartEvent)
            anchor = None if isinstance(event, AliasEvent) else getattr(event, "anchor", None)
            if anchor is not None:
                open_anchors.append((anchor, depth, []))
            depth += starts
            depth -= isinstance(event, MappingEndEvent | SequenceEndEvent)
            for name, level, kept in list(open_anchors):
                kept.append(event)
                if level == depth:
                    self._anchors[name] = kept
                    open_anchors.remove((name, level, kept))
            yield event

    def _value(self, event: Event, path: Path) -> Any:
        self.lines.setdefault(path, event.start_mark.line + 1)
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._error(
                f"holds more than {MAX_VALUES:,} values once its aliases are written out", event
            )
        if len(path) > MAX_DEPTH:
            raise self._error(f"is nested more than {MAX_DEPTH} levels deep", event)
        if isinstance(event, AliasEvent):
            return self._alias(event, path)
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self._error(
                "carries a tag", event, path, value=str(tag), mend="remove it: tags are not used"
            )
        if isinstance(event, MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event, path)

    def _alias(self, event: AliasEvent, path: Path) -> Any:
        name = str(event.anchor)
        if name not in self._anchors:
            raise self._error(f"*{name} stands for nothing that was written before it", event, path)
        rest, self._events = self._events, iter(self._anchors[name])
        value = self._value(next(self._events), path)
        self._events = rest
        return value

    def _sequence(self, path: Path) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            values.append(self._value(event, (*path, len(values))))
        return values

    def _mapping(self, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            key = self._key(event, path)
            if key in values:
                raise self._error(
                    f"the key `{key}` is given twice",
                    event,
                    (*path, key),
                    mend=f"the first is in line {self.lines[*path, key]}; delete one of them",
                )
            self.lines[*path, key] = event.start_mark.line + 1
            values[key] = self._value(next(self._events), (*path, key))
        return values

    def _key(self, event: Event, path: Path) -> str:
        if isinstance(event, MappingStartEvent | SequenceStartEvent | AliasEvent):
            raise self._error(
                "a list, mapping or alias stands where a key should be",
                event,
                path,
                expected="a word",
                mend="text that starts with [, { or * needs quotes",
            )
        if getattr(event, "tag", None) is not None:
            raise self._error(
                "a key carries a tag", event, path, mend="remove it: tags are not used"
            )
        key = self._scalar(event, path)
        if key == "<<":
            raise self._error("merge keys (<<) are not used", event, path, mend="write it out")
        if not isinstance(key, str):
            mend = "a number has a point, no comma: `1.5`" if isinstance(key, int) else ""
            raise self._error(
                "a key is not a word", event, path, value=key, expected="a word", mend=mend
            )
        if not key.isprintable() or not key or len(key) > 200:
            raise self._error("a key cannot be printed", event, path, value=key, expected="a word")
        return key

    def _scalar(self, event: Event, path: Path) -> Any:
        if not isinstance(event, ScalarEvent):  # the parser emits nothing else here
            raise self._error("a value is missing", event, path)
        text = str(event.value)
        if event.style is not None:
            if any("\ud800" <= character <= "\udfff" for character in text):
                raise self._error("holds half a character (a lone surrogate)", event, path)
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INTEGER.fullmatch(text):
            return self._integer(text, event, path)
        if _FLOAT.fullmatch(text):
            number = float(text)
            if number in (float("inf"), float("-inf")):
                raise self._error("the number is too large", event, path, value=text)
            return number
        if _NOT_FINITE.fullmatch(text):
            raise self._error(
                "not a finite number", event, path, value=text, expected="a finite number"
            )
        return text

    def _integer(self, text: str, event: Event, path: Path) -> int:
        # Python refuses to read very long digit strings, and C libraries end at 64 bits.
        number = int(text, 0 if text[:2] in ("0o", "0x") else 10) if len(text) < 30 else 2**64
        if abs(number) >= 2**63:
            raise self._error(
                "the whole number is too large",
                event,
                path,
                value=text,
                expected="fewer than 19 digits",
                mend="a quantity may be written as 1.5e20",
            )
        return number

    def _error(
        self, message: str, event: Event | None, path: Path = (), **details: Any
    ) -> SpecError:
        line = event.start_mark.line + 1 if event is not None else 1
        return SpecError(Problem(message, path=path, file=self.file, line=line, **details))


_TOP = (
    "a mapping that begins with `kind: vehicle`, `kind: world`, `kind: scenario`, `kind: imu` or "
    "`kind: lidar`"
)


# What the parser says -> what it means for the person who wrote the file, and what to try.
_UNCLOSED = "close every bracket and quote"
_SYNTAX = (
    (r"stream end|end of stream|'\\x00'", "the file ends too early", _UNCLOSED),
    (r"expected ',' or", "a comma or a closing bracket is missing", _UNCLOSED),
    (r"but found '[\]}]'", "a closing bracket that was never opened", ""),
    (r"'\\t'", "a tab stands where YAML allows only spaces", "indent with spaces"),
    (
        r"mapping values are not allowed",
        "a second `:` in one value",
        "check the indentation, or put quotes around text that holds `: `",
    ),
    (r"<block end>", "this line does not fit the lines above it", "check its indentation"),
    (r"expected ':'", "a key without its `:`", "write `key: value`"),
    (r"cannot start any token", "text may not begin like this", "put quotes around it"),
    (r"unknown escape", "an unknown escape in a quoted text", r"write \\ for a backslash"),
)
_CONTEXTS = {
    "flow sequence": "list in [ ]",
    "flow mapping": "mapping in { }",
    "quoted scalar": "quoted text",
    "double-quoted scalar": "quoted text",
}


def _syntax_problem(error: MarkedYAMLError, file: str) -> Problem:
    """Say what the parser saw, in the words of someone who does not know parsers."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    saw, mend = " ".join(str(error.problem or "cannot be parsed").split()), ""
    for pattern, meaning, remedy in _SYNTAX:
        if re.search(pattern, saw):
            saw, mend = meaning, remedy
            break
    for context, name in _CONTEXTS.items():
        if context in str(error.context) and error.context_mark and mend == _UNCLOSED:
            mend = f"close the {name} that begins in line {error.context_mark.line + 1}"
    return Problem(f"not valid YAML: {saw} (column {column})", file=file, line=line, mend=mend)
