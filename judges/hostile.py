"""Hostile input on every port: garbage, oversize, wrong types, floods, half-open and slow peers.

    python judges/hostile.py

Runs speak at all ports at once, the page's among them, while each of them is attacked in turn.
After every attack a friend must be served there; in the end the run must still go on. That its
recording has the same bytes as without the attack is for the tests of each bridge. The two
autopilots hold their runs, so that they have runs of their own.
"""

import contextlib
import itertools
import json
import os
import random
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

import seatrial as st
from seatrial.bridges.autopilots.ardupilot import ArduPilotBridge
from seatrial.bridges.autopilots.mavlink import MavlinkBridge
from seatrial.bridges.bridge import Bridge
from seatrial.bridges.foxglove.bridge import FoxgloveBridge
from seatrial.bridges.nmea.bridge import NmeaBridge
from seatrial.bridges.nmea.bridge2000 import Nmea2000Bridge
from seatrial.bridges.nmea.sentences import sentence
from seatrial.bridges.ros2.bridge import Ros2Bridge
from seatrial.bridges.rosbridge.bridge import RosbridgeBridge
from seatrial.bridging import run_bridged
from seatrial.viewer.roles import ROLES
from seatrial.viewing import Page, stage_of

ATTACKS = ("garbage", "oversize", "wrong type", "flood", "half-open", "slow")
DOMAIN = 87
SOON = 60.0
"""A friend is served within so long; on a busy machine that is long, s."""
NUMBERS = random.Random(7)
WRONG = [
    *(
        "[]",
        "1",
        '{"op": 5}',
        '{"op": "publish", "topic": "/otter/cmd/left", "msg": {"data": "x"}}',
    ),
    '{"op": "publish", "topic": "/otter/cmd_vel", "msg": {"linear": 3}}',
    '{"op": "subscribe", "topic": "/none"}',
    '{"type": "stick", "vehicle": "otter", "ahead": "much", "starboard": null}',
    '{"type": "explode"}',
]
"""To WebSockets."""
LINES = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n$PSTC,CHANNEL,left_rpm,many*00\r\n$GPGGA,,,*56\r\n"
HELD: list[socket.socket] = []
"""Peers that came and say nothing."""


def stream(port: int, attack: str, held: int = 8) -> None:
    """On a port of TCP; whoever is put out is content. `held` come and say nothing."""
    try:
        with socket.create_connection(("127.0.0.1", port), 10) as line:
            if attack == "garbage":
                line.sendall(NUMBERS.randbytes(20_000))
            elif attack == "oversize":
                line.sendall(b"A" * (4 << 20))
            elif attack == "wrong type":
                line.sendall(LINES)
            elif attack == "flood":
                line.sendall(b"$GPGGA,nothing*00\r\n" * 50_000)
            elif attack == "half-open":
                HELD.extend(socket.create_connection(("127.0.0.1", port), 10) for _ in range(held))
            else:
                for _ in range(40):
                    line.sendall(b"$")
                    time.sleep(0.05)
    except OSError:
        pass


def datagrams(port: int, attack: str) -> None:
    """On a port of UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        sent = {
            "garbage": [NUMBERS.randbytes(n) for n in range(300)],
            "oversize": [b"A" * 60_000] * 10,
            "wrong type": [
                LINES,
                b"RTPS\x02\x02\x01\x0f" + bytes(40),
                struct.pack("<HHI", 1, 2, 3),
            ],
            "flood": [b"$GPGGA,nothing*00\r\n"] * 20_000,
        }
        for data in sent[attack]:
            line.sendto(data, ("127.0.0.1", port))


def websocket(path: str) -> Callable[[int, str], None]:
    """On a port of TCP where a WebSocket is."""
    protocols = ["foxglove.websocket.v1"] if path == "foxglove" else None
    path = "" if path == "foxglove" else path

    def go(port: int, attack: str) -> None:
        if attack in ("garbage", "half-open", "slow"):
            stream(port, attack, held=300)
        address = f"ws://127.0.0.1:{port}/{path}"
        try:
            with connect(address, subprotocols=protocols, open_timeout=20) as line:
                if attack == "garbage":
                    for n in range(200):
                        line.send(NUMBERS.randbytes(n))
                elif attack == "oversize":
                    line.send("x" * (4 << 20))
                    line.recv(timeout=5)
                elif attack == "wrong type":
                    for text in WRONG:
                        line.send(text)
                elif attack == "flood":
                    for _ in range(3000):
                        line.send(WRONG[-1])
        except (WebSocketException, OSError, TimeoutError):
            pass

    return go


def hears(port: int) -> bool:
    """Whether a friend is told something on a port of TCP."""
    try:
        with socket.create_connection(("127.0.0.1", port), SOON) as line:
            line.settimeout(SOON)
            return bool(line.recv(100))
    except OSError:
        return False


def answers(path: str, ask: str) -> Callable[[int], bool]:
    """Whether a friend is answered on a WebSocket."""
    protocols = ["foxglove.websocket.v1"] if path == "foxglove" else None
    path = "" if path == "foxglove" else path

    def go(port: int) -> bool:
        address = f"ws://127.0.0.1:{port}/{path}"
        try:
            with connect(address, subprotocols=protocols, open_timeout=SOON) as line:
                if ask:
                    line.send(ask)
                return bool(line.recv(timeout=SOON))
        except (WebSocketException, OSError, TimeoutError):
            return False

    return go


FLOWN = itertools.count(1)
"""Frames of the autopilot."""


def flies(port: int) -> bool:
    """Whether an autopilot's outputs are answered with a state. It says them again as SITL does:
    what comes while a flood fills the socket's buffer is lost."""
    end = time.monotonic() + SOON
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(1.0)
        packet = struct.pack("<HHI16H", 18458, 10, next(FLOWN), *[1500] * 16)
        while time.monotonic() < end:
            line.sendto(packet, ("127.0.0.1", port))
            with contextlib.suppress(OSError):
                return b"timestamp" in line.recv(10_000)
    return False


