"""What the instruments say, as pynmea2 reads it, and what steers."""

import math

import numpy as np
import pynmea2
import pytest

from seatrial.bridges.nmea.sentences import SPOKEN, read_sentence, sentence
from seatrial.bridges.nmea.steering import Steering
from seatrial.engine.frames import ActuatorInfo, VehicleInfo
from seatrial.signals import RELEASE, SensorInfo
from seatrial.spatial.geodesy import to_geodetic

DATUM = (59.5, -10.25)
LEVEL = (1.0, 0.0, 0.0, 0.0)


def said(kind, components, values, time=0.0, name=None, **more):
    """The sentences of one sample, read by pynmea2 with its check of checksums."""
    info = SensorInfo(
        name or kind, kind, components, ("1",) * len(components), (0.0,) * len(components), 1.0,
        more.pop("position", (0.0, 0.0, 0.0)), more.pop("orientation", LEVEL), **more,
    )  # fmt: skip
    bodies = SPOKEN[kind](info, time, dict(zip(components, values, strict=True)), DATUM)
    spoken = [sentence(body) for body in bodies]
    assert all(len(text) <= 82 for text in spoken)
    return [pynmea2.parse(text.strip(), check=True) for text in spoken]


GNSS = ("north", "east", "down", "velocity_north", "velocity_east", "velocity_down", "fix")


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (1234.5, -6789.0, -3.25), (-1e5, 2e5, 0.0)])
def test_the_place_is_that_of_the_geodesy(place):
    gga, rmc, vtg = said("gnss", GNSS, (*place, 3.0, -4.0, 0.0, 4.0), time=3725.25)
    latitude, longitude, height = (float(a) for a in to_geodetic(list(place), DATUM))
    metre = 1.0 / 111_000.0
    for one in (gga, rmc):
        assert abs(one.latitude - latitude) < 0.02 * metre
        assert abs(one.longitude - longitude) < 0.04 * metre
        assert one.timestamp.isoformat() == "01:02:05.250000+00:00"
    assert float(gga.altitude) == pytest.approx(height, abs=0.006)
    assert gga.gps_qual == 4  # RTK fixed
    assert rmc.status == "A"
    assert rmc.datestamp.isoformat() == "2025-01-01"
    assert float(rmc.spd_over_grnd) == pytest.approx(5.0 * 3600 / 1852, abs=0.006)
    assert float(rmc.true_course) == pytest.approx(math.degrees(math.atan2(-4, 3)) % 360, abs=0.06)
    assert float(vtg.spd_over_grnd_kmph) == pytest.approx(18.0, abs=0.01)


