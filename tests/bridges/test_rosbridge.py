"""rosbridge with roslibpy, and with clients that behave badly."""

import base64
import contextlib
import json
import math
import select
import socket
import threading
import time

import cbor2
import numpy as np
import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

import seatrial as st
from seatrial.bridges.rosbridge.bridge import RosbridgeBridge
from seatrial.bridges.rosbridge.cbor import decoded
from seatrial.bridges.rosbridge.session import RosbridgeSession
from seatrial.bridging import setting_of
from seatrial.doors import MOST_STANDING
from seatrial.engine.frames import RunSummary
from seatrial.errors import SpecError
from seatrial.ros.commands import MessageError
from seatrial.ros.layout import TypeStore
from seatrial.ros.plain import as_plain, from_plain

STORE = TypeStore()


def port_of(bridge):
    return int(bridge.place.rpartition(":")[2])


class House:
    """Topics without a run."""

    def __init__(self):
        self.taken = []
        self.topics = {"/x": "std_msgs/msg/Float64"}
        self.inputs = {"/cmd": "std_msgs/msg/Float64"}
        self.kept = {"/x": number(7.0)}

    def take(self, topic, message):
        self.taken.append((topic, message.data))

    def call(self, service, arguments, answer):
        if service != "/pause":
            raise MessageError("no such service")
        answer(True, {"success": True, "message": ""})


def number(x):
    return STORE.serialise("std_msgs/msg/Float64", lambda f: f.make("std_msgs/msg/Float64", x))


def test_a_number_that_is_none_is_not_zero():
    """A client that sends no number, or null for NaN as JSON has it, does not order a stop."""
    house = House()
    session = RosbridgeSession(house, STORE)
    assert "msg" in session.receive('{"op": "publish", "topic": "/cmd"}')
    assert session.receive('{"op": "publish", "topic": "/cmd", "msg": null}')
    assert house.taken == []
    assert session.receive('{"op": "publish", "topic": "/cmd", "msg": {"data": null}}') == ""
    assert math.isnan(house.taken[0][1])  # whom it would steer refuses it
    for kind, data in (("String", {"data": None}), ("Bool", {"data": None})):
        with pytest.raises(MessageError):
            from_plain(STORE, f"std_msgs/msg/{kind}", data)


def test_subscribing_gives_what_was_kept_and_then_everything_in_order():
    session = RosbridgeSession(House(), STORE)
    assert session.receive('{"op": "subscribe", "topic": "/x", "type": "std_msgs/Float64"}') == ""
    for i in range(3):
        session.deliver("/x", 0.0, number(float(i)))
    found = [json.loads(m) for m in session.outgoing()]
    assert [m["msg"]["data"] for m in found] == [7.0, 0.0, 1.0, 2.0]
    assert {m["topic"] for m in found} == {"/x"}
    session.receive('{"op": "unsubscribe", "topic": "/x"}')
    session.deliver("/x", 0.0, number(9.0))
    assert session.outgoing() == []


def test_parts_of_a_client_s_program_subscribe_and_unsubscribe_on_their_own():
    """Two Topics of roslibjs or roslibpy with one name: the first to go leaves the other one."""
    session = RosbridgeSession(House(), STORE)
    session.receive('{"op": "subscribe", "topic": "/x", "id": "a", "throttle_rate": 100000}')
    session.receive('{"op": "subscribe", "topic": "/x", "id": "b"}')
    session.outgoing()
    for i in range(2):
        session.deliver("/x", 0.0, number(float(i)))
    assert [json.loads(m)["msg"]["data"] for m in session.outgoing()] == [0.0, 1.0]
    session.receive('{"op": "unsubscribe", "topic": "/x", "id": "a"}')
    session.deliver("/x", 0.0, number(5.0))
    assert [json.loads(m)["msg"]["data"] for m in session.outgoing()] == [5.0]
    session.receive('{"op": "subscribe", "topic": "/x", "id": "c"}')
    session.receive('{"op": "unsubscribe", "topic": "/x"}')  # without an id: all of them
    assert session.wanted == set()


def test_a_throttled_topic_gives_the_newest_and_a_short_queue_drops_the_oldest():
    session = RosbridgeSession(House(), STORE)
    session.receive('{"op": "subscribe", "topic": "/x", "throttle_rate": 100000}')
    for i in range(3):
        session.deliver("/x", 0.0, number(float(i)))
    assert [json.loads(m)["msg"]["data"] for m in session.outgoing()] == [2.0]
    session.deliver("/x", 0.0, number(5.0))
    assert session.outgoing() == []  # not yet
    session.receive('{"op": "subscribe", "topic": "/x", "queue_length": 2}')
    for i in range(5):
        session.deliver("/x", 0.0, number(float(i)))
    assert [json.loads(m)["msg"]["data"] for m in session.outgoing()] == [3.0, 4.0]
    assert session.dropped == 4


