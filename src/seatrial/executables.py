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

WHOLE = 200_000
"""Bytes of bodies that stay: XLA counts what a program has to do, and gives one that has next to
nothing to do no thread of its own."""

LOOPS = {b"kLoop", b"kOutput", b"kInput"}
"""Kinds of fusions that are machine code; others are built from their bodies when they are read."""

# Numbers of the fields of protocol buffers that lead to the bodies, and of those in them.
EXECUTABLE, MODULE_WITH_CONFIG, MODULE, COMPUTATIONS = 1, 1, 1, 3
INSTRUCTIONS, ID_OF_COMPUTATION, IS_FUSION = 2, 5, 7
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
    numbers = [_numbers(_content(f)) if f.number == COMPUTATIONS else {} for f in fields]
    callers = {  # of what is fused nothing is fused again
        i: list(_fields(_content(field)))
        for i, field in enumerate(fields)
        if field.number == COMPUTATIONS and not numbers[i].get(IS_FUSION)
    }
    loops = {i: list(_loops(parts)) for i, parts in callers.items()}
    bodies = {loop.body for some in loops.values() for loop in some}
    dropped, whole = set(), 0
    for field, known in zip(fields, numbers, strict=True):
        if known.get(ID_OF_COMPUTATION) in bodies:
            whole += len(field.raw)
            if whole > WHOLE:
                dropped.add(known[ID_OF_COMPUTATION])
    written = []
    for i, field in enumerate(fields):
        if i in callers:
            calls = {loop.place: loop.as_call() for loop in loops[i] if loop.body in dropped}
            kept = b"".join(calls.get(place, part.raw) for place, part in enumerate(callers[i]))
            written.append(_written(COMPUTATIONS, kept))
        elif numbers[i].get(ID_OF_COMPUTATION) not in dropped:
            written.append(bytes(field.raw))
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


def _numbers(message: memoryview) -> dict[int, int]:
    """The numbers among the fields, without looking at all others: tens of thousands of them."""
    found = {}
    here, end = 0, len(message)
    while here < end:
        key, here = _varint(message, here)
        value, here = _varint(message, here)
        if key & 7 == _VARINT:
            found[key >> 3] = value
        elif key & 7 == _BYTES:
            here += value
        else:
            raise ForeignFormatError(f"wire type {key & 7} in a computation")
    return found


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
    byte = message[here]
    value, shift = byte & 127, 7
    here += 1
    while byte > 127:
        byte = message[here]
        value |= (byte & 127) << shift
        here, shift = here + 1, shift + 7
    return value, here


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