def test_midnight_and_whole_minutes_are_carried():
    gga, rmc, _ = said("gnss", GNSS, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), time=86_399.999)
    assert gga.timestamp.isoformat() == "00:00:00+00:00"
    assert rmc.datestamp.isoformat() == "2025-01-02"
    # 59.5° less a millionth of a minute must not become 29 minutes and 60.
    tiny = -1e-6 / 60.0 * 111_000.0
    (gga, *_) = said("gnss", GNSS, (tiny, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    assert gga.lat == "5930.00000"


def test_a_lost_receiver_says_so():
    gga, rmc, _ = said("gnss", GNSS, (0.0,) * 7)
    assert gga.gps_qual == 0
    assert gga.lat == ""
    assert rmc.status == "V"


@pytest.mark.parametrize(
    ("heading", "told"), [(-0.1, 354.3), (math.tau - 1e-4, 0.0), (math.pi, 180.0)]
)
def test_headings_are_from_0_to_below_360(heading, told):
    (hdt,) = said("compass", ("heading",), (heading,))
    assert (float(hdt.heading), hdt.hdg_true) == (told, "T")


def test_rate_of_turn_is_about_the_body_s_down_axis():
    rates = tuple(f"{what}_{a}" for what in ("acceleration", "angular_velocity") for a in "xyz")
    half = math.sqrt(0.5)
    # A quarter turn about x brings the sensor's y axis down: r is read as its second rate.
    mounted = (half, half, 0.0, 0.0)
    values = (0.0, 0.0, 0.0, 0.0, math.radians(3.0), 0.0)
    (rot,) = said("imu", rates, values, orientation=mounted)
    assert float(rot.rate_of_turn) == pytest.approx(180.0)  # degrees per minute, to starboard


def test_attitude_is_that_of_the_body_however_the_sensor_is_mounted():
    names = (
        *(f"orientation_{p}" for p in "wxyz"),
        *(f"angular_velocity_{a}" for a in "xyz"),
    )
    heading, pitch, roll = 0.7, 0.1, -0.2
    body = _quaternion(roll, pitch, heading)
    mounting = _quaternion(0.3, -0.4, 1.1)
    hdt, _, xdr = said(
        "ahrs", names, (*_times(body, mounting), 0.0, 0.0, 0.0), orientation=mounting
    )
    assert float(hdt.heading) == pytest.approx(math.degrees(heading), abs=0.06)
    assert float(xdr.get_transducer(0).value) == pytest.approx(math.degrees(pitch), abs=0.006)
    assert float(xdr.get_transducer(1).value) == pytest.approx(math.degrees(roll), abs=0.006)


def test_depth_wind_log_battery_and_water():
    (dpt,) = said(
        "altimeter", ("range",), (12.34,), position=(0, 0, 0.5), facts={"limits": (1, 50)}
    )
    assert [float(f) for f in dpt.data] == [12.34, 0.5, 50.0]
    (mwv,) = said("anemometer", ("speed", "angle"), (7.5, math.radians(-30.0)))
    assert (mwv.wind_angle, mwv.reference, mwv.wind_speed, mwv.wind_speed_units) == (
        *(330, "R"), pytest.approx(7.5), "M",
    )  # fmt: skip
    (vhw,) = said("speed_log", ("speed_x", "speed_y"), (1.852, 0.1))
    assert float(vhw.water_speed_knots) == pytest.approx(3.6, abs=0.01)
    (xdr,) = said(
        "battery", ("voltage", "current", "power", "charge"), (25.5, 3.25, 83.0, 0.5), name="pack"
    )
    assert [float(xdr.get_transducer(i).value) for i in range(3)] == [25.5, 3.25, 50.0]
    components = ("conductivity", "temperature", "pressure", "salinity", "sound_speed")
    (xdr,) = said("ctd", components, (4.0, 10.5, 2e5, 35.0, 1490.0))
    assert [float(xdr.get_transducer(i).value) for i in range(3)] == [10.5, 2.0, 35.0]


def test_names_that_a_sentence_cannot_hold_are_cut_and_cleaned():
    components = ("voltage", "current", "power", "charge")
    values = (48.25, -12.25, -591.0, 1.0)
    (xdr,) = said("battery", components, values, name="größte Batterie, achtern*2")
    assert xdr.get_transducer(0).id == "GR_SSTE_"
    assert [float(xdr.get_transducer(i).value) for i in range(3)] == [48.25, -12.25, 100.0]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"$", b"*", b"$*00", b"\xff\xfe$GPGGA*00", b"$GPAPB,A", b"$GPAPB,A*ZZ", b"$GPAPB*"),
        *(b"!AIVDM,1,1,,A,x,0*00", b"$PSTC,RELEASE*00", b"$" + b"A" * 100 + b"*41"),
    ],
)
def test_what_is_no_sentence_is_none(line):
    assert read_sentence(line) is None


def otter(*channels):
    actuators = tuple(ActuatorInfo(name, unit) for name, unit in channels)
    return VehicleInfo("otter", "otter", "surface", 2.0, 1.0, 0.5, actuators)


def ordered(body, vehicle=None, speed=1.25):
    fields = read_sentence(sentence(body).encode())
    assert fields is not None
    return Steering(vehicle or otter(("left", "rev/s"))).order(fields, speed)