def test_fragments_go_out_and_come_in():
    house = House()
    session = RosbridgeSession(house, STORE)
    session.receive('{"op": "subscribe", "topic": "/x", "fragment_size": 20}')
    parts = [json.loads(m) for m in session.outgoing()]
    assert len(parts) > 1
    assert [p["num"] for p in parts] == list(range(parts[0]["total"]))
    assert json.loads("".join(p["data"] for p in parts))["msg"] == {"data": 7.0}
    text = '{"op": "publish", "topic": "/cmd", "msg": {"data": 4.5}}'
    for i in (2, 0, 1):
        part = {
            "op": "fragment",
            "id": "a",
            "num": i,
            "total": 3,
            "data": text[20 * i : 20 * i + 20],
        }
        assert session.receive(json.dumps(part)) == ""
    assert house.taken == [("/cmd", 4.5)]


def test_cbor_both_ways():
    house = House()
    session = RosbridgeSession(house, STORE)
    ask = {"op": "subscribe", "topic": "/x", "compression": "cbor"}
    assert session.receive(cbor2.dumps(ask)) == ""
    assert cbor2.loads(session.outgoing()[0])["msg"] == {"data": 7.0}
    session.receive(cbor2.dumps({"op": "publish", "topic": "/cmd", "msg": {"data": 2}}))
    assert house.taken == [("/cmd", 2.0)]
    session.receive(json.dumps(ask | {"compression": "cbor-raw"}))
    assert cbor2.loads(session.outgoing()[0])["msg"]["bytes"] == number(7.0)
    session.receive(cbor2.dumps({"op": "call_service", "service": "/pause", "id": "1"}))
    answer = cbor2.loads(session.outgoing()[0])
    assert (answer["op"], answer["result"], answer["id"]) == ("service_response", True, "1")


@pytest.mark.parametrize(
    "data",
    [
        *("", "{", "[]", "1", '"x"', "{}", '{"op": 1}', '{"op": "png"}', '{"op": "publish"}'),
        *('{"op": "subscribe", "topic": "/none"}', '{"op": "subscribe", "topic": 5}'),
        '{"op": "subscribe", "topic": "/x", "type": "std_msgs/Float32"}',
        '{"op": "subscribe", "topic": "/x", "throttle_rate": -1}',
        '{"op": "subscribe", "topic": "/x", "queue_length": "many"}',
        '{"op": "subscribe", "topic": "/x", "compression": "png"}',
        '{"op": "publish", "topic": "/x", "msg": {"data": 1}}',
        '{"op": "publish", "topic": "/cmd", "msg": {"data": "1"}}',
        '{"op": "publish", "topic": "/cmd", "msg": {"date": 1}}',
        '{"op": "publish", "topic": "/cmd", "msg": [1]}',
        '{"op": "call_service", "service": 5}',
        '{"op": "fragment", "id": "a", "num": 5, "total": 2, "data": "x"}',
        '{"op": "fragment", "id": "a", "num": 0, "total": 1, "data": "x"}',
        *(b"", b"\xff\xff", cbor2.dumps([1, 2]), b"\x9b" + b"\xff" * 8, b"\xbb" + b"\xff" * 8),
    ],
)
def test_what_cannot_be_used_is_answered_with_a_status(data):
    house = House()
    session = RosbridgeSession(house, STORE)
    why = session.receive(data)
    assert why
    (told,) = session.outgoing()
    told = json.loads(told) if isinstance(told, str) else cbor2.loads(told)
    assert (told["op"], told["level"], told["msg"]) == ("status", "error", why)
    assert house.taken == []


def test_a_call_that_is_refused_is_answered_so_that_nobody_waits_for_it():
    session = RosbridgeSession(House(), STORE)
    ask = {"op": "call_service", "service": "/explode", "id": "call:1"}
    why = session.receive(json.dumps(ask))
    (answer,) = (json.loads(m) for m in session.outgoing())
    assert answer == {
        **{"op": "service_response", "service": "/explode", "id": "call:1"},
        **{"result": False, "values": why},
    }


@pytest.mark.parametrize("identity", [["a"], {"a": 1}, 5, None])
def test_an_id_that_is_no_text_is_none_in_fragments_too(identity):
    session = RosbridgeSession(House(), STORE)
    inner = json.dumps({"op": "subscribe", "topic": "/x", "id": identity})
    part = {"op": "fragment", "id": "a", "num": 0, "total": 1, "data": inner}
    assert session.receive(json.dumps(part)) == ""
    assert session.receive('{"op": "unsubscribe", "topic": "/x"}') == ""
    assert session.wanted == set()


HUGE = "1" + "0" * 400
"""A whole number that no float64 holds."""


