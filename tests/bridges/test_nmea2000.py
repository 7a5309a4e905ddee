"""What the instruments say in NMEA 2000, as CANboat's own decoder (PyPI's nmea2000) reads it."""

import datetime
import math
import socket

import numpy as np
import pytest
from nmea2000 import NMEA2000Decoder

import seatrial as st
from seatrial.bridges.nmea.bridge2000 import Nmea2000Bridge
from seatrial.bridges.nmea.can import MESSAGES, Message, Sender, candump, rudder
from seatrial.bridging import run_bridged
from seatrial.signals import SensorInfo
from seatrial.spatial.geodesy import to_geodetic, to_ned

DATUM = (59.5, -10.25)
LEVEL = (1.0, 0.0, 0.0, 0.0)


def read(lines):
    """Every message as its number, its sender and what is there of its fields."""
    decoder, found = NMEA2000Decoder(), []
    for line in lines:
        message = decoder.decode(line.strip())
        if message is not None:
            fields = {f.id: f.value for f in message.fields if f.value is not None}
            found.append((message.PGN, message.source, fields))
    return found


def said(kind, values, time=0.0, seldom=True, position=(0.0, 0.0, 0.0), mounting=LEVEL, **more):
    info = SensorInfo(kind, kind, tuple(values), (), (), 1.0, position, mounting, **more)
    sender = Sender(7)
    lines = [
        candump(frame, time)
        for message in MESSAGES[kind](info, time, values, DATUM, seldom)
        for frame in sender.frames(message)
    ]
    found = read(lines)
    assert all(source == 7 for _, source, _ in found)
    return {number: fields for number, _, fields in found}


def gnss(place, velocity=(0.0, 0.0), fix=4.0):
    names = ("north", "east", "down", "velocity_north", "velocity_east", "velocity_down", "fix")
    return dict(zip(names, (*place, *velocity, 0.0, fix), strict=True))


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (1234.5, -6789.0, -3.25), (-1e5, 2e5, 0.0)])
def test_the_place_is_that_of_the_geodesy(place):
    told = said("gnss", gnss(place, (3.0, -4.0)), time=90_125.25)
    latitude, longitude, height = (float(a) for a in to_geodetic(list(place), DATUM))
    assert told[129025]["latitude"] == pytest.approx(latitude, abs=6e-8)
    assert told[129025]["longitude"] == pytest.approx(longitude, abs=6e-8)
    whole = told[129029]
    assert whole["latitude"] == pytest.approx(latitude, abs=1e-13)
    assert whole["longitude"] == pytest.approx(longitude, abs=1e-13)
    assert whole["altitude"] == pytest.approx(height, abs=1e-6)
    assert (whole["method"], whole["numberOfSvs"]) == ("RTK Fixed Integer", 12)
    assert whole["date"] == datetime.date(2025, 1, 2)
    assert whole["time"].isoformat().startswith("01:02:05")
    assert told[129026]["sog"] == pytest.approx(5.0)
    assert told[129026]["cog"] == pytest.approx(math.atan2(-4, 3) % math.tau, abs=6e-5)
    assert told[129026]["cogReference"] == "True"


def test_a_lost_receiver_says_so():
    told = said("gnss", gnss((0.0, 0.0, 0.0), fix=0.0))
    assert "latitude" not in told[129025]
    assert "sog" not in told[129026]
    assert (told[129029]["method"], told[129029]["numberOfSvs"]) == ("no GNSS", 0)
    assert "longitude" not in told[129029]


@pytest.mark.parametrize("heading", [-0.1, math.tau - 1e-5, math.pi, 3.0 * math.tau + 1.0])
def test_headings_are_from_0_to_below_a_turn(heading):
    told = said("compass", {"heading": heading})[127250]
    assert 0.0 <= told["heading"] < math.tau
    assert math.cos(told["heading"] - heading) == pytest.approx(1.0, abs=1e-8)
    assert told["reference"] == "True"


def test_attitude_and_turn_are_those_of_the_body():
    roll, pitch, heading = 0.2, -0.1, 2.5
    cr, sr, cp, sp = (f(0.5 * a) for a in (roll, pitch) for f in (math.cos, math.sin))
    cy, sy = math.cos(0.5 * heading), math.sin(0.5 * heading)
    w, x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    y, z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    rates = {f"angular_velocity_{a}": r for a, r in zip("xyz", (0.0, 0.0, -0.05), strict=True)}
    turned = {f"orientation_{a}": q for a, q in zip("wxyz", (w, x, y, z), strict=True)}
    told = said("ahrs", turned | rates)
    assert told[127257]["roll"] == pytest.approx(roll, abs=6e-5)
    assert told[127257]["pitch"] == pytest.approx(pitch, abs=6e-5)
    assert told[127257]["yaw"] == told[127250]["heading"] == pytest.approx(heading, abs=6e-5)
    assert told[127251]["rate"] == pytest.approx(-0.05, abs=1e-7)  # to port


