"""Interface documents: how each sensor of a vehicle speaks, byte by byte, for those who wire
hardware to it."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from seatrial.bridges.nmea.can import MESSAGES, Sender, candump
from seatrial.bridges.nmea.sentences import SPOKEN, sentence
from seatrial.engine.frames import RunHeader, VehicleInfo
from seatrial.ros.layout import MessageFactory, TypeStore
from seatrial.ros.payloads import payload_layout
from seatrial.ros.places import open_fields
from seatrial.ros.sensor_messages.optical import OPTICAL
from seatrial.ros.sensor_topics import payload_places, sensor_topics
from seatrial.ros.topics import JOINT_STATE, WORLD_FRAME, Topic, namespaces
from seatrial.signals import Measurements, SensorInfo

TIME = 12.5
"""Of the example, s."""
_NUMPY = {"<f8": "float64", "<f4": "float32", "i1": "int8"}
_MOST_BYTES = 512
"""Of an example that are shown."""
_LONG = 33
"""Numbers of a list that stand in one row."""
_TURNING = "rad s-1"
"""Of the velocity of a joint, whatever its sensor counts in."""
_UNITS = {
    "Imu": {"orientation": "1", "angular_velocity": "rad s-1", "linear_acceleration": "m s-2"},
    "MagneticField": {"magnetic_field": "T"},
    "NavSatFix": {"status": "1", "latitude": "deg", "longitude": "deg", "altitude": "m"},
    "TwistWithCovarianceStamped": {"twist.twist.linear": "m s-1", "twist.covariance": "m2 s-2"},
    "PoseWithCovarianceStamped": {"pose.pose.position": "m"},
    "FluidPressure": {"fluid_pressure": "Pa"},
    "Temperature": {"temperature": "degC"},
    "Range": {"range": "m"},
    "Vector3Stamped": {"vector": "m s-1"},
    "BatteryState": {"voltage": "V", "current": "A", "percentage": "1"},
    "Dvl": {
        **{"velocity_mode": "1", "velocity": "m s-1", "velocity_covar": "m2 s-2", "altitude": "m"},
        **{"course_gnd": "rad", "speed_gnd": "m s-1", "num_good_beams": "1", "range": "m"},
    },
    "SonarDetections": {
        **{"ping_info.sound_speed": "m s-1", "flags": "1", "two_way_travel_times": "s"},
        **{"intensities": "dB re 1 uPa", "rx_angles": "rad"},
    },
}
"""By message and field, as ROS has them."""


def interface_document(header: RunHeader, vehicle: VehicleInfo) -> str:
    """The page of a vehicle, as Markdown."""
    namespace = namespaces(header.vehicles)[vehicle.name]
    topics = sensor_topics(vehicle, namespace, header.datum)
    payloads = payload_places(vehicle, namespace)
    parts = [
        f"# Sensors of `{vehicle.kind}`: interfaces",
        "Messages are ROS 2's, serialised as CDR, little-endian; offsets count from the first of "
        "the four bytes of encapsulation (`00 01 00 00`). `stamp` is the time at which a sample "
        "was taken: uint32 seconds, uint32 nanoseconds. What is not listed does not change. The "
        "numbers of an example are made up: 0.1, 0.2, 0.3 … in the order of the components.",
        "Components are in the axes of seatrial, forward, starboard, down, or north, east, down "
        "where they tell of the world. Messages are in those of ROS, which stand behind their "
        "frames: signs and order differ.",
    ]
    for sensor in vehicle.sensors:
        parts.append(_sensor(header, sensor, topics[sensor.name], payloads.get(sensor.name)))
    if not vehicle.sensors:
        parts.append("The vehicle has no sensors.")
    return "\n\n".join(parts) + "\n"


def _sensor(
    header: RunHeader, info: SensorInfo, topics: list[Topic[Any]], payload: tuple[str, str] | None
) -> str:
    place = ", ".join(f"{x:g}" for x in info.position)
    turn = ", ".join(f"{x:.6g}" for x in info.orientation)
    samples = _example(info)
    parts = [
        f"## `{info.name}` ({info.type})",
        f"{info.rate:g} samples per second. At [{place}] m in the body's axes (forward, starboard, "
        f"down), turned by the quaternion [{turn}] (scalar first, sensor to body).",
        _table(
            ("component", "unit", "standard deviation"),
            [
                (f"`{name}`", unit, f"{deviation:.4g}" if deviation else "0 or unknown")
                for name, unit, deviation in zip(
                    info.components, info.units, info.deviation, strict=True
                )
            ],
        ),
    ]
    store = TypeStore()
    for topic in topics:
        parts.append(_topic(store, info, topic, samples))
    if payload is not None and info.payload is not None:
        layout = payload_layout(store, info, payload[1])
        told = f"`{layout.typename}`, {layout.told()}, {_in_frame(payload[1])}."
        parts.append(f"### `{payload[0]}`\n\n{told}")
    spoken = _sentences(header, info, samples)
    if spoken:
        parts.append("### NMEA 0183\n\n```text\n" + "".join(spoken) + "```")
    frames = _frames(header, info, samples)
    if frames:
        parts.append("### NMEA 2000\n\n```text\n" + "".join(frames) + "```")
    return "\n\n".join(parts)


def _topic(store: TypeStore, info: SensorInfo, topic: Topic[Any], samples: Measurements) -> str:
    layout = store.layout(topic.typename, topic.build, topic.slots)
    paths = open_fields(store, topic)
    rows = [] if layout.stamp is None else [(str(layout.stamp), "uint32 × 2", "`stamp`")]
    for _, some in groupby(zip(layout.slots, paths, strict=True), lambda slot: _list(slot[1])):
        slots = list(some)
        if len(slots) < _LONG:
            rows += [(str(at), _NUMPY[kind], f"`{path}`") for (at, kind), path in slots]
        else:
            ((at, kind), path), *_, (_, last) = slots
            rows.append((str(at), f"{_NUMPY[kind]} × {len(slots)}", f"`{path}` to `{last}`"))
    blank = topic.build(MessageFactory(store.types))
    message = layout.encode(np.array([round(TIME * 1e9)]), topic.pack(samples))[0]
    shown = message[:_MOST_BYTES].hex(" ")
    lines = [shown[i : i + 96].rstrip() for i in range(0, len(shown), 96)]
    if len(message) > _MOST_BYTES:
        lines.append("…")
    return "\n\n".join(
        [
            f"### `{topic.name}`",
            f"`{topic.typename}`, {layout.size:,} bytes, {_in_frame(blank.header.frame_id)}.",
            *_units(info, topic.typename, paths, blank),
            _table(("byte", "type", "field"), rows),
            "```text\n" + "\n".join(lines) + "\n```",
        ]
    )


def _list(path: str) -> str:
    """The field of a path, which is a list where a number follows."""
    return path.partition("[")[0]


def _in_frame(frame: str) -> str:
    axes = "right, down, forward" if frame.endswith(OPTICAL) else "forward, left, up"
    return f"in the frame `{frame}` ({'east, north, up' if frame == WORLD_FRAME else axes})"


def _units(info: SensorInfo, typename: str, paths: list[str], blank: Any) -> list[str]:
    """Those of a message's fields; of named numbers also what each of them is."""
    told: dict[str, str] = {}
    for path in paths:
        if typename == JOINT_STATE:
            list_, _, number = path.removesuffix("]").partition("[")
            name = blank.name[int(number)]
            own = dict(zip(info.components, info.units, strict=True))
            alone = info.units[0] if len(info.units) == 1 and name == info.name else "1"
            unit = _TURNING if list_ == "velocity" else own.get(name, alone)
            told[f"`{path}` (`{name}`)"] = unit
        else:
            fields = _UNITS[typename.rpartition("/")[2]]
            field = next(f for f in fields if path == f or path.startswith((f"{f}.", f"{f}[")))
            told[f"`{field}`"] = fields[field]
    return ["Units: " + ", ".join(f"{what} {unit}" for what, unit in told.items()) + "."] * any(
        told
    )


