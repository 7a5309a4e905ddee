"""Lines of text to and from peers: by UDP, by TCP, and by a pseudo-terminal.

Nothing here waits: what a peer does not take is dropped and counted, and of what it sends at most
`MOST_BYTES` are read at a time, so that a flood delays nobody but its sender. A line that does not
end within `LONGEST` bytes is dropped, and one that ends beyond it is too.
"""

import contextlib
import os
import select
import socket
import tty
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from seatrial.errors import Problem, SpecError

LONGEST = 1024
"""Bytes of a line that is heard."""
MOST_BYTES = 65_536
"""Read from one peer in one turn."""
MOST_STALE = 64
"""Readings after which what came before the start is taken as gone."""
MOST_PEERS = 16
MOST_UNSENT = 1 << 18
"""Bytes that wait for a peer before it is given up."""


class Lines(ABC):
    """Where lines go and come from."""

    hears = True
    """Whether peers can say anything."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts

    @property
    @abstractmethod
    def place(self) -> str:
        """For people."""

    @abstractmethod
    def send(self, text: bytes) -> None:
        """Some whole lines."""

    @abstractmethod
    def receive(self) -> list[bytes]:
        """Whole lines that came, without their ends."""

    def forget(self) -> None:  # noqa: B027 a stream keeps what its peer said
        """Drop and count what came so far, where a line may be older than its reader."""

    def _forget(self) -> None:
        for _ in range(MOST_STALE):  # a flood does not keep anybody here
            found = self.receive()
            self.counts["stale"] += len(found)
            if not found:
                return

    @abstractmethod
    def waiting_on(self) -> list[int]:
        """Descriptors that become readable when something comes."""

    @abstractmethod
    def close(self) -> None:
        """Give everything back."""

    def wait(self, seconds: float) -> None:
        """Until something comes, or so long."""
        select.select(self.waiting_on(), [], [], seconds)


class _Splitter:
    """Bytes of a stream as lines."""

    def __init__(self, counts: Counter[str]) -> None:
        self._rest = b""
        self._skipping = False
        self._counts = counts

    def add(self, data: bytes) -> list[bytes]:
        *whole, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        if self._skipping and whole:  # the end of a line that was too long
            whole, self._skipping = whole[1:], False
        if len(self._rest) > LONGEST:
            self._counts["oversize"] += not self._skipping
            self._rest, self._skipping = b"", True
        lines = [line for line in whole if line and len(line) <= LONGEST]
        self._counts["oversize"] += sum(len(line) > LONGEST for line in whole)
        return lines


class UdpLines(Lines):
    """Sends every line as a datagram to one address, and hears on a port of its own."""

    def __init__(self, counts: Counter[str], host: str, port: int, listen: int | None) -> None:
        super().__init__(counts)
        self._host, self._peer = host, _found(host, port)
        # What hears is of loopback alone, from where nothing goes to other machines.
        self._ear: socket.socket | None = None
        if listen is not None:
            self._ear = listening_datagrams("::1" if ":" in host else "127.0.0.1", listen)
        self._socket = socket.socket(_family(host), socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.hears = self._ear is not None

    @property
    def place(self) -> str:
        """Where it sends to and where it hears."""
        heard = "" if self._ear is None else f", hears on port {self._ear.getsockname()[1]}"
        return f"UDP to {self._host} port {self._peer[1]}{heard}"

    def send(self, text: bytes) -> None:
        """A datagram per line."""
        for line in text.splitlines(keepends=True):
            try:
                self._socket.sendto(line, self._peer)
            except OSError:  # nobody there, or no room
                self.counts["dropped"] += 1

    def receive(self) -> list[bytes]:
        """Lines of all datagrams."""
        found: list[bytes] = []
        left = MOST_BYTES
        while self._ear is not None and left > 0:
            try:
                data = self._ear.recv(MOST_BYTES)
            except OSError:  # nothing
                break
            left -= max(len(data), 64)
            found += _Splitter(self.counts).add(data + b"\n")
        return found

    def forget(self) -> None:
        """A datagram is meant for now, whoever sent it."""
        self._forget()

    def waiting_on(self) -> list[int]:
        """What hears."""
        return [] if self._ear is None else [self._ear.fileno()]

    def close(self) -> None:
        """Close both sockets."""
        self._socket.close()
        if self._ear is not None:
            self._ear.close()


class TcpLines(Lines):
    """Listens, and speaks with everybody who comes."""

    def __init__(self, counts: Counter[str], host: str, port: int) -> None:
        super().__init__(counts)
        self._server = listening_stream(host, port, MOST_PEERS)
        self._server.setblocking(False)
        self._peers: dict[socket.socket, tuple[_Splitter, bytearray]] = {}

    @property
    def place(self) -> str:
        """Where it listens."""
        host, port = self._server.getsockname()[:2]
        return f"TCP on {host} port {port}"

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._server.accept()
            except OSError:
                return
            if len(self._peers) >= MOST_PEERS:
                self.counts["refused"] += 1
                peer.close()
                continue
            peer.setblocking(False)
            self._peers[peer] = (_Splitter(self.counts), bytearray())

    def send(self, text: bytes) -> None:
        """To everybody; one who does not read is given up."""
        self._accept()
        for peer, (_, unsent) in list(self._peers.items()):
            unsent += text
            try:
                del unsent[: peer.send(unsent)]
            except BlockingIOError:
                pass
            except OSError:
                self._leave(peer)
                continue
            if len(unsent) > MOST_UNSENT:
                self.counts["dropped"] += 1
                self._leave(peer)

    def receive(self) -> list[bytes]:
        """Lines of everybody."""
        self._accept()
        found: list[bytes] = []
        for peer, (splitter, _) in list(self._peers.items()):
            try:
                data = peer.recv(MOST_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if data:
                found += splitter.add(data)
            else:
                self._leave(peer)
        return found

    def _leave(self, peer: socket.socket) -> None:
        del self._peers[peer]
        peer.close()

    def waiting_on(self) -> list[int]:
        """All sockets."""
        return [self._server.fileno(), *(peer.fileno() for peer in self._peers)]

    def close(self) -> None:
        """Close all sockets."""
        for peer in list(self._peers):
            self._leave(peer)
        self._server.close()


class TerminalLines(Lines):
    """A pseudo-terminal, which other programs open as they open a serial port."""

    def __init__(self, counts: Counter[str], link: str) -> None:
        super().__init__(counts)
        # The device's own end stays open, so that peers may come and go.
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        os.set_blocking(self._ours, False)
        self._splitter = _Splitter(counts)
        self._link = Path(link) if link else None
        if self._link is not None:
            try:
                if self._link.is_symlink():  # of an earlier run
                    self._link.unlink()
                self._link.symlink_to(os.ttyname(self._theirs))
            except OSError as error:
                self.close()
                raise SpecError(
                    Problem(
                        f"cannot make a link at {link} ({error.strerror})",
                        value=link,
                        expected="a name in a folder that exists, of nothing that is there",
                        mend="name another one, or `pty:` alone",
                    )
                ) from None

    @property
    def place(self) -> str:
        """The device."""
        device = os.ttyname(self._theirs)
        return f"serial device {device}" if self._link is None else f"serial device {self._link}"

    def send(self, text: bytes) -> None:
        """As much as there is room for: whole lines."""
        room = select.select([], [self._ours], [], 0.0)[1]
        for line in text.splitlines(keepends=True) if room else [text]:
            try:
                if not room or os.write(self._ours, line) < len(line):
                    raise BlockingIOError
            except BlockingIOError:
                self.counts["dropped"] += 1
                return

    def receive(self) -> list[bytes]:
        """Lines that somebody wrote to the device."""
        try:
            return self._splitter.add(os.read(self._ours, MOST_BYTES))
        except OSError:
            return []

    def forget(self) -> None:
        """A serial port keeps nothing for a device that is not on yet."""
        self._forget()

    def waiting_on(self) -> list[int]:
        """Our end."""
        return [self._ours]

    def close(self) -> None:
        """Close both ends and remove the link."""
        if self._link is not None:
            with contextlib.suppress(OSError):
                if self._link.is_symlink():
                    self._link.unlink()
        os.close(self._ours)
        os.close(self._theirs)


def open_lines(address: str, counts: Counter[str]) -> Lines:
    """`udp://HOST:PORT[/LISTEN]`, `tcp://[HOST]:PORT` or `pty:[LINK]`, ready to use."""
    kind, _, rest = address.partition(":")
    if kind == "pty":
        return TerminalLines(counts, rest)
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "127.0.0.1", parts.port
        listen = int(parts.path[1:]) if parts.path.strip("/") else None
    except ValueError:
        port = None
    if kind == "udp" and port and (listen is None or 0 <= listen < 65_536):
        return UdpLines(counts, host, port, listen)
    if kind == "tcp" and port is not None and listen is None:
        return TcpLines(counts, host, port)
    raise SpecError(
        Problem(
            "this is no place to speak at",
            value=address,
            expected="`udp://HOST:PORT`, `udp://HOST:PORT/LISTEN`, `tcp://HOST:PORT` or `pty:`",
            mend="for example `tcp://127.0.0.1:10110`",
        )
    )


def listening_datagrams(host: str, port: int) -> socket.socket:
    """A UDP socket that does not wait, or a refusal."""
    made = socket.socket(_family(host), socket.SOCK_DGRAM)
    made.setblocking(False)
    _bind(made, host, port)
    return made


def listening_stream(host: str, port: int, peers: int) -> socket.socket:
    """A TCP socket that so many peers may wait at, or a refusal."""
    made = socket.socket(_family(host), socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _bind(made, host, port)
    made.listen(peers)
    return made


def _found(host: str, port: int) -> Any:
    """The address of a machine, asked for once: to ask takes time."""
    try:
        return socket.getaddrinfo(host, port, _family(host), socket.SOCK_DGRAM)[0][4]
    except (OSError, UnicodeError) as error:
        raise SpecError(
            Problem(
                f"there is no machine `{host}` ({getattr(error, 'strerror', error)})",
                value=host,
                expected="an address, or a name that this machine knows",
                mend="for example `127.0.0.1`",
            )
        ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _bind(endpoint: socket.socket, host: str, port: int) -> None:
    try:
        endpoint.bind((host, port))
    except OSError as error:
        endpoint.close()
        raise SpecError(
            Problem(
                f"cannot listen on {host} port {port} ({error.strerror})",
                value=f"{host}:{port}",
                expected="an address of this machine and a port that nobody else uses",
                mend="name another port, or `127.0.0.1` for this machine alone",
            )
        ) from None
