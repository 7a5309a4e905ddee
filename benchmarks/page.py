"""What the server of the page bears: rate and delay of states, many viewers, hostile ones; JSON.

The server runs in this process, its clients in another one, so that neither waits for the other's
interpreter. Every measurement has a live run of its own, of vessels in a sea state 4 with a frame
every 16 ms (62.5 a second; the page gets at most 60).

states   one client: states a second, and the delay from a state's making to its arrival
viewers  many clients: states a second of each, the pace that the run keeps, and the memory of the
         server over the time
dead     a client that never reads: how long until it is dropped, beside one that reads
hostile  garbage, oversize, floods and half-open connections: the pace that the run keeps
start    `seatrial view demo`, the second time: from the command to the first picture in a headless
         Chromium (needs `make browser`)

    python benchmarks/page.py --only states viewers --viewers 100 --seconds 600
"""

import argparse
import asyncio
import contextlib
import json
import os
import resource
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HEAD = struct.Struct("<dIIfI")
PERIOD = 0.016


# ── Clients, in a process of their own ─────────────────────────────────────────────────────────


async def watch(url: str, seconds: float, delays: bool) -> dict[str, Any]:
    """States that one client gets; the time at which each was made is told by the clock."""
    from websockets.asyncio.client import connect

    count, bytes_, late, lost, seats = 0, 0, [], False, []
    began = time.monotonic()
    first = last = 0.0
    end = time.monotonic() + seconds
    try:
        async with connect(url, max_size=None) as line:
            while time.monotonic() < end:
                message = await asyncio.wait_for(line.recv(), 10.0)
                if isinstance(message, bytes):
                    now = time.clock_gettime(time.CLOCK_MONOTONIC)
                    first, last, count = first or now, now, count + 1
                    bytes_ += len(message)
                    if delays:
                        late.append((HEAD.unpack_from(message)[1], now))
                elif '"type":"seats"' in message:
                    seats.append((time.monotonic() - began, json.loads(message)["viewers"]))
    except Exception as error:
        lost = f"{type(error).__name__}: {error}"
    rate = (count - 1) / (last - first) if count > 1 else 0.0
    found = {"states": count, "rate": rate, "bytes": bytes_, "lost": lost, "late": late}
    return {**found, "seats": seats}


async def watch_all(url: str, viewers: int, seconds: float) -> None:
    found = await asyncio.gather(*(watch(url, seconds, viewers == 1) for _ in range(viewers)))
    print(json.dumps(found), flush=True)


async def annoy(url: str, seconds: float) -> None:
    """Everything that a client should not do."""
    from websockets.asyncio.client import connect

    async def flood() -> int:
        sent = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(Exception):
                async with connect(url, max_size=None) as line:
                    while time.monotonic() < end:
                        for text in (
                            "{",
                            "x" * 9000,
                            '{"type":"pause"',
                            '{"type":"seek","time":1}',
                        ):
                            await line.send(text)
                            sent += 1
                        await line.send(os.urandom(2000))
                        with contextlib.suppress(asyncio.TimeoutError):
                            await asyncio.wait_for(line.recv(), 0.001)
        return sent

    async def oversize() -> int:
        times = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(Exception):
                async with connect(url, max_size=None) as line:
                    await line.send("y" * 4_000_000)
                    await line.recv()
            times += 1
            await asyncio.sleep(0.05)
        return times

    async def half_open() -> int:
        host, port = url.removeprefix("ws://").split("/")[0].split(":")
        held = []
        for i in range(200):
            with contextlib.suppress(OSError):
                one = socket.create_connection((host, int(port)), 1.0)
                one.sendall(
                    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n" if i % 2 else b"\x16\x03\x01"
                )
                held.append(one)
            await asyncio.sleep(0.01)
        await asyncio.sleep(max(0.0, seconds - 2.0))
        for one in held:
            one.close()
        return len(held)

    sent, large, half = await asyncio.gather(flood(), oversize(), half_open())
    print(json.dumps({"requests": sent, "oversize": large, "half_open": half}), flush=True)


