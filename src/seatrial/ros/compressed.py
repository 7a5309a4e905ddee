"""Pictures of cameras as sensor_msgs/CompressedImage: JPEG or PNG, of whatever length they become.

Reading gives the array back, exactly from PNG, and nearly from JPEG.
"""

import io
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.ros.layout import STAMP_BYTES, TypeStore, stamp_octets, to_ns
from seatrial.signals import Measurements, PayloadInfo

COMPRESSED = "sensor_msgs/msg/CompressedImage"

PNG_LEVEL = 1
"""Of zlib: a run that goes on has no time for more."""

_LENGTH_BYTES = 4
_FORMATS = ("jpeg", "png")
_DTYPES = ("uint8", "uint16")


@dataclass(frozen=True)
class CompressedLayout:
    """Where the stamp sits in the bytes of one topic's messages, and where the picture begins."""

    info: PayloadInfo
    before: bytes
    """What stands before the length of the picture, with a stamp of zero."""
    stamp: int
    typename: str = COMPRESSED

    def told(self) -> str:
        """What a reader of documents is told."""
        shape = " × ".join(str(n) for n in self.info.shape)
        return (
            f"the stamp at byte {self.stamp}, the length of the file at byte {len(self.before)}, "
            f"then the file itself: {self.info.encoding.split(':')[0]} of {shape} numbers of "
            f"{self.info.dtype}"
        )

    def encode(self, samples: Measurements, i: int) -> bytes:
        """The message of one of some samples."""
        assert samples.payload is not None
        data = packed(self.info, samples.payload[i])
        head, tail = self.before[: self.stamp], self.before[self.stamp + STAMP_BYTES :]
        length = struct.pack("<I", len(data))
        return b"".join((head, stamp_octets(to_ns(samples.time[i])), tail, length, data))

    def fits(self, message: bytes) -> bool:
        """Whether these bytes are such a message."""
        start = len(self.before)
        if len(message) < start + _LENGTH_BYTES:
            return False
        (length,) = struct.unpack_from("<I", message, start)
        return len(message) >= start + _LENGTH_BYTES + int(length)

    def decode(self, message: bytes) -> NDArray[Any]:
        """The sample of a message; a ValueError where its picture cannot be read."""
        start = len(self.before)
        (length,) = struct.unpack_from("<I", message, start)
        first = start + _LENGTH_BYTES
        return unpacked(self.info, message[first : first + length])

    def decode_stamp(self, message: bytes) -> int:
        """When the sample was taken, ns."""
        seconds, rest = struct.unpack_from("<II", message, self.stamp)
        return int(seconds) * 1_000_000_000 + int(rest)


def compressed_layout(store: TypeStore, info: PayloadInfo, frame: str) -> CompressedLayout:
    """The layout of a camera's compressed pictures."""
    kind = info.encoding.split(":")[0]
    empty = np.empty(0, np.uint8)
    data = store.serialise(COMPRESSED, lambda f: f.make(COMPRESSED, f.header(frame), kind, empty))
    stamp = store.stamp_place(data)
    (padding,) = struct.unpack_from("<I", data, len(data) - _LENGTH_BYTES)
    if padding != 0:
        raise ValueError(f"{COMPRESSED} does not end with the length of its data")
    before = data[:stamp] + bytes(STAMP_BYTES) + data[stamp + STAMP_BYTES : -_LENGTH_BYTES]
    return CompressedLayout(info, before, stamp)


def problem_with(info: PayloadInfo) -> tuple[str, str] | None:
    """Why an array cannot be compressed, and what was expected; None where it can."""
    kind = info.encoding.split(":")[0]
    if info.kind != "image" or kind not in _FORMATS:
        return f"of {info.kind} as {info.encoding!r}", f"an image as one of {', '.join(_FORMATS)}"
    channels = info.shape[2] if len(info.shape) == 3 else 1
    if info.dtype not in _DTYPES or channels not in (1, 3):
        return f"of {info.dtype} with {channels} channels", "8 bits, or 16 of one channel"
    if info.dtype == "uint16" and (channels == 3 or kind == "jpeg"):
        return f"of {info.dtype} as {kind}", "8 bits, or 16 bits of one channel as PNG"
    return None


def packed(info: PayloadInfo, array: NDArray[Any]) -> bytes:
    """An array as a file."""
    from PIL import Image

    kind, _, quality = info.encoding.partition(":")
    picture = Image.fromarray(np.ascontiguousarray(array))
    file = io.BytesIO()
    if kind == "jpeg":
        picture.save(file, "JPEG", quality=int(quality or 90))
    else:
        picture.save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()


def unpacked(info: PayloadInfo, data: bytes) -> NDArray[Any]:
    """The array of a file; a ValueError where it is none of the stated shape."""
    from PIL import Image

    try:
        array = np.asarray(Image.open(io.BytesIO(data)))
    except Exception as error:  # a reader of pictures fails in any way it likes
        raise ValueError(f"a picture that cannot be read ({error})") from None
    if array.shape != info.shape:
        raise ValueError(f"a picture of shape {array.shape}, not {info.shape}")
    return array.astype(info.dtype)
