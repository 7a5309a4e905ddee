"""CBOR of a client (RFC 8949) as plain data: numbers, texts, bytes, lists, objects, typed arrays.

A tag gives what follows another meaning. Those of typed arrays (RFC 8746) are understood; every
other one is refused before anything is made of it. Among them are references to what was said
before, by which two hundred bytes stand for more lists than any memory holds.
"""

from typing import Any

import numpy as np

from seatrial.ros.commands import MessageError
from seatrial.ros.plain import TYPED

_ARRAYS = {tag: np.dtype(base).newbyteorder("<") for base, tag in TYPED.items()}
_OCTETS = 64
"""Tag of an array of single bytes, which ROS has as bytes."""
_TEXTS = (2, 3)
_TAG = 6
"""Major types: what the first three bits of an item say."""
_NO_LENGTH = 31


def decoded(data: bytes) -> Any:
    """What the bytes say; raises MessageError."""
    import cbor2

    try:
        for tag in _tags(data):
            if tag not in _ARRAYS and tag != _OCTETS:
                raise MessageError(f"tag {tag} of CBOR is not understood here, typed arrays alone")
        return cbor2.loads(data, tag_hook=_numbers)
    except MessageError:
        raise
    except Exception as error:  # cbor2 raises what the bytes make it
        raise MessageError("this is no CBOR") from error


def _tags(data: bytes) -> set[int]:
    """All tags, wherever they stand: the heads of items follow each other whatever holds them."""
    found: set[int] = set()
    at = 0
    while at < len(data):
        major, rest = divmod(data[at], 32)
        at += 1
        width = 1 << (rest - 24) if 24 <= rest < 28 else 0
        value = int.from_bytes(data[at : at + width], "big") if width else rest
        at += width
        if major == _TAG:
            found.add(value)
        elif major in _TEXTS and rest != _NO_LENGTH:
            at += value
    return found


def _numbers(_: Any, tagged: Any) -> Any:
    """The elements of a typed array."""
    if not isinstance(tagged.value, bytes):
        raise MessageError("a typed array is made of bytes")
    if tagged.tag == _OCTETS:
        return tagged.value
    return np.frombuffer(tagged.value, _ARRAYS[tagged.tag]).tolist()
