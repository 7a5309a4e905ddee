"""Interface documents say where the numbers are: read back by what they say."""

import re
import struct
from dataclasses import replace

import pynmea2
import pytest

import seatrial as st
from seatrial.bridges.documents import interface_document
from seatrial.ros.layout import TypeStore

FORMATS = {"float64": "<d", "float32": "<f", "int8": "<b"}


@pytest.fixture(scope="module")
def page(plan):
    return interface_document(plan.header, plan.header.vehicles[0])


def sections(page):
    """Topic, type, rows of bytes and the example of every topic."""
    for part in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        found = re.search(r"`(/\S+)`\n\n`(\S+)`, ([\d,]+) bytes", part)
        if found:
            rows = re.findall(r"^\| (\d+) \| (\w+) \| `(\S+)` \|$", part, re.MULTILINE)
            example = bytes.fromhex(re.search(r"```text\n([0-9a-f \n]+)", part).group(1))
            yield (*found.groups(), rows, example)


def field(message, path):
    for part in re.findall(r"\w+|\[\d+\]", path):
        message = message[int(part[1:-1])] if part.startswith("[") else getattr(message, part)
    return message


def test_every_number_is_where_the_page_says(page, plan):
    store, topics = TypeStore(), 0
    for _, typename, size, rows, example in sections(page):
        topics += 1
        assert len(example) == int(size.replace(",", "")) or len(example) == 512
        if len(example) < 512:
            message = store.read(typename, example)
            for offset, kind, path in rows:
                (number,) = struct.unpack_from(FORMATS[kind], example, int(offset))
                assert number == field(message, path), path
    assert topics >= len(plan.header.vehicles[0].sensors)


def test_a_doppler_log_s_open_range_and_its_two_bytes_are_found():
    """Its altitude has no largest range, and its ping two numbers of one byte."""
    remus = {"name": "remus", "vehicle": "remus100", "start": {"position": [0, 0, 5]}}
    scenario = st.Scenario(duration=1.0, world="rolling-seabed", vehicles=[remus])
    header = st.compile_scenario(scenario).header
    store, paths = TypeStore(), {}
    for topic, typename, _, rows, example in sections(
        interface_document(header, header.vehicles[0])
    ):
        paths[topic] = [path for _, _, path in rows]
        if len(example) < 512:
            message = store.read(typename, example)
            for offset, kind, path in rows:
                (number,) = struct.unpack_from(FORMATS[kind], example, int(offset))
                assert number == field(message, path), path
    assert paths["/remus/dvl/altitude"] == ["range"]
    assert {"velocity_mode", "num_good_beams"} <= set(paths["/remus/dvl/ping"])


def test_the_components_of_the_imu_are_all_told(page):
    imu = next(s for s in sections(page) if s[0] == "/otter/imu")
    paths = [path for _, _, path in imu[3]]
    assert paths == [
        *(f"angular_velocity.{axis}" for axis in "xyz"),
        *(f"linear_acceleration.{axis}" for axis in "xyz"),
    ]
    message = TypeStore().read(imu[1], imu[4])
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 500_000_000)
    # Components are 0.1, 0.2 …, accelerations first; y and z turn their signs in ROS.
    assert message.linear_acceleration.y == pytest.approx(-0.2)
    assert message.angular_velocity.x == pytest.approx(0.4)


def test_every_topic_tells_its_frame_and_the_unit_of_every_number():
    """Of all vehicles of the library, their sensors, and one of each that none of them has."""
    more = [
        {"type": "magnetometer", "name": "magnet", "rate": 10},
        {"type": "speed_log", "name": "through", "rate": 5},
        {"type": "anemometer", "name": "air", "rate": 5, "position": [0, 0, -2]},
        {"type": "ctd", "name": "water", "rate": 1},
        {"type": "camera", "name": "eye", "rate": 1, "position": [0, 0, -1]},
    ]
    told = ""
    for name in ("otter", "wamv", "sf30k", "sookshma", "remus100", "bluerov2_heavy"):
        library = st.load(name, st.Vehicle)
        own = [s.model_dump(exclude_unset=True) for s in library.sensors]
        start = {"position": [0, 0, 5 if library.buoyancy.craft == "submerged" else 0]}
        one = {"name": "v", "vehicle": name, "start": start, "sensors": [*own, *more]}
        scenario = st.Scenario(duration=1.0, world="rolling-seabed", vehicles=[one])
        header = st.compile_scenario(scenario).header
        page = interface_document(header, header.vehicles[0])
        for part in re.split(r"^### (?=`/)", page, flags=re.MULTILINE)[1:]:
            assert re.search(r", in the frame `\S+` \(\w+, \w+, \w+\)", part), part[:200]
            fields = set(re.findall(r"^\| \d+ \| \w+ \| `([\w.]+)", part, re.MULTILINE)) - {"stamp"}
            units = re.search(r"^Units: (.+)\.$", part, re.MULTILINE)
            for field in fields:
                assert f"`{field.rpartition('.')[0] or field}" in units.group(1), (field, units)
        told += page
    assert "`sensor_msgs/msg/Imu`, 324 bytes, in the frame `v/imu` (forward, left, up)" in told
    assert "Units: `angular_velocity` rad s-1, `linear_acceleration` m s-2." in told
    assert "in the frame `map` (east, north, up)" in told
    assert "in the frame `v/eye_optical` (right, down, forward)" in told
    assert "`velocity[0]` (`propeller_rpm`) rad s-1" in told  # of the message, not of the sensor
    assert "`position[4]` (`lock`) 1" in told


def test_its_sentences_are_sentences(page):
    lines = re.findall(r"^\$.*$", page, re.MULTILINE)
    kinds = {pynmea2.parse(line, check=True).sentence_type for line in lines}
    assert kinds >= {"GGA", "RMC", "HDT", "ROT", "MWV", "XDR"}


def test_a_vehicle_with_a_lidar_and_one_without_sensors():
    lidar = {"type": "lidar", "name": "lidar", "rate": 10, "position": [0, 0, -1], "model": "vlp16"}
    one = {"name": "a", "vehicle": "smarty", "sensors": [lidar]}
    header = st.compile_scenario(st.Scenario(world="calm", vehicles=[one])).header
    told = interface_document(header, header.vehicles[0])
    assert re.search(r"`sensor_msgs/msg/PointCloud2`, [\d,]+ bytes: the stamp at byte 4", told)
    bare = replace(header.vehicles[0], sensors=())
    assert "has no sensors" in interface_document(replace(header, vehicles=(bare,)), bare)
