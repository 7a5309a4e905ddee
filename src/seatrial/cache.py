"""What is costly to make and kept on disk: programs, autopilots, descriptions that were read.

Beside the entries lie files for other programs, such as hulls for those who draw a URDF.

An entry is a file named after its kind and key. It begins with a checksum over all that follows,
and says inside whose it is: a damaged, cut short, renamed or foreign file is noticed, deleted and
made anew, never believed. Entries hold what only their owner may be trusted with (machine code and
pickles), so the folder is the user's alone: one that somebody else owns or may write to is not
used at all, and neither is such an entry. Where nothing can be kept, a home that is read-only or
missing, everything works and is merely made again at each start.

The folder is `seatrial` in the user's cache folder (`XDG_CACHE_HOME`, or `~/.cache`), or what the
environment's `SEATRIAL_CACHE_DIR` names. It holds at most 512 MB, or as many as the environment's
`SEATRIAL_CACHE_LIMIT` says (0 keeps nothing); what was not used for longest makes room. Any number
of processes may read and write at once: entries appear whole or not at all.
"""

import contextlib
import hashlib
import json
import os
import pickle
import stat
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from seatrial.errors import SeatrialError

T = TypeVar("T")

LIMIT_MB = 512.0
"""Size of the folder unless the environment names another."""

_MAGIC = b"seatrial cache 1\n"
_CHECKSUM = hashlib.blake2b().digest_size
_SUFFIX = ".entry"
_PLAIN = (".stl",)
"""Endings of files that other programs read."""
_ABANDONED = 3600.0
"""Age at which the file of a writer that never finished is swept up, s."""


@dataclass(frozen=True)
class Entry:
    """One file of the cache."""

    path: Path
    kind: str
    """What sort of thing it is, such as `program`."""
    name: str
    """Which of that sort, for a person to read."""
    size: int
    """Bytes."""
    used: float
    """When it was last written or read, seconds since 1970."""


