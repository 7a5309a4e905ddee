"""Questions and answers on DDS's wire: bytes that are none, and those of nobody who is known."""

import os
import random
import socket
import struct
import time

import pytest

from seatrial.bridges.ros2.rtps import CYCLONE_DDS, FAST_DDS, Services

DOMAIN = 93
PAIR = {"rq/xRequest": ("a::srv::dds_::X_Request_", "rr/xReply", "a::srv::dds_::X_Response_")}


@pytest.fixture
def services():
    made = Services(DOMAIN, PAIR)
    yield made
    made.close()


class Peer:
    """A participant that says what it is told to, as Fast DDS would."""

    def __init__(self, services, vendor=FAST_DDS):
        self.vendor, self.prefix = vendor, vendor + os.urandom(10)
        self.line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.line.bind(("127.0.0.1", 0))
        self.line.settimeout(0.5)
        self.to = ("127.0.0.1", services._port)

    def send(self, *submessages):
        self.line.sendto(
            b"RTPS\x02\x02" + self.vendor + self.prefix + b"".join(submessages), self.to
        )

    def data(self, writer, number, payload, flags=5, inline=b""):
        head = struct.pack("<HH", 0, 16) + b"\0" * 4 + writer + struct.pack("<iI", 0, number)
        body = head + inline + payload
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<BBH", 21, flags, len(body)) + body

    def listed(self, *pairs):
        told = b"".join(struct.pack("<HH", pid, len(v)) + v for pid, v in pairs)
        return b"\0\x03\0\0" + told + struct.pack("<HH", 1, 0)

    def join(self):
        place = struct.pack("<iI", 1, self.line.getsockname()[1]) + b"\0" * 12 + b"\x7f\0\0\x01"
        told = ((0x16, self.vendor + b"\0\0"), (0x32, place), (0x31, place))
        self.send(self.data(b"\0\x01\0\xc2", 1, self.listed(*told)))

    def endpoint(self, builtin, entity, topic, number=1):
        name = topic.encode() + b"\0"
        text = struct.pack("<I", len(name)) + name + b"\0" * (-len(name) % 4)
        told = self.listed((0x5A, self.prefix + entity), (0x05, text))
        self.send(self.data(builtin, number, told))

    def heard(self, seconds=3.0):
        """Every DATA that comes: its writer and its body."""
        end, found = time.monotonic() + seconds, []
        while time.monotonic() < end:
            try:
                message = self.line.recv(65_536)
            except TimeoutError:
                continue
            at = 20
            while at + 4 <= len(message):
                kind, flags, length = struct.unpack_from("<BBH", message, at)
                body = message[at + 4 : at + 4 + length]
                if kind == 21:
                    found.append((body[8:12], flags, body[20:]))
                at += 4 + length
        return found


def wait_for(what):
    end = time.monotonic() + 20.0
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def following(peer, writer):
    return peer.heard[writer].following if writer in peer.heard else 1


def test_a_question_is_heard_once_and_its_answer_names_it(services):
    peer = Peer(services)
    peer.join()
    wait_for(lambda: services._peers)
    peer.endpoint(b"\0\0\x03\xc2", b"\0\0\x11\x03", "rq/xRequest")
    peer.endpoint(b"\0\0\x04\xc2", b"\0\0\x12\x04", "rr/xReply")
    wait_for(lambda: services._peers and services._peers[peer.prefix].reads)
    question = b"\0\x01\0\0\x07\0\0\0"
    for _ in range(3):
        peer.send(peer.data(b"\0\0\x11\x03", 1, question))
    (heard,) = wait_for(services.take)
    assert (heard.topic, heard.data, heard.vendor) == ("rq/xRequest", question, FAST_DDS)
    assert (heard.asker, heard.number) == (peer.prefix + b"\0\0\x11\x03", 1)
    services.answer(heard, b"\0\x01\0\0\x01\0\0\0")
    answers = [body for writer, flags, body in peer.heard() if writer[3] == 3 and flags & 2]
    identity = heard.asker + struct.pack("<iI", 0, 1)
    assert answers
    assert struct.pack("<HH", 0x0083, 24) + identity in answers[0]
    assert answers[0].endswith(b"\0\x01\0\0\x01\0\0\0")
    assert not services.take()


