"""What stands in a message of DDS's wire protocol (RTPS 2.2, OMG formal/2014-09-01).

Numbers of its kinds, parameters and built-in endpoints, how submessages are put together, and what
a reliable writer and a reliable reader have to remember of each other.
"""

import struct
from collections import OrderedDict
from dataclasses import dataclass, field

KEPT = 100
"""Answers that are kept for those who have not taken them."""

UNKNOWN = b"\0\0\0\0"
SPDP_WRITER, SPDP_READER = b"\0\x01\0\xc2", b"\0\x01\0\xc7"
PUB_WRITER, PUB_READER = b"\0\0\x03\xc2", b"\0\0\x03\xc7"
SUB_WRITER, SUB_READER = b"\0\0\x04\xc2", b"\0\0\x04\xc7"
PARTICIPANT = b"\0\0\x01\xc1"
BUILTIN = 0x3F
"""Announces and hears of participants, writers and readers."""

SENTINEL, LEASE_DURATION, TOPIC, TYPE = 0x0001, 0x0002, 0x0005, 0x0007
VERSION, VENDOR, RELIABILITY, DURABILITY = 0x0015, 0x0016, 0x001A, 0x001D
META_LOCATOR, DATA_LOCATOR, ENDPOINTS = 0x0032, 0x0031, 0x0058
PARTICIPANT_GUID, ENDPOINT_GUID, KEY_HASH = 0x0050, 0x005A, 0x0070
RELATED, RELATED_FAST_DDS = 0x0083, 0x800F
"""Who asked and which number: as the specification has it, and as Fast DDS had it before."""

ACKNACK, HEARTBEAT, GAP, DESTINATION, DATA = 6, 7, 8, 14, 21


def submessage(kind: int, flags: int, body: bytes) -> bytes:
    """Little-endian, padded to whole words."""
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<BBH", kind, flags | 1, len(body)) + body


def number_bytes(number: int) -> bytes:
    """A sequence number: its high half is signed and comes first."""
    return struct.pack("<iI", number >> 32, number & 0xFFFFFFFF)


def read_number(body: bytes, at: int) -> int:
    """The sequence number at a place."""
    high, low = struct.unpack_from("<iI", body, at)
    return int(high << 32 | low)


def parameter(pid: int, value: bytes) -> bytes:
    """One of a list of parameters."""
    value += b"\0" * (-len(value) % 4)
    return struct.pack("<HH", pid, len(value)) + value


def parameters(body: bytes, at: int) -> tuple[dict[int, bytes], int]:
    """The first of each sort, and where the list ends."""
    found: dict[int, bytes] = {}
    while True:
        pid, length = struct.unpack_from("<HH", body, at)
        at += 4
        if pid == SENTINEL:
            return found, at
        value = body[at : at + length]
        # Of places only those of UDP and IPv4 are of use.
        if pid not in (META_LOCATOR, DATA_LOCATOR) or value[:4] == b"\x01\0\0\0":
            found.setdefault(pid, value)
        at += length


def string_bytes(text: str) -> bytes:
    """A string as CDR has it."""
    encoded = text.encode() + b"\0"
    return struct.pack("<I", len(encoded)) + encoded


def read_string(value: bytes) -> str:
    """The string that a parameter holds."""
    (length,) = struct.unpack_from("<I", value)
    return value[4 : 4 + length].rstrip(b"\0").decode()


@dataclass
class ReliableWriter:
    """An endpoint of ours that tells: reliable, the last samples are kept."""

    entity: bytes
    reader: bytes
    """Entity of those it tells; unknown for all of a topic."""
    samples: OrderedDict[int, bytes] = field(default_factory=OrderedDict)
    """By number what stands in a DATA behind its header, with the flags in the first byte."""
    last: int = 0
    beats: int = 0

    def add(self, sample: bytes) -> None:
        """Keep one more."""
        self.last += 1
        self.samples[self.last] = sample
        while len(self.samples) > KEPT:
            self.samples.popitem(last=False)

    def data(self, number: int) -> bytes:
        """The submessage with a sample that is kept."""
        flags, body = self.samples[number][0], self.samples[number][1:]
        head = struct.pack("<HH", 0, 16) + self.reader + self.entity
        return submessage(DATA, flags, head + number_bytes(number) + body)

    def heartbeat(self) -> bytes:
        """Which numbers there are."""
        self.beats += 1
        first = next(iter(self.samples), self.last + 1)
        body = self.reader + self.entity + number_bytes(first) + number_bytes(self.last)
        return submessage(HEARTBEAT, 0, body + struct.pack("<i", self.beats))


@dataclass
class Heard:
    """What came of one remote writer."""

    following: int = 1
    """The first number that is missing."""
    ahead: set[int] = field(default_factory=set)
    answers: int = 0

    def take(self, number: int) -> bool:
        """Whether it is new."""
        if number < self.following or number in self.ahead or len(self.ahead) > 1000:
            return False
        self.ahead.add(number)
        self._close_up()
        return True

    def skip(self, first: int, last: int) -> None:
        """Those are of no interest or gone."""
        if first <= self.following <= last:
            self.following = last + 1
        self._close_up()

    def _close_up(self) -> None:
        while self.following in self.ahead:
            self.ahead.discard(self.following)
            self.following += 1
        self.ahead = {n for n in self.ahead if n > self.following}

    def acknack(self, reader: bytes, writer: bytes, last: int) -> bytes:
        """What has come, and what is asked for again, of a writer that got to `last`."""
        missing = range(self.following, min(last + 1, self.following + 32))
        bits = 0
        for n in missing:
            if n not in self.ahead:
                bits |= 1 << (31 - (n - self.following))
        state = number_bytes(self.following) + struct.pack("<I", len(missing))
        if missing:
            state += struct.pack("<I", bits)
        self.answers += 1
        body = reader + writer + state + struct.pack("<i", self.answers)
        return submessage(ACKNACK, 0 if missing else 2, body)
