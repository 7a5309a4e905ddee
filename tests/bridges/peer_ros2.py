"""A ROS 2 peer in a process of its own, written against cyclonedds alone.

    python peer_ros2.py DOMAIN MODE

Types are declared here once more, as ROS's IDL has them. `listen` prints what it hears of the otter
and orders the left propeller after ten odometries; `lock-step` answers every clock with an order
that depends on the odometry; `hostile` sends what nobody can use.
"""

import json
import sys
import time
from dataclasses import dataclass, field

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, int64, sequence, uint8, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

PATIENCE = 240.0
"""On a busy machine a run takes long to begin, s."""
LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
    "</ParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers></Discovery></Domain>"
    "</CycloneDDS>"
)


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Time = field(default_factory=Time)


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64 = 0.0
    y: float64 = 0.0
    z: float64 = 0.0


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Pose(IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Vector3
    orientation: Quaternion


@dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::PoseWithCovariance_"):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class Twist(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vector3
    angular: Vector3


@dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::TwistWithCovariance_"):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Odometry(IdlStruct, typename="nav_msgs::msg::dds_::Odometry_"):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class Imu(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class Text(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


@dataclass
class Float64(IdlStruct, typename="std_msgs::msg::dds_::Float64_"):
    data: float64


@dataclass
class Actuator(IdlStruct, typename="interfaces::msg::dds_::Actuator_"):
    header: Header
    actuator_names: sequence[str]
    actuator_values: sequence[float64]


@dataclass
class TriggerRequest(IdlStruct, typename="std_srvs::srv::dds_::Trigger_Request_"):
    guid: uint64
    number: int64
    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class TriggerResponse(IdlStruct, typename="std_srvs::srv::dds_::Trigger_Response_"):
    guid: uint64
    number: int64
    success: bool
    message: str


@dataclass
class NotFloat64(IdlStruct, typename="std_msgs::msg::dds_::Float64_"):
    """Another type under the name of a Float64."""

    data: str


RELIABLE = Qos(Policy.Reliability.Reliable(10**9), Policy.History.KeepAll)
KEPT = Qos(
    Policy.Reliability.Reliable(10**9), Policy.History.KeepAll, Policy.Durability.TransientLocal
)
SENSOR = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(5))


class Peer:
    def __init__(self, domain):
        self.domain = Domain(domain, LOOPBACK)
        self.dds = DomainParticipant(domain)

    def reader(self, topic, kind, qos=RELIABLE):
        return DataReader(self.dds, Topic(self.dds, topic, kind), qos=qos)

    def writer(self, topic, kind, qos=RELIABLE):
        return DataWriter(self.dds, Topic(self.dds, topic, kind), qos=qos)


def say(**facts):
    print(json.dumps(facts), flush=True)


def listen(peer):
    odometry = peer.reader("rt/otter/odometry", Odometry)
    imu = peer.reader("rt/otter/imu", Imu, SENSOR)
    described = peer.reader("rt/otter/robot_description", Text, KEPT)
    clock = peer.reader("rt/clock", Clock)
    order = peer.writer("rt/otter/actuator_cmd", Actuator)
    asks = peer.writer("rq/simulation/pauseRequest", TriggerRequest)
    answers = peer.reader("rr/simulation/pauseReply", TriggerResponse)
    control = peer.writer("rt/simulation/control", Text)
    say(ready=True)
    stamps, rates, description, ticks = [], [], "", 0
    paused = 0.0
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for m in odometry.take(100):
            stamps.append(m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec)
            pose, twist = m.pose.pose.position, m.twist.twist.linear
            last = [pose.x, pose.y, pose.z, twist.x, m.header.frame_id, m.child_frame_id]
            if len(stamps) == 10:
                order.write(Actuator(Header(), ["th_1", "th_2"], [0.0, 0.0]))
            if len(stamps) == 20:
                asks.write(TriggerRequest(7, 42))
        rates += [m.linear_acceleration.z for m in imu.take(100)]
        for m in described.take(10):
            description = m.data
        ticks += len(clock.take(100))
        for m in answers.take(10):
            say(answer=[m.guid, m.number, m.success, m.message])
            paused = time.monotonic()
        if paused and time.monotonic() > paused + 0.5:
            say(while_paused=stamps[-1])
            control.write(Text("resume"))
            paused = 0.0
        if stamps and stamps[-1] > 5.85:
            break
        time.sleep(0.002)
    say(stamps=stamps, rates=rates, urdf=description, ticks=ticks, last=last)


def lock_step(peer):
    clock = peer.reader("rt/clock", Clock, KEPT)
    odometry = peer.reader("rt/otter/odometry", Odometry, KEPT)
    order = peer.writer("rt/otter/cmd/left", Float64)
    heard, sent = {}, 0
    ticks = []
    until = time.monotonic() + PATIENCE
    say(ready=True)
    while time.monotonic() < until and sent < 61:
        for m in odometry.take(100):
            heard[m.header.stamp.sec, m.header.stamp.nanosec] = m.twist.twist.linear.x
        ticks += [(m.clock.sec, m.clock.nanosec) for m in clock.take(100)]
        while ticks and ticks[0] in heard:
            order.write(Float64(20.0 * (1.2 - heard[ticks.pop(0)])))
            sent += 1
        time.sleep(0.0005)
    time.sleep(0.5)
    say(sent=sent)


def hostile(peer):
    left = peer.writer("rt/otter/cmd/left", Float64)
    liar = peer.writer("rt/otter/cmd/right", NotFloat64)
    actuators = peer.writer("rt/otter/actuator_cmd", Actuator)
    control = peer.writer("rt/simulation/control", Text)
    say(ready=True)
    until = time.monotonic() + PATIENCE
    while not left.get_matched_subscriptions() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)
    for _ in range(2000):
        left.write(Float64(float("nan")))
    for text in ("", "x" * 100_000, "\N{GRINNING FACE}"):
        liar.write(NotFloat64(text))
        control.write(Text(text))
    actuators.write(Actuator(Header(), ["a", "b"], [1.0]))
    actuators.write(Actuator(Header(), ["ghost"], [1.0]))
    actuators.write(Actuator(Header(), ["th_1"] * 5000, [1.0] * 5000))
    time.sleep(2.0)
    say(done=True)


if __name__ == "__main__":
    modes = {"listen": listen, "lock-step": lock_step, "hostile": hostile}
    modes[sys.argv[2]](Peer(int(sys.argv[1])))