def folder() -> Path:
    """Where entries are kept."""
    chosen = os.environ.get("SEATRIAL_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "seatrial"


def limit() -> int:
    """Bytes that all entries may have together."""
    text = os.environ.get("SEATRIAL_CACHE_LIMIT", "").strip()
    try:
        size = float(text) if text else LIMIT_MB
        if not 0.0 <= size < 1e9:
            raise ValueError
    except ValueError:
        raise SeatrialError(
            "SEATRIAL_CACHE_LIMIT in the environment cannot be used\n"
            f"  found:    {text!r}\n"
            "  expected: a size in MB, 0 to keep nothing\n"
            "  to mend:  give a number, or unset the variable"
        ) from None
    return int(size * 1e6)


def refusal() -> str | None:
    """Why nothing is kept, or None."""
    if limit() == 0:
        return "SEATRIAL_CACHE_LIMIT is 0"
    try:
        place = folder()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.stat()
    except (OSError, RuntimeError) as error:  # a read-only home, or none at all
        return f"the folder cannot be used ({getattr(error, 'strerror', None) or error})"
    return None if _is_ours(found) else "the folder belongs to, or can be written by, somebody else"


def load(kind: str, key: str) -> bytes | None:
    """What was kept under a key, or None; an entry that cannot be believed is deleted."""
    if refusal() is not None:
        return None
    path = _path(kind, key)
    try:
        whole = _read(path)
    except OSError:
        return None
    if whole is None:
        drop(kind, key)
        return None
    head, packed = whole
    try:
        if (head["kind"], head["key"], head["size"]) != (kind, key, len(packed)):
            raise ValueError("another's entry")
        content = zlib.decompress(packed)
    except (KeyError, TypeError, ValueError, zlib.error):
        drop(kind, key)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return content


def size(kind: str, key: str) -> int:
    """Bytes that an entry takes; 0 where there is none."""
    try:
        return _path(kind, key).stat().st_size
    except (OSError, RuntimeError):
        return 0


def recall(kind: str, key: str, name: str, make: Callable[[], T]) -> T:
    """What was kept under a key as Python made it, or else what is made now, and kept."""
    content = load(kind, key)
    if content is not None:
        try:
            kept: T = pickle.loads(content)  # written by this user: see above
            return kept
        except Exception:  # a class that has gone, whatever: it can be made
            drop(kind, key)
    made = make()
    save(kind, key, name, pickle.dumps(made, protocol=5))
    return made


def save(kind: str, key: str, name: str, content: bytes) -> None:
    """Keep something; quietly not where that is impossible."""
    if refusal() is not None:
        return
    packed = zlib.compress(content, 1)
    head = json.dumps({"kind": kind, "key": key, "name": name, "size": len(packed)}).encode()
    body = len(head).to_bytes(4, "little") + head + packed
    whole = _MAGIC + hashlib.blake2b(body).digest() + body
    if len(whole) > limit():
        return
    _write(_path(kind, key), whole)
    _make_room()


def lay_out(kind: str, suffix: str, content: bytes) -> Path | None:
    """A file of this content for other programs, named by it; None where nothing can be kept."""
    assert suffix in _PLAIN
    if refusal() is not None or len(content) > limit():
        return None
    path = folder() / f"{kind}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    try:
        if not path.is_symlink() and path.is_file() and path.read_bytes() == content:
            os.utime(path)
            return path.resolve()
    except OSError:  # whatever lies there is not ours
        return None
    written = _write(path, content)
    _make_room()
    return path.resolve() if written else None


def drop(kind: str, key: str) -> None:
    """Forget what was kept under a key."""
    with contextlib.suppress(OSError):
        _path(kind, key).unlink(missing_ok=True)


def entries() -> list[Entry]:
    """All that is kept, the last used first; files that cannot be believed are left out."""
    found = []
    for path, status in _files():
        if path.suffix in _PLAIN:
            kind = path.name.partition("-")[0]
            found.append(Entry(path, kind, "files", status.st_size, status.st_mtime))
            continue
        try:
            with path.open("rb") as file:
                start = file.read(len(_MAGIC) + _CHECKSUM + 4)
                head = json.loads(file.read(int.from_bytes(start[-4:], "little")))
            kind, name = str(head["kind"]), str(head["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        found.append(Entry(path, kind, name, status.st_size, status.st_mtime))
    return sorted(found, key=lambda entry: -entry.used)


def summary() -> dict[tuple[str, str], tuple[int, int]]:
    """Number of entries and bytes by kind and name, the largest first."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for entry in entries():
        count, size = found.get((entry.kind, entry.name), (0, 0))
        found[entry.kind, entry.name] = (count + 1, size + entry.size)
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def clear() -> tuple[int, int]:
    """Delete everything; returns how many files there were and their bytes."""
    count = size = 0
    for path, status in _files():
        with contextlib.suppress(OSError):
            path.unlink()
            count, size = count + 1, size + status.st_size
    return count, size


def _write(path: Path, whole: bytes) -> bool:
    """Let a file appear whole or not at all; whether it did."""
    draft = path.with_name(f"{uuid.uuid4().hex}.draft")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as file:
            file.write(whole)
        draft.replace(path)
    except OSError:  # a full disk, for example
        draft.unlink(missing_ok=True)
        return False
    return True


def _path(kind: str, key: str) -> Path:
    return folder() / f"{kind}-{key}{_SUFFIX}"


def _is_ours(found: os.stat_result) -> bool:
    """Whether nobody else can have written it."""
    if not hasattr(os, "getuid"):  # Windows keeps a user's folders apart by other means
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: Path) -> tuple[dict[str, object], bytes] | None:
    """Head and packed content of an entry whose checksum is right."""
    # Not waiting: somebody's pipe may lie there.
    flags = [getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_BINARY", "O_NONBLOCK")]
    handle = os.open(path, os.O_RDONLY | sum(flags))
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or not _is_ours(found) or found.st_size > limit():
            return None
        whole = file.read()
    start = len(_MAGIC) + _CHECKSUM
    body = memoryview(whole)[start:]
    if (
        whole[: len(_MAGIC)] != _MAGIC
        or hashlib.blake2b(body).digest() != whole[start - _CHECKSUM : start]
    ):
        return None
    length = int.from_bytes(body[:4], "little")
    try:
        head = json.loads(bytes(body[4 : 4 + length]))
    except ValueError:
        return None
    return (head, bytes(body[4 + length :])) if isinstance(head, dict) else None


def _files(*suffixes: str) -> Iterator[tuple[Path, os.stat_result]]:
    """Files with some endings; without any those of all that is kept."""
    chosen = suffixes or (_SUFFIX, *_PLAIN)
    try:
        paths = list(folder().iterdir())
    except (OSError, RuntimeError):
        return
    for path in paths:
        if path.suffix in chosen:
            with contextlib.suppress(OSError):
                status = path.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield path, status


def _make_room() -> None:
    """Delete what was not used for longest until the rest is within the limit."""
    for path, status in _files(".draft"):
        if time.time() - status.st_mtime > _ABANDONED:
            with contextlib.suppress(OSError):
                path.unlink()
    found = sorted(_files(), key=lambda pair: pair[1].st_mtime_ns, reverse=True)
    most, size = limit(), 0
    for path, status in found:
        size += status.st_size
        if size > most:
            with contextlib.suppress(OSError):
                path.unlink()
