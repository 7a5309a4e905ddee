"""The bridge to ROS 2: topics out, commands and services in."""

import time as wall_clock

from seatrial.bridges.bridge import Answer, Bridge, Request, Setting, Turn
from seatrial.bridges.ros2.dds import (
    Participant,
    Reader,
    Writer,
    dds_name,
    dds_type,
    require_dds,
)
from seatrial.bridges.ros2.rtps import FAST_DDS, Question, Services
from seatrial.bridges.steering import CONTROLS, SEA, Steering, control, other_sea
from seatrial.engine.frames import RunSummary
from seatrial.ros.commands import MessageError
from seatrial.ros.definitions import (
    SEA_REQUEST,
    SEA_RESPONSE,
    TRIGGER_REQUEST,
    TRIGGER_RESPONSE,
)
from seatrial.ros.layout import TypeStore
from seatrial.ros.profiles import profile_of
from seatrial.ros.streams import Streams

DEPTH = {"clock": 1, "state": 10, "sensor": 5, "latched": 1}
"""Messages of a topic that wait for a peer; five of a sensor as in ROS's sensor-data profile."""
NAP = 0.001
SERVICES = dict.fromkeys(CONTROLS, (TRIGGER_REQUEST, TRIGGER_RESPONSE))
SERVICES |= {SEA: (SEA_REQUEST, SEA_RESPONSE)}
"""Types of questions and answers by name, below `/simulation/`."""
ENCAPSULATION, HEADER = 4, 16
"""Bytes before a message, and of the identity that `rmw_cyclonedds` puts before its fields."""


class Ros2Bridge(Bridge):
    """All vehicles of a run on one domain."""

    name = "ros2"

    def __init__(
        self, domain: int = 0, profile: str = "seatrial", drive: tuple[str, ...] | None = None
    ) -> None:
        """`drive` names the vehicles whose orders a lock-step waits for; () for all of them. In a
        lock-step what was said before a peer came is told to it when it does."""
        super().__init__()
        require_dds()
        self._domain, self._profile, self._drive = domain, profile_of(profile), drive
        self._participant = Participant(domain)
        self._writers: dict[str, Writer] = {}
        self._readers: dict[str, Reader] = {}
        self._services: Services | None = None
        self._under_way: list[Request] = []

    @property
    def place(self) -> str:
        """The domain."""
        return f"DDS domain {self._domain}, {len(self._writers)} topics out"

    def open(self, setting: Setting) -> None:
        """Announce all topics; after a reset they are there already."""
        self._streams = Streams(setting.header, self._profile)
        self._steering = Steering(setting, self._streams.namespaces, self._profile)
        self._vehicles = {v.name for v in setting.header.vehicles}
        self._store = TypeStore()
        if not self._writers:
            self._announce()
        for topic, data in self._streams.latched:
            self._write(topic, data)

    def _announce(self) -> None:
        kept = self._drive is not None
        for topic, (typename, kind) in self._streams.topics.items():
            self._writers[topic] = self._participant.writer(
                f"rt{topic}", dds_type(typename), DEPTH[kind], kept or kind == "latched"
            )
        for topic, typename in self._steering.topics.items():
            self._readers[topic] = self._participant.reader(f"rt{topic}", dds_type(typename))
        pairs = {}
        for word, (asked, answered) in SERVICES.items():
            question, reply = f"rq/simulation/{word}Request", f"rr/simulation/{word}Reply"
            pairs[question] = (dds_name(asked, "srv"), reply, dds_name(answered, "srv"))
        self._services = Services(self._domain, pairs)

    def drives(self) -> set[str]:
        """Those named, or all."""
        return set(self._drive or ()) or self._vehicles

    def _write(self, topic: str, data: bytes) -> None:
        self.counts["sent" if self._writers[topic].write(data) else "dropped"] += 1

    def write(self, turn: Turn) -> None:
        """Tell everything of the instant."""
        for topic, data in self._streams.messages(turn.time, turn.frames, turn.vehicles):
            self._write(topic, data)
        self._under_way += self._steering.underway(turn)

    def heard(self, wait: float) -> list[tuple[Request, Answer]]:
        """Orders and questions; looks again and again while it waits."""
        until = wall_clock.monotonic() + wait
        while True:
            found = self._take()
            if found or wall_clock.monotonic() >= until:
                return found
            wall_clock.sleep(NAP)

    def _take(self) -> list[tuple[Request, Answer]]:
        found: list[tuple[Request, Answer]] = [(r, self.refuse) for r in self._under_way]
        self._under_way = []
        for topic, reader in self._readers.items():
            for data in reader.take():
                try:
                    message = self._store.read(self._steering.topics[topic], data)
                except ValueError:
                    self.counts["garbled"] += 1
                    continue
                try:
                    request = self._steering.request(topic, message)
                except MessageError:
                    self.counts["refused"] += 1
                    continue
                self.counts["heard"] += 1
                if request is not None:
                    found.append((request, self.refuse))
        if self._services is not None:
            for question in self._services.take():
                found += self._question(question, self._services)
            self.counts["garbled"] += self._services.garbled
            self._services.garbled = 0
        return found

    def _question(self, question: Question, services: Services) -> list[tuple[Request, Answer]]:
        word = question.topic.removeprefix("rq/simulation/").removesuffix("Request")
        kind, response = SERVICES[word]
        data, bare = question.data, question.vendor == FAST_DDS
        if bare:  # both are of the same alignment
            data = data[:ENCAPSULATION] + b"\0" * HEADER + data[ENCAPSULATION:]
        try:
            asked = self._store.read(kind, data)
        except ValueError:
            self.counts["garbled"] += 1
            return []
        self.counts["heard"] += 1

        def answer(why: str) -> None:
            self.refuse(why)
            told = self._store.serialise(
                response, lambda f: f.make(response, asked.guid, asked.number, not why, why)
            )
            if bare:
                told = told[:ENCAPSULATION] + told[ENCAPSULATION + HEADER :]
            services.answer(question, told)

        try:
            if word == SEA:
                return [(other_sea(asked.significant_height, asked.peak_period), answer)]
            return [(control(word), answer)]
        except MessageError as error:
            answer(str(error))
            return []

    def close(self, summary: RunSummary) -> None:
        """Leave the domain; what peers have not taken yet they get a moment to take."""
        self._writers.clear()
        self._readers.clear()
        if self._services is not None:
            self._services.close()
        self._participant.close()
