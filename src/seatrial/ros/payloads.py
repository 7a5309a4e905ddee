"""Arrays of dense sensors as the ROS 2 messages that programs expect of them.

An echogram is a RawSonarImage, a sonar image a ProjectedSonarImage, an image an Image (or a
CompressedImage: `ros.compressed`), a cloud a PointCloud2, a scan a LaserScan. Within one topic such
a message has a fixed size too: rosbags serialises a template, and what changes from sample to
sample is the stamp and one run of bytes, the numbers themselves; in a LaserScan two runs, with the
length of the second between them. So a sample is written at the speed at which memory is copied.

In ROS's conventions the rows of a sonar image are ranges, with the beams side by side, and the
points of a cloud are forward, left, up; both are changed here and changed back on reading, exactly.
Angles of a scan count the other way round, and its stamp is that of its first ray.
Numbers are little-endian.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import RecordingError
from seatrial.ros.compressed import CompressedLayout, compressed_layout, problem_with
from seatrial.ros.definitions import PING, PROJECTED, SONAR, SONAR_DATA
from seatrial.ros.layout import (
    STAMP_BYTES,
    Message,
    MessageFactory,
    TypeStore,
    stamp_octets,
    to_ns,
)
from seatrial.ros.topics import VECTOR
from seatrial.signals import Measurements, PayloadInfo, SensorInfo

IMAGE = "sensor_msgs/msg/Image"
CLOUD = "sensor_msgs/msg/PointCloud2"
SCAN = "sensor_msgs/msg/LaserScan"
TYPES = {
    "echogram": SONAR,
    "sonar_image": PROJECTED,
    "image": IMAGE,
    "cloud": CLOUD,
    "scan": SCAN,
}
"""Kind of a payload -> its message."""

LARGEST = 1 << 29
"""Bytes of one sample at most: a chunk of a recording is held in memory when it is read."""

_SONAR_TYPES = (
    *("uint8", "int8", "uint16", "int16", "uint32", "int32"),
    *("uint64", "int64", "float32", "float64"),
)
"""In the order of their codes in SonarImageData, from 0."""
_POINT_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64")
"""In the order of their codes in PointField, from 1."""
_PIXELS = {
    **{("uint8", 1): "mono8", ("uint8", 3): "rgb8", ("uint8", 4): "rgba8", ("uint16", 1): "mono16"},
    **{("uint16", 3): "rgb16", ("uint16", 4): "rgba16"},
}
_PIXEL_TYPES = {
    **{"uint8": "8U", "int8": "8S", "uint16": "16U", "int16": "16S"},
    **{"int32": "32S", "float32": "32F", "float64": "64F"},
}
"""NumPy's type -> OpenCV's, as sensor_msgs writes it before the number of channels."""
_BEAMS = ("echogram", "sonar_image")
"""Kinds of payloads that are beams by range."""
_TURNED = ("y", "z")
"""Fields of a cloud whose sign differs between forward, starboard, down and forward, left, up."""

_LENGTH_BYTES = 4
"""Of the length that stands before the numbers of a list."""

Values = NDArray[Any]


@dataclass(frozen=True)
class PayloadLayout:
    """Where the stamp and the numbers sit in the bytes of one topic's messages."""

    info: PayloadInfo
    typename: str
    before: bytes
    """What stands before the numbers, with a stamp of zero."""
    stamp: int
    after: bytes
    between: bytes = b""
    """What stands between the two halves of the numbers."""
    lasts_ns: int = 0
    """How long before the sample's time the message is stamped."""
    bearing: tuple[int, int] | None = None
    """Byte at which the bearing of a head that turns stands, float32, and its place among the
    sensor's numbers."""

    @property
    def size(self) -> int:
        """Bytes of one message."""
        return len(self.before) + self._bytes + len(self.between) + len(self.after)

    @property
    def _bytes(self) -> int:
        return payload_bytes(self.info)

    def told(self) -> str:
        """What a reader of documents is told."""
        shape = " × ".join(str(n) for n in self.info.shape)
        return (
            f"{self.size:,} bytes: the stamp at byte {self.stamp}, {shape} numbers of "
            f"{self.info.dtype} ({self.info.unit}) from byte {len(self.before)} on"
        )

    def fits(self, message: bytes) -> bool:
        """Whether these bytes can be such a message."""
        return len(message) == self.size

    def encode(self, samples: Measurements, i: int) -> bytes:
        """The message of one of some samples."""
        assert samples.payload is not None
        # The sweep that ends with the run's first instant would have begun before there was time.
        time_ns = max(to_ns(samples.time[i]) - self.lasts_ns, 0)
        before = bytearray(self.before)
        before[self.stamp : self.stamp + STAMP_BYTES] = stamp_octets(time_ns)
        if self.bearing is not None:
            place, column = self.bearing
            struct.pack_into("<f", before, place, samples.values[i, column])
        array = _there(self.info, samples.payload[i])
        numbers = np.ascontiguousarray(array, _little(self.info)).tobytes()
        half = len(numbers) // 2 if self.between else len(numbers)
        return b"".join((before, numbers[:half], self.between, numbers[half:], self.after))

    def decode(self, message: bytes) -> Values:
        """The sample of a message that has this layout's size."""
        start, kind, count = len(self.before), _little(self.info), _count(self.info)
        if not self.between:
            return _back(self.info, np.frombuffer(message, kind, offset=start, count=count))
        second = start + self._bytes // 2 + len(self.between)
        halves = [np.frombuffer(message, kind, count // 2, offset) for offset in (start, second)]
        return _back(self.info, np.concatenate(halves))

    def decode_stamp(self, message: bytes) -> int:
        """When the sample was taken, ns."""
        seconds, rest = struct.unpack_from("<II", message, self.stamp)
        return int(seconds) * 1_000_000_000 + int(rest)


def payload_bytes(info: PayloadInfo) -> int:
    """Bytes of the numbers of one sample."""
    return _count(info) * np.dtype(info.dtype).itemsize


def payload_layout(
    store: TypeStore, sensor: SensorInfo, frame: str
) -> PayloadLayout | CompressedLayout:
    """The layout of a sensor's payload, or a refusal of one that no message can hold."""
    info = sensor.payload
    assert info is not None, "the sensor has no payload"
    check_payload(sensor)
    if info.encoding:
        return compressed_layout(store, info, frame)
    build = _BUILDERS[info.kind]

    def template(byte: int) -> bytes:
        numbers = np.full(payload_bytes(info), byte, np.uint8)
        return store.serialise(TYPES[info.kind], lambda f: build(f, sensor, info, frame, numbers))

    low, high = template(0), template(0xFF)
    differing = np.flatnonzero(np.frombuffer(low, np.uint8) != np.frombuffer(high, np.uint8))
    start, end = int(differing[0]), int(differing[-1]) + 1
    gap = end - start - payload_bytes(info)
    if gap != (_LENGTH_BYTES if info.kind == "scan" else 0):
        raise ValueError(f"{TYPES[info.kind]} holds {end - start} bytes of a payload")
    half = start + payload_bytes(info) // 2
    stamp = store.stamp_place(low)
    before = low[:stamp] + bytes(STAMP_BYTES) + low[stamp + STAMP_BYTES : start]
    bearing = None
    if _turns(sensor):
        bearing = store.short_place(low), sensor.components.index("bearing")
    lasts = round(1e9 * sensor.facts.get("sweep_time", (0.0,))[0]) if info.kind == "scan" else 0
    return PayloadLayout(
        info, TYPES[info.kind], before, stamp, low[end:], low[half : half + gap], lasts, bearing
    )


def check_payload(sensor: SensorInfo) -> None:
    """Refuse a payload that its message cannot hold, before anything is written."""
    info = sensor.payload
    assert info is not None
    known = {
        **dict.fromkeys(_BEAMS, _SONAR_TYPES),
        "image": tuple(_PIXEL_TYPES),
        "cloud": _POINT_TYPES,
        "scan": ("float32",),
    }
    dimensions = {**dict.fromkeys(_BEAMS, (2,)), "image": (2, 3), "cloud": (2,), "scan": (2,)}
    if info.kind not in TYPES:
        problem, expected = f"of unknown kind {info.kind!r}", f"one of {', '.join(TYPES)}"
    elif info.dtype not in known[info.kind]:
        problem, expected = f"of {info.dtype}", f"one of {', '.join(known[info.kind])}"
    elif len(info.shape) not in dimensions[info.kind] or min(info.shape) < 1:
        problem, expected = f"of shape {info.shape}", _SHAPES[info.kind]
    elif info.kind == "cloud" and len(info.fields) != info.shape[1]:
        problem = f"of {info.shape[1]} numbers per point and {len(info.fields)} names"
        expected = "a name in `fields` for every number"
    elif info.kind == "cloud" and info.dtype.startswith("u") and set(_TURNED) & set(info.fields):
        problem, expected = f"of {info.dtype} places", "numbers with a sign"
    elif info.kind == "scan" and info.shape[0] != 2:
        problem, expected = f"of shape {info.shape}", _SHAPES[info.kind]
    elif payload_bytes(info) > LARGEST:
        problem = f"of {payload_bytes(info):,} bytes"
        expected = f"at most {LARGEST:,} bytes in one sample"
    elif info.encoding and (found := problem_with(info)) is not None:
        problem, expected = found
    else:
        return
    raise RecordingError(
        f"sensor {sensor.name!r} gives an array {problem}, which no message holds\n"
        f"  expected: {expected}\n"
        "  to mend:  change the sensor's resolution or its type of numbers"
    )


_SHAPES = {
    "echogram": "(beams, range bins)",
    "sonar_image": "(beams, range bins)",
    "image": "(rows, columns) or (rows, columns, channels)",
    "cloud": "(points, fields)",
    "scan": "(2, beams): ranges and intensities",
}


def _count(info: PayloadInfo) -> int:
    return int(np.prod(info.shape))


def _little(info: PayloadInfo) -> np.dtype[Any]:
    return np.dtype(info.dtype).newbyteorder("<")


def _there(info: PayloadInfo, array: Values) -> Values:
    """From seatrial's conventions to ROS's."""
    if info.kind in _BEAMS:
        return array.T
    if info.kind == "cloud":
        return _turned(info, array)
    return array


def _back(info: PayloadInfo, flat: Values) -> Values:
    """From ROS's conventions to seatrial's."""
    if info.kind in _BEAMS:
        return flat.reshape(info.shape[::-1]).T
    array = flat.reshape(info.shape)
    return _turned(info, array) if info.kind == "cloud" else array


def _turned(info: PayloadInfo, points: Values) -> Values:
    columns = [i for i, name in enumerate(info.fields) if name in _TURNED]
    if not columns:
        return points
    turned = points.copy()
    turned[:, columns] = -turned[:, columns]
    return turned


def _facts(sensor: SensorInfo, name: str) -> Values:
    return np.array(sensor.facts.get(name, ()), np.float32)


def _fact(sensor: SensorInfo, name: str) -> float:
    return float(sensor.facts.get(name, (0.0,))[0])


def _ping(f: MessageFactory, sensor: SensorInfo) -> Message:
    """Facts of the sensor that the message has room for; 0 or nothing where they are unknown."""
    return f.make(
        PING,
        _fact(sensor, "frequency"),
        _fact(sensor, "sound_speed"),
        _facts(sensor, "tx_beamwidths"),
        _facts(sensor, "rx_beamwidths"),
    )


def _turns(sensor: SensorInfo) -> bool:
    """Whether the direction in which a sonar hears changes from sample to sample; recordings of
    former versions have none in the message."""
    return "bearing" in sensor.components and "rx_angles" in sensor.facts


def _sonar(
    f: MessageFactory, sensor: SensorInfo, info: PayloadInfo, frame: str, numbers: Values
) -> Message:
    beams, bins = info.shape
    return f.make(
        SONAR,
        f.header(frame),
        _ping(f, sensor),
        _fact(sensor, "sample_rate"),
        bins,
        int(_fact(sensor, "sample0")),
        _facts(sensor, "tx_delays"),
        _facts(sensor, "tx_angles"),
        np.array([f.short_slot()], np.float32) if _turns(sensor) else _facts(sensor, "rx_angles"),
        f.make(SONAR_DATA, False, _SONAR_TYPES.index(info.dtype), beams, numbers),
    )


def _projected(
    f: MessageFactory, sensor: SensorInfo, info: PayloadInfo, frame: str, numbers: Values
) -> Message:
    """Beams by their directions (forward, left, up) and bins by the range of their middles."""
    beams, bins = info.shape
    bearings = sensor.facts.get("bearings", ())
    directions = [f.make(VECTOR, math.cos(a), -math.sin(a), 0.0) for a in bearings]
    ranges = (np.arange(bins) + 0.5) * _fact(sensor, "bin_width")
    image = f.make(SONAR_DATA, False, _SONAR_TYPES.index(info.dtype), beams, numbers)
    return f.make(
        PROJECTED,
        f.header(frame),
        _ping(f, sensor),
        directions,
        ranges.astype(np.float32),
        image,
    )


def _image(
    f: MessageFactory, sensor: SensorInfo, info: PayloadInfo, frame: str, numbers: Values
) -> Message:
    rows, columns = info.shape[:2]
    channels = info.shape[2] if len(info.shape) == 3 else 1
    general = f"{_PIXEL_TYPES[info.dtype]}C{channels}"
    encoding = _PIXELS.get((info.dtype, channels), general)
    step = columns * channels * np.dtype(info.dtype).itemsize
    return f.make(IMAGE, f.header(frame), rows, columns, encoding, 0, step, numbers)


def _cloud(
    f: MessageFactory, sensor: SensorInfo, info: PayloadInfo, frame: str, numbers: Values
) -> Message:
    points, width = info.shape
    size, code = np.dtype(info.dtype).itemsize, _POINT_TYPES.index(info.dtype) + 1
    fields = [
        f.make("sensor_msgs/msg/PointField", name, i * size, code, 1)
        for i, name in enumerate(info.fields)
    ]
    step = width * size
    dense = not info.dtype.startswith("f")  # a beam that met nothing is NaN
    return f.make(
        CLOUD, f.header(frame), 1, points, fields, False, step, points * step, numbers, dense
    )


def _scan(
    f: MessageFactory, sensor: SensorInfo, info: PayloadInfo, frame: str, numbers: Values
) -> Message:
    """Angles count counter-clockwise seen from above."""

    def fact(name: str) -> float:
        return float(sensor.facts.get(name, (0.0,))[0])

    beams = info.shape[1]
    first, last = -fact("first_azimuth"), -fact("last_azimuth")
    ranges, intensities = np.split(numbers.view(np.float32), 2)
    return f.make(
        SCAN,
        f.header(frame),
        first,
        last,
        (last - first) / max(beams - 1, 1),
        fact("sweep_time") / beams,
        1.0 / sensor.rate,
        fact("minimum_range"),
        fact("maximum_range"),
        ranges,
        intensities,
    )


_BUILDERS: dict[str, Callable[..., Message]] = {
    "echogram": _sonar,
    "sonar_image": _projected,
    "image": _image,
    "cloud": _cloud,
    "scan": _scan,
}