def obeyed(bridge: Bridge) -> Callable[[int], bool]:
    """Whether a sentence that steers is heard."""

    def go(port: int) -> bool:
        before, end = bridge.counts["heard"], time.monotonic() + SOON
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            while bridge.counts["heard"] == before and time.monotonic() < end:
                line.sendto(sentence("PSTC,RELEASE").encode(), ("127.0.0.1", port))
                time.sleep(0.2)
        return bridge.counts["heard"] > before

    return go


def announces(domain: int) -> Callable[[int], bool]:
    """Whether the services are still announced at the first doors of a domain."""

    def go(port: int) -> bool:
        for door in range(7400 + 250 * domain + 10, 7400 + 250 * domain + 110, 2):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
                try:
                    line.bind(("127.0.0.1", door))
                except OSError:
                    continue  # somebody of the domain has it
                line.settimeout(SOON)
                for _ in range(20):
                    data, place = line.recvfrom(65_536)
                    if data[:4] == b"RTPS" and place[1] == port:
                        return True
                return False
        return False

    return go


def main(folder: Path) -> None:
    """Attack, ask, compare."""
    otter = {"name": "otter", "vehicle": "otter", "commands": {"left_rpm": 600, "right_rpm": 500}}
    described = st.Scenario(seed=5, duration=600.0, world="calm", vehicles=[otter])
    plan = st.compile_scenario(described)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        listening = free.getsockname()[1]
    nmea, can = NmeaBridge("tcp://127.0.0.1:0"), Nmea2000Bridge("tcp://127.0.0.1:0")
    udp = NmeaBridge(f"udp://127.0.0.1:9/{listening}")
    rosbridge, foxglove, ros2 = RosbridgeBridge(0), FoxgloveBridge(0), Ros2Bridge(DOMAIN)
    ardupilot, mavlink = ArduPilotBridge("0"), MavlinkBridge("0")
    page = Page(stage_of(described), "127.0.0.1", 0, {"": ROLES["operator"]})

    def running(bridges: list[Bridge], name: str) -> threading.Thread:
        out, duration = folder / f"{name}.mcap", 600.0
        made = threading.Thread(
            target=run_bridged,
            args=(plan, bridges),
            kwargs={"pace": 1.0, "out": out, "duration": duration},
            daemon=True,
        )
        made.start()
        return made

    running([nmea, can, udp, rosbridge, foxglove, ros2], "attacked")
    running([ardupilot], "ardupilot")
    running([mavlink], "mavlink")
    while not (ros2._services and nmea.counts["sent"]):  # programs are compiled meanwhile
        time.sleep(0.2)

    def port_of(bridge: Bridge) -> int:
        return int(bridge.place.replace(":", " ").split()[-1])

    topics = '{"op": "call_service", "service": "/rosapi/topics"}'
    seen = int(page.url.rstrip("/").rpartition(":")[2])
    ports = {
        "NMEA 0183, TCP": (port_of(nmea), stream, hears, nmea),
        "NMEA 0183, UDP": (listening, datagrams, obeyed(udp), udp),
        "NMEA 2000, TCP": (port_of(can), stream, hears, can),
        "rosbridge": (port_of(rosbridge), websocket(""), answers("", topics), rosbridge),
        "Foxglove": (port_of(foxglove), websocket("foxglove"), answers("foxglove", ""), foxglove),
        "ROS 2's services": (ros2._services._port, datagrams, announces(DOMAIN), ros2),
        "the page": (seen, websocket("ws"), answers("ws", ""), page.stage),
        "rosbridge of the page": (
            *(seen, websocket("rosbridge"), answers("rosbridge", topics)),
            page.stage.guests,
        ),
        "ArduPilot, UDP": (port_of(ardupilot), datagrams, flies, ardupilot),
        "MAVLink, TCP": (port_of(mavlink), stream, hears, mavlink),
    }
    table = Table("port", *ATTACKS, "counted")
    passed = True
    for name, (port, attack, served, bridge) in ports.items():
        cells = []
        for kind in ATTACKS:
            if attack is datagrams and kind in ("half-open", "slow"):
                cells.append("–")
                continue
            attack(port, kind)
            good = served(port)
            passed &= good
            cells.append("served" if good else "[red]NOT SERVED[/red]")
        counted = {k: v for k, v in bridge.counts.items() if v}
        for word in ("sent", "heard"):
            counted.pop(word, None)
        table.add_row(name, *cells, json.dumps(counted) if counted else "")
        print(name, cells, counted, flush=True)
        for line in HELD:
            line.close()
        HELD.clear()
    page.close()
    Console(width=160).print(table)
    before = nmea.counts["sent"]
    time.sleep(3.0)
    passed &= nmea.counts["sent"] > before
    print("the run goes on" if passed else "FAILED")
    os._exit(0 if passed else 1)  # the runs have no end


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="seatrial-hostile-")))
