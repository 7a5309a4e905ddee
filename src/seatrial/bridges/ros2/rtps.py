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
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from seatrial.bridges.ros2.wire import (
    ACKNACK,
    BUILTIN,
    DATA,
    DATA_LOCATOR,
    DESTINATION,
    DURABILITY,
    ENDPOINT_GUID,
    ENDPOINTS,
    GAP,
    HEARTBEAT,
    KEY_HASH,
    LEASE_DURATION,
    META_LOCATOR,
    PARTICIPANT,
    PARTICIPANT_GUID,
    PUB_READER,
    PUB_WRITER,
    RELATED,
    RELATED_FAST_DDS,
    RELIABILITY,
    SENTINEL,
    SPDP_READER,
    SPDP_WRITER,
    SUB_READER,
    SUB_WRITER,
    TOPIC,
    TYPE,
    UNKNOWN,
    VENDOR,
    VERSION,
    Heard,
    ReliableWriter,
    number_bytes,
    parameter,
    parameters,
    read_number,
    read_string,
    string_bytes,
    submessage,
)

FAST_DDS, CYCLONE_DDS = b"\x01\x0f", b"\x01\x10"
"""Vendors of those who are answered."""
OWN_VENDOR = b"\x00\x00"
PERIOD = 1.0
"""Between two announcements, s."""
LEASE = 20.0
"""A participant that says nothing for so long is taken for gone, s."""
BEAT = 0.1
"""Between two heartbeats while somebody has not taken everything, s."""
PARTICIPANTS = 50
"""Of a domain on this machine, at whose ports one announces oneself."""
MOST_PEERS = 64
MOST_ENDPOINTS = 256
"""Of one peer that write questions, and as many that read answers."""


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
class _Peer:
    """Another participant."""

    prefix: bytes
    vendor: bytes
    meta: tuple[str, int]
    data: tuple[str, int]
    lease: float
    until: float
    """When its lease is over: it is reminded of nothing then, and makes room for others. It is not
    forgotten: its own endpoints it would never tell again, should it only have been slow."""
    heard: dict[bytes, Heard] = field(default_factory=dict)
    """By entity of its writers."""
    writes: dict[bytes, str] = field(default_factory=dict)
    """Topic of those of its writers whose questions are ours."""
    reads: dict[bytes, set[bytes]] = field(default_factory=dict)
    """By entity of our writer those of its readers that match."""
    taken: dict[bytes, int] = field(default_factory=dict)
    """Number up to which our writers' samples are there."""

    def forget(self, entity: bytes) -> None:
        """One of its endpoints is gone."""
        if self.writes.pop(entity, None) is not None:
            self.heard.pop(entity, None)
        for readers in self.reads.values():
            readers.discard(entity)


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
        self._answers: dict[str, ReliableWriter] = {}
        """By topic of questions."""
        self._wanted: dict[str, bytes] = {}
        """Entity of our writer by topic of answers."""
        self._publications = ReliableWriter(PUB_WRITER, PUB_READER)
        self._subscriptions = ReliableWriter(SUB_WRITER, SUB_READER)
        for i, (topic, (kind, reply, reply_kind)) in enumerate(pairs.items()):
            key = struct.pack(">I", i + 1)[1:]
            self._readers[topic] = key + b"\x04"
            self._answers[topic] = ReliableWriter(key + b"\x03", UNKNOWN)
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
        identity = question.asker + number_bytes(question.number)
        related = parameter(RELATED, identity) + parameter(RELATED_FAST_DDS, identity)
        sample = bytes([6]) + related + parameter(SENTINEL, b"") + data
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

    def _remind(self) -> None:
        """A heartbeat of every writer to everybody who has not taken all of it."""
        now = wall_clock.monotonic()
        for peer in self._peers.values():
            if now > peer.until:
                continue
            for writer, place in self._told(peer):
                if peer.taken.get(writer.entity, 0) < writer.last:
                    self._send(peer, writer.heartbeat(), place)

    def _told(self, peer: _Peer) -> Iterator[tuple[ReliableWriter, tuple[str, int]]]:
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
            if kind == DESTINATION:
                for_us = body[:12] in (self._prefix, b"\0" * 12)
            elif for_us and flags & 1 and vendor in (FAST_DDS, CYCLONE_DDS):
                self._submessage(kind, flags, body, prefix)
            at += 4 + (length or len(body))

    def _submessage(self, kind: int, flags: int, body: bytes, prefix: bytes) -> None:
        if kind == DATA:
            self._data(flags, body, prefix)
            return
        peer = self._peers.get(prefix)
        if peer is None or kind not in (HEARTBEAT, ACKNACK, GAP):
            return
        reader, writer = body[:4], body[4:8]
        if kind == HEARTBEAT:
            first, last = read_number(body, 8), read_number(body, 16)
            if writer in (PUB_WRITER, SUB_WRITER) or writer in peer.writes:
                heard = peer.heard.setdefault(writer, Heard())
                heard.skip(heard.following, first - 1)
                own, place = self._reader_of(peer, writer)
                if not flags & 2 or heard.following <= last:
                    self._send(peer, heard.acknack(own, writer, last), place)
        elif kind == GAP:
            start, base = read_number(body, 8), read_number(body, 16)
            if writer in (PUB_WRITER, SUB_WRITER) or writer in peer.writes:
                peer.heard.setdefault(writer, Heard()).skip(start, base - 1)
        else:
            self._acknowledged(peer, reader, writer, body)

    def _reader_of(self, peer: _Peer, writer: bytes) -> tuple[bytes, tuple[str, int]]:
        if writer == PUB_WRITER:
            return PUB_READER, peer.meta
        if writer == SUB_WRITER:
            return SUB_READER, peer.meta
        return self._readers[peer.writes[writer]], peer.data

    def _acknowledged(self, peer: _Peer, reader: bytes, writer: bytes, body: bytes) -> None:
        base = read_number(body, 8)
        (count,) = struct.unpack_from("<I", body, 16)
        words = struct.unpack_from(f"<{min(count, 256) + 31 >> 5}I", body, 20)
        for own, place in self._told(peer):
            if own.entity != writer:
                continue
            peer.taken[writer] = base - 1  # less than before if it forgot us and begins anew
            asked = [base + i for i in range(count) if words[i >> 5] >> (31 - i % 32) & 1]
            again = b"".join(own.data(n) for n in asked if n in own.samples)
            if again:
                self._send(peer, again + own.heartbeat(), place)

    def _data(self, flags: int, body: bytes, prefix: bytes) -> None:
        (offset,) = struct.unpack_from("<H", body, 2)
        writer, number = body[8:12], read_number(body, 12)
        at = 4 + offset
        beside: dict[int, bytes] = {}
        if flags & 2:
            beside, at = parameters(body, at)
        data, whole = body[at:], flags & 4
        if writer == SPDP_WRITER:
            if whole:  # one that leaves is ended by its lease
                self._participant(prefix, data)
            return
        peer = self._peers.get(prefix)
        if peer is None:
            return
        known = writer in (PUB_WRITER, SUB_WRITER) or writer in peer.writes
        if not known or not peer.heard.setdefault(writer, Heard()).take(number):
            return
        if not whole:
            key = parameters(data, 4)[0].get(ENDPOINT_GUID) if flags & 8 else beside.get(KEY_HASH)
            if writer in (PUB_WRITER, SUB_WRITER) and key is not None:
                peer.forget(key[12:16])
        elif writer == PUB_WRITER:
            self._their_writer(peer, data)
        elif writer == SUB_WRITER:
            self._their_reader(peer, data)
        else:
            # The asker's reader stands for it where it says which that is.
            related = beside.get(RELATED) or beside.get(RELATED_FAST_DDS)
            asker = related[:16] if related and any(related[:16]) else prefix + writer
            topic = peer.writes[writer]
            self._questions.append(Question(topic, data, peer.vendor, asker, number))

    def _participant(self, prefix: bytes, data: bytes) -> None:
        told, _ = parameters(data, 4)
        vendor = told.get(VENDOR, b"")[:2]
        if vendor not in (FAST_DDS, CYCLONE_DDS):
            return
        now = wall_clock.monotonic()
        peer = self._peers.get(prefix)
        if peer is not None:
            peer.until = now + peer.lease
            return
        if len(self._peers) >= MOST_PEERS:
            gone = min(self._peers.values(), key=lambda p: p.until)
            if now <= gone.until:
                return
            del self._peers[gone.prefix]
        seconds = struct.unpack_from("<i", told.get(LEASE_DURATION, b"\x14\0\0\0"))[0]
        meta, user = (
            ("127.0.0.1", struct.unpack_from("<I", told[pid], 4)[0])
            for pid in (META_LOCATOR, DATA_LOCATOR)
        )
        lease = min(max(float(seconds), 1.0), LEASE)
        self._peers[prefix] = peer = _Peer(prefix, vendor, meta, user, lease, now + lease)
        self._put(self._announcement(), peer.meta)
        for writer in (self._publications, self._subscriptions):
            described = b"".join(writer.data(n) for n in writer.samples)
            self._send(peer, described + writer.heartbeat(), peer.meta)

    def _their_writer(self, peer: _Peer, data: bytes) -> None:
        told, _ = parameters(data, 4)
        topic = read_string(told[TOPIC])
        if topic in self._readers and len(peer.writes) < MOST_ENDPOINTS:
            peer.writes[told[ENDPOINT_GUID][12:16]] = topic

    def _their_reader(self, peer: _Peer, data: bytes) -> None:
        told, _ = parameters(data, 4)
        own = self._wanted.get(read_string(told[TOPIC]))
        if own is not None and sum(map(len, peer.reads.values())) < MOST_ENDPOINTS:
            peer.reads.setdefault(own, set()).add(told[ENDPOINT_GUID][12:16])
            # Who comes later hears what comes later.
            writer = next(w for w in self._answers.values() if w.entity == own)
            peer.taken.setdefault(own, writer.last)

    # ── What we say of ourselves ──────────────────────────────────────────────────────────────

    def _announcement(self) -> bytes:
        place = struct.pack("<iI", 1, self._port) + b"\0" * 12 + bytes([127, 0, 0, 1])
        described = b"\0\x03\0\0" + b"".join(
            [
                parameter(VERSION, b"\x02\x02\0\0"),
                parameter(VENDOR, OWN_VENDOR + b"\0\0"),
                parameter(PARTICIPANT_GUID, self._prefix + PARTICIPANT),
                parameter(META_LOCATOR, place),
                parameter(DATA_LOCATOR, place),
                parameter(LEASE_DURATION, struct.pack("<iI", int(LEASE), 0)),
                parameter(ENDPOINTS, struct.pack("<I", BUILTIN)),
                parameter(SENTINEL, b""),
            ]
        )
        head = struct.pack("<HH", 0, 16) + SPDP_READER + SPDP_WRITER + number_bytes(1)
        return self._header() + submessage(DATA, 4, head + described)

    def _endpoint(self, entity: bytes, topic: str, kind: str) -> bytes:
        reliable = struct.pack("<IiI", 2, 0, 0)
        return b"\x04\0\x03\0\0" + b"".join(
            [
                parameter(ENDPOINT_GUID, self._prefix + entity),
                parameter(PARTICIPANT_GUID, self._prefix + PARTICIPANT),
                parameter(TOPIC, string_bytes(topic)),
                parameter(TYPE, string_bytes(kind)),
                parameter(RELIABILITY, reliable),
                parameter(DURABILITY, struct.pack("<I", 0)),
                parameter(SENTINEL, b""),
            ]
        )

    def _header(self) -> bytes:
        return b"RTPS\x02\x02" + OWN_VENDOR + self._prefix

    def _send(self, peer: _Peer, submessages: bytes, place: tuple[str, int]) -> None:
        to = submessage(DESTINATION, 0, peer.prefix)
        self._put(self._header() + to + submessages, place)

    def _put(self, message: bytes, place: tuple[str, int]) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendto(message, place)
