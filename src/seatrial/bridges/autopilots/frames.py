"""MAVLink 2 frames: written here, so that a bridge needs no generated code.

A frame is 0xFD, the length of the payload, two bytes of flags, a sequence number, system and
component, the message's number in three bytes, the payload without its trailing zeros, and the
CRC-16/MCRF4XX of all that but the first byte, and of a byte that tells the message's fields apart.
"""

import struct
from collections import Counter
from dataclasses import dataclass

START = 0xFD
HEADER, CHECKSUM, SIGNATURE = 10, 2, 13
"""Bytes."""
SIGNED = 1
"""The one flag of a frame that says how to read it."""
MOST_REST = 4096
"""Bytes that wait for the rest of their frame."""


@dataclass(frozen=True)
class Kind:
    """A message of MAVLink's common set, its fields in the order of the wire."""

    number: int
    extra: int
    """Of the checksum."""
    layout: struct.Struct


HEARTBEAT = Kind(0, 50, struct.Struct("<IBBBBB"))
HIL_ACTUATOR_CONTROLS = Kind(93, 47, struct.Struct("<QQ16fB"))
HIL_SENSOR = Kind(107, 108, struct.Struct("<Q13fIB"))
HIL_GPS = Kind(113, 124, struct.Struct("<QiiiHHHhhhHBBBH"))
HIL_STATE_QUATERNION = Kind(115, 4, struct.Struct("<Q4f3fiiihhhHHhhh"))
KINDS = {
    k.number: k
    for k in (HEARTBEAT, HIL_ACTUATOR_CONTROLS, HIL_SENSOR, HIL_GPS, HIL_STATE_QUATERNION)
}


def checksum(data: bytes) -> int:
    """CRC-16/MCRF4XX."""
    crc = 0xFFFF
    for octet in data:
        mixed = octet ^ (crc & 0xFF)
        mixed = (mixed ^ (mixed << 4)) & 0xFF
        crc = (crc >> 8) ^ (mixed << 8) ^ (mixed << 3) ^ (mixed >> 4)
    return crc


class Framer:
    """Writes frames of one system, and finds those of another in a stream."""

    def __init__(self, system: int, component: int, counts: Counter[str]) -> None:
        self._who, self._sequence, self._counts = (system, component), 0, counts
        self._rest = b""

    def frame(self, kind: Kind, *fields: float) -> bytes:
        """A message as bytes."""
        payload = kind.layout.pack(*fields).rstrip(b"\0") or b"\0"
        number = kind.number.to_bytes(3, "little")
        body = bytes([len(payload), 0, 0, self._sequence, *self._who]) + number + payload
        self._sequence = (self._sequence + 1) % 256
        crc = checksum(body + bytes([kind.extra]))
        return bytes([START]) + body + crc.to_bytes(2, "little")

    def found(self, data: bytes) -> list[tuple[Kind, tuple[float, ...]]]:
        """Whole messages of the kinds that are known; noise between them is counted once each."""
        self._rest += data
        messages = []
        while True:
            start = self._rest.find(START)
            if start:
                self._counts["garbled"] += bool(self._rest)
                self._rest = self._rest[start:] if start > 0 else b""
            if len(self._rest) < HEADER:
                break
            length = self._rest[1]
            end = HEADER + length + CHECKSUM
            whole = end + (SIGNATURE if self._rest[2] & SIGNED else 0)
            if len(self._rest) < whole:
                break
            if self._rest[2] & ~SIGNED:  # the specification: who does not know a flag discards it
                self._counts["garbled"] += 1
                self._rest = self._rest[1:]
                continue
            kind = KINDS.get(int.from_bytes(self._rest[7:10], "little"))
            if kind is None:
                self._counts["ignored"] += 1
                self._rest = self._rest[whole:]
                continue
            body, sent = self._rest[1 : end - 2], self._rest[end - 2 : end]
            if checksum(body + bytes([kind.extra])).to_bytes(2, "little") != sent:
                self._counts["garbled"] += 1
                self._rest = self._rest[1:]
                continue
            payload = self._rest[HEADER : end - 2].ljust(kind.layout.size, b"\0")
            messages.append((kind, kind.layout.unpack(payload[: kind.layout.size])))
            self._rest = self._rest[whole:]
        if len(self._rest) > MOST_REST:
            self._counts["oversize"] += 1
            self._rest = b""
        return messages
