"""Descriptions that were read and checked before, kept as they were found.

Reading YAML and building what checks it take half a second of every start. A description is kept
with the checksum of each file that went into it, under the folder it was read from and the code
that read it: it is believed only while all of them are the same.
"""

import hashlib
import pickle
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pydantic

from seatrial import cache as disk
from seatrial.spec.base import Spec
from seatrial.spec.reading import MAX_BYTES, checksum

KIND = "description"


class _Kept(NamedTuple):
    files: dict[str, str]
    """Checksum by name."""
    spec: Spec


def find(path: Path, kind: type[Spec] | None) -> Spec | None:
    """The description of a file as it was read before, if nothing has changed since."""
    key = _key(path, kind)
    content = disk.load(KIND, key)
    if content is None:
        return None
    try:
        entry: _Kept = pickle.loads(content)  # written by this user, see `seatrial.cache`
        same = all(_checksum_of(file) == known for file, known in entry.files.items())
    except Exception:  # a class that has gone, a file that has: it is read again
        same = False
    if not same:
        disk.drop(KIND, key)
        return None
    return entry.spec


def keep(path: Path, kind: type[Spec] | None, spec: Spec, files: dict[str, str]) -> None:
    """Keep a description that was made of these files."""
    disk.save(KIND, _key(path, kind), path.stem, pickle.dumps(_Kept(files, spec), protocol=5))


def _checksum_of(file: str) -> str:
    with Path(file).open("rb") as stream:
        return checksum(stream.read(MAX_BYTES + 1))


def _key(path: Path, kind: type[Spec] | None) -> str:
    # Names in messages, and files that others name, are told from the working folder.
    parts = (str(Path.cwd()), str(path), "" if kind is None else kind.__name__, _code())
    return hashlib.blake2b(repr(parts).encode(), digest_size=20).hexdigest()


@cache
def _code() -> str:
    """Fingerprint of what reads and checks descriptions."""
    known = hashlib.blake2b(f"{sys.version} {pydantic.VERSION}".encode(), digest_size=20)
    room = Path(__file__).parent
    for file in sorted([*room.rglob("*.py"), *room.parent.glob("*.py")]):
        known.update(file.read_bytes())
    return known.hexdigest()
