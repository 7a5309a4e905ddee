"""Finished programs as XLA writes them, without what only its compiler needed.

XLA writes a program for the CPU as machine code together with everything that the code was made
from. Nine tenths of that are the bodies of loops that were fused, tens of thousands of operations
which reading brings back three times over and nobody looks at again: they are most of the time that
a program takes to load. Here every such loop becomes a call of something unknown, from the same
operands to the same result. Machine code, memory and order of calls stay as they are.

What XLA writes is not documented: protocol buffers (`xla/service/hlo.proto`, whose numbers of
fields are used here) inside a pickle. Whoever calls this has to try whether the outcome loads, and
to keep the whole where it does not. JAX 0.10 to 0.12 write it as here; 0.8 does not.
"""

import pickletools
from collections.abc import Iterator
from typing import NamedTuple

WHOLE = 2_000
"""Operations in bodies that stay: XLA counts what a program has to do, and gives one that has next
to nothing to do no thread of its own."""

LOOPS = {b"kLoop", b"kOutput", b"kInput"}
"""Kinds of fusions that are machine code; others are built from their bodies when they are read."""

# Numbers of the fields of protocol buffers that lead to the bodies, and of those in them.
EXECUTABLE, MODULE_WITH_CONFIG, MODULE, COMPUTATIONS = 1, 1, 1, 3
INSTRUCTIONS, ID_OF_COMPUTATION = 2, 5
NAME, OPCODE, SHAPE, FUSION_KIND, TARGET, ID, OPERANDS, CALLED = 1, 2, 3, 11, 28, 35, 36, 38
KEPT_OF_LOOPS = {NAME, SHAPE, ID, OPERANDS}

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class ForeignFormatError(Exception):
    """What XLA wrote is not as it is known here."""


class Field(NamedTuple):
    """One field of a protocol buffer."""

    number: int
    value: int | memoryview
    raw: memoryview
    """With its number, as it is written."""


def slimmed(pickled: bytes) -> bytes:
    """A program as `jax.experimental.serialize_executable` writes it, without bodies of loops.

    Raises:
        ForeignFormatError: if it is not written as expected.
    """
    found = [
        (position, argument)
        for opcode, argument, position in pickletools.genops(pickled)
        if opcode.name == "BINBYTES" and isinstance(argument, bytes) and position is not None
    ]
    if not found:
        raise ForeignFormatError("no executable")
    position, written = max(found, key=lambda one: len(one[1]))
    try:
        slim = _slim(memoryview(written))
    except (IndexError, KeyError) as error:
        raise ForeignFormatError(str(error)) from None
    after = position + 5 + len(written)  # the opcode and four bytes of length
    length = len(slim).to_bytes(4, "little")
    return pickled[: position + 1] + length + slim + pickled[after:]


def _slim(written: memoryview) -> bytes:
    """The executable: what JAX knows of it, with its length before it, and what XLA wrote."""
    size, start = _varint(written, 0)
    head, rest = written[: start + size], written[start + size :]
    executable = _only(rest, EXECUTABLE)
    configured = _only(executable, MODULE_WITH_CONFIG)
    module = _without_bodies(_only(configured, MODULE))
    for outer, number in (
        (configured, MODULE),
        (executable, MODULE_WITH_CONFIG),
        (rest, EXECUTABLE),
    ):
        module = b"".join(
            _written(number, module) if field.number == number else field.raw
            for field in _fields(outer)
        )
    return bytes(head) + module


def _without_bodies(module: memoryview) -> bytes:
    fields = list(_fields(module))
    computations = {
        _number(parts, ID_OF_COMPUTATION): parts
        for parts in (list(_fields(_content(f))) for f in fields if f.number == COMPUTATIONS)
    }
    loops = {loop.body for parts in computations.values() for loop in _loops(parts)}
    dropped, whole = set(), 0
    for body in sorted(loops):
        whole += sum(part.number == INSTRUCTIONS for part in computations[body])
        if whole > WHOLE:
            dropped.add(body)
    written = []
    for field in fields:
        if field.number != COMPUTATIONS:
            written.append(bytes(field.raw))
            continue
        parts = list(_fields(_content(field)))
        if _number(parts, ID_OF_COMPUTATION) not in dropped:
            calls = {loop.place: loop.as_call() for loop in _loops(parts) if loop.body in dropped}
            kept = b"".join(calls.get(i, part.raw) for i, part in enumerate(parts))
            written.append(_written(COMPUTATIONS, kept))
    return b"".join(written)


class Loop(NamedTuple):
    """A fusion of operations that became machine code."""

    place: int
    """Among the fields of the computation that calls it."""
    parts: list[Field]
    body: int
    """Number of the computation that it is made of."""

    def as_call(self) -> bytes:
        """The field of an instruction that calls something unknown in its place."""
        kept = b"".join(p.raw for p in self.parts if p.number in KEPT_OF_LOOPS)
        call = _written(OPCODE, b"custom-call") + _written(TARGET, b"loop")
        return _written(INSTRUCTIONS, kept + call)


def _loops(computation: list[Field]) -> Iterator[Loop]:
    for place, instruction in enumerate(computation):
        if instruction.number == INSTRUCTIONS and _opcode(instruction) == b"fusion":
            parts = list(_fields(_content(instruction)))
            if any(p.number == FUSION_KIND and _content(p) in LOOPS for p in parts):
                called = next(p for p in parts if p.number == CALLED)
                body = (
                    called.value if isinstance(called.value, int) else _varint(called.value, 0)[0]
                )
                yield Loop(place, parts, body)


def _opcode(instruction: Field) -> bytes:
    return next(bytes(_content(f)) for f in _fields(_content(instruction)) if f.number == OPCODE)


def _only(message: memoryview, number: int) -> memoryview:
    """The content of a field that occurs once."""
    found = [_content(field) for field in _fields(message) if field.number == number]
    if len(found) != 1:
        raise ForeignFormatError(f"field {number} occurs {len(found)} times")
    return found[0]


def _number(fields: list[Field], number: int) -> int:
    value = next((field.value for field in fields if field.number == number), 0)
    if not isinstance(value, int):
        raise ForeignFormatError(f"field {number} is no number")
    return value


def _content(field: Field) -> memoryview:
    if isinstance(field.value, int):
        raise ForeignFormatError(f"field {field.number} is a number")
    return field.value


def _fields(message: memoryview) -> Iterator[Field]:
    """Fields of a protocol buffer in their order."""
    here, end = 0, len(message)
    while here < end:
        begin = here
        key, here = _varint(message, here)
        number, kind = key >> 3, key & 7
        value: int | memoryview
        if kind == _VARINT:
            value, here = _varint(message, here)
        else:
            if kind == _BYTES:
                size, here = _varint(message, here)
            elif kind in (_FIXED32, _FIXED64):
                size = 4 if kind == _FIXED32 else 8
            else:
                raise ForeignFormatError(f"wire type {kind}")
            value, here = message[here : here + size], here + size
            if here > end:
                raise ForeignFormatError("a field ends outside")
        yield Field(number, value, message[begin:here])


def _varint(message: memoryview, here: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while True:
        byte = message[here]
        here += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, here
        shift += 7


def _written(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return _varint_written(number << 3 | _BYTES) + _varint_written(len(content)) + content


def _varint_written(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)
