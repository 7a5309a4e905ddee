"""ROS 2 on DDS: names of topics and types, delivery, and messages as the bytes that they are.

A ROS topic `/otter/imu` is the DDS topic `rt/otter/imu` and `sensor_msgs/msg/Imu` the type
`sensor_msgs::msg::dds_::Imu_`. Types come from the definitions by which recordings are made, and a
message is the same CDR as in a recording: it is handed to DDS and taken from it as bytes.
"""

import contextlib
import os
import socket
import stat
from functools import cache
from typing import Any

from seatrial.errors import Problem, SpecError
from seatrial.ros.layout import TypeStore

LOOPBACK = """
<CycloneDDS><Domain>
  <General>
    <Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>
    <AllowMulticast>false</AllowMulticast>
    <MaxMessageSize>65500B</MaxMessageSize>
  </General>
  <Discovery>
    <ParticipantIndex>auto</ParticipantIndex>
    <MaxAutoParticipantIndex>50</MaxAutoParticipantIndex>
    <Peers><Peer address="127.0.0.1" PruneDelay="inf"/></Peers>
    <SPDPInterval>1s</SPDPInterval>
  </Discovery>
</Domain></CycloneDDS>
"""
"""Cyclone DDS on this machine alone; `CYCLONEDDS_URI` in the environment says otherwise."""

DEEP = 100
"""Samples kept for a peer that is a little late."""


def require_dds() -> None:
    """Refuse to go on without Cyclone DDS."""
    try:
        import cyclonedds  # noqa: F401
    except ImportError:
        raise SpecError(
            Problem(
                "ROS 2 needs Cyclone DDS, which is not installed",
                expected="the package `cyclonedds`",
                mend="pip install 'seatrial[ros2]'",
            )
        ) from None


@cache
def _domain(number: int) -> Any:
    """One for the whole process."""
    from cyclonedds.domain import Domain

    return Domain(number, LOOPBACK)


def _keep_to_loopback() -> None:
    """Let the sockets of this process that hear datagrams at any address hear loopback alone.

    Cyclone DDS sends by the interface that it is told, but binds what it hears by to all addresses
    (its issues 1923 and 2090), so that datagrams from elsewhere would reach it. Linux can bind them
    to the interface afterwards; other systems need a firewall.
    """
    if not hasattr(socket, "SO_BINDTODEVICE"):
        return
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as heard:
                datagrams = heard.family == socket.AF_INET and heard.type == socket.SOCK_DGRAM
                if datagrams and heard.getsockname()[0] == "0.0.0.0":
                    heard.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")


def dds_name(typename: str, place: str = "msg") -> str:
    """As DDS calls a message."""
    package, _, name = typename.split("/")
    return f"{package}::{place}::dds_::{name}_"


@cache
def dds_type(typename: str, place: str = "msg") -> Any:
    """The DDS type of a message, whose objects keep and give the bytes in `data`."""
    from cyclonedds.idl import make_idl_struct

    package, _, name = typename.split("/")
    fields = {field: _field(d) for field, d in TypeStore().fields(typename)}
    made: Any = make_idl_struct(f"{name}_", f"{package}.{place}.dds_.{name}_", fields)
    made.serialize = lambda self, **_: self.data
    made.deserialize = classmethod(_whole)
    return made


def _whole(kind: Any, /, data: bytes, **_: Any) -> Any:
    made = kind.__new__(kind)
    made.data = data
    return made


def _field(definition: Any) -> Any:
    from cyclonedds.idl import types as known

    types: Any = known
    node, of = definition
    if node.name == "NAME":
        return dds_type(of)
    if node.name == "BASE":
        plain = {"bool": bool, "string": str, "byte": types.uint8, "octet": types.uint8}
        return plain.get(of[0]) or getattr(types, "uint8" if of[0] == "char" else of[0])
    inner = _field(of[0])
    return types.array[inner, of[1]] if node.name == "ARRAY" else types.sequence[inner]


class Participant:
    """Somebody on a domain of DDS."""

    def __init__(self, domain: int) -> None:
        from cyclonedds.core import DDSException
        from cyclonedds.domain import DomainParticipant

        told = "CYCLONEDDS_URI" in os.environ
        try:
            self._domain = None if told else _domain(domain)
            self._dds: Any = DomainParticipant(domain)
        except DDSException as error:
            raise SpecError(
                Problem(
                    f"Cyclone DDS cannot join domain {domain}: {error}",
                    value=domain,
                    expected="a domain of this machine, 0 to 232, and a valid `CYCLONEDDS_URI`",
                )
            ) from None
        if not told:
            _keep_to_loopback()

    def close(self) -> None:
        """Leave; peers see all topics go."""
        self._dds = self._domain = None

    def writer(self, topic: str, kind: Any, depth: int, kept: bool) -> "Writer":
        """Reliable; one that is `kept` tells those who come later too."""
        return Writer(self._dds, topic, kind, depth, kept)

    def reader(self, topic: str, kind: Any, depth: int = DEEP) -> "Reader":
        """Reliable, as publishers of orders are by default."""
        return Reader(self._dds, topic, kind, depth)


class Writer:
    """Where messages of one topic go."""

    def __init__(self, participant: Any, topic: str, kind: Any, depth: int, kept: bool) -> None:
        from cyclonedds.core import Policy, Qos
        from cyclonedds.pub import DataWriter
        from cyclonedds.topic import Topic

        durability = Policy.Durability.TransientLocal if kept else Policy.Durability.Volatile
        # Nobody waits for a peer that does not take what it asked for.
        qos = Qos(
            Policy.Reliability.Reliable(0),
            Policy.History.KeepLast(depth),
            durability,
            Policy.DataRepresentation(use_cdrv0_representation=True),
        )
        self._kind = kind
        self._writer = DataWriter(participant, Topic(participant, topic, kind), qos=qos)

    def write(self, data: bytes) -> bool:
        """Whether it went."""
        from cyclonedds.core import DDSException

        try:
            self._writer.write(_whole(self._kind, data))
        except DDSException:
            return False
        return True

    @property
    def peers(self) -> int:
        """Readers that are known."""
        return len(self._writer.get_matched_subscriptions())


class Reader:
    """Where messages of one topic come from."""

    def __init__(self, participant: Any, topic: str, kind: Any, depth: int) -> None:
        from cyclonedds.core import Policy, Qos
        from cyclonedds.sub import DataReader
        from cyclonedds.topic import Topic

        qos = Qos(
            Policy.Reliability.Reliable(0),
            Policy.History.KeepLast(depth),
            Policy.Durability.Volatile,
            Policy.DataRepresentation(use_cdrv0_representation=True),
        )
        self.dds = DataReader(participant, Topic(participant, topic, kind), qos=qos)

    def take(self, most: int = DEEP) -> list[bytes]:
        """Messages that came."""
        return [m.data for m in self.dds.take(N=most) if hasattr(m, "data")]

    @property
    def peers(self) -> int:
        """Writers that are known."""
        return len(self.dds.get_matched_publications())
