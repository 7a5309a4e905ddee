"""Foxglove's protocol, spoken by a client that reads messages by the schemas it was sent."""

import json
import struct
import threading

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from seatrial.bridges.foxglove.bridge import FoxgloveBridge
from seatrial.bridges.foxglove.session import FoxgloveSession
from seatrial.ros.layout import TypeStore

STORE = TypeStore()


class House:
    """Topics without a run."""

    def __init__(self):
        self.topics = {"/clock": "rosgraph_msgs/msg/Clock", "/x": "std_msgs/msg/Float64"}
        self.inputs = {"/cmd": "std_msgs/msg/Float64"}
        self.kept = {}
        self.taken = []

    def take(self, topic, message):
        self.taken.append((topic, message.data))


def test_a_channel_of_the_client_takes_cdr_and_json():
    house = House()
    session = FoxgloveSession(house, STORE)
    channels = [
        {"id": 5, "topic": "/cmd", "encoding": "cdr", "schemaName": "std_msgs/Float64"},
        {"id": 6, "topic": "/cmd", "encoding": "json", "schemaName": "std_msgs/Float64"},
    ]
    assert session.receive(json.dumps({"op": "advertise", "channels": channels})) == ""
    cdr = STORE.serialise("std_msgs/msg/Float64", lambda f: f.make("std_msgs/msg/Float64", 2.5))
    assert session.receive(b"\x01" + struct.pack("<I", 5) + cdr) == ""
    assert session.receive(b"\x01" + struct.pack("<I", 6) + b'{"data": 3.5}') == ""
    assert house.taken == [("/cmd", 2.5), ("/cmd", 3.5)]
    session.receive('{"op": "unadvertise", "channelIds": [5]}')
    assert "not advertised" in session.receive(b"\x01" + struct.pack("<I", 5) + cdr)


def test_two_subscriptions_of_a_topic_end_one_by_one():
    session = FoxgloveSession(House(), STORE)
    session.outgoing()
    asked = [{"id": 1, "channelId": 1}, {"id": 2, "channelId": 1}]
    session.receive(json.dumps({"op": "subscribe", "subscriptions": asked}))
    session.deliver("/x", 1.5, b"abcd")
    assert session.outgoing() == [
        struct.pack("<BIQ", 1, n, 1_500_000_000) + b"abcd" for n in (1, 2)
    ]
    session.receive('{"op": "unsubscribe", "subscriptionIds": [1]}')
    session.deliver("/x", 2.0, b"efgh")
    session.deliver("/clock", 2.0, b"")
    told, time = session.outgoing()
    assert told[1:5] == struct.pack("<I", 2)
    assert time == struct.pack("<BQ", 2, 2_000_000_000)


@pytest.mark.parametrize(
    "data",
    [
        *("", "{", "[]", "{}", '{"op": []}', '{"op": "subscribe"}', "[" * 100_000),
        '{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 99}]}',
        '{"op": "subscribe", "subscriptions": [{"id": -1, "channelId": 0}]}',
        '{"op": "subscribe", "subscriptions": [1]}',
        '{"op": "unsubscribe", "subscriptionIds": ["1"]}',
        '{"op": "advertise", "channels": [{"id": 1, "topic": "/x", "encoding": "cdr"}]}',
        '{"op": "advertise", "channels": [{"id": 1, "topic": "/cmd", "encoding": "xml"}]}',
        *(b"", b"\x01", b"\x07\x00\x00\x00\x00", b"\x01\x09\x00\x00\x00"),
        *(b"\x01\x01\x00\x00\x00", b"\x01\x02\x00\x00\x00{", b"\x01\x02\x00\x00\x00[]"),
    ],
)
def test_what_cannot_be_used_is_answered_with_a_status(data):
    house = House()
    session = FoxgloveSession(house, STORE)
    channels = [
        {"id": i + 1, "topic": "/cmd", "encoding": e} for i, e in enumerate(("cdr", "json"))
    ]
    session.receive(json.dumps({"op": "advertise", "channels": channels}))
    session.outgoing()
    why = session.receive(data)
    assert why
    (told,) = session.outgoing()
    assert json.loads(told) == {"op": "status", "level": 2, "message": why}
    assert house.taken == []


def test_a_client_reads_and_steers_a_run_by_what_it_was_sent(bridged, tmp_path):
    bridge = FoxgloveBridge(0)
    address = bridge.place
    heard, refused = [], []

    def use():
        try:
            connect(address, open_timeout=30).__enter__()
        except WebSocketException:
            refused.append(address)  # without the protocol's name
        with connect(address, subprotocols=["foxglove.websocket.v1"], open_timeout=30) as client:
            info, told = json.loads(client.recv(30)), json.loads(client.recv(30))
            assert info["op"] == "serverInfo"
            channels = {c["topic"]: c for c in told["channels"]}
            wanted = channels["/otter/odometry"]
            reader = get_typestore(Stores.EMPTY)
            reader.register(get_types_from_msg(wanted["schema"], wanted["schemaName"]))
            order = {"id": 9, "topic": "/otter/cmd/left", "encoding": "json"}
            client.send(json.dumps({"op": "advertise", "channels": [order]}))
            subscription = {"id": 3, "channelId": wanted["id"]}
            client.send(json.dumps({"op": "subscribe", "subscriptions": [subscription]}))
            client.send(b"\x01" + struct.pack("<I", 9) + b'{"data": 1.25}')
            try:
                while True:
                    data = client.recv(30)
                    if data[0] == 1:
                        number, time = struct.unpack_from("<IQ", data, 1)
                        message = reader.deserialize_cdr(data[13:], wanted["schemaName"])
                        heard.append((number, time, message.pose.pose.position.x))
            except WebSocketException:
                return

    user = threading.Thread(target=use)
    user.start()
    finished = bridged(bridge, pace=1.0, out=tmp_path / "run.mcap")
    user.join(30)
    data = finished.dataset.isel(vehicle=0)
    assert refused == [address]
    assert data.command.values[-1, 0] == 1.25
    assert len(heard) > 20
    assert {number for number, _, _ in heard} == {3}
    rows = np.rint(np.array([time for _, time, _ in heard]) / 1e8).astype(int)
    kept = rows < data.sizes["time"]
    east = np.array([x for _, _, x in heard])[kept]
    assert np.allclose(east, data.position.values[rows[kept], 1], atol=1e-12)
