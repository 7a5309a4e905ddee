"""A folder of Zarr files with a list of their checksums.

Zarr by itself does not notice a file that was changed, exchanged with another or put back from an
older copy. So every file that readers go by has a line in `checksums`, written before the file is:
`CRC-32 NAME`. A file must match one of the last two lines of its name, because a run may be killed
between the line and the file. The list grows with the store and its lines are never changed.
"""

import re
import zlib
from collections.abc import AsyncIterator
from io import FileIO
from pathlib import Path
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore

from seatrial.errors import RecordingError

LIST = "checksums"
LOCK = ".lock"
OURS = (LIST, LOCK)
"""Files of the folder that are not Zarr's."""
METADATA = ".zmetadata"
_CHUNK = re.compile(r"(.*/)?\d+(\.\d+)*")


def unusable(path: Path, what: str, found: str) -> RecordingError:
    """A refusal to read a store."""
    return RecordingError(
        f"{path}: {what}\n"
        f"  found:    {found}\n"
        "  expected: a folder that `seatrial run SCENARIO --out FOLDER.zarr` wrote\n"
        "  to mend:  record the run again; the same seed gives the same numbers"
    )


class CheckedStore(LocalStore):
    """Writes the list of checksums, and holds everything that is read against it."""

    def __init__(self, root: Path | str, *, read_only: bool = False) -> None:
        super().__init__(root, read_only=read_only)
        self._sums: dict[str, list[int]] = {}
        self._list: FileIO | None = None
        file = self.root / LIST
        self.checked = file.is_file() or not read_only
        """Whether there is a list; stores of older versions have none."""
        if read_only and self.checked:
            for line in file.read_bytes().splitlines():
                checksum, _, name = line.decode("ascii", "replace").partition(" ")
                if re.fullmatch("[0-9a-f]{8}", checksum):  # else torn by a kill, or damaged
                    self._note(name, int(checksum, 16))

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """A file, or a refusal of one that is not as it was written."""
        buffer = await super().get(key, prototype, byte_range)
        self._check(key, buffer)
        return buffer

    def get_sync(self, key: str, **how: Any) -> Buffer | None:
        """The same at once."""
        buffer = super().get_sync(key, **how)
        self._check(key, buffer)
        return buffer

    async def set(self, key: str, value: Buffer) -> None:
        """Write a file after its line in the list."""
        self._enlist(key, value)
        await super().set(key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        """The same at once."""
        self._enlist(key, value)
        super().set_sync(key, value)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Zarr's files alone."""
        async for name in super().list_dir(prefix):
            if name not in OURS:
                yield name

    def close(self) -> None:
        """Close the list."""
        if self._list is not None:
            self._list.close()
            self._list = None
        super().close()

    def _check(self, key: str, buffer: Buffer | None) -> None:
        known = self._sums.get(key)
        if not self.checked or not _is_listed(key) or (known is None and not self.read_only):
            return
        if buffer is None:
            if _CHUNK.fullmatch(key):
                raise unusable(self.root, "is damaged", f"{key} is missing or cut")
            return
        if zlib.crc32(buffer.to_bytes()) not in (known or ()):
            raise unusable(self.root, "is damaged", f"{key} does not match its checksum")

    def _enlist(self, key: str, value: Buffer) -> None:
        if not _is_listed(key):
            return
        checksum = zlib.crc32(value.to_bytes())
        self._note(key, checksum)
        if self._list is None:
            self._list = FileIO(self.root / LIST, "w")
        self._list.write(f"{checksum:08x} {key}\n".encode("ascii"))

    def _note(self, name: str, checksum: int) -> None:
        self._sums[name] = [*self._sums.get(name, ())[-1:], checksum]


def _is_listed(key: str) -> bool:
    """Whether readers go by a file; what one array says stands in METADATA again."""
    return key in (METADATA, ".zgroup", ".zattrs") or _CHUNK.fullmatch(key) is not None


def strangers(path: Path) -> list[str]:
    """Files below a folder that are no part of a recording of ours."""
    found = []
    for file in sorted(path.rglob("*")):
        name = file.name
        known = name in (*OURS, METADATA, ".zgroup", ".zattrs", ".zarray")
        chunk = _CHUNK.fullmatch(name) and (file.parent / ".zarray").is_file()
        torn = name.endswith(".partial")
        folder = file.is_dir() and not file.is_symlink()
        if not (folder or (file.is_file() and (known or chunk or torn))):
            found.append(str(file.relative_to(path)))
    return found
