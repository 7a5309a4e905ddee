"""Messages of sensors that tell a place."""

import numpy as np

from seatrial.ros.axes import swap_world
from seatrial.ros.layout import Array, Message, MessageFactory
from seatrial.ros.sensor_messages.common import (
    POSE,
    TWIST,
    UNMEASURED,
    Samples,
    SensorTopic,
    diagonal,
    fluid_pressure,
    pose,
    twist,
)
from seatrial.ros.topics import POINT, WORLD_FRAME, Topic
from seatrial.signals import Measurements
from seatrial.spatial.geodesy import to_geodetic, to_ned


def gnss(sensor: SensorTopic) -> list[Samples]:
    """NavSatFix tells no RTK float from RTK fixed, so the fix is told once more beside it.

    A receiver that has lost its fix says so, with a position that is not a number.
    """
    north, east, down = sensor.variances("north", "east", "down")
    known = 2 if max(north, east, down) > 0.0 else 0  # diagonal known, unknown
    typename = "sensor_msgs/msg/NavSatFix"
    place, fix_column = ["north", "east", "down"], sensor.columns(["fix"])[0]
    status_of_fix = np.array([0, 0, 1, 2, 2])  # autonomous, SBAS (differential), GBAS (RTK)

    def build(f: MessageFactory) -> Message:
        all_constellations = 15
        return f.make(
            typename,
            f.header(sensor.frame),
            f.make("sensor_msgs/msg/NavSatStatus", f.byte_slot(), all_constellations),
            f.slot(),
            f.slot(),
            f.slot(),
            diagonal(east, north, down),
            known,
        )

    def pack(samples: Measurements) -> Array:
        values = np.asarray(samples.values, np.float64)
        geodetic = np.stack(to_geodetic(values[:, sensor.columns(place)].T, sensor.datum))
        fix = np.clip(np.rint(values[:, fix_column]), 0, 4).astype(np.int64)
        status = np.where(samples.valid, status_of_fix[fix], -1)
        return np.vstack([status, np.where(samples.valid, geodetic, np.nan)]).T

    def unpack(numbers: Array) -> dict[str, Array]:
        _, latitude, longitude, height = numbers.T
        return dict(zip(place, to_ned(latitude, longitude, height, sensor.datum), strict=True))

    return [
        Topic(
            sensor.topic,
            typename,
            4,
            build,
            pack,
            unpack,
            chosen=lambda samples: samples.valid | (samples.values[:, fix_column] == 0),
        ),
        sensor.publish(
            "/velocity",
            TWIST,
            ["velocity_north", "velocity_east", "velocity_down"],
            twist(sensor, WORLD_FRAME, "velocity_east", "velocity_north", "velocity_down"),
            swap_world,
        ),
        sensor.publish_numbers("/quality", ["fix"]),
    ]


def uwb(sensor: SensorTopic) -> list[Samples]:
    """The solved position, and the ranges to the places that it follows from: UWB and LBL."""
    names = ["north", "east", "down"]
    north, east, down = sensor.variances(*names)

    def build(f: MessageFactory) -> Message:
        return pose(f, f.xyz(POINT), east, north, down)

    return [
        sensor.publish("", POSE, names, build, swap_world),
        sensor.publish_numbers("/ranges", sensor.numbered("range")),
    ]


def pressure(sensor: SensorTopic) -> list[Samples]:
    """The depth is the height of a pose: estimators take one coordinate of a pose alone."""
    (variance,) = sensor.variances("depth")

    def build(f: MessageFactory) -> Message:
        place = f.make(POINT, 0.0, 0.0, f.slot())
        return pose(f, place, UNMEASURED, UNMEASURED, variance)

    return [
        fluid_pressure(sensor, ""),
        sensor.publish("/depth", POSE, ["depth"], build, np.negative),
    ]
