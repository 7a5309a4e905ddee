"""A live run on the page is the run of the engine; a recording is played back as it was."""

import json
import struct
import time

import numpy as np
import pytest

import seatrial as st
from charts import described, write
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.errors import SpecError
from seatrial.record.mcap.writer import McapRecorder
from seatrial.viewer.live import Live
from seatrial.viewer.messages import FLAGS, read_request
from seatrial.viewing import stage_of
from shown import SCENARIO


@pytest.fixture(scope="module")
def plan():
    return st.compile_scenario(st.Scenario(**SCENARIO))


@pytest.fixture(scope="module")
def engine(plan):
    with Engine(plan, stepped=True) as made:
        yield made


def shown(stage):
    """Time, run, flags and rows of the latest state."""
    message = stage.latest[1]
    at, _, run, _, flags = struct.unpack_from("<dIIfI", message)
    numbers = np.frombuffer(message, "<f4", offset=24)
    parts, found = 0, {}
    for part in stage.hello.vehicles[0].fields:
        found[part.name] = numbers[parts : parts + part.size]
        parts += part.size
    return at, run, flags, found


class Asked:
    """Does what pages ask for in the thread of the test, without a clock."""

    def __init__(self, stage):
        self.stage, self.refused = stage, []

    def __call__(self, **request):
        self.stage.ask(read_request.validate_python(request), self.refused.append)
        self.stage._hear()
        self.stage._publish()
        return shown(self.stage)


@pytest.fixture
def live(engine):
    engine.reset()
    return Live(engine, Controllers({}))


def test_steps_on_the_page_are_the_frames_of_a_run(live, plan):
    frames = st.run(plan, duration=1.0).dataset.isel(vehicle=0)
    ask = Asked(live)
    for i in range(1, 8):
        at, _, flags, found = ask(type="step")
        assert at == pytest.approx(0.1 * i)
        assert not flags & FLAGS["playing"]
        now = frames.sel(time=at, method="nearest")
        assert np.array_equal(found["position"], now.position.values.astype("f4"))
        assert np.array_equal(found["attitude"], now.attitude.values.astype("f4"))
        assert np.array_equal(found["elevation"], [now.wave_elevation.values.astype("f4")])


def test_a_stick_steers_until_it_is_given_back(live):
    ask = Asked(live)
    ask(type="stick", vehicle="otter", ahead=1.0, starboard=1.0)
    *_, found = ask(type="step")
    high = live.hello.vehicles[0].channels[0].high
    assert found["command"] == pytest.approx([high, 0.5 * high])
    ask(type="channels", vehicle="otter", values={"right": -1e6})
    *_, found = ask(type="step")
    low = live.hello.vehicles[0].channels[1].low
    assert found["command"] == pytest.approx([10.0, low])  # the left one is its timetable's again
    ask(type="release", vehicle="otter")
    *_, found = ask(type="step")
    assert found["command"] == pytest.approx([600 / 60, 500 / 60])
    told = [event.text for event in live.events]
    assert told == [
        "steered by stick from the page",
        "steered by channels from the page",
        "given back from the page",
    ]
    assert ask.refused == []


def test_what_cannot_be_obeyed_is_refused_and_changes_nothing(live):
    ask = Asked(live)
    ask(type="stick", vehicle="otter", ahead=1.0, starboard=0.0)
    ask(type="waypoint", vehicle="otter", north=10.0, east=0.0, surge=1.0)
    ask(type="stick", vehicle="nobody", ahead=1.0, starboard=0.0)
    ask(type="channels", vehicle="otter", values={"middle": 1.0})
    ask(type="fault", vehicle="otter", fault="imu: freeze", on=True)
    ask(type="seek", time=3.0)
    assert [text.split("\n")[0] for text in ask.refused] == [
        "otter.setpoint: `otter` has no autopilot to give a setpoint to",
        "there is no vehicle `nobody`",
        "`otter` has no channel `middle`",
        "there is no fault `imu: freeze` in the scenario for `otter`",
        "a live run has no timeline",
    ]
    *_, found = ask(type="step")
    assert found["command"] == pytest.approx([live.hello.vehicles[0].channels[0].high] * 2)