def test_depth_wind_and_speed():
    depth = said("echo_sounder", {"range": 12.347}, position=(0.0, 0.0, 0.4))[128267]
    assert depth["depth"] == pytest.approx(12.35, abs=0.006)
    assert depth["offset"] == pytest.approx(0.4)  # to the waterline
    assert "range" not in depth
    far = {"limits": (0.2, 120.0)}
    assert said("altimeter", {"range": 1.0}, facts=far)[128267]["range"] == 120
    wind = said("anemometer", {"speed": 7.5, "angle": -0.3})[130306]
    assert wind["windAngle"] == pytest.approx(math.tau - 0.3, abs=6e-5)
    assert (wind["windSpeed"], wind["reference"]) == (7.5, "Apparent")
    assert said("speed_log", {"speed_x": 2.2})[128259]["speedWaterReferenced"] == 2.2
    assert said("speed_log", {"speed_x": -2.2})[128259]["speedWaterReferenced"] == 0.0
    assert "speedWaterReferenced" not in said("speed_log", {"speed_x": math.nan})[128259]


def test_values_beyond_a_field_are_its_largest():
    wind = said("anemometer", {"speed": 1e9, "angle": 0.0})[130306]
    assert wind["windSpeed"] == pytest.approx(655.32)


def test_a_rudder_that_turns_the_bow_to_starboard_is_positive():
    frames = Sender(0).frames(rudder(1, 0.1))
    ((number, _, told),) = read(candump(frame, 0.0) for frame in frames)
    assert (number, told["instance"], told["position"]) == (127245, 1, 0.1)
    assert "angleOrder" not in told


def test_fast_packets_of_two_senders_mix_without_harm():
    one, two = Sender(1), Sender(2)
    texts = []
    for i in range(20):
        data = MESSAGES["gnss"](
            SensorInfo("g", "gnss", (), (), (), 1.0, (0.0, 0.0, 0.0), LEVEL),
            float(i),
            gnss((float(i), 0.0, 0.0)),
            DATUM,
            True,
        )[2]
        pairs = zip(one.frames(data), two.frames(data), strict=True)
        texts += [candump(frame, float(i)) for pair in pairs for frame in pair]
    found = read(texts)
    assert [source for _, source, _ in found] == [1, 2] * 20
    assert len({fields["latitude"] for _, _, fields in found}) == 20
    assert all(len(data) == 8 for _, data in Sender(1).frames(Message(129029, 3, b"\0" * 43)))


def test_a_run_is_heard_whole(tmp_path):
    sensors = [
        {"type": "gnss", "name": "gnss", "rate": 5},
        {"type": "compass", "name": "compass", "rate": 20},
    ]
    vessel = {"name": "mariner", "vehicle": "mariner", "sensors": sensors}
    vessel |= {"start": {"speed": 5.0}, "commands": {"rudder_deg": -10}}
    plan = st.compile_scenario(st.Scenario(seed=5, duration=4.0, world="calm", vehicles=[vessel]))
    bridge = Nmea2000Bridge("tcp://127.0.0.1:0")
    with socket.create_connection(("127.0.0.1", int(bridge.place.split()[-1]))) as line:
        line.sendall(b"garbage\n" * 10)
        finished = run_bridged(plan, [bridge], pace=None, out=tmp_path / "run.mcap")
        with line.makefile() as lines:
            text = lines.read().splitlines()
    told = read(text)
    samples = finished.recording.sensor("mariner", "gnss")
    places = [fields for number, _, fields in told if number == 129025]
    assert len(places) == samples.sizes["time"]
    for place, north, east in zip(places, samples.north.values, samples.east.values, strict=True):
        ned = to_ned(place["latitude"], place["longitude"], 0.0, plan.header.datum)
        assert np.hypot(ned[0] - north, ned[1] - east) < 0.02
    numbers = [number for number, _, _ in told]
    assert 4 <= numbers.count(129029) <= 5  # once per second
    assert 38 <= numbers.count(127250) <= 42  # ten per second, of twenty
    rudders = [fields["position"] for number, _, fields in told if number == 127245]
    moved = finished.dataset.actuator.isel(vehicle=0).values[:, 0]
    assert moved[-1] < -0.1
    assert rudders[-1] == pytest.approx(-moved[-1], abs=0.02)
    assert bridge.counts["ignored"] == 10
    assert bridge.counts["sent"] == len(text)