def test_sentences_that_steer():
    apb = pynmea2.APB(
        *("GP", "APB"),
        ("A", "A", "0.10", "R", "N", "V", "V", "011", "M", "DEST", "010", "T", "123.4", "T"),
    )
    found = ordered(str(apb)[1:-3])
    assert found.setpoint.course == pytest.approx(math.radians(123.4))
    assert found.setpoint.surge == 1.25  # nobody asked for a speed: the present one is kept
    steering, asked = Steering(otter()), read_sentence(sentence("PSTC,SETPOINT,1.5,90").encode())
    found = steering.order(asked, 0.3)
    assert (found.setpoint.surge, found.setpoint.heading) == (1.5, pytest.approx(math.pi / 2))
    assert steering.order(str(apb)[1:-3].split(","), 0.3).setpoint.surge == 1.5
    assert ordered("PSTC,CHANNEL,left_rpm,900,right,3").channels == {
        "left_rpm": 900.0,
        "right": 3.0,
    }
    assert ordered("PSTC,RELEASE") == RELEASE
    ship = otter(("rudder", "rad"), ("shaft", "rev/s"))
    # To port by NMEA's sign; the rudder's own positive angle turns the bow to port.
    assert ordered("AGRSA,-10.0,A,,", ship).channels == {"rudder": pytest.approx(np.radians(10.0))}


@pytest.mark.parametrize(
    "body",
    [
        *("PSTC", "PSTC,SETPOINT,fast,90", "PSTC,SETPOINT,1", "PSTC,CHANNEL,left", "PSTC,SING"),
        *("PSTC,CHANNEL,left,nan", "GPAPB,A", "GPAPB,V,A,0,R,N,V,V,1,M,D,1,T,1,T", "AGRSA,5.0,V,,"),
        *("AGRSA,x,A,,", "AGRSA,5.0,A,,", "GPAPB,A,A,0,R,N,V,V,1,M,D,1,T,1,M"),
        *(
            "PSTC,RELEASE,now",
            "PSTC,RELEASE,",
            "PSTC,CHANNEL,left,1,left,2",
            "PSTC,CHANNEL,left,1_0",
        ),
        *("GPAPB,A,A,0,R,N,V,V,1,M,D,1,T,1,Q", "GPAPB,x,A,0,R,N,V,V,1,M,D,1,T,1,T"),
        *("GPAPB,A,A,0,R,N,V,V,1,M,D,1,T,1,T,N", "GPAPB,A,A,0,R,N,V,V,1,M,D,1,T,1,T,A,x"),
        "GPAPB,A,A,0,R,N,V,V,1,M,D,1,T,400,T",
    ],
)
def test_what_cannot_be_an_order_is_told(body):
    assert isinstance(ordered(body), str)


@pytest.mark.parametrize("body", ["AGRSA,-10.0,A,,,", "AGRSA,-100.0,A,,", "AGRSA,-10.0,A,"])
def test_a_rudder_obeys_only_what_its_sentence_can_say(body):
    assert isinstance(ordered(body, otter(("rudder", "rad"), ("shaft", "rev/s"))), str)


def test_a_refused_setpoint_leaves_the_speed_of_before():
    steering = Steering(otter())
    assert isinstance(steering.order(["PSTC", "SETPOINT", "9", "west"], 1.0), str)
    course = steering.order(
        ["GPAPB", "A", "A", "0", "R", "N", "V", "V", "1", "M", "D", "1", "T", "1", "T"], 1.0
    )
    assert course.setpoint.surge == 1.0


def test_other_sentences_are_not_for_us():
    assert ordered("GPGGA,,,,,,0,,,,M,,M,,") is None


def _quaternion(roll, pitch, yaw):
    half = [(math.cos(a / 2), math.sin(a / 2)) for a in (roll, pitch, yaw)]
    (cr, sr), (cp, sp), (cy, sy) = half
    return _times(_times((cy, 0, 0, sy), (cp, 0, sp, 0)), (cr, sr, 0, 0))


def _times(p, q):
    (a, *u), (b, *v) = p, q
    u, v = np.array(u), np.array(v)
    return (a * b - u @ v, *(a * v + b * u + np.cross(u, v)))