def _sentences(header: RunHeader, info: SensorInfo, samples: Measurements) -> list[str]:
    if info.type not in SPOKEN:
        return []
    values = dict(zip(info.components, samples.values[0].tolist(), strict=True))
    spoken = SPOKEN[info.type](info, TIME, values, header.datum)
    return [sentence(body).replace("\r", "") for body in spoken]


def _frames(header: RunHeader, info: SensorInfo, samples: Measurements) -> list[str]:
    if info.type not in MESSAGES:
        return []
    values = dict(zip(info.components, samples.values[0].tolist(), strict=True))
    messages = MESSAGES[info.type](info, TIME, values, header.datum, True)
    sender = Sender(1)
    return [candump(frame, TIME) for message in messages for frame in sender.frames(message)]


def _example(info: SensorInfo) -> Measurements:
    values, array = 0.1 * np.arange(1.0, len(info.components) + 1.0), info.payload
    if "fix" in info.components:
        values[info.components.index("fix")] = 1.0
    return Measurements(
        time=np.array([TIME]),
        arrival=np.array([TIME]),
        values=values[None],
        valid=np.ones(1, np.bool_),
        fault=np.zeros(1, np.int32),
        payload=None if array is None else np.zeros((1, *array.shape), array.dtype),
    )


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [headings, ("---",) * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
