"""Services of ROS 2: a participant of DDS's wire protocol for questions and answers alone.

`rmw_cyclonedds` puts the asker and the number of a question before its fields. `rmw_fastrtps` does
not: the identity of a question is that of its sample in the wire protocol, writer and sequence
number, and the answer names it in a parameter beside the data (PID_RELATED_SAMPLE_IDENTITY), which
Cyclone DDS can neither read nor write. So these few topics have a participant of their own here,
which speaks the wire protocol (RTPS 2.2, OMG formal/2014-09-01) with the participants of either on
this machine: it announces itself at their ports of loopback, exchanges the descriptions of its
endpoints, hears questions and writes answers, reliably.
"""

import contextlib
import secrets
import socket
import struct
import threading
import time as wall_clock
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

FAST_DDS, CYCLONE_DDS = b"\x01\x0f", b"\x01\x10"
"""Vendors of those who are answered."""
OWN_VENDOR = b"\x00\x00"
PERIOD = 1.0
"""Between two announcements, s."""
LEASE = 20.0
"""A participant that says nothing for so long is forgotten, s."""
BEAT = 0.1
"""Between two heartbeats while somebody has not taken everything, s."""
PARTICIPANTS = 50
"""Of a domain on this machine, at whose ports one announces oneself."""
MOST_PEERS = 64
MOST_WRITERS = 256
"""Of one peer."""
KEPT = 100
"""Answers that are kept for those who have not taken them."""

_UNKNOWN = b"\0\0\0\0"
_SPDP_WRITER, _SPDP_READER = b"\0\x01\0\xc2", b"\0\x01\0\xc7"
_PUB_WRITER, _PUB_READER = b"\0\0\x03\xc2", b"\0\0\x03\xc7"
_SUB_WRITER, _SUB_READER = b"\0\0\x04\xc2", b"\0\0\x04\xc7"
_PARTICIPANT = b"\0\0\x01\xc1"
_BUILTIN = 0x3F
"""Announces and hears of participants, writers and readers."""

_SENTINEL, _LEASE, _TOPIC, _TYPE = 0x0001, 0x0002, 0x0005, 0x0007
_VERSION, _VENDOR, _RELIABILITY, _DURABILITY = 0x0015, 0x0016, 0x001A, 0x001D
_META_LOCATOR, _DATA_LOCATOR, _ENDPOINTS = 0x0032, 0x0031, 0x0058
_PARTICIPANT_GUID, _ENDPOINT_GUID = 0x0050, 0x005A
_RELATED, _RELATED_FAST_DDS = 0x0083, 0x800F
"""Who asked and which number: as the specification has it, and as Fast DDS had it before."""

_ACKNACK, _HEARTBEAT, _GAP, _TIMESTAMP, _SOURCE, _DESTINATION, _DATA = 6, 7, 8, 9, 12, 14, 21


@dataclass(frozen=True)
class Question:
    """A sample of a request's topic."""

    topic: str
    data: bytes
    """CDR, with its encapsulation."""
    vendor: bytes
    asker: bytes
    """GUID to answer to."""
    number: int


@dataclass
class _Writer:
    """An endpoint of ours that tells: reliable, the last samples are kept."""

    entity: bytes
    reader: bytes
    """Entity of those it tells; unknown for all of a topic."""
    samples: OrderedDict[int, bytes] = field(default_factory=OrderedDict)
    """By number what stands in a DATA behind its header, with the flags in the first byte."""
    last: int = 0
    beats: int = 0

    def add(self, sample: bytes) -> None:
        self.last += 1
        self.samples[self.last] = sample
        while len(self.samples) > KEPT:
            self.samples.popitem(last=False)

    def data(self, number: int) -> bytes:
        flags, body = self.samples[number][0], self.samples[number][1:]
        head = struct.pack("<HH", 0, 16) + self.reader + self.entity
        return _submessage(_DATA, flags, head + _number(number) + body)

    def heartbeat(self) -> bytes:
        self.beats += 1
        first = next(iter(self.samples), self.last + 1)
        body = self.reader + self.entity + _number(first) + _number(self.last)
        return _submessage(_HEARTBEAT, 0, body + struct.pack("<i", self.beats))


@dataclass
class _Heard:
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
        missing = range(self.following, min(last + 1, self.following + 32))
        bits = 0
        for n in missing:
            if n not in self.ahead:
                bits |= 1 << (31 - (n - self.following))
        state = _number(self.following) + struct.pack("<I", len(missing))
        if missing:
            state += struct.pack("<I", bits)
        self.answers += 1
        body = reader + writer + state + struct.pack("<i", self.answers)
        return _submessage(_ACKNACK, 0 if missing else 2, body)


