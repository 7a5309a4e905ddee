"""Who is let in, who is heard, and who is waited for: nobody."""

import asyncio
import contextlib
import itertools
import json
import select
import socket
import struct
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
from chromium import serving
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from seatrial.doors import MOST_STANDING
from seatrial.viewer import server
from seatrial.viewer.roles import ROLES
from seatrial.viewing import Page


def ask(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def knock(url, **more):
    """Status with which a WebSocket is refused; 101 when it is let in."""

    async def go():
        try:
            async with connect(url.replace("http", "ws"), **more):
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    return asyncio.run(go())


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of its own, whether the real one is built or not."""
    (tmp_path / "index.html").write_text("<p>page</p>")
    monkeypatch.setattr(server, "STATIC", tmp_path)


def test_loopback_needs_no_token_and_hears_loopback_names_only(counter, page):
    with serving(counter()) as served:
        port = served.port
        assert ask(served.url) == 200
        assert ask(served.url, Host=f"localhost:{port}") == 200
        assert ask(served.url, Host="evil.example") == 403  # a name that was bound to this address
        own, other = f"http://127.0.0.1:{port}", "http://evil.example"
        assert knock(f"{served.url}ws", origin=own) == 101
        assert knock(f"{served.url}ws", origin=other) == 403
        assert knock(f"{served.url}ws", origin=f"http://127.0.0.1:{port + 1}") == 403
        assert ask(served.url, Host="[") == 403  # neither is an address at all
        assert knock(f"{served.url}ws", origin="http://[") == 403
        assert knock(f"{served.url}ws") == 101  # a program, not a page from elsewhere


def test_hundreds_that_connect_and_say_nothing_take_no_place_from_others(counter, page):
    stage = counter()
    with contextlib.ExitStack() as held:
        served = Page(stage, "127.0.0.1", 0, {"": ROLES["operator"]})
        held.callback(served.close)
        port = urlsplit(served.url).port
        silent = [
            held.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            for _ in range(300)
        ]
        assert ask(served.url) == 200
        assert knock(f"{served.url}ws") == 101
        gone, _, _ = select.select(silent, [], [], 0.0)
        assert 300 - MOST_STANDING <= len(gone) <= 302 - MOST_STANDING
        assert stage.counts["turned away"] == len(gone)


def test_a_wrong_token_is_refused(counter, page):
    stage = counter()
    with serving(stage, operator="right") as served:
        assert ask(f"{served.url}?token=right") == 200
        assert knock(f"{served.url}ws?token=right") == 101
        for wrong in ("", "?token=", "?token=wrong", "?token=right1", "?token=%C3%A9"):
            assert ask(served.url + wrong) == 403
            assert knock(f"{served.url}ws{wrong}") == 403
        assert stage.counts == {"turned away": 10}


async def spoken(url, *requests, seconds=0.6):
    """What the server says to one who asks this, by type, and its states."""
    told, states = [], []
    async with connect(url.replace("http", "ws") + "ws") as line:
        for request in requests:
            await line.send(request if isinstance(request, str | bytes) else json.dumps(request))
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                message = await asyncio.wait_for(line.recv(), left)
            except TimeoutError:
                break
            if isinstance(message, str):
                told.append(json.loads(message))
            else:
                states.append(struct.unpack_from("<dIIfI", message))
    return told, states


def test_play_pause_and_speed_are_kept(counter):
    stage = counter()
    with serving(stage) as served:
        told, states = asyncio.run(spoken(served.url))
        assert told[0]["type"] == "hello"
        assert all(b[0] > a[0] for a, b in itertools.pairwise(states))
        asyncio.run(spoken(served.url, {"type": "pause"}, seconds=0.2))
        held = stage.steps
        time.sleep(0.3)
        assert stage.steps == held
        assert not stage.playing
        fast = [{"type": "speed", "factor": 20}, {"type": "play"}]
        began = time.monotonic()
        asyncio.run(spoken(served.url, *fast, seconds=1.0))
        ratio = 0.1 * (stage.steps - held) / (time.monotonic() - began)
        assert 10.0 < ratio < 30.0


def test_nonsense_is_answered_and_harms_nobody(counter):
    stage = counter()
    with serving(stage) as served:
        bad = [
            "{",
            b"\x00\x01",
            "x" * 9000,
            '{"type": "speed", "factor": 1e9}',
            {"type": "seek", "time": 1},
        ]
        told, states = asyncio.run(spoken(served.url, *bad))
        refused = [m["text"] for m in told if m["type"] == "refused"]
        assert len(refused) == len(bad)
        assert "no timeline here" in refused
        assert len(states) > 2
        assert stage.speed == 1.0
        assert stage.obeyed == []
        assert stage.counts == {"refused": 4}  # the last one was understood


def test_more_requests_than_allowed_are_not_obeyed(counter):
    stage = counter()
    with serving(stage) as served:
        many, began = [{"type": "release", "vehicle": "a"}] * 160, time.monotonic()
        told, _ = asyncio.run(spoken(served.url, *many, seconds=0.5))
        allowed = server.BURST + server.REQUESTS_PER_SECOND * (time.monotonic() - began)
        assert server.BURST <= len(stage.obeyed) <= allowed + 1
        assert any("too many requests" in m.get("text", "") for m in told)


def test_one_who_may_only_watch_is_not_obeyed(counter):
    stage = counter()
    with serving(stage, watcher="") as served:
        told, states = asyncio.run(spoken(served.url, {"type": "pause"}))
        assert any("the watcher may not ask for this: pause" in m.get("text", "") for m in told)
        assert stage.playing
        assert states


def test_a_page_that_never_reads_is_dropped_and_slows_nobody(counter, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 1.0)
    stage = counter(numbers=500_000)  # 2 MB a state: its socket is full at once
    with serving(stage) as served, socket.create_connection(("127.0.0.1", served.port)) as dead:
        dead.sendall(
            b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        began, first = time.monotonic(), stage.steps

        async def other():
            async with connect(f"ws://127.0.0.1:{served.port}/ws", max_size=None) as line:
                while time.monotonic() - began < 4.0:
                    message = await line.recv()
                    if isinstance(message, str) and json.loads(message) == {
                        "type": "seats",
                        "viewers": 1,
                    }:
                        return True
            return False

        assert asyncio.run(other()), "the page that never reads is still there"
        kept = 0.1 * (stage.steps - first) / (time.monotonic() - began)
        assert kept > 0.8


def test_many_see_the_same(counter):
    with serving(counter()) as served:

        async def all_of_them():
            return await asyncio.gather(*(spoken(served.url, seconds=1.0) for _ in range(30)))

        seen = asyncio.run(all_of_them())
        times = {sequence: at for _, states in seen for at, sequence, *_ in states}
        for _, states in seen:
            assert len(states) > 4
            assert all(times[sequence] == at for at, sequence, *_ in states)


def test_the_run_goes_on_without_anybody(counter):
    stage = counter()
    with serving(stage) as served:
        asyncio.run(spoken(served.url, seconds=0.1))
        before = stage.steps
        time.sleep(0.5)
        assert stage.steps >= before + 3


def held(stage):
    """What of the stick was obeyed: who, and how far ahead."""
    return [(who, asked.ahead) for who, asked in stage.obeyed if asked.type == "stick"]


def test_the_stick_of_a_page_that_goes_springs_back(counter):
    """Reloaded, closed or cut off with a key held down: nobody else would let it go."""
    stage = counter()
    ahead = {"type": "stick", "vehicle": "a", "ahead": 1, "starboard": 0}
    with serving(stage) as served:
        asyncio.run(spoken(served.url, ahead, seconds=0.2))
        deadline = time.monotonic() + 10.0
        while len(held(stage)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert held(stage) == [("operator", 1.0), ("operator", 0.0)]


@pytest.mark.parametrize(
    "since",
    [
        {"type": "stick", "vehicle": "a", "ahead": 0, "starboard": 0},
        {"type": "release", "vehicle": "a"},
        {"type": "waypoint", "vehicle": "a", "north": 1, "east": 2, "surge": 1},
        {"type": "channels", "vehicle": "a", "values": {"left": 1}},
        {"type": "reset"},
    ],
    ids=lambda request: request["type"],
)
@pytest.mark.parametrize("by_another", [False, True])
def test_a_stick_that_nobody_holds_any_more_is_left_alone(counter, since, by_another):
    """Let go, given back or taken over meanwhile, by the page itself or by another one."""
    stage = counter()
    ahead = {"type": "stick", "vehicle": "a", "ahead": 1, "starboard": 0}

    async def both(url):
        async with connect(url.replace("http", "ws") + "ws") as line:
            await line.send(json.dumps(ahead))
            await asyncio.sleep(0.2)
            if by_another:
                await spoken(url, since, seconds=0.2)
            else:
                await line.send(json.dumps(since))
                await asyncio.sleep(0.2)

    with serving(stage) as served:
        asyncio.run(both(served.url))
        time.sleep(0.3)
        assert [asked.type for _, asked in stage.obeyed] == ["stick", since["type"]]


async def until_closed(line):
    with contextlib.suppress(ConnectionClosed):
        while True:
            await line.recv()


def test_a_page_comes_back_to_the_run_it_left(counter):
    stage = counter()
    with serving(stage) as served:

        async def interrupted():
            async with connect(f"ws://127.0.0.1:{served.port}/ws") as line:
                await line.recv()
                served.stop()
                await asyncio.wait_for(until_closed(line), 10.0)

        asyncio.run(interrupted())
        served.start()
        told, states = asyncio.run(spoken(served.url, seconds=0.3))
        assert told[0]["scenario"] == "counter"
        assert states[0][2] == 1
