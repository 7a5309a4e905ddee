"""ROS messages as plain data and back: for JSON and CBOR.

As in the rosbridge protocol, bytes are base64 in JSON, and a number that is none is null there. In
CBOR bytes are bytes and arrays of numbers are typed ones (RFC 8746).
"""

import base64
import binascii
import contextlib
import math
from typing import Any

import numpy as np

from seatrial.ros.commands import MessageError
from seatrial.ros.layout import TypeStore

_OCTETS = ("uint8", "byte", "char", "octet")
_WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | set(_OCTETS)
TYPED = {"float32": 85, "float64": 86, "int16": 77, "int32": 78, "int64": 79, "uint16": 69,
          "uint32": 70, "uint64": 71, "int8": 72}  # fmt: skip
"""Tags of little-endian arrays."""
_ABSENT = object()
"""In place of a field that was left out."""


def as_plain(store: TypeStore, typename: str, message: Any, binary: bool) -> dict[str, Any]:
    """A message as dictionaries, lists, texts and numbers; `binary` for CBOR."""
    return {
        name: _there(store, kind, getattr(message, name), binary)
        for name, kind in store.fields(typename)
    }


def _there(store: TypeStore, kind: Any, value: Any, binary: bool) -> Any:
    node, of = kind
    if node.name == "NAME":
        return as_plain(store, of, value, binary)
    if node.name == "BASE":
        return _number(value, binary)
    inner = of[0]
    if inner[0].name == "BASE" and inner[1][0] in _OCTETS:
        octets = np.asarray(value, np.uint8).tobytes()
        return octets if binary else base64.b64encode(octets).decode("ascii")
    if inner[0].name == "BASE" and inner[1][0] in TYPED:
        if binary:
            from cbor2 import CBORTag

            octets = np.asarray(value, np.dtype(inner[1][0]).newbyteorder("<")).tobytes()
            return CBORTag(TYPED[inner[1][0]], octets)
        return [_number(v, binary) for v in np.asarray(value).tolist()]
    return [_there(store, inner, v, binary) for v in value]


def _number(value: Any, binary: bool) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not binary and not math.isfinite(plain) else plain


def from_plain(store: TypeStore, typename: str, data: Any) -> Any:
    """A message out of plain data; what is left out is zero. Raises MessageError.

    What is null is not left out: it is a number that is none, as on the way there.
    """
    if not isinstance(data, dict):
        raise MessageError(f"a {typename} is an object, not {type(data).__name__}")
    fields = dict(store.fields(typename))
    unknown = [key for key in data if key not in fields]
    if unknown:
        raise MessageError(f"{typename} has no field `{str(unknown[0])[:40]}`")
    made = [_back(store, kind, data.get(name, _ABSENT), name) for name, kind in fields.items()]
    return store.make(typename, *made)


def _back(store: TypeStore, kind: Any, value: Any, name: str) -> Any:
    node, of = kind
    if node.name == "NAME":
        return from_plain(store, of, {} if value is _ABSENT else value)
    if node.name == "BASE":
        return _one(of[0], value, name)
    inner, count = of
    base = inner[1][0] if inner[0].name == "BASE" else ""
    if isinstance(value, str | bytes) and base in _OCTETS:
        values: list[Any] = list(_octets(value, name))
    elif value is _ABSENT:
        values = []
    elif isinstance(value, list):
        values = value
    else:
        raise MessageError(f"`{name}` is a list")
    if node.name == "ARRAY":
        values = [_ABSENT] * count if value is _ABSENT else values
        if len(values) != count:
            raise MessageError(f"`{name}` has {count} elements, not {len(values)}")
    made = [_back(store, inner, v, name) for v in values]
    return (
        np.array(made, np.uint8 if base in _OCTETS else base)
        if base in _WHOLE | set(TYPED)
        else made
    )


def _octets(value: str | bytes, name: str) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise MessageError(f"`{name}` is no base64") from None


def _one(base: str, value: Any, name: str) -> Any:
    if base == "string":
        if value is _ABSENT or isinstance(value, str):
            return "" if value is _ABSENT else value
    elif base == "bool":
        if value is _ABSENT or isinstance(value, bool):
            return value is True
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if base.startswith("float"):
            with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits
                return float(value)
        elif isinstance(value, int) or value.is_integer():
            low, high = (0, 255) if base in _OCTETS else _span(base)
            if low <= value <= high:
                return int(value)
    elif value is _ABSENT:
        return 0.0 if base.startswith("float") else 0
    elif value is None and base.startswith("float"):
        return math.nan
    raise MessageError(f"`{name}` cannot be {str(value)[:40]!r}: it is of type {base}")


def _span(base: str) -> tuple[int, int]:
    info = np.iinfo(base)
    return int(info.min), int(info.max)
