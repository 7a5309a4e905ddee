"""A drill: an instructor breaks a thruster and lets fog come, a trainee steers by instruments."""

import asyncio
import contextlib
import json
import struct

import numpy as np
import pytest
from chromium import serving
from typer.testing import CliRunner
from websockets.asyncio.client import connect

import seatrial as st
from seatrial.cli.commands import app
from seatrial.viewer.messages import CLEAR, REQUESTS
from seatrial.viewer.roles import ROLES
from seatrial.viewing import for_drill, stage_of
from shown import SCENARIO


class Client:
    """A page, as a program: what it was told, and its states."""

    def __init__(self, line):
        self.line, self.told, self.states = line, [], []
        self.hello = None

    async def listen(self):
        with contextlib.suppress(asyncio.CancelledError):
            async for message in self.line:
                if isinstance(message, bytes):
                    self.states.append(message)
                    continue
                told = json.loads(message)
                self.told.append(told)
                self.hello = told if told["type"] == "hello" else self.hello

    async def ask(self, **request):
        await self.line.send(json.dumps(request))

    async def until(self, true, seconds=60.0):
        """Wait until something is true of it."""
        for _ in range(int(seconds / 0.02)):
            if true(self):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"never: {[m['type'] for m in self.told]}")

    def of(self, kind):
        return [m for m in self.told if m["type"] == kind]

    def part(self, name):
        """Of the last state."""
        numbers, at = np.frombuffer(self.states[-1], "<f4", offset=24), 0
        for field in self.hello["vehicles"][0]["fields"]:
            if field["name"] == name:
                return numbers[at : at + field["size"]]
            at += field["size"]
        raise KeyError(name)


@contextlib.asynccontextmanager
async def page(served, token):
    async with connect(f"ws://127.0.0.1:{served.port}/ws?token={token}") as line:
        client = Client(line)
        listening = asyncio.create_task(client.listen())
        await client.until(lambda c: c.hello is not None and c.states)
        yield client
        listening.cancel()


@pytest.fixture(scope="module")
def drilled(tmp_path_factory):
    """The recording of a drill, and what both pages saw."""
    out = tmp_path_factory.mktemp("drill") / "drill.mcap"
    stage = stage_of(for_drill(st.Scenario(**SCENARIO)), out=out)
    name = stage.hello.vehicles[0].faults[0]
    assert stage.hello.vehicles[0].faults == ["left: power_loss", "right: power_loss"]

    async def drill(served):
        async with page(served, "i") as instructor, page(served, "t") as trainee:
            await trainee.ask(type="stick", vehicle="otter", ahead=0.5, starboard=0.0)
            await trainee.until(lambda c: c.part("command")[0] == pytest.approx(0.5 * _high(c)))
            await instructor.ask(type="fault", vehicle="otter", fault=name, on=True)
            await instructor.until(lambda c: c.part("faults")[0] == 1.0)
            await trainee.ask(type="fault", vehicle="otter", fault=name, on=False)
            await trainee.ask(type="weather", visibility=5000.0)
            await trainee.ask(type="pause")
            await trainee.until(lambda c: len(c.of("refused")) == 3)
            await instructor.ask(type="weather", visibility=150.0, wave_height=1.2)
            await instructor.until(lambda c: c.of("sea"))
            await instructor.ask(type="speed", factor=20.0)
            await instructor.until(lambda c: c.of("sea")[-1]["visibility"] == pytest.approx(150.0))
            await trainee.ask(type="stick", vehicle="otter", ahead=0.5, starboard=0.0)
            await trainee.ask(type="release", vehicle="otter")
            await trainee.until(lambda c: any("given back" in e["text"] for e in c.of("event")))
            await instructor.ask(type="fault", vehicle="otter", fault=name, on=False)
            await instructor.until(lambda c: c.part("faults")[0] == 0.0)
            return instructor, trainee

    with serving(stage, instructor="i", trainee="t", watcher="w") as served:
        seen = asyncio.run(drill(served))
    assert stage.failure is None
    return out, name, *seen


def _high(client):
    return client.hello["vehicles"][0]["channels"][0]["high"]


