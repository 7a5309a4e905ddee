"""Lines over UDP, TCP and a pseudo-terminal, and peers that behave badly."""

import contextlib
import os
import socket
import time
import tty
from collections import Counter

import pytest

from seatrial.bridges.lines import LONGEST, MOST_PEERS, MOST_UNSENT, open_lines
from seatrial.errors import SpecError


@pytest.fixture
def opened():
    """Opens places, and closes them."""
    with contextlib.ExitStack() as stack:

        def make(address):
            lines = open_lines(address, Counter())
            stack.callback(lines.close)
            return lines

        yield make


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


def heard(lines, count=1, patience=5.0):
    found, until = [], time.monotonic() + patience
    while len(found) < count and time.monotonic() < until:
        lines.wait(0.05)
        found += lines.receive()
    return found


def test_udp_goes_both_ways(opened):
    port, listen = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_DGRAM)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", port))
        peer.settimeout(5.0)
        lines = opened(f"udp://127.0.0.1:{port}/{listen}")
        lines.send(b"one\r\ntwo\r\n")
        assert [peer.recv(100), peer.recv(100)] == [b"one\r\n", b"two\r\n"]
        peer.sendto(b"three\r\nfour\r\n", ("127.0.0.1", listen))
        assert heard(lines, 2) == [b"three", b"four"]


def test_udp_that_hears_on_loopback_speaks_to_other_machines(opened):
    """A socket of loopback cannot send to elsewhere; TEST-NET-1 is nobody's (RFC 5737)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.sendto(b"", ("192.0.2.77", 9))
        except OSError:
            pytest.skip("this machine has no way to other machines")
    lines = opened("udp://192.0.2.77:10110/0")
    lines.send(b"hello\r\n")
    assert not lines.counts["dropped"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.sendto(b"steer\r\n", ("127.0.0.1", int(lines.place.split()[-1])))
    assert heard(lines) == [b"steer"]


def test_udp_reaches_everybody_where_the_place_is_a_broadcast_address(opened):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.255.255.255", 0))
        peer.settimeout(5.0)
        lines = opened(f"udp://127.255.255.255:{peer.getsockname()[1]}")
        lines.send(b"all\r\n")
        assert peer.recv(100) == b"all\r\n"


def test_a_machine_that_is_not_known_is_refused():
    with pytest.raises(SpecError, match=r"no\.such\.machine"):
        open_lines("udp://no.such.machine.invalid:10110", Counter())


def test_udp_to_nobody_costs_nothing(opened):
    lines = opened(f"udp://127.0.0.1:{free_port(socket.SOCK_DGRAM)}")
    for _ in range(50):
        lines.send(b"hello\r\n")
    assert lines.receive() == []


def test_tcp_speaks_with_everybody_and_puts_lines_together(opened):
    port = free_port()
    lines = opened(f"tcp://127.0.0.1:{port}")
    with socket.create_connection(("127.0.0.1", port)) as one:
        with socket.create_connection(("127.0.0.1", port)) as two:
            lines.wait(1.0)
            lines.receive()
            lines.send(b"all\r\n")
            for peer in (one, two):
                peer.settimeout(5.0)
                assert peer.recv(100) == b"all\r\n"
            one.sendall(b"half ")
            assert heard(lines, 1, 0.1) == []
            two.sendall(b"whole\n")
            one.sendall(b"a line\r\n")
            assert sorted(heard(lines, 2)) == [b"half a line", b"whole"]
        lines.send(b"still\r\n")  # one has left
        assert one.recv(100) == b"still\r\n"


def test_a_terminal_is_a_serial_port(tmp_path):
    lines = open_lines(f"pty:{tmp_path / 'gps'}", Counter())
    assert str(tmp_path / "gps") in lines.place
    device = os.open(tmp_path / "gps", os.O_RDWR | os.O_NOCTTY)
    try:
        tty.setraw(device)
        lines.send(b"$A*41\r\n")
        assert os.read(device, 100) == b"$A*41\r\n"
        os.write(device, b"$B*42\n")
        assert heard(lines) == [b"$B*42"]
    finally:
        os.close(device)
    lines.close()
    assert not os.path.lexists(tmp_path / "gps")


def test_a_terminal_that_nobody_reads_fills_up_and_drops(opened):
    lines = opened("pty:")
    for _ in range(3000):
        lines.send(b"0123456789" * 8 + b"\r\n")
    assert lines.counts["dropped"] > 0


def test_lines_without_end_are_dropped_and_the_next_is_heard(opened):
    port = free_port()
    lines = opened(f"tcp://127.0.0.1:{port}")
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(b"x" * (20 * LONGEST) + b"\nnext\n" + b"y" * (LONGEST + 1) + b"\nlast\n")
        assert heard(lines, 2) == [b"next", b"last"]
    assert lines.counts["oversize"] == 2


def test_who_does_not_read_is_given_up_and_others_are_not(opened):
    port = free_port()
    lines = opened(f"tcp://127.0.0.1:{port}")
    with (
        socket.create_connection(("127.0.0.1", port)) as deaf,
        socket.create_connection(("127.0.0.1", port)) as good,
    ):
        good.setblocking(False)
        taken = 0
        for _ in range(400):
            lines.send(b"z" * 65_535 + b"\n")
            with contextlib.suppress(BlockingIOError):
                while True:
                    taken += len(good.recv(1 << 20))
        assert lines.counts["dropped"] == 1
        assert taken > 50 * MOST_UNSENT
        assert deaf.fileno() > 0


def test_too_many_peers_are_refused(opened):
    port = free_port()
    lines = opened(f"tcp://127.0.0.1:{port}")
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_PEERS + 3):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            lines.receive()
    assert lines.counts["refused"] == 3


@pytest.mark.parametrize(
    "address",
    ["", "here", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "udp://127.0.0.1:0", "tcp://:1/2",
     "udp://127.0.0.1:5/x", "udp://127.0.0.1:5/70000", "pty:/no/such/folder/gps"],
)  # fmt: skip
def test_what_is_no_place_is_refused(address):
    with pytest.raises(SpecError, match="expected"):
        open_lines(address, Counter())


def test_a_port_that_is_taken_is_refused(opened):
    port = free_port()
    opened(f"tcp://127.0.0.1:{port}")
    with pytest.raises(SpecError, match=f"port {port}"):
        open_lines(f"tcp://127.0.0.1:{port}", Counter())