@pytest.mark.parametrize("kind", ["Float64", "Int32", "UInt64"])
def test_a_number_of_hundreds_of_digits_is_refused_as_any_other(kind):
    with pytest.raises(MessageError, match="cannot be"):
        from_plain(STORE, f"std_msgs/msg/{kind}", {"data": json.loads(HUGE)})


def test_waves_of_hundreds_of_digits_are_refused():
    bridge = RosbridgeBridge(0)
    sea = {"significant_height": json.loads(HUGE), "peak_period": 5}
    with pytest.raises(MessageError, match="sea state"):
        bridge.call("/simulation/set_sea_state", sea, lambda done, values: None)
    bridge.close(RunSummary("stopped", 0.0, {}))


def nested(levels):
    """CBOR of lists of which each is twice the one before, by references: 2 to the levels."""
    lists = [bytes.fromhex("d81c820101")]
    lists += [bytes.fromhex("d81c82") + 2 * bytes([0xD8, 0x1D, 0x18, k]) for k in range(levels)]
    return bytes([0x98, len(lists)]) + b"".join(lists)


@pytest.mark.parametrize("whole", [True, False], ids=["as a value", "as a key"])
def test_a_few_bytes_that_stand_for_endless_lists_are_refused_at_once(whole):
    """They would keep the run's thread from its work for longer than anybody waits."""
    session = RosbridgeSession(House(), STORE)
    if whole:
        asked = cbor2.dumps({"op": "publish", "topic": "/cmd", "msg": 0})[:-1]
        data = asked + b"\xa1" + cbor2.dumps("data") + nested(60)
    else:
        data = b"\xa1" + nested(60) + b"\x01"
    assert "tag 28" in session.receive(data)
    assert json.loads(session.outgoing()[0])["op"] == "status"


def test_typed_arrays_of_cbor_come_in_as_they_go_out():
    kind, given = "std_msgs/msg/Float64MultiArray", [0.5, -1.0, 2.5]
    message = from_plain(STORE, kind, {"data": given})
    sent = cbor2.dumps(as_plain(STORE, kind, message, True))
    assert from_plain(STORE, kind, decoded(sent)).data.tolist() == given
    octets = cbor2.dumps({"data": cbor2.CBORTag(64, b"\x01\x02")})
    assert from_plain(STORE, "std_msgs/msg/UInt8MultiArray", decoded(octets)).data.tolist() == [
        1,
        2,
    ]
    for wrong in (cbor2.CBORTag(86, b"\0" * 7), cbor2.CBORTag(86, [1.0]), cbor2.CBORTag(87, b"")):
        with pytest.raises(MessageError):
            decoded(cbor2.dumps({"data": wrong}))


def test_fragments_that_never_end_take_no_more_memory():
    session = RosbridgeSession(House(), STORE)
    for i in range(100):
        part = {"op": "fragment", "id": str(i), "num": 0, "total": 2, "data": "x" * 1000}
        assert session.receive(json.dumps(part)) == ""
    assert len(session._parts) <= 8
    big = [
        {"op": "fragment", "id": "b", "num": i, "total": 10, "data": "x" * 999_999}
        for i in range(9)
    ]
    assert any(session.receive(json.dumps(part)) for part in big)


def test_messages_are_plain_data_and_back():
    kind = "sensor_msgs/msg/Image"
    plain = {
        "header": {"stamp": {"sec": 3, "nanosec": 4}, "frame_id": "f"},
        **{"height": 1, "width": 2, "encoding": "mono8", "is_bigendian": 0, "step": 2},
        "data": base64.b64encode(b"\x01\xff").decode(),
    }
    message = from_plain(STORE, kind, plain)
    assert message.data.tolist() == [1, 255]
    assert as_plain(STORE, kind, message, binary=False) == plain
    assert as_plain(STORE, kind, message, binary=True)["data"] == b"\x01\xff"
    array = from_plain(STORE, "std_msgs/msg/Float64MultiArray", {"data": [1, 2.5]})
    tagged = as_plain(STORE, "std_msgs/msg/Float64MultiArray", array, binary=True)["data"]
    assert (tagged.tag, np.frombuffer(tagged.value, "<f8").tolist()) == (86, [1.0, 2.5])
    lost = from_plain(STORE, "std_msgs/msg/Float64", {"data": math.nan})
    assert as_plain(STORE, "std_msgs/msg/Float64", lost, binary=False) == {"data": None}


