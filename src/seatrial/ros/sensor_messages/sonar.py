"""Messages of sonars beside their arrays."""

import numpy as np

from seatrial.ros.definitions import DETECTIONS, FLAG, PING
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_messages.common import Samples, SensorTopic
from seatrial.ros.topics import Topic
from seatrial.signals import Measurements

BAD_SONAR = 1
"""DETECT_BAD_SONAR: the sonar itself has no sounding there."""


def multibeam(sensor: SensorTopic) -> list[Samples]:
    """Its numbers, and what it heard of every ping as drivers of such sonars send it: travel times
    and angles, of which the cloud has the places, along ways that the water bends."""
    info = sensor.info
    topics = [sensor.publish_numbers("", info.components)]
    if "sound_speed" not in info.components:  # recorded by a former version
        return topics
    assert info.payload is not None
    (beams, _), column = info.payload.shape, info.payload.fields.index
    (speed,), told = sensor.columns(["sound_speed"]), info.facts.get("told_speed")
    steered = np.array(info.facts["rx_angles"])
    widths = [np.array(info.facts[f"{way}_beamwidths"], np.float32) for way in ("tx", "rx")]

    def build(f: MessageFactory) -> Message:
        def each() -> Array:
            return np.array([f.short_slot() for _ in range(beams)], np.float32)

        none = np.zeros(beams, np.float32)
        ping = f.make(PING, info.facts["frequency"][0], f.short_slot(), *widths)
        flags = [f.make(FLAG, f.byte_slot()) for _ in range(beams)]
        times, levels, angles = each(), each(), each()
        lists = times, none, levels, none, angles
        return f.make(DETECTIONS, f.header(sensor.frame), ping, flags, *lists)

    def pack(samples: Measurements) -> Array:
        assert samples.payload is not None
        soundings = np.asarray(samples.payload, np.float64)
        here = np.asarray(samples.values[:, speed : speed + 1], np.float64)
        times = 2.0 * soundings[..., column("range")] / here
        angles = soundings[..., column("angle")]
        missing = np.isnan(times)
        return np.hstack(
            [
                here if told is None else np.full_like(here, told[0]),
                BAD_SONAR * missing,
                times,
                soundings[..., column("intensity")],
                np.where(missing, steered, angles),
            ]
        )

    detections: Samples = Topic(
        f"{sensor.topic}/detections", DETECTIONS, 1 + 4 * beams, build, pack, None
    )
    return [*topics, detections]
