"""A run as streams of ROS 2 messages while it goes on: for bridges, in the bytes of recordings.

Where a vehicle is (`/tf`, `odometry`) is told of the present instant; what the loop observed at the
beginning of a frame follows with the frame, stamped then. A sensor's sample is told when it
arrives, stamped when it was taken.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from seatrial.engine.frames import Frames, HullShape, RunHeader, VehicleFrames, VehicleState
from seatrial.ros.compressed import CompressedLayout
from seatrial.ros.description import DESCRIPTION, STRING, build_description
from seatrial.ros.layout import Layout, Message, MessageFactory, TypeStore
from seatrial.ros.loop_topics import PATH_TYPE, build_path, frame_topics, path_topic
from seatrial.ros.payloads import PayloadLayout, payload_layout
from seatrial.ros.profiles import Profile
from seatrial.ros.sensor_topics import (
    TF_STATIC_TOPIC,
    build_mountings,
    payload_places,
    sensor_topics,
)
from seatrial.ros.topics import (
    CLOCK_TOPIC,
    CLOCK_TYPE,
    TF_TOPIC,
    TF_TYPE,
    Topic,
    build_clock,
    namespaces,
    refuse_shared,
)
from seatrial.signals import Measurements

Kind = Literal["clock", "state", "sensor", "latched"]
"""What a topic carries: decides how it is delivered."""

Said = tuple[str, bytes]
"""A topic and the bytes of a message."""


@dataclass(frozen=True)
class _Stream:
    topic: Topic[Any]
    name: str
    layout: Layout


class Streams:
    """All topics of a run, and the messages of every turn."""

    def __init__(self, header: RunHeader, profile: Profile) -> None:
        self._store = TypeStore()
        self._header = header
        own = namespaces(header.vehicles)
        self.namespaces = {vehicle: profile.namespace(name) for vehicle, name in own.items()}
        refuse_shared(self.namespaces)
        self.topics: dict[str, tuple[str, Kind]] = {}
        """Type and kind by name."""
        self._clock = self._store.layout(CLOCK_TYPE, build_clock, 0)
        self._say(CLOCK_TOPIC, CLOCK_TYPE, "clock")
        self._now: dict[str, list[_Stream]] = {}
        self._frames: dict[str, list[_Stream]] = {}
        self._sensors: dict[tuple[str, str], list[_Stream]] = {}
        self._payloads: dict[tuple[str, str], tuple[str, PayloadLayout | CompressedLayout]] = {}
        for vehicle in header.vehicles:
            space = self.namespaces[vehicle.name]
            topics = frame_topics(vehicle, space)
            now = [t for t in topics if t.name == TF_TOPIC or t.name.endswith("/odometry")]
            now += profile.extra(vehicle, space)
            self._now[vehicle.name] = [self._stream(t, profile.topic(t.name), "state") for t in now]
            self._frames[vehicle.name] = [
                self._stream(t, profile.topic(t.name), "state") for t in topics if t not in now
            ]
            for sensor, some in sensor_topics(vehicle, space, header.datum).items():
                self._sensors[vehicle.name, sensor] = [
                    self._stream(profile.sensor(t), profile.topic(t.name), "sensor") for t in some
                ]
            for sensor, (name, frame) in payload_places(vehicle, space).items():
                info = next(s for s in vehicle.sensors if s.name == sensor)
                layout = payload_layout(self._store, info, frame)
                self._payloads[vehicle.name, sensor] = (profile.topic(name), layout)
                self._say(profile.topic(name), layout.typename, "sensor")
        self.latched = self._latched()
        """What is said once, for those who come later too."""

    def _say(self, name: str, typename: str, kind: Kind) -> None:
        self.topics[name] = (typename, kind)

    def _stream(self, topic: Topic[Any], name: str, kind: Kind) -> _Stream:
        self._say(name, topic.typename, kind)
        return _Stream(topic, name, self._store.layout(topic.typename, topic.build, topic.slots))

    def _latched(self) -> list[Said]:
        once: list[tuple[str, str, Callable[[MessageFactory], Message]]] = []
        header, spaces = self._header, self.namespaces
        if any(vehicle.sensors for vehicle in header.vehicles):
            once.append(
                (TF_STATIC_TOPIC, TF_TYPE, lambda f: build_mountings(f, header.vehicles, spaces))
            )
        for vehicle in header.vehicles:
            space = spaces[vehicle.name]
            describe = _describing(vehicle, space, header.hulls.get(vehicle.name))
            once.append((f"/{space}/{DESCRIPTION}", STRING, describe))
            if vehicle.legs:
                once.append((path_topic(space), PATH_TYPE, _tracing(vehicle)))
        said = []
        for name, typename, build in once:
            self._say(name, typename, "latched")
            said.append((name, self._store.serialise(typename, build)))
        return said

    def messages(
        self, time: float, frames: Frames, vehicles: dict[str, VehicleState]
    ) -> Iterator[Said]:
        """What is to be said of a turn, the clock last: who has heard it has heard all."""
        for name, state in vehicles.items():
            yield from self._encode(self._now[name], np.array([time]), _alone(state))
        if len(frames.time):
            for name, vehicle in frames.vehicles.items():
                yield from self._encode(self._frames[name], frames.time, vehicle)
        for name, sensors in frames.measurements.items():
            for sensor, samples in sensors.items():
                yield from self._samples(name, sensor, samples)
        yield CLOCK_TOPIC, self._clock.encode(_to_ns(np.array([time])), np.empty((1, 0)))[0]

    def _encode(self, streams: list[_Stream], time: Any, vehicle: VehicleFrames) -> Iterator[Said]:
        """A vehicle that diverged falls silent: no NaN is sent."""
        packed = [stream.topic.pack(vehicle) for stream in streams]
        alive = np.logical_and.reduce([np.isfinite(values).all(axis=1) for values in packed])
        stamps = _to_ns(time)[alive]
        for stream, values in zip(streams, packed, strict=True):
            for message in stream.layout.encode(stamps, values[alive]):
                yield stream.name, message

    def _samples(self, vehicle: str, sensor: str, samples: Measurements) -> Iterator[Said]:
        if not len(samples.time):
            return
        stamps = _to_ns(samples.time)
        for stream in self._sensors[vehicle, sensor]:
            chosen = stream.topic.chosen
            wanted = samples.valid if chosen is None else chosen(samples)
            values = stream.topic.pack(samples.cut(wanted))
            for message in stream.layout.encode(stamps[wanted], values):
                yield stream.name, message
        if (vehicle, sensor) in self._payloads and samples.payload is not None:
            name, layout = self._payloads[vehicle, sensor]
            for i in np.flatnonzero(samples.valid):
                yield name, layout.encode(samples, int(i))


def _alone(state: VehicleState) -> VehicleFrames:
    """One instant of a vehicle; nothing but its motion and its actuators is in it."""
    none: Any = np.empty((1, 0))
    empty = VehicleFrames(**dict.fromkeys(VehicleFrames.__dataclass_fields__, none))
    return replace(
        empty,
        position=state.position[None],
        attitude=state.attitude[None],
        velocity=state.velocity[None],
        actuators=np.array([list(state.actuators.values())]),
    )


def _to_ns(seconds: Any) -> Any:
    return np.rint(seconds * 1e9).astype(np.int64)


def _describing(
    vehicle: Any, space: str, hull: HullShape | None
) -> Callable[[MessageFactory], Message]:
    return lambda f: build_description(f, vehicle, space, hull)


def _tracing(vehicle: Any) -> Callable[[MessageFactory], Message]:
    return lambda f: build_path(f, vehicle.legs)