def test_roslibpy_hears_and_drives_a_vessel(bridged, tmp_path):
    import roslibpy

    bridge = RosbridgeBridge(0)
    stamps, surge, described, answers = [], [], [], []

    def use():
        ros = roslibpy.Ros("127.0.0.1", port_of(bridge))
        ros.run(timeout=20)
        order = roslibpy.Topic(ros, "/otter/cmd/thrusters", "std_msgs/Float64MultiArray")
        pause = roslibpy.Service(ros, "/simulation/pause", "std_srvs/Trigger")
        goes_on = roslibpy.Service(ros, "/simulation/resume", "std_srvs/Trigger")

        def hear(message):
            stamps.append(
                message["header"]["stamp"]["sec"] + 1e-9 * message["header"]["stamp"]["nanosec"]
            )
            surge.append(message["twist"]["twist"]["linear"]["x"])
            if len(stamps) == 5:
                order.publish(roslibpy.Message({"data": [0.5, 0.5]}))

        roslibpy.Topic(ros, "/otter/odometry", "nav_msgs/Odometry").subscribe(hear)
        roslibpy.Topic(ros, "/otter/robot_description", "std_msgs/String").subscribe(
            lambda m: described.append(m["data"])
        )
        answers.append(dict(pause.call(roslibpy.ServiceRequest(), timeout=20)))
        answers.append(dict(goes_on.call(roslibpy.ServiceRequest(), timeout=20)))
        over.wait(60)
        ros.close()

    over = threading.Event()
    user = threading.Thread(target=use)
    user.start()
    finished = bridged(bridge, pace=1.0, out=tmp_path / "run.mcap")
    over.set()
    user.join(30)
    data = finished.dataset.isel(vehicle=0)
    highest = bridge.counts["heard"]
    assert answers == [{"success": True, "message": ""}] * 2
    assert highest == 3
    assert described[0].startswith("<robot")
    assert len(stamps) > 20
    assert np.allclose(np.diff(stamps), 0.1)
    rows = np.rint(np.array(stamps) * 10).astype(int)
    held = rows < len(data.time)
    assert np.allclose(np.array(surge)[held], data.velocity.values[rows[held], 0], atol=1e-12)
    limit = data.command.values[-1] / 0.5
    assert np.allclose(limit, limit[0])
    assert limit[0] > 10.0


def test_a_browser_s_page_from_elsewhere_is_kept_out_and_floods_are_outlived(
    bridged, plan, tmp_path
):
    st.run(plan, out=tmp_path / "plain.mcap")
    bridge = RosbridgeBridge(0)
    address, refused, over = f"ws://127.0.0.1:{port_of(bridge)}", [], threading.Event()

    def attack():
        for origin in ("http://evil.example", "null"):
            try:
                with connect(address, origin=origin, open_timeout=30):
                    pass
            except (WebSocketException, OSError):
                refused.append(origin)
        with (
            connect(address, open_timeout=30) as good,
            connect(address, open_timeout=30, max_queue=None) as bad,
        ):
            # The run stands still meanwhile, so that it is not over before the attack is.
            good.send('{"op": "call_service", "service": "/simulation/pause"}')
            good.recv(timeout=30)
            try:
                for _ in range(300):
                    bad.send("garbage" * 100)
                    bad.send(b"\x00" * 1000)
                # What was not read yet when a message is too long goes unread with its sender.
                latest = time.monotonic() + 60.0
                while bridge.counts["refused"] < 602 and time.monotonic() < latest:
                    time.sleep(0.01)
                bad.send("x" * (2 << 20))
                bad.recv(timeout=5)
            except (WebSocketException, OSError, TimeoutError):
                pass
            good.send('{"op": "call_service", "service": "/simulation/resume"}')
            over.wait(30)

    attacker = threading.Thread(target=attack)
    attacker.start()
    bridged(bridge, pace=2.0, out=tmp_path / "run.mcap")
    over.set()
    attacker.join(30)
    assert refused == ["http://evil.example", "null"]
    assert bridge.counts["refused"] == 602
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "run.mcap").read_bytes()


def test_hundreds_that_connect_and_say_nothing_take_no_place_from_others(plan):
    """Each held a descriptor for ever; with none left, tracebacks came by the thousand."""
    bridge = RosbridgeBridge(0)
    bridge.open(setting_of(plan))
    with contextlib.ExitStack() as held:
        held.callback(bridge.close, RunSummary("stopped", 0.0, {}))
        silent = [
            held.enter_context(socket.create_connection(("127.0.0.1", port_of(bridge)), 30))
            for _ in range(300)
        ]
        with connect(f"ws://127.0.0.1:{port_of(bridge)}", open_timeout=30) as good:
            good.send('{"op": "call_service", "service": "/rosapi/topics"}')
            assert "/otter/odometry" in good.recv(timeout=30)
            gone, _, _ = select.select(silent, [], [], 0.0)
            assert 300 - MOST_STANDING <= len(gone) <= 301 - MOST_STANDING
            assert bridge.counts["refused"] == len(gone)


def test_a_port_that_is_taken_is_refused():
    first = RosbridgeBridge(0)
    try:
        with pytest.raises(SpecError, match="another port"):
            RosbridgeBridge(port_of(first))
    finally:
        first.close(None)
