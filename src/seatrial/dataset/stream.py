"""One file with everything in the order of time: the stream that section 4.5 of the thesis plans.

It is the LiU stream format in its simple form (Koschorrek and others 2013; table 4.6 of the
thesis), a row of messages

    4 bytes `$BST` · number of the kind, uint32 · length of the payload, uint32 · payload

in little-endian order. Kind 0 comes first and is the head: JSON in UTF-8 with the version, the
scenario, and for every other kind its folder, what it is and the columns of its numbers. The
payload of a picture is its stamp (int64, ns) and its path from the folder of the stream (UTF-8),
that of samples and truth the stamp and one double per column.
"""

import heapq
import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seatrial.dataset.names import IMAGE_TYPES
from seatrial.dataset.sequence import Dataset
from seatrial.dataset.tables import read_table
from seatrial.errors import DatasetError

START = b"$BST"
VERSION = 1
_HEAD = struct.Struct("<4sII")
_STAMP = struct.Struct("<q")


class Message(NamedTuple):
    """One message of a stream, but its head."""

    kind: int
    stamp: int
    """ns."""
    payload: bytes
    """After the stamp."""

    @property
    def numbers(self) -> tuple[float, ...]:
        """Of a sample, or of the truth."""
        return struct.unpack(f"<{len(self.payload) // 8}d", self.payload)

    @property
    def path(self) -> str:
        """Of a picture."""
        return self.payload.decode()


def write_stream(data: Dataset) -> bytes:
    """The stream of a dataset whose other files are all there."""
    kinds: list[dict[str, Any]] = []
    sources: list[Iterable[tuple[int, int, bytes]]] = []

    def add(source: Iterable[tuple[int, bytes]], **what: Any) -> None:
        number = len(kinds) + 1
        kinds.append({"kind": number} | what)
        sources.append((stamp, number, payload) for stamp, payload in source)

    folders = [*(s.folder for s in data.sensors), *(c.folder for c in data.cameras)]
    tables = [
        *((s.folder, name) for s in data.sensors for name in ("noisy", "noise_free")),
        *((folder, "ground_truth") for folder in folders),
    ]
    for folder, name in tables:
        columns, stamps, values = read_table(data.folder / folder / f"{name}.csv")
        rows = zip(stamps.tolist(), (r.astype("<f8").tobytes() for r in values), strict=True)
        add(rows, folder=folder, table=name, columns=columns)
    for camera in data.cameras:
        stamps = data.motion(camera.folder).stamp
        for letter, endings in data.manifest["passes"].items():
            for ending in endings:
                paths = (
                    data.picture(camera, letter, i, ending).relative_to(data.folder).as_posix()
                    for i in range(camera.frames)
                )
                add(
                    zip(stamps.tolist(), (p.encode() for p in paths), strict=True),
                    folder=camera.folder,
                    pictures=letter,
                    ending=ending,
                    meaning=IMAGE_TYPES[letter],
                )
    head = {"version": VERSION, **{k: data.manifest[k] for k in ("scenario", "seed", "sequence")}}
    head["kinds"] = kinds
    parts = [_message(0, json.dumps(head, sort_keys=True).encode())]
    for stamp, number, payload in heapq.merge(*sources, key=lambda m: m[:2]):
        parts.append(_message(number, _STAMP.pack(stamp) + payload))
    return b"".join(parts)


def _message(kind: int, payload: bytes) -> bytes:
    return _HEAD.pack(START, kind, len(payload)) + payload


def read_stream(path: Path) -> tuple[dict[str, Any], Iterator[Message]]:
    """Head and messages of a stream."""
    raw = path.read_bytes()

    def broken(at: int) -> DatasetError:
        return DatasetError(
            f"{path}: no message begins at byte {at}\n"
            "  expected: `$BST`, a kind, a length and as many bytes"
        )

    def pieces(at: int) -> Iterator[tuple[int, bytes]]:
        while at < len(raw):
            if len(raw) < at + _HEAD.size:
                raise broken(at)
            start, kind, length = _HEAD.unpack_from(raw, at)
            end = at + _HEAD.size + length
            if start != START or end > len(raw):
                raise broken(at)
            yield kind, raw[at + _HEAD.size : end]
            at = end

    found = pieces(0)
    first = next(found, None)
    if first is None or first[0] != 0:
        raise broken(0)
    return json.loads(first[1]), (
        Message(kind, _STAMP.unpack_from(payload)[0], payload[8:]) for kind, payload in found
    )


def check_stream(data: Dataset, path: Path) -> int:
    """Read a stream again: in order, with a picture behind every path; returns its messages."""
    head, messages = read_stream(path)
    pictures = {k["kind"] for k in head["kinds"] if "pictures" in k}
    last, count = np.iinfo(np.int64).min, 0
    for message in messages:
        count += 1
        if message.stamp < last:
            raise DatasetError(f"{path}: message {count} is older than the one before it")
        last = message.stamp
        if message.kind in pictures and not (data.folder / message.path).is_file():
            raise DatasetError(f"{path}: {message.path} is not there")
    return count
