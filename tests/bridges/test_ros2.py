"""ROS 2 over DDS with a peer in another process, whose types are its own."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from mcap.reader import make_reader

import seatrial as st
from seatrial.bridges.ros2.bridge import Ros2Bridge
from seatrial.bridges.ros2.dds import Participant, dds_type
from seatrial.bridges.ros2.replay import replay
from seatrial.errors import RecordingError, SpecError

PEER = Path(__file__).parent / "peer_ros2.py"
DOMAIN = 40 + os.getpid() % 60
"""Suites that run side by side stay apart."""


class Peer:
    """A peer that is ready, and what it prints."""

    def __init__(self, mode):
        self.process = subprocess.Popen(
            [sys.executable, PEER, str(DOMAIN), mode], stdout=subprocess.PIPE, text=True
        )
        assert json.loads(self.process.stdout.readline()) == {"ready": True}

    def said(self):
        text, _ = self.process.communicate(timeout=270)
        assert self.process.returncode == 0
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def peer():
    made = []

    def make(mode):
        made.append(Peer(mode))
        return made[-1]

    yield make
    for one in made:
        one.process.kill()
        one.process.wait()


def test_a_peer_hears_orders_and_asks(bridged, peer, tmp_path):
    other, bridge = peer("listen"), Ros2Bridge(DOMAIN)
    finished = bridged(bridge, pace=2.0, out=tmp_path / "run.mcap")
    answer, paused, heard = other.said()
    data = finished.dataset.isel(vehicle=0)
    # Orders: both propellers by the short names, from the tenth odometry that it heard on.
    command = data.command.values
    assert np.all(command[0] == [10.0, 500 / 60])
    assert np.all(command[-10:] == 0.0)
    # Topics: every odometry of the run, once it was discovered, in ROS's frames.
    stamps = np.array(heard["stamps"])
    assert np.allclose(np.diff(stamps), 0.1)
    x, y, z, surge, frame, child = heard["last"]
    row = int(np.argmin(np.abs(data.time.values - stamps[-1])))
    north, east, down = data.position.values[row]
    assert [x, y, z] == pytest.approx([east, north, -down], abs=1e-12)
    assert surge == pytest.approx(data.velocity.values[row, 0], abs=1e-12)
    assert (frame, child) == ("map", "otter/base_link")
    assert len(heard["rates"]) > 4 * len(stamps)
    measured = finished.recording.sensor("otter", "imu").acceleration_z.values
    assert np.isin(heard["rates"], -measured).all()  # upwards at rest, as in ROS
    assert heard["ticks"] >= len(stamps) - 2  # it stops listening with the last odometry
    robot = ElementTree.fromstring(heard["urdf"])
    assert {link.get("name") for link in robot.iter("link")} >= {"otter/base_link", "otter/imu"}
    # A service: the same question is answered, and time stands still.
    assert answer["answer"] == [7, 42, True, ""]
    assert abs(paused["while_paused"] - stamps[19]) < 1.0
    assert bridge.counts["heard"] == 3
    assert bridge.counts["dropped"] == 0


def test_in_lock_step_the_same_loop_gives_the_same_bytes(bridged, peer, tmp_path):
    found = []
    for name in ("one.mcap", "two.mcap"):
        other = peer("lock-step")
        finished = bridged(Ros2Bridge(DOMAIN, drive=()), lock_step=True, out=tmp_path / name)
        assert finished.status == "completed"
        assert other.said()[-1]["sent"] == 61
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]
    data = st.read(tmp_path / "one.mcap").dataset.isel(vehicle=0)
    # The order of an instant follows from the odometry of that instant.
    surge, left = data.velocity.values[:, 0], data.command.values[:, 0]
    assert np.allclose(left, 20.0 * (1.2 - surge), atol=1e-12)


def test_what_nobody_can_use_is_counted_and_changes_nothing(bridged, plan, peer, tmp_path):
    st.run(plan, out=tmp_path / "plain.mcap")
    other, bridge = peer("hostile"), Ros2Bridge(DOMAIN)
    bridged(bridge, pace=1.0, out=tmp_path / "run.mcap")
    assert other.said() == [{"done": True}]
    assert (tmp_path / "plain.mcap").read_bytes() == (tmp_path / "run.mcap").read_bytes()
    assert bridge.counts["refused"] >= 100
    assert bridge.counts["heard"] <= 3


@pytest.mark.skipif(not hasattr(socket, "SO_BINDTODEVICE"), reason="Linux can keep it to loopback")
def test_datagrams_from_elsewhere_do_not_reach_it():
    """Cyclone DDS binds to all addresses, whichever interface it is told."""

    def devices():
        """Of the sockets of this process that hear datagrams at any address."""
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # no socket
                line = socket.socket(fileno=int(name))
                try:
                    if line.type == socket.SOCK_DGRAM and line.getsockname()[0] == "0.0.0.0":
                        device = line.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
                        yield device.rstrip(b"\0")
                finally:
                    line.detach()

    participant = Participant(DOMAIN)
    try:
        assert set(devices()) == {b"lo"}
    finally:
        participant.close()


def test_wrong_profiles_are_refused():
    with pytest.raises(SpecError, match="panisim"):
        Ros2Bridge(DOMAIN, "ros1")


def test_a_recording_is_replayed_message_by_message(plan, tmp_path):
    st.run(plan, out=tmp_path / "run.mcap")
    participant, heard = Participant(DOMAIN), []
    reader = participant.reader("rt/otter/odometry", dds_type("nav_msgs/msg/Odometry"), 1000)
    path = participant.reader("rt/tf_static", dds_type("tf2_msgs/msg/TFMessage"))
    said, stop = [], threading.Event()
    sent = replay(tmp_path / "run.mcap", DOMAIN, 10.0, said.append, stop)
    heard = reader.take(1000)
    with (tmp_path / "run.mcap").open("rb") as file:
        kept = make_reader(file)
        assert sent == kept.get_summary().statistics.message_count
        recorded = list(kept.iter_messages(topics=["/otter/odometry"]))
    assert heard == [message.data for _, _, message in recorded]
    assert len(path.take()) == 1
    with pytest.raises(RecordingError, match="recover"):
        replay(PEER, DOMAIN, None, said.append, stop)
