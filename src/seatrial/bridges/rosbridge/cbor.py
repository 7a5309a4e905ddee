"""CBOR of a client (RFC 8949) as plain data: numbers, texts, bytes, lists, objects, typed arrays.

A tag gives what follows another meaning. Those of typed arrays (RFC 8746) are understood; every
other one is refused before anything is made of it. Among them are references to what was said
before, by which two hundred bytes stand for more lists than any memory holds.
"""

import re
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
_MAY_TAG = re.compile(rb"[\xc0-\xdb]")
"""Bytes by which a tag begins, if they are no part of something else."""


def decoded(data: bytes) -> Any:
    """What the bytes say; raises MessageError."""
    import cbor2

    try:
        for tag in _tags(data):
            if tag not in _ARRAYS and tag != _OCTETS:
                raise MessageError(f"tag {tag} of CBOR is not understood here, typed arrays alone")
        return _plain(cbor2.loads(data))
    except MessageError:
        raise
    except Exception as error:  # cbor2 raises what the bytes make it
        raise MessageError("this is no CBOR") from error


def _tags(data: bytes) -> set[int]:
    """All tags, wherever they stand: the heads of items follow each other whatever holds them."""
    found: set[int] = set()
    at = 0 if _MAY_TAG.search(data) else len(data)
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


def _plain(value: Any) -> Any:
    """The same with lists, or bytes, in place of typed arrays."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not hasattr(value, "tag"):
        return value
    octets = bytes(value.value)
    return octets if value.tag == _OCTETS else np.frombuffer(octets, _ARRAYS[value.tag]).tolist()