def test_a_reset_begins_the_same_run_again(live):
    ask = Asked(live)
    first = [ask(type="step") for _ in range(3)]
    ask(type="stick", vehicle="otter", ahead=-1.0, starboard=0.0)
    ask(type="step")
    at, run, flags, _ = ask(type="reset")
    assert (at, run) == (0.0, 2)
    assert flags & FLAGS["playing"]
    again = [ask(type="step") for _ in range(3)]
    for (a, _, _, one), (b, _, _, other) in zip(first, again, strict=True):
        assert a == b
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_wall_clock_paces_the_run(live):
    live.start()
    try:
        live.ask(read_request.validate_python({"type": "speed", "factor": 5.0}), print)
        time.sleep(0.3)
        began, before = time.monotonic(), live.time
        time.sleep(1.5)
        kept = (live.time - before) / (time.monotonic() - began)
    finally:
        live.close()
    assert live.failure is None
    assert 1.0 < kept < 6.0  # a busy machine falls behind, and never runs ahead


def test_what_is_driven_on_the_page_is_recorded(engine, tmp_path):
    engine.reset()
    out = tmp_path / "driven.mcap"
    live = Live(engine, Controllers({}), lambda: McapRecorder(out))
    ask = Asked(live)
    ask(type="stick", vehicle="otter", ahead=0.5, starboard=0.0)
    states = [ask(type="step") for _ in range(12)]
    live._finish()
    frames = st.read(out).dataset.isel(vehicle=0)
    assert frames.sizes["time"] == 13
    for at, _, _, found in states:
        now = frames.sel(time=at, method="nearest")
        assert np.allclose(found["position"], now.position.values, atol=1e-5)
        assert np.allclose(found["command"], now.command.values, rtol=1e-6)
    assert states[0][3]["command"] == pytest.approx(
        [0.5 * c.high for c in live.hello.vehicles[0].channels]
    )


def test_a_recording_is_played_back_as_it_was(plan, tmp_path):
    out = tmp_path / "run.mcap"
    frames = st.run(plan, duration=3.0, out=out).dataset.isel(vehicle=0)
    stage = stage_of(out)
    assert (stage.hello.mode, stage.hello.start, stage.hello.duration) == ("playback", 0.0, 3.0)
    assert len(stage.hello.waves.amplitude) == len(plan.scene.waves.amplitude)
    ask = Asked(stage)
    for asked, expected in ((1.23, 1.2), (0.0, 0.0), (2.0, 2.0), (99.0, 3.0)):
        at, _, flags, found = ask(type="seek", time=asked)
        assert at == pytest.approx(expected)
        assert bool(flags & FLAGS["ended"]) == (expected == 3.0)
        now = frames.sel(time=expected, method="nearest")
        for part, name in (
            ("position", "position"),
            ("attitude", "attitude"),
            ("actuators", "actuator"),
        ):
            assert np.allclose(found[part], now[name].values, atol=1e-5)
        assert np.allclose(found["velocity"][3:], now.angular_velocity.values, atol=1e-6)
    ask(type="seek", time=1.0)
    assert ask(type="step")[0] == pytest.approx(1.1)
    ask(type="stick", vehicle="otter", ahead=1.0, starboard=0.0)
    assert ask.refused[0].startswith("a recording cannot be steered")


def test_a_recording_takes_no_seed_and_no_name(tmp_path):
    with pytest.raises(SpecError, match="as it is"):
        stage_of(tmp_path / "run.mcap", seed=3)


def test_the_page_is_told_of_another_part_of_a_map_and_of_the_first_again(tmp_path):
    """The part that 4 s of a REMUS reach ends 240 m off."""
    write(tmp_path, lambda n, e: 40.0 + 0.01 * n + 0 * e)
    ahead = "commands: {propeller_rpm: 1500}"
    plan = st.compile_scenario(described(tmp_path, speed=2.5, extra=ahead))
    with Engine(plan, stepped=True) as engine:
        live = Live(engine, Controllers({}))
        first = live.hello.bottom
        while engine.time < 150.0:
            live._go(20)
        number, told = live.bottom
        assert number >= 1
        card = json.loads(told)
        assert card["type"] == "bottom"
        assert card["bottom"]["origin"] == list(live.hello.bottom.origin)
        assert live.hello.bottom.origin[0] > first.origin[0] + 50.0
        assert (live.hello.bottom.rows, live.hello.bottom.columns) == (first.rows, first.columns)
        Asked(live)(type="reset")
        assert live.hello.bottom == first
        assert live.bottom[0] == number + 1