@dataclass
class _Peer:
    """Another participant."""

    prefix: bytes
    vendor: bytes
    meta: tuple[str, int]
    data: tuple[str, int]
    seen: float
    lease: float
    heard: dict[bytes, _Heard] = field(default_factory=dict)
    """By entity of its writers."""
    writes: dict[bytes, str] = field(default_factory=dict)
    """Topic of those of its writers whose questions are ours."""
    reads: dict[bytes, set[bytes]] = field(default_factory=dict)
    """By entity of our writer those of its readers that match."""
    taken: dict[bytes, int] = field(default_factory=dict)
    """Number up to which our writers' samples are there."""


class Services:
    """Pairs of topics, questions and answers, for the participants of one domain."""

    def __init__(self, domain: int, pairs: dict[str, tuple[str, str, str]]) -> None:
        """`pairs`: topic of questions -> its type, topic of answers, its type."""
        self.garbled = 0
        self._prefix = OWN_VENDOR + secrets.token_bytes(10)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(BEAT)
        self._port = self._socket.getsockname()[1]
        first = 7400 + 250 * domain + 10
        self._doors = [("127.0.0.1", first + 2 * i) for i in range(PARTICIPANTS + 1)]
        self._peers: dict[bytes, _Peer] = {}
        self._questions: deque[Question] = deque(maxlen=1000)
        self._lock = threading.Lock()
        self._readers: dict[str, bytes] = {}
        """Entity of ours by topic of questions."""
        self._answers: dict[str, _Writer] = {}
        """By topic of questions."""
        self._wanted: dict[str, bytes] = {}
        """Entity of our writer by topic of answers."""
        self._publications = _Writer(_PUB_WRITER, _PUB_READER)
        self._subscriptions = _Writer(_SUB_WRITER, _SUB_READER)
        for i, (topic, (kind, reply, reply_kind)) in enumerate(pairs.items()):
            key = struct.pack(">I", i + 1)[1:]
            self._readers[topic] = key + b"\x04"
            self._answers[topic] = _Writer(key + b"\x03", _UNKNOWN)
            self._wanted[reply] = key + b"\x03"
            self._publications.add(self._endpoint(key + b"\x03", reply, reply_kind))
            self._subscriptions.add(self._endpoint(key + b"\x04", topic, kind))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="rtps", daemon=True)
        self._thread.start()

    def take(self) -> list[Question]:
        """Questions that came."""
        found = []
        while self._questions:
            found.append(self._questions.popleft())
        return found

    def answer(self, question: Question, data: bytes) -> None:
        """Tell everybody who listens to answers; the asker knows its own."""
        identity = question.asker + _number(question.number)
        related = _parameter(_RELATED, identity) + _parameter(_RELATED_FAST_DDS, identity)
        sample = bytes([6]) + related + _parameter(_SENTINEL, b"") + data
        with self._lock:
            writer = self._answers[question.topic]
            writer.add(sample)
            for peer in self._peers.values():
                if peer.reads.get(writer.entity):
                    message = writer.data(writer.last) + writer.heartbeat()
                    self._send(peer, message, peer.data)

    def close(self) -> None:
        """Leave; peers forget us when our lease is over."""
        self._over.set()
        self._thread.join(2.0)
        self._socket.close()

    # ── The thread ────────────────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        announce = beat = 0.0
        while not self._over.is_set():
            now = wall_clock.monotonic()
            if now >= announce:
                announce = now + PERIOD
                for door in self._doors:
                    self._put(self._announcement(), door)
                with self._lock:
                    self._forget(now)
            if now >= beat:
                beat = now + BEAT
                with self._lock:
                    self._remind()
            try:
                message, source = self._socket.recvfrom(65_536)
            except OSError:  # nothing came, or nobody is at one of the doors
                continue
            try:
                with self._lock:
                    self._hear(message, source)
            except (struct.error, ValueError, IndexError, KeyError):
                self.garbled += 1

    def _forget(self, now: float) -> None:
        for prefix, peer in list(self._peers.items()):
            if now > peer.seen + peer.lease:
                del self._peers[prefix]

    def _remind(self) -> None:
        """A heartbeat of every writer to everybody who has not taken all of it."""
        for peer in self._peers.values():
            for writer, place in self._told(peer):
                if peer.taken.get(writer.entity, 0) < writer.last:
                    self._send(peer, writer.heartbeat(), place)

    def _told(self, peer: _Peer) -> Iterator[tuple[_Writer, tuple[str, int]]]:
        yield self._publications, peer.meta
        yield self._subscriptions, peer.meta
        for writer in self._answers.values():
            if peer.reads.get(writer.entity):
                yield writer, peer.data

    def _hear(self, message: bytes, source: tuple[str, int]) -> None:
        if len(message) < 20 or message[:4] != b"RTPS":
            raise ValueError("no RTPS")
        vendor, prefix = message[6:8], message[8:20]
        at = 20
        for_us = True
        while at + 4 <= len(message):
            kind, flags = message[at], message[at + 1]
            (length,) = struct.unpack_from("<H" if flags & 1 else ">H", message, at + 2)
            body = message[at + 4 : at + 4 + length] if length else message[at + 4 :]
            if kind == _DESTINATION:
                for_us = body[:12] in (self._prefix, b"\0" * 12)
            elif for_us and flags & 1 and vendor in (FAST_DDS, CYCLONE_DDS):
                self._submessage(kind, flags, body, prefix)
            at += 4 + (length or len(body))

    def _submessage(self, kind: int, flags: int, body: bytes, prefix: bytes) -> None:
        if kind == _DATA:
            self._data(flags, body, prefix)
            return
        peer = self._peers.get(prefix)
        if peer is None or kind not in (_HEARTBEAT, _ACKNACK, _GAP):
            return
        reader, writer = body[:4], body[4:8]
        if kind == _HEARTBEAT:
            first, last = _read_number(body, 8), _read_number(body, 16)
            if writer in (_PUB_WRITER, _SUB_WRITER) or writer in peer.writes:
                heard = peer.heard.setdefault(writer, _Heard())
                heard.skip(heard.following, first - 1)
                own, place = self._reader_of(peer, writer)
                if not flags & 2 or heard.following <= last:
                    self._send(peer, heard.acknack(own, writer, last), place)
        elif kind == _GAP:
            start, base = _read_number(body, 8), _read_number(body, 16)
            peer.heard.setdefault(writer, _Heard()).skip(start, base - 1)
        else:
            self._acknowledged(peer, reader, writer, body)

    def _reader_of(self, peer: _Peer, writer: bytes) -> tuple[bytes, tuple[str, int]]:
        if writer == _PUB_WRITER:
            return _PUB_READER, peer.meta
        if writer == _SUB_WRITER:
            return _SUB_READER, peer.meta
        return self._readers[peer.writes[writer]], peer.data

    def _acknowledged(self, peer: _Peer, reader: bytes, writer: bytes, body: bytes) -> None:
        base = _read_number(body, 8)
        (count,) = struct.unpack_from("<I", body, 16)
        words = struct.unpack_from(f"<{min(count, 256) + 31 >> 5}I", body, 20)
        for own, place in self._told(peer):
            if own.entity != writer:
                continue
            peer.taken[writer] = max(base - 1, peer.taken.get(writer, 0))
            asked = [base + i for i in range(count) if words[i >> 5] >> (31 - i % 32) & 1]
            again = b"".join(own.data(n) for n in asked if n in own.samples)
            if again:
                self._send(peer, again + own.heartbeat(), place)

    def _data(self, flags: int, body: bytes, prefix: bytes) -> None:
        (offset,) = struct.unpack_from("<H", body, 2)
        writer, number = body[8:12], _read_number(body, 12)
        at, related = 4 + offset, None
        if flags & 2:
            parameters, at = _parameters(body, at)
            related = parameters.get(_RELATED) or parameters.get(_RELATED_FAST_DDS)
        if not flags & 4:
            return  # disposed of: its lease ends it
        data = body[at:]
        if writer == _SPDP_WRITER:
            self._participant(prefix, data)
            return
        peer = self._peers.get(prefix)
        if peer is None:
            return
        known = writer in (_PUB_WRITER, _SUB_WRITER) or writer in peer.writes
        if not known or not peer.heard.setdefault(writer, _Heard()).take(number):
            return
        if writer == _PUB_WRITER:
            self._their_writer(peer, data)
        elif writer == _SUB_WRITER:
            self._their_reader(peer, data)
        else:
            # The asker's reader stands for it where it says which that is.
            asker = related[:16] if related and any(related[:16]) else prefix + writer
            topic = peer.writes[writer]
            self._questions.append(Question(topic, data, peer.vendor, asker, number))

    def _participant(self, prefix: bytes, data: bytes) -> None:
        told, _ = _parameters(data, 4)
        vendor = told.get(_VENDOR, b"")[:2]
        if vendor not in (FAST_DDS, CYCLONE_DDS):
            return
        now = wall_clock.monotonic()
        peer = self._peers.get(prefix)
        if peer is not None:
            peer.seen = now
            return
        if len(self._peers) >= MOST_PEERS:
            return
        seconds = struct.unpack_from("<i", told.get(_LEASE, b"\x14\0\0\0"))[0]
        meta, user = (
            ("127.0.0.1", struct.unpack_from("<I", told[pid], 4)[0])
            for pid in (_META_LOCATOR, _DATA_LOCATOR)
        )
        lease = min(max(float(seconds), 1.0), LEASE)
        self._peers[prefix] = peer = _Peer(prefix, vendor, meta, user, now, lease)
        self._put(self._announcement(), peer.meta)
        for writer in (self._publications, self._subscriptions):
            described = b"".join(writer.data(n) for n in writer.samples)
            self._send(peer, described + writer.heartbeat(), peer.meta)

    def _their_writer(self, peer: _Peer, data: bytes) -> None:
        told, _ = _parameters(data, 4)
        topic = _text(told[_TOPIC])
        if topic in self._readers and len(peer.writes) < MOST_WRITERS:
            peer.writes[told[_ENDPOINT_GUID][12:16]] = topic

    def _their_reader(self, peer: _Peer, data: bytes) -> None:
        told, _ = _parameters(data, 4)
        own = self._wanted.get(_text(told[_TOPIC]))
        if own is not None:
            peer.reads.setdefault(own, set()).add(told[_ENDPOINT_GUID][12:16])
            # Who comes later hears what comes later.
            writer = next(w for w in self._answers.values() if w.entity == own)
            peer.taken.setdefault(own, writer.last)

    # ── What we say of ourselves ──────────────────────────────────────────────────────────────

    def _announcement(self) -> bytes:
        place = struct.pack("<iI", 1, self._port) + b"\0" * 12 + bytes([127, 0, 0, 1])
        described = b"\0\x03\0\0" + b"".join(
            [
                _parameter(_VERSION, b"\x02\x02\0\0"),
                _parameter(_VENDOR, OWN_VENDOR + b"\0\0"),
                _parameter(_PARTICIPANT_GUID, self._prefix + _PARTICIPANT),
                _parameter(_META_LOCATOR, place),
                _parameter(_DATA_LOCATOR, place),
                _parameter(_LEASE, struct.pack("<iI", int(LEASE), 0)),
                _parameter(_ENDPOINTS, struct.pack("<I", _BUILTIN)),
                _parameter(_SENTINEL, b""),
            ]
        )
        head = struct.pack("<HH", 0, 16) + _SPDP_READER + _SPDP_WRITER + _number(1)
        return self._header() + _submessage(_DATA, 4, head + described)

    def _endpoint(self, entity: bytes, topic: str, kind: str) -> bytes:
        reliable = struct.pack("<IiI", 2, 0, 0)
        return b"\x04\0\x03\0\0" + b"".join(
            [
                _parameter(_ENDPOINT_GUID, self._prefix + entity),
                _parameter(_PARTICIPANT_GUID, self._prefix + _PARTICIPANT),
                _parameter(_TOPIC, _string(topic)),
                _parameter(_TYPE, _string(kind)),
                _parameter(_RELIABILITY, reliable),
                _parameter(_DURABILITY, struct.pack("<I", 0)),
                _parameter(_SENTINEL, b""),
            ]
        )

    def _header(self) -> bytes:
        return b"RTPS\x02\x02" + OWN_VENDOR + self._prefix

    def _send(self, peer: _Peer, submessages: bytes, place: tuple[str, int]) -> None:
        to = _submessage(_DESTINATION, 0, peer.prefix)
        self._put(self._header() + to + submessages, place)

    def _put(self, message: bytes, place: tuple[str, int]) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendto(message, place)