def child(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "page.py"), "--client", *(str(a) for a in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate()
    return json.loads(out.splitlines()[-1])


# ── The server ──────────────────────────────────────────────────────────────────────────────────


def served(vehicles: int) -> Any:
    """The page of a live run."""
    import seatrial as st

    vessel = {
        "name": "otter",
        "vehicle": "otter",
        "count": vehicles,
        "formation": "grid",
        "spacing": 20.0,
        "start": {"speed": 1.0},
        "commands": {"left_rpm": 600, "right_rpm": 600},
    }
    scenario = st.Scenario(
        name="bench",
        seed=1,
        duration=36000.0,
        world="sea-state-4",
        frame_period=PERIOD,
        control_period=PERIOD,
        vehicles=[vessel],
    )
    return st.view(scenario)


class Watching:
    """Pace of a run and memory of this process, while something goes on."""

    def __init__(self, stage: Any) -> None:
        self.stage, self._over = stage, threading.Event()
        self.memory: list[float] = []
        self._began, self._time = time.monotonic(), stage.time
        self._busy = (time.process_time(), self._stage_busy())
        threading.Thread(target=self._work, daemon=True).start()

    def _stage_busy(self) -> float:
        """Processor time of the thread that runs the stage, s."""
        return time.clock_gettime(time.pthread_getcpuclockid(self.stage._thread.ident))

    def _work(self) -> None:
        while not self._over.wait(0.5):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.memory.append(pages * resource.getpagesize() / 1e6)

    def found(self) -> dict[str, Any]:
        """What was seen up to now."""
        self._over.set()
        wall = time.monotonic() - self._began
        pace = (self.stage.time - self._time) / wall
        tenth = max(1, len(self.memory) // 10)
        return {
            "pace": round(pace, 4),
            "cores_busy": round((time.process_time() - self._busy[0]) / wall, 3),
            "cores_busy_with_the_run": round((self._stage_busy() - self._busy[1]) / wall, 3),
            "memory_first_MB": round(statistics.mean(self.memory[tenth : 2 * tenth] or [0]), 1),
            "memory_last_MB": round(statistics.mean(self.memory[-tenth:] or [0]), 1),
            "seconds": round(time.monotonic() - self._began, 1),
        }


def address(page: Any) -> str:
    return page.url.replace("http", "ws") + "ws"


def states(vehicles: int, seconds: float) -> dict[str, Any]:
    with served(vehicles) as page:
        made: dict[int, float] = {}
        publish = page.stage._publish

        def noted() -> None:
            publish()
            made[page.stage.latest[0]] = time.clock_gettime(time.CLOCK_MONOTONIC)

        page.stage._publish = noted
        time.sleep(1.0)
        process = child("watch", address(page), 1, seconds)
        watching = Watching(page.stage)
        (found,) = answer(process)
        pace = watching.found()
        late = sorted(1e3 * (at - made[n]) for n, at in found["late"] if n in made)
        return {
            "vehicles": vehicles,
            "bytes": round(found["bytes"] / max(found["states"], 1)),
            "states_per_second": round(found["rate"], 1),
            "delay_ms": {
                name: round(late[min(int(q * len(late)), len(late) - 1)], 2)
                for name, q in (("median", 0.5), ("p99", 0.99), ("most", 1.0))
            },
            **pace,
        }


def viewers(vehicles: int, count: int, seconds: float) -> dict[str, Any]:
    with served(vehicles) as page:
        time.sleep(1.0)
        process = child("watch", address(page), count, seconds)
        watching = Watching(page.stage)
        found = answer(process)
        rates = [one["rate"] for one in found]
        return {
            "vehicles": vehicles,
            "viewers": count,
            "lost": [one["lost"] for one in found if one["lost"]],
            "states_per_second": {
                "least": round(min(rates), 1),
                "mean": round(statistics.mean(rates), 1),
            },
            "MB_per_second": round(sum(one["bytes"] for one in found) / seconds / 1e6, 1),
            **watching.found(),
        }


def dead(vehicles: int) -> dict[str, Any]:
    with served(vehicles) as page:
        port = int(page.url.rsplit(":", 1)[1].rstrip("/"))
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            silent.connect(("127.0.0.1", port))
            silent.sendall(
                b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            process = child("watch", address(page), 1, 30.0)
            watching = Watching(page.stage)
            (found,) = answer(process)
        alone = [at for at, count in found["seats"] if count == 1]
        return {
            "seats": [(round(at, 1), count) for at, count in found["seats"]],
            "dropped_after_s": round(alone[0], 1) if alone else None,
            "other": round(found["rate"], 1),
            **watching.found(),
        }


def hostile(vehicles: int, seconds: float) -> dict[str, Any]:
    with served(vehicles) as page:
        time.sleep(1.0)
        bad = child("annoy", address(page), seconds)
        process = child("watch", address(page), 1, seconds)
        watching = Watching(page.stage)
        (found,) = answer(process)
        pace = watching.found()
        return {
            "sent": answer(bad),
            "other": round(found["rate"], 1),
            "alive": page.stage.failure is None,
            **pace,
        }


def start() -> dict[str, Any]:
    """From the command to the first picture, first and second time."""
    sys.path.append(str(HERE.parent / "tests" / "browser"))
    from chromium import Chromium

    browser, found = Chromium(), []
    try:
        for i in range(3):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            began = time.monotonic()
            command = ["-m", "seatrial", "view", "demo", "--no-browser", "--port", str(port)]
            process = subprocess.Popen(
                [sys.executable, *command], stdout=subprocess.PIPE, text=True
            )
            try:
                assert process.stdout is not None
                url = process.stdout.readline().split()[0]
                answered = time.monotonic() - began
                busy = _busy(process.pid)
                browser("open", f"p{i}", url=f"{url}?quality=lowest")
                browser.ready(f"p{i}")
                found.append(
                    {
                        "address_s": round(answered, 2),
                        "processor_s": round(busy, 2),
                        "picture_s": round(time.monotonic() - began, 2),
                    }
                )
                browser("close", f"p{i}")
            finally:
                process.terminate()
                process.wait(20)
    finally:
        browser.quit()
    return {"starts": found}


def _busy(pid: int) -> float:
    """Processor time of a process, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("states", "viewers", "dead", "hostile", "start")
    options.add_argument("--only", nargs="*", choices=parts, default=parts)
    options.add_argument("--vehicles", type=int, default=50)
    options.add_argument("--viewers", type=int, default=100)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--client", nargs="*", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.client:
        kind, url, *numbers = asked.client
        if kind == "watch":
            asyncio.run(watch_all(url, int(numbers[0]), float(numbers[1])))
        else:
            asyncio.run(annoy(url, float(numbers[0])))
        return
    few, n = min(asked.seconds, 20.0), asked.vehicles
    made = {
        "states": lambda: states(n, few),
        "viewers": lambda: viewers(n, asked.viewers, asked.seconds),
        "dead": lambda: dead(n),
        "hostile": lambda: hostile(n, few),
        "start": start,
    }
    found = {part: made[part]() for part in parts if part in asked.only}
    found["machine"] = {"cores": os.cpu_count(), "load": os.getloadavg()[0]}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
