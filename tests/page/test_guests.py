"""rosbridge on the page's own port: roslibpy hears and drives the run that the page shows."""

import json
import threading
import time

import numpy as np
import pytest
import roslibpy
from chromium import serving
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import seatrial as st
from seatrial import viewing
from seatrial.engine.frames import Act, read_act, write_details
from seatrial.signals import RELEASE, Command
from seatrial.viewer import server
from seatrial.viewer.guests import Order
from shown import SCENARIO

ORDER = {"op": "publish", "topic": "/otter/cmd/thrusters", "msg": {"data": [0.5, 0.5]}}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page of its own, whether the real one is built or not."""
    (tmp_path / "index.html").write_text("<p>page</p>")
    monkeypatch.setattr(server, "STATIC", tmp_path)
    monkeypatch.setattr(viewing, "LINGERING", 0.0)


def shown(**more):
    return st.view(st.Scenario(**SCENARIO), **more)


def address(url):
    place, mark, token = url.replace("http", "ws").partition("?")
    return f"{place}rosbridge{mark}{token}"


def heard(line, wanted, seconds=20.0):
    """The next message for which `wanted` holds; others that go on coming hold nobody up."""
    end = time.monotonic() + seconds
    while True:
        message = json.loads(line.recv(timeout=max(end - time.monotonic(), 0.0)))
        if wanted(message):
            return message


def test_roslibpy_hears_and_drives_the_run_of_the_page(page, tmp_path):
    out, stamps, surge, answers, enough = tmp_path / "run.mcap", [], [], [], threading.Event()
    with shown(out=out) as served:
        ros = roslibpy.Ros(address(served.url))
        ros.run(timeout=20)
        order = roslibpy.Topic(ros, "/otter/cmd/thrusters", "std_msgs/Float64MultiArray")

        def hear(message):
            stamp = message["header"]["stamp"]
            stamps.append(stamp["sec"] + 1e-9 * stamp["nanosec"])
            surge.append(message["twist"]["twist"]["linear"]["x"])
            if len(stamps) == 3:
                order.publish(roslibpy.Message({"data": [0.5, 0.5]}))
            if len(stamps) == 25:
                enough.set()

        roslibpy.Topic(ros, "/otter/odometry", "nav_msgs/Odometry").subscribe(hear)
        assert enough.wait(60)
        for name in ("pause", "resume"):
            service = roslibpy.Service(ros, f"/simulation/{name}", "std_srvs/Trigger")
            answers.append(dict(service.call(roslibpy.ServiceRequest(), timeout=20)))
        ros.close()
    assert answers == [{"success": True, "message": ""}] * 2
    # Every control period was told, and is what the recording has.
    assert np.allclose(np.diff(stamps), 0.1)
    recording = st.read(out)
    data = recording.dataset.isel(vehicle=0)
    rows = np.rint(np.array(stamps) * 10).astype(int)
    held = rows < len(data.time)
    assert np.allclose(np.array(surge)[held], data.velocity.values[rows[held], 0], atol=1e-12)
    limit = data.command.values[-1] / 0.5
    assert np.allclose(limit, limit[0])
    assert limit[0] > 10.0
    acts = [(act.who, act.what) for act in recording.acts]
    assert acts == [("operator", "order"), ("operator", "pause"), ("operator", "play")]


def test_an_act_tells_what_was_given_back():
    command = Command(channels={"left": 1.0}, release=("right", "left"))
    told = {"vehicle": "otter", "release": ["left", "right"], "channels": {"left": 1.0}}
    assert Order("otter", command).value == told
    act = Act(1.0, "operator", "order", Order("otter", RELEASE).value)
    assert act.value == {"vehicle": "otter", "release": "all"}
    assert read_act(act.time, act.who, act.what, write_details(act)) == act


def test_the_sea_changes_and_a_run_begins_anew_under_a_client(page):
    with shown() as served, connect(address(served.url)) as line:
        line.send(json.dumps({"op": "subscribe", "topic": "/clock"}))
        heard(line, lambda m: m.get("topic") == "/clock" and m["msg"]["clock"]["sec"] >= 1)
        sea = {"x": 0.2, "y": 4.0, "z": 0.0}
        line.send(json.dumps({"op": "call_service", "service": "/simulation/reset"}))
        heard(line, lambda m: m.get("op") == "service_response" and m["result"])
        heard(line, lambda m: m.get("topic") == "/clock" and m["msg"]["clock"]["sec"] < 1)
        line.send(json.dumps({"op": "publish", "topic": "/simulation/set_sea_state", "msg": sea}))
        end = time.monotonic() + 60.0
        while served.stage.hello.weather.wave_height != 0.2:
            assert time.monotonic() < end
            time.sleep(0.05)
        wild = sea | {"x": 300.0}
        line.send(json.dumps({"op": "publish", "topic": "/simulation/set_sea_state", "msg": wild}))
        told = heard(line, lambda m: m.get("op") == "status")
        assert "significant height" in told["msg"]


def test_who_may_only_watch_hears_and_steers_nothing(page):
    with shown(watch_only=True) as served, connect(address(served.url)) as line:
        line.send(json.dumps({"op": "subscribe", "topic": "/otter/odometry"}))
        heard(line, lambda m: m.get("topic") == "/otter/odometry")
        line.send(json.dumps(ORDER))
        told = heard(line, lambda m: m["op"] == "status")
        assert "the watcher may not" in told["msg"]
        line.send(json.dumps({"op": "call_service", "service": "/simulation/pause"}))
        told = heard(line, lambda m: m["op"] == "service_response")
        assert told["result"] is False
        assert "the watcher may not" in told["values"]
        heard(line, lambda m: m.get("topic") == "/otter/odometry")
        assert served.stage.playing


def test_the_rules_of_the_page_hold_for_programs(page, counter):
    stage = viewing.stage_of(st.Scenario(**SCENARIO))
    with serving(stage, instructor="a", watcher="b", trainee="c") as served:
        # A trainee sees instruments only.
        known = {"?token=a": 101, "?token=b": 101, "?token=c": 403, "": 403, "?token=x": 403}
        for token, status in known.items():
            assert knock(served.url + token) == status
    with serving(counter()) as served:
        assert knock(served.url) == 403  # recordings are replayed on ROS 2's topics


def test_a_page_from_elsewhere_does_not_come_in(page):
    with shown() as served:
        assert knock(served.url, origin=served.url.rstrip("/")) == 101
        assert knock(served.url, origin="http://evil.example") == 403


def knock(url, **more):
    try:
        with connect(address(url), **more):
            return 101
    except InvalidStatus as error:
        return error.response.status_code
