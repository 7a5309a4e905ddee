"""Messages of cameras."""

import numpy as np

from seatrial.ros.layout import Message, MessageFactory
from seatrial.ros.sensor_messages.common import Samples, SensorTopic
from seatrial.ros.topics import Topic
from seatrial.signals import SensorInfo

CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
OPTICAL = "_optical"
"""Ending of the frame of a camera's pictures: right, down, forward (REP 103)."""


def is_camera(sensor: SensorInfo) -> bool:
    """Whether a sensor's pictures are in an optical frame."""
    return sensor.type in ("camera", "depth_camera", "thermal_camera")


def camera(sensor: SensorTopic) -> list[Samples]:
    """Its numbers, and beside every picture the lens that it was taken with."""
    info = sensor.info
    assert info.payload is not None
    height, width = info.payload.shape[:2]
    (focal,) = info.facts["focal_length"]
    # Of the right one of a stereo pair: Tx is minus the focal length times the baseline.
    aside = -focal * info.facts.get("baseline", (0.0,))[0]
    middle = 0.5 * (width - 1), 0.5 * (height - 1)
    matrix = np.array([focal, 0.0, middle[0], 0.0, focal, middle[1], 0.0, 0.0, 1.0])
    projection = np.array(
        [focal, 0.0, middle[0], aside, 0.0, focal, middle[1], 0.0, 0.0, 0.0, 1.0, 0.0]
    )

    def build(f: MessageFactory) -> Message:
        return f.make(
            CAMERA_INFO,
            f.header(sensor.frame + OPTICAL),
            height,
            width,
            "plumb_bob",
            np.array(info.facts["distortion"]),
            matrix,
            np.eye(3).ravel(),
            projection,
            0,
            0,
            f.make("sensor_msgs/msg/RegionOfInterest", 0, 0, 0, 0, False),
        )

    lens: Samples = Topic(
        f"{sensor.topic}/camera_info",
        CAMERA_INFO,
        0,
        build,
        lambda samples: np.empty((len(samples.time), 0)),
        None,
    )
    return [sensor.publish_numbers("", info.components), lens]
