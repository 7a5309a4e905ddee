"""Messages of NMEA 2000 (IEC 61162-3): what each instrument says of a sample, as CAN frames.

A message has a parameter group number (PGN) and up to 223 bytes, little-endian integers in steps of
a resolution; all ones means that a value is not there. A CAN frame has an identifier of 29 bits
(ISO 11783-3: three of priority, the PGN, the address of the sender) and eight bytes; a longer
message is a fast packet: a sequence number and a frame number in the first byte of each frame, the
length in the second byte of the first. The fields are those that the CANboat project has found out.
"""

import math
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from seatrial.bridges.nmea.instruments import Values, attitude, turn_rate
from seatrial.bridges.nmea.sentences import EPOCH
from seatrial.signals import SensorInfo
from seatrial.spatial.geodesy import to_geodetic

_METHOD = (0, 1, 2, 5, 4)
"""In 129029, by fix: none, autonomous, differential, RTK float, RTK fixed."""
_ANGLE = 1e-4
"""rad."""
_SPEED = 0.01
"""m/s."""
_TURN = 1e-6 / 32.0
"""rad/s."""
_GPS_AND_GLONASS = 2
_APPARENT = 2
_NOT_KNOWN = 0xFF


class Message(NamedTuple):
    """One message of an instrument."""

    pgn: int
    priority: int
    data: bytes


class Sender:
    """Numbers the fast packets of one address."""

    def __init__(self, address: int) -> None:
        self.address = address
        self._packets: dict[int, int] = {}

    def frames(self, message: Message) -> list[tuple[int, bytes]]:
        """Identifiers and bytes of the frames of a message."""
        identifier = message.priority << 26 | message.pgn << 8 | self.address
        data = message.data
        if len(data) <= 8:
            return [(identifier, data)]
        number = self._packets.get(message.pgn, 0)
        self._packets[message.pgn] = (number + 1) % 8
        parts = [bytes([len(data)]) + data[:6]]
        parts += [data[i : i + 7] for i in range(6, len(data), 7)]
        return [
            (identifier, bytes([number << 5 | i]) + part.ljust(7, b"\xff"))
            for i, part in enumerate(parts)
        ]


def candump(frame: tuple[int, bytes], time: float, interface: str = "can0") -> str:
    """A frame as `candump -L` writes and `canplayer` reads it."""
    stamp = EPOCH.timestamp() + time
    return f"({stamp:.6f}) {interface} {frame[0]:08X}#{frame[1].hex().upper()}\n"


def _whole(value: float, step: float, bits: int, signed: bool) -> int:
    """In steps; the largest three numbers mean other things, nothing the last of them."""
    top = (1 << (bits - signed)) - 1
    if not math.isfinite(value):
        return top
    least = -top if signed else 0
    return min(max(round(value / step), least), top - 3)


def _bytes(*fields: tuple[float, float, str]) -> bytes:
    """Values with their resolutions and the letters of `struct`."""
    parts = []
    for value, step, kind in fields:
        bits = 8 * struct.calcsize(f"<{kind}")
        parts.append(struct.pack(f"<{kind}", _whole(value, step, bits, kind.islower())))
    return b"".join(parts)


_NONE = math.nan


def _bearing(angle: float) -> float:
    """From 0 to below 2π, also after rounding."""
    return angle if math.isnan(angle) else round(angle / _ANGLE) % round(math.tau / _ANGLE) * _ANGLE


def _sequence(time: float) -> int:
    """By which messages of one instant are known to belong together, 0 to 252."""
    return round(time * 100.0) % 253