def _submessage(kind: int, flags: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<BBH", kind, flags | 1, len(body)) + body


def _number(number: int) -> bytes:
    return struct.pack("<iI", number >> 32, number & 0xFFFFFFFF)


def _read_number(body: bytes, at: int) -> int:
    high, low = struct.unpack_from("<iI", body, at)
    return int(high << 32 | low)


def _parameter(pid: int, value: bytes) -> bytes:
    value += b"\0" * (-len(value) % 4)
    return struct.pack("<HH", pid, len(value)) + value


def _parameters(body: bytes, at: int) -> tuple[dict[int, bytes], int]:
    """The first of each sort, and where the list ends."""
    found: dict[int, bytes] = {}
    while True:
        pid, length = struct.unpack_from("<HH", body, at)
        at += 4
        if pid == _SENTINEL:
            return found, at
        value = body[at : at + length]
        # Of places only those of UDP and IPv4 are of use.
        if pid not in (_META_LOCATOR, _DATA_LOCATOR) or value[:4] == b"\x01\0\0\0":
            found.setdefault(pid, value)
        at += length


def _string(text: str) -> bytes:
    encoded = text.encode() + b"\0"
    return struct.pack("<I", len(encoded)) + encoded


def _text(value: bytes) -> str:
    (length,) = struct.unpack_from("<I", value)
    return value[4 : 4 + length].rstrip(b"\0").decode()