def test_the_trainee_steers_and_is_not_told_what_was_broken(drilled):
    _, name, instructor, trainee = drilled
    assert name in instructor.hello["vehicles"][0]["faults"]
    assert set(instructor.hello["may"]) == set(REQUESTS) - {"seek"}
    assert trainee.hello["vehicles"][0]["faults"] == []
    assert trainee.hello["may"] == ["channels", "release", "stick", "waypoint"]
    assert (trainee.hello["outside"], trainee.hello["waves"]) == (False, None)
    assert (trainee.hello["weather"], trainee.hello["wind_speed"]) == (None, 0.0)
    assert trainee.of("sea") == []
    assert not any("fault" in event["text"] for event in trainee.of("event"))
    told = [(e["who"], e["vehicle"], e["text"]) for e in instructor.of("event")]
    assert ("instructor", "otter", f"fault {name}, on") in told
    for part in ("faults", "elevation", "wind", "current"):
        assert np.all(np.isnan(trainee.part(part)))
    assert np.all(np.isfinite(trainee.part("position")))
    refused = [m["text"] for m in trainee.of("refused")]
    assert refused == [
        f"the trainee may not ask for this: {what}" for what in ("fault", "weather", "pause")
    ]


def test_the_recording_tells_who_did_what_and_when(drilled):
    out, name, *_ = drilled
    acts = st.read(out).acts
    told = [(act.who, act.what, act.value) for act in acts]
    stick = {"vehicle": "otter", "ahead": 0.5, "starboard": 0.0, "dive": 0.0}
    assert told == [
        ("trainee", "stick", stick),
        ("instructor", "fault", {"vehicle": "otter", "fault": name, "on": True}),
        ("instructor", "weather", {"visibility": 150.0, "wave_height": 1.2}),
        ("instructor", "speed", {"factor": 20.0}),
        ("trainee", "release", {"vehicle": "otter"}),
        ("instructor", "fault", {"vehicle": "otter", "fault": name, "on": False}),
    ]
    times = [act.time for act in acts]
    assert times == sorted(times)
    assert times[0] > 0.0
    data = st.read(out).dataset.isel(vehicle=0)
    struck = data.time.values[data.fault.values[:, 0] > 0.5]
    period = 0.1
    assert acts[1].time <= struck[0] <= acts[1].time + 2 * period
    assert acts[5].time - period <= struck[-1] <= acts[5].time + period


def test_the_sea_of_the_recording_is_the_one_that_was_felt(drilled):
    out, *_ = drilled
    recording = st.read(out)
    stage = stage_of(out)
    data = recording.dataset.isel(vehicle=0)
    change = next(act for act in recording.acts if act.sea is not None)
    for at in (change.time - 0.5, change.time + 7.0, change.time + 13.0, change.time + 19.9):
        now = data.sel(time=at, method="nearest")
        t, (x, y, _) = float(now.time), now.position.values
        drawn = stage._seas.scene(t).elevation(x, y, t)
        assert float(drawn) == pytest.approx(float(now.wave_elevation), abs=1e-5)
    sea, _ = stage._seas.message(change.time + 30.0)
    assert sea.visibility == pytest.approx(150.0)
    assert stage._seas.message(change.time - 1.0)[0].visibility == CLEAR


def test_info_tells_the_drill(drilled):
    out, name, *_ = drilled
    shown = CliRunner().invoke(app, ["info", str(out)])
    assert shown.exit_code == 0
    assert f"instructor: fault otter, {name}, on" in shown.output
    assert "instructor: weather wave height 1.2, visibility 150" in shown.output
    assert "orders by the trainee: 1" in shown.output
    found = json.loads(CliRunner().invoke(app, ["info", str(out), "--json"]).output)
    assert [act["who"] for act in found["acts"]].count("instructor") == 4


def test_a_watcher_may_nothing_and_an_operator_everything():
    assert ROLES["watcher"].may == frozenset()
    assert ROLES["operator"].may == frozenset(REQUESTS)
    assert struct.calcsize("<dIIfI") == 24
