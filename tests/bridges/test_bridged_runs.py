"""A run with bridges: the same run, heard and steered from outside."""

import contextlib
import random
import socket
import threading

import numpy as np
import pyais
import pynmea2
import pytest

import seatrial as st
from seatrial.bridges.bridge import Bridge, Control, Order, Sea, SetFault
from seatrial.bridges.nmea.bridge import NmeaBridge
from seatrial.bridges.nmea.sentences import sentence
from seatrial.bridging import run_bridged
from seatrial.errors import SpecError
from seatrial.signals import Command
from seatrial.spatial.geodesy import to_geodetic


class Script(Bridge):
    """Asks at certain turns, and keeps what it is told."""

    name, place = "script", "here"

    def __init__(self, asks=None, drives=()):
        super().__init__()
        self.asks, self.driven = dict(asks or {}), set(drives)
        self.turns, self.opened, self.answers, self.samples = [], 0, [], {}

    def open(self, setting):
        self.opened += 1
        self.setting, self.period = setting, setting.control_period

    def write(self, turn):
        self.turns.append(turn.time)
        for sensor, m in turn.frames.measurements["otter"].items():
            self.samples.setdefault(sensor, []).extend(zip(m.arrival, m.time, strict=True))
            assert np.all(m.arrival <= turn.time + 1e-9)

    def heard(self, wait):
        return [(r, self.answers.append) for r in self.asks.pop(len(self.turns), ())]

    def drives(self):
        return self.driven

    def close(self, summary):
        self.summary = summary


def test_with_nobody_who_steers_it_is_the_run_byte_for_byte(bridged, plan, tmp_path):
    st.run(plan, out=tmp_path / "plain.mcap")
    silent = Script()
    finished = bridged(silent, out=tmp_path / "bridged.mcap")
    assert finished.status == "completed"
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "bridged.mcap").read_bytes()
    assert np.allclose(np.diff(silent.turns), silent.period)
    assert silent.turns[0] == 0.0
    kept = finished.recording
    for sensor in ("gnss", "imu", "compass"):
        told = len(silent.samples[sensor])
        assert abs(told - len(kept.sensor("otter", sensor).time)) <= 6  # of the last period


def test_orders_change_the_course_of_things_and_wrong_ones_are_answered(bridged, tmp_path):
    asks = {
        11: [Order("otter", Command(channels={"left_rpm": 0, "right_rpm": 0}))],
        12: [Order("otter", Command(channels={"rudder": 1.0})), Order("ghost", Command())],
        13: [SetFault("otter", "imu: freeze", True)],
    }
    script = Script(asks)
    finished = bridged(script, out=tmp_path / "run.mcap")
    command = finished.dataset.command.isel(vehicle=0).values
    assert np.all(command[:10, 0] == 10.0)
    assert np.all(command[10:] == 0.0)  # heard after the turn at 1.0 s, in force from then on
    done, no_channel, no_vehicle, no_fault = script.answers
    assert done == ""
    assert "rudder" in no_channel
    assert "ghost" in no_vehicle
    assert "no fault" in no_fault


def test_pause_step_resume_and_reset(bridged):
    asks = {
        5: [Control("pause"), Control("step"), Control("step")],
        7: [Control("reset")],
        9: [Control("reset", Sea(0.5, 4.0)), Control("resume")],
    }
    script = Script(asks)
    assert bridged(script).status == "completed"
    assert script.opened == 3
    assert script.turns[:9] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.0, 0.1])
    assert script.answers == [""] * 6
    assert "significant_height: 0.5" in script.setting.header.description  # it was calm


def test_in_lock_step_every_period_takes_one_order(bridged, tmp_path):
    def one(i):
        return Order("otter", Command(channels={"left_rpm": 60.0 * i, "right_rpm": 0.0}))

    asks = {1: [one(1), one(2), one(3)]} | {i: [one(i)] for i in range(4, 70)}
    script = Script(asks, drives=["otter"])
    finished = bridged(script, lock_step=True, out=tmp_path / "run.mcap")
    left = finished.dataset.command.isel(vehicle=0).values[:, 0]
    assert left.tolist() == pytest.approx(np.arange(1, len(left) + 1))


def test_who_is_not_waited_for_is_obeyed_at_once_beside_an_autopilot(bridged, tmp_path):
    """Two orders in each control period were obeyed one by one, later and later."""

    class Pacer(Script):
        paces = True

    def ask(left, right):
        orders = {"left": left}, {"right": right}
        return [Order("otter", Command(channels=one)) for one in orders]

    script = Script({i: ask(0.01 * i, 0.01 * i) for i in range(1, 70)})
    finished = bridged(Pacer(drives=["elsewhere"]), script, out=tmp_path / "run.mcap")
    command = finished.dataset.command.isel(vehicle=0).values
    assert command[:, 0].tolist() == command[:, 1].tolist()


def test_another_sea_finds_the_code_that_was_allowed(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def start(self, vehicle): pass\n"
        "    def control(self, time, measurements): return {'left': 1.0 if time else 2.0}\n"
    )
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        "kind: scenario\nname: mine\nduration: 2\nworld: calm\n"
        "vehicles:\n  - {name: otter, vehicle: otter, controller: 'mine:Mine'}\n"
    )
    script = Script({5: [Control("reset", Sea(0.5, 4.0))]})
    out = tmp_path / "run.mcap"
    finished = run_bridged(scenario, [script], pace=None, out=out, allow_code=True)
    assert script.answers == [""]
    assert script.opened == 2
    assert "significant_height: 0.5" in finished.header.description
    assert finished.dataset.command.values[:2, 0, 0].tolist() == [2.0, 1.0]


