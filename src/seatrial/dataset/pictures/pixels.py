"""Arrays as pictures in files: PNG of 8 and 16 bits, OpenEXR of 16 and 32 bits, always the same
bytes for the same numbers."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import DatasetError

Depth = NDArray[np.float32]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2
"""PNG's filter that tells what differs from the row above."""
_ROWS = 16
"""Of a block of OpenEXR's ZIP compression."""


def png(picture: NDArray[np.unsignedinteger[Any]]) -> bytes:
    """Grey (H, W) or RGB (H, W, 3), of 8 or 16 bits (ISO/IEC 15948)."""
    wide = picture.dtype.newbyteorder(">")
    height, width = picture.shape[:2]
    rows = np.ascontiguousarray(picture.astype(wide)).view(np.uint8).reshape(height, -1)
    filtered = np.empty((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 0] = _UP
    filtered[:1, 1:] = rows[:1]
    filtered[1:, 1:] = rows[1:] - rows[:-1]
    colour = 2 if picture.ndim == 3 else 0
    head = struct.pack(">IIBBBBB", width, height, 8 * picture.itemsize, colour, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(filtered.tobytes(), 6)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def read_png(path: Path) -> NDArray[Any]:
    """A picture back: grey of 8 or 16 bits, or RGB of 8."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            return np.asarray(picture)
    except (OSError, SyntaxError, ValueError) as error:
        raise DatasetError(
            f"{path}: is no picture that can be read ({error})\n"
            "  expected: what `seatrial dataset` wrote there\n"
            "  to mend:  say the command again that made the dataset: pictures that are missing or "
            "spoilt are drawn again"
        ) from None


def exr(channels: dict[str, NDArray[np.floating[Any]]], half: bool) -> bytes:
    """Channels (H, W) by name, ZIP compressed (openexr.com, *The OpenEXR File Layout*)."""
    names = sorted(channels)
    kind, dtype = (1, "<f2") if half else (2, "<f4")
    height, width = channels[names[0]].shape
    window = struct.pack("<4i", 0, 0, width - 1, height - 1)
    listed = b"".join(
        name.encode() + b"\0" + struct.pack("<iB3xii", kind, 0, 1, 1) for name in names
    )
    attributes: list[tuple[str, str, bytes]] = [
        ("channels", "chlist", listed + b"\0"),
        ("compression", "compression", b"\x03"),
        ("dataWindow", "box2i", window),
        ("displayWindow", "box2i", window),
        ("lineOrder", "lineOrder", b"\0"),
        ("pixelAspectRatio", "float", struct.pack("<f", 1.0)),
        ("screenWindowCenter", "v2f", struct.pack("<2f", 0.0, 0.0)),
        ("screenWindowWidth", "float", struct.pack("<f", 1.0)),
    ]
    head = struct.pack("<II", 20000630, 2)
    for name, sort, body in attributes:
        head += f"{name}\0{sort}\0".encode() + struct.pack("<i", len(body)) + body
    head += b"\0"
    with np.errstate(over="ignore"):  # beyond 65504 a half is infinite
        planes = np.stack([channels[name].astype(dtype) for name in names], axis=1)
    blocks = []
    for first in range(0, height, _ROWS):
        raw = planes[first : first + _ROWS].tobytes()
        packed = zlib.compress(_predicted(raw), 6)
        body = packed if len(packed) < len(raw) else raw
        blocks.append(struct.pack("<ii", first, len(body)) + body)
    starts = len(head) + 8 * len(blocks) + np.cumsum([0, *map(len, blocks[:-1])])
    return head + starts.astype("<u8").tobytes() + b"".join(blocks)


def _predicted(raw: bytes) -> bytes:
    """Even bytes, then odd ones, each told by what differs from the one before."""
    whole = np.frombuffer(raw, np.uint8)
    apart = np.concatenate([whole[0::2], whole[1::2]])
    apart[1:] = apart[1:] - apart[:-1] + np.uint8(128)
    return apart.tobytes()


def coded_depth(depth: Depth, reach: tuple[float, float]) -> NDArray[np.uint16]:
    """Depths between two distances as 1 to 65535 (eq. 4.1 of the thesis); 0 for all others."""
    low, high = reach
    seen = (depth >= low) & (depth <= high)
    share = np.where(seen, (depth - low) / (high - low), 0.0)
    return np.where(seen, 1 + np.rint(65534.0 * share), 0).astype(np.uint16)


def read_depth(path: Path, reach: tuple[float, float]) -> Depth:
    """Depths back, m; infinite where none was told."""
    coded = read_png(path).astype(np.float32)
    low, high = reach
    return np.where(coded > 0, low + (high - low) * (coded - 1.0) / 65534.0, np.inf).astype(
        np.float32
    )


def coded_normals(normals: NDArray[np.floating[Any]]) -> NDArray[np.uint16]:
    """Unit vectors as 16-bit colours: −1 to 1 are 0 to 65535; nothing (0, 0, 0) is black."""
    coded = np.rint(32767.5 * (normals + 1.0))
    nothing = ~np.any(normals, axis=-1, keepdims=True)
    return np.where(nothing, 0, coded).astype(np.uint16)
