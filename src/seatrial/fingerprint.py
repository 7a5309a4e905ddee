"""Fingerprints that are the same in every process: of values, of pytrees, of seatrial's own code.

Python's `hash` differs from process to process and takes 0.0 for −0.0, so what is kept on disk
needs another. Whatever cannot be told apart for certain has no fingerprint, and is not kept.
"""

import dataclasses
import enum
import hashlib
import inspect
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any

import jax
import numpy as np

_NOT_PROGRAMS = ("cli", "figures", "library", "record", "ros", "spec")
"""Rooms that no compiled program and no design comes from."""

_STANDARD = ("builtins", "collections", "jax", "jaxlib", "numpy")
"""Packages whose versions are enough to know their code by."""


_STARTED = time.time()
"""When this module was imported, as one of the first of those that shape programs."""


class FingerprintError(TypeError):
    """Something that might differ from another although it looks the same."""


@dataclasses.dataclass(frozen=True)
class Marked:
    """Something that is known by a fingerprint of its own, and equals what has the same one."""

    mark: str
    content: Any = dataclasses.field(default=None, compare=False, repr=False)

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """What is written beside a finished program needs to be known again, not computed."""
        return Marked, (self.mark,)


def digest(*parts: Any) -> str:
    """Fingerprint of plain values."""
    return hashlib.blake2b(repr([plain(p) for p in parts]).encode(), digest_size=20).hexdigest()


def plain(value: Any) -> Any:
    """A value as nested tuples of text and numbers whose `repr` tells different values apart."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return value
    if kind in (float, complex):
        parts = (value,) if kind is float else (value.real, value.imag)
        return (kind.__name__, *(p.hex() for p in parts))
    if isinstance(value, enum.Enum):
        return (_home(kind), value.name)
    if isinstance(value, np.dtype):
        return ("dtype", value.str)
    if isinstance(value, np.generic):
        return ("number", value.dtype.str, value.tobytes())
    if isinstance(value, tuple | list):
        return (_home(kind), *(plain(item) for item in value))
    if kind is dict:
        return ("dict", *((plain(k), plain(v)) for k, v in value.items()))
    if kind is frozenset:
        return ("frozenset", *sorted((plain(item) for item in value), key=repr))
    if isinstance(value, type | FunctionType):
        return ("name", _home(value))
    if isinstance(value, partial):
        return ("partial", *(plain(p) for p in (value.func, value.args, value.keywords)))
    if kind is Marked:
        return ("marked", value.mark)
    if dataclasses.is_dataclass(value):
        fields = ((f.name, plain(getattr(value, f.name))) for f in dataclasses.fields(value))
        return (_home(kind), *fields)
    raise FingerprintError(f"{kind.__qualname__} has no fingerprint")


def tree(pytree: Any, leaf: Callable[[Any], Any]) -> Any:
    """A pytree as `plain` does it: its structure, static fields included, and its leaves."""
    leaves, structure = jax.tree.flatten(pytree)
    return _structure(structure), tuple(leaf(a) for a in leaves)


def abstract(array: Any) -> Any:
    """What a program knows of an argument: type, shape, and the device that it is bound to."""
    if isinstance(array, bool | int | float | complex):
        return type(array).__name__
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    if not isinstance(dtype, np.dtype) or shape is None:  # such as random keys
        raise FingerprintError(f"{type(array).__qualname__} has no fingerprint")
    weak = bool(getattr(array, "weak_type", False))
    bound = getattr(array, "committed", False)
    places = sorted(d.id for d in array.devices()) if bound else None
    return (dtype.str, tuple(shape), weak, places)


def contents(array: Any) -> Any:
    """The values of an array."""
    values = np.asarray(array)
    if values.dtype.hasobject:
        raise FingerprintError("an array of objects has no fingerprint")
    return (values.dtype.str, values.shape, hashlib.blake2b(values.tobytes()).hexdigest())


def is_known(home: str) -> bool:
    """Whether the code of a module is part of `origin`."""
    package, _, rest = home.partition(".")
    if package == "seatrial":
        return rest.partition(".")[0] not in _NOT_PROGRAMS
    return package in _STANDARD


@cache
def origin() -> tuple[Any, ...]:
    """What programs and designs come from beside their arguments: code, versions, the machine."""
    versions = (jax.__version__, version("jaxlib"), np.__version__, version("scipy"))
    return _code(), sys.version, versions, _machine()


def is_current() -> bool:
    """Whether the files of the code are those that this process runs by.

    Somebody may edit them while it runs, and what it makes is then not what they say.
    """
    try:
        return all(os.stat(file).st_mtime < _STARTED for file in _files())
    except OSError:
        return False


def _code() -> str:
    """Fingerprint of the files of seatrial's own rooms."""
    above = len(os.path.dirname(__file__)) + 1
    made = hashlib.blake2b(digest_size=20)
    try:
        for file in _files():
            with open(file, "rb", buffering=0) as opened:
                text = opened.read()
            place = file[above:].replace(os.sep, "/")
            made.update(f"{place} {len(text)}\n".encode() + text)
    except OSError:
        raise FingerprintError("seatrial's own files cannot be read") from None
    if not is_current():
        raise FingerprintError("seatrial's own files have changed since it was imported")
    return made.hexdigest()


def _files() -> list[str]:
    """As text: every start looks at all of them, and `Path` would take three times as long."""

    def refuse(error: OSError) -> None:  # such as in an archive
        raise error

    top = os.path.dirname(__file__)
    found = []
    for folder, rooms, files in os.walk(top, onerror=refuse):
        if folder == top:
            rooms[:] = [room for room in rooms if room not in _NOT_PROGRAMS]
        found += [os.path.join(folder, file) for file in files if file.endswith(".py")]
    return sorted(found)


def _machine() -> tuple[Any, ...]:
    """Instructions that machine code may count on, and the number of cores."""
    try:
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        lines = {line for line in about if line.startswith(("model name", "flags", "Features"))}
    except OSError:
        lines = {platform.processor()}
    return platform.system(), platform.machine(), os.cpu_count(), sorted(lines)


def _structure(node: Any) -> Any:
    """A structure of JAX as nested tuples."""
    data = node.node_data()
    if data is None:
        return "leaf"
    kind, static = data
    return (_home(kind), plain(static), *(_structure(child) for child in node.children()))


def _home(thing: Any) -> str:
    """Where a class or a function is defined; it must be found there by its name."""
    module, name = str(thing.__module__), str(thing.__qualname__)
    if module == "builtins":  # where not all that belongs there has its name, such as NoneType
        return name
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if inspect.unwrap(found) is not thing or not is_known(module):
        raise FingerprintError(f"{module}.{name} has no fingerprint")
    return f"{module}.{name}"