def test_a_bridge_that_fails_neither_stops_the_run_nor_silences_the_others(bridged, plan, tmp_path):
    class Broken(Script):
        def write(self, turn):
            super().write(turn)
            if turn.time > 1.0:
                raise ZeroDivisionError("by a bridge")

    st.run(plan, out=tmp_path / "plain.mcap")
    broken, other, said = Broken(), Script(), []
    bridged(broken, other, say=said.append, out=tmp_path / "run.mcap")
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "run.mcap").read_bytes()
    assert len(broken.turns) == 12
    assert len(other.turns) > 60
    assert broken.counts["failed"] == 1
    assert any("by a bridge" in text for text in said)


def test_nmea_tells_where_the_vessel_is_and_takes_its_orders(bridged, plan, tmp_path):
    bridge = NmeaBridge("tcp://127.0.0.1:0")
    port = int(bridge.place.split()[-1])
    text = b""
    with socket.create_connection(("127.0.0.1", port)) as peer:

        def listen():
            nonlocal text
            while data := peer.recv(65_536):
                text += data

        listener = threading.Thread(target=listen)
        listener.start()
        order = sentence("PSTC,CHANNEL,left_rpm,0,right_rpm,0") + "$broken*00\r\n\xff\xff\r\n"
        peer.sendall(order.encode("latin-1") + sentence("GPGGA,,").encode())
        finished = bridged(bridge, out=tmp_path / "run.mcap")
        listener.join()
    assert np.all(finished.dataset.command.values == 0.0)
    assert bridge.counts["heard"] == 1
    assert bridge.counts["garbled"] == 2
    assert bridge.counts["ignored"] == 1
    lines = text.decode("ascii").splitlines()
    assert bridge.counts["sent"] == len(lines)
    spoken = [pynmea2.parse(line, check=True) for line in lines if line.startswith("$")]
    kinds = {s.sentence_type for s in spoken}
    assert kinds == {"GGA", "RMC", "VTG", "HDT", "ROT", "MWV", "XDR"}
    rows = finished.recording.sensor("otter", "gnss")
    fixes = [s for s in spoken if s.sentence_type == "GGA"]
    assert len(fixes) == len(rows.time)
    for fix, north, east in zip(fixes, rows.north.values, rows.east.values, strict=True):
        latitude, longitude, _ = to_geodetic([north, east, 0.0], plan.header.datum)
        assert fix.latitude == pytest.approx(float(latitude), abs=1e-6)
        assert fix.longitude == pytest.approx(float(longitude), abs=1e-6)
    ais = [pyais.decode(line) for line in lines if line.startswith("!AIVDO")]
    assert [m.msg_type for m in ais[:3]] == [24, 24, 18]


def test_what_was_said_before_the_start_is_old(bridged, plan, tmp_path):
    """Datagrams wait in their port while programs are compiled."""
    st.run(plan, out=tmp_path / "plain.mcap")
    bridge = NmeaBridge("udp://127.0.0.1:9/0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        for _ in range(3):
            order = sentence("PSTC,CHANNEL,left_rpm,0,right_rpm,0").encode()
            peer.sendto(order, ("127.0.0.1", int(bridge.place.split()[-1])))
        bridged(bridge, out=tmp_path / "bridged.mcap")
    assert bridge.counts["stale"] == 3
    assert bridge.counts["heard"] == 0
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "bridged.mcap").read_bytes()


def test_in_lock_step_by_nmea_every_sentence_is_a_control_period(bridged, tmp_path):
    bridge = NmeaBridge("tcp://127.0.0.1:0")
    with socket.create_connection(("127.0.0.1", int(bridge.place.split()[-1]))) as peer:
        for i in range(61):
            peer.sendall(sentence(f"PSTC,CHANNEL,left_rpm,{60 * i},right,1").encode())
        finished = bridged(bridge, lock_step=True, out=tmp_path / "run.mcap")
    left = finished.dataset.command.isel(vehicle=0).values[:, 0]
    assert left.tolist() == pytest.approx(np.arange(len(left)))


def test_a_flood_of_garbage_leaves_the_run_as_it_was(bridged, plan, tmp_path):
    st.run(plan, out=tmp_path / "plain.mcap")
    bridge = NmeaBridge("tcp://127.0.0.1:0")
    port = int(bridge.place.split()[-1])
    over, dice = threading.Event(), random.Random(1)

    def flood():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as peer:
            while not over.is_set():
                peer.sendall(dice.randbytes(5000) + b"\r\n$PSTC,CHANNEL,left,1*00\r\n")

    half_open = socket.create_connection(("127.0.0.1", port))
    peers = [threading.Thread(target=flood) for _ in range(3)]
    for peer in peers:
        peer.start()
    try:
        bridged(bridge, out=tmp_path / "flooded.mcap")
    finally:
        over.set()
        half_open.close()
    for peer in peers:
        peer.join()
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "flooded.mcap").read_bytes()
    assert bridge.counts["garbled"] > 100


def test_a_vehicle_that_is_not_there_is_refused(bridged):
    with pytest.raises(SpecError, match="ghost"):
        bridged(NmeaBridge("pty:", "ghost"))