def test_a_peer_that_was_silent_for_longer_than_its_lease_asks_again(services):
    """On a busy machine it is slow, not gone, and never tells of its endpoints again."""
    peer = Peer(services)
    peer.join()
    wait_for(lambda: services._peers)
    peer.endpoint(b"\0\0\x03\xc2", b"\0\0\x11\x03", "rq/xRequest")
    wait_for(lambda: services._peers[peer.prefix].writes)
    services._peers[peer.prefix].until = 0.0
    time.sleep(1.2)  # longer than the time between two announcements
    peer.join()
    peer.send(peer.data(b"\0\0\x11\x03", 1, b"\0\x01\0\0\x07\0\0\0"))
    assert wait_for(services.take)


def test_a_peer_that_forgot_us_is_told_of_our_endpoints_again(services):
    peer = Peer(services)
    peer.join()
    wait_for(lambda: services._peers)

    def acknowledge(base):
        body = b"\0\0\x03\xc7\0\0\x03\xc2" + struct.pack("<iIIi", 0, base, 0, 1)
        peer.send(struct.pack("<BBH", 6, 3, len(body)) + body)

    acknowledge(2)
    taken = lambda: services._peers[peer.prefix].taken.get(b"\0\0\x03\xc2")  # noqa: E731
    wait_for(lambda: taken() == 1)
    acknowledge(1)
    wait_for(lambda: taken() == 0)


def test_who_is_gone_makes_room_for_others(services):
    for _ in range(64):
        Peer(services).join()
    wait_for(lambda: len(services._peers) == 64)
    late = Peer(services)
    late.join()
    time.sleep(0.2)
    assert late.prefix not in services._peers
    next(iter(services._peers.values())).until = 0.0
    late.join()
    wait_for(lambda: late.prefix in services._peers)


def joined(services):
    """A peer, and what is known of it."""
    peer = Peer(services)
    peer.join()
    wait_for(lambda: services._peers)
    return peer, services._peers[peer.prefix]


def test_an_endpoint_that_is_gone_is_forgotten_and_the_next_one_is_heard(services):
    """Nobody asked for its end again and again, and who makes a client for each call goes on."""
    peer, known = joined(services)
    for i in range(300):
        entity = struct.pack(">I", 0x1103 + 0x100 * i)
        peer.endpoint(b"\0\0\x03\xc2", entity, "rq/xRequest", 2 * i + 1)
        key = struct.pack("<HH", 0x70, 16) + peer.prefix + entity + struct.pack("<HH", 1, 0)
        peer.send(peer.data(b"\0\0\x03\xc2", 2 * i + 2, b"", flags=3, inline=key))
        if i % 50 == 49:
            wait_for(lambda i=i: following(known, b"\0\0\x03\xc2") == 2 * i + 3)
    assert not known.writes
    peer.endpoint(b"\0\0\x03\xc2", b"\0\0\x11\x03", "rq/xRequest", 601)
    wait_for(lambda: known.writes)


def test_a_peer_of_endless_endpoints_takes_no_endless_memory(services):
    peer, known = joined(services)
    for i in range(400):
        entity = struct.pack(">I", 0x1104 + 0x100 * i)
        peer.endpoint(b"\0\0\x04\xc2", entity, "rr/xReply", i + 1)
        body = b"\0" * 4 + entity + struct.pack("<iIiI", 0, 1, 0, 2) + bytes(4)
        peer.send(struct.pack("<BBH", 8, 1, len(body)) + body)  # GAP of a writer that is not known
        if i % 50 == 49:
            wait_for(lambda i=i: following(known, b"\0\0\x04\xc2") == i + 2)
    assert sum(map(len, known.reads.values())) <= 256
    assert len(known.heard) <= 2


def test_garbage_and_strangers_are_outlived(services):
    peer, stranger = Peer(services), Peer(services, b"\x01\x23")
    numbers = random.Random(3)
    for n in range(300):
        peer.line.sendto(numbers.randbytes(n), peer.to)
        peer.send(numbers.randbytes(n))
        peer.send(struct.pack("<BBH", numbers.choice((6, 7, 8, 21)), 7, n) + numbers.randbytes(n))
    stranger.join()
    peer.endpoint(b"\0\0\x03\xc2", b"\0\0\x11\x03", "rq/xRequest")  # of nobody who has joined
    time.sleep(0.3)
    assert services.garbled > 100
    assert stranger.prefix not in services._peers
    for _ in range(200):  # more participants than are served
        Peer(services, CYCLONE_DDS).join()
    time.sleep(0.3)
    assert len(services._peers) <= 64
    assert services._thread.is_alive()
