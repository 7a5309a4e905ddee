"""Files that are there whole or not at all, and their checksums.

A file is written under another name, reaches the disk, and is then renamed: whatever is found under
its own name after a kill is whole. Checksums go line by line into a journal, after the file that
they belong to, and at the end, sorted, into `SHA256SUMS`, which `sha256sum -c` reads. A line that a
kill cut short is no line; what the journal does not have is made again.
"""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from seatrial.errors import DatasetError

SUMS = "SHA256SUMS"
JOURNAL = f"{SUMS}.partial"
PARTIAL = ".partial"
"""What names of files end in that are not whole yet."""


@contextmanager
def complaints(about: Path) -> Iterator[None]:
    """Turns what the file system refuses into words."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        mend = (
            "make room and say the same again: it goes on where it stopped"
            if full
            else "choose another place with --out"
        )
        raise DatasetError(
            f"{error.filename or about}: cannot be written ({error.strerror or error})\n"
            "  expected: a folder that is writable, on a disk with space\n"
            f"  to mend:  {mend}"
        ) from error


def put(folder: Path, name: str, data: bytes) -> str:
    """Write a file of a dataset whole; returns its line of the checksums."""
    target = folder / name
    with complaints(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{target.name}.{os.getpid()}{PARTIAL}")
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, target)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
    return line(name, data)


def line(name: str, data: bytes) -> str:
    """As `sha256sum` writes it."""
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n"


def read_sums(path: Path) -> dict[str, str]:
    """Checksums by name; the last line is left out where it has no end."""
    try:
        # a line with a flipped bit names nothing, and what it named is missing
        text = path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found = {}
    for row in text.splitlines(keepends=True):
        digest, _, name = row.rstrip("\n").partition("  ")
        if row.endswith("\n") and len(digest) == 64 and name:
            found[name] = digest
    return found


class Journal:
    """What has been written so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / JOURNAL
        self.known = read_sums(self._path) or read_sums(folder / SUMS)
        with complaints(self._path):
            # A line that was cut short must not run into the next one.
            kept = "".join(f"{digest}  {name}\n" for name, digest in self.known.items())
            put(folder, JOURNAL, kept.encode())
            self._file = self._path.open("a", encoding="utf-8")

    def add(self, lines: Iterable[str]) -> None:
        """Some files that are whole."""
        with complaints(self._path):
            for text in lines:
                digest, _, name = text.rstrip("\n").partition("  ")
                self.known[name] = digest
                self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())

    def forget(self) -> None:
        """Remove what has been written so far, as far as it still is what was written."""
        with complaints(self._path):
            for name, digest in self.known.items():
                own = not Path(name).is_absolute() and ".." not in Path(name).parts
                if own and trouble(self._folder, name, digest) is None:
                    (self._folder / name).unlink()
            self.known = {}
            self._file.truncate(0)
            (self._folder / SUMS).unlink(missing_ok=True)

    def has(self, names: Iterable[str]) -> bool:
        """Whether files are known and there, as they were written."""
        return all(
            name in self.known and trouble(self._folder, name, self.known[name]) is None
            for name in names
        )

    def finish(self) -> None:
        """The whole list, sorted; the journal goes, and so does what a kill left half written."""
        with complaints(self._path):
            text = "".join(f"{self.known[name]}  {name}\n" for name in sorted(self.known))
            put(self._folder, SUMS, text.encode())
            self._file.close()
            self._path.unlink()
            for left in self._folder.rglob(f"*{PARTIAL}"):
                left.unlink()

    def close(self) -> None:
        """Stop here; to be gone on with."""
        self._file.close()


def trouble(folder: Path, name: str, digest: str) -> str | None:
    """What is wrong with a file of which the checksum is known; None for nothing."""
    try:
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return error.strerror or str(error)
    except ValueError:  # a list that was damaged names what no file can be called
        return "no name of a file"
    return None if found == digest else "other bytes than were written"


def verify(folder: Path) -> int:
    """Read every file again and compare; returns how many there are, or says what is wrong."""
    sums = read_sums(folder / SUMS)
    if not sums:
        raise DatasetError(
            f"{folder}: has no {SUMS}\n"
            "  expected: a dataset that is finished\n"
            "  to mend:  finish it with the command that began it"
        )
    wrong = [
        f"{name}: {found}"
        for name, digest in sums.items()
        if (found := trouble(folder, name, digest)) is not None
    ]
    if wrong:
        shown = "\n".join(f"  {text}" for text in wrong[:10])
        more = f"\n  and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        raise DatasetError(
            f"{folder}: {len(wrong)} of {len(sums)} files are not as they were written\n"
            f"{shown}{more}\n"
            "  to mend:  say the command again that made the dataset: pictures that are missing "
            "or spoilt are drawn again"
        )
    return len(sums)