def _gnss(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    fix = int(np.clip(round(v["fix"]), 0, 4))
    latitude = longitude = height = course = speed = _NONE
    if fix:
        latitude, longitude, height = (
            float(a) for a in to_geodetic([v["north"], v["east"], v["down"]], datum)
        )
        speed = math.hypot(v["velocity_north"], v["velocity_east"])
        course = _bearing(math.atan2(v["velocity_east"], v["velocity_north"]))
    sid = bytes([_sequence(time)])
    found = [
        Message(129025, 2, _bytes((latitude, 1e-7, "i"), (longitude, 1e-7, "i"))),
        Message(
            129026,
            2,
            sid + b"\xfc" + _bytes((course, _ANGLE, "H"), (speed, _SPEED, "H")) + b"\xff\xff",
        ),
    ]
    if seldom:
        now = EPOCH + timedelta(seconds=time)
        days = (now - datetime(1970, 1, 1, tzinfo=UTC)).days
        midnight = (now - now.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
        data = sid + struct.pack("<HI", days, round(midnight / 1e-4))
        data += _bytes((latitude, 1e-16, "q"), (longitude, 1e-16, "q"), (height, 1e-6, "q"))
        data += bytes([_GPS_AND_GLONASS | _METHOD[fix] << 4, 0xFC, 12 if fix else 0])
        data += _bytes((1.0, 0.01, "h"), (_NONE, 0.01, "h"), (0.0, 0.01, "i")) + b"\0"
        found.append(Message(129029, 3, data))
    return found


def _heading(time: float, heading: float) -> Message:
    data = _bytes((_bearing(heading), _ANGLE, "H"), (_NONE, _ANGLE, "h"), (_NONE, _ANGLE, "h"))
    return Message(127250, 2, bytes([_sequence(time)]) + data + b"\xfc")


def _turn(time: float, rate: float) -> Message:
    return Message(127251, 2, bytes([_sequence(time)]) + _bytes((rate, _TURN, "i")) + b"\xff" * 3)


def _compass(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    return [_heading(time, v["heading"])]


def _imu(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    return [_turn(time, turn_rate(info, v))]


def _ahrs(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    roll, pitch, heading = attitude(info, v)
    angles = _bytes((heading, _ANGLE, "h"), (pitch, _ANGLE, "h"), (roll, _ANGLE, "h"))
    tilt = Message(127257, 3, bytes([_sequence(time)]) + angles + b"\xff")
    return [_heading(time, heading), _turn(time, turn_rate(info, v)), tilt]


def _depth(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    farthest = info.facts.get("limits", (0.0, 0.0))[1] or _NONE
    offset = info.position[2]  # the waterline is this far above the transducer
    data = _bytes((v["range"], 0.01, "I"), (offset, 1e-3, "h"), (farthest, 10.0, "B"))
    return [Message(128267, 3, bytes([_sequence(time)]) + data)]


def _wind(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    data = _bytes((v["speed"], _SPEED, "H"), (_bearing(v["angle"]), _ANGLE, "H"))
    return [
        Message(
            130306, 2, bytes([_sequence(time)]) + data + bytes([0xF8 | _APPARENT]) + b"\xff\xff"
        )
    ]


def _log(
    info: SensorInfo, time: float, v: Values, datum: tuple[float, float], seldom: bool
) -> list[Message]:
    data = _bytes((v["speed_x"], _SPEED, "H"), (_NONE, _SPEED, "H"))  # astern is nothing there
    return [Message(128259, 2, bytes([_sequence(time)]) + data + b"\xff\xff\xff")]


MESSAGES: Mapping[
    str, Callable[[SensorInfo, float, Values, tuple[float, float], bool], list[Message]]
] = {
    "gnss": _gnss,
    "compass": _compass,
    "imu": _imu,
    "ahrs": _ahrs,
    "altimeter": _depth,
    "echo_sounder": _depth,
    "anemometer": _wind,
    "speed_log": _log,
}
"""By the type of a sensor, the messages of a sample; those that are sent once per second where it
is the time for them."""


def rudder(instance: int, angle: float) -> Message:
    """127245: an angle, rad, that is positive where the bow turns to starboard."""
    data = bytes([instance, _NOT_KNOWN]) + _bytes((_NONE, _ANGLE, "h"), (angle, _ANGLE, "h"))
    return Message(127245, 2, data + b"\xff\xff")
